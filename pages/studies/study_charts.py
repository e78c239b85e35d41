"""Charts of a study: lines with a band, a map with contour lines, slices. Diverged runs never stretch
an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.studies.results import MEASURES, Results
from pages.charts import figures as charts
from pages.charts.figures import Figure


def short_number(value: float) -> str:
    """Return a number as text for a tick or a table."""
    return f"{value:.3g}"


@dataclass(frozen=True)
class AxisView:
    """The view of one axis of a study: its name, its values in order, and True for a logarithmic scale."""

    label: str
    values: tuple[Any, ...]
    is_log: bool

    @property
    def is_words(self) -> bool:
        """True if the values are words."""
        return any(isinstance(value, str) for value in self.values)

    def places(self, column: Sequence[Any]) -> NDArray[np.float64]:
        """Return the places of values between the axis' ends, 0 and 1."""
        if self.is_words:
            at = np.array([self.values.index(value) for value in column], dtype=float)
            return at / max(len(self.values) - 1, 1)
        scale = np.log if self.is_log else np.asarray
        low, high = scale(float(min(self.values))), scale(float(max(self.values)))
        return (scale(np.array(column, dtype=float)) - low) / ((high - low) or 1.0)

    def text(self, value: Any) -> str:
        """Return a value as text for a tick."""
        return value if isinstance(value, str) else short_number(float(value))


def axis_of(label: str, values: tuple[Any, ...], *, is_log: bool) -> AxisView:
    """Return the view of an axis; numbers are sorted."""
    is_words = any(isinstance(value, str) for value in values)
    return AxisView(label, values if is_words else tuple(sorted(values)), is_log and not is_words)


DIVERGED_COLOR = "#8A949E"
MEAN_COLOR = "#0072B2"
# Height of the marks of diverged runs, as a share of the chart's height.
FOOT = 0.03
MOST_TICKS = 9


def title_of(results: Results, name: str) -> str:
    """Return the title: the measure, and the number of seeds."""
    n = len(results.study.seeds)
    return f"{name}, mean of {n} seeds" if n > 1 else name


def lines(results: Results, axis: AxisView, *, name: str, chosen: int | None) -> charts.Figure:
    """Return the means along one axis, with a band from the lowest to the highest seed."""
    column = [point[0] for point in results.points]
    order = np.argsort(axis.places(column), kind="stable")
    x = np.array(column, dtype=object if axis.is_words else float)[order]
    traces = _band(x, results.low[order], results.high[order]) if len(results.study.seeds) > 1 else []
    said = [_said(results, axis_texts([axis], results.points[i]), i) for i in order]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "mean",
            "x": x.tolist(),
            "y": charts.four_digits(results.mean[order]),
            "line": {"color": MEAN_COLOR},
            "marker": {"color": MEAN_COLOR, "size": 8},
            "customdata": order.tolist(),
            "text": said,
            "hovertemplate": "%{text}<extra></extra>",
        }
    )
    traces += _feet(x, results.n_diverged[order], len(results.study.seeds)) + limit_on_lines(results)
    figure = charts.plain_figure(traces, title=title_of(results, name))
    figure["layout"] |= {
        "xaxis": value_axis(axis),
        "yaxis": {"title": {"text": name}, "exponentformat": "e", **_from_zero(results)},
        "yaxis2": {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True},
    }
    if chosen is not None and np.isfinite(results.mean[chosen]):
        figure["data"].append(_chosen_mark(results.points[chosen][0], float(results.mean[chosen])))
    return figure


def _from_zero(results: Results) -> dict[str, Any]:
    """Return the setting of an axis that begins at 0, for an error."""
    return {"rangemode": "tozero"} if results.measure == MEASURES["error"] else {}


def _band(x: NDArray, low: NDArray, high: NDArray) -> list[dict[str, Any]]:
    if x.dtype == object:
        return []
    return charts.band_of(
        charts.Curve("mean", x, low, MEAN_COLOR, band=(low, high), band_name="lowest to highest seed")
    )


def _feet(x: NDArray, n_diverged: NDArray, n_seeds: int) -> list[dict[str, Any]]:
    """Return the marks of diverged runs at the bottom of the chart, on a separate axis."""
    some = n_diverged > 0
    if not some.any():
        return []
    text = [f"{n} of {n_seeds} seeds diverged" for n in n_diverged[some]]
    marker = {"symbol": "x", "color": DIVERGED_COLOR, "size": 9}
    feet = [FOOT] * int(some.sum())
    return [dots("diverged", x[some].tolist(), feet, marker) | said_at(text) | {"yaxis": "y2"}]


