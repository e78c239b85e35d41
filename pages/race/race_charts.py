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
    (trace,) = charts.line_chart([_stays(finish, 0.0, end)], title="")["data"]
    named = {"mode": "lines+text", "text": ["", finish.name], "textposition": "top left", "showlegend": False}
    return trace | named | {"textfont": {"color": COMPETITOR}, "cliponaxis": False}


def _stays(finish: Finish, start: float, end: float) -> charts.Curve:
    return charts.Curve(finish.name, np.array([start, end]), np.full(2, finish.score), COMPETITOR, dash="longdash")


def score_chart(run: charts.Curve, finish: Finish, *, title: str, n_iter: int, is_by_time: bool) -> charts.Figure:
    """Return the run's score over the iterations or its seconds of training, and the competitor's as a horizontal line.

    Over seconds the line starts at a mark when the competitor has finished.
    """
    end = 1.05 * max(finish.seconds, float(run.x[-1]) if len(run.x) else 0.0) if is_by_time else n_iter
    curves = [run, _stays(finish, finish.seconds if is_by_time else 0.0, end)]
    own: dict[str, Any] = {"x_range": (0, end), "revision": "by time" if is_by_time else "by iteration"}
    own |= {"x_title": "seconds of training"} if is_by_time else {}
    figure = charts.line_chart(curves, title=title, **own)
    if is_by_time:
        x, y = (charts.four_digits(np.array([value])) for value in (finish.seconds, finish.score))
        mark = {"type": "scatter", "mode": "markers", "x": x, "y": y, "showlegend": False, "hoverinfo": "skip"}
        figure["data"].append(mark | {"marker": {"symbol": "circle", "size": 8, "color": COMPETITOR}})
    return figure


def objective_chart(name: str, steps: NDArray, objectives: NDArray) -> charts.Figure:
    """Return the competitor's own objective over its outer steps."""
    curve = charts.Curve(name, steps, objectives, COMPETITOR)
    return charts.line_chart([curve], title=f"Objective of {name}, its own", x_title="outer step")
