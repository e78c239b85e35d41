"""What the workbench shows of a run while it goes on: status, tiles, map and curves."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
import streamlit as st

from dsgcore.core.diagnostics import slope
from dsgcore.experiments import (
    Comparison,
    Health,
    History,
    LiveRun,
    Run,
    StopReason,
    Verdict,
    compare,
    theory_of,
)
from pages.charts import figures as charts
from pages.charts import words
from pages.charts.live_plotly import live_chart
from pages.controls import controls
from pages.race.state import add_finish_line
from pages.workbench import class_views
from pages.workbench.map_view import draw_map
from pages.workbench.marks import marks_of

CURVE_HEIGHT, ERROR_HEIGHT = 173, 250
GROWTH_SEEN_ON_LOG_AXIS = 1e3
VERDICT_COLORS: dict[Verdict | None, Any] = {
    Verdict.BETTER: "green",
    Verdict.WORSE: "red",
    Verdict.TIE: "off",
    None: "off",
}
VERDICT_HELP = (
    "After ±, half of its 95 % interval: other test points would move it so far; within it is a tie. "
    "Other labels move it too: roll the dice to see how much."
)
LIGHTS = {Health.GOOD: "green", Health.STARTING: "gray", Health.GROWING: "orange", Health.DIVERGED: "red"}


def status(live: LiveRun, *, is_playing: bool, going_to: int = 0) -> None:
    """Say where the run is."""
    run = live.run
    state = f"on its way to step {going_to}" if going_to else "running" if is_playing else "paused"
    if run.stop_reason is not None:
        diverged = f"diverged, back at {run.model_t}"
        state = {StopReason.FINISHED: "done", StopReason.PLATEAU: "stopped early"}.get(run.stop_reason, diverged)
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
        help=words.OBJECTIVE,
    )
    made = compare(run, live.supervised) if live.supervised is not None else None
    score.metric(
        f"Test {name}",
        f"{row['score_test']:.3f}" if row else "–",
        delta=comparison_words(made, run.problem.twin_name) if made is not None else None,
        delta_color=VERDICT_COLORS[made.verdict if made is not None else None],
        delta_arrow="off",
        help=_score_help(name, run.problem.twin_name, made),
    )
    if is_multiclass(run):
        class_views.rank_tile(live, error)
        return
    error.metric(
        "|f − h|²",
        _number(row.get("error_mean")),
        delta=f"at {words.probes(run)}" if row else None,
        delta_color="off",
        delta_arrow="off",
        help=f"{words.measured(run)} {words.F} {words.H}",
    )


def comparison_words(made: Comparison, twin: str) -> str:
    """Say how the score compares with the twin's: a verdict where the test points allow one."""
    if made.verdict is None:
        return made.reason
    return f"{made.verdict.value} {twin} ({made.difference:+.3f} ± {made.half_width:.3f})"


def _score_help(name: str, twin: str, made: Comparison | None) -> str:
    said = f"{name} on held-out points, and the difference to the same run, {twin}."
    if made is None:
        return said
    return f"{said} {VERDICT_HELP}"


def is_multiclass(run: Run) -> bool:
    """Whether the run has a score for each of several classes."""
    return run.problem.decision == "highest"


def _number(value: float | None) -> str:
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.1e}"


def plots(bench: Any, *, theme: str, hidden: Set[str] = frozenset()) -> None:
    """Draw the map at the left, the curves at the right and the features' error below; what is left takes up the room."""
    live, revision = bench.live, str(bench.number)
    has_map, has_curves = "map" not in hidden, "curves" not in hidden
    has_error, is_beside = "error" not in hidden, has_map and not has_curves
    with st.container(key="part-charts"):
        columns = st.columns([5, 6] if has_map and (has_curves or has_error) else 1, gap="small")
        # The curves first: the map takes time to compute.
        if has_curves:
            with columns[-1], st.container(key="part-curves"):
                _draw_curves(bench, theme, revision)
        if has_error and is_beside:
            with columns[-1], st.container(key="part-beside"):
                _below(live, theme, revision)
        if has_map:
            with columns[0], st.container(key="part-map"):
                draw_map(bench, theme)
        if has_error and not is_beside:
            with st.container(key="part-error"):
                _below(live, theme, revision)


def _draw_curves(bench: Any, theme: str, revision: str) -> None:
    """Draw the objective and the score below each other."""
    live = bench.live
    live_chart(
        objective_figure(live, theme, revision),
        key="chart-objective",
        alt=_alt_objective(live),
        height=CURVE_HEIGHT,
        on_drawn=bench.see,
        occasion="" if bench.is_watched else "first",
    )
    live_chart(score_figure(live, theme, revision), key="chart-score", alt=_alt_score(live), height=CURVE_HEIGHT)


def _below(live: LiveRun, theme: str, revision: str) -> None:
    """Draw what the method is about: the singular values, or the error of the random features."""
    if is_multiclass(live.run):
        class_views.below(live, theme, revision)
    else:
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
    bound = f"the paper's bound {row['bound']:.3g}" if _is_bounded(live.run.history) else "which no bound is known for"
    return f"Squared error of the random features: {row['error_mean']:.3g}, {bound}."


