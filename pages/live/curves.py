"""The run's curves as charts and in words: the objective, the score, and the error of the random features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dsgcore.experiments import History, LiveRun, Run, theory_of
from dsgcore.glossary import meaning
from dsgcore.settings import profile_of
from dsgcore.solver.diagnostics import slope
from pages.charts import figures as charts
from pages.charts import words
from pages.charts.axes import value_axis
from pages.live.marks import marks_of
from pages.race.race_charts import finish_line
from pages.session.view import View

GROWTH_SEEN_ON_LOG_AXIS = 1e3
ERROR_TITLE = "Error of the random features, |f − h|²"


def is_multiclass(run: Run) -> bool:
    """Return True if the run has a score for each of several classes."""
    return run.problem.decision == "highest"


def alt_objective(live: LiveRun) -> str:
    row = live.run.history.last()
    return (
        f"Objective over iterations: {row['objective']:.4g} at iteration {row['t']:.0f}."
        if row
        else "Objective: no iteration yet."
    )


def alt_score(live: LiveRun) -> str:
    row, name = live.run.history.last(), live.run.problem.score_name
    return f"{name} over iterations: {row['score_test']:.4f} on test points." if row else f"{name}: no iteration yet."


def alt_error(live: LiveRun) -> str:
    row = live.run.history.last()
    if "error_mean" not in row:
        return "Squared error of the random features: not measured yet."
    return f"Squared error of the random features: {row['error_mean']:.3g}."


def _is_bounded(history: History) -> bool:
    """Return True if the features are bounded. Features of the dot product kernel are not, and no lemma bounds their error."""
    return "bound" in history.names and bool(np.isfinite(history.column("bound")).any())


def run_chart(live: LiveRun, curves: Sequence[charts.Curve], title: str, **options: Any) -> charts.Figure:
    """Return a chart over the iterations of a run, with the marks of its changes."""
    return charts.line_chart(
        curves, title=title, marks=marks_of(live.run), **{"x_range": (0, live.run.length), **options}
    )


def without_axis_title(figure: charts.Figure) -> None:
    """Leave out what a chart's axis of iterations is called, because another chart with the same axis is right below."""
    figure["layout"]["xaxis"]["title"] = {"text": ""}
    figure["layout"]["margin"]["b"] = 20


def curves_of(history: History | None, column: str, name: str, color: str, **style: Any) -> list[charts.Curve]:
    """Return a history's column as a curve, or nothing if it was not recorded."""
    if history is None or column not in history.names:
        return []
    return [charts.Curve(name, history.column("t"), history.column(column), color, **style)]


def ghost_of(live: LiveRun, column: str, color: str) -> list[charts.Curve]:
    return curves_of(live.ghost, column, "previous run", color, opacity=charts.GHOST)


def _averaged(run: Run, column: str, color: str) -> list[charts.Curve]:
    """Return the averaged iterate as a curve, from the second half on, thicker than the iterate's curve."""
    if column not in run.history.names:
        return []
    t, values = run.history.column("t"), run.history.column(column)
    there = t > run.averaged_after
    return [charts.Curve("average", t[there], values[there], color, width=4.0)]


def objective_figure(live: LiveRun, view: View, revision: str) -> charts.Figure:
    """Return the chart of the objective: training data, mini-batches, and the previous run."""
    history, ink = live.run.history, charts.INK[view.theme]
    curves = ghost_of(live, "objective", ink)
    batch: dict[str, Any] = {"width": 1.0, "opacity": 0.6}
    curves += curves_of(history, "objective_batch", "mini-batch", charts.UNLABELED, **batch)
    curves += curves_of(history, "objective", "training data", ink, sentence=meaning("objective"))
    curves += _averaged(live.run, "objective_average", ink)
    return run_chart(live, curves, "Objective", revision=revision, is_log_y=view.is_log or outgrows(live.run))


def outgrows(run: Run) -> bool:
    """Return True if the objective has grown so much that a linear axis would show only its last step."""
    values = run.history.column("objective")
    return bool((values > GROWTH_SEEN_ON_LOG_AXIS * run.start_objective()).any())


