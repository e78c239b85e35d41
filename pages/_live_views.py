"""What the workbench shows of a run: status, tiles, map and curves while it goes on, and the tabs beside them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.diagnostics import slope
from dsgcore.experiments import Health, History, LiveRun, Plane, Run, StopReason, Surface, theory_of
from pages import _charts as charts
from pages._live_plotly import live_chart

GRID = 60
SECONDS_BETWEEN_SURFACES = 1.0
MAP_HEIGHT, CURVE_HEIGHT, ERROR_HEIGHT = 350, 173, 250
MAP_TITLES = {"f": "Score f", "h": "Exact-kernel twin h", "error": "Error |f − h|"}
# Differences of the score that a few test points make are no verdict.
TIE = 0.005
LIGHTS = {Health.GOOD: "green", Health.STARTING: "gray", Health.GROWING: "orange", Health.DIVERGED: "red"}
TERM_COLORS = ("#0072B2", "#E69F00", "#56B4E9", "#8A949E", "#CC79A7", "#D55E00", "#009E73")


@dataclass
class MapState:
    """The plane on which a run's data are drawn, and the surface over it as it was last computed."""

    plane: Plane
    surface: Surface
    z: NDArray
    drawn_at: float = 0.0
    drawn_t: int = -1
    shown: str = ""


def status(live: LiveRun, *, is_playing: bool) -> None:
    """Say where the run is."""
    run = live.run
    state = "running" if is_playing else "paused"
    if run.stop_reason is not None:
        state = {StopReason.FINISHED: "done", StopReason.PLATEAU: "stopped early"}.get(run.stop_reason, "diverged")
    changes = len([change for change in run.spec.changes if change.t <= run.t])
    noted = f" · {changes} change{'s' * (changes != 1)} recorded" if changes else ""
    light = LIGHTS[run.health]
    st.caption(f":{light}[●] step {run.t} of {run.n_iter} · {state}{noted}", help=run.health.value)


def tiles(live: LiveRun) -> None:
    """Draw the three numbers to watch."""
    run, row = live.run, live.run.history.last()
    objective, score, error = st.columns(3)
    name = run.problem.score_name
    objective.metric(
        "Objective",
        _number(row.get("objective", run.start_objective())),
        help="Risk on the training data, plus ridge.",
    )
    twin = live.supervised.history.last().get("score_test") if live.supervised is not None else None
    gain = row["score_test"] - twin if row and twin is not None else None
    verdict = "" if gain is None else "tie" if abs(gain) < TIE else "helps" if gain > 0 else "hurts"
    score.metric(
        f"Test {name}",
        f"{row['score_test']:.3f}" if row else "–",
        delta=f"{gain:+.3f} over {run.problem.twin_name}: {verdict}" if gain is not None else None,
        delta_color="off" if verdict == "tie" else "normal",
        help=f"{name} on held-out points, and the difference to the same run, {run.problem.twin_name}.",
    )
    error.metric(
        "|f − h|²",
        _number(row.get("error_mean")),
        help="Mean squared error that the random features make, at the probes.",
    )


def _number(value: float | None) -> str:
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.1e}"


def plots(bench: Any, *, theme: str) -> None:
    """Draw the map at the left, the curves at the right and the features' error below."""
    live = bench.live
    left, right = st.columns([5, 6], gap="small")
    with left, st.container(key="part-map"):
        _map(bench, theme)
    with right, st.container(key="part-curves"):
        revision = str(bench.number)
        live_chart(
            objective_figure(live, theme, revision),
            key="chart-objective",
            alt=_alt_objective(live),
            height=CURVE_HEIGHT,
        )
        live_chart(score_figure(live, theme, revision), key="chart-score", alt=_alt_score(live), height=CURVE_HEIGHT)
    with st.container(key="part-error"):
        live_chart(error_figure(live, revision), key="chart-error", alt=_alt_error(live), height=ERROR_HEIGHT)


def _alt_objective(live: LiveRun) -> str:
    row = live.run.history.last()
    return (
        f"Objective over iterations: {row['objective']:.4g} at iteration {row['t']:.0f}."
        if row
        else "Objective: no iteration yet."
    )


def _alt_score(live: LiveRun) -> str:
    row, name = live.run.history.last(), live.run.problem.score_name
    return f"{name} over iterations: {row['score_test']:.4f} on test points." if row else f"{name}: no iteration yet."


def _alt_error(live: LiveRun) -> str:
    row = live.run.history.last()
    if "error_mean" not in row:
        return "Squared error of the random features: not measured yet."
    return f"Squared error of the random features: {row['error_mean']:.3g}, the paper's bound {row['bound']:.3g}."


