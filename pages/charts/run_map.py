"""The map of a run: its training points as the method sees them, over the learned function on a plane through them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.experiments import Plane, Run
from dsgcore.settings import panels
from pages.charts import figures as charts

# The colours of Okabe and Ito, then Tol's for more than seven classes. Marks differ as well, for colour-blind readers.
CLASS_COLORS = (*charts.COLORS[:6], "#882255", "#999933", "#6A5ACD", "#8C6D5A")
SYMBOLS = ("circle", "triangle-up", "square", "diamond", "cross", "x", "star", "pentagon", "triangle-down", "hexagon")


def class_color(label: int, k: int = 0) -> str:
    """Return the colour of a class; with two classes (k = 2), the colours for negative and positive."""
    return (charts.NEGATIVE, charts.POSITIVE)[label] if k == 2 else CLASS_COLORS[label % len(CLASS_COLORS)]


def class_symbol(label: int, k: int) -> str:
    """Return the mark of a class; with two classes (k = 2), the marks for negative and positive."""
    return ("triangle-up", "circle")[label] if k == 2 else SYMBOLS[label % len(SYMBOLS)]


ROLE_COLORS = {"positive": charts.POSITIVE, "negative": charts.NEGATIVE, "unlabeled": charts.UNLABELED}


def color_of(role: panels.Role, theme: str) -> str:
    """Return the colour of a role."""
    if role.kind == "rank":
        return charts.ordered_colors(role.n)[role.number]
    if role.kind == "class":
        return class_color(role.number)
    return charts.INK[theme] if role.kind == "ink" else ROLE_COLORS[role.kind]


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
    traces = [heat]
    if len(links):
        ends = plane.project(run.split.X_train)[links]
        line = np.concatenate([ends, np.full((len(links), 1, 2), np.nan)], axis=1).reshape(-1, 2)  # with gaps
        look: dict[str, Any] = {"mode": "lines", "opacity": 0.6, "showlegend": False}
        look["line"] = {"color": charts.INK[theme], "width": 0.8}
        x, y = map(charts.four_digits, line.T)
        traces.append(charts.dots("graph", x, y, {}, **look))
    shown = point_sets(run, plane) if points is None else points
    traces += [charts.scatter(own, theme, most=most) for own in shown]
    across, up = zip(plane.low.tolist(), plane.high.tolist(), strict=True)
    return charts.map_figure(traces, title=title, axes=plane.names, revision=revision, frame=(across, up))


def heat(plane: Plane, values: NDArray, colors: dict[str, Any]) -> dict[str, Any]:
    """Return the trace of values at the points of a plane's grid; a value that is not finite is a gap."""
    grid = math.isqrt(len(values))
    low, step = plane.low.tolist(), ((plane.high - plane.low) / (grid - 1)).tolist()
    return {
        "type": "heatmap",
        "z": charts.four_digits(values.reshape(grid, grid)),
        **{"x0": low[0], "dx": step[0], "y0": low[1], "dy": step[1]},
        **{"zsmooth": "best", "showscale": True, "colorbar": charts.COLORBAR, "hovertemplate": "%{z}<extra></extra>"},
        **colors,
    }


def diverging(columns: Sequence[NDArray], centre: float, theme: str) -> dict[str, Any]:
    """Return the colours from negative over the centre to positive, up to the value that is the farthest from it."""
    reach = charts.farthest(np.stack(columns), centre)
    return {"colorscale": charts.DIVERGING[theme], "zmin": centre - reach, "zmax": centre + reach}


SCORE, CLASSES, LEAD, ERROR = "score", "classes", "lead", "error"  # what a decision map shows


