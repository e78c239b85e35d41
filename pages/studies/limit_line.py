"""The stability limit on charts with the step size as an axis. Runs above it grow without bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.studies.results import Results
from pages.charts.figures import Figure

STEP = "solver.step_size"
NAME = "diverges above"
COLOR = "#D55E00"
LINE = {"color": COLOR, "width": 2, "dash": "dash"}


def limit_on_lines(results: Results) -> list[dict[str, Any]]:
    """Return the limit as a vertical line over the only axis; return nothing if that is not the step, or does not reach the
    limit."""
    (axis,) = results.study.axes
    known = results.step_limit[np.isfinite(results.step_limit)]
    if axis.name != STEP or not len(known):
        return []
    limit, steps = float(known.mean()), _numbers(axis.values)
    if not len(steps) or not steps.min() <= limit <= steps.max():
        return []
    return [_trace([limit, limit], [0.0, 1.0]) | {"yaxis": "y2"}]


def limit_on_cells(results: Results, values: Sequence[Sequence[Any]], cells: NDArray) -> list[dict[str, Any]]:
    """Return the limit as a line through the cells of a map, in one piece for each value of the other axis.

    Parameters
    ----------
    results : Results
        Results with two axes.
    values : two sequences
        Values of the axes in the order of the cells, across and up.
    cells : ndarray of int, shape (up, across)
        Places of the points.
    """
    names = [axis.name for axis in results.study.axes]
    if STEP not in names:
        return []
    is_across = names.index(STEP) == 0
    steps, limits = _numbers(values[0 if is_across else 1]), results.step_limit[cells if is_across else cells.T]
    along: list[float | None] = []
    beside: list[float | None] = []
    for number, row in enumerate(limits):
        known = row[np.isfinite(row)]
        if len(known) and len(steps) == len(row) and steps[0] <= known.mean() <= steps[-1]:
            place = float(np.interp(np.log(known.mean()), np.log(steps), np.arange(len(steps))))
            along, beside = [*along, place, place], [*beside, number - 0.5, number + 0.5]
        else:
            along, beside = [*along, None], [*beside, None]
    if not any(place is not None for place in along):
        return []
    return [_trace(along, beside) if is_across else _trace(beside, along)]


def has_limit(figure: Figure) -> bool:
    """Return True if a figure shows the limit."""
    return any(trace.get("name") == NAME for trace in figure["data"])


def _numbers(values: Sequence[Any]) -> NDArray:
    """Return the step sizes that are numbers, without "auto"."""
    return np.array([value for value in values if isinstance(value, int | float)], dtype=float)


def _trace(x: Sequence[float | None], y: Sequence[float | None]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": NAME,
        "x": list(x),
        "y": list(y),
        "line": LINE,
        "hovertemplate": "stability limit: diverges above<extra></extra>",
        "showlegend": True,
    }