def score_figure(live: LiveRun, view: View, revision: str) -> charts.Figure:
    """Return the chart of the score: test and labeled points, the supervised twin, and the previous run."""
    run, ink = live.run, charts.INK[view.theme]
    curves = ghost_of(live, "score_test", ink)
    if live.supervised is not None:
        style: dict[str, Any] = {"dash": "dot", "sentence": words.twin(run)}
        curves += curves_of(
            live.supervised.history, "score_test", f"{run.problem.baseline_name}, test", charts.TWIN, **style
        )
    known, sentence = words.train(run)
    style = {"dash": "dash", "width": 1.5, "sentence": sentence}
    curves += curves_of(run.history, "score_labeled", known, charts.UNLABELED, **style)
    curves += curves_of(run.history, "score_test", "test", ink, sentence=words.test_score(run))
    curves += _averaged(run, "score_average", ink)
    title = run.problem.score_name[0].upper() + run.problem.score_name[1:]
    figure = run_chart(live, curves, title, revision=revision)
    if len(run.history):
        _mark_best(figure, run.history, view.theme)
    if view.finish is not None:
        figure["data"].append(finish_line(view.finish, run.length))
    return figure


def _mark_best(figure: charts.Figure, history: History, theme: str) -> None:
    """Add a hollow star at the highest test score, in the colour of its curve."""
    scores = history.column("score_test")
    best = int(np.nanargmax(scores)) if np.isfinite(scores).any() else 0
    figure["data"].append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "best",
            "meta": meaning("best"),
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


def error_figure(live: LiveRun, view: View, revision: str) -> charts.Figure:
    """Return the chart of |f - h|^2 during the run: the measured error, its band, and for many classes |h|^2."""
    history = live.run.history
    curves = ghost_of(live, "error_mean", charts.EXACT)
    if is_multiclass(live.run):  # the features never change, so the error does not average out
        curves += curves_of(history, "h_squared", "|h|²", charts.INK[view.theme], width=1.5, dash="dash")
    return _error_chart(live, curves, revision=revision)


def bound_figure(live: LiveRun) -> charts.Figure:
    """Return the log-log chart of |f - h|^2 beside the paper's bound, with its slope."""
    history, curves = live.run.history, list[charts.Curve]()
    if _is_bounded(history):
        style: dict[str, Any] = {"dash": "dashdot", "width": 1.5}
        name = f"paper's bound ({profile_of(live.run.problem).theorem.bound})"
        curves = curves_of(history, "bound", name, charts.BOUND, **style)
    t, theory, note = history.column("t"), theory_of(live.run.spec), ""
    if len(t) >= 20:
        half = len(t) // 2
        note = f"slope over the second half {slope(t[half:], history.column('error_mean')[half:]):+.2f}"
        if theory.error_slope is not None and theory.holds:
            note += f", the theorem predicts {theory.error_slope:+.2f}"
        elif not theory.holds:
            note += ", but the theorem's assumptions do not hold"
    range_ = (1, live.run.length)
    return _error_chart(live, curves, x_range=range_, is_log_x=True, revision="bound", note=note)


def alt_bound(live: LiveRun) -> str:
    row = live.run.history.last()
    bound = f"the paper's bound {row['bound']:.3g}" if _is_bounded(live.run.history) else "no known bound"
    return f"{alt_error(live)[:-1]}, {bound}."


def _error_chart(live: LiveRun, curves: list[charts.Curve], **options: Any) -> charts.Figure:
    """Return a chart of |f - h|^2 and its calibrated band over the iterations, with an explanation of f and h."""
    history = live.run.history
    explanation = f"{words.F} {words.H} {words.measured(live.run)}"
    curves = [*curves, *curves_of(history, "error_mean", "measured", charts.EXACT, sentence=words.measured(live.run))]
    figure = run_chart(live, curves, ERROR_TITLE, is_log_y=True, explanation=explanation, **options)
    if "band" in history.names and len(band := history.column("band")):
        low, high = charts.filled_between(
            history.column("t"), band / 3, band * 3, "calibrated band (×/÷ 3)", charts.EXACT
        )
        figure["data"] = [low, high | {"meta": meaning("band")}, *figure["data"]]
        figure["layout"]["yaxis"] = value_axis([*(curve.y for curve in curves), band / 3, band * 3], is_log=True)
    return figure
