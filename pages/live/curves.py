"""The run's curves as charts and in words: objective, score, error of the random features, singular values, parts.

A lesson's step shows the one of them that its question is about, with the reader's guess on it. Its axes and its legend are there
before the run, so nothing moves when it begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.experiments import History, LiveRun, Run, theory_of
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.verdict import BAND, known_choices
from dsgcore.glossary import meaning
from dsgcore.settings import profile_of
from dsgcore.settings.lessons import SHARES
from dsgcore.settings.panels import Mark
from dsgcore.solver.measures import slope
from dsgcore.solver.parameters import SOLVER_PARAMETERS
from pages.charts import figures as charts
from pages.charts.detail_charts import risk_chart
from pages.charts.run_map import color_of
from pages.controls.control import brief
from pages.session.bench import Scene, View
from pages.shell.plain_text import in_sentence, short_number, with_minus


def names_of(spec: Spec) -> dict[str, str]:
    """Return the names of the parameters that a run can change, within a sentence."""
    return {p.name: in_sentence(p.label or p.name) for p in (*SOLVER_PARAMETERS, *spec.problem.parameters)}


GROWTH_SEEN_ON_LOG_AXIS = 1e3
USUAL_ERRORS = 1e-6, 1.0  # the ends of its axis stay, so that another number of features is seen as another height
MOST_TICKS = 4  # on its axis: a run that diverges reaches 1e40
HIGHEST_SCORE = 1.04  # where the score's axis ends at most: every score is at most 1
ERROR_TITLE = "Error of the features, |f − h|²"
NOTHING = np.zeros(0)


def is_multiclass(run: Run) -> bool:
    """Return True if the run has a score for each of several classes."""
    return run.problem.decision == "highest"


def numbers_of(live: LiveRun) -> dict[str, dict[str, str]]:
    """Return the present values of a run's curves, by chart and by the name of the curve."""
    run, row = live.run, live.run.history.last()
    twin = {} if live.supervised is None else live.supervised.history.last()
    scores = {"test": row.get("score_test"), run.problem.baseline_name: twin.get("score_test")}
    if run.t > run.averaged_after:
        scores["average"] = row.get("score_average")
    return {
        "objective": {"training data": _short(row.get("objective", run.start_objective))},
        "score": {name: f"{value:.3f}" for name, value in scores.items() if value is not None},
        "error": {"measured": _short(row.get("error_mean"))},
    }


def _short(value: float | None) -> str:
    if value is None or not np.isfinite(value):
        return ""
    return short_number(value, ".3g" if 1e-3 <= abs(value) < 1e4 or value == 0 else ".1e")


def run_chart(live: LiveRun, curves: Sequence[charts.Curve], title: str, **options: Any) -> charts.Figure:
    """Return a chart over the iterations of a run, with a mark at each one so far that started with changed values: "step size
    0.5 → 1"."""
    run, spec, names, marks = live.run, live.run.spec, names_of(live.run.spec), list[Mark]()
    for t in sorted({change.t for change in spec.changes if change.t <= run.t}):
        before = spec.values_at(t - 1)
        said = (f"{names[c.name]} {brief(before[c.name])} → {brief(c.value)}" for c in spec.changes if c.t == t)
        marks.append(Mark(t, ", ".join(said)))
    return charts.line_chart(curves, title=title, marks=marks, **{"x_range": (0, run.length), **options})


def curve_of(history: History, column: str, name: str, color: str, **style: Any) -> charts.Curve:
    """Return a history's column as a curve, without points if it was not recorded."""
    x, y = (history.column("t"), history.column(column)) if column in history.names else (NOTHING, NOTHING)
    return charts.Curve(name, x, y, color, **style)


def curves_of(history: History | None, column: str, name: str, color: str, **style: Any) -> list[charts.Curve]:
    """Return a history's column as a curve, or nothing if it was not recorded."""
    if history is None or column not in history.names:
        return []
    return [curve_of(history, column, name, color, **style)]


def ghost_of(live: LiveRun, view: View, column: str, color: str) -> list[charts.Curve]:
    """Return a column of the previous run as a pale curve; a lesson's step shows it only after a run of its own."""
    if view.scene is not None and not view.scene.has_ghost:
        return []
    return curves_of(live.ghost, column, "previous run", color, opacity=charts.GHOST)


