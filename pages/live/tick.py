"""What a setting's page shows of its run at one moment, and the ticks that advance the run between two drawings."""

from __future__ import annotations

import json
import math
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from pages.charts.figures import line_at
from pages.charts.live_chart import LIBRARY_ADDRESS, STYLE, Chart, mounted, nothing
from pages.controls.hand import EDITS
from pages.live.curves import chart_of, is_multiclass, numbers_of
from pages.live.judgement import look_at, said_of, scrubber_of, seen, settle, show_next, status_of, watch_again
from pages.live.map_view import hand_chart, map_chart, map_state
from pages.session.bench import Bench, go_on
from pages.session.link import LESSON, place_of
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
FIRST_ITERATIONS = 4  # of the first drawing's curve
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
        live.go_to(live.run.n_iter, INSTANT_SECONDS, until)


def is_ticking(bench: Bench) -> bool:
    """Return True if ticks change the page: the run plays, is on the way to a link's iteration, or is shown again."""
    if bench.live is None or not are_served():
        return False
    return bench.back.is_moving or bench.is_going


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
            go_on(bench, lambda: bench.feed.hold.is_wanted)
        else:
            advance(bench, lambda: bench.feed.hold.is_wanted)
        settle(bench)
        feed, goes_on, redraw = bench.feed, is_ticking(bench), not asked or "Theory" in bench.drawing.opened
        if goes_on:  # now and then for the table of results, which ticks do not change
            seconds, now = SECONDS_BETWEEN_DRAWINGS * (1 + turns.n_waiting / WAITING_PER_SECOND), time.monotonic()
            redraw = bench.drawing.tab == "Race" and now - feed.drawn_at >= seconds
            feed.drawn_at = now if redraw else feed.drawn_at  # requested only once
        texts = bench.link.page.texts  # a step goes with its controls, which are not drawn yet after a click
        kept = texts | place_of(bench) | {name: texts.get(name, "") for name in (LESSON, EDITS)} if texts else None
        return packed(bench, kept=kept, isOver=not goes_on, redraw=redraw)


def head_data(bench: Bench) -> bytes:
    """Return the snapshot for the script's drawing, and what the browser needs in order to ask for ticks."""
    feed, token = bench.feed, ""
    if are_served():
        kept = weakref.ref(bench)  # it does not keep the session alive
        feed.ticker = feed.ticker or Ticker(lambda asked: GONE if (it := kept()) is None else tick(it, asked))
        token = feed.ticker.token
    feed.sent = {}
    data = packed(bench, token=token, address=ADDRESS, pace=1000 * TICK_SECONDS, isOver=not is_ticking(bench))
    feed.sent = {}  # Streamlit may drop this drawing, so the next tick sends all charts again
    feed.drawn_at = time.monotonic()
    return data


HEAD, CHARTS = "live-head", "live-charts"
_BROWSER = Path(__file__).parent / "browser"
_STYLE = (_BROWSER / "live.css").read_text(encoding="utf-8")


def draw_head(data: bytes, *, on_remedy: Callable[[], None] = nothing) -> None:
    """Draw status, scrubber and what limits the run; `on_remedy` follows a press on its remedy."""
    mounted("live_head", "live/browser/head.js", _STYLE)(
        key=HEAD, data=data, width="stretch", height="content", on_remedy_change=on_remedy, on_redraw_change=nothing
    )


def draw_charts(*, on_edit: Callable[[], None], lesson: Mapping[str, Any] | None = None) -> None:
    """Draw the place of the charts. They send an "edit", the name of the map's mount and numbered edits of the data.

    In a lesson they have no buttons of their own. `lesson` then holds `first`, the picture that a phone shows first, the map
    or the chart; `step`, which changes when the reader should see that picture again; and `canTurn`, if a phone offers both.
    """
    data = {"library": LIBRARY_ADDRESS, "lesson": None if lesson is None else dict(lesson)}
    mounted("live_charts", "live/browser/charts.js", STYLE)(
        key=CHARTS, data=data, width="stretch", height="content", on_edit_change=on_edit
    )


