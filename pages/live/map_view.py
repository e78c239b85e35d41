"""The map of the current run: the learned function, computed again now and then, below the points, which can be edited."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import seconds_of_features
from dsgcore.data import Split
from dsgcore.data.edits import MOST_PAINTED, PAINT, fit_any_seed
from dsgcore.experiments import LiveRun, Plane, Run, Surface
from dsgcore.experiments.verdict import right_test_points
from pages.charts import figures as charts
from pages.charts import words
from pages.charts.figures import PREDICTED
from pages.charts.live_chart import Chart, encoded
from pages.charts.run_map import CLASSES, ERROR, LEAD, NO_LINKS, SCORE, colors_of, decision_heats, point_sets, run_map
from pages.controls.hand import Edits
from pages.controls.view import LABELS_ONLY, NO_DIVIDER, Axes, plane_of
from pages.session.bench import SECONDS_BETWEEN_SURFACES, Bench, MapState, View
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
    if hand.shown[0] != made_of:
        hand.shown = made_of, json.dumps(_said(bench, run, split, plane), separators=(",", ":"))
    return Chart(KEY, "", hand.shown[1])


def _said(bench: Bench, run: Run, split: Split, plane: Plane) -> dict[str, Any]:
    hand, xy = bench.hand, plane.project(split.X_train)
    can_change = bench.view.scene is None or bench.view.scene.can_paint  # a step about labels keeps the points
    is_pairs = run.problem.labels == "pairs"
    n_labels = len(split.labeled) // (2 if is_pairs else 1)
    n_painted = sum(len(edit.at) // 2 for edit in hand.made if edit.do == PAINT)
    return {
        "rows": split.train_rows.tolist(),
        "x": _short(xy[:, 0], plane),
        "y": _short(xy[:, 1], plane),
        "labels": split.y_train.tolist(),
        "classes": list(split.class_names),
        "colors": [PREDICTED] if is_pairs else colors_of(run),
        "isPairs": is_pairs,
        "canPaint": split.X_train.shape[1] == 2 and can_change,
        "canErase": can_change,
        "count": _count(n_labels, run.spec.data.n_labeled, "pairs" if is_pairs else "labels", hand.made),
        "left": MOST_PAINTED - n_painted,
        "canUndo": hand.can_undo,
        "canRedo": bool(hand.future),
        "isEdited": bool(hand.made),
        "isLesson": bench.view.scene is not None,
        "canReset": can_change and bench.view.scene is None,
        "said": _sentence(hand.refused),
        "next": "" if bench.view.scene is not None else hand.lacks,  # the stage says it beside the goal
        "taken": list(hand.taken),
    }


def _count(n: int, n_generated: int, what: str, made: Edits) -> str:
    """Return the number of labels, after edits of those that the data began with. A drawn data set begins with none."""
    is_of = made and n <= n_generated and not fit_any_seed(made)
    return f"{n} of {n_generated} {what}" if is_of else f"{n} {what}"


def _sentence(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _short(values: NDArray, plane: Plane) -> list[float]:
    """Round coordinates to a thousandth of the map's width."""
    width = float((plane.high - plane.low).max())
    return [float(value) for value in np.round(values.astype(float), max(0, 3 - int(np.floor(np.log10(width)))))]


def points_on_map(bench: Bench, live: LiveRun, view: View, plane: Plane) -> list[charts.PointSet]:
    """Return the training points, and what the reader asks to see of right and wrong."""
    split = split_shown(bench, live.run)
    points = point_sets(live.run, plane, split)
    if view.has_truth:
        points = [*true_classes(live.run, split, plane), *points[1:]]
    return points + (mistakes(live, plane, view.theme) if view.has_mistakes else [])


def true_classes(run: Run, split: Split, plane: Plane) -> list[charts.PointSet]:
    """Return the unlabeled points in the colours of their hidden classes; those without a class stay grey."""
    xy, is_unlabeled = plane.project(split.X_train), split.y_train < 0
    unknown = charts.PointSet(
        "unlabeled", xy[is_unlabeled & (split.y_hidden < 0)], charts.UNLABELED, "circle-open", size=5, opacity=0.75
    )
    return [unknown] + [
        charts.PointSet(f"truly {name}", xy[is_unlabeled & (split.y_hidden == label)], color, "circle-open", size=5)
        for label, (name, color) in enumerate(zip(split.class_names, colors_of(run), strict=True))
    ]


def mistakes(live: LiveRun, plane: Plane, theme: str) -> list[charts.PointSet]:
    """Return the test points that f, labels only or both put in a wrong class, each with a mark of its own."""
    run, twin = live.run, live.supervised
    if not run.t:
        return []
    xy, is_wrong = plane.project(run.split.X_test), ~right_test_points(run)
    if twin is None or not twin.t:
        return [_marked("wrong", xy[is_wrong], "circle-open", theme)]
    other = ~right_test_points(twin)
    return [
        _marked("both wrong", xy[is_wrong & other], "circle-open", theme),
        _marked("only f wrong", xy[is_wrong & ~other], "square-open", theme),
        _marked(f"only {run.problem.baseline_name} wrong", xy[~is_wrong & other], "triangle-up-open", theme),
    ]


