"""The position and state of a run in words, and what limits it: one sentence, one remedy, and the figures behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dsgcore.diagnostics import Cause, Judgement, judgement
from dsgcore.experiments import Health, LiveRun, Run, StopReason
from dsgcore.jobs import JobState
from pages.charts.figures import Figure, line_at
from pages.controls.control import shown
from pages.live.curves import names_of
from pages.session.bench import Bench

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


def status_of(bench: Bench, *, is_short: bool = False) -> Status:
    """Return the run's position and state, and the change with which it goes on or has begun anew; the short ones fit beside
    the buttons of a phone."""
    live, going_to = bench.present, bench.link.going_to
    run, is_playing = live.run, bench.is_playing and not bench.is_held
    state = f"going to step {going_to}" if going_to else "running" if is_playing else "paused"
    # Until the labels alone are learned from, too, a run goes on; one that has diverged is over.
    if run.stop_reason is StopReason.DIVERGED or (run.stop_reason is not None and live.is_finished):
        last = last_step(run)
        diverged = "diverged, last finite step shown" if last == run.t else f"diverged, step {last} shown"
        ends = {StopReason.FINISHED: "done", StopReason.SETTLED: "settled", StopReason.PLATEAU: "stopped early"}
        state = ends.get(run.stop_reason, diverged)
    said = f"step {run.t} of {run.n_iter} · {state}"
    if is_short:
        text = f"step {run.t} · diverged" if "diverged" in said else said
    else:
        anew = [f"begun anew with {bench.begun.words}"] * bool(bench.begun.words)
        text = " · ".join([said, *(_recorded(run) or anew)])
    return Status(text, _LIGHTS[run.health], run.health.value)


def _recorded(run: Run) -> list[str]:
    """Return the number of changes so far, and the last one, with which the run goes on."""
    changes = [change for change in run.spec.changes if change.t <= run.t + 1]
    if not changes:
        return []
    name, value, t = names_of(run.spec)[changes[-1].name], shown(changes[-1].value), changes[-1].t
    return [f"{len(changes)} change{'s' * (len(changes) > 1)} recorded: {name} {value} from step {t} on"]


def judgement_of(bench: Bench) -> Judgement:
    """Return what limits the run at the iteration that the page shows; at the end, with what was measured of it."""
    live, found = seen(bench), bench.jobs.diagnosis
    limits = None
    if found is not None and found.number == bench.number and found.job.state is JobState.DONE and live.is_finished:
        limits = found.job.result
    return judgement(live.run, baseline=live.supervised, limits=limits)


def said_of(bench: Bench) -> dict[str, Any]:
    """Return the judgement in words; after a remedy, also what it has changed."""
    found = judgement_of(bench)
    return {
        "said": " ".join([*_brought(bench, found), found.sentence]),
        "remedy": found.remedy,
        "tone": _tone(found),
        "reason": [
            {"cause": figure.cause.value.capitalize(), "value": figure.value, "sentence": figure.sentence}
            for figure in found.reason
        ],
    }


def _tone(found: Judgement) -> Tone:
    if found.cause is Cause.EARLY:
        return "gray"
    if found.cause is Cause.NOTHING:
        return "green"
    return "red" if found.is_useless else "orange" if found.remedy else "blue"


def _brought(bench: Bench, found: Judgement) -> list[str]:
    """Return the figure of a remedy's cause before it, its value now, and the expected value, until the run is changed."""
    tried = bench.begun.tried
    if tried is None or tried.number != bench.number or found.cause is Cause.EARLY or bench.present.run.spec.changes:
        return []
    now = found.figure(tried.cause)
    expected = f" (expected {tried.expected})" if tried.expected else ""
    return [] if now is None else [f"{tried.cause.value.capitalize()}: {tried.before} → {now.value}{expected}."]


FRAMES = 40
HELP = (
    "Shows the map, the numbers, what limits the run, and the mark on the curves after an earlier "
    "step. The right end shows the present."
)


@dataclass(frozen=True)
class Scrubber:
    """The slider over a run's iterations, from the first to the last."""

    last: int
    shown: int
    is_moving: bool  # by itself, from step to step
    help: str = HELP


def scrubber_of(bench: Bench) -> Scrubber | None:
    """Return the slider, or None during the run, and for a run that cannot look back or has only one iteration."""
    last = last_step(bench.present.run)
    is_going = bench.is_playing and not bench.present.is_finished
    if is_going or bench.link.going_to or last < 2 or not bench.present.run.engine.can_look_back:
        return None
    return Scrubber(last, min(bench.back.t, last) or last, bench.back.is_moving)


def look_at(bench: Bench, t: int) -> None:
    """Show the iteration `t`; the last one is the present."""
    scrubber = scrubber_of(bench)
    bench.back.is_moving = False
    bench.back.t = 0 if scrubber is None or not 1 <= t < scrubber.last else t


def watch_again(bench: Bench) -> None:
    """Start to show the run again from its beginning, or stop that."""
    bench.back.is_moving = not bench.back.is_moving and scrubber_of(bench) is not None
    bench.back.t = 0 if bench.back.is_moving else bench.back.t


def show_next(bench: Bench) -> None:
    """Show the next iteration of a run that is shown again, and stop at its end."""
    last = last_step(bench.present.run)
    then = (bench.back.t or 0) + max(1, last // FRAMES)
    bench.back.is_moving = bench.back.is_moving and then < last
    bench.back.t = then if bench.back.is_moving else 0


def settle(bench: Bench) -> None:
    """Show the present if the run goes on, or if there is nothing earlier to show."""
    if bench.back.t and not bench.link.going_to and scrubber_of(bench) is None:
        bench.back.t, bench.back.is_moving = 0, False
    if bench.back.t >= last_step(bench.present.run) and not bench.link.going_to:
        bench.back.t = 0


def seen(bench: Bench) -> LiveRun:
    """Return the run at the iteration that the page shows: by default the present, or the last one that is finite."""
    live = bench.present
    last = last_step(live.run)
    t = min(bench.back.t or last, last)
    if t == live.run.t == live.run.model_t:
        return live
    asked = (bench.number, live.run.t, live.run.model_t, t)
    if bench.back.run is None or bench.back.run[0] != asked:
        bench.back.run = (asked, live.at(t))
        # A run that has diverged is shown as such, unless the reader looks at an earlier iteration.
        bench.back.run[1].run.stop_reason = live.run.stop_reason if t == last else None
    return bench.back.run[1]


def last_step(run: Run) -> int:
    """Return the last iteration that the page can show.

    A run that diverges goes back to an iteration before it grew. The page shows the last finite one, if it can.
    """
    return run.t if run.engine.can_look_back else run.model_t


def mark(figure: Figure, bench: Bench) -> None:
    """Draw a line in a chart over iterations at the one that the page shows."""
    if bench.back.t:
        line = line_at(bench.back.t)
        figure["layout"].setdefault("shapes", []).append(line | {"line": {"color": "#B4540A", "width": 2}})
