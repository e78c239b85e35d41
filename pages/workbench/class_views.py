"""What the multi-class page shows in place of a score: the map of the classes with the graph, and the singular values."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dsgcore.experiments import History, LiveRun, Plane, Run
from dsgcore.multiclass.engine import MultiClassEngine
from pages.charts import class_charts, words
from pages.charts import figures as charts
from pages.charts.live_plotly import live_chart
from pages.controls import controls
from pages.workbench.marks import marks_of

GRAPH = "mc_graph"
GRID = 60
SECONDS_BETWEEN_SURFACES = 1.0
MAP_HEIGHT, BELOW_HEIGHT = 350, 250
MAX_EDGES = 600
MAP_TITLES = {"classes": "Class", "margin": "Lead"}
# On a log axis, numbers this much smaller than the largest are zeros with rounding.
SMALLEST_SHARE = 1e-9


@dataclass
class ClassMap:
    """The plane on which the points are drawn, the scores of all classes on a grid over it, and the graph's links."""

    plane: Plane
    scores: NDArray
    drawn_at: float = 0.0
    drawn_t: int = -1
    edges: NDArray = field(default_factory=lambda: np.zeros((0, 2), dtype=int))


def engine_of(run: Run) -> MultiClassEngine:
    """Return the engine of a run whose method is this one: what is drawn here, no other method has."""
    return cast(MultiClassEngine, run.engine)


def draw_map(bench: Any, theme: str) -> None:
    """Draw the training points over the regions of the classes, or over the lead of the highest score."""
    run: Run = bench.live.run
    if bench.surface is None:
        bench.surface = ClassMap(Plane.through(run.split.X_train), np.zeros((GRID * GRID, len(run.split.class_names))))
    state: ClassMap = bench.surface
    _refresh(run, state, is_playing=bench.is_playing)
    shown = controls.viewed(type(run.problem), controls.CLASS_MAP)
    figure = class_charts.class_map_chart(
        state.plane.project(run.split.X_train),
        run.split.y_train,
        class_charts.Regions(state.scores.reshape(GRID, GRID, -1), state.plane.low, state.plane.spacing(GRID)),
        names=run.split.class_names,
        edges=_edges(run, state),
        title=MAP_TITLES[shown],
        axes=state.plane.names,
        shows_margin=shown == "margin",
        theme=theme,
        revision=f"{bench.number}-{shown}",
    )
    live_chart(figure, key="chart-map", alt="Map of the data over the regions of the classes.", height=MAP_HEIGHT)


def _refresh(run: Run, state: ClassMap, *, is_playing: bool) -> None:
    """Compute the scores on the grid anew: once a second while the run goes on, at once when it stands still."""
    now = time.monotonic()
    is_due = now - state.drawn_at >= SECONDS_BETWEEN_SURFACES or not is_playing or run.is_finished
    if state.drawn_t != run.model_t and is_due:
        state.scores = run.model.evaluate(state.plane.grid(GRID))
        state.drawn_at, state.drawn_t = now, run.model_t


def _edges(run: Run, state: ClassMap) -> NDArray:
    """Return the links to draw, of shape (m, 2): none unless they are asked for."""
    if not st.session_state.get(GRAPH, False):
        return state.edges[:0]
    if not len(state.edges):
        state.edges = engine_of(run).links(MAX_EDGES)
    return state.edges


def below(live: LiveRun, theme: str, revision: str) -> None:
    """Draw the singular values and, of random features, their error."""
    has_twin = engine_of(live.run).twin is not None
    left, right = st.columns(2, gap="small") if has_twin else (st.container(), None)
    with left:
        figure = spectrum_figure(live, theme, revision)
        live_chart(figure, key="chart-spectrum", alt=alt_spectrum(live), height=BELOW_HEIGHT)
    if right is not None:
        with right:
            figure = error_figure(live, theme, revision)
            live_chart(figure, key="chart-error", alt="Squared error of the random features.", height=BELOW_HEIGHT)


def error_figure(live: LiveRun, theme: str, revision: str) -> charts.Figure:
    """Return the chart of |f - h|^2 beside |h|^2: the features stay the same, so it does not average out."""
    history = live.run.history
    t = history.column("t")
    curves = [
        charts.Curve(
            "|h|²", t, history.column("h_squared"), charts.INK[theme], width=1.5, dash="dash", sentence=words.SIZE_OF_H
        ),
        charts.Curve("|f − h|²", t, history.column("error_mean"), charts.EXACT, sentence=words.measured(live.run)),
    ]
    if live.ghost is not None and "error_mean" in live.ghost.names:
        t, error = live.ghost.column("t"), live.ghost.column("error_mean")
        curves.append(charts.Curve("previous run", t, error, charts.EXACT, opacity=charts.GHOST, sentence=words.GHOST))
    return charts.line_chart(
        curves,
        title="Error of the random features, |f − h|²",
        marks=marks_of(live.run),
        x_range=(0, live.run.n_iter),
        is_log_y=True,
        revision=revision,
        explanation=f"{words.F} {words.H} {words.measured(live.run)}",
    )


def spectrum_figure(live: LiveRun, theme: str, revision: str) -> charts.Figure:
    """Return the chart of the singular values of W over the iterations, those of the tail in another colour."""
    run, history = live.run, live.run.history
    n_kept = engine_of(run).n_kept
    columns = [name for name in history.names if name.startswith("singular value")]
    curves = _ghost_spectrum(live.ghost, columns)
    for number, column in enumerate(columns):
        is_tail = number >= n_kept
        curves.append(
            charts.Curve(
                "tail, pulled to zero" if is_tail else "left alone",
                history.column("t"),
                _visible(history, column),
                charts.NEGATIVE if is_tail else charts.INK[theme],
                dash="dash" if is_tail else "solid",
                in_legend=number in (0, n_kept),
                sentence=words.TAIL if is_tail else words.KEPT,
            )
        )
    row = history.last()
    note = f"rank {row['rank']:.0f} of {len(columns)} · the tail sums to {row['tail_sum']:.3g}" if row else ""
    return charts.line_chart(
        curves,
        title="Singular values of W",
        marks=marks_of(run),
        x_range=(0, run.n_iter),
        is_log_y=True,
        revision=revision,
        note=note,
    )


def _visible(history: History, column: str) -> NDArray:
    values = history.column(column)
    return np.where(values > SMALLEST_SHARE * history.column("singular value 1"), values, np.nan)


def _ghost_spectrum(ghost: History | None, columns: list[str]) -> list[charts.Curve]:
    if ghost is None:
        return []
    style: dict[str, Any] = {"color": charts.UNLABELED, "opacity": charts.GHOST}
    return [
        charts.Curve("previous run", ghost.column("t"), _visible(ghost, name), in_legend=name == columns[0], **style)
        for name in columns
        if name in ghost.names
    ]


def alt_spectrum(live: LiveRun) -> str:
    """Say the singular values in words."""
    row = live.run.history.last()
    if not row:
        return "Singular values of the weights: no iteration yet."
    return f"Singular values of the weights: rank {row['rank']:.0f}, the tail sums to {row['tail_sum']:.3g}."


def rank_tile(live: LiveRun, place: Any) -> None:
    """Draw the rank of the weights, and the sum of the tail."""
    row, n = live.run.history.last(), len(engine_of(live.run).singular_values)
    place.metric(
        "Rank of W",
        f"{row['rank']:.0f} of {n}" if row else "–",
        delta=f"tail {row['tail_sum']:.3g}" if row else None,
        delta_color="off",
        delta_arrow="off",
        help="How many singular values of the weights are not zero, and the sum of those that are pulled to zero.",
    )
