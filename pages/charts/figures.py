"""Histories and surfaces as plotly figures, from plain data to plain data. A colour has one meaning in the whole app."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.glossary import meaning
from dsgcore.settings.panels import Mark

_POWERS = np.array([float(10**k) for k in range(23)])


def four_digits(values: NDArray) -> list[Any]:
    """Return numbers with four digits, in lists nested like the array; None for values that are not finite.

    A power of ten up to 10^22 is exact, so the product or quotient of whole digits and a power is rounded only once, like
    text that is read. Very small and very large numbers are not sure to be the nearest ones, nor are numbers near the middle
    between two results: those are rounded as text.
    """
    values = np.asarray(values, dtype=np.float64)
    is_usual = (np.abs(values) >= 1e-18) & (np.abs(values) < 1e25)
    size = np.where(is_usual, np.abs(values), 1.0)
    shift = 3 - np.floor(np.log10(size)).astype(int)
    power = _POWERS[np.abs(shift)]
    scaled = np.where(shift > 0, size * power, size / power)
    digits = np.rint(scaled)
    short = np.where(shift > 0, digits / power, digits * power)
    is_sure = is_usual & (scaled >= 1000) & (scaled < 10000) & (np.abs(scaled - digits) < 0.5 - 1e-9)
    short, is_sure = np.copysign(np.where(is_usual, short, 0.0), values), is_sure | (values == 0)
    if is_sure.all():
        return short.tolist()
    plain = short.astype(object)
    plain[~is_sure] = [float(f"{v:.4g}") if np.isfinite(v) else None for v in values[~is_sure]]
    return plain.tolist()


# Width of a character in a mark's name, as a share of the width of a phone's chart, and the largest number of steps between ticks.
CHARACTER, MAX_STEPS = 7 / 300, 6


def ticks_to(end: float, *, is_log: bool = False) -> dict[str, Any]:
    """Return the ticks of an axis from its start (0, or 1 on a log axis) to the last iteration. The last iteration is
    always a tick."""
    if is_log:
        regular = [10**k for k in range(int(np.log10(end)) + 1) if 10**k <= end / 2]
    else:
        size = 10.0 ** np.floor(np.log10(end / MAX_STEPS))
        step = max(1, next(int(digit * size) for digit in (1, 2, 5, 10) if digit * size * MAX_STEPS >= end))
        regular = [t for t in range(0, int(end), step) if t <= end - step / 2]
    return {"tickvals": [*regular, end], "ticktext": [f"{t:,.0f}" for t in (*regular, end)]}


def value_axis(columns: Sequence[NDArray], *, is_log: bool) -> dict[str, Any]:
    """Return the axis of the values; it shows no numbers if no value is finite."""
    kind = "log" if is_log else "linear"
    axis: dict[str, Any] = {"type": kind, "exponentformat": "e", "nticks": 6}  # "power" takes more room
    if not any(np.isfinite(column).any() for column in columns):
        return axis | {"showticklabels": False}  # plotly would invent numbers
    if not is_log:
        return axis
    # Ticks are at whole decades, about five of them; at 1 and 3 of fewer than two, and at 1, 2 and 5 of less than one.
    values = np.concatenate(columns)
    values = values[np.isfinite(values) & (values > 0)]
    low, high = (np.log10(values.min()), np.log10(values.max())) if len(values) else (0.0, 1.0)
    if high - low >= 2:
        return axis | {"dtick": max(1, int(np.ceil((high - low) / 5)))}
    decades = range(int(np.floor(low)) - 1, int(np.ceil(high)) + 1)
    some = [float(f"{digit}e{k}") for k in decades for digit in ((1, 3) if high - low >= 1 else (1, 2, 5))]
    return axis | {"tickvals": some, "ticktext": [f"{v:g}" for v in some]}


def line_at(x: float) -> dict[str, Any]:
    """Return a vertical line through the plot."""
    line = {"color": "#8A949E", "width": 1, "dash": "dot"}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": line}


def names_of(marks: Sequence[Mark], x_range: tuple[float, float], *, is_log: bool) -> list[dict[str, Any]]:
    """Return the names of the marks above the plot; of marks whose names would overlap, the first and the number of the others."""
    low, high = (np.log10(v) if is_log else v for v in x_range)
    made, end, n_more = list[dict[str, Any]](), -np.inf, 0
    for mark in marks:
        place = float(np.log10(mark.x)) if is_log else mark.x
        share, width = (place - low) / (high - low), CHARACTER * len(f"{mark.name} +9")
        is_left = share < 0.5
        if (share if is_left else share - width) < end:
            n_more += 1
            made[-1]["text"] = f"{made[-1]['text'].removesuffix(f' +{n_more - 1}')} +{n_more}"
            continue
        end, n_more = (share + width if is_left else share), 0
        at = {"x": place, "xanchor": "left" if is_left else "right", "yref": "paper", "y": 1.0, "yanchor": "bottom"}
        made.append({"text": mark.name, **at, "showarrow": False})
    return made


Figure = dict[str, Any]
Frame = tuple[tuple[float, float], tuple[float, float]]

# The colours of Okabe and Ito, which colour-blind readers can distinguish. Dash and marker differ as well.
POSITIVE, NEGATIVE, UNLABELED = "#0072B2", "#D55E00", "#8A949E"
TWIN, EXACT, BOUND, PREDICTED = "#009E73", "#CC79A7", "#8A949E", "#56B4E9"
# For several curves without a role: the same colours in an order that is easy to distinguish.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A949E", "#7A3B00")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "solid", "dash", "dot")
INK = {"light": "#1F2933", "dark": "#E4E9EE"}
GROUND = {"light": "#FFFFFF", "dark": "#14191F"}
MAX_POINTS_PER_TRACE = 400
MAX_DATA_POINTS = 1200
GHOST = 0.25
ITERATION = "iteration t"
ROW = 14  # pixels of a line of text
# Distance below the axis at which the first tick's text does not touch the lowest text at the left.
CLEAR_OF_CORNER = {"ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)"}


@dataclass(frozen=True)
class Curve:
    """One line of a chart: its name, its points, its style, and the band around it, in the legend if it has a name."""

    name: str
    x: NDArray
    y: NDArray
    color: str
    dash: str = "solid"
    width: float = 2.0
    opacity: float = 1.0
    in_legend: bool = True
    sentence: str = ""  # explanation in the legend; if empty, the glossary's
    band: tuple[NDArray, NDArray] | None = None
    band_name: str = ""


def thinned(x: NDArray, y: NDArray, limit: int = MAX_POINTS_PER_TRACE) -> tuple[NDArray, NDArray]:
    """Return at most `limit` points of a curve: the lowest and the highest of each stretch, so that no peak is lost."""
    if len(x) <= limit:
        return x, y
    edges = np.linspace(0, len(x), limit // 2 + 1).astype(int)
    first, end = edges[:-1, None], edges[1:, None]
    # Stretches differ in length by one, so the last point of a shorter one is repeated.
    places = np.minimum(first + np.arange(np.diff(edges).max()), end - 1)
    piece, is_gap = y[places], ~np.isfinite(y[places])
    low, high = np.where(is_gap, np.inf, piece).argmin(axis=1), np.where(is_gap, -np.inf, piece).argmax(axis=1)
    kept = (edges[:-1] + np.sort([low, high], axis=0)).T.ravel()
    kept = kept[np.diff(kept, prepend=-1) > 0]  # a point that is both is there once
    kept[-1] = len(x) - 1  # the newest point is always kept
    return x[kept], y[kept]


def _whole(x: NDArray) -> NDArray:
    """Return iterations as integers, which take fewer bytes to send."""
    return x.astype(np.int64) if (x == np.rint(x)).all() else x


# Share of an axis that a number below it needs.
NARROW = 0.15


def _with_room(ticks: Iterable[float], *, is_log: bool) -> list[float]:
    """Return the largest tick and those before it whose numbers have room on a narrow chart."""
    kept, all_ = list[float](), sorted((tick for tick in ticks if tick > 0.0 or not is_log), reverse=True)
    at = np.log10(all_) if is_log else np.array(all_)
    last = np.inf
    for tick, place in zip(all_, at, strict=True):
        if last - place >= NARROW * (at[0] - at[-1]):
            kept.append(tick)
            last = place
    return kept[::-1]


def line_chart(
    curves: Sequence[Curve],
    *,
    title: str,
    marks: Sequence[Mark] = (),
    is_log_x: bool = False,
    is_log_y: bool = False,
    x_range: tuple[float, float] | None = None,
    x_title: str = ITERATION,
    x_ticks: Iterable[float] = (),
    revision: str = "0",
    note: str = "",
    explanation: str = "",
) -> Figure:
    """Return a chart of curves over iterations, with a vertical mark at each change during the run.

    Curves of few points along another axis can have `x_ticks`, numbers at these points alone.
    """
    layout = _layout(title, revision)
    along = f"Along the axis, {x_title}: {said[0].lower()}{said[1:]}" if (said := meaning(x_title)) else ""
    layout["meta"] = {"note": note, "help": f"{explanation or meaning(title)} {along}".strip()}
    x_axis: dict[str, Any] = {"type": "log" if is_log_x else "linear", "title": {"text": x_title}, **CLEAR_OF_CORNER}
    if x_range is not None:
        x_axis["range"] = [float(np.log10(v)) if is_log_x else v for v in x_range]
        x_axis |= ticks_to(x_range[1], is_log=is_log_x) if x_title == ITERATION else {}
    if ticks := _with_room({float(x) for x in x_ticks}, is_log=is_log_x):
        x_axis |= {"tickvals": ticks, "ticktext": [f"{x:,.10g}" for x in ticks]}
    layout |= {
        "xaxis": x_axis,
        "yaxis": value_axis([y for curve in curves for y in (curve.y, *(curve.band or ()))], is_log=is_log_y),
        "hovermode": "x unified",
    }
    layout["shapes"] = [line_at(mark.x) for mark in marks]
    if marks:
        layout["annotations"] = names_of(marks, x_range or (0.0, marks[-1].x), is_log=is_log_x)
        layout["margin"]["t"] += ROW
    bands = [trace for curve in curves for trace in band_of(curve, is_log_y=is_log_y)]  # below all lines
    return {"data": [*bands, *(_line(curve, is_log_y=is_log_y) for curve in curves)], "layout": layout}


def _line(curve: Curve, *, is_log_y: bool) -> dict[str, Any]:
    y = np.where(curve.y > 0, curve.y, np.nan) if is_log_y else curve.y
    x, y = thinned(curve.x, y)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": curve.name,
        "x": _whole(x).tolist(),
        "y": four_digits(y),
        "line": {"color": curve.color, "dash": curve.dash, "width": curve.width},
        "opacity": curve.opacity,
        "showlegend": curve.in_legend,
        "hoverinfo": "all" if curve.in_legend else "skip",
        **({"meta": said} if (said := curve.sentence or meaning(curve.name)) else {}),
    }


def band_of(curve: Curve, *, is_log_y: bool = False) -> list[dict[str, Any]]:
    """Return two traces that fill a curve's band with 20 % opacity."""
    if curve.band is None:
        return []
    low, high = curve.band
    there = np.isfinite(low) & np.isfinite(high) & ((low > 0) | (not is_log_y))
    (x_low, low), (x_high, high) = (thinned(curve.x[there], edge[there]) for edge in curve.band)
    edge = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    name = curve.band_name or f"{curve.name}, band"
    upper = {"name": name, "fill": "tonexty", "fillcolor": faint(curve.color), "showlegend": bool(curve.band_name)}
    said = {"meta": meaning(name)} if meaning(name) else {}
    return [
        {**edge, "x": _whole(x_low).tolist(), "y": four_digits(low), "name": f"{name}, from"},
        {**edge, "x": _whole(x_high).tolist(), "y": four_digits(high), **upper, **said},
    ]