def average_of(run: Run, column: str, color: str) -> list[charts.Curve]:
    """Return the averaged iterate as a curve, from the second half on, thicker than the iterate's; nothing without one."""
    if run.spec.solver.average is None:
        return []
    curve = curve_of(run.history, f"{column}_average", "average", color, width=4.0)
    there = curve.x > run.averaged_after
    return [replace(curve, x=curve.x[there], y=curve.y[there])]


def objective_figure(live: LiveRun, view: View, revision: str) -> charts.Figure:
    """Return the chart of the objective: training data, mini-batches, and the previous run."""
    history, ink, scene = live.run.history, charts.INK[view.theme], view.scene
    curves = ghost_of(live, view, "objective", ink)
    if scene is None:
        curves += curves_of(history, "objective_batch", "mini-batch", charts.UNLABELED, width=1.0, opacity=0.6)
    curves.append(curve_of(history, "objective", "training data", ink, sentence=meaning("objective")))
    curves += average_of(live.run, "objective", ink)
    # A linear axis would show only the last step of an objective that has grown so much.
    outgrows = bool((history.column("objective") > GROWTH_SEEN_ON_LOG_AXIS * live.run.start_objective).any())
    is_log = outgrows or view.is_log if scene is None else outgrows and not scene.ends
    return run_chart(live, curves, "Objective", revision=revision, is_log_y=is_log)


def score_figure(live: LiveRun, view: View, revision: str) -> charts.Figure:
    """Return the chart of the score: test and labeled points, the supervised twin, and the previous run."""
    run, ink, scene = live.run, charts.INK[view.theme], view.scene
    measures = {"score_labeled"} if scene is None else scene.measures
    curves = ghost_of(live, view, "score_test", ink)
    if live.supervised is not None:
        name = run.problem.baseline_name
        said = f"“{name}” is the run for comparison. Its data, mini-batches and features are the same."
        style: dict[str, Any] = {"dash": "dot", "width": 2.0 if scene is None else 3.0, "sentence": said}
        curves.append(curve_of(live.supervised.history, "score_test", name, charts.TWIN, **style))
    if "score_labeled" in measures:
        name, said = "train (labeled)", "The same score at the labeled training points."
        if run.problem.labels == "pairs":
            name = "train (in pairs)"
            said = "The same score at the training points that come in pairs: their classes are hidden."
        style = {"dash": "dash", "width": 1.5, "sentence": said}
        curves.append(curve_of(run.history, "score_labeled", name, charts.UNLABELED, **style))
    said = f"{run.problem.score_name} at the {len(run.split.y_test):,} test points, which are held out."
    curves.append(curve_of(run.history, "score_test", "test" if scene is None else "test points", ink, sentence=said))
    curves += average_of(run, "score", ink)
    if any(measure.startswith("choice") for measure in measures):
        curves += _choices(run)
    title = run.problem.score_name[0].upper() + run.problem.score_name[1:]
    figure = run_chart(live, curves, title, revision=revision)
    if scene is not None:
        return figure
    figure["layout"]["yaxis"]["autorangeoptions"] = {"clipmax": HIGHEST_SCORE}
    scores = run.history.column("score_test")
    if np.isfinite(scores).any():  # a hollow star at the highest test score, in the colour of its curve
        best = int(np.nanargmax(scores))
        star = {"symbol": "star", "size": 11, "color": charts.GROUND[view.theme], "line": {"width": 1.5, "color": ink}}
        at, look = ([int(run.history.column("t")[best])], [float(scores[best])]), {"hoverinfo": "all"}
        figure["data"].append(charts.dots("best", *at, star, meta=meaning("best"), **look))
    if view.finish is not None:
        figure["data"].append(view.finish.line(run.length))
    return figure


