"""The Theory tab: the theorem, its assumptions, the values that meet them, its bound, and the parts of the risk."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dsgcore.experiments import LiveRun, Spec, kept_to, remedies, theory_of
from pages.charts.live_chart import live_chart
from pages.charts.theme import theme_now
from pages.controls.control import Control
from pages.controls.controls import controls_for
from pages.controls.kernel_parameters import PICKER
from pages.live.curves import alt_bound, bound_figure
from pages.live.risk_view import alt_risk, risk_figure
from pages.session.bench import Bench

KEEP_HELP = "Starts a new run with values that meet the assumptions, as far as possible."


def theory(bench: Bench) -> None:
    """Show the theorem's promise and assumptions and whether the run meets them; draw the parts of the risk."""
    assert bench.live is not None
    live, spec = bench.live, bench.live.run.spec
    said = theory_of(spec)
    st.markdown(said.statement)
    for assumption in said.assumptions:
        mark = ":green[● holds:]" if assumption.holds else "○ does not hold:"
        why_not = "" if assumption.holds else f" {assumption.why_not}"
        st.markdown(f"{mark} {assumption.sentence}{why_not}")
    st.page_link("pages/glossary.py", label="Glossary with equations", icon=":material/dictionary:", width="content")
    if kept_to(spec) != spec:
        with st.container(horizontal=True, vertical_alignment="center", key="keeping"):
            st.button(
                "Meet the assumptions",
                key="keep-to",
                icon=":material/rule:",
                on_click=_keep_to,
                args=(bench,),
                help=KEEP_HELP,
            )
            st.caption(f"{_what_it_sets(spec)} {said.cost}", width="stretch")
    elif what_it_cost := _what_it_cost(live):
        st.caption(what_it_cost)
    if "bound" in live.run.history.names:
        live_chart(bound_figure(live), key="chart-bound", alt=alt_bound(live), height=320)
    if len(live.run.history):
        figure = risk_figure(live, theme_now(), "terms")
        live_chart(figure, key="chart-terms", alt=alt_risk(live), height=320)


def _keep_to(bench: Bench) -> None:
    """Set the controls to values that the theorem allows, and start again."""
    assert bench.live is not None
    for control, _, value in _to_keep(bench.live.run.spec):
        bench.given[control.key] = value
    bench.wants_restart = True


def _to_keep(spec: Spec) -> list[tuple[Control, Any, Any]]:
    """Return the controls that must change to meet the assumptions, each with its present value and the new one."""
    offered = controls_for(type(spec.problem), spec.data.name, spec.kernel.name)
    now = spec.to_dict()
    return [
        (offered[PICKER if (section, name) == ("kernel", "name") else name], now[section][name], value)
        for section, values in remedies(spec).items()
        for name, value in values.items()
    ]


def _what_it_sets(spec: Spec) -> str:
    changed = [(c, before, after) for c, before, after in _to_keep(spec) if before != after]
    said = "; ".join(f"{c.parameter.label}: {c.say(before)} → {c.say(after)}" for c, before, after in changed)
    return f"{said}." if said else "The same values, without the changes during the run."


def _what_it_cost(live: LiveRun) -> str:
    """Return the comparison of a run that meets the assumptions with the run before; empty until its end."""
    before, after = live.previous, live.run.history
    if not live.is_finished or before is None or not len(before) or live.previous_spec is None:
        return ""
    if kept_to(live.previous_spec) != live.run.spec:
        return ""
    name = live.run.problem.score_name
    return (
        f"Test {name} {after.last()['score_test']:.3f}; the previous run, which did not meet all assumptions, reached "
        f"{before.last()['score_test']:.3f}. A theorem is about the iterates, not about the test score."
    )
