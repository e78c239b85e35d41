"""The contents of handouts: the runs of a lesson's steps, made a slice at a time on the server, and cached.

Each step has one run with the default seed, so a server makes each lesson's runs once, for all visitors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.data.datasets import SEED
from dsgcore.data.edits import EDITS
from dsgcore.experiments import LiveRun, Setting, Spec, outcome_of
from dsgcore.experiments.cost import cost_of
from dsgcore.experiments.data_of import with_choice
from dsgcore.settings import GuidedLesson, LessonStep
from pages.charts import figures as charts
from pages.charts.figures import INK, Curve, thinned
from pages.controls import controls
from pages.pictures.run_picture import Sheet, picture_of
from pages.shell.memory import Claim, account

WIDTH, HEIGHT = 250, 180
LEFT, RIGHT, TOP, BOTTOM, LINE = 44, 8, 24, 34, 12
DASHES = {"dot": "1 3", "dash": "6 3"}
MOST_POINTS = 160


@dataclass(frozen=True)
class Scale:
    """The axes of a drawing: values from `low` to `high`, iterations up to `end`."""

    low: float
    high: float
    end: float
    is_log: bool = False

    def across(self, t: NDArray) -> NDArray:
        """Return the distances from the left."""
        return LEFT + t / self.end * (WIDTH - LEFT - RIGHT)

    def down(self, values: NDArray) -> NDArray:
        """Return the distances from the top; values outside are drawn at the edge."""
        low, high, inside = self._as_drawn(self.low), self._as_drawn(self.high), np.clip(values, self.low, self.high)
        return TOP + (high - self._as_drawn(inside)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def _as_drawn(self, values: NDArray | float) -> NDArray:
        return np.log10(values) if self.is_log else np.asarray(values, dtype=float)


def scale_of(curves: Sequence[Curve], end: float, always: tuple[float, float], *, is_log: bool = False) -> Scale:
    """Return a scale for all finite values of the curves and the two given ones; a logarithmic scale ignores values below
    zero."""
    values = np.concatenate([always, *(curve.y for curve in curves)])
    values = values[np.isfinite(values) & ((values > 0) | (not is_log))]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return Scale(low, high if high > low else low + 1.0, end, is_log)


def drawing(title: str, curves: Sequence[Curve], scale: Scale) -> str:
    """Return the curves as a drawing; without curves, return axes to draw on."""
    ends = "; ".join(f"{curve.name} ends at {curve.y[-1]:.3g}" for curve in curves if len(curve.y))
    said = escape(f"{title}: {ends or 'axes to draw on'}")
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{said}">'
    lines = [_line(curve, scale) for curve in curves]
    return "\n".join([head, *_frame(title, scale), *lines, *_legend(curves), "</svg>"])


def _frame(title: str, scale: Scale) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    return [
        _text(2, 13, title, "start", weight="bold"),
        f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="{INK["light"]}"/>',
        _text(LEFT - 4, TOP + 8, f"{scale.high:.2g}", "end"),
        _text(LEFT - 4, bottom, f"{scale.low:.2g}", "end"),
        _text(LEFT, bottom + LINE, "0", "middle"),
        _text(right, bottom + LINE, f"{scale.end:g} iterations", "end"),
    ]


def _text(x: float, y: float, said: str, anchor: str, *, weight: str = "normal") -> str:
    place = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text {place} font-size="11" fill="{INK["light"]}">{escape(said)}</text>'


def _line(curve: Curve, scale: Scale) -> str:
    is_there = np.isfinite(curve.y) & ((curve.y > 0) | (not scale.is_log))
    t, values = thinned(curve.x[is_there], curve.y[is_there], MOST_POINTS)
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(scale.across(t), scale.down(values), strict=True))
    return f'<polyline points="{places}" fill="none" {_stroke(curve)}/>'


def _stroke(curve: Curve) -> str:
    dash = f' stroke-dasharray="{DASHES[curve.dash]}"' if curve.dash in DASHES else ""
    return f'stroke="{curve.color}" stroke-width="{curve.width:g}"{dash}'


def _legend(curves: Sequence[Curve]) -> list[str]:
    """Name the curves below the axis, each beside a piece of its line, if there are several."""
    if len(curves) < 2:
        return []
    lines, x, y = [], LEFT, HEIGHT - 6
    for curve in curves:
        lines.append(f'<path d="M{x} {y - 4}h18" {_stroke(curve)}/>')
        lines.append(_text(x + 22, y, curve.name, "start"))
        x += 34 + 6 * len(curve.name)
    return lines


MAP = Sheet(180, 180)
GROWN = 1e3  # An objective that grows to this multiple of its start is drawn on a logarithmic axis.
# Measures that the chart of the features' error shows.
OF_THE_ERROR = ("error", "lag", "overstated", "distance")


@dataclass(frozen=True)
class Shown:
    """A step of a handout: its data before the run, the outcome of the run, and drawings of it as SVG.

    Attributes
    ----------
    points : str
    outcome : mapping
    drawings : tuple of str
    end : int
        Iterations of the run.
    seed : int
    """

    points: str
    outcome: Mapping[str, float]
    drawings: tuple[str, ...]
    end: int
    seed: int


_kept: dict[tuple[str, str], tuple[Shown, ...]] = {}


def kept(setting: type[Setting], lesson: GuidedLesson) -> tuple[Shown, ...] | None:
    """Return the cached contents of a lesson, or None if they are not complete."""
    return _kept.get((setting.name, lesson.name))


def spec_at(setting: type[Setting], values: Mapping[str, Any]) -> Spec:
    """Return the spec of the page's controls after a lesson has set them to these values."""
    dataset = values.get("data", controls.dataset_choice(setting).default)
    offered = controls.controls_for(setting, dataset, values.get("kernel"), for_lesson=True)
    given = {name: values.get(name, control.parameter.default) for name, control in offered.items()}
    spec = controls.to_spec(setting, given, dataset, SEED.default)
    return with_choice(spec, values[EDITS]) if EDITS in values else spec


