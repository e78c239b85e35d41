"""The live views of a run in the workbench: status, tiles, map and curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import numpy as np
import streamlit as st

from dsgcore.core.plan import tail_start
from dsgcore.experiments import (
    Comparison,
    Health,
    LiveRun,
    Run,
    StopReason,
    Verdict,
    compare,
)
from dsgcore.glossary import meaning
from pages.charts import words
from pages.charts.live_plotly import Chart, draw, encoded
from pages.controls.view_choices import PARTS, is_on
from pages.workbench import class_views, risk_view
from pages.workbench.curves import alt_error, alt_objective, alt_score, error_figure, objective_figure, score_figure
from pages.workbench.looking_back import last_step, marked, seen
from pages.workbench.map_view import map_chart

CURVE_HEIGHT, ERROR_HEIGHT = 173, 250
TileColor = Literal["green", "red", "gray"]
VERDICT_COLORS: dict[Verdict | None, TileColor] = {
    Verdict.BETTER: "green",
    Verdict.WORSE: "red",
    Verdict.TIE: "gray",
    None: "gray",
}
VERDICT_HELP = (
    "The number after ± is half of the 95 % interval: other test points would change the difference "
    "by about this much. If the interval covers zero, it is a tie. Other labels change it as well: try another "
    "seed."
)
LIGHTS = {Health.GOOD: "green", Health.STARTING: "gray", Health.GROWING: "orange", Health.DIVERGED: "red"}


def status(live: LiveRun, *, is_playing: bool, going_to: int = 0) -> None:
    """Show the run's position and state."""
    health = live.run.health
    said = status_words(live, is_playing=is_playing, going_to=going_to)
    st.caption(f":{LIGHTS[health]}[●] {said}", help=health.value)


def status_words(live: LiveRun, *, is_playing: bool, going_to: int = 0) -> str:
    """Return the run's position and state in words."""
    run = live.run
    state = f"going to step {going_to}" if going_to else "running" if is_playing else "paused"
    if run.stop_reason is not None:
        last = last_step(run)
        diverged = "diverged, last finite step shown" if last == run.t else f"diverged, step {last} shown"
        state = {StopReason.FINISHED: "done", StopReason.PLATEAU: "stopped early"}.get(run.stop_reason, diverged)
    changes = len([change for change in run.spec.changes if change.t <= run.t])
    noted = f" · {changes} change{'s' * (changes != 1)} recorded" if changes else ""
    return f"step {run.t} of {run.n_iter} · {state}{noted}"


def tiles(live: LiveRun) -> None:
    """Draw the three numbers to watch."""
    names = ("Objective", score_label(live), "Rank of W" if is_multiclass(live.run) else "|f − h|²")
    notes = tile_notes(live)
    helps = (meaning("objective"), _score_help(live, bool(notes[1][0])), _third_help(live.run))
    for place, name, value, (said, color), help_ in zip(
        st.columns(3), names, tile_values(live), notes, helps, strict=True
    ):
        place.metric(name, value, delta=said or None, delta_color=color, delta_arrow="off", help=help_)


def score_label(live: LiveRun) -> str:
    """Return the label of the score's tile, with the average's score in the second half of the run."""
    run, name = live.run, live.run.problem.score_name
    averaged = run.history.last().get("score_average") if run.t > tail_start(run.n_iter) else None
    return f"Test {name}" if averaged is None else f"Test {name}, average {averaged:.3f}"


def tile_values(live: LiveRun) -> tuple[str, str, str]:
    """Return the three numbers to watch, as text."""
    run, row = live.run, live.run.history.last()
    return (
        _number(row.get("objective", run.start_objective())),
        f"{row['score_test']:.3f}" if row else "–",
        class_views.rank(run) if is_multiclass(run) else _number(row.get("error_mean")),
    )


def tile_notes(live: LiveRun) -> tuple[tuple[str, TileColor], ...]:
    """Return the note beside each of the three numbers, or "", and its colour."""
    run, row = live.run, live.run.history.last()
    probes = f"at {words.probes(run)}" if row else ""
    third = class_views.tail(run) if is_multiclass(run) else probes
    return ("", "gray"), _comparison(live), (third, "gray")


