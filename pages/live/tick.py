"""What a setting's page shows of its run at one moment, and the ticks that advance the run between two drawings."""

from __future__ import annotations

import json
import math
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import streamlit as st

from pages.charts.live_chart import CONFIG, LIBRARY_ADDRESS, STYLE, Chart, mounted
from pages.live.curves import chart_of, is_multiclass, numbers_of, without_axis_title
from pages.live.judgement import look_at, mark, said_of, scrubber_of, seen, settle, show_next, status_of, watch_again
from pages.live.map_view import hand_chart, map_chart, map_state
from pages.session.bench import Bench, go_further
from pages.session.link import place_of
from pages.shell.sharing import turns
from pages.shell.ticks import ADDRESS, GONE, Ticker, are_served
from pages.shell.warm_up import updates

TICK_SECONDS = 0.25
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
# Seconds between drawings by the script while its table of results is open; longer on a crowded server.
SECONDS_BETWEEN_DRAWINGS = 3.0
WAITING_PER_SECOND = 4
# What a tick has waited counts less with each later tick.
WANING = 0.8
BUSY = b'{"isBusy": true}'
# What the browser can ask for, besides a tick: an iteration to look at, or to watch the run again.
LOOK, WATCH = "look", "watch"


def advance(bench: Bench, until: Callable[[], bool]) -> None:
    """Make the iterations of one tick."""
    live, speed = bench.live, bench.view.speed
    assert live is not None
    seconds = SHORT_SLICE_SECONDS if turns.n_waiting else FAST_SECONDS if speed == "fast" else SLICE_SECONDS
    updates[bench.feed.name] += 1
    if speed == "slow":
        live.advance(1, seconds)
    elif speed == "normal":
        live.advance(math.ceil(live.run.length / NORMAL_TICKS), seconds)
    elif speed == "fast":
        live.advance(None, seconds)
    else:
        live.rush(INSTANT_SECONDS, until=until)


def begin_curve(bench: Bench) -> None:
    """Make the iterations of the first curve, so that the page opens with one; ticks make the others."""
    if bench.live is not None and is_ticking(bench):
        first = min(FIRST_ITERATIONS, bench.link.going_to or FIRST_ITERATIONS)
        bench.live.advance(max(0, first - bench.live.run.t), SLICE_SECONDS)


def is_ticking(bench: Bench) -> bool:
    """Return True if ticks change the page: the run plays, is on the way to a link's iteration, or is shown again."""
    if bench.live is None or not are_served():
        return False
    return bench.back.is_moving or bench.is_going


def ticker_of(bench: Bench) -> Ticker:
    """Return the answers to the ticks of a page. They do not keep the page's session alive."""
    if bench.feed.ticker is None:
        bench.feed.ticker = Ticker(partial(_answer, weakref.ref(bench)))
    return bench.feed.ticker


def _answer(kept: weakref.ref[Bench], asked: str) -> bytes:
    bench = kept()
    return GONE if bench is None else tick(bench, asked)


def tick(bench: Bench, asked: str = "") -> bytes:
    """Advance a run by one tick, or do what the browser asks for, and return the changes of its page.

    `asked` is empty, "watch", or "look" with an iteration. While the script has the run, return nothing.
    """
    with turns.turn() as waited, bench.feed.hold.tried() as is_ours:
        if not is_ours:
            return BUSY
        bench.feed.waited = max(waited, WANING * bench.feed.waited)
        if bench.live is None or not (asked or is_ticking(bench)):
            return GONE
        what, _, t = asked.partition(" ")
        if what == WATCH:
            watch_again(bench)
        elif what == LOOK and t.isascii() and t.isdigit():
            look_at(bench, int(t))
        elif asked:
            pass
        elif bench.back.is_moving:
            show_next(bench)
        elif bench.link.going_to:
            go_further(bench, lambda: bench.feed.hold.is_wanted)
        else:
            advance(bench, lambda: bench.feed.hold.is_wanted)
        settle(bench)
        return _news(bench, is_asked=bool(asked))