class Making:
    """The runs of a lesson's steps, one after the other.

    Parameters
    ----------
    setting : type of Setting
    lesson : GuidedLesson
    """

    def __init__(self, setting: type[Setting], lesson: GuidedLesson) -> None:
        self.setting, self.lesson = setting, lesson
        self._made: list[Shown] = []
        self._live: LiveRun | None = None
        self._claim = Claim()

    @property
    def is_done(self) -> bool:
        """True if all steps are made and cached."""
        return kept(self.setting, self.lesson) is not None

    @property
    def share(self) -> float:
        """The share of the work that is done, from 0 to 1."""
        going = self._live.run.t / self._live.run.n_iter if self._live is not None else 0.0
        return min(1.0, (len(self._made) + going) / len(self.lesson.steps))

    def go_on(self, seconds: float) -> None:
        """Advance the current run for about this many seconds; make its drawings when it ends.

        Raises
        ------
        SpecError
            If the server has no memory left for the run.
        """
        if self.is_done:
            return
        if self._live is None:
            self._live = self._begun()
        self._live.advance(seconds=seconds)
        if self._live.is_finished:
            step = self.lesson.steps[len(self._made)]
            self._made.append(_shown(self._live, step))
            self._live = None
        if len(self._made) == len(self.lesson.steps):
            _kept[self.setting.name, self.lesson.name] = tuple(self._made)

    def _begun(self) -> LiveRun:
        spec = spec_at(self.setting, self.lesson.solved_at(len(self._made)))
        with account.taking(self._claim, cost_of(spec).memory):
            return LiveRun(spec)


def _shown(live: LiveRun, step: LessonStep) -> Shown:
    run = live.run
    points = picture_of(run, MAP, has_learned=False, alt="The training points with their labels.")
    last = run.at(run.t) if run.engine.can_look_back else run  # of a run that has diverged, the last finite iteration
    learned = picture_of(last, MAP, has_learned=last.model_t > 0, alt="The learned score.")
    curves = _drawings(live, step) if run.n_iter > 1 else []
    return Shown(points, outcome_of(live, step.measures), (learned, *curves), run.n_iter, run.spec.seed)


def _drawings(live: LiveRun, step: LessonStep) -> list[str]:
    """Return the two charts of a step: the features' error or the objective, and the score."""
    is_of_the_error = any(measure.startswith(OF_THE_ERROR) for measure in step.measures)
    has_error = "error_mean" in live.run.history.names
    return [_error(live) if is_of_the_error and has_error else _objective(live), _score(live)]


def _curve(live: LiveRun, column: str, name: str, **style: Any) -> charts.Curve:
    history = live.run.history
    return charts.Curve(name, history.column("t"), history.column(column), charts.INK["light"], **style)


def _objective(live: LiveRun) -> str:
    curve = _curve(live, "objective", "objective", width=1.5)
    is_log = bool((curve.y > GROWN * live.run.start_objective()).any())
    return drawing("Objective", [curve], scale_of([curve], live.run.n_iter, (0.0, 0.0), is_log=is_log))


def _error(live: LiveRun) -> str:
    curve = _curve(live, "error_mean", "|f − h|²", width=1.5)
    return drawing("Error of the random features, |f − h|²", [curve], scale_of([curve], live.run.n_iter, (0.0, 0.0)))


def _score(live: LiveRun) -> str:
    problem, curves = live.run.problem, [_curve(live, "score_test", "test", width=1.5)]
    if live.supervised is not None:
        twin = live.supervised.history
        style: dict[str, Any] = {"dash": "dot", "width": 2.0}
        curves.append(
            charts.Curve(problem.baseline_name, twin.column("t"), twin.column("score_test"), charts.TWIN, **style)
        )
    title = f"{problem.score_name[0].upper()}{problem.score_name[1:]}"
    return drawing(title, curves, scale_of(curves, live.run.n_iter, (0.5, 1.0)))
