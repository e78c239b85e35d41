"""The ticks of a run between two drawings of its page: they advance the run and send the changes."""

from __future__ import annotations

import json
import math
import time
import weakref
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

from dsgcore.experiments import LiveRun, Setting
from pages.controls.control import key_of
from pages.controls.view_choices import SPEED, choices_of, viewed
from pages.race.state import RACES
from pages.shell.asked import as_noted, noted
from pages.shell.ticks import ADDRESS, GONE, Ticker, are_served
from pages.shell.turns import turns
from pages.shell.watch import pulse
from pages.workbench import live_views as views
from pages.workbench.bench import Bench, go_further
from pages.workbench.coming import place_of
from pages.workbench.looking_back import seen
from pages.workbench.map_axes import AXES

TICK_SECONDS = 0.25
# Until the browser reports the first curve.
WAITING_SECONDS = 3.0
SLICE_SECONDS = 0.08
# "Fast" uses most of an idle core, and is drawn about three times a second.
FAST_SECONDS = 0.2
# Shorter slices if others wait: one iteration of each run is better than two of one run and none of another.
SHORT_SLICE_SECONDS = 0.04
INSTANT_SECONDS = 2.0
# At normal speed a run takes about this many ticks, that is ten seconds.
NORMAL_TICKS = 40
# The first drawing shows a curve with these iterations.
FIRST_ITERATIONS = 4
# Seconds between drawings by the script, which draws everything that ticks do not change; longer on a crowded server.
SECONDS_BETWEEN_DRAWINGS = 3.0
WAITING_PER_SECOND = 4
BUSY = b'{"isBusy": true}'


def advance(bench: Bench, until: Callable[[], bool]) -> None:
    """Make the iterations of one drawing; before the browser has drawn the first curve, only the iterations of that curve."""
    live = bench.live
    assert live is not None
    speed, is_crowded = viewed(type(live.run.problem), SPEED), turns.n_waiting > 0
    seconds = SHORT_SLICE_SECONDS if is_crowded else FAST_SECONDS if speed == "fast" else SLICE_SECONDS
    pulse.note(bench.session)
    if not (is_seen(bench) or bench.going_to):
        live.advance(max(0, FIRST_ITERATIONS - live.run.t), seconds)
    elif speed == "slow":
        live.advance(1, seconds)
    elif speed == "normal":
        live.advance(math.ceil(live.run.n_iter / NORMAL_TICKS), seconds)
    elif speed == "fast":
        live.advance(None, seconds)
    else:
        live.rush(INSTANT_SECONDS, until=until)


def can_tick() -> bool:
    """Return True if there is a server that answers ticks, and a browser component that asks for them."""
    return are_served() and _component() is not None


def is_ticking(bench: Bench) -> bool:
    """Return True if ticks advance the run: it plays and its curves are drawn, or it is on the way to a link's iteration."""
    if bench.live is None or bench.live.is_finished or not bench.is_playing or bench.is_held or bench.is_showing:
        return False
    return can_tick() and (is_seen(bench) or bench.going_to > 0)


def pace_of(bench: Bench) -> tuple[float | None, bool]:
    """Return the seconds between two drawings by the script, and True if ticks advance the run instead.

    Before the browser shows the curves, drawings are rare, because each one delays the first curve.
    """
    if bench.is_showing:
        return TICK_SECONDS, False
    if is_ticking(bench):
        return None, True
    if not bench.is_playing or bench.is_held or bench.live is None or bench.live.is_finished:
        return None, False
    return (TICK_SECONDS if is_seen(bench) or bench.going_to else WAITING_SECONDS), False


def is_seen(bench: Bench) -> bool:
    """Return True if the browser shows the curves, or if they are hidden."""
    return bench.is_watched or "curves" in bench.hidden


def note(bench: Bench, theme: str) -> None:
    """Keep the values that ticks need, when the script draws the run."""
    assert bench.live is not None
    problem = type(bench.live.run.problem)
    bench.theme = theme
    names = (*(choice.name for choice in choices_of(problem)), *AXES)
    bench.noted = noted([RACES, *(key_of(problem, name) for name in names)])
    bench.drawn_at, bench.drawn_health = time.monotonic(), bench.live.run.health
    bench.sent = {}


