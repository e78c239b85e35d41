"""What a setting's page shows of its run at one moment: the same data for the script, for a tick, and for tests."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from pages.charts.figures import Figure
from pages.charts.live_chart import Chart, encoded
from pages.live.curves import chart_of, engine_of, is_multiclass, numbers_of, without_axis_title
from pages.live.judgement import marked, said_of, scrubber_of, seen, status_of
from pages.live.map_view import hand_chart, map_chart, map_state
from pages.session.bench import Bench
from pages.shell.sharing import turns

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
    live, hidden = bench.present, bench.view.hidden
    is_playing = bench.is_playing and not bench.is_held
    scrubber, is_lesson = scrubber_of(bench), bench.view.scene is not None
    head = {
        "status": None
        if "transport" in hidden
        else vars(
            status_of(
                live,
                is_playing=is_playing,
                going_to=bench.link.going_to,
                begun_with=bench.begun_with,
                is_short=is_lesson,
            )
        ),
        "judgement": None if "limits" in hidden or is_lesson else _judgement(bench, is_playing=is_playing),
        "scrubber": None if scrubber is None or "tabs" in hidden else vars(scrubber),
    }
    return Snapshot(head, tuple(_charts(bench)), next(_orders))


def _judgement(bench: Bench, *, is_playing: bool) -> dict[str, Any]:
    """Return what limits the run now. It costs as much as the rest of a tick, so during a run it is found once a second if
    others wait."""
    measured = None if bench.diagnosis is None else bench.diagnosis.job.state
    made_of, now = (bench.number, bench.look, bench.tried, is_playing, measured), time.monotonic()
    kept = bench.judged
    is_due = kept is None or not turns.n_waiting or now - kept[1] >= SECONDS_BETWEEN_JUDGEMENTS
    if kept is None or is_due or kept[0] != made_of or not is_playing:
        bench.judged = kept = (made_of, now, said_of(bench))
    return kept[2]


def packed(shown: Snapshot, *, without: frozenset[str] = frozenset(), **more: Any) -> bytes:
    """Encode a snapshot for the browser: everything except the figures in the first line, and a line for each figure.

    `without` names the charts whose figures the browser has already; `more` is added to the first line.
    """
    sent = [chart for _, chart in shown.charts if chart.key not in without]
    places = [{"key": chart.key, "place": place} for place, chart in shown.charts]
    figures = [{"key": chart.key, "alt": chart.alt} for chart in sent]
    first = {**shown.head, "order": shown.order, "charts": places, "figures": figures, **more}
    return "\n".join([json.dumps(first), *(chart.figure for chart in sent)]).encode()


def _charts(bench: Bench) -> Iterator[tuple[str, Chart]]:
    """Yield the charts with their places. The curves come first, because the browser draws them first."""
    live, view, revision = bench.present, bench.view, str(bench.number)
    if view.scene is not None:
        yield from _of_a_lesson(bench, revision)
        return
    yield from _curves(bench, revision)
    if "map" not in view.hidden:
        yield MAP, map_chart(bench, seen(bench), view)
        if view.can_edit:
            yield HAND, hand_chart(bench, live.run, map_state(bench, live.run).plane)
    if "error" not in view.hidden and is_multiclass(live.run):
        yield BELOW, _chart(chart_of("spectrum", live, view, revision))


def _of_a_lesson(bench: Bench, revision: str) -> Iterator[tuple[str, Chart]]:
    """Yield the chart and the map of a lesson's step."""
    scene = bench.view.scene
    assert scene is not None
    if scene.chart:
        yield CURVES, _chart(chart_of(scene.chart, bench.present, bench.view, revision))
    if scene.has_map:
        yield MAP, map_chart(bench, seen(bench), bench.view)  # of a run that has diverged, the last finite step
        if bench.view.can_edit:
            yield HAND, hand_chart(bench, bench.present.run, map_state(bench, bench.present.run).plane)


def _curves(bench: Bench, revision: str) -> Iterator[tuple[str, Chart]]:
    """Yield the objective, the score and the error of the random features, above one another with one axis of iterations."""
    live, view = bench.present, bench.view
    has_error = not is_multiclass(live.run) or engine_of(live.run).twin is not None
    names = [
        *["objective", "score"] * ("curves" not in view.hidden),
        *["error"] * (has_error and "error" not in view.hidden),
    ]
    numbers = numbers_of(seen(bench))
    for name in names:
        key, alt, figure = chart_of(name, live, view, revision)
        figure["layout"]["meta"]["values"] = numbers[key]
        if name != names[-1]:
            without_axis_title(figure)
        yield CURVES, _chart((key, alt, marked(figure, bench)))


def _chart(made: tuple[str, str, Figure]) -> Chart:
    key, alt, figure = made
    return Chart(key, alt, encoded(figure))