def dots(name: str, x: Sequence[Any], y: Sequence[Any], marker: dict[str, Any]) -> dict[str, Any]:
    """Return points as a trace that says nothing when pointed at."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": list(x),
        "y": list(y),
        "marker": marker,
        "hoverinfo": "skip",
    }


def said_at(text: Sequence[str]) -> dict[str, Any]:
    """Return the entries of a trace that says a text at each point."""
    return {"text": list(text), "hovertemplate": "%{text}<extra></extra>", "hoverinfo": "all"}


def _chosen_mark(x: Any, y: float) -> dict[str, Any]:
    marker = {"symbol": "circle-open", "size": 16, "color": "#E69F00", "line": {"width": 2.5, "color": "#E69F00"}}
    return dots("chosen", [x], charts.four_digits(np.array([y])), marker)


def axis_texts(axes: Sequence[AxisView], point: Sequence[Any]) -> str:
    """Return a point as text: each axis with its value."""
    return ", ".join(f"{axis.label} {axis.text(value)}" for axis, value in zip(axes, point, strict=True))


def _said(results: Results, point: str, place: int) -> str:
    mean, n, diverged = results.mean[place], results.n[place], results.n_diverged[place]
    parts = [point]
    if n:
        error = f" ± {short_number(results.error[place])}" if n > 1 else ""
        parts.append(f"{mean:.4g}{error} ({n} seed{'s' if n > 1 else ''})")
    if diverged:
        parts.append(f"{diverged} diverged")
    return "<br>".join(parts)


def heat_map(results: Results, axes: Sequence[AxisView], *, name: str, chosen: int | None) -> charts.Figure:
    """Return the means over two crossed axes as cells with contour lines; diverged cells are grey and crossed out."""
    across, up = axes
    place = {point: i for i, point in enumerate(results.points)}
    cells = np.array([[place[(a, b)] for a in across.values] for b in up.values])
    mean, diverged = results.mean[cells], results.n_diverged[cells]
    said = [[_said(results, axis_texts(axes, results.points[i]), i) for i in row] for row in cells]
    low_is_good = not results.measure.is_better_high
    heat = {
        "type": "heatmap",
        "z": charts.four_digits(mean),
        "text": said,
        "customdata": cells.tolist(),
        "hovertemplate": "%{text}<extra></extra>",
        "colorscale": charts.SEQUENTIAL,
        "reversescale": low_is_good,
        "colorbar": charts.COLORBAR,
        **({"zmin": 0.0, "zmax": charts.farthest(mean, 0.0)} if _from_zero(results) else {}),
        "xgap": 1,
        "ygap": 1,
    }
    traces = [heat]
    if min(mean.shape) > 1 and np.isfinite(mean).sum() > 3:
        traces.append(_iso_lines(mean))
    traces += _crosses(cells, diverged, said, len(results.study.seeds))
    traces += limit_on_cells(results, (across.values, up.values), cells)
    if chosen is not None:
        (row,), (column,) = np.nonzero(cells == chosen)
        traces.append(_chosen_mark(int(column), float(row)))
    figure = charts.plain_figure(traces, title=title_of(results, name))
    note = "× all seeds diverged, + some" if (diverged > 0).any() else ""
    figure["layout"] |= {"xaxis": _cell_axis(across), "yaxis": _cell_axis(up), "meta": {"note": note}}
    return figure


def _iso_lines(mean: NDArray) -> dict[str, Any]:
    return {
        "type": "contour",
        "z": charts.four_digits(mean),
        "contours": {"coloring": "none", "showlabels": True, "labelfont": {"size": 11, "color": "white"}},
        "line": {"color": "white", "width": 1},
        "ncontours": 6,
        "showscale": False,
        "hoverinfo": "skip",
        "name": "iso-lines",
        "showlegend": False,
    }


def _crosses(cells: NDArray, diverged: NDArray, said: list[list[str]], n_seeds: int) -> list[dict[str, Any]]:
    traces = []
    # A light rim, so that the dark mark is seen on dark and on light cells.
    rim = {"width": 1, "color": charts.INK["dark"]}
    of_all = {"symbol": "x", "color": DIVERGED_COLOR, "line": {"width": 2, "color": DIVERGED_COLOR}}
    of_some = {"symbol": "cross", "color": charts.INK["light"], "line": rim}
    for name, which, mark in (
        ("all seeds diverged", diverged >= n_seeds, of_all),
        ("some seeds diverged", (diverged > 0) & (diverged < n_seeds), of_some),
    ):
        rows, columns = np.nonzero(which)
        if len(rows):
            text = [said[r][c] for r, c in zip(rows, columns, strict=True)]
            own = {"customdata": cells[rows, columns].tolist(), "showlegend": False}
            marks = dots(name, columns.tolist(), rows.tolist(), {"size": 10, **mark})
            traces.append(marks | said_at(text) | own)
    return traces


def value_axis(axis: AxisView) -> dict[str, Any]:
    """Return an axis on its own scale, with ticks at values of the study."""
    title = {"title": {"text": axis.label}}
    if axis.is_words:
        return {"type": "category", **title}
    some = axis.values[:: -(-len(axis.values) // MOST_TICKS)]
    ticks = {"tickvals": list(some), "ticktext": [axis.text(value) for value in some]}
    return {"type": "log" if axis.is_log else "linear", **ticks, **title}


def _cell_axis(axis: AxisView) -> dict[str, Any]:
    n = len(axis.values)
    step = -(-n // MOST_TICKS)
    return {
        "title": {"text": axis.label},
        "tickvals": list(range(0, n, step)),
        "ticktext": [axis.text(value) for value in axis.values[::step]],
        "range": [-0.5, n - 0.5],
        "showgrid": False,
        "zeroline": False,
    }


def slice_of(results: Results, number: int, axis: AxisView, *, name: str) -> charts.Figure:
    """Return all points over one axis, and the best point at each of its values."""
    column = [point[number] for point in results.points]
    known = np.isfinite(results.mean)
    x = [value for value, is_known in zip(column, known, strict=True) if is_known]
    points = dots("each point", x, charts.four_digits(results.mean[known]), {"color": DIVERGED_COLOR, "size": 5})
    points |= {"opacity": 0.7, "hoverinfo": "x+y"}
    best = _best_at(results, column, axis)
    figure = charts.plain_figure([points, best], title=axis.label)
    figure["layout"] |= {
        "xaxis": value_axis(axis),
        "yaxis": {"title": {"text": name}, "exponentformat": "e"},
    }
    return figure


def _best_at(results: Results, column: list[Any], axis: AxisView) -> dict[str, Any]:
    choose = np.nanmax if results.measure.is_better_high else np.nanmin
    found = []
    for value in axis.values:
        here = results.mean[[c == value for c in column]]
        if np.isfinite(here).any():
            found.append((value, float(choose(here))))
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "the best with this value",
        "x": [value for value, _ in found],
        "y": charts.four_digits(np.array([best for _, best in found])),
        "line": {"color": MEAN_COLOR},
        "marker": {"color": MEAN_COLOR, "size": 6},
    }


STEP = "solver.step_size"
NAME = "diverges above"
COLOR = "#D55E00"
LINE = {"color": COLOR, "width": 2, "dash": "dash"}


def limit_on_lines(results: Results) -> list[dict[str, Any]]:
    """Return the limit as a vertical line over the only axis; return nothing if that is not the step, or does not reach the
    limit."""
    (axis,) = results.study.axes
    known = results.step_limit[np.isfinite(results.step_limit)]
    if axis.name != STEP or not len(known):
        return []
    limit, steps = float(known.mean()), _numbers(axis.values)
    if not len(steps) or not steps.min() <= limit <= steps.max():
        return []
    return [_trace([limit, limit], [0.0, 1.0]) | {"yaxis": "y2"}]


def limit_on_cells(results: Results, values: Sequence[Sequence[Any]], cells: NDArray) -> list[dict[str, Any]]:
    """Return the limit as a line through the cells of a map, in one piece for each value of the other axis.

    Parameters
    ----------
    results : Results
        Results with two axes.
    values : two sequences
        Values of the axes in the order of the cells, across and up.
    cells : ndarray of int, shape (up, across)
        Places of the points.
    """
    names = [axis.name for axis in results.study.axes]
    if STEP not in names:
        return []
    is_across = names.index(STEP) == 0
    steps, limits = _numbers(values[0 if is_across else 1]), results.step_limit[cells if is_across else cells.T]
    along: list[float | None] = []
    beside: list[float | None] = []
    for number, row in enumerate(limits):
        known = row[np.isfinite(row)]
        if len(known) and len(steps) == len(row) and steps[0] <= known.mean() <= steps[-1]:
            place = float(np.interp(np.log(known.mean()), np.log(steps), np.arange(len(steps))))
            along, beside = [*along, place, place], [*beside, number - 0.5, number + 0.5]
        else:
            along, beside = [*along, None], [*beside, None]
    if not any(place is not None for place in along):
        return []
    return [_trace(along, beside) if is_across else _trace(beside, along)]


def has_limit(figure: Figure) -> bool:
    """Return True if a figure shows the limit."""
    return any(trace.get("name") == NAME for trace in figure["data"])


def _numbers(values: Sequence[Any]) -> NDArray:
    """Return the step sizes that are numbers, without "auto"."""
    return np.array([value for value in values if isinstance(value, int | float)], dtype=float)


def _trace(x: Sequence[float | None], y: Sequence[float | None]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": NAME,
        "x": list(x),
        "y": list(y),
        "line": LINE,
        "hovertemplate": "stability limit: diverges above<extra></extra>",
        "showlegend": True,
    }
