"""The charts below the map of the multi-class page: singular values of the weights, and the error of random features."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.experiments import History, LiveRun, Run
from dsgcore.multiclass.engine import MultiClassEngine
from pages.charts import figures as charts
from pages.charts.live_chart import Chart, encoded
from pages.live.curves import run_chart

# On a log axis, values below this share of the largest are zeros with rounding errors.
SMALLEST_SHARE = 1e-9


def engine_of(run: Run) -> MultiClassEngine:
    """Return the engine of a multi-class run; only such runs are drawn here."""
    return cast(MultiClassEngine, run.engine)


def spectrum_chart(live: LiveRun, theme: str, revision: str) -> Chart:
    """Return the chart of the singular values."""
    return Chart("chart-spectrum", alt_spectrum(live), encoded(spectrum_figure(live, theme, revision)))


def spectrum_figure(live: LiveRun, theme: str, revision: str) -> charts.Figure:
    """Return the chart of the singular values of W over the iterations, with the tail in another colour."""
    run, history = live.run, live.run.history
    n_kept = engine_of(run).n_kept
    columns = [name for name in history.names if name.startswith("singular value")]
    curves = _ghost_spectrum(live.ghost, columns)
    for number, column in enumerate(columns):
        is_tail = number >= n_kept
        curves.append(
            charts.Curve(
                "tail, penalised" if is_tail else "not penalised",
                history.column("t"),
                _visible(history, column),
                charts.NEGATIVE if is_tail else charts.INK[theme],
                dash="dash" if is_tail else "solid",
                in_legend=number in (0, n_kept),
            )
        )
    row = history.last()
    note = f"rank {row['rank']:.0f} of {len(columns)} · sum of the tail {row['tail_sum']:.3g}" if row else ""
    return run_chart(live, curves, "Singular values of W", is_log_y=True, revision=revision, note=note)


def _visible(history: History, column: str) -> NDArray:
    values = history.column(column)
    return np.where(values > SMALLEST_SHARE * history.column("singular value 1"), values, np.nan)


def _ghost_spectrum(ghost: History | None, columns: list[str]) -> list[charts.Curve]:
    if ghost is None:
        return []
    style: dict[str, Any] = {"color": charts.UNLABELED, "opacity": charts.GHOST}
    return [
        charts.Curve("previous run", ghost.column("t"), _visible(ghost, name), in_legend=name == columns[0], **style)
        for name in columns
        if name in ghost.names
    ]


def alt_spectrum(live: LiveRun) -> str:
    """Return the singular values in words."""
    row = live.run.history.last()
    if not row:
        return "Singular values of the weights: no iteration yet."
    return f"Singular values of the weights: rank {row['rank']:.0f}, the sum of the tail is {row['tail_sum']:.3g}."


def rank(run: Run) -> str:
    """Return the rank of the weights in words."""
    row = run.history.last()
    return f"{row['rank']:.0f} of {len(engine_of(run).singular_values)}" if row else "–"


def tail(run: Run) -> str:
    """Return the sum of the tail of the singular values in words."""
    row = run.history.last()
    return f"sum of the tail {row['tail_sum']:.3g}" if row else ""