def _curves(history: History | None, column: str, name: str, color: str, **style: Any) -> list[charts.Curve]:
    """Return a history's column as a curve; none where it has not been recorded."""
    if history is None or column not in history.names:
        return []
    return [charts.Curve(name, history.column("t"), history.column(column), color, **style)]


def _ghost(live: LiveRun, column: str, color: str) -> list[charts.Curve]:
    return _curves(live.ghost, column, "previous run", color, opacity=charts.GHOST, in_legend=False)


def _marks(run: Run) -> list[int]:
    return sorted({change.t for change in run.spec.changes if change.t <= run.t})


def objective_figure(live: LiveRun, theme: str, revision: str) -> charts.Figure:
    """Return the chart of the objective: of the training data, of the batches, and of the previous run."""
    history, ink = live.run.history, charts.INK[theme]
    curves = _ghost(live, "objective", ink)
    curves += _curves(history, "objective_batch", "mini-batch", charts.UNLABELED, width=1.0, opacity=0.6)
    curves += _curves(history, "objective", "training data", ink)
    is_log = st.session_state.get("log_objective", False)
    return charts.line_chart(
        curves,
        title="Objective",
        marks=_marks(live.run),
        x_range=(0, live.run.n_iter),
        revision=revision,
        is_log_y=is_log,
    )


def score_figure(live: LiveRun, theme: str, revision: str) -> charts.Figure:
    """Return the chart of the score: test and labeled points, the supervised twin, and the previous run."""
    run, ink = live.run, charts.INK[theme]
    curves = _ghost(live, "score_test", ink)
    if live.supervised is not None:
        style: dict[str, Any] = {"dash": "dot"}
        curves += _curves(live.supervised.history, "score_test", f"{run.problem.twin_name}, test", charts.TWIN, **style)
    curves += _curves(run.history, "score_labeled", "train (labeled)", charts.UNLABELED, dash="dash", width=1.5)
    curves += _curves(run.history, "score_test", "test", ink)
    figure = charts.line_chart(
        curves,
        title=run.problem.score_name,
        marks=_marks(run),
        x_range=(0, run.n_iter),
        revision=revision,
    )
    if len(run.history):
        _mark_best(figure, run.history)
    return figure


def _mark_best(figure: charts.Figure, history: History) -> None:
    scores = history.column("score_test")
    best = int(np.nanargmax(scores)) if np.isfinite(scores).any() else 0
    figure["data"].append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"best {scores[best]:.4f}",
            "x": [int(history.column("t")[best])],
            "y": [float(scores[best])],
            "marker": {"symbol": "star", "size": 9, "color": "#E69F00"},
        }
    )


def error_figure(live: LiveRun, revision: str) -> charts.Figure:
    """Return the log-log chart of |f - h|^2: measured, the paper's bound and the calibrated band."""
    history = live.run.history
    t, band = history.column("t"), history.column("band")
    curves = _ghost(live, "error_mean", charts.EXACT)
    curves += _curves(history, "bound", "paper's bound (Lemma 1)", charts.BOUND, dash="dashdot", width=1.5)
    curves += _curves(history, "error_mean", "measured", charts.EXACT, dash="solid")
    theory = theory_of(live.run.spec)
    note = ""
    if len(t) >= 20:
        half = len(t) // 2
        note = f"slope over the second half {slope(t[half:], history.column('error_mean')[half:]):+.2f}"
        if theory.error_slope is not None and theory.holds:
            note += f", the theorem's {theory.error_slope:+.2f}"
        elif not theory.holds:
            note += ", the theorem's assumptions do not hold here"
    figure = charts.line_chart(
        curves,
        title="Error of the random features, |f − h|²",
        marks=_marks(live.run),
        x_range=(1, live.run.n_iter),
        is_log_x=True,
        is_log_y=True,
        revision=revision,
        annotation=note,
    )
    if len(band):
        figure["data"] = [
            *charts.filled_between(t, band / 2, band * 2, "calibrated band (×/÷ 2)", charts.EXACT),
            *figure["data"],
        ]
    return figure


def _map(bench: Any, theme: str) -> None:
    live: LiveRun = bench.live
    shown = st.session_state.get("map", "f")
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
    if (state.drawn_t == run.t and state.shown == shown) or not (is_due or state.shown != shown):
        return
    f = state.surface.values(run.model).astype(float)
    if shown == "f":
        state.z = f.copy()
    else:
        h = run.exact_values(state.surface.points).astype(float)
        state.z = h if shown == "h" else np.abs(f - h)
    state.drawn_at, state.drawn_t, state.shown = now, run.t, shown


def _centre(run: Run) -> float:
    """Return the value half way between the labeled classes' means: where the map's colours change over."""
    y, values = run.split.y_train[run.labeled_rows], run.labeled_values
    means = [float(values[y == label].mean()) for label in np.unique(y)]
    return float(np.mean(means)) if np.isfinite(means).all() else 0.0


