"""The position and state of a run in words, and what limits it: one sentence, one remedy, and the figures behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dsgcore.diagnostics import Gauge, Light, LiveGauges, live_gauges
from dsgcore.experiments import Health, LiveRun, Run, StopReason
from pages.live.looking_back import last_step, seen

Tone = Literal["green", "blue", "orange", "red", "gray"]
_LIGHTS: dict[Health, Tone] = {
    Health.GOOD: "green",
    Health.STARTING: "gray",
    Health.GROWING: "orange",
    Health.DIVERGED: "red",
}


@dataclass(frozen=True)
class Status:
    """The run's position and state, with a light and its meaning."""

    text: str
    light: Tone
    help: str


def status_of(live: LiveRun, *, is_playing: bool, going_to: int = 0, is_short: bool = False) -> Status:
    """Return the run's position and state; the short ones fit beside the buttons of a phone."""
    health = live.run.health
    said = _position(live, is_playing=is_playing, going_to=going_to)
    short = f"step {live.run.t} · diverged" if "diverged" in said else said
    return Status(short if is_short else said, _LIGHTS[health], health.value)


def _position(live: LiveRun, *, is_playing: bool, going_to: int) -> str:
    run = live.run
    state = f"going to step {going_to}" if going_to else "running" if is_playing else "paused"
    if run.stop_reason is not None:
        last = last_step(run)
        diverged = "diverged, last finite step shown" if last == run.t else f"diverged, step {last} shown"
        ends = {StopReason.FINISHED: "done", StopReason.SETTLED: "settled", StopReason.PLATEAU: "stopped early"}
        state = ends.get(run.stop_reason, diverged)
    changes = len([change for change in run.spec.changes if change.t <= run.t])
    recorded = f" · {changes} change{'s' * (changes != 1)} recorded" if changes else ""
    return f"step {run.t} of {run.n_iter} · {state}{recorded}"


def judgement_of(bench: Any) -> LiveGauges:
    """Return what limits the run at the iteration that the page shows."""
    live = seen(bench)
    return live_gauges(live.run, baseline=live.supervised)


def leading(found: LiveGauges) -> Gauge | None:
    """Return the strongest limit, or the first that more would still help."""
    return found.leading or next((gauge for gauge in found.gauges if gauge.light is Light.OPEN), None)


def said_of(bench: Any) -> dict[str, Any]:
    """Return the judgement in words; after a remedy, also what it has changed."""
    found = judgement_of(bench)
    first = leading(found)
    growing = bench.live.run.health.value if bench.live.run.health is Health.GROWING else ""
    sentence = growing or (found.summary() if first is None else f"{first.name}: {first.said}. {first.sentence}")
    return {
        "said": " ".join([*_brought(bench, found), sentence]),
        "remedy": "" if first is None else first.remedy,
        "tone": _tone(bench.live.run, found, first),
        "reason": [{"cause": one.name, "value": one.value, "sentence": one.sentence} for one in found.gauges],
    }


def _tone(run: Run, found: LiveGauges, first: Gauge | None) -> Tone:
    if run.health in (Health.GROWING, Health.DIVERGED):
        return "red"
    if first is not None:
        return "orange" if first.light is Light.LIMITS else "blue"
    is_early = any(gauge.light is Light.UNKNOWN for gauge in found.gauges)
    return "gray" if is_early else "orange" if found.beaten_by or found.fallen else "green"


def _brought(bench: Any, found: LiveGauges) -> list[str]:
    """Return the value of a remedy's cause before it, its value now, and the expected value."""
    tried = bench.tried
    if tried is None or tried.number != bench.number:
        return []
    now = next((one for one in found.gauges if one.name == tried.name and one.light is not Light.UNKNOWN), None)
    expected = f" (expected {tried.expected})" if tried.expected else ""
    return [] if now is None else [f"{tried.name} {tried.before} → {now.value}{expected}."]
