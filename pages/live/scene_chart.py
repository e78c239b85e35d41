"""The chart of a lesson's step: the one curve that its question is about, with the reader's guess on it.

Axes and legend are there before the run, so nothing moves when it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.experiments import LiveRun, Run
from dsgcore.experiments.verdict import BAND, known_choices
from dsgcore.settings.lessons import SHARES
from pages.charts import figures as charts
from pages.charts import words
from pages.charts.live_chart import Chart, encoded
from pages.live import curves as drawn
from pages.live.curves import (
    ERROR_TITLE,
    NOTHING,
    alt_error,
    alt_objective,
    alt_score,
    average_of,
    curve_of,
    ghost_of,
    outgrows,
    run_chart,
)
from pages.session.bench import Scene, View

LOWEST_SCORE = 0.4
TITLES = {"objective": "Objective", "error": ERROR_TITLE}


def scene_chart(live: LiveRun, view: View, revision: str) -> Chart:
    """Return the chart of a lesson's step."""
    scene = view.scene
    assert scene is not None
    if scene.chart == "parts":
        return drawn.risk_chart_of(live, view.theme, revision)
    if scene.chart == "spectrum":
        figure = drawn.spectrum_figure(live, view.theme, revision)
        return Chart("chart-spectrum", drawn.alt_spectrum(live), encoded(figure))
    curves, alt = {"objective": _objective, "score": _score, "error": _error}[scene.chart](live, view)
    figure = _figure(live, scene, curves, revision)
    return Chart(f"chart-{scene.chart}", alt, encoded(figure))


def _objective(live: LiveRun, view: View) -> tuple[list[charts.Curve], str]:
    ink = charts.INK[view.theme]
    curves = [*_ghost(live, view, "objective", ink), curve_of(live.run.history, "objective", "training data", ink)]
    return [*curves, *average_of(live.run, "objective", ink)], alt_objective(live)


def _score(live: LiveRun, view: View) -> tuple[list[charts.Curve], str]:
    run, ink, scene = live.run, charts.INK[view.theme], view.scene
    assert scene is not None
    curves = _ghost(live, view, "score_test", ink)
    if live.supervised is not None:
        style: dict[str, Any] = {"dash": "dot", "width": 3.0, "sentence": words.twin(run)}
        curves.append(curve_of(live.supervised.history, "score_test", run.problem.baseline_name, charts.TWIN, **style))
    if "score_labeled" in scene.measures:
        curves.append(curve_of(run.history, "score_labeled", words.train(run)[0], charts.UNLABELED, dash="dash"))
    curves.append(curve_of(run.history, "score_test", "test points", ink))
    choices = _choices(run) if any(name.startswith("choice") for name in scene.measures) else []
    return [*curves, *average_of(live.run, "score", ink), *choices], alt_score(live)


def _choices(run: Run) -> list[charts.Curve]:
    """Return the median, the band and the best of random choices of the labels; without points before they are known."""
    found = known_choices(run.spec)
    low, middle, high = (np.nan,) * 3 if found is None else np.quantile(found.scores, (BAND[0], 0.5, BAND[1]))
    lines = (
        ("random choices: median", middle, "dashdot"),
        ("10 % to 90 %", low, "dot"),
        ("", high, "dot"),  # the other edge of the band
        ("best", np.nan if found is None else found.scores[-1], "longdash"),
    )
    x = NOTHING if found is None else np.array([0.0, run.n_iter])
    return [
        charts.Curve(name or "10 % to 90 %", x, np.full(len(x), value), charts.BOUND, dash, 1.5, in_legend=bool(name))
        for name, value, dash in lines
    ]


def _error(live: LiveRun, view: View) -> tuple[list[charts.Curve], str]:
    history, scene = live.run.history, view.scene
    assert scene is not None
    curves = _ghost(live, view, "error_mean", charts.EXACT)
    if not scene.ends:  # the question compares the error with h
        curves.append(curve_of(history, "h_squared", "|h|²", charts.INK[view.theme], dash="dash"))
    return [*curves, curve_of(history, "error_mean", "|f − h|²", charts.EXACT)], alt_error(live)


def _ghost(live: LiveRun, view: View, column: str, color: str) -> list[charts.Curve]:
    assert view.scene is not None
    return ghost_of(live, column, color) if view.scene.has_ghost else []


def _figure(live: LiveRun, scene: Scene, curves: list[charts.Curve], revision: str) -> charts.Figure:
    run = live.run
    is_log = scene.chart == "objective" and not scene.ends and outgrows(run)
    title = TITLES.get(scene.chart, run.problem.score_name[0].upper() + run.problem.score_name[1:])
    figure = run_chart(live, curves, title, is_log_y=is_log, revision=revision)
    if scene.guess:
        figure["data"].append(_guess(scene.guess, run.n_iter))
    if not is_log:
        figure["layout"]["yaxis"] |= _ends(live, scene, [curve.y for curve in curves])
    return figure


def _guess(values: tuple[float, ...], n_iter: int) -> Mapping[str, Any]:
    """Return the drawn guess as a trace: dashed, with open marks."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "your guess",
        "x": [share * n_iter for share in SHARES],
        "y": list(values),
        "line": {"color": charts.PREDICTED, "dash": "dash", "width": 2.5},
        "marker": {"symbol": "circle-open", "size": 9, "color": charts.PREDICTED},
    }


def _ends(live: LiveRun, scene: Scene, columns: list[NDArray]) -> dict[str, Any]:
    """Return the range of the values' axis: known before the run, and wide enough for it."""
    usual: tuple[float, ...] = {"objective": (0.0, live.run.start_objective()), "score": (LOWEST_SCORE, 1.0)}.get(
        scene.chart, ()
    )
    known = [np.asarray(scene.ends or usual, dtype=float), *columns]
    values = np.concatenate([column[np.isfinite(column)] for column in known])
    if not len(values):
        return {}
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low or 1.0)
    return {"range": [low - room * (low != 0.0), high + room], "showticklabels": True}
