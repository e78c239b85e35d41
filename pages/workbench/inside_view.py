"""Look inside: one random feature, one training point, or the coefficients of all iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from dsgcore.diagnostics import amplitudes, feature_trajectory, feature_wave, has_inside, point_pull, point_trajectory
from dsgcore.experiments import Run
from pages.charts import figures as charts
from pages.charts import words
from pages.charts.live_chart import live_chart
from pages.charts.run_map import run_map, surface_on
from pages.live.map_view import map_state
from pages.shell.plain_text import plain

HEIGHT = 290
FEATURE, POINT, ALL = "one feature", "one point", "all coefficients"


def look_inside(bench: Any, run: Run, theme: str) -> None:
    """Draw the chosen view inside a run's function; draw nothing if it has none, or before its first iteration."""
    if not has_inside(run) or not run.model_t:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="part-inside"):
        chosen = st.segmented_control("Look inside", list(_DRAWN), default=FEATURE, required=True, key="inside")
        beside = st.container(horizontal=True, width="content")
    _DRAWN[str(chosen)](bench, run, theme, beside)


def _asked(label: str, most: int, key: str, usual: int = 1) -> int:
    return int(st.number_input(label, 1, most, usual, key=key, width=180))


def _feature(bench: Any, run: Run, theme: str, beside: DeltaGenerator) -> None:
    with beside:
        t = _asked(f"Iteration, 1 to {run.n_iter:,}", run.n_iter, f"inside-t-{bench.number}")
        m = run.model.blocks[min(t, run.model_t) - 1].shape[1]
        number = _asked(f"Feature, 1 to {m:,}", m, f"inside-feature-{bench.number}-{m}")
    if t > run.model_t:
        st.caption(f"After step {run.model_t} the features of iteration {t} do not exist yet.")
        return
    wave, way = feature_wave(run.model, t, number, _grid(bench, run)), feature_trajectory(run.model, t, number)
    curve = charts.Curve("coefficient", np.arange(len(way)), way, charts.EXACT, in_legend=False)
    note = f"drawn at iteration {t}; {_left(way, t):.0%} of it remains"
    _beside(bench, run, wave, f"Contribution of feature {number} of iteration {t} to f", curve, note, theme)
    total = sum(block.shape[1] for block in run.model.blocks)
    st.caption(
        f"After step {run.model_t}, f is a sum of {total:,} random features. Each iteration draws new ones. This one adds at most "
        f"{np.abs(wave).max():.2g} here. No feature looks like f, but together they make f. Its coefficient was set when it "
        "was drawn. Since then, each iteration has only shrunk it, by the step size times the ridge."
    )


def _left(way: NDArray, t: int) -> float:
    return float(way[-1] / way[t]) if way[t] else 1.0


def _point(bench: Any, run: Run, theme: str, beside: DeltaGenerator) -> None:
    with beside:
        n, usual = len(run.split.X_train), int(run.labeled_rows[0]) + 1
        row = _asked(f"Point, 1 to {n:,}", n, f"inside-point-{bench.number}", usual) - 1
    pull, (t, coefficients) = point_pull(run, row, _grid(bench, run)), point_trajectory(run, row)
    xy = map_state(bench, run).plane.project(run.split.X_train[row : row + 1])
    star = charts.PointSet(f"point {row + 1}", xy, charts.INK[theme], "star", size=15)
    curve = charts.Curve("coefficient", t, coefficients, charts.EXACT, in_legend=False)
    note = f"{coefficients[-1]:.3g} now"
    _beside(bench, run, pull, f"Contribution of point {row + 1} to h", curve, note, theme, star)
    way = "up" if coefficients[-1] > 0 else "down"
    said = f"Point {row + 1} ({_kind(run, row)}) pulls h {way} around it"
    st.caption(
        f"{words.H} After step {run.model_t}, h is a sum with one kernel around each training point. "
        f"{said if coefficients[-1] else f'Point {row + 1} ({_kind(run, row)}) adds nothing yet'}. Its "
        "coefficient changes whenever the point is in a mini-batch. The curve shows it at the recorded iterations."
    )


def _kind(run: Run, row: int) -> str:
    """Return a training point's label as the method knows it."""
    label = int(run.split.y_train[row])
    if label < 0:
        return "unlabeled"
    return "in a similar pair" if run.problem.labels == "pairs" else plain(run.split.class_names[label])


def _all(bench: Any, run: Run, theme: str, beside: DeltaGenerator) -> None:
    found = amplitudes(run.model)
    colors = (charts.EXACT, charts.PREDICTED, charts.TWIN, charts.UNLABELED)
    curves = [
        charts.Curve(name, found.t, values, color, width=1.5)
        for (name, values), color in zip(found.sizes.items(), colors, strict=True)
    ]
    figure = charts.line_chart(
        curves,
        title="Sizes of each iteration's coefficients in f",
        x_range=(0, run.length),
        x_title="iteration that drew the features",
        is_log_y=True,
    )
    said = f"of iteration {found.t[-1]} the median is {found.sizes['median'][-1]:.2g}"
    live_chart(figure, key="chart-inside-all", alt=f"Sizes of the coefficients by iteration: {said}.", height=HEIGHT)
    st.caption(
        f"After step {run.model_t}: for the features of each iteration, the largest coefficient and three quantiles (90 %, 50 %, "
        "10 %). If the first iterations are the largest, f still depends on its first steps. If the curves are level, later steps "
        "change f as much as the first ones."
    )


def _grid(bench: Any, run: Run) -> NDArray:
    state = map_state(bench, run)
    return state.plane.grid(state.size)


def _beside(
    bench: Any,
    run: Run,
    values: NDArray,
    title: str,
    curve: charts.Curve,
    note: str,
    theme: str,
    *more: charts.PointSet,
) -> None:
    """Draw values on the plane, among the training points, and beside them a curve over the iterations."""
    state = map_state(bench, run)
    heat = charts.heat(surface_on(state.plane, values, state.size), 0.0, theme)
    figure = run_map(run, state.plane, heat, title=title, theme=theme, revision=title)
    figure["data"] = [trace | {"showlegend": False} for trace in figure["data"]]
    figure["data"] += [charts.scatter(points, theme) for points in more]
    line = charts.line_chart([curve], title="Its coefficient", x_range=(0, run.length), revision=title, note=note)
    left, right = st.columns([1, 2])
    with left:
        alt = f"{title}: from {values.min():.2g} to {values.max():.2g}."
        live_chart(figure, key="chart-inside-map", alt=alt, height=HEIGHT)
    with right:
        live_chart(line, key="chart-inside-way", alt=f"Its coefficient over iterations: {note}.", height=HEIGHT)


_DRAWN: dict[str, Callable[[Any, Run, str, DeltaGenerator], None]] = {FEATURE: _feature, POINT: _point, ALL: _all}
