"""Charts of a data set and its split: points in the plane, class shares, distances; and its small picture as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.data import DATASETS, load
from dsgcore.experiments import Plane
from pages.charts import figures as charts
from pages.charts import run_map
from pages.charts.detail_charts import Sample, histogram_chart

# Colours of samples in every chart: ink for labeled, grey for unlabeled, the twin's green for test points.
SAMPLES = ("labeled", "unlabeled", "test")
MAX_DOTS = 2000
# Share of a panel's width that separates it from the next.
PANEL_GAP = 0.12


@dataclass(frozen=True, eq=False)
class PlanePoints:
    """Training points in two coordinates, with their true classes (-1 if unknown), and a mask of the labeled ones."""

    xy: NDArray
    y: NDArray
    is_labeled: NDArray


def plane_chart(
    points: PlanePoints,
    *,
    names: Sequence[str],
    colors: Sequence[str],
    axes: tuple[str, str],
    theme: str,
    is_equal: bool = False,
) -> charts.Figure:
    """Return the training points by their true class: small if unlabeled, large with a rim if labeled.

    If `is_equal` is true, both axes have the same unit, so that circles stay round.
    """
    # Return all labeled points, and as many others as a chart can hold.
    labeled, others = np.flatnonzero(points.is_labeled), np.flatnonzero(~points.is_labeled)
    step = max(1, -(-len(others) // MAX_DOTS))
    rows = np.concatenate([labeled[:MAX_DOTS], others[::step]])
    kept = PlanePoints(points.xy[rows], points.y[rows], points.is_labeled[rows])
    traces = []
    for label, (name, color) in enumerate(zip(names, colors, strict=True)):
        symbol = run_map.class_symbol(label, len(names))
        is_own = kept.y == label
        few = charts.PointSet(name, kept.xy[is_own & kept.is_labeled], color, symbol, size=10)
        many = charts.PointSet(name, kept.xy[is_own & ~kept.is_labeled], color, symbol, size=6, opacity=0.7)
        traces += [_dots(many, theme, is_rimmed=False), _dots(few, theme, is_rimmed=True)]
    unknown = charts.PointSet("no class known", kept.xy[kept.y < 0], charts.UNLABELED, "circle-open", 5, 0.55)
    traces += [_dots(unknown, theme, is_rimmed=False)] if len(unknown.xy) else []
    figure = charts.map_figure(traces, title="Training points", axes=axes, revision="-".join(axes))
    if is_equal:
        figure["layout"]["yaxis"] |= {"scaleanchor": "x", "scaleratio": 1}
    return figure


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


def balance_chart(counts: pd.DataFrame, *, theme: str, labeled: str = "labeled") -> charts.Figure:
    """Return each class's share of the labeled, unlabeled and test points: bars with counts, one panel for each sample.

    `labeled` is the name of the labeled points on the chart.
    """
    samples = [sample for sample in SAMPLES if sample in counts]
    figure = charts.plain_figure([], title="Class balance")
    layout = figure["layout"] | {"annotations": [], "bargap": 0.3}
    layout["margin"] |= {"t": 28, "r": 8}
    for place, sample in enumerate(samples):
        shares = counts[sample].to_numpy() / max(1, counts[sample].sum())
        number = "" if place == 0 else str(place + 1)
        figure["data"].append(_bars(sample, counts[sample], shares, f"x{number}", sample_color(sample, theme)))
        left, right = place / len(samples), (place + 1 - PANEL_GAP) / len(samples)
        # A third of the width is for the count beside the longest bar.
        longest = float(shares.max(initial=0.0)) or 1.0
        # One tick besides 0, and not at the end, because the next panel's 0 is there.
        ticks = {"tickformat": ".0%", "tickvals": [0, round(longest, 1) or longest], "range": [0, 1.5 * longest]}
        layout[f"xaxis{number}"] = {"domain": [left, right], "anchor": "y", **ticks}
        said = f"{labeled if sample == 'labeled' else sample}: {counts[sample].sum():,}"
        above = {"xref": "paper", "yref": "paper", "x": left, "y": 1, "xanchor": "left", "yanchor": "bottom"}
        layout["annotations"].append({"text": said, "showarrow": False, **above})
    layout["yaxis"] = {"type": "category", "autorange": "reversed", "showgrid": False, "dtick": 1}
    return figure | {"layout": layout}


def _bars(sample: str, counts: pd.Series, shares: NDArray, axis: str, color: str) -> dict:
    return {
        "type": "bar",
        "orientation": "h",
        "name": sample,
        "xaxis": axis,
        "y": [str(name) for name in counts.index],
        "x": charts.four_digits(shares),
        "text": [f"{count:,}" for count in counts],
        "textposition": "outside",
        "showlegend": False,  # the name is above the panel
        "cliponaxis": False,
        "marker": {"color": color},
        "hovertemplate": f"%{{y}}, {sample}: %{{text}} points, %{{x:.1%}}<extra></extra>",
    }


def spread_chart(samples: Sequence[Sample], *, title: str, axis: str, theme: str) -> charts.Figure:
    """Return histograms whose bins suit the smallest sample."""
    smallest = min((len(sample.values) for sample in samples if len(sample.values)), default=1)
    bins = int(np.clip(2 * np.sqrt(smallest), 8, 40))
    return histogram_chart(samples, title=title, axis=axis, theme=theme, bins=bins)


WIDTH, HEIGHT, MARGIN = 200, 110, 8
MOST_DOTS = 260
DOT = 4.5


def class_colors(kind: str, k: int) -> list[str]:
    """Return a colour for each class: two classes, ordered classes, or several without an order."""
    if k > 2 and kind in ("ordinal", "regression"):
        return charts.ordered_colors(k)
    return [run_map.class_color(label, k) for label in range(k)]


@st.cache_data(show_spinner=False)
def picture_of_data(name: str) -> str:
    """Draw the points of a data set, coloured by class, in the plane or on the first two principal axes."""
    entry, data = DATASETS[name], load(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[:MOST_DOTS]  # only chooses which dots are shown
    low, width = data.X.min(axis=0), np.ptp(data.X, axis=0)
    X = (data.X - low) / np.where(width > 0, width, 1) if entry.d > 2 else data.X
    xy = _placed(Plane.through(X).project(X))[rows]
    colors = class_colors(entry.target, len(data.class_names))
    paths = [_dots_of(xy[data.y[rows] == label], color) for label, color in enumerate(colors)]
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(paths)}</svg>'


def _placed(xy: NDArray) -> NDArray:
    """Scale points to the picture, with the same scale on both axes, and y pointing up."""
    low, high = np.quantile(xy, 0.002, axis=0), np.quantile(xy, 0.998, axis=0)
    room = np.array([WIDTH, HEIGHT]) - 2 * MARGIN
    scale = float(np.min(room / np.maximum(high - low, 1e-9)))
    placed = (xy - (low + high) / 2) * scale * [1, -1] + np.array([WIDTH, HEIGHT]) / 2
    return np.clip(placed, MARGIN / 2, np.array([WIDTH, HEIGHT]) - MARGIN / 2)


def _dots_of(xy: NDArray, color: str) -> str:
    """Draw dots as one path of lines of length zero, whose round ends are the dots."""
    path = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in xy)
    return f'<path d="{path}" stroke="{color}" stroke-width="{DOT}" stroke-linecap="round" opacity="0.85" fill="none"/>'
