"""Charts of a race: scores over iterations or time, the competitor's objective, and maps of the predicted classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.charts import figures as charts

COMPETITOR = "#E69F00"


@dataclass(frozen=True)
class Finish:
    """The competitor's result: its name, its score, and its seconds of training."""

    name: str
    score: float
    seconds: float


def finish_line(finish: Finish, end: float) -> dict[str, Any]:
    """Return the competitor's score as a horizontal line over the iterations, with its name."""
    named = {"mode": "lines+text", "text": ["", finish.name], "textposition": "top left", "showlegend": False}
    font = {"color": COMPETITOR}
    return _trace(_stays(finish, 0.0, end)) | named | {"textfont": font, "cliponaxis": False}


def _stays(finish: Finish, start: float, end: float) -> charts.Curve:
    return charts.Curve(finish.name, np.array([start, end]), np.full(2, finish.score), COMPETITOR, dash="longdash")


def _trace(curve: charts.Curve) -> dict[str, Any]:
    (trace,) = charts.line_chart([curve], title="")["data"]
    return trace


def score_by_iteration(run: charts.Curve, finish: Finish, *, title: str, n_iter: int) -> charts.Figure:
    """Return the run's score over the iterations, and the competitor's score as a horizontal line."""
    curves = [run, _stays(finish, 0.0, n_iter)]
    return charts.line_chart(curves, title=title, x_range=(0, n_iter), revision="by iteration")


def score_by_time(run: charts.Curve, finish: Finish, *, title: str) -> charts.Figure:
    """Return the run's score over its seconds of training. The competitor's score is a line that starts when it has
    finished."""
    end = 1.05 * max(finish.seconds, float(run.x[-1]) if len(run.x) else 0.0)
    curves = [run, _stays(finish, finish.seconds, end)]
    figure = charts.line_chart(curves, title=title, x_range=(0, end), x_title="seconds of training", revision="by time")
    figure["data"].append(_mark(finish))
    return figure


def _mark(finish: Finish) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": charts.four_digits(np.array([finish.seconds])),
        "y": charts.four_digits(np.array([finish.score])),
        "marker": {"symbol": "circle", "size": 8, "color": COMPETITOR},
        "showlegend": False,
        "hoverinfo": "skip",
    }


def objective_chart(name: str, steps: NDArray, objectives: NDArray) -> charts.Figure:
    """Return the competitor's own objective over its outer steps."""
    curve = charts.Curve(name, steps, objectives, COMPETITOR)
    return charts.line_chart([curve], title=f"Objective of {name}, its own", x_title="outer step")
