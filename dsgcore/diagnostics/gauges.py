"""Cheap gauges that show a run's limits while it continues: a light, a sentence and a remedy each.

The gauges measure the noise that entered so far, as if no later step reduced it. So they overstate noise, and more so
for larger steps. Their thresholds lie between the values of runs that do well and those of seeded faults.
`dsgcore.diagnostics.limits` measures the real cost of each cause, by intervention.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.metrics import Effect
from dsgcore.diagnostics.limits import FACTOR, LARGEST_BATCH, MOST_FEATURES
from dsgcore.experiments.run import Run, StopReason
from dsgcore.experiments.step_limit import stable_step, step_limit
from dsgcore.experiments.stochastic_engine import CURVATURE
from dsgcore.experiments.verdict import at_chance, fallen_from, gain_over_twin
from dsgcore.solver.gauges import STRIDE, Reading

STEP, ITERATIONS, BATCHES, FEATURES = "Step", "Iterations", "Batches", "Features"
WANDERING, SCORE, REGULARISATION = "Wander", "Score", "Regularisation"
# Relative to the size of f: more noise than this limits a run.
MUCH, MUCH_WANDER = {BATCHES: 1.0, FEATURES: 0.1}, 0.1
# A run had time to arrive if its step sizes sum to this many times half the largest step.
ENOUGH_REACH = 6.0
# f still moves if it moved this far in the second half of the iterations.
STILL_MOVES = 0.15
# If no step is too large: f is still converging if it moves this far, and successive updates agree this well.
MOVES_FAR, AGREE = 0.25, 0.3
# Steps overshoot if successive updates oppose each other this much, and are this large.
OPPOSED, LEAP = 0.3, 0.5
# No gauge is shown before this many values, or this share of the iterations.
FEWEST_READINGS, EARLIEST = 3, 0.2
# A noise below half of the other adds next to nothing to it.
HALF = 0.5
# A ridge of more than this share of the risk's curvature is strong. Its remedy divides it by the factor.
MUCH_RIDGE, REDUCTION = 0.1, 10.0
MOST_ITERATIONS = 100_000
# The change as a sentence, and the same as values.
Remedy = tuple[str, dict[str, Any]]
_NOTHING: Remedy = "", {}
_EARLY = "This needs more iterations."
STILL = "Still converging."
NOTHING, EARLY = "Nothing limits this run.", "It is too early to say what limits this run."
BEATEN = "No gauge limits this run, but it scores worse than “{}”. Change the problem's parameters or the kernel."
FALLEN = (
    "No gauge limits this run, but its score has fallen from {}. Fewer iterations or other parameters may be better."
)


class Light(Enum):
    """State of a gauge, in words."""

    UNKNOWN = "too early to tell"
    GOOD = "fine"
    OPEN = "more would still help"
    LIMITS = "limits this run"


@dataclass(frozen=True)
class Gauge:
    """One possible limit of a run.

    Attributes
    ----------
    name : str
        "Step", "Iterations", "Batches", "Features" or "Wander"; "Regularisation" or "Score" only if it is not fine.
    value : str
        The measured value.
    sentence : str
        The meaning of the value.
    remedy : str
        The suggested change; empty if there is none.
    changes : dict
        The suggested change as values of the spec's solver section.
    severity : float
        The measured value, in units of the limit.
    expected : str
        The expected value after the change; empty if it is unknown.
    state : str
        The state in words, in place of the light's.
    """

    name: str
    light: Light
    value: str
    sentence: str
    remedy: str = ""
    changes: dict[str, Any] = field(default_factory=dict)
    severity: float = 0.0
    expected: str = ""
    state: str = ""

    @property
    def said(self) -> str:
        """The state in words."""
        return self.state or self.light.value


@dataclass(frozen=True)
class LiveGauges:
    """The gauges that have a meaning for a run, after some iterations of it.

    Attributes
    ----------
    gauges : tuple of Gauge
    beaten_by : str
        The twin's name if no gauge shows a limit and the run scores worse than its twin; else empty.
    fallen : str
        The highest score and the last one if no gauge shows a limit and the score has fallen; else empty.
    """

    gauges: tuple[Gauge, ...]
    beaten_by: str = ""
    fallen: str = ""

    @property
    def leading(self) -> Gauge | None:
        """The worst of the gauges that limit the run. Wandering and the score are consequences, so they come last."""
        limiting = [gauge for gauge in self.gauges if gauge.light is Light.LIMITS]
        causes = [gauge for gauge in limiting if gauge.name not in (WANDERING, SCORE)] or limiting
        return max(causes, key=lambda gauge: gauge.severity, default=None)

    def summary(self) -> str:
        """Return the result of the gauges in a sentence or two."""
        if self.leading is not None:
            return f"{self.leading.name}: {self.leading.said}."
        still = [gauge for gauge in self.gauges if gauge.light is Light.OPEN]
        if still:
            return f"{still[0].name}: {still[0].state}." if still[0].state else STILL
        if any(gauge.light is Light.UNKNOWN for gauge in self.gauges):
            return EARLY
        if self.beaten_by:
            return BEATEN.format(self.beaten_by)
        return FALLEN.format(self.fallen) if self.fallen else NOTHING


def live_gauges(run: Run, t: int | None = None, *, baseline: Run | None = None) -> LiveGauges:
    """Return the gauges of a run after `t` iterations.

    Parameters
    ----------
    run : Run
    t : int, optional
        Default: all iterations so far.
    baseline : Run, optional
        The run for comparison of the score, in its current state.

    Returns
    -------
    LiveGauges
    """
    t = run.model_t if t is None else t
    if run.stop_reason is StopReason.DIVERGED:
        return LiveGauges((_grown(run),))
    readings = run.engine.gauges.up_to(t)
    if len(readings) < FEWEST_READINGS or t < EARLIEST * _end(run):
        return LiveGauges(tuple(Gauge(name, Light.UNKNOWN, "…", _EARLY) for name in run.engine.gauged))
    at = GaugeValues(run, t, readings)
    gauges = tuple(_GAUGES[name](at) for name in run.engine.gauged)
    gauges += _regularisation(at) + _score(run)
    if any(gauge.light is not Light.GOOD for gauge in gauges):
        return LiveGauges(gauges)
    best, gain = fallen_from(run), None if baseline is None else gain_over_twin(run, baseline)
    fallen = "" if best is None else f"{best:.3f} to {run.result_score or 0.0:.3f}"
    is_worse = gain is not None and gain.effect is Effect.HURTS
    return LiveGauges(gauges, run.problem.baseline_name if is_worse else "", fallen)


def _end(run: Run) -> int:
    """Return the planned number of iterations, or those made if the run has settled."""
    return run.t if run.stop_reason is StopReason.SETTLED else run.n_iter


def _score(run: Run) -> tuple[Gauge, ...]:
    """Return a gauge of a score that is no better than chance."""
    said = at_chance(run)
    if not said:
        return ()
    sentence = f"{said[:1].upper()}{said[1:]} Change the kernel's width, the regularisation, or the labels."
    score = f"{run.result_score or 0.0:.3f}"
    return (Gauge(SCORE, Light.LIMITS, score, sentence, severity=1.0, state="no better than chance"),)


def _regularisation(at: GaugeValues) -> tuple[Gauge, ...]:
    """Return a gauge of a ridge that is strong beside the risk's curvature. Together with a score of chance it is a limit."""
    if at.largest is None or at.run.engine.limited_by != CURVATURE:
        return ()
    lam = float(at.run.spec.values_at(at.t + 1)["lam"])
    share = lam / max(2.0 / at.largest - lam, 1e-6)
    if share < MUCH_RIDGE:
        return ()
    sentence = (
        f"λ = {lam:g} is {_percent(share)} of the risk's curvature: it makes f smooth, and takes details from it."
    )
    light, state = (Light.LIMITS, "") if at_chance(at.run) else (Light.OPEN, "strong, a smaller one may help")
    then = float(f"{lam / REDUCTION:.2g}")
    remedy: Remedy = f"Less regularisation: λ {lam:g} → {then:g}", {"lam": then}
    return (Gauge(REGULARISATION, light, _percent(share), sentence, *remedy, max(1.0, share), state=state),)


