"""The strip "What limits this run": for each cause a light, a sentence, and the remedy as a button."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.diagnostics import Gauge, Light, LiveGauges, live_gauges
from dsgcore.experiments.step_limit import step_limit
from pages.controls.controls import controls_for
from pages.workbench.bench import Bench, Tried, once
from pages.workbench.looking_back import seen

# The marks differ in shape, not only in colour.
MARKS = {
    Light.UNKNOWN: "…",
    Light.GOOD: ":green[✓]",
    Light.OPEN: ":blue[↗]",
    Light.LIMITS: ":orange[▲]",
}


def limits_strip(bench: Bench, place: DeltaGenerator) -> None:
    """Draw the gauges, and the most important remedy."""
    assert bench.live is not None
    live = seen(bench)
    shown = live_gauges(live.run, baseline=live.supervised)
    with place.container(key="part-limits", horizontal=True, vertical_alignment="center", gap="xsmall"):
        for gauge in shown.gauges:
            _gauge(bench, gauge)
        _verdict(bench, shown)


def step_limits(bench: Bench, place: DeltaGenerator) -> None:
    """Show the value of "auto" below the step's slider, and the value above which the run diverges."""
    if bench.live is None or bench.preparation is not None:
        return
    run = bench.live.run
    automatic, limit = run.engine.automatic_step, step_limit(run)
    said = [] if automatic is None else [f"auto: {_two_digits(automatic)}"]
    if limit is not None:
        said.append(f"diverges above about {_two_digits(limit)}")
    with place.container(key="step-limits"):
        st.caption(" · ".join(said))


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):,g}"


def _gauge(bench: Bench, gauge: Gauge) -> None:
    with st.popover(f"{MARKS[gauge.light]} {gauge.name} {gauge.value}", key=f"gauge-{gauge.name}", width="content"):
        st.markdown(f"**{gauge.name}: {gauge.light.value}.** {gauge.sentence}")
        _remedy(bench, gauge, gauge.name)


def _verdict(bench: Bench, shown: LiveGauges) -> None:
    """Offer the remedy for the strongest limit; after it was applied, show its effect."""
    brought = _brought(bench, shown)
    if brought:
        st.markdown(brought, width="content")
    open_ones = [gauge for gauge in shown.gauges if gauge.light is Light.OPEN]
    leading = shown.leading or next(iter(open_ones), None)
    if leading is not None and leading.remedy:
        _remedy(bench, leading, "leading")
    elif leading is not None or not brought or shown.beaten_by:
        st.markdown(shown.summary(), width="content")


def _brought(bench: Bench, shown: LiveGauges) -> str:
    """Return the gauge's value before the remedy, its value now, and the expected value."""
    tried = bench.tried
    if tried is None or tried.number != bench.number:
        return ""
    now = next((gauge for gauge in shown.gauges if gauge.name == tried.name and gauge.light is not Light.UNKNOWN), None)
    if now is None:
        return ""
    expected = f" (expected {tried.expected})" if tried.expected else ""
    return f"{tried.name} {tried.before} → {now.value}{expected}"


def _remedy(bench: Bench, gauge: Gauge, where: str) -> None:
    if gauge.remedy:
        arguments: Any = (bench, bench.drawn, _apply, bench, gauge)
        is_urgent = where == "leading" and gauge.light is Light.LIMITS
        options: Any = {"type": "primary" if is_urgent else "secondary"}
        st.button(gauge.remedy, key=f"remedy-{where}", on_click=once, args=arguments, help=gauge.sentence, **options)


def _apply(bench: Bench, gauge: Gauge) -> None:
    """Apply a gauge's remedy, and keep the gauge's value, to show the effect."""
    bench.tried = Tried(bench.number + 1, gauge.name, gauge.value, gauge.expected)
    take(bench, gauge.changes)


def take(bench: Bench, changes: Mapping[str, Any]) -> None:
    """Set controls of the solver to other values, and start again."""
    if bench.live is None:  # other data were chosen at the same moment
        return
    spec = bench.live.run.spec
    offered = controls_for(type(spec.problem), spec.data.name, spec.kernel.name)
    bench.given |= {offered[name].key: value for name, value in changes.items()}
    bench.wants_restart = True