def point_sets(run: Run, plane: Plane) -> list[charts.PointSet]:
    """Return the training points as they are drawn: what the method sees of their labels."""
    xy, y = plane.project(run.split.X_train), run.split.y_train
    unlabeled = charts.PointSet("unlabeled", xy[y == -1], charts.UNLABELED, "circle-open", size=5, opacity=0.55)
    return [unlabeled, *LABELED_POINTS[run.problem.labels](xy, y)]


def _binary_points(xy: NDArray, y: NDArray) -> list[charts.PointSet]:
    return [
        charts.PointSet("positive", xy[y == 1], charts.POSITIVE, "circle"),
        charts.PointSet("negative", xy[y == 0], charts.NEGATIVE, "triangle-up"),
    ]


def _pair_points(xy: NDArray, y: NDArray) -> list[charts.PointSet]:
    """Return the members of each pair next to each other, to be joined by a line."""
    members = np.flatnonzero(y >= 0)
    members = members[np.argsort(y[members], kind="stable")]
    return [charts.PointSet("similar pairs", xy[members], charts.PREDICTED, "diamond", is_paired=True)]


def _ordinal_points(xy: NDArray, y: NDArray) -> list[charts.PointSet]:
    classes = np.unique(y[y >= 0])
    colors = charts.ordered_colors(len(classes))
    return [
        charts.PointSet(f"class {label + 1}", xy[y == label], color, "circle")
        for label, color in zip(classes, colors, strict=True)
    ]


LABELED_POINTS = {"binary": _binary_points, "pairs": _pair_points, "ordinal": _ordinal_points}


def compare(live: LiveRun) -> None:
    """Draw the table of this run, its labels-only twin and the previous run: the settings that differ, and the results."""
    rows = {"this run": _summary(live.run.history)}
    if live.supervised is not None:
        rows[live.run.problem.twin_name] = _summary(live.supervised.history)
    if live.ghost is not None:
        rows["previous run"] = _summary(live.ghost)
    st.dataframe(pd.DataFrame(rows).T, width="stretch")
    differing = _differences(live)
    if differing:
        st.markdown("Settings that differ from the previous run's:")
        st.dataframe(pd.DataFrame(differing), width="stretch", hide_index=True)
    else:
        st.caption(
            "Change a setting and run again: the previous run stays as a pale line, and this table says what differs."
        )


def _summary(history: History) -> dict[str, float]:
    row = history.last()
    if not row:
        return {}
    return {
        "iterations": row["t"],
        "objective": row["objective"],
        "test score": row["score_test"],
        "best test score": float(np.nanmax(history.column("score_test"))),
        "|f − h|²": row.get("error_mean", float("nan")),
    }


def _differences(live: LiveRun) -> list[dict[str, str]]:
    if live.previous_spec is None:
        return []
    now, before = _flat(live.run.spec.to_dict()), _flat(live.previous_spec.to_dict())
    return [
        {"setting": name, "this run": str(now.get(name)), "previous run": str(before.get(name))}
        for name in now | before
        if now.get(name) != before.get(name)
    ]


def _flat(plain: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in plain.items():
        flat |= {f"{name}.{key}": v for key, v in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def theory(live: LiveRun) -> None:
    """Say what the theorem promises and assumes, and whether this run keeps to it; draw the parts of the risk."""
    said = theory_of(live.run.spec)
    st.markdown(said.statement)
    for assumption in said.assumptions:
        icon = ":material/check_circle:" if assumption.holds else ":material/cancel:"
        color = "green" if assumption.holds else "gray"
        st.markdown(f":{color}[{icon}] {assumption.sentence}")
    history = live.run.history
    terms = {name.removeprefix("term: "): history.column(name) for name in history.names if name.startswith("term: ")}
    if terms and len(history):
        figure = charts.terms_chart(
            history.column("t"), terms, TERM_COLORS, title="Parts of the objective (up to the last pause)"
        )
        live_chart(figure, key="chart-terms", alt="Signed parts of the objective over iterations.", height=320)


def data(live: LiveRun) -> None:
    """Describe the data and how labels were hidden."""
    run, split = live.run, live.run.split
    samples = {"training": split.y_hidden, "labeled": split.y_hidden[run.labeled_rows], "test": split.y_test}
    classes = range(int(split.y_hidden.max()) + 1)
    rows = [
        {"sample": name, "points": len(y), **{f"class {c}": int((y == c).sum()) for c in classes}}
        for name, y in samples.items()
    ]
    st.dataframe(pd.DataFrame(rows), width="stretch", hide_index=True)
    d = split.X_train.shape[1]
    st.caption(
        f"{d} features, scaling: {run.spec.data.scaling}, fitted on the training points. The labels of unlabeled points are "
        "known here and used for nothing but the diagnostic scores."
    )
