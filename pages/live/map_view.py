"""The map of the current run: the learned function, computed again now and then, below the training points."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import seconds_of_features
from dsgcore.experiments import LiveRun, Plane, Run, Surface
from pages.charts import figures as charts
from pages.charts.live_chart import Chart, encoded
from pages.charts.run_map import NO_LINKS, colors_of, ends_of, lead, rank_heat, region_heat, run_map, surface_on
from pages.controls.map_axes import Axes, plane_of
from pages.live.hand_view import MOST_DRAWN
from pages.live.points_view import points_on_map
from pages.session.view import View
from pages.shell.turns import drawing, turns

# Grid points along each axis. There are fewer, down to the least, if all of them would slow down each iteration.
GRID, LEAST_GRID = 60, 24
SECONDS_A_BLOCK = 0.05
# A map takes at most this share of the time, if no other session needs the core. Else it comes once a second or later.
SHARE_OF_MAPS = 0.1
SECONDS_BETWEEN_SURFACES = 1.0
WAITING_PER_SECOND = 4
SHORT_WAIT = 0.01  # for a turn, in seconds: the core is free
MAX_LINKS = 600
FIGURE_SPACE = "\u2007"  # as wide as a digit
MANY_POINTS = 1750  # to edit; the map of so many is drawn half as often
WIPED = ("f", "classes", "margin")  # what a run and its twin can both show
TITLES = {
    "f": "Score f",
    "h": "Exact-kernel twin h",
    "error": "Error |f − h|",
    "classes": "Class",
    "margin": "Lead",
}


@dataclass
class MapState:
    """The plane on which a run's data are drawn, and the values last computed on it."""

    plane: Plane
    axes: Axes
    size: int  # grid points along each axis
    surface: Surface | None  # of one score; the scores of several classes are evaluated at the grid
    values: NDArray
    twin_surface: Surface | None = None  # of what labels only learns
    twin_values: NDArray | None = None
    computed_at: float = 0.0
    cost: float = SECONDS_BETWEEN_SURFACES  # seconds that the last map took
    computed_t: int = -1
    shown: str = ""
    links: NDArray | None = None
    drawn: tuple[Any, ...] = ()  # the inputs of the figure
    figure: str = ""


def map_chart(bench: Any, live: LiveRun, view: View) -> Chart:
    """Return the map: the training points over f, h or the error, or for several classes over their regions or the lead."""
    run, shown, state = live.run, view.on_map, map_state(bench, live.run)
    twin = live.supervised if view.has_wipe and shown in WIPED else None
    begun = time.monotonic()
    _refresh(run, twin, state, shown, pause=_pause(bench, run, state, view))
    links, revision = _links(run, state, has_graph=view.has_graph), f"{bench.number}-{shown}-{state.axes}"
    made_of = state.computed_t, view, revision, len(links), bench.hand.split
    if not state.figure or state.drawn != made_of:
        others = [] if twin is None or state.twin_values is None else [state.twin_values]
        heat, *beside = heats_of(run, state, shown, view.theme, state.values, *others)
        if view.scene is not None:
            heat |= {"showscale": False, "opacity": float(run.t > 0)}  # before the run there is nothing to see
        wipe = {"wipe": {"z": beside[0]["z"], "left": run.problem.baseline_name, "right": "f"}} if beside else {}
        made = run_map(
            run,
            state.plane,
            heat,
            title=TITLES[shown],
            theme=view.theme,
            revision=revision,
            links=links,
            points=points_on_map(bench, live, view, state.plane),
            most=MOST_DRAWN if view.can_edit else charts.MAX_DATA_POINTS,
        )
        made["layout"]["meta"] = {"note": step_note(state.computed_t, run.n_iter), **wipe}
        state.drawn, state.figure = made_of, encoded(made)
        state.cost = time.monotonic() - begun
    alt = f"Map of the data over: {TITLES[shown]}, after step {state.computed_t}."
    return Chart("chart-map", alt, state.figure)


def step_note(t: int, n_iter: int) -> str:
    """Return the step of the map, which may be older than the curves' last. All steps of a run have the same width."""
    return f"step {str(t).rjust(len(str(n_iter)), FIGURE_SPACE)}"


def map_state(bench: Any, run: Run) -> MapState:
    """Return the plane of a run's data with the chosen axes, and the values known there."""
    axes = bench.view.axes
    if bench.surface is None or bench.surface.axes != axes:
        bench.surface = _new_map(run, axes)
    state: MapState = bench.surface
    return state


def _new_map(run: Run, axes: Axes) -> MapState:
    plane, size = plane_of(run, axes), _size(run)
    if run.problem.decision == "highest":
        return MapState(plane, axes, size, None, np.zeros((size * size, len(run.split.class_names))))
    return MapState(plane, axes, size, Surface(plane.grid(size), run.model), np.zeros(size * size))