def tick_here(page: str, bench: Bench) -> None:
    """Make the browser ask for ticks during the run."""
    component = _component()
    if component is None:
        return
    if bench.ticker is None:
        bench.ticker = Ticker(partial(_answer, weakref.ref(bench)))
    data = {
        "token": bench.ticker.token if is_ticking(bench) else "",
        "page": page,
        "address": ADDRESS,
        "pace": 1000 * TICK_SECONDS,
        "order": time.time(),
        "said": _said(bench, seen(bench), is_playing=bench.is_playing and not bench.is_held),
    }
    with st.container(key="part-state-ticks"):
        component(key="ticks", data=data, on_redraw_change=_nothing)


def _nothing() -> None:
    """Do nothing: the only purpose of the call is to draw the page again."""


def _answer(kept: weakref.ref[Bench]) -> bytes:
    bench = kept()
    return GONE if bench is None else tick(bench)


def tick(bench: Bench) -> bytes:
    """Advance a run by one drawing, and return the changes of its page; return nothing while the script has the run."""
    with turns.turn(), bench.hold.tried() as is_ours:
        if not is_ours:
            return BUSY
        if not is_ticking(bench):
            return GONE
        with as_noted(bench.noted):
            if bench.going_to:
                go_further(bench, lambda: bench.hold.is_wanted)
            else:
                advance(bench, lambda: bench.hold.is_wanted)
            return _news(bench)


def _news(bench: Bench) -> bytes:
    """Return the changes of the page: the first line holds everything except the figures, and each other line one figure."""
    live = bench.live
    assert live is not None
    made = [chart for chart in views.charts(bench, theme=bench.theme, hidden=bench.hidden) if _is_new(bench, chart)]
    goes_on = is_ticking(bench)
    news = {
        **_said(bench, seen(bench), is_playing=True),
        "order": time.time(),
        "charts": [{"key": chart.key, "alt": chart.alt} for chart in made],
        "isOver": not goes_on,
        "redraw": not goes_on or _is_due(bench),
    }
    return "\n".join([json.dumps(news), *(chart.drawing.text for chart in made)]).encode()


def _said(bench: Bench, shown: LiveRun, *, is_playing: bool) -> dict[str, Any]:
    """Return the run's position and its results in words and numbers, as far as the page shows them."""
    assert bench.live is not None
    problem: type[Setting] = type(bench.live.run.problem)
    return {
        "status": views.status_words(bench.live, is_playing=is_playing, going_to=bench.going_to),
        "values": [] if "tiles" in bench.hidden else views.tile_values(shown),
        "notes": views.tile_notes(shown),
        "scoreLabel": views.score_label(shown),
        "page": problem.name,
        "kept": place_of(problem, bench),
    }


def _is_new(bench: Bench, chart: Any) -> bool:
    """Return True if no tick has sent this drawing of a chart yet; a map stays the same for a while."""
    is_new = bench.sent.get(chart.key) is not chart.drawing
    bench.sent[chart.key] = chart.drawing
    return is_new


def _is_due(bench: Bench) -> bool:
    """Return True if the script must draw the page, for the parts that ticks do not change."""
    assert bench.live is not None
    seconds, health = SECONDS_BETWEEN_DRAWINGS * (1 + turns.n_waiting / WAITING_PER_SECOND), bench.live.run.health
    is_due = health is not bench.drawn_health or time.monotonic() - bench.drawn_at >= seconds
    if is_due:  # requested only once
        bench.drawn_at, bench.drawn_health = time.monotonic(), health
    return is_due


@cache
def _component() -> Callable[..., Any] | None:
    try:
        from streamlit.components.v2 import component
    except ImportError:
        return None
    script = Path(__file__).with_name("ticking.js").read_text(encoding="utf-8")
    return component("ticking", js=script, isolate_styles=False)
