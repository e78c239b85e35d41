"""The points that the reader can edit in the map, as data for the browser."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.data.edits import MOST_PAINTED, PAINT, fit_any_seed
from dsgcore.experiments import Plane, Run
from pages.charts.figures import PREDICTED
from pages.charts.live_chart import Chart
from pages.charts.run_map import colors_of
from pages.controls.hand import Edits

KEY = "hand"
# At most so many points are drawn of each kind while the reader edits them, so that each can be hit.
MOST_DRAWN = MOST_PAINTED


def split_shown(bench: Any, run: Run) -> Split:
    """Return the data on the map: the run's, or edited data that lack what a run needs."""
    return bench.hand.split or run.split


def hand_chart(bench: Any, run: Run, plane: Plane) -> Chart:
    """Return the points with their rows and labels, the classes, and the state of the edits."""
    hand, split = bench.hand, split_shown(bench, run)
    made_of = (split, hand.made, hand.taken, hand.refused, hand.lacks, bench.view.axes, bench.view.scene)
    if hand.shown[0] != made_of:
        hand.shown = made_of, json.dumps(_said(bench, run, split, plane), separators=(",", ":"))
    return Chart(KEY, "", hand.shown[1])


def _said(bench: Any, run: Run, split: Split, plane: Plane) -> dict[str, Any]:
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
