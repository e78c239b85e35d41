"""Figures of several classes without an order: the map with its regions and the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.charts import figures as charts

# Okabe and Ito's, then Tol's for more than seven; each class has a mark of its own as well.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933", "#6A5ACD", "#8C6D5A")
SYMBOLS = ("circle", "triangle-up", "square", "diamond", "cross", "x", "star", "pentagon", "triangle-down", "hexagon")
# How much of a class's colour its region has; the rest is the ground.
REGION_SHARE = {"light": 0.35, "dark": 0.45}


@dataclass(frozen=True)
class Regions:
    """Scores on a regular grid: of shape (ny, nx, K), the first corner and the spacing."""

    scores: NDArray
    low: NDArray
    spacing: NDArray


def class_color(label: int, k: int = 0) -> str:
    """Return the colour of a class, of `k`: where there are two, those of the negative and the positive one."""
    return (charts.NEGATIVE, charts.POSITIVE)[label] if k == 2 else COLORS[label % len(COLORS)]


def class_symbol(label: int, k: int) -> str:
    """Return the mark of a class, of `k`: where there are two, those of the negative and the positive one."""
    return ("triangle-up", "circle")[label] if k == 2 else SYMBOLS[label % len(SYMBOLS)]


def class_map_chart(
    xy: NDArray,
    y: NDArray,
    regions: Regions,
    *,
    names: Sequence[str],
    edges: NDArray,
    title: str,
    axes: tuple[str, str],
    shows_margin: bool,
    theme: str,
    revision: str,
) -> charts.Figure:
    """Return the map: regions or margins, the graph's links, unlabeled points, and the labeled ones of each class."""
    heat = _margins(regions) if shows_margin else _regions(regions, names, theme)
    traces = [heat, *([_links(xy, edges, theme)] if len(edges) else [])]
    unlabeled = charts.PointSet("unlabeled", xy[y < 0], charts.UNLABELED, "circle-open", size=5, opacity=0.6)
    traces += [charts.scatter(points, theme) for points in (unlabeled, *_labeled(xy, y, names))]
    return charts.map_figure(traces, title=title, axes=axes, revision=revision)


def _labeled(xy: NDArray, y: NDArray, names: Sequence[str]) -> list[charts.PointSet]:
    return [
        charts.PointSet(name, xy[y == label], class_color(label, len(names)), class_symbol(label, len(names)), size=9)
        for label, name in enumerate(names)
    ]


def _regions(regions: Regions, names: Sequence[str], theme: str) -> dict[str, Any]:
    k = len(names)
    colors = [_blended(class_color(label, k), theme) for label in range(k)]
    steps = [[(label + end) / k, color] for label, color in enumerate(colors) for end in (0, 1)]
    # Where all scores are zero, before the first iteration, no class is the highest.
    winner = np.where(np.ptp(regions.scores, axis=-1) > 0, regions.scores.argmax(axis=-1), np.nan)
    is_none = np.isnan(winner)
    z = [[None if none else int(c) for c, none in zip(*row, strict=True)] for row in zip(winner, is_none, strict=True)]
    return {
        **_grid(regions),
        "z": z,
        "zmin": -0.5,
        "zmax": k - 0.5,
        "colorscale": steps,
        "showscale": False,
        "zsmooth": False,
        "hoverinfo": "skip",
    }


def _margins(regions: Regions) -> dict[str, Any]:
    two = np.partition(regions.scores, -2, axis=-1)[..., -2:]
    return {
        **_grid(regions),
        "z": charts.four_digits(two[..., 1] - two[..., 0]),
        "colorscale": charts.SEQUENTIAL,
        "zsmooth": "best",
        "colorbar": charts.COLORBAR,
        "hovertemplate": "%{z}<extra></extra>",
    }


def _grid(regions: Regions) -> dict[str, Any]:
    (x0, y0), (dx, dy) = regions.low.tolist(), regions.spacing.tolist()
    return {"type": "heatmap", "x0": x0, "dx": dx, "y0": y0, "dy": dy}


def _blended(color: str, theme: str) -> str:
    parts = ([int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (color, charts.GROUND[theme]))
    share = REGION_SHARE[theme]
    return "rgb({}, {}, {})".format(*(round(share * a + (1 - share) * b) for a, b in zip(*parts, strict=True)))


def _links(xy: NDArray, edges: NDArray, theme: str) -> dict[str, Any]:
    gaps = np.full((len(edges), 1, 2), np.nan)
    line = np.concatenate([xy[edges], gaps], axis=1).reshape(-1, 2)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "graph",
        "x": charts.four_digits(line[:, 0]),
        "y": charts.four_digits(line[:, 1]),
        "line": {"color": charts.INK[theme], "width": 0.8},
        "opacity": 0.6,
        "hoverinfo": "skip",
        "showlegend": False,
    }