def _marked(name: str, xy: NDArray, symbol: str, theme: str) -> charts.PointSet:
    return charts.PointSet(name, xy, charts.INK[theme], symbol, size=10)


def points_right(live: LiveRun) -> str:
    """Return how many test points f and labels only put in the right class, as a sentence."""
    run, twin = live.run, live.supervised
    n, own = len(run.split.y_test), int(np.sum(right_test_points(run)))
    said = f"f gets {own} of {n} test points right"
    return (
        said
        if twin is None or not twin.t
        else f"{said}, “{run.problem.baseline_name}” {int(np.sum(right_test_points(twin)))}"
    )


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
    links, revision = _links(run, state, has_graph=view.has_graph), f"{bench.number}-{shown}-{state.axes}"
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
            made["layout"] |= {
                "margin": dict.fromkeys("lrtb", 6),
                "xaxis": _bare(made, "xaxis"),
                "yaxis": _bare(made, "yaxis"),
            }
        explained = {} if run.problem.decision == "highest" else {"help": f"{words.F} {words.H}"}
        made["layout"]["meta"] = {"note": step_note(state.computed_t, run.n_iter), **explained, **wipe}
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


def _bare(figure: charts.Figure, axis: str) -> dict[str, Any]:
    """Return an axis without its words and numbers."""
    bare = {"showticklabels": False, "ticks": "", "title": {"text": ""}, "automargin": False}
    return {**figure["layout"].get(axis, {}), **bare}


def _sides(live: LiveRun, view: View) -> dict[str, str]:
    """Return the names that a scene gives to the two sides of the divider, each with the share of test points that it gets
    right; nothing if it gives none."""
    if view.scene is None or not view.scene.sides or live.supervised is None:
        return {}
    scores = [run.history.last().get("score_test", np.nan) for run in (live.supervised, live.run)]
    said = [
        f"{name}: {score:.0%} right" if np.isfinite(score) else name
        for name, score in zip(view.scene.sides, scores, strict=True)
    ]
    return dict(zip(("left", "right"), said, strict=True))


def step_note(t: int, n_iter: int) -> str:
    """Return the step of the map, which may be older than the curves' last. All steps of a run have the same width."""
    return f"step {str(t).rjust(len(str(n_iter)), FIGURE_SPACE)}"


def map_state(bench: Bench, run: Run) -> MapState:
    """Return the plane of a run's data with the chosen axes, and the values known there."""
    axes = bench.view.axes
    if bench.surface is None or bench.surface.axes != axes:
        bench.surface = _new_map(run, axes)
    return bench.surface


def _new_map(run: Run, axes: Axes) -> MapState:
    plane, size = plane_of(run, axes), _size(run)
    if run.problem.decision == "highest":
        return MapState(plane, axes, size, None, np.zeros((size * size, len(run.split.class_names))))
    return MapState(plane, axes, size, Surface(plane.grid(size), run.model), np.zeros(size * size))


def _size(run: Run) -> int:
    """Return the number of grid points along each axis."""
    solver, d = run.spec.solver, run.split.X_train.shape[1]
    each = (
        run.spec.kernel.factors
        * seconds_of_features(GRID**2, d, solver.n_features, run.split.X_train.itemsize)
        / GRID**2
    )
    return int(np.clip(np.sqrt(SECONDS_A_BLOCK / each), LEAST_GRID, GRID))


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
    if divider == LABELS_ONLY and live.supervised is not None:
        state.left = _baseline_values(live.supervised, state)
    elif divider != NO_DIVIDER:
        state.left = _values(run, state, divider)
    state.computed_at, state.computed_t, state.shown = now, run.model_t, asked


def _values(run: Run, state: MapState, shown: str) -> NDArray:
    if state.surface is None:
        return run.result.evaluate(state.plane.grid(state.size))
    f = state.surface.values(run.model).astype(float)
    if shown == "f":
        return f.copy()
    h = run.exact_values(state.surface.points).astype(float)
    return h if shown == "h" else np.abs(f - h)


def _baseline_values(baseline: Run, state: MapState) -> NDArray:
    if state.surface is None:
        return baseline.result.evaluate(state.plane.grid(state.size))
    if state.baseline_surface is None:
        state.baseline_surface = Surface(state.surface.points, baseline.model)
    return state.baseline_surface.values(baseline.model).astype(float)


def _links(run: Run, state: MapState, *, has_graph: bool) -> NDArray:
    """Return the graph's links to draw, or nothing if there is no graph or the switch is off."""
    if run.problem.decision != "highest" or not has_graph:
        return NO_LINKS
    if state.links is None:
        state.links = run.engine.links(MAX_LINKS)
    return state.links