MAP, CURVES, BELOW = "map", "curves", "below"  # places of charts
HAND = "hand"  # the points that the reader can edit, which are no chart
SECONDS_BETWEEN_JUDGEMENTS = 1.0
# Numbers of this process, and no clock: after a clock steps back, the browser would ignore all news.
_orders = count()


def packed(bench: Bench, **more: Any) -> bytes:
    """Encode what the page shows of its run now, and `more`: all but the figures in the first line, and a line for each figure.

    This advances nothing; only the map keeps the values it has computed. Figures that were sent last are left out: a map stays
    the same for a while. Of two snapshots of an owner, the browser shows the one of the larger order.
    """
    hidden, is_lesson, feed = bench.view.hidden, bench.view.scene is not None, bench.feed
    charts, order = tuple(_charts(bench)), next(_orders)
    sent = [chart for _, chart in charts if feed.sent.get(chart.key) != chart.figure]
    feed.sent = {chart.key: chart.figure for _, chart in charts}
    first = {
        "status": None if "transport" in hidden else status_of(bench, is_short=is_lesson),
        "judgement": None if "limits" in hidden or is_lesson else _judgement(bench),
        "scrubber": None if "tabs" in hidden else scrubber_of(bench),
        **{"page": bench.link.page.page, "owner": feed.name, "order": order},
        "charts": [{"key": chart.key, "place": place} for place, chart in charts],
        "figures": [{"key": chart.key, "alt": chart.alt} for chart in sent],
    }
    return "\n".join([json.dumps(first | more), *(chart.figure for chart in sent)]).encode()


def _judgement(bench: Bench) -> dict[str, Any]:
    """Return what limits the run now. It costs as much as the rest of a tick, so during a run it is found once a second if
    others wait."""
    measured = None if bench.jobs.diagnosis is None else bench.jobs.diagnosis.job.state
    is_playing = bench.is_playing and not bench.is_held
    made_of = (bench.begun.number, bench.back.t, bench.begun.tried, is_playing, measured)
    now, kept = time.monotonic(), bench.feed.judged
    is_same = kept is not None and kept[0] == made_of and is_playing
    if kept is None or not is_same or not turns.n_waiting or now - kept[1] >= SECONDS_BETWEEN_JUDGEMENTS:
        bench.feed.judged = kept = (made_of, now, said_of(bench))
    return kept[2]


def _charts(bench: Bench) -> Iterator[tuple[str, Chart]]:
    """Yield the charts with their places: of a method's page, or of a lesson's step. The curves come first, because the
    browser draws them first."""
    live, view, revision, scene = bench.present, bench.view, str(bench.begun.number), bench.view.scene
    is_many, has_error = is_multiclass(live.run), scene is None and "error" not in view.hidden
    names = (
        ["objective", "score"] * ("curves" not in view.hidden) if scene is None else [scene.chart] * bool(scene.chart)
    )
    names += ["error"] * (has_error and (not is_many or live.run.engine.twin is not None))
    numbers = numbers_of(seen(bench)) if scene is None else {}
    for name in names:
        figure = chart_of(name, live, view, revision)
        layout = figure["layout"]
        if scene is None:
            layout["meta"]["values"] = numbers[name]
            if name != names[-1]:  # another one with the same axis is right below; in a picture the chart stands alone
                layout["meta"]["along"] = layout["xaxis"]["title"]["text"]
                layout["xaxis"] |= {"title": {"text": ""}, "showticklabels": False}
                layout["margin"]["b"] = 6
            if bench.back.t:  # the iteration that the page shows
                line = line_at(bench.back.t) | {"line": {"color": "#B4540A", "width": 2}}
                layout["shapes"].append(line)
        yield CURVES, Chart.of(f"chart-{name}", figure)
    if scene.has_map if scene is not None else "map" not in view.hidden:
        yield MAP, map_chart(bench, seen(bench), view)  # of a run that has diverged, the last finite step
        if view.can_edit:
            yield HAND, hand_chart(bench, live.run, map_state(bench, live.run).plane)
    if has_error and is_many:
        yield BELOW, Chart.of("chart-spectrum", chart_of("spectrum", live, view, revision))