def _is_bounded(history: History) -> bool:
    """Whether the features are bounded: those of the dot product kernel are not, and no lemma bounds their error."""
    return "bound" in history.names and bool(np.isfinite(history.column("bound")).any())


def _curves(history: History | None, column: str, name: str, color: str, **style: Any) -> list[charts.Curve]:
    """Return a history's column as a curve; none where it has not been recorded."""
    if history is None or column not in history.names:
        return []
    return [charts.Curve(name, history.column("t"), history.column(column), color, **style)]


def _ghost(live: LiveRun, column: str, color: str) -> list[charts.Curve]:
    return _curves(live.ghost, column, "previous run", color, opacity=charts.GHOST, sentence=words.GHOST)


def objective_figure(live: LiveRun, theme: str, revision: str) -> charts.Figure:
    """Return the chart of the objective: of the training data, of the batches, and of the previous run."""
    history, ink = live.run.history, charts.INK[theme]
    curves = _ghost(live, "objective", ink)
    batch: dict[str, Any] = {"width": 1.0, "opacity": 0.6, "sentence": words.BATCH}
    curves += _curves(history, "objective_batch", "mini-batch", charts.UNLABELED, **batch)
    curves += _curves(history, "objective", "training data", ink, sentence=words.OBJECTIVE)
    log = controls.key_of(type(live.run.problem), controls.LOG_OBJECTIVE)
    is_log = st.session_state.get(log, False) or _outgrows(live.run)
    return charts.line_chart(
        curves,
        title="Objective",
        marks=marks_of(live.run),
        x_range=(0, live.run.n_iter),
        revision=revision,
        is_log_y=is_log,
    )


def _outgrows(run: Run) -> bool:
    """Whether the objective has grown so far that on a linear axis it is nothing but its last step."""
    values = run.history.column("objective")
    return bool((values > GROWTH_SEEN_ON_LOG_AXIS * run.start_objective()).any())


def score_figure(live: LiveRun, theme: str, revision: str) -> charts.Figure:
    """Return the chart of the score: test and labeled points, the supervised twin, and the previous run."""
    run, ink = live.run, charts.INK[theme]
    curves = _ghost(live, "score_test", ink)
    if live.supervised is not None:
        style: dict[str, Any] = {"dash": "dot", "sentence": words.twin(run)}
        curves += _curves(live.supervised.history, "score_test", f"{run.problem.twin_name}, test", charts.TWIN, **style)
    known, sentence = words.train(run)
    style = {"dash": "dash", "width": 1.5, "sentence": sentence}
    curves += _curves(run.history, "score_labeled", known, charts.UNLABELED, **style)
    curves += _curves(run.history, "score_test", "test", ink, sentence=words.test_score(run))
    figure = charts.line_chart(
        curves,
        title=run.problem.score_name[0].upper() + run.problem.score_name[1:],
        marks=marks_of(run),
        x_range=(0, run.n_iter),
        revision=revision,
    )
    if len(run.history):
        _mark_best(figure, run.history, theme)
    add_finish_line(figure, live)
    return figure


def _mark_best(figure: charts.Figure, history: History, theme: str) -> None:
    """Add a star where the test score was highest: in the colour of its curve, hollow so that it is seen on it."""
    scores = history.column("score_test")
    best = int(np.nanargmax(scores)) if np.isfinite(scores).any() else 0
    figure["data"].append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "best",
            "meta": words.BEST,
            "x": [int(history.column("t")[best])],
            "y": [float(scores[best])],
            "marker": {
                "symbol": "star",
                "size": 11,
                "color": charts.GROUND[theme],
                "line": {"width": 1.5, "color": charts.INK[theme]},
            },
        }
    )


def error_figure(live: LiveRun, revision: str) -> charts.Figure:
    """Return the log-log chart of |f - h|^2: measured, the paper's bound and the calibrated band."""
    history = live.run.history
    t, band = history.column("t"), history.column("band")
    curves = _ghost(live, "error_mean", charts.EXACT)
    if _is_bounded(history):
        style: dict[str, Any] = {"dash": "dashdot", "width": 1.5, "sentence": words.BOUND}
        curves += _curves(history, "bound", "paper's bound (Lemma 1)", charts.BOUND, **style)
    curves += _curves(history, "error_mean", "measured", charts.EXACT, sentence=words.measured(live.run))
    theory = theory_of(live.run.spec)
    note = ""
    if len(t) >= 20:
        half = len(t) // 2
        note = f"slope over the second half {slope(t[half:], history.column('error_mean')[half:]):+.2f}"
        if theory.error_slope is not None and theory.holds:
            note += f", the theorem's {theory.error_slope:+.2f}"
        elif not theory.holds:
            note += ", the theorem's assumptions do not hold here: see Theory"
    figure = charts.line_chart(
        curves,
        title="Error of the random features, |f − h|²",
        marks=marks_of(live.run),
        x_range=(1, live.run.n_iter),
        is_log_x=True,
        is_log_y=True,
        revision=revision,
        note=note,
        explanation=f"{words.F} {words.H} {words.measured(live.run)}",
    )
    if len(band):
        low, high = charts.filled_between(t, band / 3, band * 3, "calibrated band (×/÷ 3)", charts.EXACT)
        figure["data"] = [low, high | {"meta": words.BAND}, *figure["data"]]
    return figure
