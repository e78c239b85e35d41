"""An earlier iteration of a run: while the run pauses, the whole page can show that one."""

from __future__ import annotations

from dataclasses import dataclass

from dsgcore.experiments import LiveRun, Run
from pages.charts.figures import Figure, line_at
from pages.session.bench import Bench

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
    return Scrubber(last, min(bench.look, last) or last, bench.is_showing)


def look_at(bench: Bench, t: int) -> None:
    """Show the iteration `t`; the last one is the present."""
    scrubber = scrubber_of(bench)
    bench.is_showing = False
    bench.look = 0 if scrubber is None or not 1 <= t < scrubber.last else t


def watch_again(bench: Bench) -> None:
    """Start to show the run again from its beginning, or stop that."""
    bench.is_showing = not bench.is_showing and scrubber_of(bench) is not None
    bench.look = 0 if bench.is_showing else bench.look


def show_next(bench: Bench) -> None:
    """Show the next iteration of a run that is shown again, and stop at its end."""
    last = last_step(bench.present.run)
    then = (bench.look or 0) + max(1, last // FRAMES)
    bench.is_showing = bench.is_showing and then < last
    bench.look = then if bench.is_showing else 0


def settle(bench: Bench) -> None:
    """Show the present if the run goes on, or if there is nothing earlier to show."""
    if bench.look and not bench.link.going_to and scrubber_of(bench) is None:
        bench.look, bench.is_showing = 0, False
    if bench.look >= last_step(bench.present.run) and not bench.link.going_to:
        bench.look = 0


def seen(bench: Bench) -> LiveRun:
    """Return the run at the iteration that the page shows: by default the present, or the last one that is finite."""
    live = bench.present
    last = last_step(live.run)
    t = min(bench.look or last, last)
    if t == live.run.t == live.run.model_t:
        return live
    asked = (bench.number, live.run.t, live.run.model_t, t)
    if bench.earlier is None or bench.earlier[0] != asked:
        bench.earlier = (asked, live.at(t))
        # A run that has diverged is shown as such, unless the reader looks at an earlier iteration.
        bench.earlier[1].run.stop_reason = live.run.stop_reason if t == last else None
    return bench.earlier[1]


def last_step(run: Run) -> int:
    """Return the last iteration that the page can show.

    A run that diverges goes back to an iteration before it grew. The page shows the last finite one, if it can.
    """
    return run.t if run.engine.can_look_back else run.model_t


def marked(figure: Figure, bench: Bench) -> Figure:
    """Return a chart over iterations with a line at the iteration that the page shows."""
    if bench.look:
        line = line_at(bench.look)
        figure["layout"].setdefault("shapes", []).append(line | {"line": {"color": "#B4540A", "width": 2}})
    return figure