def faint(color: str) -> str:
    """Return a colour, "#rrggbb", with 20 % opacity."""
    return "rgba({},{},{},0.2)".format(*bytes.fromhex(color[1:]))


def plain_figure(traces: list[dict[str, Any]], *, title: str) -> Figure:
    """Return a figure of these traces that stays the same during the run."""
    return {"data": traces, "layout": _layout(title, "0")}


def _layout(title: str, revision: str) -> Figure:
    return {
        "template": {},
        "title": {"text": title, "x": 0, "xanchor": "left", "font": {"size": 14}},
        "uirevision": revision,
        # The margins leave room for title and legend, and at the right for half of the last tick's text.
        "margin": {"l": 52, "r": 18, "t": 8, "b": 38},
    }


@dataclass(frozen=True)
class PointSet:
    """Points to draw on the map, with name, place and mark. The two members of a pair follow each other."""

    name: str
    xy: NDArray
    color: str
    symbol: str
    size: float = 7.0
    opacity: float = 1.0
    is_paired: bool = False


# Diverging colours from negative over white to positive, and their counterpart for the dark theme.
DIVERGING = {
    "light": [[0, "#E58A4E"], [0.5, "#FFFFFF"], [1, "#5CA4D4"]],
    "dark": [[0, "#A34A0A"], [0.5, "#14191F"], [1, "#0B5C8E"]],
}
SEQUENTIAL = "Viridis"  # as the browser knows it
VIRIDIS = "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725"
COLORBAR = {"thickness": 8, "exponentformat": "e", "len": 0.9, "nticks": 5, "x": 1.01, "xpad": 4}


