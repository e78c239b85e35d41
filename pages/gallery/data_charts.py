"""Charts of a data set and its split: points in the plane, class shares, distances; and its small picture as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.core.cost import per_cent
from dsgcore.data import DATASETS, Split, load
from dsgcore.experiments import Plane
from dsgcore.problems import UNLABELED
from dsgcore.settings.panels import Histogram
from pages.charts import figures as charts
from pages.charts import run_map
from pages.charts.detail_charts import histogram_chart

MAX_DOTS = 2000
PANEL_GAP = 0.12  # share of a panel's width that separates it from the next
# The small picture: its size, its margin, its number of dots, and their size.
WIDTH, HEIGHT, MARGIN, FEW_DOTS, DOT = 200, 110, 8, 260, 4.5


def class_colors(kind: str, k: int) -> list[str]:
    """Return a colour for each class: two classes, ordered classes, or several without an order."""
    if k > 2 and kind in ("ordinal", "regression"):
        return charts.ordered_colors(k)
    return [run_map.class_color(label, k) for label in range(k)]


def plane_chart(
    xy: NDArray, split: Split, *, colors: Sequence[str], axes: tuple[str, str], theme: str, is_equal: bool = False
) -> charts.Figure:
    """Return the training points at `xy` by their true class: small if unlabeled, large with a rim if labeled.

    If `is_equal` is true, both axes have the same unit, so that circles stay round.
    """
    # All labeled points, and as many others as a chart can hold.
    is_labeled, names, traces = split.y_train != UNLABELED, split.class_names, list[dict[str, Any]]()
    labeled, others = np.flatnonzero(is_labeled), np.flatnonzero(~is_labeled)
    step = max(1, -(-len(others) // MAX_DOTS))
    rows = np.concatenate([labeled[:MAX_DOTS], others[::step]])
    xy, y, is_labeled = xy[rows], split.y_hidden[rows], is_labeled[rows]

    def add(name: str, which: NDArray, color: str, symbol: str, size: float, opacity: float, rim: float) -> None:
        known = "labeled" if (is_rimmed := rim > 1) else "unlabeled"
        edge = {"width": rim, "color": charts.INK[theme] if is_rimmed else color}
        own = {"name": name, "legendgroup": name, "showlegend": not is_rimmed, "opacity": opacity}
        own |= {"x": charts.four_digits(xy[which, 0]), "y": charts.four_digits(xy[which, 1])}
        own |= {"marker": {"symbol": symbol, "color": color, "size": size, "line": edge}}
        hover = {"hovertemplate": f"{name}, {known}<extra></extra>"}
        traces.append({"type": "scatter", "mode": "markers", **own, **hover})

    for label, (name, color) in enumerate(zip(names, colors, strict=True)):
        symbol, is_own = run_map.class_symbol(label, len(names)), y == label
        add(name, is_own & ~is_labeled, color, symbol, 6, 0.7, 1 if symbol.endswith("-open") else 0)
        add(name, is_own & is_labeled, color, symbol, 10, 1.0, 1.6)
    if (y < 0).any():
        add("no class known", y < 0, charts.UNLABELED, "circle-open", 5, 0.55, 1)
    figure = charts.map_figure(traces, title="Training points", axes=axes, revision="-".join(axes))
    if is_equal:
        figure["layout"]["yaxis"] |= {"scaleanchor": "x", "scaleratio": 1}
    return figure


def balance_chart(counts: pd.DataFrame, *, theme: str, labeled: str = "labeled") -> charts.Figure:
    """Return each class's share of the labeled, unlabeled and test points: bars with counts, one panel for each sample.

    `labeled` is the name of the labeled points on the chart.
    """
    figure = charts.plain_figure([], title="Class balance")
    layout = figure["layout"] | {"annotations": [], "bargap": 0.3}
    layout["margin"] |= {"t": 28, "r": 8}
    colors = {"labeled": charts.INK[theme], "unlabeled": charts.UNLABELED, "test": charts.TWIN}
    for place, sample in enumerate(counts):
        n, own = counts[sample].sum(), counts[sample]
        shares, number = 100 * own.to_numpy() / max(1, n), "" if place == 0 else str(place + 1)
        bars = {"type": "bar", "orientation": "h", "name": sample, "xaxis": f"x{number}", "showlegend": False}
        bars |= {"y": [str(name) for name in counts.index], "x": charts.four_digits(shares), "cliponaxis": False}
        bars |= {"text": [f"{count:,}" for count in own], "textposition": "outside"}
        hover = f"%{{y}}, {sample}: %{{text}} points, %{{x:.1f}} %<extra></extra>"
        figure["data"].append(bars | {"marker": {"color": colors[sample]}, "hovertemplate": hover})
        left, right = place / len(counts.columns), (place + 1 - PANEL_GAP) / len(counts.columns)
        # A third of the width is for the count beside the longest bar.
        longest = float(shares.max(initial=0.0)) or 100.0
        # One tick besides 0, and not at the end, because the next panel's 0 is there.
        places = [0, round(longest, -1) or longest]
        ticks = {"tickvals": places, "ticktext": [per_cent(at / 100) for at in places], "range": [0, 1.5 * longest]}
        layout[f"xaxis{number}"] = {"domain": [left, right], "anchor": "y", **ticks}
        said = f"{labeled if sample == 'labeled' else sample}: {n:,}"
        above = {"xref": "paper", "yref": "paper", "x": left, "y": 1, "xanchor": "left", "yanchor": "bottom"}
        layout["annotations"].append({"text": said, "showarrow": False, **above})
    layout["yaxis"] = {"type": "category", "autorange": "reversed", "showgrid": False, "dtick": 1}
    return figure | {"layout": layout}


def spread_chart(panel: Histogram, *, theme: str, colors: Sequence[str] = ()) -> charts.Figure:
    """Return histograms whose bins suit the smallest sample."""
    smallest = min((len(sample.values) for sample in panel.samples if len(sample.values)), default=1)
    bins = int(np.clip(2 * np.sqrt(smallest), 8, 40))
    return histogram_chart(panel, theme=theme, colors=colors, bins=bins)


@st.cache_data(show_spinner=False)
def picture_of_data(name: str) -> str:
    """Draw the points of a data set, coloured by class, in the plane or on the first two principal axes."""
    entry, data = DATASETS[name], load(name)
    low, width = data.X.min(axis=0), np.ptp(data.X, axis=0)
    X = (data.X - low) / np.where(width > 0, width, 1) if entry.d > 2 else data.X
    xy = Plane.through(X).project(X)
    # Scale points to the picture, with the same scale on both axes, and y pointing up.
    low, high = np.quantile(xy, 0.002, axis=0), np.quantile(xy, 0.998, axis=0)
    size = np.array([WIDTH, HEIGHT])
    scale = float(np.min((size - 2 * MARGIN) / np.maximum(high - low, 1e-9)))
    xy = np.clip((xy - (low + high) / 2) * scale * [1, -1] + size / 2, MARGIN / 2, size - MARGIN / 2)
    rows = np.random.default_rng(0).permutation(len(data.y))[:FEW_DOTS]  # only chooses which dots are shown
    colors, paths = class_colors(entry.target, len(data.class_names)), []
    look = f'stroke-width="{DOT}" stroke-linecap="round" opacity="0.85" fill="none"'
    for label, color in enumerate(colors):
        # Dots are one path of lines of length zero, whose round ends are the dots.
        path = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in xy[rows[data.y[rows] == label]])
        paths.append(f'<path d="{path}" stroke="{color}" {look}/>')
    box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(paths)}</svg>'
