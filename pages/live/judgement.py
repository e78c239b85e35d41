"""The position and state of a run in words, and what limits it: one sentence, one remedy, and the figures behind them."""

from __future__ import annotations

from typing import Any, Literal

from dsgcore.diagnostics import Cause, Judgement, judgement
from dsgcore.experiments import Health, LiveRun, Run, StopReason
from dsgcore.jobs import JobState
from pages.controls.control import brief
from pages.live.curves import names_of
from pages.session.bench import Bench
from pages.shell.plain_text import with_minus

Tone = Literal["green", "blue", "orange", "red", "gray"]
_LIGHTS: dict[Health, Tone] = {
    Health.GOOD: "green",
    Health.STARTING: "gray",
    Health.GROWING: "orange",
    Health.DIVERGED: "red",
}


def status_of(bench: Bench, *, is_short: bool = False) -> dict[str, str]:
    """Return the run's position and state in words, with a light and its meaning, and the change with which it goes on or has
    begun anew; the short ones fit beside the buttons of a phone."""
    live, going_to = bench.present, bench.link.going_to
    run = live.run
    state = f"going to step {going_to}" if going_to else "running" if bench.is_going else "paused"
    # Until the labels alone are learned from, too, a run goes on; one that has diverged is over.
    if run.stop_reason is StopReason.DIVERGED or (run.stop_reason is not None and live.is_finished):
        t = last_step(run)
        diverged = "diverged, last finite step shown" if t == run.t else f"diverged, step {t} shown"
        ends = {StopReason.FINISHED: "done", StopReason.SETTLED: "settled", StopReason.PLATEAU: "stopped early"}
        state = ends.get(run.stop_reason, diverged)
    said = f"step {run.t} of {run.n_iter} · {state}"
    if is_short:
        text = f"step {run.t} · diverged" if "diverged" in said else said
    else:
        changes, more = [change for change in run.spec.changes if change.t <= run.t + 1], ""
        if changes:
            last = changes[-1]
            n, value = f"{len(changes)} change{'s' * (len(changes) > 1)}", brief(last.value)
            more = f" · {n} recorded: {names_of(run.spec)[last.name]} {value} from step {last.t} on"
        elif bench.begun.words:
            more = f" · begun anew with {bench.begun.words}"
        text = said + more
    return {"text": text, "light": _LIGHTS[run.health], "help": run.health.value}


def judgement_of(bench: Bench) -> Judgement:
    """Return what limits the run at the iteration that the page shows; at the end, with what was measured of it."""
    live, found, number = seen(bench), bench.jobs.diagnosis, bench.begun.number
    limits = None
    if found is not None and found.number == number and found.job.state is JobState.DONE and live.is_finished:
        limits = found.job.result
    return judgement(live.run, baseline=live.supervised, limits=limits)


def said_of(bench: Bench) -> dict[str, Any]:
    """Return the judgement in words; after a remedy, also what it has changed."""
    found, tried, said = judgement_of(bench), bench.begun.tried, ""
    is_early = found.cause is Cause.EARLY
    if tried is not None and tried.number == bench.begun.number and not is_early and not bench.present.run.spec.changes:
        # The figure of the remedy's cause before it, its value now, and the expected value, until the run is changed.
        expected = f" (expected {tried.expected})" if tried.expected else ""
        if (now := found.figure(tried.cause)) is not None:
            said = f"{tried.cause.value.capitalize()}: {tried.before} → {now.value}{expected}. "
    tone: Tone = "red" if found.is_useless else "orange" if found.remedy else "blue"
    return {
        "said": with_minus(said + found.sentence),
        "remedy": with_minus(found.remedy),
        "tone": "gray" if is_early else "green" if found.cause is Cause.NOTHING else tone,
        "reason": [
            {
                "cause": one.cause.value.capitalize(),
                "value": with_minus(one.value),
                "sentence": with_minus(one.sentence),
            }
            for one in found.reason
        ],
    }


FRAMES = 40
HELP = (
    "Shows the map, the numbers, what limits the run, and the mark on the curves after an earlier "
    "step. The right end shows the present."
)


def scrubber_of(bench: Bench) -> dict[str, Any] | None:
    """Return the slider over a run's iterations: the last one, and the one that is shown, which may move by itself.

    During the run there is none, and for a run that cannot look back or has only one iteration.
    """
    last = last_step(bench.present.run)
    is_going = bench.is_playing and not bench.present.is_finished
    if is_going or bench.link.going_to or last < 2 or not bench.present.run.engine.can_look_back:
        return None
    return {"last": last, "shown": min(bench.back.t, last) or last, "is_moving": bench.back.is_moving, "help": HELP}


def look_at(bench: Bench, t: int) -> None:
    """Show the iteration `t`; the last one is the present."""
    scrubber = scrubber_of(bench)
    bench.back.is_moving = False
    bench.back.t = 0 if scrubber is None or not 1 <= t < scrubber["last"] else t


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
    asked = (bench.begun.number, live.run.t, live.run.model_t, t)
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