def decision_heats(
    run: Run,
    plane: Plane,
    columns: Sequence[NDArray],
    *,
    shown: str,
    theme: str,
    levels: NDArray | None = None,
    centre: float | None = None,
) -> list[dict[str, Any]]:
    """Return the traces of functions on the points of a plane's grid, with one colour scale.

    Parameters
    ----------
    run : Run
    plane : Plane
    columns : sequence of array
        For each function its scores, of shape (n,), or (n, K) for several classes; for `CLASSES` also codes of classes.
    shown : str
        `SCORE`, `CLASSES`, `LEAD` (of the highest over the next score) or `ERROR`.
    theme : str
    levels : array of shape (K,), optional
        The usual score of each class; by default the mean of its labeled points.
    centre : float, optional
        The score at which the colours change; by default the boundary, or the middle between the levels.
    """
    columns, k = [column.astype(float) for column in columns], len(run.split.class_names)
    if shown == CLASSES:
        columns = [
            one if one.ndim == 1 else np.where(np.ptp(one, axis=-1) > 0, one.argmax(axis=-1), np.nan) for one in columns
        ]
        shades = [_blended(color, theme) for color in colors_of(run)]
        scale = [(share / k, shade) for label, shade in enumerate(shades) for share in (label, label + 1)]
        colors = {"zmin": -0.5, "zmax": k - 0.5, "colorscale": scale}
        colors |= {"showscale": False, "zsmooth": False, "hoverinfo": "skip"}
    elif shown != SCORE:
        columns = [lead(one) if shown == LEAD else one for one in columns]
        colors = {"colorscale": charts.SEQUENTIAL, "zmin": 0.0, "zmax": charts.farthest(np.stack(columns), 0.0)}
    else:
        if levels is None:
            levels = levels_of(run.labeled_values.astype(float), run.split.y_train[run.labeled_rows], k)
        if run.problem.decision == "ranks":
            colors = rank_colors(columns, levels, colors_of(run), theme)
        else:
            has_middle = run.problem.decision != "sign" and np.isfinite(levels).all()
            colors = diverging(
                columns, (float(np.mean(levels)) if has_middle else 0.0) if centre is None else centre, theme
            )
    return [heat(plane, one, colors) for one in columns]


def levels_of(scores: NDArray, y: NDArray, k: int) -> NDArray:
    """Return the mean score of each of `k` classes, NaN for a class without any point."""
    own = [scores[y == label] for label in range(k)]
    return np.array([each.mean() if len(each) else np.nan for each in own])


def lead(scores: NDArray) -> NDArray:
    """Return the difference between the highest and the second highest score of each point, for scores of shape (n, K)."""
    two = np.partition(scores, -2, axis=-1)[..., -2:]
    return two[..., 1] - two[..., 0]


def rank_colors(columns: Sequence[NDArray], levels: NDArray, colors: Sequence[str], theme: str) -> dict[str, Any]:
    """Return the colours of a score of ordered classes: at the level of each class, a pale shade of the class's colour.

    `levels` of shape (k,) holds the usual score of each class. If they are not finite or not in the order of the classes,
    as early in a run, the colours have equal steps from the lowest to the highest value.
    """
    finite = np.concatenate([column[np.isfinite(column)].ravel() for column in columns])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if high <= low:
        low, high = low - 1.0, high + 1.0
    known = np.isfinite(levels)
    if known.sum() < 2 or not (np.diff(levels[known]) > 0).all():
        levels, known = np.linspace(low, high, len(colors)), np.full(len(colors), True)
    places = np.clip((levels[known] - low) / (high - low), 0, 1)
    shades = [_blended(color, theme) for color, is_known in zip(colors, known, strict=True) if is_known]
    scale = [[float(place), shade] for place, shade in zip(places, shades, strict=True)]
    return {"colorscale": [[0.0, shades[0]], *scale, [1.0, shades[-1]]], "zmin": low, "zmax": high}


def _blended(color: str, theme: str) -> str:
    share, parts = REGION_SHARE[theme], (bytes.fromhex(c[1:]) for c in (color, charts.GROUND[theme]))
    return "rgb({}, {}, {})".format(*(round(share * a + (1 - share) * b) for a, b in zip(*parts, strict=True)))


def colors_of(run: Run) -> list[str]:
    """Return the colours of the classes of a run."""
    names = run.split.class_names
    if run.problem.decision == "ranks":
        return charts.ordered_colors(len(names))
    return [class_color(label, len(names)) for label in range(len(names))]


def point_sets(run: Run, plane: Plane, split: Split | None = None) -> list[charts.PointSet]:
    """Return the training points of a split, by default the run's, with the labels that the method sees."""
    split = run.split if split is None else split
    xy, y, names = plane.project(split.X_train), split.y_train, run.split.class_names
    unlabeled = charts.PointSet("unlabeled", xy[y < 0], charts.UNLABELED, "circle-open", size=5, opacity=0.75)
    if run.problem.labels == "pairs":
        members = np.flatnonzero(y >= 0)  # those of a pair next to each other, so that a line can join them
        members = members[np.argsort(y[members], kind="stable")]
        return [unlabeled, charts.PointSet("similar pairs", xy[members], charts.PREDICTED, "diamond", is_paired=True)]
    size = 9.0 if run.problem.decision == "highest" else 7.0
    labeled = [
        charts.PointSet(name, xy[y == label], color, class_symbol(label, len(names)), size)
        for label, (name, color) in enumerate(zip(names, colors_of(run), strict=True))
    ]
    return [unlabeled, *(labeled[::-1] if len(labeled) == 2 else labeled)]  # of two classes, the positive ones first