def _size(run: Run) -> int:
    """Return the number of grid points along each axis."""
    solver, d = run.spec.solver, run.split.X_train.shape[1]
    each = (
        run.spec.kernel.factors
        * seconds_of_features(GRID**2, d, solver.n_features, run.split.X_train.itemsize)
        / GRID**2
    )
    return int(np.clip(np.sqrt(SECONDS_A_BLOCK / each), LEAST_GRID, GRID))


def _pause(bench: Any, run: Run, state: MapState, view: View) -> float:
    """Return the least seconds between two maps; 0 if the run does not go on.

    The more sessions wait to be drawn, the longer the pause. A browser takes long for thousands of points, and the reader
    who edits them sees each.
    """
    if not bench.is_playing or bench.look or bench.is_held or run.is_finished:
        return 0.0
    n = len(run.split.X_train) if view.can_edit else 0
    if bench.waited < SHORT_WAIT and n <= MANY_POINTS:
        return min(state.cost / SHARE_OF_MAPS, SECONDS_BETWEEN_SURFACES)
    waiting = drawing.n_waiting + turns.n_waiting
    return SECONDS_BETWEEN_SURFACES * (1 + n / MANY_POINTS) * (1 + waiting / WAITING_PER_SECOND)


def _refresh(run: Run, twin: Run | None, state: MapState, shown: str, *, pause: float) -> None:
    """Compute the values again after the pause, and at once if the reader chooses other values. `twin` is the run beside
    it, if the reader wipes between them."""
    now, asked = time.monotonic(), f"{shown}{' beside' * (twin is not None)}"
    is_same = state.shown == asked
    if is_same and (state.computed_t == run.model_t or now - state.computed_at < pause):
        return
    state.values = _values(run, state, shown)
    state.twin_values = None if twin is None else _twin_values(twin, state)
    state.computed_at, state.computed_t, state.shown = now, run.model_t, asked


def _values(run: Run, state: MapState, shown: str) -> NDArray:
    if state.surface is None:
        return run.result.evaluate(state.plane.grid(state.size))
    f = state.surface.values(run.model).astype(float)
    if shown == "f":
        return f.copy()
    h = run.exact_values(state.surface.points).astype(float)
    return h if shown == "h" else np.abs(f - h)


def _twin_values(twin: Run, state: MapState) -> NDArray:
    if state.surface is None:
        return twin.result.evaluate(state.plane.grid(state.size))
    if state.twin_surface is None:
        state.twin_surface = Surface(state.surface.points, twin.model)
    return state.twin_surface.values(twin.model).astype(float)


def heats_of(run: Run, state: MapState, shown: str, theme: str, *columns: NDArray) -> list[dict[str, Any]]:
    """Return the traces of several functions on the same plane with one colour scale."""
    if shown == "classes":
        # Before the first iteration all scores are zero, so no class has the highest score.
        codes = [np.where(np.ptp(own, axis=-1) > 0, own.argmax(axis=-1), np.nan) for own in columns]
        return [region_heat(surface_on(state.plane, own, state.size), colors_of(run), theme) for own in codes]
    surfaces = [surface_on(state.plane, lead(own) if shown == "margin" else own, state.size) for own in columns]
    if shown in ("f", "h"):
        return score_heats(run, surfaces, theme)
    reach = charts.farthest(np.stack([own.z for own in surfaces]), 0.0)
    return [charts.heat(own, None, theme, reach=reach) for own in surfaces]


def score_heats(run: Run, surfaces: Sequence[charts.Surface], theme: str) -> list[dict[str, Any]]:
    """Return the traces of scores with one colour scale. The scores of ordered classes have the colours of the classes."""
    columns = [surface.z for surface in surfaces]
    if run.problem.decision == "ranks":
        levels, colors, ends = _levels(run), colors_of(run), ends_of(columns)
        return [rank_heat(surface, levels, colors, theme, ends=ends) for surface in surfaces]
    centre = _centre_of(run)
    reach = charts.farthest(np.stack(columns), centre)
    return [charts.heat(surface, centre, theme, reach=reach) for surface in surfaces]


def _centre_of(run: Run) -> float:
    """Return the value at which the map's colours change: the boundary, or the middle between the labeled classes' means."""
    if run.problem.decision == "sign":
        return 0.0
    means = _levels(run)
    return float(np.mean(means)) if np.isfinite(means).all() else 0.0


def _levels(run: Run) -> NDArray:
    """Return the mean score of each class's labeled points, NaN for a class without any."""
    y, values = run.split.y_train[run.labeled_rows], run.labeled_values.astype(float)
    own = [values[y == label] for label in range(len(run.split.class_names))]
    return np.array([each.mean() if len(each) else np.nan for each in own])


def _links(run: Run, state: MapState, *, has_graph: bool) -> NDArray:
    """Return the graph's links to draw, or nothing if there is no graph or the switch is off."""
    if run.problem.decision != "highest" or not has_graph:
        return NO_LINKS
    if state.links is None:
        state.links = run.engine.links(MAX_LINKS)  # type: ignore[attr-defined]
    return state.links
