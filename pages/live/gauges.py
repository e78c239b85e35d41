"""The gauges "What limits this run": for each cause a light, a sentence, and the remedy; and what the last remedy has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dsgcore.diagnostics import Gauge, Light, LiveGauges, live_gauges
from dsgcore.experiments import Health, StopReason
from pages.live.looking_back import seen


@dataclass(frozen=True)
class Trouble:
    """A warning about numbers that grow or have diverged: its first sentence, all of it, and the remedy, if there is one."""

    text: str
    help: str
    remedy: str = ""


def live_gauges_of(bench: Any) -> LiveGauges:
    """Return the gauges of the run at the iteration that the page shows."""
    live = seen(bench)
    return live_gauges(live.run, baseline=live.supervised)


def gauges_of(bench: Any) -> dict[str, Any]:
    """Return the gauges in words, the gauge whose remedy comes first, and a sentence.

    Without such a remedy the sentence says what the gauges show together, and after a remedy what it has changed.
    """
    shown = live_gauges_of(bench)
    leading = _leading(shown)
    offers = leading is not None and bool(leading.remedy)
    brought = _brought(bench, shown)
    says_more = not offers and (leading is not None or not brought or bool(shown.beaten_by))
    return {
        "gauges": [_said(gauge) for gauge in shown.gauges],
        "leading": leading.name if leading is not None and offers else "",
        "is_urgent": leading is not None and leading.light is Light.LIMITS,
        "said": " ".join([brought] * bool(brought) + [shown.summary()] * says_more),
    }


def remedy_for(bench: Any, name: str) -> Gauge | None:
    """Return the gauge of that name if it has a remedy."""
    return next((gauge for gauge in live_gauges_of(bench).gauges if gauge.name == name and gauge.remedy), None)


def trouble_of(bench: Any) -> Trouble | None:
    """Return a warning if the numbers grow or have diverged, or None."""
    run = bench.live.run
    if run.stop_reason is StopReason.DIVERGED:
        (gauge,) = live_gauges_of(bench).gauges
        return _trouble(run.stop_reason.value, gauge.remedy)
    return _trouble(run.health.value) if run.health is Health.GROWING else None


def _trouble(said: str, remedy: str = "") -> Trouble:
    first, stop, _ = said.partition(". ")
    return Trouble(first + stop.strip(), said, remedy)


def _said(gauge: Gauge) -> dict[str, str]:
    light = gauge.light
    return {
        "name": gauge.name,
        "value": gauge.value,
        "light": light.name.lower(),
        "state": gauge.said,
        "sentence": gauge.sentence,
        "remedy": gauge.remedy,
    }


def _leading(shown: LiveGauges) -> Gauge | None:
    """Return the gauge whose remedy comes first: the strongest limit, or the first that more would still help."""
    return shown.leading or next((gauge for gauge in shown.gauges if gauge.light is Light.OPEN), None)


def _brought(bench: Any, shown: LiveGauges) -> str:
    """Return the gauge's value before the remedy, its value now, and the expected value."""
    tried = bench.tried
    if tried is None or tried.number != bench.number:
        return ""
    now = next((gauge for gauge in shown.gauges if gauge.name == tried.name and gauge.light is not Light.UNKNOWN), None)
    if now is None:
        return ""
    expected = f" (expected {tried.expected})" if tried.expected else ""
    return f"{tried.name} {tried.before} → {now.value}{expected}"
