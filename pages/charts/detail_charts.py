"""Histograms of scores, the confusion matrix, and the parts of the objective and of the distance to the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.glossary import meaning
from dsgcore.settings.panels import Mark
from pages.charts import figures as charts

BINS = 40
LARGEST = 1e300


@dataclass(frozen=True)
class Sample:
    """Scores of some points, with a name and a colour; `is_line` draws an outline without filling."""

    name: str
    values: NDArray
    color: str
    is_line: bool = False


def histogram_chart(
    samples: Sequence[Sample],
    *,
    title: str,
    axis: str,
    theme: str,
    marks: Sequence[Mark] = (),
    band: tuple[float, float] | None = None,
    is_share: bool = True,
    bins: int = BINS,
) -> charts.Figure:
    """Return histograms of the samples over the same bins, as shares of each sample or as counts, with a shaded band."""
    shown = [sample for sample in samples if len(sample.values)]
    edges = _edges(np.concatenate([s.values for s in shown]), bins) if shown else np.zeros(2)
    figure = charts.plain_figure([_steps(sample, edges, is_share=is_share) for sample in shown], title=title)
    rule = {"color": charts.INK[theme], "width": 1.2, "dash": "dot"}
    high = {"yref": "paper", "y0": 0, "y1": 1}
    shapes: list[dict[str, Any]] = [{"type": "line", "x0": m.x, "x1": m.x, "line": rule, **high} for m in marks]
    if band is not None:
        look = {"fillcolor": charts.PREDICTED, "opacity": 0.15, "line": {"width": 0}, "layer": "below"}
        shapes.append({"type": "rect", "x0": band[0], "x1": band[1], **look, **high})
    above = {"yref": "paper", "y": 1.0, "yanchor": "bottom", "showarrow": False}
    figure["layout"] |= {
        "xaxis": {"title": {"text": axis}},
        "yaxis": {"title": {"text": "share of points" if is_share else "points"}, "rangemode": "tozero"},
        "shapes": shapes,
        "annotations": [{"text": mark.name, "x": mark.x, **above} for mark in marks],
    }
    figure["layout"]["margin"]["t"] += charts.ROW if marks else 0
    return figure


def _edges(values: NDArray, bins: int) -> NDArray:
    """Return the edges of equally wide bins. The values of a diverged run may be infinite or too large, so those are
    ignored."""
    values = values.astype(np.float64)
    values = values[np.abs(values) < LARGEST]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        half = max(0.5, 1e-6 * abs(high))
        low, high = low - half, high + half
    return np.linspace(low, high, bins + 1)


def _steps(sample: Sample, edges: NDArray, *, is_share: bool) -> dict:
    counts, _ = np.histogram(sample.values, edges)
    heights = counts / (len(sample.values) if is_share else 1)
    trace = {
        "type": "scatter",
        "mode": "lines",
        "name": sample.name,
        "x": charts.four_digits(np.repeat(edges, 2)),
        "y": charts.four_digits(np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])),
        "line": {"color": sample.color, "width": 1.5, "dash": "dash" if sample.is_line else "solid"},
        "hoverinfo": "name",
    }
    return trace if sample.is_line else trace | {"fill": "tozeroy", "fillcolor": charts.faint(sample.color)}


def confusion_chart(y: NDArray, predicted: NDArray, names: Sequence[str], *, title: str, theme: str) -> charts.Figure:
    """Return the confusion matrix: true classes as rows, predicted classes as columns, coloured by the share of the row."""
    k = len(names)
    counts = np.zeros((k, k), dtype=int)
    np.add.at(counts, (y, predicted), 1)
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    trace = {
        "type": "heatmap",
        "z": charts.four_digits(shares),
        "x": list(names),
        "y": list(names),
        "text": counts.tolist(),
        "texttemplate": "%{text}",
        "textfont": {"color": charts.INK[theme]},
        "colorscale": [[0, "rgba(0, 114, 178, 0)"], [1, "rgba(0, 114, 178, 0.6)"]],
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "hovertemplate": "%{y} predicted as %{x}: %{text}<extra></extra>",
    }
    figure = charts.plain_figure([trace], title=title)
    category = {"type": "category", "showgrid": False}
    figure["layout"] |= {
        "xaxis": {**category, "title": {"text": "predicted"}},
        "yaxis": {**category, "title": {"text": "true"}, "autorange": "reversed"},
        "margin": {"l": 64, "r": 8, "t": 8, "b": 44},
    }
    return figure


PART_COLORS = ("#0072B2", "#E69F00", "#56B4E9", "#8A949E", "#CC79A7", "#D55E00", "#009E73")
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
    # Stacked areas need the same iterations. A part has a positive and a negative one; an empty one is left out, and only
    # one of them is in the legend.
    kept = np.unique(np.linspace(0, len(t) - 1, min(len(t), charts.MAX_POINTS_PER_TRACE)).round().astype(int))
    areas = []
    for (name, all_of_it), color in zip(parts.items(), PART_COLORS, strict=False):
        y = all_of_it[kept]
        sides = {"positive": np.maximum(y, 0.0), "negative": np.minimum(y, 0.0)}
        there = [(group, side) for group, side in sides.items() if np.any(side)] or [("positive", y)]
        look = {"type": "scatter", "mode": "lines", "line": {"color": color, "width": 0.5}, "x": t[kept].tolist()}
        said = meaning(f"{name}, a part") or meaning(name) or meaning(TITLE)
        for number, (group, side) in enumerate(there):
            own = {"name": name, "y": charts.four_digits(side), "showlegend": number == 0, "meta": said}
            areas.append(look | own | {"stackgroup": group, "legendgroup": name})
    figure["data"] = [*areas, *figure["data"]]
    return figure


LIMIT_COLORS = {"optimisation": "#E69F00", "batches": "#56B4E9", "features": charts.EXACT}
LIMIT_NAMES = {"optimisation": "optimisation error", "batches": "batch noise", "features": "feature noise"}
REMAINDER = charts.UNLABELED


_DASHES = {"optimisation": "dash", "batches": "dot", "features": "dashdot"}


def parts_chart(t: NDArray, parts: Mapping[str, NDArray], *, theme: str) -> charts.Figure:
    """Return the parts and the total over the iterations: the mean over seeds, and a band from the lowest to the highest
    seed.

    `parts` are root mean squares relative to the norm of the optimum, of shape (seeds, iterations). One of them is
    "together".
    """
    curves = []
    for name, values in parts.items():
        color, dash = LIMIT_COLORS.get(name, charts.INK[theme]), _DASHES.get(name, "solid")
        mean, band = np.sqrt(np.mean(values**2, axis=0)), (values.min(axis=0), values.max(axis=0))
        curves.append(charts.Curve(LIMIT_NAMES.get(name, "all together"), t, mean, color, dash=dash, band=band))
    look: dict[str, Any] = {"is_log_x": True, "is_log_y": True, "x_range": (1, float(t[-1]))}
    return charts.line_chart(curves, title="Relative distance to the optimum", **look)


def shares_chart(t: NDArray, shares: Mapping[str, NDArray]) -> charts.Figure:
    """Return the shares of the squared distance over the iterations, including the signed remainder."""
    curves = []
    for name, y in shares.items():
        said, color = LIMIT_NAMES.get(name, "remainder, signed"), LIMIT_COLORS.get(name, REMAINDER)
        curves.append(charts.Curve(said, t, 100 * y, color, dash=_DASHES.get(name, "longdash")))
    title = "Shares of the squared distance, %"
    return charts.line_chart(curves, title=title, is_log_x=True, x_range=(1, float(t[-1])))
