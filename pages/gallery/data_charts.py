"""Figures of a data set and its split: points in the plane, class shares, distances; plain data in and plain data out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pages.charts import class_charts
from pages.charts import figures as charts
from pages.charts.detail_charts import Sample, histogram_chart

# In every chart of samples: labeled in ink, unlabeled grey, test in the twin's green.
SAMPLES = ("labeled", "unlabeled", "test")
MAX_DOTS = 2000
MAX_CLASSES_WITH_COUNTS = 6


@dataclass(frozen=True, eq=False)
class PlanePoints:
    """Training points in two coordinates with their true classes, -1 where none is known, and whether they are labeled."""

    xy: NDArray
    y: NDArray
    is_labeled: NDArray


def plane_chart(
    points: PlanePoints, *, names: Sequence[str], colors: Sequence[str], axes: tuple[str, str], theme: str
) -> charts.Figure:
    """Return the training points by their true class: small without a label, large and rimmed with one."""
    kept = _evenly(points)
    traces = []
    for label, (name, color) in enumerate(zip(names, colors, strict=True)):
        symbol = class_charts.class_symbol(label, len(names))
        is_own = kept.y == label
        few = charts.PointSet(name, kept.xy[is_own & kept.is_labeled], color, symbol, size=10)
        many = charts.PointSet(name, kept.xy[is_own & ~kept.is_labeled], color, symbol, size=6, opacity=0.7)
        traces += [_dots(many, theme, is_rimmed=False), _dots(few, theme, is_rimmed=True)]
    unknown = charts.PointSet("no class known", kept.xy[kept.y < 0], charts.UNLABELED, "circle-open", 5, 0.55)
    traces += [_dots(unknown, theme, is_rimmed=False)] if len(unknown.xy) else []
    return charts.map_figure(traces, title="Training points", axes=axes, revision="-".join(axes))


def _evenly(points: PlanePoints) -> PlanePoints:
    """Return all labeled points, and as many of the others as a chart can hold."""
    labeled, others = np.flatnonzero(points.is_labeled), np.flatnonzero(~points.is_labeled)
    step = max(1, -(-len(others) // MAX_DOTS))
    rows = np.concatenate([labeled[:MAX_DOTS], others[::step]])
    return PlanePoints(points.xy[rows], points.y[rows], points.is_labeled[rows])


def _dots(points: charts.PointSet, theme: str, *, is_rimmed: bool) -> dict:
    width = 1.6 if is_rimmed else 1 if points.symbol.endswith("-open") else 0
    return {
        "type": "scatter",
        "mode": "markers",
        "name": points.name,
        "legendgroup": points.name,
        "showlegend": not is_rimmed,
        "x": charts.four_digits(points.xy[:, 0]),
        "y": charts.four_digits(points.xy[:, 1]),
        "marker": {
            "symbol": points.symbol,
            "color": points.color,
            "size": points.size,
            "line": {"width": width, "color": charts.INK[theme] if is_rimmed else points.color},
        },
        "opacity": points.opacity,
        "hovertemplate": f"{points.name}, {'labeled' if is_rimmed else 'unlabeled'}<extra></extra>",
    }


def sample_color(sample: str, theme: str) -> str:
    """Return the colour of labeled, unlabeled or test points."""
    return {"labeled": charts.INK[theme], "unlabeled": charts.UNLABELED, "test": charts.TWIN}[sample]


def balance_chart(counts: pd.DataFrame, *, theme: str) -> charts.Figure:
    """Return each class's share of the labeled, unlabeled and test points, with the counts, as bars."""
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": sample,
            "y": counts.index.tolist(),
            "x": charts.four_digits(counts[sample].to_numpy() / max(1, counts[sample].sum())),
            "text": counts[sample].tolist(),
            "textposition": "auto" if len(counts) <= MAX_CLASSES_WITH_COUNTS else "none",
            "textangle": 0,
            "marker": {"color": sample_color(sample, theme)},
            "hovertemplate": f"%{{y}}, {sample}: %{{text}} points, %{{x:.1%}}<extra></extra>",
        }
        for sample in SAMPLES
        if sample in counts
    ]
    figure = charts.plain_figure(traces, title="Class balance")
    figure["layout"] |= {
        "barmode": "group",
        "bargap": 0.25,
        "xaxis": {"tickformat": ".0%", "title": {"text": "share of the sample"}, "rangemode": "tozero"},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False},
        "margin": {"l": 52, "r": 8, "t": 46, "b": 40},
    }
    return figure


def spread_chart(samples: Sequence[Sample], *, title: str, axis: str, theme: str) -> charts.Figure:
    """Return histograms with bins as wide as the smallest sample bears."""
    smallest = min((len(sample.values) for sample in samples if len(sample.values)), default=1)
    bins = int(np.clip(2 * np.sqrt(smallest), 8, 40))
    return histogram_chart(samples, title=title, axis=axis, theme=theme, bins=bins)
