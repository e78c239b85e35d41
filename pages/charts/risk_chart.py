"""The signed parts of the objective over the iterations. Areas below zero are negative risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.glossary import meaning
from pages.charts import figures as charts

COLORS = ("#0072B2", "#E69F00", "#56B4E9", "#8A949E", "#CC79A7", "#D55E00", "#009E73")
TITLE = "Parts of the objective"


def risk_chart(
    t: NDArray,
    parts: Mapping[str, NDArray],
    lines: Sequence[charts.Curve] = (),
    *,
    theme: str,
    note: str = "",
    x_range: tuple[float, float] | None = None,
    revision: str = "terms",
) -> charts.Figure:
    """Return the parts as stacked areas above and below zero, with their sum (the objective) and other lines."""
    total = sum(parts.values(), np.zeros(len(t)))
    objective = charts.Curve("objective", t, total, charts.INK[theme])
    figure = charts.line_chart([objective, *lines], title=TITLE, note=note, x_range=x_range, revision=revision)
    # Stacked areas need the same iterations.
    kept = np.unique(np.linspace(0, len(t) - 1, min(len(t), charts.MAX_POINTS_PER_TRACE)).round().astype(int))
    areas = [
        area
        for (name, y), color in zip(parts.items(), COLORS, strict=False)
        for area in _areas(name, t[kept], y[kept], color)
    ]
    figure["data"] = [*areas, *figure["data"]]
    return figure


def _areas(name: str, t: NDArray, y: NDArray, color: str) -> list[dict[str, Any]]:
    """Return the positive and the negative area of a part, without empty ones. Only one of them is in the legend."""
    sides = {"positive": np.maximum(y, 0.0), "negative": np.minimum(y, 0.0)}
    there = [(group, side) for group, side in sides.items() if np.any(side)] or [("positive", y)]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": t.tolist(),
            "y": charts.four_digits(side),
            "line": {"color": color, "width": 0.5},
            "stackgroup": group,
            "legendgroup": name,
            "showlegend": number == 0,
            "meta": meaning(f"{name}, a part") or meaning(name) or meaning(TITLE),
        }
        for number, (group, side) in enumerate(there)
    ]
