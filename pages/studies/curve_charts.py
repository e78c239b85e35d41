"""Charts of runs over seeds: thin traces, their median, and the band from the lowest to the highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.studies import Curves
from pages.charts import figures as charts

THIN = 0.35


@dataclass(frozen=True)
class Compared:
    """One of several runs over seeds: its name, its x values, and its curves."""

    name: str
    x: NDArray[np.float64]
    curves: Curves


def seeds_figure(
    curves: Curves, *, title: str, n_iter: int, color: str, twin: tuple[str, Curves] | None = None
) -> charts.Figure:
    """Return the curves of a run over seeds: a thin trace for each, the median, and a band; with the twin's name, also its
    median."""
    thin = [
        charts.Curve(f"seed {i}", curves.t, row, color, width=1.0, opacity=THIN, in_legend=False)
        for i, row in enumerate(curves.values)
    ]
    middles = [charts.Curve("median", curves.t, curves.middle, color, width=3.0)]
    bands = _band(curves.t, curves, "lowest to highest", color)
    if twin is not None:
        name, own = twin
        middles.append(charts.Curve(f"{name}, median", own.t, own.middle, charts.TWIN, dash="dot", width=2.5))
    figure = charts.line_chart([*thin, *middles], title=title, x_range=(0, n_iter))
    figure["data"] = bands + figure["data"]
    return figure


def compared_figure(compared: Sequence[Compared], *, title: str, x_title: str, is_log_x: bool = False) -> charts.Figure:
    """Return the medians of several runs, each with the band of its seeds."""
    lines, bands = [], list[dict[str, Any]]()
    for one, color, dash in zip(compared, charts.COLORS, charts.DASHES, strict=False):
        lines.append(charts.Curve(one.name, one.x, one.curves.middle, color, dash=dash, width=2.5))
        if len(one.curves.values) > 1:
            bands += [{**trace, "showlegend": False} for trace in _band(one.x, one.curves, one.name, color)]
    figure = charts.line_chart(lines, title=title, x_title=x_title, is_log_x=is_log_x)
    figure["data"] = bands + figure["data"]
    return figure


def _band(x: NDArray, curves: Curves, name: str, color: str) -> list[dict[str, Any]]:
    there = np.isfinite(curves.low) & np.isfinite(curves.high)
    return charts.filled_between(x[there], curves.low[there], curves.high[there], name, color)
