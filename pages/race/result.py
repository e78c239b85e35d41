"""The result of a race beside the run that it was started for: score, time, memory, curves and maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dsgcore.experiments import LiveRun, Plane, Run
from dsgcore.experiments.race import GRID, RaceResult
from dsgcore.experiments.verdict import predicted_classes
from pages.charts import figures as charts
from pages.charts.live_chart import live_chart, theme_now
from pages.charts.run_map import CLASSES, LEAD, SCORE, decision_heats, levels_of, run_map
from pages.race.state import COMPETITOR, Started, whose
from pages.shell.plain_text import plain, short_number

CURVE_HEIGHT, MAP_HEIGHT = 240, 330
BY_ITERATION, BY_TIME = "by iteration", "by time"
MAX_NOTES = 3
# An objective with fewer steps is shown as a number, not as a curve.
FEWEST_STEPS = 3
# A smaller difference is not visible with four digits.
TIE = 5e-5


def draw_result(started: Started, live: LiveRun) -> None:
    """Draw the competitor's result, and how far the run is at this moment."""
    result: RaceResult = started.job.result
    for note in result.notes[:MAX_NOTES]:
        st.warning(plain(f"{note.rstrip('.')}."), icon=":material/warning:")
    st.caption(whose(started, live))
    run, theme = started.live.run, theme_now()
    _numbers(started, run, result)
    if len(run.history):
        _curves(started, run, result, theme)
        _maps(started, run, result, theme)


def _numbers(started: Started, run: Run, result: RaceResult) -> None:
    name = run.problem.score_name
    score, time, memory = st.columns(3)
    row = run.history.last()
    off: dict[str, Any] = {"delta_color": "off", "delta_arrow": "off"}
    own = run.result_score
    gain = 0.0 if own is None else result.score - own
    is_tie, is_less = abs(gain) < TIE, gain < 0  # Streamlit knows a loss by its hyphen
    than = "as much as" if is_tie else f"{short_number(gain, '+.4f')} vs"
    beside = f"{than} the run at iteration {row['t']:.0f}" if row else None
    look = off if is_tie else {"delta_color": "red", "delta_arrow": "down"} if is_less else {}
    score.metric(f"Test {name} of {started.title}", short_number(result.score, ".4f"), delta=beside, **look)
    spent = f"the run: {_seconds(run.training_clock[-1])}" if run.training_clock else None
    help_time = (
        "Time of the fit on one core, without starting the process and loading the data. For the run: its "
        "training time, without measuring."
    )
    time.metric("Time", _seconds(result.seconds), delta=spent, help=help_time, **off)
    size = f"{result.memory / 1e9:.3g} GB" if result.memory >= 1e9 else f"{result.memory / 1e6:.3g} MB"
    memory.metric("Memory", size, help="Peak memory of the fit, without the program and the data.")


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:,.0f} s"


def _curves(started: Started, run: Run, result: RaceResult, theme: str) -> None:
    """Draw the scores by iteration or by time, and the competitor's own objective if it has enough steps for a curve."""
    told = np.isfinite(result.objectives)
    places = st.columns([3, 2], gap="small") if told.sum() >= FEWEST_STEPS else [st.container()]
    with places[0]:
        by = choice("Along the axis", (BY_ITERATION, BY_TIME), key="race-axis")
        is_by_time, title = by == BY_TIME, f"Test {run.problem.score_name}"
        finish = started.finish
        assert finish is not None
        x, own, end = run.history.column("t"), {"revision": BY_ITERATION}, float(run.length)
        if is_by_time:
            x, own = np.array(run.training_clock), {"x_title": "seconds of training", "revision": BY_TIME}
            end = 1.05 * max([finish.seconds, *x[-1:]])
        curve = charts.Curve("the run", x, run.history.column("score_test"), charts.INK[theme])
        lines = [curve, finish.curve(finish.seconds if is_by_time else 0.0, end)]
        figure = charts.line_chart(lines, title=title, x_range=(0, end), **own)  # type: ignore[arg-type]
        if is_by_time:  # the line starts at a mark when the competitor has finished
            at = {name: charts.four_digits(np.array([v])) for name, v in (("x", finish.seconds), ("y", finish.score))}
            mark = {"symbol": "circle", "size": 8, "color": COMPETITOR}
            figure["data"].append(charts.dots("", **at, marker=mark, showlegend=False))
        alt = f"{title}: {started.title} {finish.score:.4f} after {_seconds(finish.seconds)}."
        live_chart(figure, key="chart-race", alt=alt, height=CURVE_HEIGHT)
    if len(places) == 2:
        with places[1], st.container(height="stretch", vertical_alignment="bottom"):
            curve = charts.Curve(started.title, result.steps[told], result.objectives[told], COMPETITOR)
            title, alt = f"Objective of {started.title}", f"Objective of {started.title} over its outer steps."
            figure = charts.line_chart([curve], title=f"{title}, its own", x_title="outer step")
            live_chart(figure, key="chart-race-objective", alt=alt, height=CURVE_HEIGHT)


def choice(label: str, options: tuple[str, ...], *, key: str) -> str:
    """Draw a choice as buttons, with a label for screen readers alone, and return it."""
    look: dict[str, Any] = {"default": options[0], "required": True, "label_visibility": "collapsed"}
    return str(st.segmented_control(label, options, key=key, **look))


def _maps(started: Started, run: Run, result: RaceResult, theme: str) -> None:
    shown = choice("On the maps", (SCORE, CLASSES), key="race-map")
    maps = started.maps
    if "plane" not in maps:
        maps["plane"] = started.race.plane(run.split)
    plane: Plane = maps["plane"]
    if maps.get("t") != run.model_t:  # only if the run has advanced
        points = np.ascontiguousarray(plane.grid(GRID), dtype=run.split.X_train.dtype)
        maps |= {"t": run.model_t, "values": run.result.evaluate(points)}
    ours = maps["values"]
    pairs = ("The run", ours, predicted_classes(run, ours)), (started.title, result.surface, result.classes)
    for number, (place, (name, surface, classes)) in enumerate(zip(st.columns(2, gap="small"), pairs, strict=True)):
        with place:
            figure = _map(run, plane, surface, classes, title=name, shown=shown, theme=theme)
            key = f"chart-race-{shown}-{number}"
            live_chart(figure, key=key, alt=f"Map of {name}: {shown}.", height=MAP_HEIGHT)


def _map(
    run: Run, plane: Plane, values: NDArray, classes: NDArray, *, title: str, shown: str, theme: str
) -> charts.Figure:
    """Return a map of the values, or of the predicted classes, below the training points.

    Of values the colours change at each class's mean value, and between the two classes.
    """
    kind = CLASSES if shown == CLASSES else LEAD if run.problem.decision == "highest" else SCORE
    z, levels, centre = (classes if shown == CLASSES else values).astype(float), None, None
    if kind == SCORE:
        levels = levels_of(z, classes, len(run.split.class_names))
        low, high = z[classes == 0], z[classes == 1]
        centre = float((high.min() + low.max()) / 2) if len(high) and len(low) else 0.0
    (heat,) = decision_heats(run, plane, [z], shown=kind, theme=theme, levels=levels, centre=centre)
    return run_map(run, plane, heat, title=title, theme=theme, revision=shown)
