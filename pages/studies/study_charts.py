"""Charts of a study's points: lines, a map, parallel axes, slices, the importance of its axes, and contours over two of them.

Diverged runs never stretch an axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import per_cent
from dsgcore.studies import MEASURES, Importance, Response, Results, Study
from dsgcore.studies.results import EVALUATIONS, ITERATIONS
from dsgcore.studies.study import parameter_of
from pages.charts import figures as charts
from pages.charts.figures import Figure, dots, four_digits
from pages.shell.plain_text import short_number
from pages.studies.differing import said_mean

DIVERGED_COLOR, MEAN_COLOR, CHOSEN_COLOR = "#8A949E", "#0072B2", "#E69F00"
MOST_TICKS = 9
# What curves are drawn over; seconds are measured in one way on Pinned runs and in another on Convergence.
X_TITLES = {ITERATIONS: "iteration t", EVALUATIONS: "random features × points in mini-batches"}
FOOT = 0.03  # height of the marks of diverged runs, as a share of the chart's height
STEP, LIMIT = "solver.step_size", "diverges above"  # the axis of the stability limit, and the name of its line
N_COLORS, MOST_CURVES = 12, 2000  # of parallel axes
Trace = dict[str, Any]


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

    def numbers(self, values: Iterable[Any]) -> NDArray[np.float64]:
        """Return values as numbers; a word is the number of its place."""
        return np.array([self.values.index(value) if self.is_words else value for value in values], dtype=float)

    def shares(self, values: Iterable[Any]) -> NDArray[np.float64]:
        """Return the places of values between the axis' ends, 0 and 1."""
        low, high, *places = (np.log if self.is_log else np.asarray)(
            self.numbers([self.values[0], self.values[-1], *values])
        )
        return (np.array(places) - low) / ((high - low) or 1.0)

    def text(self, value: Any) -> str:
        """Return a value as text for a tick."""
        return value if isinstance(value, str) else short_number(float(value))

    def some(self) -> tuple[Any, ...]:
        """Return the values that have a tick."""
        return self.values[:: -(-len(self.values) // MOST_TICKS)]

    def layout(self) -> Trace:
        """Return the axis of a chart on its own scale."""
        ticks = {"tickvals": self.numbers(self.some()).tolist(), "ticktext": [*map(self.text, self.some())]}
        return {"type": "log" if self.is_log else "linear", **ticks, "title": {"text": self.label}}


def axes_of(study: Study) -> list[AxisView]:
    """Return the views of a study's axes; numbers are sorted."""
    views = []
    for axis in study.axes:
        p, values, is_log = parameter_of(study.spec, axis.name), axis.values, False
        if not any(isinstance(value, str) for value in values):
            values, is_log = tuple(sorted(values)), getattr(p, "scale", "linear") != "linear"
        views.append(AxisView(p.label or p.name, values, is_log))
    return views


def point_text(axes: Sequence[AxisView], point: Sequence[Any]) -> str:
    """Return a point as text: each axis with its value."""
    return ", ".join(f"{axis.label} {axis.text(value)}" for axis, value in zip(axes, point, strict=True))


def _figure(traces: list[Trace], title: str, **layout: Any) -> Figure:
    figure = charts.plain_figure(traces, title=title)
    figure["layout"] |= layout
    return figure


def _title(results: Results, name: str) -> str:
    n = len(results.study.seeds)
    return f"{name}, mean of {n} seeds" if n > 1 else name


def _is_error(results: Results) -> bool:
    return results.measure == MEASURES["error"]  # the axis of which begins at 0


def _said(results: Results, axes: Sequence[AxisView], place: int) -> str:
    """Return a point, its mean and the number of seeds that diverged, as text for the pointer."""
    n, diverged = results.n[place], results.n_diverged[place]
    score = [f"{said_mean(results, place)} ({n} seed{'s' if n > 1 else ''})"] * bool(n)
    return "<br>".join([point_text(axes, results.points[place]), *score, *[f"{diverged} diverged"] * bool(diverged)])


def _chosen(x: float, y: float) -> Trace:
    marker = {"symbol": "circle-open", "size": 16, "color": CHOSEN_COLOR}
    return dots("chosen", [x], four_digits(np.array([y])), marker | {"line": {"width": 2.5, "color": CHOSEN_COLOR}})


def _limit(x: Sequence[float | None], y: Sequence[float | None], **more: Any) -> Trace:
    line = {"color": charts.NEGATIVE, "width": 2, "dash": "dash"}
    hover = "stability limit: diverges above<extra></extra>"
    return dots(LIMIT, x, y, {}, hovertemplate=hover, hoverinfo="all", mode="lines", line=line, **more)


def _mean_limit(results: Results, places: Any, steps: Sequence[Any]) -> float | None:
    """Return the mean stability limit of some points, or None if it is unknown or does not lie between the steps."""
    known = results.step_limit[places]
    known, numbers = known[np.isfinite(known)], [step for step in steps if isinstance(step, int | float)]
    limit = float(known.mean()) if len(known) else np.nan
    return limit if numbers and min(numbers) <= limit <= max(numbers) else None


def lines(results: Results, axis: AxisView, *, name: str, chosen: int | None) -> Figure:
    """Return the means along one axis, with a band from the lowest to the highest seed."""
    x = axis.numbers(point[0] for point in results.points)
    order, n_seeds = np.argsort(x, kind="stable"), len(results.study.seeds)
    band = (results.low[order], results.high[order]) if n_seeds > 1 else None
    named: dict[str, Any] = {"band": band, "band_name": "lowest to highest seed"}
    curve = charts.Curve("mean", x[order], results.mean[order], MEAN_COLOR, **named)
    said, marker = [_said(results, [axis], i) for i in order], {"color": MEAN_COLOR, "size": 8}
    style = {"mode": "lines+markers", "line": {"color": MEAN_COLOR}, "customdata": order.tolist()}
    traces = [*charts.band_of(curve), dots("mean", curve.x.tolist(), four_digits(curve.y), marker, said, **style)]
    if (gone := order[results.n_diverged[order] > 0]).size:
        feet, cross = [FOOT] * len(gone), {"symbol": "x", "color": DIVERGED_COLOR, "size": 9}
        text = [f"{results.n_diverged[i]} of {n_seeds} seeds diverged" for i in gone]
        traces.append(dots("diverged", x[gone].tolist(), feet, cross, text, yaxis="y2"))
    is_step = results.study.axes[0].name == STEP
    if is_step and (limit := _mean_limit(results, slice(None), axis.values)) is not None:
        traces.append(_limit([limit, limit], [0.0, 1.0], yaxis="y2"))
    if chosen is not None and np.isfinite(results.mean[chosen]):
        traces.append(_chosen(float(x[chosen]), float(results.mean[chosen])))
    of_values = {"title": {"text": name}, "exponentformat": "e"}
    of_values |= {"rangemode": "tozero"} if _is_error(results) else {}
    of_marks = {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True}
    return _figure(traces, _title(results, name), xaxis=axis.layout(), yaxis=of_values, yaxis2=of_marks)


def heat_map(results: Results, axes: Sequence[AxisView], *, name: str, chosen: int | None) -> Figure:
    """Return the means over two crossed axes as cells with contour lines; diverged cells are grey and crossed out."""
    across, up = axes
    place = {point: i for i, point in enumerate(results.points)}
    cells = np.array([[place[(a, b)] for a in across.values] for b in up.values])
    mean, diverged, n_seeds = results.mean[cells], results.n_diverged[cells], len(results.study.seeds)
    said = [[_said(results, axes, i) for i in row] for row in cells]
    heat = {"type": "heatmap", "z": four_digits(mean), "text": said, "customdata": cells.tolist(), "xgap": 1, "ygap": 1}
    heat |= {"hovertemplate": "%{text}<extra></extra>", "colorscale": charts.SEQUENTIAL, "colorbar": charts.COLORBAR}
    heat |= {"reversescale": not results.measure.is_better_high, "showscale": not results.are_equal}
    traces = [heat | ({"zmin": 0.0, "zmax": charts.farthest(mean, 0.0)} if _is_error(results) else {})]
    if min(mean.shape) > 1 and np.isfinite(mean).sum() > 3:
        labels = {"coloring": "none", "showlabels": True, "labelfont": {"size": 11, "color": "white"}}
        lines = {"type": "contour", "z": four_digits(mean), "contours": labels, "line": {"color": "white", "width": 1}}
        more = {"ncontours": 6, "showscale": False, "hoverinfo": "skip", "name": "iso-lines", "showlegend": False}
        traces.append(lines | more)
    # A light rim, so that the dark mark is seen on dark and on light cells.
    rim = {"width": 1, "color": charts.INK["dark"]}
    of_all = {"symbol": "x", "color": DIVERGED_COLOR, "line": {"width": 2, "color": DIVERGED_COLOR}}
    of_some = {"symbol": "cross", "color": charts.INK["light"], "line": rim}
    for what, which, mark in (
        ("all seeds diverged", diverged >= n_seeds, of_all),
        ("some seeds diverged", (diverged > 0) & (diverged < n_seeds), of_some),
    ):
        rows, columns = np.nonzero(which)
        if len(rows):
            text, own = [said[r][c] for r, c in zip(rows, columns, strict=True)], cells[rows, columns].tolist()
            marker = {"size": 10, **mark}
            traces.append(dots(what, columns.tolist(), rows.tolist(), marker, text, customdata=own, showlegend=False))
    traces += _limit_on_cells(results, axes, cells)
    if chosen is not None:
        (row,), (column,) = np.nonzero(cells == chosen)
        traces.append(_chosen(float(column), float(row)))

    def layout(axis: AxisView) -> Trace:
        at, n = [axis.values.index(value) for value in axis.some()], len(axis.values)
        lines = {"range": [-0.5, n - 0.5], "showgrid": False, "zeroline": False}
        return axis.layout() | {"type": "linear", "tickvals": at, **lines}

    note = "× all seeds diverged, + some" if (diverged > 0).any() else ""
    return _figure(traces, _title(results, name), xaxis=layout(across), yaxis=layout(up), meta={"note": note})


def _limit_on_cells(results: Results, axes: Sequence[AxisView], cells: NDArray) -> list[Trace]:
    """Return the limit as a line through the cells, in one piece for each value of the axis that is not the step's."""
    names = [axis.name for axis in results.study.axes]
    if STEP not in names:
        return []
    is_across = names.index(STEP) == 0
    steps, along, beside = axes[names.index(STEP)].values, list[float | None](), list[float | None]()
    for number, row in enumerate(cells if is_across else cells.T):
        limit = _mean_limit(results, row, steps)
        place = None if limit is None else float(np.interp(np.log(limit), np.log(steps), np.arange(len(steps))))
        along += [None] if place is None else [place, place]
        beside += [None] if place is None else [number - 0.5, number + 0.5]
    if all(place is None for place in along):
        return []
    return [_limit(along, beside) if is_across else _limit(beside, along)]


def parallel(
    results: Results, axes: Sequence[AxisView], *, name: str, is_kept: NDArray[np.bool_], chosen: int | None
) -> Figure:
    """Return each point as a line across its axes to its mean. Unselected lines are grey, and diverged ones end before the
    mean."""
    known, is_gone = np.isfinite(results.mean), results.n_diverged >= len(results.study.seeds)
    means = results.mean[known]
    low, high = (float(means.min()), float(means.max())) if len(means) else (0.0, 1.0)
    heights = [axis.shares(point[i] for point in results.points) for i, axis in enumerate(axes)]
    columns = np.vstack([*heights, (results.mean - low) / ((high - low) or 1.0)])
    shown, gone = np.flatnonzero(known)[:MOST_CURVES], np.flatnonzero(is_gone)[:MOST_CURVES]
    # The selected lines have a few colours of the map's scale by their mean, and the best are drawn last.
    worth = columns[-1] if results.measure.is_better_high else 1.0 - columns[-1]
    colors = charts.sequential_colors(np.linspace(0.0, 0.95, N_COLORS).tolist())
    steps = np.minimum((np.where(known, worth, 0.0) * N_COLORS).astype(int), N_COLORS - 1)
    groups = [(columns, shown[~is_kept[shown]], DIVERGED_COLOR, 0.25, "not selected", 1.0, "solid")]
    groups += [
        (columns, shown[is_kept[shown] & (steps[shown] == step)], color, 0.8, "", 1.5, "solid")
        for step, color in enumerate(colors)
    ]
    groups += [(columns[:-1], gone, DIVERGED_COLOR, 0.5, "diverged", 1.0, "dot")]
    groups += [] if chosen is None else [(columns, np.array([chosen]), CHOSEN_COLOR, 1.0, "chosen", 3.5, "solid")]
    scales = [list(zip(axis.shares(axis.some()), map(axis.text, axis.some()), strict=True)) for axis in axes]
    scales.append([(share, short_number(low + share * (high - low))) for share in (0, 0.25, 0.5, 0.75, 1)])
    look = {"showarrow": False, "xanchor": "right", "xshift": -4, "font": {"size": 11}}
    look |= {"templateitemname": "on ground", "visible": True}  # lines pass behind the text (charts/browser/chart.js)
    names = [*(axis.label for axis in axes), name]
    ticks = {"tickvals": list(range(len(names))), "ticktext": names, "range": [-0.25, len(axes) + 0.35]}
    return _figure(
        [_curves(*group) for group in groups if len(group[1])],
        _title(results, name),
        xaxis=ticks | {"zeroline": False, "gridwidth": 2},
        yaxis={"visible": False, "range": [-0.06, 1.06]},
        annotations=[{"x": i, "y": float(y), "text": t, **look} for i, scale in enumerate(scales) for y, t in scale],
        hovermode="closest",
    )


def _curves(columns: NDArray, which: NDArray, color: str, opacity: float, name: str, width: float, dash: str) -> Trace:
    heights = np.full((len(which), len(columns) + 1), np.nan)
    heights[:, :-1] = columns[:, which].T
    x, y = np.tile([*range(len(columns)), len(columns) - 1], len(which)).tolist(), four_digits(heights.ravel())
    style = {"line": {"color": color, "width": width, "dash": dash}, "opacity": opacity, "connectgaps": False}
    return dots(name, x, y, {}) | {"mode": "lines", "showlegend": bool(name), **style}


def slice_of(results: Results, number: int, axis: AxisView, *, name: str) -> Figure:
    """Return all points over one axis, and the best point at each of its values."""
    known = np.isfinite(results.mean)
    x, y = axis.numbers(point[number] for point in results.points)[known], results.mean[known]
    found = np.unique(x)
    best = [(y[x == at].max if results.measure.is_better_high else y[x == at].min)() for at in found]
    style = {"mode": "lines+markers", "line": {"color": MEAN_COLOR}, "hoverinfo": "all"}
    traces = [
        dots("each point", x, four_digits(y), {"color": DIVERGED_COLOR, "size": 5}, opacity=0.7) | {"hoverinfo": "x+y"},
        dots("the best with this value", found, four_digits(np.array(best)), {"color": MEAN_COLOR, "size": 6}) | style,
    ]
    return _figure(traces, axis.label, xaxis=axis.layout(), yaxis={"title": {"text": name}, "exponentformat": "e"})


def importance_figure(found: Importance, labels: Sequence[str], *, title: str) -> Figure:
    """Return a bar for each axis, the most important one on top, with whiskers over the splits."""
    order = np.argsort(found.mean, kind="stable")
    (low, high), mean = 100 * np.array(found.ends), 100 * found.mean
    whiskers = {"array": four_digits((high - mean)[order]), "arrayminus": four_digits((mean - low)[order])}
    bars: Trace = {"type": "bar", "orientation": "h", "y": [labels[i] for i in order], "x": four_digits(mean[order])}
    bars |= {"marker": {"color": MEAN_COLOR}, "hovertemplate": "%{y}: %{x:.0f} %<extra></extra>"}
    bars["error_x"] = {"type": "data", "symmetric": False, "color": DIVERGED_COLOR, **whiskers}
    places = range(0, 101, 25)
    share = {"title": {"text": "share"}, "tickvals": [*places], "ticktext": [per_cent(at / 100) for at in places]}
    share |= {"range": [0, 102]}
    return _figure([bars], title, xaxis=share, yaxis={"automargin": True})


def contour_figure(
    found: Response, results: Results, axes: tuple[AxisView, AxisView], places: tuple[int, int], *, name: str
) -> Figure:
    """Return filled contours of a response, with the study's points on them."""
    across, up = (axis.numbers(values).tolist() for axis, values in zip(axes, (found.across, found.up), strict=True))
    surface = {"type": "contour", "x": across, "y": up, "z": four_digits(found.values), "ncontours": 12}
    surface |= {"colorscale": charts.SEQUENTIAL, "reversescale": not results.measure.is_better_high}
    traces = [surface | {"colorbar": charts.COLORBAR, "hovertemplate": "%{z:.4g}<extra></extra>"}]
    white = {"color": "white", "size": 5, "line": {"color": "black", "width": 1}}
    for what, which, marker in (
        ("points", np.isfinite(results.mean), white),
        ("diverged", results.n_diverged >= len(results.study.seeds), {"symbol": "x", "color": DIVERGED_COLOR}),
    ):
        shown = [results.points[i] for i in np.flatnonzero(which)]
        x, y = (axis.numbers(point[i] for point in shown) for axis, i in zip(axes, places, strict=True))
        traces += [dots(what, x, y, marker)] * bool(shown)

    def layout(axis: AxisView) -> Trace:
        """Return an axis from the lowest to the highest value. Many values have ticks of their own choice."""
        if axis.is_words or len(axis.values) <= MOST_TICKS:
            return axis.layout()
        ends = axis.numbers([axis.values[0], axis.values[-1]])
        kind = {"type": "log" if axis.is_log else "linear", "title": {"text": axis.label}}
        span = (np.log10(ends) if axis.is_log else ends).tolist()
        return {**kind, "range": span, "nticks": MOST_TICKS, "showgrid": False}

    return _figure(traces, f"{name}: mean prediction", xaxis=layout(axes[0]), yaxis=layout(axes[1]))