class GaugeValues:
    """A run's gauge values up to iteration `t`, at least one; sizes are relative to the size of f at the probes."""

    def __init__(self, run: Run, t: int, readings: list[Reading]) -> None:
        self.run, self.t, self.readings, self.last = run, t, readings, readings[-1]
        self.size = float(np.sqrt(np.mean(self.last.f**2)))
        self.step = run.engine.step_at(min(t + 1, run.n_iter))
        self.largest = run.engine.largest_step
        self.noises = {BATCHES: self.relative(self.last.batches), FEATURES: self.relative(self.last.features)}

    def relative(self, square: float) -> float:
        """Return the root of a mean square, relative to the size of f."""
        return float(np.sqrt(square)) / self.size if self.size > 0 else 0.0

    @property
    def moved(self) -> float:
        """The distance that f moved in the second half of the iterations."""
        return self.relative(float(np.mean((self._near(self.t) - self._near(self.t / 2)) ** 2)))

    def _near(self, t: float) -> NDArray:
        """Return the mean of f over the last eighth before `t`, so that noise does not count as movement."""
        some = [r.f for r in self.readings if 0.875 * t - STRIDE < r.t <= t] or [self.readings[0].f]
        mean: NDArray = np.mean(some, axis=0)
        return mean

    @property
    def wander(self) -> float:
        """The fluctuation of f, from second differences, which are zero on a straight path."""
        F = np.array([r.f for r in self.readings if r.t > self.t / 2])
        lag = max(1, len(F) // 8)
        bends = F[2 * lag :] - 2.0 * F[lag:-lag] + F[: -2 * lag]
        return self.relative(float(np.mean(bends**2)) / 6.0) if bends.size else 0.0

    @property
    def reach(self) -> float:
        """The sum of all step sizes to the planned end, in units of half the largest step; infinite if no step is too large."""
        if self.largest is None:
            return np.inf
        left = _end(self.run) - self.t
        still = left * float(np.sqrt(self.step * self.run.engine.step_at(_end(self.run))))
        return (self.last.reach + still) * 2.0 / self.largest


def _percent(share: float) -> str:
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}" if share < 9.995 else f"{share:,.0f} ×"


