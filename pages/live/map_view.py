"""The map of the current run: the learned function, computed again now and then, below the points, which can be edited."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import per_cent, seconds_of_features
from dsgcore.data import Split
from dsgcore.data.edits import MOST_PAINTED, PAINT, fit_any_seed
from dsgcore.experiments import LiveRun, Plane, Run, Surface
from dsgcore.experiments.verdict import right_test_points
from dsgcore.glossary import meaning
from pages.charts import figures as charts
from pages.charts.figures import PREDICTED
from pages.charts.live_chart import Chart, encoded
from pages.charts.run_map import CLASSES, ERROR, LEAD, NO_LINKS, SCORE, colors_of, decision_heats, point_sets, run_map
from pages.controls.view import LABELS_ONLY, NO_DIVIDER, Axes, plane_of
from pages.session.bench import SECONDS_BETWEEN_SURFACES, Bench, MapState, View
from pages.shell.plain_text import as_sentence
from pages.shell.sharing import drawing, turns

KEY = "hand"
# At most so many points are drawn of each kind while the reader edits them, so that each can be hit.
MOST_DRAWN = MOST_PAINTED


def split_shown(bench: Bench, run: Run) -> Split:
    """Return the data on the map: the run's, or edited data that lack what a run needs."""
    return bench.hand.split or run.split