def map_figure(
    traces: list[dict[str, Any]], *, title: str, axes: tuple[str, str], revision: str, frame: Frame | None = None
) -> Figure:
    """Return a map of these traces; with a frame it is square at any width."""
    layout = _layout(title, revision)
    x_axis, y_axis = ({"title": {"text": name}, "showgrid": False, "zeroline": False} for name in axes)
    if frame is not None:
        (left, right), (bottom, top) = frame
        x_axis |= {"range": [left, right], "constrain": "domain", "constraintoward": "left"}
        y_axis |= {"range": [bottom, top], "constrain": "domain", "constraintoward": "top"}
        y_axis |= {"scaleanchor": "x", "scaleratio": (right - left) / (top - bottom)}
    layout |= {"xaxis": x_axis, "yaxis": y_axis}
    return {"data": traces, "layout": layout}


def without_axes(figure: Figure) -> None:
    """Leave out the words and numbers of a map's axes, and the room for them."""
    figure["layout"]["margin"] = dict.fromkeys("lrtb", 6)
    for name in ("xaxis", "yaxis"):
        figure["layout"][name] |= {"showticklabels": False, "ticks": "", "title": {"text": ""}, "automargin": False}


def farthest(values: NDArray, centre: float) -> float:
    """Return the largest distance of a finite value from `centre`, or 1 if there is none."""
    finite = values[np.isfinite(values)]
    return (float(np.abs(finite - centre).max()) if len(finite) else 1.0) or 1.0


