"""Axes of charts: their ticks, and marks on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.settings.panels import Mark

# Share of a chart's width that the name of a mark takes, and the largest number of steps between ticks.
NAME_SHARE, MAX_STEPS = 0.3, 6


def ticks_to(end: float, *, is_log: bool = False) -> dict[str, Any]:
    """Return the ticks of an axis from its start (0, or 1 on a log axis) to the last iteration. The last iteration is
    always a tick."""
    if is_log:
        regular = [10**k for k in range(int(np.log10(end)) + 1) if 10**k <= end / 2]
    else:
        size = 10.0 ** np.floor(np.log10(end / MAX_STEPS))
        step = max(1, next(int(digit * size) for digit in (1, 2, 5, 10) if digit * size * MAX_STEPS >= end))
        regular = [t for t in range(0, int(end), step) if t <= end - step / 2]
    return {"tickvals": [*regular, end], "ticktext": [f"{t:,.0f}" for t in (*regular, end)]}


def value_axis(values: Sequence[NDArray], *, is_log: bool) -> dict[str, Any]:
    """Return the axis of the values; it shows no numbers if no value is finite."""
    axis: dict[str, Any] = {
        "type": "log" if is_log else "linear",
        "exponentformat": "e",
        "nticks": 6,
    }  # "power" takes more room
    if not any(np.isfinite(column).any() for column in values):
        return axis | {"showticklabels": False}  # plotly would invent numbers
    return axis | (_log_ticks(values) if is_log else {})


def _log_ticks(columns: Sequence[NDArray]) -> dict[str, Any]:
    """Return ticks at whole decades, about five of them; at 1 and 3 of fewer than two, and at 1, 2 and 5 of less than one."""
    values = np.concatenate(columns) if columns else np.ones(1)
    values = values[np.isfinite(values) & (values > 0)]
    low, high = (np.log10(values.min()), np.log10(values.max())) if len(values) else (0.0, 1.0)
    if high - low >= 2:
        return {"dtick": max(1, int(np.ceil((high - low) / 5)))}
    decades = range(int(np.floor(low)) - 1, int(np.ceil(high)) + 1)
    some = [float(f"{digit}e{k}") for k in decades for digit in ((1, 3) if high - low >= 1 else (1, 2, 5))]
    return {"tickvals": some, "ticktext": [f"{v:g}" for v in some]}


def line_at(x: float) -> dict[str, Any]:
    """Return a vertical line through the plot."""
    line = {"color": "#8A949E", "width": 1, "dash": "dot"}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": line}


def names_of(marks: Sequence[Mark], x_range: tuple[float, float], *, is_log: bool) -> list[dict[str, Any]]:
    """Return the names of the marks above the plot; of marks close together, return the first and the number of the others."""
    low, high = (np.log10(v) if is_log else v for v in x_range)
    places = [(float(np.log10(mark.x)) if is_log else mark.x, mark.name) for mark in marks]
    groups: list[list[tuple[float, str]]] = []
    for place, name in places:
        if groups and place - groups[-1][0][0] < NAME_SHARE * (high - low):
            groups[-1].append((place, name))
        else:
            groups.append([(place, name)])
    return [
        {
            "text": group[0][1] + (f" +{len(group) - 1}" if len(group) > 1 else ""),
            "x": group[0][0],
            "xanchor": "left" if group[0][0] < (low + high) / 2 else "right",
            "yref": "paper",
            "y": 1.0,
            "yanchor": "bottom",
            "showarrow": False,
        }
        for group in groups
    ]
