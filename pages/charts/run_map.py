"""The map of a run: its training points as the method sees them, over the learned function on a plane through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.experiments import Plane, Run
from pages.charts import figures as charts
from pages.charts.class_charts import class_color, class_symbol

# The share of a class's colour in its region; the rest is the background.
REGION_SHARE = {"light": 0.35, "dark": 0.45}
NO_LINKS = np.zeros((0, 2), dtype=int)


def run_map(
    run: Run,
    plane: Plane,
    heat: dict[str, Any],
    *,
    title: str,
    theme: str,
    revision: str,
    links: NDArray = NO_LINKS,
    points: Sequence[charts.PointSet] | None = None,
    most: int = charts.MAX_DATA_POINTS,
) -> charts.Figure:
    """Return the map: the heat, the graph's links of shape (m, 2), and points; by default the training points."""
    traces = [heat, *([_lines(plane.project(run.split.X_train), links, theme)] if len(links) else [])]
    shown = point_sets(run, plane) if points is None else points
    traces += [charts.scatter(own, theme, most=most) for own in shown]
    across, up = zip(plane.low.tolist(), plane.high.tolist(), strict=True)
    return charts.map_figure(traces, title=title, axes=plane.names, revision=revision, frame=(across, up))


def surface_on(plane: Plane, z: NDArray, grid: int) -> charts.Surface:
    """Return values at the points of a plane's grid as a surface."""
    low, step = plane.low, plane.spacing(grid)
    z = z.astype(float).reshape(grid, grid)
    return charts.Surface(z, float(low[0]), float(step[0]), float(low[1]), float(step[1]))


def lead(scores: NDArray) -> NDArray:
    """Return the difference between the highest and the second highest score of each point, for scores of shape (n, K)."""
    two = np.partition(scores, -2, axis=-1)[..., -2:]
    return two[..., 1] - two[..., 0]


def region_heat(codes: charts.Surface, colors: Sequence[str], theme: str) -> dict[str, Any]:
    """Return the trace of the regions of the classes, each in a pale shade of its colour. A code that is NaN belongs to no
    class."""
    k, shades = len(colors), [_blended(color, theme) for color in colors]
    return {
        "type": "heatmap",
        "z": [[None if np.isnan(code) else int(code) for code in row] for row in codes.z],
        "x0": codes.x0,
        "dx": codes.dx,
        "y0": codes.y0,
        "dy": codes.dy,
        "zmin": -0.5,
        "zmax": k - 0.5,
        "colorscale": [[(label + end) / k, shade] for label, shade in enumerate(shades) for end in (0, 1)],
        "showscale": False,
        "zsmooth": False,
        "hoverinfo": "skip",
    }


def rank_heat(
    surface: charts.Surface,
    levels: NDArray,
    colors: Sequence[str],
    theme: str,
    *,
    ends: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Return the trace of a score of ordered classes: at the level of each class, a pale shade of the class's colour.

    `levels` of shape (k,) holds the usual score of each class. If they are not finite or not in the order of the classes,
    as early in a run, the colours have equal steps from the lowest to the highest value.
    """
    low, high = ends_of([surface.z]) if ends is None else ends
    known = np.isfinite(levels)
    if known.sum() < 2 or not (np.diff(levels[known]) > 0).all():
        levels, known = np.linspace(low, high, len(colors)), np.full(len(colors), True)
    places = np.clip((levels[known] - low) / (high - low), 0, 1)
    shades = [_blended(color, theme) for color, is_known in zip(colors, known, strict=True) if is_known]
    scale = [[float(place), shade] for place, shade in zip(places, shades, strict=True)]
    return charts.bare_heat(surface) | {
        "colorscale": [[0.0, shades[0]], *scale, [1.0, shades[-1]]],
        "zmin": low,
        "zmax": high,
    }


def ends_of(columns: Sequence[NDArray]) -> tuple[float, float]:
    """Return the lowest and the highest finite value of several arrays, apart from each other."""
    finite = np.concatenate([column[np.isfinite(column)].ravel() for column in columns])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def _blended(color: str, theme: str) -> str:
    parts = ([int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (_as_hex(color), charts.GROUND[theme]))
    share = REGION_SHARE[theme]
    return "rgb({}, {}, {})".format(*(round(share * a + (1 - share) * b) for a, b in zip(*parts, strict=True)))


def _as_hex(color: str) -> str:
    if color.startswith("#"):
        return color
    return "#{:02x}{:02x}{:02x}".format(*(int(part) for part in color[4:-1].split(",")))


def colors_of(run: Run) -> list[str]:
    """Return the colours of the classes of a run."""
    names = run.split.class_names
    if run.problem.decision == "ranks":
        return charts.ordered_colors(len(names))
    return [class_color(label, len(names)) for label in range(len(names))]


def point_sets(run: Run, plane: Plane, split: Split | None = None) -> list[charts.PointSet]:
    """Return the training points of a split, by default the run's, with the labels that the method sees."""
    split = run.split if split is None else split
    xy, y = plane.project(split.X_train), split.y_train
    unlabeled = charts.PointSet("unlabeled", xy[y < 0], charts.UNLABELED, "circle-open", size=5, opacity=0.75)
    return [unlabeled, *(_pairs(xy, y) if run.problem.labels == "pairs" else _classes(run, xy, y))]


def _classes(run: Run, xy: NDArray, y: NDArray) -> list[charts.PointSet]:
    """Return the labeled points of each class; with two classes, the positive ones first."""
    names, colors, size = run.split.class_names, colors_of(run), 9.0 if run.problem.decision == "highest" else 7.0
    made = [
        charts.PointSet(name, xy[y == label], color, class_symbol(label, len(names)), size)
        for label, (name, color) in enumerate(zip(names, colors, strict=True))
    ]
    return made[::-1] if len(made) == 2 else made


def _pairs(xy: NDArray, y: NDArray) -> list[charts.PointSet]:
    """Return the members of each pair next to each other, so that a line can join them."""
    members = np.flatnonzero(y >= 0)
    members = members[np.argsort(y[members], kind="stable")]
    return [charts.PointSet("similar pairs", xy[members], charts.PREDICTED, "diamond", is_paired=True)]


def _lines(xy: NDArray, links: NDArray, theme: str) -> dict[str, Any]:
    gaps = np.full((len(links), 1, 2), np.nan)
    line = np.concatenate([xy[links], gaps], axis=1).reshape(-1, 2)
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
