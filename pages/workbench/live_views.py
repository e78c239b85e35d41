"""What the workbench shows of a run while it goes on: status, tiles, map and curves."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
import streamlit as st

from dsgcore.core.schedules import tail_start
from dsgcore.experiments import (
    Comparison,
    Health,
    LiveRun,
    Run,
    StopReason,
    Verdict,
    compare,
)
from pages.charts import words
from pages.charts.live_plotly import live_chart
from pages.workbench import class_views
from pages.workbench.curves import alt_error, alt_objective, alt_score, error_figure, objective_figure, score_figure
from pages.workbench.looking_back import marked, seen
from pages.workbench.map_view import draw_map

CURVE_HEIGHT, ERROR_HEIGHT = 173, 250
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
    averaged = row.get("score_average") if run.t > tail_start(run.n_iter) else None
    score.metric(
        f"Test {name}" if averaged is None else f"Test {name}, average {averaged:.3f}",
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
    revision = str(bench.number)
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
                _below(bench, theme, revision)
        if has_map:
            with columns[0], st.container(key="part-map"):
                draw_map(bench, seen(bench).run, theme)
        if has_error and not is_beside:
            with st.container(key="part-error"):
                _below(bench, theme, revision)


def _draw_curves(bench: Any, theme: str, revision: str) -> None:
    """Draw the objective and the score below each other."""
    live = bench.live
    live_chart(
        marked(objective_figure(live, theme, revision), bench),
        key="chart-objective",
        alt=alt_objective(live),
        height=CURVE_HEIGHT,
        on_drawn=bench.see,
        occasion=bench.occasion(live.run.problem.name),
    )
    figure = marked(score_figure(live, theme, revision), bench)
    live_chart(figure, key="chart-score", alt=alt_score(live), height=CURVE_HEIGHT)


def _below(bench: Any, theme: str, revision: str) -> None:
    """Draw what the method is about: the singular values, or the error of the random features."""
    live: LiveRun = bench.live
    if is_multiclass(live.run):
        class_views.below(live, theme, revision)
    else:
        figure = marked(error_figure(live, revision), bench)
        live_chart(figure, key="chart-error", alt=alt_error(live), height=ERROR_HEIGHT)