def _theta(run: Run, t: int) -> float:
    """Return the step size of the slider, or the value of "auto"."""
    asked = run.spec.values_at(t + 1)["step_size"]
    return float(run.engine.automatic_step or 0.0) if asked is None else float(asked)


def _smaller_step(run: Run, t: int) -> Remedy:
    return _other_step("Smaller", _theta(run, t), stable_step(run, t))


def _other_step(kind: str, now: float, then: float) -> Remedy:
    then = float(f"{then:.2g}")
    return f"{kind} step: {now:g} → {then:g}", {"step_size": then}


def _grown(run: Run) -> Gauge:
    largest = step_limit(run)
    above = (
        ""
        if largest is None
        else f": above about {largest:.2g} it does, and earlier with few features or small batches"
    )
    sentence = f"Steps of {_theta(run, run.tried):g} made f diverge{above}."
    return Gauge(STEP, Light.LIMITS, "too big", sentence, *_smaller_step(run, run.tried), np.inf)


def _step(at: GaugeValues) -> Gauge:
    """Return the gauge of the step beside the largest one; if no step diverges, of updates that cancel each other."""
    if at.largest is not None:
        share = severity = at.step / at.largest
        limit = f"the largest that {at.run.engine.limited_by} allows, {at.largest:.2g}"
        sentence = f"A step of {at.step:.2g} is above {limit}: f diverges."
        if share < 1.0:
            sentence = f"The step is at {_percent(share)} of {limit}. Above that, f diverges."
    else:
        share = at.relative(at.last.update)
        severity = min(share / LEAP, max(-at.last.agreement, 0.0) / OPPOSED)
        said = "the next one moves it back: they overshoot" if severity >= 1.0 else "the steps do not undo each other"
        sentence = f"One step moves f by {_percent(share)} of its size, and {said}."
    light, remedy = (Light.LIMITS, _smaller_step(at.run, at.t)) if severity >= 1.0 else (Light.GOOD, _NOTHING)
    return Gauge(STEP, light, _percent(share), sentence, *remedy, severity)


def _iterations(at: GaugeValues) -> Gauge:
    moved, reach, n_iter = at.moved, at.reach, _end(at.run)
    is_short = moved > STILL_MOVES and reach < ENOUGH_REACH
    is_far = at.largest is None and moved > MOVES_FAR and at.last.agreement > AGREE
    sentence = f"Since step {at.t // 2:,} f has moved by {_percent(moved)} of its size"
    if is_short or is_far:
        sentence += f": it is still moving, and will not arrive by step {n_iter:,}."
        severity = max(1.0, ENOUGH_REACH / reach)
        return Gauge(ITERATIONS, Light.LIMITS, _percent(moved), sentence, *_faster(at), severity)
    if moved > STILL_MOVES and not _unrest(at) >= 1.0:
        sentence += ": most of the distance is done, and it is still moving."
        remedy = _more_iterations(n_iter) if at.t >= n_iter else _NOTHING
        return Gauge(ITERATIONS, Light.OPEN, _percent(moved), sentence, *remedy, min(moved, 0.99))
    said = "little more will come"
    if moved > STILL_MOVES:
        said = "back and forth: more iterations with this step size would not help"
    return Gauge(ITERATIONS, Light.GOOD, _percent(moved), f"{sentence}: {said}.", severity=min(moved, 0.99))


