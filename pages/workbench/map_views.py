"""The map: the training points over the surface of what has been learned, on a plane through the data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.experiments import LiveRun, Plane, Run, Surface
from pages.charts import figures as charts
from pages.charts.class_charts import class_symbol
from pages.charts.live_plotly import live_chart
from pages.controls import controls

GRID = 60
SECONDS_BETWEEN_SURFACES = 1.0
MAP_HEIGHT = 350
MAP_TITLES = {"f": "Score f", "h": "Exact-kernel twin h", "error": "Error |f − h|"}


@dataclass
class MapState:
    """The plane on which a run's data are drawn, and the surface over it as it was last computed."""

    plane: Plane
    surface: Surface
    z: NDArray
    drawn_at: float = 0.0
    drawn_t: int = -1
    shown: str = ""


def draw_map(bench: Any, theme: str) -> None:
    """Draw the training points over the surface of f, h or the error."""
    live: LiveRun = bench.live
    shown = controls.viewed(type(live.run.problem), controls.MAP)
    if bench.surface is None:
        bench.surface = _new_map(live.run)
    state: MapState = bench.surface
    _refresh_surface(live.run, state, shown, is_playing=bench.is_playing)
    low, step = state.plane.low, state.plane.spacing(GRID)
    z = state.z.reshape(GRID, GRID)
    surface = charts.Surface(z, float(low[0]), float(step[0]), float(low[1]), float(step[1]))
    figure = charts.map_chart(
        point_sets(live.run, state.plane),
        surface,
        title=MAP_TITLES[shown],
        axes=state.plane.names,
        centre=None if shown == "error" else _centre(live.run),
        theme=theme,
        revision=f"{bench.number}-{shown}",
    )
    live_chart(figure, key="chart-map", alt="Map of the data over the model's score.", height=MAP_HEIGHT)


def _new_map(run: Run) -> MapState:
    plane = Plane.through(run.split.X_train)
    surface = Surface(plane.grid(GRID), run.model)
    return MapState(plane, surface, np.zeros(GRID * GRID))


def _refresh_surface(run: Run, state: MapState, shown: str, *, is_playing: bool) -> None:
    """Compute the surface anew: once a second while the run goes on, at once when it stands still or another is asked for."""
    now = time.monotonic()
    is_due = now - state.drawn_at >= SECONDS_BETWEEN_SURFACES or not is_playing or run.is_finished
    if (state.drawn_t == run.model_t and state.shown == shown) or not (is_due or state.shown != shown):
        return
    f = state.surface.values(run.model).astype(float)
    if shown == "f":
        state.z = f.copy()
    else:
        h = run.exact_values(state.surface.points).astype(float)
        state.z = h if shown == "h" else np.abs(f - h)
    state.drawn_at, state.drawn_t, state.shown = now, run.model_t, shown


def _centre(run: Run) -> float:
    """Return the value where the map's colours change over: the boundary, or half way between the labeled classes' means."""
    if run.problem.decision == "sign":
        return 0.0
    y, values = run.split.y_train[run.labeled_rows], run.labeled_values
    means = [float(values[y == label].mean()) for label in np.unique(y)]
    return float(np.mean(means)) if np.isfinite(means).all() else 0.0


def point_sets(run: Run, plane: Plane) -> list[charts.PointSet]:
    """Return the training points as they are drawn: what the method sees of their labels."""
    xy, y = plane.project(run.split.X_train), run.split.y_train
    unlabeled = charts.PointSet("unlabeled", xy[y == -1], charts.UNLABELED, "circle-open", size=5, opacity=0.55)
    return [unlabeled, *LABELED_POINTS[run.problem.labels](xy, y, run.split.class_names)]


def _binary_points(xy: NDArray, y: NDArray, names: Sequence[str]) -> list[charts.PointSet]:
    return [
        charts.PointSet(names[1], xy[y == 1], charts.POSITIVE, class_symbol(1, 2)),
        charts.PointSet(names[0], xy[y == 0], charts.NEGATIVE, class_symbol(0, 2)),
    ]


def _pair_points(xy: NDArray, y: NDArray, _names: Sequence[str]) -> list[charts.PointSet]:
    """Return the members of each pair next to each other, to be joined by a line."""
    members = np.flatnonzero(y >= 0)
    members = members[np.argsort(y[members], kind="stable")]
    return [charts.PointSet("similar pairs", xy[members], charts.PREDICTED, "diamond", is_paired=True)]


def _ordinal_points(xy: NDArray, y: NDArray, names: Sequence[str]) -> list[charts.PointSet]:
    colors = charts.ordered_colors(len(names))
    return [
        charts.PointSet(name, xy[y == label], color, class_symbol(label, len(names)))
        for label, (name, color) in enumerate(zip(names, colors, strict=True))
    ]


LABELED_POINTS = {"binary": _binary_points, "pairs": _pair_points, "ordinal": _ordinal_points}