def _news(bench: Bench, *, is_asked: bool) -> bytes:
    """Return the changes of the page. Charts that stay as they were sent last are left out: a map stays the same for a while."""
    feed, shown, goes_on = bench.feed, snapshot(bench), is_ticking(bench)
    same = frozenset(chart.key for _, chart in shown.charts if feed.sent.get(chart.key) == chart.figure)
    feed.sent = {chart.key: chart.figure for _, chart in shown.charts}
    redraw = not is_asked or "Theory" in bench.drawing.opened
    if goes_on:  # now and then for the table of results, which ticks do not change
        seconds, now = SECONDS_BETWEEN_DRAWINGS * (1 + turns.n_waiting / WAITING_PER_SECOND), time.monotonic()
        redraw = bench.drawing.tab == "Race" and now - feed.drawn_at >= seconds
        feed.drawn_at = now if redraw else feed.drawn_at  # requested only once
    kept = bench.link.page.texts | place_of(bench) if bench.page and bench.link.page.texts else None
    return packed(bench, shown, without=same, kept=kept, isOver=not goes_on, redraw=redraw)


def head_data(bench: Bench) -> bytes:
    """Return the snapshot for the script's drawing, and what the browser needs in order to ask for ticks."""
    shown, token = snapshot(bench), ticker_of(bench).token if are_served() else ""
    bench.feed.sent = {}  # Streamlit may drop this drawing, so the next tick sends all charts again
    bench.feed.drawn_at = time.monotonic()
    return packed(bench, shown, token=token, address=ADDRESS, pace=1000 * TICK_SECONDS, isOver=not is_ticking(bench))


HEAD, CHARTS = "live-head", "live-charts"
_BROWSER = Path(__file__).parent / "browser"
_STYLE = (_BROWSER / "live.css").read_text(encoding="utf-8")


def nothing() -> None:
    """Do nothing: the only purpose of the call is to draw the page again."""


def draw_head(data: bytes, *, on_remedy: Callable[[], None] = nothing) -> None:
    """Draw status, scrubber and what limits the run; `on_remedy` follows a press on its remedy."""
    mounted("live_head", "live/browser/head.js", _STYLE)(
        key=HEAD,
        data=data,
        width="stretch",
        height="content",
        on_remedy_change=on_remedy,
        on_redraw_change=nothing,
    )


def draw_charts(*, on_edit: Callable[[], None], lesson: Mapping[str, Any] | None = None) -> None:
    """Draw the place of the charts. `edits_asked` returns the edits of the data that were just made in the map.

    In a lesson they have no buttons of their own. `lesson` then holds `first`, the picture that a phone shows first, the map
    or the chart; `step`, which changes when the reader should see that picture again; and `canTurn`, if a phone offers both.
    """
    data = {"config": dict(CONFIG), "library": LIBRARY_ADDRESS, "lesson": None if lesson is None else dict(lesson)}
    mounted("live_charts", "live/browser/charts.js", STYLE)(
        key=CHARTS, data=data, width="stretch", height="content", on_edit_change=on_edit
    )


def edits_asked() -> object:
    """Return what the map has just sent: the name of its mount, and numbered edits."""
    return (st.session_state.get(CHARTS) or {}).get("edit")


MAP, CURVES, BELOW = "map", "curves", "below"  # places of charts
HAND = "hand"  # the points that the reader can edit, which are no chart
SECONDS_BETWEEN_JUDGEMENTS = 1.0
# Numbers of this process, and no clock: after a clock steps back, the browser would ignore all news.
_orders = count()


