"""The five screens of "How it works": their words, and charts with a frame from dsgcore for each stop of their slider."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.explained import (
    GRID,
    SWITCHES,
    Example,
    exact_bump,
    example,
    first_steps,
    largest_step,
    noises,
    objectives,
    rolled,
    single_waves,
    sums_of_waves,
    sums_on_a_line,
)
from dsgcore.settings.panels import Mark
from pages.charts import figures as charts
from pages.charts.figures import four_digits
from pages.charts.run_map import diverging, heat

Panel = dict[str, Any]
LARGEST = 127  # values are sent as whole numbers up to this size, one byte each
STYLES = {  # of curves: their colour (none: the theme's ink), their width and their dash
    **{"strong": (charts.POSITIVE, 2.5, "solid"), "dots": (charts.POSITIVE, 2.0, "solid")},
    **{"faint": (charts.UNLABELED, 1.0, "solid"), "ink": ("", 1.5, "solid"), "guide": (charts.EXACT, 2.0, "dash")},
}


def axis(title: str, low: float, high: float, *, is_log: bool = False) -> dict[str, Any]:
    """Return an axis of a chart."""
    ends = (np.log10([low, high]) if is_log else np.array([low, high])).tolist()
    ticks: dict[str, Any] = {"tickvals": None, "dtick": "D2" if is_log and high < 1000 * low else None}
    ticks |= {"ticktext": None, "nticks": 5, "tickangle": 0, "showticklabels": True}
    return {"type": "log" if is_log else "linear", "range": ends, **ticks, "title": {"text": title}}


@dataclass(frozen=True)
class Curve:
    """A curve, or dots, of a chart. A named one is in the legend."""

    x: ArrayLike
    y: ArrayLike
    style: str = "strong"
    name: str = ""


def chart(
    title: str, x: Panel, y: Panel, moving: Sequence[Sequence[Curve]], still: Sequence[Curve] = (), *, theme: str
) -> Panel:
    """Return a chart: curves that stay, and curves for each frame."""
    look: dict[str, Any] = {"title": title, "x_title": x["title"]["text"]}
    look |= {"is_log_x": x["type"] == "log", "is_log_y": y["type"] == "log"}

    def drawn(curves: Sequence[Curve]) -> charts.Figure:
        lines = []
        for curve in curves:
            (color, width, dash), name = STYLES[curve.style], curve.name
            along, up = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
            color = color or charts.INK[theme]
            lines.append(charts.Curve(name, along, up, color, dash, width, in_legend=bool(name)))
        return charts.line_chart(lines, **look)

    shown = [*still, *moving[0]]
    figure = drawn(shown)
    figure["layout"]["xaxis"] |= x
    figure["layout"]["yaxis"] |= y
    for trace, curve in zip(figure["data"], shown, strict=True):
        if curve.style == "dots":
            trace |= {"mode": "markers", "marker": {"color": charts.POSITIVE, "size": 9}}
    frames = [[{"x": trace["x"], "y": trace["y"]} for trace in drawn(curves)["data"]] for curves in moving]
    return {"figure": figure, "frames": [[*[{}] * len(still), *frame] for frame in frames]}


def map_of(
    title: str,
    shown: Example,
    *,
    theme: str,
    field: ArrayLike | None = None,
    values: ArrayLike | None = None,
    reach: float | None = None,
    picked: Sequence[NDArray] = (),
    cross: NDArray | None = None,
) -> Panel:
    """Return a map of the training points.

    `field` (frames, GRID^2) is drawn below them. `values` (frames, n) colour them, up to the size `reach`. `picked` holds
    the rows with a ring of each stop, and `cross` a marked place.
    """
    plane, split = shown.plane, shown.split
    xy, across, up = plane.project(split.X_train), *zip(plane.low.tolist(), plane.high.tolist(), strict=True)
    traces, frames = list[dict[str, Any]](), list[Sequence[dict[str, Any]]]()

    def add(trace: dict[str, Any], of_frames: Sequence[dict[str, Any]] = (), **more: Any) -> None:
        traces.append(trace | more)
        frames.append(of_frames)

    def points(name: str, at: NDArray, color: str, symbol: str, size: float = 7.0) -> dict[str, Any]:
        return charts.scatter(charts.PointSet(name, at, color, symbol, size=size), theme)

    if field is not None:
        below = heat(plane, np.zeros(GRID**2), diverging([np.ones(1)], 0.0, theme))
        still = {"showscale": False, "hoverinfo": "skip", "opacity": 0.75}
        add(below, [{"z": one} for one in packed(field, width=GRID)], **still)
    if values is not None:
        dots = points("", xy, charts.UNLABELED, "circle")
        scale = dots["marker"] | {"colorscale": charts.DIVERGING[theme], "cmin": -1.0, "cmax": 1.0}
        add(dots, [{"marker": scale | {"color": one}} for one in packed(values, reach)], showlegend=False)
    else:
        add(points("unlabeled", xy[split.y_train == -1], charts.UNLABELED, "circle-open", 6))
        add(points("negative", xy[split.y_train == 0], charts.NEGATIVE, "triangle-up", 6))
        add(points("positive", xy[split.y_train == 1], charts.POSITIVE, "circle", 6))
    if picked:
        rings = [{"x": four_digits(xy[r, 0]), "y": four_digits(xy[r, 1])} for r in map(np.unique, picked)]
        add(points("mini-batch", xy[:0], charts.INK[theme], "circle-open", 13), rings)
    if cross is not None:
        add(points("", plane.project(cross), charts.INK[theme], "cross-thin-open", 14), showlegend=False)
    figure = charts.map_figure(traces, title=title, axes=("", ""), revision=title, frame=(across, up))
    charts.without_axes(figure)
    n_frames = max(map(len, frames))
    return {"figure": figure, "frames": [[one[i] if one else {} for one in frames] for i in range(n_frames)]}


def packed(values: ArrayLike, reach: float | None = None, *, width: int = 0) -> list[dict[str, Any]]:
    """Return the values of each frame as signed bytes in base 64: shares of `reach`, by default of their sizes' 99.5 % quantile.

    The browser makes numbers of them, in rows of a `width`, or in one list without it.
    """
    values = np.asarray(values, dtype=float)
    reach = reach or float(np.quantile(np.abs(values), 0.995)) or 1.0
    whole = np.clip(np.rint(values / reach * LARGEST), -LARGEST, LARGEST).astype(np.int8)
    return [{"packed": base64.b64encode(frame.tobytes()).decode(), "width": width} for frame in whole]


N_WAVES, N_STEPS = 24, 24
NUMBERS = tuple(2**k for k in range(9))
SHARES = tuple(k / 10 for k in range(1, 16))  # of the largest stable step
BALL_STEPS, RUN_STEPS = 12, 20
SEEDS = range(4)
GROWN = 100.0  # times the start: where the chart of a growing objective ends


@dataclass(frozen=True)
class Screen:
    """A screen: two or three sentences, panels, and one slider.

    With switches, frame number stop + n_stops * (1 if the first is on, + 2 if the second is on) belongs to them.
    """

    title: str
    text: str
    drag: str  # the slider's name
    stops: Sequence[str]  # what the screen shows at each stop of the slider, in words
    panels: Sequence[Panel]
    start: int = 0  # the first stop shown
    mark: Mark | None = None  # a named stop
    switches: tuple[str, ...] = ()  # their names


def one_wave(theme: str) -> Screen:
    """Return the screen of single random waves."""
    shown = example()
    waves = map_of("One wave", shown, theme=theme, field=single_waves(shown, N_WAVES))
    return Screen(
        "A random wave",
        "The methods here build their answer from waves like this one. The direction and the length of a wave are random. "
        "A wave gives each point a value, from −1 (orange) to 1 (blue).",
        "Wave",
        [f"wave {i + 1} of {N_WAVES}" for i in range(N_WAVES)],
        [waves],
    )


def many_waves(theme: str) -> Screen:
    """Return the screen of waves that add up to the kernel."""
    shown = example()
    sums = list(sums_of_waves(shown, NUMBERS))
    line = shown.centre + np.linspace(-0.5, 0.5, 81)[:, None] * np.array([[1.0, 0.0]])
    away, bump = line[:, 0] - shown.centre[0, 0], exact_bump(shown, line)
    cuts = sums_on_a_line(shown, NUMBERS, line)
    kernel = Curve(away, bump, "guide", "the kernel")
    expected = Curve(NUMBERS, [s.expected for s in sums], "guide", "falls as 1/√m")
    across, means = (
        axis("distance from the cross", -0.5, 0.5),
        [[Curve(away, cut, name="mean of the waves")] for cut in cuts],
    )
    n_waves, found = axis("waves m", 1, 256, is_log=True), [s.error for s in sums]
    errors = [[Curve(NUMBERS[:i], found[:i], "dots", "measured")] for i in range(1, len(sums) + 1)]
    return Screen(
        "Many waves make a bump",
        "All waves have a crest at the cross: there they add up, and elsewhere they cancel. Their mean becomes a bump, the "
        "kernel, which says how much a point is like the cross. Four times as many waves halve the error.",
        "Waves",
        [f"m = {s.n} {'wave' if s.n == 1 else 'waves'}, error {s.error:.2f}" for s in sums],
        [
            map_of("Mean of the waves", shown, theme=theme, field=[s.values for s in sums], cross=shown.centre),
            chart("Cut through the cross", across, axis("", -1.0, 1.0), means, [kernel], theme=theme),
            chart("Error", n_waves, axis("", 0.02, 1.0, is_log=True), errors, [expected], theme=theme),
        ],
    )


def one_step(theme: str) -> Screen:
    """Return the screen of single steps."""
    shown = example(n_iter=N_STEPS, n_features=16, batch_size=6, step_size=0.5, lam=0.01)
    steps = list(first_steps(shown))
    rows = [step.rows for step in steps]
    return Screen(
        "One step",
        "A step looks at a few random points, the mini-batch (drawn large), and draws fresh waves. It weighs the waves so that the "
        "score rises at blue points and falls at orange ones. The answer is the sum of all steps.",
        "Step",
        [f"step {step.t} of {N_STEPS}" for step in steps],
        [
            map_of("What this step adds", shown, theme=theme, field=[step.added for step in steps], picked=rows),
            map_of("The sum so far", shown, theme=theme, field=[step.score for step in steps]),
        ],
    )


def step_size(theme: str) -> Screen:
    """Return the screen of the step size."""
    shown = example()
    limit = largest_step(shown)
    steep = 2.0 / limit
    sizes = [share * limit for share in SHARES]
    balls = [rolled(steep, size, BALL_STEPS) for size in sizes]
    runs = [objectives(shown, size, RUN_STEPS) for size in sizes]
    x, name = np.linspace(-2.0, 2.0, 81), f"A bowl of steepness λ + μ = {steep:.2f}"
    place, iteration = axis("place of the ball", -2.0, 2.0), axis("iteration t", 1, RUN_STEPS)
    rolls = [[Curve(ball, ball**2, "faint"), Curve(ball, ball**2, "dots", "the ball")] for ball in balls]
    curves = [[Curve(np.arange(1, len(run) + 1), run, name="objective")] for run in runs]
    return Screen(
        "How big a step?",
        "Each step moves the ball downhill, by the step size times the slope. The bowl's steepness is λ + μ: the ridge and the "
        "curvature of the loss. Above 2/(λ + μ), every step lands higher than the one before.",
        "Step size",
        [f"step size {size:.2f}, limit {limit:.2f}" for size in sizes],
        [
            chart(name, place, axis("height", 0.0, 4.0), rolls, [Curve(x, x**2, "ink")], theme=theme),
            chart(
                "A run with this step size", iteration, axis("objective", 0.1, GROWN, is_log=True), curves, theme=theme
            ),
        ],
        start=2,
        mark=Mark(SHARES.index(1.0), f"limit 2/(λ + μ) = {limit:.2f}"),
    )


def two_noises(theme: str) -> Screen:
    """Return the screen of the two noises."""
    shown = example(n_iter=300, schedule="theta/t", step_size=1.5, lam=1.0, n_features=4, batch_size=4)
    made = noises(shown, SEEDS)
    stops, keys = range(0, len(made.t), 2), list(SWITCHES)
    faint = [Curve(made.t, made.errors[key], "faint") for key in keys]
    guide = Curve(made.t, made.errors[True, True][-1] * made.t[-1] / made.t, "guide", "1/t")
    step, values, curves = axis("step t", 1, float(made.t[-1]), is_log=True), list[NDArray](), list[list[Curve]]()
    for key, stop in product(keys, stops):
        values.append(made.values[key][stop])
        line = Curve(made.t, made.errors[key], name="with the chosen noise")
        curves.append([line, Curve(made.t[[stop]], made.errors[key][[stop]], "dots")])
    return Screen(
        "Noise that averages out",
        "Every step is random twice: it uses few points and few waves. Switch either noise off: grey lines show the other "
        "choices. Steps that shrink as 1/t average the noise out: the squared error follows the line 1/t.",
        "Step",
        [f"step {made.t[stop]} of {made.t[-1]}" for stop in stops],
        [
            map_of("Scores of the points", shown, theme=theme, values=values, reach=float(abs(made.optimum).max())),
            chart("Squared error", step, axis("", 1e-4, 1e2, is_log=True), curves, [*faint, guide], theme=theme),
        ],
        switches=("few points", "few waves"),
    )


SCREENS: tuple[Callable[[str], Screen], ...] = (one_wave, many_waves, one_step, step_size, two_noises)
