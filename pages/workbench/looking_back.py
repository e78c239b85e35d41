"""The slider for an earlier iteration: everything on the page shows that iteration while the run pauses."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.experiments import LiveRun, Run
from pages.charts.axes import line_at
from pages.charts.figures import Figure
from pages.workbench.bench import Bench

FRAMES = 40
HELP = (
    "Shows the map, the numbers, the gauges, the details and the mark on the curves after an earlier "
    "step. The right end shows the present."
)


def look_back(bench: Bench, place: DeltaGenerator) -> None:
    """Draw the slider if there is an earlier iteration, and record the reader's choice. The slider is hidden with the tabs."""
    assert bench.live is not None
    run = bench.live.run
    last = last_step(run)
    is_going = bench.is_playing and not bench.live.is_finished
    if is_going or bench.going_to or last < 2 or not run.engine.can_look_back:
        place.empty()
        bench.look = bench.look if bench.going_to else 0
        return
    if "tabs" in bench.hidden:
        bench.look = 0 if bench.look >= last else bench.look
        return
    key = f"look-{bench.number}-{last}"
    # The value is sent at each drawing. A message that is sent once may be lost if the next drawing begins too soon, and
    # the browser would then start at the left end.
    usual: int | None = min(bench.look, last) or last
    if bench.is_showing:  # moves by itself from step to step
        bench.look = min(last, (bench.look or 0) + max(1, last // FRAMES))
        bench.is_showing = bench.look < last
        st.session_state[key], usual = bench.look, None
    with place.container(key="part-look", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.button(
            "Stop" if bench.is_showing else "Watch again",
            key="watch-again",
            icon=":material/stop:" if bench.is_showing else ":material/slideshow:",
            on_click=_show,
            args=(bench,),
        )
        value = st.slider("Shown step", 1, last, usual, key=key, help=HELP, label_visibility="collapsed")
    bench.look = 0 if value >= last else value


def _show(bench: Bench) -> None:
    """Start to show the run again from its beginning, or stop that."""
    bench.is_showing = not bench.is_showing
    bench.look = 0 if bench.is_showing else bench.look


def seen(bench: Bench) -> LiveRun:
    """Return the run at the iteration that the page shows: by default the present, or the last one that is finite."""
    live = bench.live
    assert live is not None
    last = last_step(live.run)
    t = min(bench.look or last, last)
    if t == live.run.t == live.run.model_t:
        return live
    asked = (bench.number, live.run.t, live.run.model_t, t)
    if bench.view is None or bench.view[0] != asked:
        bench.view = (asked, live.at(t))
        # A run that has diverged is shown as such, unless the reader looks at an earlier iteration.
        bench.view[1].run.stop_reason = live.run.stop_reason if t == last else None
    view: LiveRun = bench.view[1]
    return view


def last_step(run: Run) -> int:
    """Return the last iteration that the page can show.

    A run that diverges goes back to an iteration before it grew. The page shows the last finite one, if it can.
    """
    return run.t if run.engine.can_look_back else run.model_t


def marked(figure: Figure, bench: Any) -> Figure:
    """Return a chart over iterations with a line at the iteration that the page shows."""
    if bench.look:
        line = line_at(bench.look)
        figure["layout"].setdefault("shapes", []).append(line | {"line": {"color": "#B4540A", "width": 2}})
    return figure