@dataclass(frozen=True)
class Snapshot:
    """Words, numbers and charts of a run.

    Attributes
    ----------
    head : dict
        Status, scrubber and judgement; None for what the page leaves out.
    charts : tuple of (place, Chart)
    order : int
        Of two snapshots of the same owner, the browser shows the one with the larger value.
    """

    head: dict[str, Any]
    charts: tuple[tuple[str, Chart], ...]
    order: int


def snapshot(bench: Bench) -> Snapshot:
    """Return what the page shows of its run now. This advances nothing; only the map keeps the values it has computed."""
    hidden, is_lesson, scrubber = bench.view.hidden, bench.view.scene is not None, scrubber_of(bench)
    head = {
        "status": None if "transport" in hidden else vars(status_of(bench, is_short=is_lesson)),
        "judgement": None if "limits" in hidden or is_lesson else _judgement(bench),
        "scrubber": None if scrubber is None or "tabs" in hidden else vars(scrubber),
    }
    return Snapshot(head, tuple(_charts(bench)), next(_orders))


def _judgement(bench: Bench) -> dict[str, Any]:
    """Return what limits the run now. It costs as much as the rest of a tick, so during a run it is found once a second if
    others wait."""
    measured = None if bench.jobs.diagnosis is None else bench.jobs.diagnosis.job.state
    is_playing = bench.is_playing and not bench.is_held
    made_of, now, kept = (
        (bench.number, bench.back.t, bench.begun.tried, is_playing, measured),
        time.monotonic(),
        bench.feed.judged,
    )
    is_same = kept is not None and kept[0] == made_of and is_playing
    if kept is None or not is_same or not turns.n_waiting or now - kept[1] >= SECONDS_BETWEEN_JUDGEMENTS:
        bench.feed.judged = kept = (made_of, now, said_of(bench))
    return kept[2]


def packed(bench: Bench, shown: Snapshot, *, without: frozenset[str] = frozenset(), **more: Any) -> bytes:
    """Encode a snapshot for the browser: everything except the figures in the first line, and a line for each figure.

    `without` names the charts whose figures the browser has already; `more` is added to the first line.
    """
    sent = [chart for _, chart in shown.charts if chart.key not in without]
    places = [{"key": chart.key, "place": place} for place, chart in shown.charts]
    figures = [{"key": chart.key, "alt": chart.alt} for chart in sent]
    whose = {"page": bench.page, "owner": bench.feed.name, "order": shown.order}
    first = {**shown.head, **whose, "charts": places, "figures": figures, **more}
    return "\n".join([json.dumps(first), *(chart.figure for chart in sent)]).encode()


def _charts(bench: Bench) -> Iterator[tuple[str, Chart]]:
    """Yield the charts with their places: of a method's page, or of a lesson's step. The curves come first, because the
    browser draws them first."""
    live, view, revision, scene = bench.present, bench.view, str(bench.number), bench.view.scene
    names = (
        [scene.chart] * bool(scene.chart)
        if scene is not None
        else ["objective", "score"] * ("curves" not in view.hidden)
    )
    if (
        scene is None
        and "error" not in view.hidden
        and (not is_multiclass(live.run) or live.run.engine.twin is not None)
    ):
        names.append("error")
    numbers = numbers_of(seen(bench)) if scene is None else {}
    for name in names:
        figure = chart_of(name, live, view, revision)
        if scene is None:  # above one another with one axis of iterations
            figure["layout"]["meta"]["values"] = numbers[name]
            if name != names[-1]:
                without_axis_title(figure)
            mark(figure, bench)
        yield CURVES, Chart.of(f"chart-{name}", figure)
    if scene.has_map if scene is not None else "map" not in view.hidden:
        yield MAP, map_chart(bench, seen(bench), view)  # of a run that has diverged, the last finite step
        if view.can_edit:
            yield HAND, hand_chart(bench, live.run, map_state(bench, live.run).plane)
    if scene is None and "error" not in view.hidden and is_multiclass(live.run):
        yield BELOW, Chart.of("chart-spectrum", chart_of("spectrum", live, view, revision))