def _choices(run: Run) -> list[charts.Curve]:
    """Return the median, the band and the best of random choices of the labels; without points before they are known."""
    found = known_choices(run.spec)
    low, middle, high = (np.nan,) * 3 if found is None else np.quantile(found, (BAND[0], 0.5, BAND[1]))
    lines = (
        ("random choices: median", middle, "dashdot"),
        ("10 % to 90 %", low, "dot"),
        ("", high, "dot"),  # the other edge of the band
        ("best", np.nan if found is None else found[-1], "longdash"),
    )
    x = NOTHING if found is None else np.array([0.0, run.n_iter])
    return [
        charts.Curve(name or "10 % to 90 %", x, np.full(len(x), value), charts.BOUND, dash, 1.5, in_legend=bool(name))
        for name, value, dash in lines
    ]


def error_figure(live: LiveRun, view: View, revision: str) -> charts.Figure:
    """Return the chart of |f - h|^2 during the run: the measured error, its band, and for many classes |h|^2."""
    history, scene = live.run.history, view.scene
    curves = ghost_of(live, view, "error_mean", charts.EXACT)
    # For many classes the features never change, so the error does not average out; or a question compares the two.
    if is_multiclass(live.run) if scene is None else not scene.ends:
        curves.append(curve_of(history, "h_squared", "|h|²", charts.INK[view.theme], width=1.5, dash="dash"))
    if scene is not None:
        curves.append(curve_of(history, "error_mean", "|f − h|²", charts.EXACT))
        return run_chart(live, curves, ERROR_TITLE, revision=revision)
    figure = _error_chart(live, curves, revision=revision)
    values = _drawn(figure)
    low, high = values[values > 0].min(initial=USUAL_ERRORS[0]), values.max(initial=USUAL_ERRORS[1])
    ends = np.log10([low, high])
    step = max(2, math.ceil(np.ptp(ends) / MOST_TICKS))
    figure["layout"]["yaxis"] |= {"range": ends.tolist(), "tickvals": None, "dtick": step}
    return figure


def _drawn(figure: charts.Figure) -> NDArray:
    return np.array([y for trace in figure["data"] for y in trace["y"] if y is not None], dtype=float)


def bound_figure(live: LiveRun) -> charts.Figure:
    """Return the log-log chart of |f - h|^2 beside the paper's bound, with its slope."""
    history, curves, note = live.run.history, list[charts.Curve](), "no known bound"
    # Features of the dot product kernel are not bounded, and no lemma bounds their error.
    if np.isfinite(history.column("bound")).any():
        style: dict[str, Any] = {"dash": "dashdot", "width": 1.5}
        name = f"paper's bound ({profile_of(live.run.problem).theorem.bound})"
        curves, note = curves_of(history, "bound", name, charts.BOUND, **style), ""
    t, theory = history.column("t"), theory_of(live.run.spec)
    if len(t) >= 20:
        half = len(t) // 2
        note += (
            f"{', ' * bool(note)}slope over the second half {slope(t[half:], history.column('error_mean')[half:]):+.2f}"
        )
        if theory.error_slope is not None and theory.holds:
            note += f", the theorem predicts {theory.error_slope:+.2f}"
        elif not theory.holds:
            note += ", but the theorem's assumptions do not hold"
    range_ = (1, live.run.length)
    return _error_chart(live, curves, x_range=range_, is_log_x=True, revision="bound", note=with_minus(note))


def _error_chart(live: LiveRun, curves: list[charts.Curve], **options: Any) -> charts.Figure:
    """Return a chart of |f - h|^2 and its calibrated band over the iterations, with an explanation of f and h."""
    history, n = live.run.history, min(live.run.spec.diagnostics.n_probes, len(live.run.split.y_test))
    said = f"The mean of |f − h|² over {n:,} test points."
    explanation, measured = f"{meaning('f')} {meaning('twin')} {said}", dict[str, Any](sentence=said)
    if "band" in history.names and len(band := history.column("band")):
        measured |= {"band": (band / 3, band * 3), "band_name": "calibrated band (×/÷ 3)"}
    curves = [*curves, *curves_of(history, "error_mean", "measured", charts.EXACT, **measured)]
    return run_chart(live, curves, ERROR_TITLE, is_log_y=True, explanation=explanation, **options)


# On a log axis, values below this share of the largest are zeros with rounding errors.
SMALLEST_SHARE = 1e-9