def _faster(at: GaugeValues) -> Remedy:
    """Return the automatic step if it is larger, else more iterations."""
    now, automatic = _theta(at.run, at.t), at.run.engine.sizes_at(at.t + 1).automatic
    if automatic > 2.0 * now:
        return _other_step("Larger", now, automatic)
    return _more_iterations(at.run.n_iter)


def _more_iterations(now: int) -> Remedy:
    then = min(FACTOR * now, MOST_ITERATIONS)
    return (f"More iterations: {now:,} → {then:,}", {"n_iter": then}) if then > now else _NOTHING


def _batches(at: GaugeValues) -> Gauge:
    size = at.run.spec.solver.batch_size
    sentence = "The random choice of points has changed f by {} of the size of f"
    return _noise(BATCHES, at, sentence, ("Larger batches", "batch_size", size, min(FACTOR * size, LARGEST_BATCH)))


def _features(at: GaugeValues) -> Gauge:
    m = int(at.run.spec.values_at(at.t + 1)["n_features"])
    if np.isnan(at.noises[FEATURES]):
        return Gauge(FEATURES, Light.UNKNOWN, "…", "This needs more than one feature in each iteration.")
    sentence = "The random choice of features has moved f {} of its size away from the exact kernel"
    return _noise(FEATURES, at, sentence, ("More features", "n_features", m, min(FACTOR * m, MOST_FEATURES)))


def _noise(name: str, at: GaugeValues, sentence: str, change: tuple[str, str, int, int]) -> Gauge:
    """Return a gauge of noise, whose remedy halves it.

    Wandering counts for the larger noise, and for the smaller one only if it is close.
    """
    share, larger = at.noises[name], FEATURES if at.noises[FEATURES] > at.noises[BATCHES] else BATCHES
    severity = max(at.noises[larger] / MUCH[larger], _unrest(at))
    if name != larger:
        ratio = share / at.noises[larger] if at.noises[larger] > 0 else 0.0
        severity = min(share / MUCH[name], severity * ratio, np.inf if ratio > HALF else 0.99)
    sentence, (label, field_name, now, then) = sentence.format(_percent(share)), change
    if severity < 1.0:
        return Gauge(
            name, Light.GOOD, _percent(share), f"{sentence}; later steps correct most of it.", severity=severity
        )
    expected = _percent(share * (now / then) ** 0.5)
    sentence += f". {then / now:.0f} times as many reduce it to about {expected}."
    remedy: Remedy = (f"{label}: {now:,} → {then:,}", {field_name: then}) if then > now else _NOTHING
    return Gauge(name, Light.LIMITS, _percent(share), sentence, *remedy, severity, expected)


def _unrest(at: GaugeValues) -> float:
    """Return the fluctuation of f in units of its limit; zero while f is still converging."""
    return at.wander / MUCH_WANDER if at.last.agreement < AGREE else 0.0


def _wandering(at: GaugeValues) -> Gauge:
    wander, agreement = at.wander, at.last.agreement
    severity = _unrest(at)
    sentence = f"f moves back and forth by {_percent(wander)} of its size"
    if severity < 1.0:
        said = "on its way" if agreement >= AGREE else "little enough"
        return Gauge(WANDERING, Light.GOOD, _percent(wander), f"{sentence}: {said}.", severity=severity)
    sentence += ", and a step of this size brings it no closer. Use a smaller step, or the average of the iterates."
    now = _theta(at.run, at.t)
    return Gauge(WANDERING, Light.LIMITS, _percent(wander), sentence, *_other_step("Smaller", now, now / 2), severity)


_GAUGES: dict[str, Callable[[GaugeValues], Gauge]] = {
    STEP: _step,
    ITERATIONS: _iterations,
    BATCHES: _batches,
    FEATURES: _features,
    WANDERING: _wandering,
}
