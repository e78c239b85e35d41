"""Small pictures of data sets as SVG text, legible on light and dark backgrounds."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dsgcore.data import DATASETS, load
from dsgcore.experiments import Plane
from pages.charts import figures as charts
from pages.charts import run_map

WIDTH, HEIGHT, MARGIN = 200, 110, 8
MAX_DOTS = 260
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
    rows = np.random.default_rng(0).permutation(len(data.y))[:MAX_DOTS]  # only chooses which dots are shown
    low, width = data.X.min(axis=0), np.ptp(data.X, axis=0)
    X = (data.X - low) / np.where(width > 0, width, 1) if entry.d > 2 else data.X
    xy = _placed(Plane.through(X).project(X))[rows]
    colors = class_colors(entry.target, len(data.class_names))
    paths = [_dots(xy[data.y[rows] == label], color) for label, color in enumerate(colors)]
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(paths)}</svg>'


def _placed(xy: NDArray) -> NDArray:
    """Scale points to the picture, with the same scale on both axes, and y pointing up."""
    low, high = np.quantile(xy, 0.002, axis=0), np.quantile(xy, 0.998, axis=0)
    room = np.array([WIDTH, HEIGHT]) - 2 * MARGIN
    scale = float(np.min(room / np.maximum(high - low, 1e-9)))
    placed = (xy - (low + high) / 2) * scale * [1, -1] + np.array([WIDTH, HEIGHT]) / 2
    return np.clip(placed, MARGIN / 2, np.array([WIDTH, HEIGHT]) - MARGIN / 2)


def _dots(xy: NDArray, color: str) -> str:
    """Draw dots as one path of lines of length zero, whose round ends are the dots."""
    path = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in xy)
    return f'<path d="{path}" stroke="{color}" stroke-width="{DOT}" stroke-linecap="round" opacity="0.85" fill="none"/>'