def _comparison(live: LiveRun) -> tuple[str, TileColor]:
    """Return the comparison of the score with the twin's, if there is one."""
    made = compare(live.run, live.supervised) if live.supervised is not None else None
    if made is None:
        return "", "gray"
    return comparison_words(made, live.run.problem.baseline_name), VERDICT_COLORS[made.verdict]


def comparison_words(made: Comparison, twin: str) -> str:
    """Return the comparison of the score with the twin's, with a verdict if the test points allow one."""
    if made.verdict is None:
        return made.reason
    return f"{made.verdict.value} {twin} ({round(made.difference, 3) + 0.0:+.3f} ± {made.half_width:.3f})"


def _score_help(live: LiveRun, is_compared: bool) -> str:
    problem = live.run.problem
    said = f"{meaning(problem.score_name)} Measured on held-out points, and compared with “{problem.baseline_name}”."
    return f"{said} {VERDICT_HELP}" if is_compared else said


def _third_help(run: Run) -> str:
    return meaning("rank") if is_multiclass(run) else f"{words.measured(run)} {words.F} {words.H}"


def is_multiclass(run: Run) -> bool:
    """Return True if the run has a score for each of several classes."""
    return run.problem.decision == "highest"


def _number(value: float | None) -> str:
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.1e}"


def plots(bench: Any, *, theme: str, hidden: Set[str] = frozenset(), order: float = 0.0) -> None:
    """Draw the map on the left, the curves on the right and the error below. Remaining parts take the room of hidden ones."""
    has_map, has_curves = "map" not in hidden, "curves" not in hidden
    has_error, is_beside = "error" not in hidden, has_map and not has_curves
    with st.container(key="part-charts"):
        columns = st.columns([5, 6] if has_map and (has_curves or has_error) else 1, gap="small")
        # The curves come first, because the map takes time to compute.
        if has_curves:
            with columns[-1], st.container(key="part-curves"):
                _draw_curves(bench, theme, order)
        if has_error and is_beside:
            with columns[-1], st.container(key="part-beside"):
                _draw_below(bench, theme, order)
        if has_map:
            with columns[0], st.container(key="part-map"):
                _draw(map_chart(bench, seen(bench).run, theme), order)
        if has_error and not is_beside:
            with st.container(key="part-error"):
                _draw_below(bench, theme, order)


def charts(bench: Any, *, theme: str, hidden: Set[str] = frozenset()) -> Iterator[Chart]:
    """Yield the charts that `plots` draws."""
    if "curves" not in hidden:
        yield from _curves(bench, theme)
    if "map" not in hidden:
        yield map_chart(bench, seen(bench).run, theme)
    if "error" not in hidden:
        yield from _below(bench, theme)


def _draw(chart: Chart, order: float, **options: Any) -> None:
    draw(chart.drawing, key=chart.key, alt=chart.alt, height=chart.height, order=order, **options)


def _draw_curves(bench: Any, theme: str, order: float) -> None:
    """Draw the objective and the score below each other."""
    objective, score = _curves(bench, theme)
    _draw(objective, order, on_drawn=bench.see, occasion=bench.occasion(bench.live.run.problem.name))
    _draw(score, order)


def _curves(bench: Any, theme: str) -> tuple[Chart, Chart]:
    live, revision = bench.live, str(bench.number)
    objective = encoded(marked(objective_figure(live, theme, revision), bench))
    score = encoded(marked(score_figure(live, theme, revision), bench))
    return (
        Chart("chart-objective", alt_objective(live), objective, CURVE_HEIGHT),
        Chart("chart-score", alt_score(live), score, CURVE_HEIGHT),
    )


def _draw_below(bench: Any, theme: str, order: float) -> None:
    """Draw the charts below the map, side by side if there are two."""
    made = _below(bench, theme)
    places: Sequence[AbstractContextManager[Any]]
    places = st.columns(len(made), gap="small") if len(made) > 1 else [nullcontext()]
    for place, chart in zip(places, made, strict=True):
        with place:
            _draw(chart, order)


def _below(bench: Any, theme: str) -> list[Chart]:
    """Return the charts of the objective's parts, of the singular values, or of the error of the random features."""
    live, revision = bench.live, str(bench.number)
    if is_on(type(live.run.problem), PARTS):
        return risk_view.below(live, theme, revision)
    if is_multiclass(live.run):
        return class_views.below(live, theme, revision)
    return [Chart("chart-error", alt_error(live), encoded(marked(error_figure(live, revision), bench)), ERROR_HEIGHT)]
