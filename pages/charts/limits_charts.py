"""Charts of the three parts of a run's distance to the optimum, and of their shares, over the iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.charts import figures as charts

COLORS = {"optimisation": "#E69F00", "batches": "#56B4E9", "features": charts.EXACT}
NAMES = {"optimisation": "optimisation error", "batches": "batch noise", "features": "feature noise"}
REMAINDER = charts.UNLABELED


def parts_chart(t: NDArray, parts: Mapping[str, NDArray], *, theme: str) -> charts.Figure:
    """Return the parts and the total over the iterations: the mean over seeds, and a band from the lowest to the highest
    seed.

    `parts` are root mean squares relative to the norm of the optimum, of shape (seeds, iterations). One of them is
    "together".
    """
    curves, traces = [], []
    for name, values in parts.items():
        color = COLORS.get(name, charts.INK[theme])
        mean = np.sqrt(np.mean(values**2, axis=0))
        curves.append(charts.Curve(NAMES.get(name, "all together"), t, mean, color, dash=_DASHES.get(name, "solid")))
        traces += _band(t, values, color)
    figure = charts.line_chart(
        curves, title="Relative distance to the optimum", is_log_x=True, is_log_y=True, x_range=(1, float(t[-1]))
    )
    figure["data"] = [*traces, *figure["data"]]
    return figure


_DASHES = {"optimisation": "dash", "batches": "dot", "features": "dashdot"}


def _band(t: NDArray, values: NDArray, color: str) -> list[dict[str, Any]]:
    edges = charts.filled_between(t, values.min(axis=0), values.max(axis=0), "", color)
    return [edge | {"showlegend": False} for edge in edges]


def shares_chart(t: NDArray, shares: Mapping[str, NDArray]) -> charts.Figure:
    """Return the shares of the squared distance over the iterations, including the signed remainder."""
    curves = [
        charts.Curve(
            NAMES.get(name, "remainder, signed"),
            t,
            100 * y,
            COLORS.get(name, REMAINDER),
            dash=_DASHES.get(name, "longdash"),
        )
        for name, y in shares.items()
    ]
    return charts.line_chart(
        curves, title="Shares of the squared distance, %", is_log_x=True, x_range=(1, float(t[-1]))
    )