def hand_chart(bench: Bench, run: Run, plane: Plane) -> Chart:
    """Return the points with their rows and labels, the classes, and the state of the edits."""
    hand, split = bench.hand, split_shown(bench, run)
    made_of = (split, hand.made, hand.taken, hand.refused, hand.lacks, bench.view.axes, bench.view.scene)
    if hand.shown[0] == made_of:
        return Chart(KEY, "", hand.shown[1])
    is_lesson = bench.view.scene is not None
    can_change = bench.view.scene is None or bench.view.scene.can_paint  # a step about labels keeps the points
    is_pairs, n_given = run.problem.labels == "pairs", run.spec.data.n_labeled
    n_labels, what = len(split.labeled) // (2 if is_pairs else 1), "pairs" if is_pairs else "labels"
    # After edits, of how many that the data began with. A drawn data set begins with none.
    is_of = hand.made and n_labels <= n_given and not fit_any_seed(hand.made)
    width = float((plane.high - plane.low).max())  # coordinates have a thousandth of it
    xy = plane.project(split.X_train).astype(float).round(max(0, 3 - int(np.floor(np.log10(width)))))
    said = {
        "rows": split.train_rows.tolist(),
        "x": xy[:, 0].tolist(),
        "y": xy[:, 1].tolist(),
        "labels": split.y_train.tolist(),
        "classes": list(split.class_names),
        "colors": [PREDICTED] if is_pairs else colors_of(run),
        "isPairs": is_pairs,
        "canPaint": split.X_train.shape[1] == 2 and can_change,
        "canErase": can_change,
        "count": f"{n_labels} of {n_given} {what}" if is_of else f"{n_labels} {what}",
        "left": MOST_PAINTED - sum(len(edit.at) // 2 for edit in hand.made if edit.do == PAINT),
        "canUndo": hand.can_undo,
        "canRedo": bool(hand.future),
        "isEdited": bool(hand.made),
        "isLesson": is_lesson,
        "canReset": can_change and not is_lesson,
        "said": as_sentence(hand.refused) if hand.refused else "",
        "next": "" if is_lesson else hand.lacks,  # the stage says it beside the goal
        "taken": list(hand.taken),
    }
    hand.shown = made_of, json.dumps(said, separators=(",", ":"))
    return Chart(KEY, "", hand.shown[1])


def points_on_map(bench: Bench, live: LiveRun, view: View, plane: Plane) -> list[charts.PointSet]:
    """Return the training points, and what the reader asks to see of right and wrong."""
    split = split_shown(bench, live.run)
    points = point_sets(live.run, plane, split)
    if view.has_truth:  # in the colours of the hidden classes; points without a class stay grey
        xy, hidden = plane.project(split.X_train), np.where(split.y_train < 0, split.y_hidden, len(split.class_names))
        points[0] = replace(points[0], xy=xy[hidden < 0])
        points[1:1] = [
            charts.PointSet(f"truly {name}", xy[hidden == label], color, "circle-open", size=5)
            for label, (name, color) in enumerate(zip(split.class_names, colors_of(live.run), strict=True))
        ]
    return points + (mistakes(live, plane, view.theme) if view.has_mistakes else [])


def mistakes(live: LiveRun, plane: Plane, theme: str) -> list[charts.PointSet]:
    """Return the test points that f, labels only or both put in a wrong class, each with a mark of its own."""
    run, twin = live.run, live.supervised
    if not run.t:
        return []
    xy, is_wrong = plane.project(run.split.X_test), ~right_test_points(run)
    marked = [("wrong", is_wrong, "circle-open")]
    if twin is not None and twin.t:
        other, name = ~right_test_points(twin), f"only {run.problem.baseline_name} wrong"
        marked = [("both wrong", is_wrong & other, "circle-open"), ("only f wrong", is_wrong & ~other, "square-open")]
        marked.append((name, ~is_wrong & other, "triangle-up-open"))
    return [charts.PointSet(name, xy[which], charts.INK[theme], symbol, size=10) for name, which, symbol in marked]


def points_right(live: LiveRun) -> str:
    """Return how many test points f and labels only put in the right class, as a sentence."""
    run, twin = live.run, live.supervised
    n, own = len(run.split.y_test), int(np.sum(right_test_points(run)))
    said = f"f gets {own} of {n} test points right"
    if twin is None or not twin.t:
        return said
    return f"{said}, “{run.problem.baseline_name}” {int(np.sum(right_test_points(twin)))}"


# Grid points along each axis. There are fewer, down to the least, if all of them would slow down each iteration.
GRID, LEAST_GRID = 60, 24
SECONDS_A_BLOCK = 0.05
# A map takes at most this share of the time, if no other session needs the core. Else it comes once a second or later.
SHARE_OF_MAPS = 0.1
WAITING_PER_SECOND = 4
SHORT_WAIT = 0.01  # for a turn, in seconds: the core is free
MAX_LINKS = 600
FIGURE_SPACE = "\u2007"  # as wide as a digit
MANY_POINTS = 1750  # to edit; the map of so many is drawn half as often
DIVIDED = ("f", "classes", "margin")  # what has a divider
KINDS = {"f": SCORE, "h": SCORE, "error": ERROR, "classes": CLASSES, "margin": LEAD}
TITLES = {
    "f": "Score f",
    "h": "Exact-kernel twin h",
    "error": "Error |f − h|",
    "classes": "Class",
    "margin": "Lead",
}


def map_chart(bench: Bench, live: LiveRun, view: View) -> Chart:
    """Return the map: the training points over f, h or the error, or for several classes over their regions or the lead."""
    run, shown, state = live.run, view.on_map, map_state(bench, live.run)
    divider, begun = _divider(live, view), time.monotonic()
    _refresh(live, state, shown, divider, pause=_pause(bench, run, state, view))
    links, revision = _links(run, state, has_graph=view.has_graph), f"{bench.begun.number}-{shown}-{state.axes}"
    made_of = state.computed_t, view, revision, len(links), bench.hand.split
    if not state.figure or state.drawn != made_of:
        others = [] if state.left is None else [state.left]
        heat, *beside = decision_heats(run, state.plane, [state.values, *others], shown=KINDS[shown], theme=view.theme)
        if view.scene is not None:
            heat |= {"showscale": False, "opacity": float(run.t > 0)}  # before the run there is nothing to see
        name = run.problem.baseline_name if divider == LABELS_ONLY else divider
        sides = _sides(live, view) or {"left": name, "right": "f"}
        wipe = {"wipe": {"z": beside[0]["z"], **sides}} if beside else {}
        made = run_map(
            run,
            state.plane,
            heat,
            title=TITLES[shown],
            theme=view.theme,
            revision=revision,
            links=links,
            points=points_on_map(bench, live, view, state.plane),
            most=MOST_DRAWN if view.can_edit else charts.MAX_DATA_POINTS,
        )
        if wipe and view.scene is not None:
            charts.without_axes(made)
        explained = {} if run.problem.decision == "highest" else {"help": f"{meaning('f')} {meaning('twin')}"}
        t = str(state.computed_t).rjust(
            len(str(run.n_iter)), FIGURE_SPACE
        )  # it may be older than the curves' last step
        made["layout"]["meta"] = {"note": f"step {t}", **explained, **wipe}
        state.drawn, state.figure = made_of, encoded(made)
        state.cost = time.monotonic() - begun
    alt = f"Map of the data over: {TITLES[shown]}, after step {state.computed_t}."
    return Chart("chart-map", alt, state.figure)


def _divider(live: LiveRun, view: View) -> str:
    """Return what is on the left of the divider; nothing if the map or the run has no such thing."""
    if view.on_map not in DIVIDED:
        return NO_DIVIDER
    if view.divider == LABELS_ONLY:  # a run on its way to a link's iteration goes without the other one
        return LABELS_ONLY if live.supervised is not None and live.supervised.t else NO_DIVIDER
    return NO_DIVIDER if live.run.problem.decision == "highest" else view.divider


def _sides(live: LiveRun, view: View) -> dict[str, str]:
    """Return the names that a scene gives to the two sides of the divider, each with the share of test points that it gets
    right; nothing if it gives none."""
    if view.scene is None or not view.scene.sides or live.supervised is None:
        return {}
    scores = [run.history.last().get("score_test", np.nan) for run in (live.supervised, live.run)]
    said = [
        f"{name}: {per_cent(score)} right" if np.isfinite(score) else name
        for name, score in zip(view.scene.sides, scores, strict=True)
    ]
    return dict(zip(("left", "right"), said, strict=True))


def map_state(bench: Bench, run: Run) -> MapState:
    """Return the plane of a run's data with the chosen axes, and the values known there."""
    axes = bench.view.axes
    if bench.surface is None or bench.surface.axes != axes:
        bench.surface = _new_map(run, axes)
    return bench.surface


def _new_map(run: Run, axes: Axes) -> MapState:
    plane, X = plane_of(run, axes), run.split.X_train
    each = seconds_of_features(GRID**2, X.shape[1], run.spec.solver.n_features, X.itemsize) / GRID**2
    size = int(np.clip(np.sqrt(SECONDS_A_BLOCK / (run.spec.kernel.factors * each)), LEAST_GRID, GRID))
    if run.problem.decision == "highest":
        return MapState(plane, axes, size, None, np.zeros((size * size, len(run.split.class_names))))
    return MapState(plane, axes, size, Surface(plane.grid(size), run.model), np.zeros(size * size))


def _pause(bench: Bench, run: Run, state: MapState, view: View) -> float:
    """Return the least seconds between two maps; 0 if the run does not go on.

    The more sessions wait to be drawn, the longer the pause. A browser takes long for thousands of points, and the reader
    who edits them sees each.
    """
    if not bench.is_playing or bench.back.t or bench.is_held or run.is_finished:
        return 0.0
    n = len(run.split.X_train) if view.can_edit else 0
    if bench.feed.waited < SHORT_WAIT and n <= MANY_POINTS:
        return min(state.cost / SHARE_OF_MAPS, SECONDS_BETWEEN_SURFACES)
    waiting = drawing.n_waiting + turns.n_waiting
    return SECONDS_BETWEEN_SURFACES * (1 + n / MANY_POINTS) * (1 + waiting / WAITING_PER_SECOND)


def _refresh(live: LiveRun, state: MapState, shown: str, divider: str, *, pause: float) -> None:
    """Compute the values again after the pause, and at once if the reader chooses other values."""
    run, now, asked = live.run, time.monotonic(), f"{shown}, {divider}"
    is_same = state.shown == asked
    if is_same and (state.computed_t == run.model_t or now - state.computed_at < pause):
        return
    state.values, state.left = _values(run, state, shown), None
    if divider == LABELS_ONLY and (other := live.supervised) is not None:
        if state.surface is not None and state.baseline_surface is None:
            state.baseline_surface = Surface(state.surface.points, other.model)
        state.left = _values(other, replace(state, surface=state.baseline_surface), "f")
    elif divider != NO_DIVIDER:
        state.left = _values(run, state, divider)
    state.computed_at, state.computed_t, state.shown = now, run.model_t, asked


def _values(run: Run, state: MapState, shown: str) -> NDArray:
    if state.surface is None:
        return run.result.evaluate(state.plane.grid(state.size))
    f = state.surface.values(run.model).astype(float)
    if shown == "f":
        return f
    h = run.exact_values(state.surface.points).astype(float)
    return h if shown == "h" else np.abs(f - h)


def _links(run: Run, state: MapState, *, has_graph: bool) -> NDArray:
    """Return the graph's links to draw, or nothing if there is no graph or the switch is off."""
    if run.problem.decision != "highest" or not has_graph:
        return NO_LINKS
    if state.links is None:
        state.links = run.engine.links(MAX_LINKS)
    return state.links
