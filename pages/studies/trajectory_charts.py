"""Charts over seeds: curves with a band, and trajectories beside the theorem's slope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.studies import Curves
from pages.charts import figures as charts
from pages.charts.figures import COLORS, DASHES
from pages.studies.study_charts import dots

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
    band = curves.low, curves.high
    middles = [
        charts.Curve("median", curves.t, curves.middle, color, width=3.0, band=band, band_name="lowest to highest")
    ]
    if twin is not None:
        name, own = twin
        middles.append(charts.Curve(f"{name}, median", own.t, own.middle, charts.TWIN, dash="dot", width=2.5))
    return charts.line_chart([*thin, *middles], title=title, x_range=(0, n_iter))


def compared_figure(compared: Sequence[Compared], *, title: str, x_title: str, is_log_x: bool = False) -> charts.Figure:
    """Return the medians of several runs, each with the band of its seeds."""
    lines = []
    for one, color, dash in zip(compared, charts.COLORS, charts.DASHES, strict=False):
        band = (one.curves.low, one.curves.high) if len(one.curves.values) > 1 else None
        lines.append(charts.Curve(one.name, one.x, one.curves.middle, color, dash=dash, width=2.5, band=band))
    return charts.line_chart(lines, title=title, x_title=x_title, is_log_x=is_log_x)


PROMISED, MOST_THIN = "#8A949E", 60


@dataclass(frozen=True)
class WayLine:
    """One case: its name, its x values, the values of its seeds (seeds, k), their median and band, and its style."""

    name: str
    x: NDArray[np.float64]
    values: NDArray[np.float64]
    middle: NDArray[np.float64]
    band: tuple[NDArray[np.float64], NDArray[np.float64]]
    color: str
    dash: str


@dataclass(frozen=True)
class Promise:
    """A power of x that a theorem predicts, in words. Its line goes through the last decade of the first case."""

    slope: float
    words: str


def looks(groups: Sequence[str], values: Sequence[Any]) -> list[tuple[str, str]]:
    """Return a colour and a dash for each case: by its group, and by the varied number if there is one."""
    names, numbers = list(dict.fromkeys(groups)), list(dict.fromkeys(values))
    if len(numbers) < 2:
        return [
            (COLORS[names.index(group) % len(COLORS)], DASHES[names.index(group) % len(DASHES)]) for group in groups
        ]
    colors = (
        COLORS
        if len(numbers) <= len(COLORS) and any(isinstance(value, str) for value in numbers)
        else charts.sequential_colors(np.linspace(0.0, 0.85, len(numbers)).tolist())
    )
    pairs = zip(groups, values, strict=True)
    return [(colors[numbers.index(value)], DASHES[names.index(group) % len(DASHES)]) for group, value in pairs]


def ways_figure(
    lines: Sequence[WayLine],
    *,
    title: str,
    x_title: str,
    promise: Promise | None,
    bounds: Mapping[str, NDArray],
    explanation: str,
) -> charts.Figure:
    """Return the curves on logarithmic axes, with the bounds of the first case by their names."""
    thin, middles = list[charts.Curve](), list[charts.Curve]()
    has_thin = sum(len(line.values) for line in lines) <= MOST_THIN
    for line in lines:
        if has_thin and len(line.values) > 1:
            style: dict[str, Any] = {"width": 1.0, "opacity": THIN, "in_legend": False}
            thin += [charts.Curve(line.name, line.x, row, line.color, **style) for row in line.values]
        band = line.band if len(line.values) > 1 else None
        middles.append(charts.Curve(line.name, line.x, line.middle, line.color, dash=line.dash, width=3.0, band=band))
    first = lines[0]
    for (name, bound), dash in zip(bounds.items(), ("dashdot", "longdash"), strict=False):
        if np.isfinite(bound).any():
            middles.append(charts.Curve(name, first.x, bound, charts.BOUND, dash=dash, width=1.5))
    if promise is not None:
        middles.append(_promised(first.x, first.middle, promise))
    scales: dict[str, Any] = {"is_log_x": True, "is_log_y": True}
    return charts.line_chart([*thin, *middles], title=title, x_title=x_title, explanation=explanation, **scales)


def _promised(x: NDArray, y: NDArray, promise: Promise) -> charts.Curve:
    """Return the predicted slope as a line through the geometric mean of the last decade."""
    late = (x >= x[-1] / 10.0) & (y > 0)
    level = np.exp(np.mean(np.log(y[late]) - promise.slope * np.log(x[late]))) if late.any() else np.nan
    return charts.Curve(promise.words, x, level * x**promise.slope, PROMISED, dash="dot", width=2.0)


def ends_figure(
    groups: Sequence[tuple[str, NDArray, NDArray]], *, title: str, x_title: str, promise: Promise | None
) -> charts.Figure:
    """Return final values against the varied number: for each group its x (k,) and values (seeds, k), with seeds as points."""
    curves, points = list[charts.Curve](), list[dict[str, Any]]()
    for (name, x, values), color, dash in zip(groups, COLORS, DASHES, strict=False):
        curves.append(charts.Curve(name, x, np.nanmean(values, axis=0), color, dash=dash, width=2.5))
        points.append(_seeds(x, values, color))
    if promise is not None and groups:
        _, x, values = groups[0]
        curves.append(_promised(x, np.nanmean(values, axis=0), promise))
    figure = charts.line_chart(curves, title=title, x_title=x_title, is_log_x=True, is_log_y=True)
    figure["data"] = points + figure["data"]
    ticks = sorted({float(v) for _, x, _ in groups for v in x})
    figure["layout"]["xaxis"] |= {"tickvals": ticks, "ticktext": [f"{v:g}" for v in ticks]}
    return figure


def _seeds(x: NDArray, values: NDArray, color: str) -> dict[str, Any]:
    marker = {"color": color, "size": 5, "opacity": 0.5}
    return dots("seeds", np.tile(x, len(values)).tolist(), charts.four_digits(values.ravel()), marker) | {
        "showlegend": False
    }