def spectrum_figure(live: LiveRun, view: View, revision: str) -> charts.Figure:
    """Return the chart of the singular values of W over the iterations, with the tail in another colour."""
    run, history, curves = live.run, live.run.history, list[charts.Curve]()
    n_kept, columns = run.engine.n_kept, [name for name in history.names if name.startswith("singular value")]
    for source, is_ghost in ((live.ghost, True), (history, False)):
        for number, column in enumerate(columns if source is not None else ()):
            if source is None or column not in source.names:
                continue
            values, is_tail = source.column(column), number >= n_kept
            y = np.where(values > SMALLEST_SHARE * source.column(columns[0]), values, np.nan)
            if is_ghost:
                style: dict[str, Any] = {"opacity": charts.GHOST, "in_legend": number == 0}
                curves.append(charts.Curve("previous run", source.column("t"), y, charts.UNLABELED, **style))
                continue
            name, color = ("tail, penalised", charts.NEGATIVE) if is_tail else ("not penalised", charts.INK[view.theme])
            style = {"dash": "dash" if is_tail else "solid", "in_legend": number in (0, n_kept)}
            curves.append(charts.Curve(name, source.column("t"), y, color, **style))
    row = history.last()
    note = f"rank {row['rank']:.0f} of {len(columns)}" if row else ""
    note += f" · sum of the tail {row['tail_sum']:.3g}" if row and n_kept < len(columns) else ""
    return run_chart(live, curves, "Singular values of W", is_log_y=True, revision=revision, note=note)


TERM = "term: "


def risk_figure(live: LiveRun, view: View, revision: str) -> charts.Figure:
    """Return the chart of the objective's parts, with the risks that the setting estimates from them."""
    run, history = live.run, live.run.history
    risks = profile_of(run.problem).risks(run) if run.t else ()
    t = history.column("t")
    parts = {name.removeprefix(TERM): history.column(name) for name in history.names if name.startswith(TERM)}
    lines = [charts.Curve(line.name, t, line.values, color_of(line.role, view.theme), dash="dash") for line in risks]
    negative = [f"{line.name} {line.values[-1]:.2g}" for line in risks if line.values[-1] < 0]
    note = f"below zero: {', '.join(negative)}" if negative else "no estimated risk is below zero" if risks else ""
    return risk_chart(
        t, parts, lines, theme=view.theme, note=with_minus(note), x_range=(0, run.length), revision=revision
    )


# By their names in lessons.
CHARTS: Mapping[str, Callable[[LiveRun, View, str], charts.Figure]] = {
    "objective": objective_figure,
    "score": score_figure,
    "error": error_figure,
    "spectrum": spectrum_figure,
    "parts": risk_figure,
}
LOWEST_SCORE = 0.4


def chart_of(name: str, live: LiveRun, view: View, revision: str) -> charts.Figure:
    """Return a chart; for a lesson's step with the guess, and an axis known before the run."""
    figure = CHARTS[name](live, view, revision)
    if view.scene is not None and name in ("objective", "score", "error"):
        _set_scene(figure, name, live, view.scene)
    return figure


def _set_scene(figure: charts.Figure, name: str, live: LiveRun, scene: Scene) -> None:
    """Add the guess of a lesson's reader, dashed with open marks, and the range of the values' axis, wide enough for the run."""
    usual: dict[str, tuple[float, ...]] = {
        "objective": (0.0, live.run.start_objective),
        "score": (LOWEST_SCORE, 1.0),
    }
    values = np.concatenate([np.asarray(scene.ends or usual.get(name, ()), dtype=float), _drawn(figure)])
    if scene.guess:
        line = {"color": charts.PREDICTED, "dash": "dash", "width": 2.5}
        marker = {"symbol": "circle-open", "size": 9, "color": charts.PREDICTED}
        x, look = [share * live.run.n_iter for share in SHARES], {"mode": "lines+markers", "hoverinfo": "all"}
        figure["data"].append(charts.dots("your guess", x, scene.guess, marker, line=line, **look))
    if figure["layout"]["yaxis"]["type"] == "linear" and len(values):
        low, high = float(values.min()), float(values.max())
        room = 0.05 * (high - low or 1.0)
        figure["layout"]["yaxis"] |= {"range": [low - room * (low != 0.0), high + room], "showticklabels": True}
