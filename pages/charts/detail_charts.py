"""Histograms of scores, the confusion matrix, and the parts of the objective and of the distance to the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.glossary import meaning
from dsgcore.settings import panels
from pages.charts import figures as charts
from pages.charts.run_map import color_of

BINS = 40
LARGEST = 1e300


def histogram_chart(
    panel: panels.Histogram, *, theme: str, colors: Sequence[str] = (), bins: int = BINS
) -> charts.Figure:
    """Return histograms of the samples over the same bins; without `colors`, in those of their roles."""
    colors = colors or [color_of(sample.role, theme) for sample in panel.samples]
    shown = [(sample, color) for sample, color in zip(panel.samples, colors, strict=True) if len(sample.values)]
    edges = _edges(np.concatenate([sample.values for sample, _ in shown]), bins) if shown else np.zeros(2)
    traces = [_steps(sample, color, edges, is_share=panel.is_share) for sample, color in shown]
    figure, marks, band = charts.plain_figure(traces, title=panel.title), panel.marks, panel.band
    rule = {"color": charts.INK[theme], "width": 1.2, "dash": "dot"}
    high = {"yref": "paper", "y0": 0, "y1": 1}
    shapes: list[dict[str, Any]] = [{"type": "line", "x0": m.x, "x1": m.x, "line": rule, **high} for m in marks]
    if band is not None:
        look = {"fillcolor": charts.PREDICTED, "opacity": 0.15, "line": {"width": 0}, "layer": "below"}
        shapes.append({"type": "rect", "x0": band[0], "x1": band[1], **look, **high})
    above = {"yref": "paper", "y": 1.0, "yanchor": "bottom", "showarrow": False}
    figure["layout"] |= {
        "xaxis": {"title": {"text": panel.axis}},
        "yaxis": {"title": {"text": "share of points" if panel.is_share else "points"}, "rangemode": "tozero"},
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


def _steps(sample: panels.Values, color: str, edges: NDArray, *, is_share: bool) -> dict:
    counts, _ = np.histogram(sample.values, edges)
    heights = counts / (len(sample.values) if is_share else 1)
    x, y = (charts.four_digits(v) for v in (np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])))
    line = {"color": color, "width": 1.5, "dash": "dash" if sample.is_faint else "solid"}
    filled = {} if sample.is_faint else {"fill": "tozeroy", "fillcolor": charts.faint(color)}
    return charts.dots(sample.name, x, y, {}, mode="lines", line=line, hoverinfo="name", **filled)


def confusion_chart(panel: panels.Confusion, *, theme: str) -> charts.Figure:
    """Return the confusion matrix: true classes as rows, predicted classes as columns, coloured by the share of the row."""
    k, names = len(panel.names), list(panel.names)
    counts = np.zeros((k, k), dtype=int)
    np.add.at(counts, (panel.y, panel.predicted), 1)
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    trace = {
        "type": "heatmap",
        "z": charts.four_digits(shares),
        "x": names,
        "y": names,
        "text": counts.tolist(),
        "texttemplate": "%{text}",
        "textfont": {"color": charts.INK[theme]},
        "colorscale": [[0, "rgba(0, 114, 178, 0)"], [1, "rgba(0, 114, 178, 0.6)"]],
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "hovertemplate": "%{y} predicted as %{x}: %{text}<extra></extra>",
    }
    figure = charts.plain_figure([trace], title=panel.title)
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
    t: NDArray, parts: Mapping[str, NDArray], lines: Sequence[charts.Curve] = (), *, theme: str, **options: Any
) -> charts.Figure:
    """Return the parts as stacked areas above and below zero, with their sum (the objective) and other lines; the options are
    those of `line_chart`."""
    total = sum(parts.values(), np.zeros(len(t)))
    objective = charts.Curve("objective", t, total, charts.INK[theme])
    figure = charts.line_chart([objective, *lines], title=TITLE, **options)
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


LIMITS = {  # the parts of a distance to the optimum: name, colour and dash
    "optimisation": ("optimisation error", "#E69F00", "dash"),
    "batches": ("batch noise", "#56B4E9", "dot"),
    "features": ("feature noise", charts.EXACT, "dashdot"),
}


def parts_chart(t: NDArray, parts: Mapping[str, NDArray], *, theme: str) -> charts.Figure:
    """Return the parts and the total over the iterations: the mean over seeds, and a band from the lowest to the highest
    seed.

    `parts` are root mean squares relative to the norm of the optimum, of shape (seeds, iterations). One of them is
    "together".
    """
    curves = []
    for name, values in parts.items():
        said, color, dash = LIMITS.get(name, ("all together", charts.INK[theme], "solid"))
        mean, band = np.sqrt(np.mean(values**2, axis=0)), (values.min(axis=0), values.max(axis=0))
        curves.append(charts.Curve(said, t, mean, color, dash=dash, band=band))
    look: dict[str, Any] = {"is_log_x": True, "is_log_y": True, "x_range": (1, float(t[-1]))}
    return charts.line_chart(curves, title="Relative distance to the optimum", **look)


def shares_chart(t: NDArray, shares: Mapping[str, NDArray]) -> charts.Figure:
    """Return the shares of the squared distance over the iterations, including the signed remainder."""
    curves = []
    for name, y in shares.items():
        said, color, dash = LIMITS.get(name, ("remainder, signed", charts.UNLABELED, "longdash"))
        curves.append(charts.Curve(said, t, 100 * y, color, dash=dash))
    title = "Shares of the squared distance, %"
    return charts.line_chart(curves, title=title, is_log_x=True, x_range=(1, float(t[-1])))
