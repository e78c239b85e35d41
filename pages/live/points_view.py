"""The points on the map: as the method sees them, with their true classes, and with the mistakes on test points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.experiments import LiveRun, Plane, Run
from dsgcore.experiments.verdict import right_test_points
from pages.charts import figures as charts
from pages.charts.run_map import colors_of, point_sets
from pages.live.hand_view import split_shown
from pages.session.view import View


def points_on_map(bench: Any, live: LiveRun, view: View, plane: Plane) -> list[charts.PointSet]:
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
    """Return how many test points f and labels only put in the right class, as a sentence; nothing before the first step."""
    run, twin = live.run, live.supervised
    if not run.t:
        return ""
    n, own = len(run.split.y_test), int(np.sum(right_test_points(run)))
    said = f"f gets {own} of {n} test points right"
    return (
        said
        if twin is None or not twin.t
        else f"{said}, “{run.problem.baseline_name}” {int(np.sum(right_test_points(twin)))}"
    )