def ordered_colors(n: int) -> list[str]:
    """Return `n` colours with a visible order: equal steps through viridis, without its darkest and lightest colours."""
    return sequential_colors([0.3 + 0.55 * i / max(1, n - 1) for i in range(n)])


def sequential_colors(shares: Sequence[float]) -> list[str]:
    """Return viridis' colours at shares of its length: 0 is the darkest end, and 1 the lightest one."""
    steps = np.array([list(bytes.fromhex(color)) for color in VIRIDIS.split()])
    mixed = [np.interp(shares, np.linspace(0.0, 1.0, len(steps)), channel) for channel in steps.T]
    return [f"#{bytes(color).hex()}" for color in np.stack(mixed, axis=1).round().astype(int).tolist()]


def dots(
    name: str, x: Iterable[Any], y: Iterable[Any], marker: Figure, said: Sequence[str] = (), **more: Any
) -> Figure:
    """Return marks as a trace that says a text at each of them, or nothing when pointed at."""
    hover = {"text": list(said), "hovertemplate": "%{text}<extra></extra>"} if said else {"hoverinfo": "skip"}
    own = {"x": list(x), "y": list(y), "marker": marker}
    return {"type": "scatter", "mode": "markers", "name": name, **own, **hover, **more}


def scatter(points: PointSet, theme: str, *, most: int = MAX_DATA_POINTS) -> dict[str, Any]:
    """Return the trace of a point set, with at most so many points."""
    xy = points.xy[:most]
    if points.is_paired:
        # A gap after every second point makes the line join only the two members of a pair.
        gaps = np.full((len(xy) // 2, 1, 2), np.nan)
        xy = np.concatenate([xy[: 2 * len(gaps)].reshape(-1, 2, 2), gaps], axis=1).reshape(-1, 2)
    is_hollow = points.symbol.endswith("-open")
    edge = {"width": 1 if is_hollow else 0.8, "color": points.color if is_hollow else INK[theme]}
    look: dict[str, Any] = {"line": {"width": 0.7}, "opacity": points.opacity, "hoverinfo": "name"}
    look |= {"mode": "lines+markers"} if points.is_paired else {}
    marker = {"symbol": points.symbol, "color": points.color, "size": points.size, "line": edge}
    return dots(points.name, four_digits(xy[:, 0]), four_digits(xy[:, 1]), marker, **look)
