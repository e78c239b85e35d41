"""What limits a run: one cause, one sentence, and one change of the spec that helps, with the figures behind them.

While a run goes on, the causes are told from its history and from cheap gauges. The gauges measure the noise that
entered so far, as if no later step reduced it, so they overstate noise, and more so for larger steps. Their thresholds
lie between the values of runs that do well and those of spoilt ones. `dsgcore.diagnostics.limits` measures the causes
by intervention instead, and the judgement takes its figures if it is given them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.metrics import Effect
from dsgcore.core.parameters import ParameterError, Real
from dsgcore.diagnostics.limits import (
    CAUSES,
    FACTOR,
    FACTOR_OF_RIDGE,
    HALF_THE_LABELS,
    LARGEST_BATCH,
    LESS,
    MORE,
    MOST_FEATURES,
    NEAR,
    RunLimits,
)
from dsgcore.estimators.kernel import width
from dsgcore.experiments.run import Health, Run, StopReason, stable_step, step_limit
from dsgcore.experiments.settings import defaults_of
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.stochastic import CURVATURE
from dsgcore.experiments.verdict import (
    at_chance,
    best_score,
    fallen_from,
    gain_over_twin,
    is_constant,
    score_half_width,
)
from dsgcore.problems import UNLABELED
from dsgcore.solver.gauges import STRIDE, Reading
from dsgcore.solver.parameters import SolverParameters

BATCHES, FEATURES = "batches", "features"
# Relative to the size of f: more noise than this limits a run.
MUCH_OF_BATCHES, MUCH_OF_FEATURES, MUCH_WANDER = 1.0, 0.1, 0.1
# A run had time to arrive if its step sizes sum to this many times half the largest step.
ENOUGH_REACH = 6.0
# f still moves if it moved this far in the second half of the iterations.
STILL_MOVES = 0.15
# If no step is too large: f is still converging if it moves this far, and successive updates agree this well.
MOVES_FAR, AGREE = 0.25, 0.3
# Steps overshoot if successive updates oppose each other this much, and are this large.
OPPOSED, LEAP = 0.3, 0.5
# Nothing is said before this many readings, or this share of the iterations.
FEWEST_READINGS, EARLIEST = 3, 0.2
# A noise below half of the other adds next to nothing to it.
HALF = 0.5
# A ridge of more than this share of the risk's curvature is strong; the remedy makes it a hundredth.
MUCH_RIDGE, LITTLE_RIDGE = 0.1, 0.01
# Another value of λ, or of the kernel's width, than the usual one by more than this factor is a suspect.
FAR_FROM_USUAL = 10.0
# The score on the labels exceeds that on the test points by at least this much if labels are too few.
GAP = 0.02
# The share of a run's last rows that a score is averaged over.
LATE = 0.25
# A measured gain of the score that is worth a change.
WORTH = 0.005
MOST_ITERATIONS = 100_000


class Cause(Enum):
    """What limits a run; the value is the cause in words."""

    STEP = "step"
    ITERATIONS = "iterations"
    BATCHES = "batches"
    FEATURES = "features"
    REGULARISATION = "regularisation"
    LABELS = "labels"
    UNLABELED = "unlabeled points"
    DIVERGED = "diverged"
    EQUAL = "all predictions equal"
    CHANCE = "at chance"
    NOTHING = "nothing"
    EARLY = "too early to say"


@dataclass(frozen=True)
class Figure:
    """One measured value behind a judgement, and its meaning in a sentence."""

    cause: Cause
    value: str
    sentence: str


@dataclass(frozen=True)
class Judgement:
    """The answer to "What limits this run?".

    Attributes
    ----------
    cause : Cause
    sentence : str
        The answer.
    remedy : str
        The change that helps, as the label of a button; empty if there is none.
    changes : mapping of str to mapping
        The same change, as values of the spec's sections: ``{"solver": {"lam": 0.01}}``.
    expected : str
        The value that the cause's figure should have after the change; empty if it is unknown.
    reason : tuple of Figure
        The measured values of all causes that have a meaning for the run.
    """

    cause: Cause
    sentence: str
    remedy: str = ""
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    expected: str = ""
    reason: tuple[Figure, ...] = ()

    @property
    def is_useless(self) -> bool:
        """True if the result cannot be used: the run has diverged, or its score is no better than chance."""
        return self.cause in (Cause.DIVERGED, Cause.EQUAL, Cause.CHANCE)

    def figure(self, cause: Cause) -> Figure | None:
        """Return the figure of a cause, to compare it before and after a change."""
        return next((figure for figure in self.reason if figure.cause is cause), None)

    def changed(self, spec: Spec) -> Spec:
        """Return a spec after the change, without changes during the run."""
        plain, ends = spec.to_dict() | {"changes": []}, spec.values_at(spec.solver.n_iter)
        for section in ("solver", "problem"):
            plain[section] |= {name: value for name, value in ends.items() if name in plain[section]}
        return Spec.from_dict(plain | {name: plain[name] | dict(values) for name, values in self.changes.items()})


# A remedy: the button's label, and the changes.
Remedy = tuple[str, dict[str, dict[str, Any]]]
NO_REMEDY: Remedy = "", {}


def judgement(run: Run, *, baseline: Run | None = None, limits: RunLimits | None = None) -> Judgement:
    """Judge what limits a run in its current state; of an earlier one, give `run.at(t)`.

    Parameters
    ----------
    run : Run
    baseline : Run, optional
        The run without unlabeled points at the same iteration: a result that is worse than its is said to be.
    limits : RunLimits, optional
        The measured limits of this run's spec. Without them, noise, regularisation and labels are told from the run's
        own history, at the cost of a few values.

    Returns
    -------
    Judgement
        A run whose score is at chance, or whose predictions are all equal, is never limited by nothing.

    Examples
    --------
    >>> from dsgcore import Run, Spec
    >>> from dsgcore.diagnostics import judgement
    >>> data = {"name": "two_moons", "n": 200, "n_labeled": 20}
    >>> run = Run(Spec.from_dict({"setting": "auc", "data": data, "solver": {"step_size": 100.0}}))
    >>> made = run.advance()
    >>> judgement(run).cause.value
    'diverged'
    """
    state = _State(run, baseline, limits)
    found = next(made for rule in _RULES if (made := rule(state)) is not None)
    return replace(found, reason=tuple(_reason(state)))


class GaugeValues:
    """A run's gauge values up to iteration `t`, at least one; sizes are relative to the size of f at the probes."""

    def __init__(self, run: Run, t: int, readings: list[Reading]) -> None:
        self.run, self.t, self.readings, self.last = run, t, readings, readings[-1]
        self.size = float(np.sqrt(np.mean(self.last.f**2)))
        self.step = run.engine.step_at(min(t + 1, run.n_iter))
        self.largest = run.engine.largest_step
        self.noises = {BATCHES: self.relative(self.last.batches), FEATURES: self.relative(self._features())}

    def _features(self) -> float:
        """Return what the features have added: as measured, |f - h|^2, since an iteration of one feature shows no spread."""
        history = self.run.history
        if (
            not math.isnan(self.last.features)
            or self.run.problem.labels == "classes"
            or "error_mean" not in history.names
        ):
            return self.last.features
        until = np.searchsorted(history.column("t"), self.t, side="right")
        return float(history.column("error_mean")[until - 1]) if until else math.nan

    def relative(self, square: float) -> float:
        """Return the root of a mean square, relative to the size of f."""
        return float(np.sqrt(square)) / self.size if self.size > 0 else 0.0

    @property
    def end(self) -> int:
        """The planned number of iterations, or those made if the run has settled."""
        return self.run.t if self.run.stop_reason is StopReason.SETTLED else self.run.n_iter

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
        left = self.end - self.t
        still = left * float(np.sqrt(self.step * self.run.engine.step_at(self.end)))
        return (self.last.reach + still) * 2.0 / self.largest


class _State:
    """What the rules ask about a run."""

    def __init__(self, run: Run, baseline: Run | None, limits: RunLimits | None) -> None:
        self.run, self.baseline, self.limits = run, baseline, limits
        self.spec, self.t = run.spec, run.model_t
        self.values = run.spec.values_at(self.t + 1)
        readings = run.engine.gauges.up_to(self.t)
        is_early = len(readings) < FEWEST_READINGS or self.t < EARLIEST * self.end
        self.gauges = None if is_early else GaugeValues(run, self.t, readings)

    @property
    def end(self) -> int:
        """The planned number of iterations, or those made if the run has ended."""
        return self.run.t if self.run.is_finished else self.run.n_iter

    @property
    def has_way(self) -> bool:
        """True if f goes towards an optimum, so that the way it has moved says something."""
        return bool(self.run.problem.engine == "stochastic")

    @property
    def theta(self) -> float:
        """The step size of the slider, or the value of "auto"."""
        asked = self.values["step_size"]
        return float(self.run.engine.automatic_step or 0.0) if asked is None else float(asked)

    @property
    def has_arrived(self) -> bool:
        """True if the run has ended, or its function does not move any more."""
        return self.run.is_finished or (self.gauges is not None and self.gauges.moved <= STILL_MOVES)

    @cached_property
    def useless(self) -> str:
        """Why the score is no better than chance, as a clause; empty if it is better."""
        return at_chance(self.run)

    @cached_property
    def ridge(self) -> float:
        """The ridge relative to the risk's curvature; 0 if there is no curvature."""
        largest = self.run.engine.largest_step
        if largest is None or self.run.engine.limited_by != CURVATURE:
            return 0.0
        lam = float(self.values["lam"])
        return lam / max(2.0 / largest - lam, 1e-6)

    @property
    def usual_lam(self) -> float:
        """The default ridge of the setting on these data."""
        said = defaults_of(type(self.spec.problem), self.spec.data.name).get("solver", {})
        return float(said.get("lam", SolverParameters().lam))

    @cached_property
    def scores(self) -> tuple[float, float]:
        """The scores on the labeled and on the test points, each a mean over the last quarter of the iterations."""
        rows = slice(-max(1, int(LATE * self.run.t)), None)
        on_labels, on_test = (self.run.history.column(f"score_{name}")[rows] for name in ("labeled", "test"))
        return float(np.mean(on_labels)), float(np.mean(on_test))


def _diverged(state: _State) -> Judgement | None:
    if state.run.stop_reason is not StopReason.DIVERGED:
        return None
    largest, run = step_limit(state.run), state.run
    above = "" if largest is None else f": above about {largest:.2g} it does"
    now = run.spec.values_at(run.tried)["step_size"] or run.engine.automatic_step or 0.0
    said = f"Steps of {now:g} made f diverge{above}."
    return Judgement(Cause.DIVERGED, said, *_step_to("Smaller", now, stable_step(run, run.tried)))


def _too_early(state: _State) -> Judgement | None:
    if state.gauges is not None or state.run.is_finished:
        return None
    return Judgement(Cause.EARLY, "It is too early to say what limits this run.")


def _step(state: _State) -> Judgement | None:
    """Judge a step above the largest one, or one that the next step undoes."""
    run, at, largest = state.run, state.gauges, state.run.engine.largest_step
    remedy = _step_to("Smaller", state.theta, stable_step(run, state.t))
    if largest is not None:
        step = run.engine.step_at(min(state.t + 1, run.n_iter))
        said = f"The step is too large: {step:.2g} is above {largest:.2g}, the largest that {run.engine.limited_by} allows."
        return Judgement(Cause.STEP, said, *remedy) if step >= largest else None
    if at is None:
        return None
    leap = at.relative(at.last.update)
    if leap < LEAP or -at.last.agreement < OPPOSED:
        return None
    said = f"The step is too large: one moves f by {_percent(leap)} of its size, and the next one moves it back."
    return Judgement(Cause.STEP, said, *remedy)


def _strong_ridge(state: _State) -> tuple[float, Judgement] | None:
    """Judge a ridge that is stronger than the risk, or that is strong and the result useless."""
    lam, usual, useless = float(state.values["lam"]), state.usual_lam, state.useless if state.has_arrived else ""
    is_strong = state.ridge >= MUCH_RIDGE or lam > FAR_FROM_USUAL * usual
    if not (is_strong and useless) and state.ridge < 1.0:
        return None
    little = LITTLE_RIDGE * lam / state.ridge if state.ridge else usual
    said = useless or f"it is {_percent(state.ridge)} of the risk's curvature, and takes the details from f."
    severity = max(1.0, state.ridge, lam / (FAR_FROM_USUAL * usual) if usual else 1.0)
    remedy = _lam_to("Less", lam, min(usual, little))
    return severity, Judgement(Cause.REGULARISATION, f"The regularisation is too strong, λ = {lam:g}: {said}", *remedy)


def _odd_width(state: _State) -> tuple[float, Judgement] | None:
    """Judge a useless result of a kernel whose width is far from the usual one for these points."""
    remedy, severity = _usual_width(state) if state.has_arrived and state.useless else (NO_REMEDY, 0.0)
    if severity < 1.0:
        return None
    said = f"{state.useless[:1].upper()}{state.useless[1:-1]}: the kernel's width does not suit these points."
    return severity, Judgement(Cause.EQUAL if is_constant(state.run) else Cause.CHANCE, said, *remedy)


def _noise_or_length(state: _State) -> Judgement | None:
    """Judge the worst of too few iterations, small batches, few features, and a ridge that makes the result useless."""
    found = [_strong_ridge(state), _odd_width(state)]
    if (
        state.limits is not None
        and not any(found)
        and (state.limits.has_grown or state.limits.parts["together"] > NEAR)
    ):
        return _measured(state, state.limits)
    if state.gauges is not None and state.limits is None:
        found += [_length(state, state.gauges), *(_noise(state, state.gauges, name) for name in (BATCHES, FEATURES))]
    return max((one for one in found if one is not None), key=lambda one: one[0], default=(0.0, None))[1]


def _measured(state: _State, limits: RunLimits) -> Judgement | None:
    """Judge by the distance of the measured run from the optimum, and the largest part of it."""
    if limits.has_grown:
        now, then = state.theta, limits.changes["step_size"]
        return Judgement(Cause.STEP, "The step is too large: with some seeds f grows.", *_step_to("Smaller", now, then))
    if limits.leading == "none":
        return None
    ((name, then),) = limits.changes.items()
    cause = {"step_size": Cause.STEP, "n_iter": Cause.ITERATIONS, "batch_size": Cause.BATCHES}.get(name, Cause.FEATURES)
    part, whole = limits.parts[limits.leading], limits.parts["together"]
    if cause is Cause.STEP:
        said = f"The step is too small: f is still {part:.2g} of the optimum's size away from it."
    else:
        said = (
            f"{_CAUSE_WORDS[cause]}: f is {whole:.2g} of the optimum's size away from it, {part:.2g} because of them."
        )
    expected = "" if limits.expected is None else f"{limits.expected:.2g}"
    return Judgement(cause, said, *_solver_to(cause, state, then), expected)


_CAUSE_WORDS = {
    Cause.ITERATIONS: "The iterations are too few",
    Cause.BATCHES: "The mini-batches are too small",
    Cause.FEATURES: "The random features are too few",
}


def _length(state: _State, at: GaugeValues) -> tuple[float, Judgement] | None:
    """Judge iterations, or a step, with which f does not arrive."""
    if not state.has_way:
        return None
    moved, reach = at.moved, at.reach
    is_short = moved > STILL_MOVES and reach < ENOUGH_REACH
    is_far = at.largest is None and moved > MOVES_FAR and at.last.agreement > AGREE
    if not (is_short or is_far):
        return None
    way = f"since iteration {state.t // 2:,} f has moved by {_percent(moved)} of its size"
    severity, automatic = max(1.0, ENOUGH_REACH / reach), state.run.engine.sizes_at(state.t + 1).automatic
    if automatic > 2.0 * state.theta:
        said = f"The step is too small: {way}, and does not arrive."
        return severity, Judgement(Cause.STEP, said, *_solver_to(Cause.STEP, state, automatic))
    said = f"{_CAUSE_WORDS[Cause.ITERATIONS]}: {way}, and does not arrive."
    return severity, Judgement(Cause.ITERATIONS, said, *_more_iterations(state))


def _noise(state: _State, at: GaugeValues, name: str) -> tuple[float, Judgement] | None:
    """Judge a noise. Wandering counts for the larger noise, and for the smaller one only if it is close."""
    share, much = at.noises[name], {BATCHES: MUCH_OF_BATCHES, FEATURES: MUCH_OF_FEATURES}
    larger = FEATURES if at.noises[FEATURES] > at.noises[BATCHES] else BATCHES
    severity = max(at.noises[larger] / much[larger], _unrest(at))
    if name != larger:
        ratio = share / at.noises[larger] if at.noises[larger] > 0 else 0.0
        severity = min(share / much[name], severity * ratio) if ratio > HALF else 0.0
    if not severity >= 1.0:
        return None
    cause = Cause.BATCHES if name == BATCHES else Cause.FEATURES
    now = state.spec.solver.batch_size if name == BATCHES else int(state.values["n_features"])
    then = min(FACTOR * now, LARGEST_BATCH if name == BATCHES else MOST_FEATURES)
    said = f"{_CAUSE_WORDS[cause]}: their random choice has changed f by {_percent(share)} of its size."
    remedy = _solver_to(cause, state, then)
    expected = _percent(share * (now / then) ** 0.5) if remedy[0] else ""
    return severity, Judgement(cause, said, *remedy, expected)


def _unrest(at: GaugeValues) -> float:
    """Return the fluctuation of f in units of its limit; zero while f is still converging."""
    return at.wander / MUCH_WANDER if at.last.agreement < AGREE else 0.0


def _growing(state: _State) -> Judgement | None:
    """Judge a run whose objective ended above its start though no cause is large."""
    if not state.run.is_finished or state.run.health is not Health.GROWING:
        return None
    said = "The objective is above its start: the step is too large."
    return Judgement(Cause.STEP, said, *_step_to("Smaller", state.theta, stable_step(state.run, state.t)))


def _useless(state: _State) -> Judgement | None:
    """Judge a score at chance though neither noise nor ridge nor width explain it."""
    if not (state.has_arrived and state.useless):
        return None
    said = (
        f"{state.useless[:1].upper()}{state.useless[1:]} Change the kernel's width, the regularisation or the labels."
    )
    return Judgement(Cause.EQUAL if is_constant(state.run) else Cause.CHANCE, said, *_more_labels(state))


def _converging(state: _State) -> Judgement | None:
    """Judge a run that goes on, and still moves."""
    return None if state.has_arrived else Judgement(Cause.EARLY, "f is still converging.")


def _moving(state: _State) -> Judgement | None:
    """Judge a run that has ended most of its way, and still moved."""
    at = state.gauges
    if at is None or not state.has_way or at.moved <= STILL_MOVES or _unrest(at) >= 1.0:
        return None
    if state.limits is not None or state.run.stop_reason is StopReason.SETTLED:
        return None
    said = f"Most of the way is done, but since iteration {state.t // 2:,} f has moved by {_percent(at.moved)} of its size."
    return Judgement(Cause.ITERATIONS, said, *_more_iterations(state))


def _hurt(state: _State) -> Judgement | None:
    """Judge a result that is worse than the one without unlabeled points."""
    gain = None if state.baseline is None else gain_over_twin(state.run, state.baseline)
    if gain is None or gain.effect is not Effect.HURTS:
        return None
    name, problem, twin = state.run.problem.baseline_name, state.spec.problem, state.spec.baseline().problem
    others = {} if type(twin) is not type(problem) else {p.name: getattr(twin, p.name) for p in problem.parameters}
    changes = {own: value for own, value in others.items() if value != getattr(problem, own)}
    said = f"The unlabeled points hurt: “{name}” scores {-gain.mean:.3f} better."
    return Judgement(Cause.UNLABELED, said, f"Take “{name}”", {"problem": changes}) if changes else None


def _fallen(state: _State) -> Judgement | None:
    """Judge a score that was clearly higher before."""
    best = fallen_from(state.run)
    if best is None:
        return None
    said = f"The iterations are too many: the score has fallen from {best:.3f} to {state.run.result_score or 0.0:.3f}."
    then = best_score(state.run)[1]
    remedy: Remedy = f"Fewer iterations: {state.run.n_iter:,} → {then:,}", {"solver": {"n_iter": then}}
    return Judgement(Cause.ITERATIONS, said, *remedy)


def _measured_generalisation(state: _State) -> Judgement | None:
    """Judge the regularisation and the labels by what other ones bring, measured over seeds."""
    if state.limits is None:
        return None
    lam, found = float(state.values["lam"]), state.limits.scores
    for name, then in ((LESS, lam / FACTOR_OF_RIDGE), (MORE, lam * FACTOR_OF_RIDGE)):
        gain = found.get(name)
        if gain is not None and gain.effect is Effect.HELPS and gain.mean >= WORTH:
            too = "strong" if name == LESS else "weak"
            said = f"The regularisation is too {too}: λ = {then:.2g} scores {gain.mean:.3f} better."
            return Judgement(Cause.REGULARISATION, said, *_lam_to(name.partition(" ")[0].capitalize(), lam, then))
    loss = found.get(HALF_THE_LABELS)
    if loss is not None and loss.effect is Effect.HURTS and -loss.mean >= WORTH:
        said = f"The labels are few: half of them cost {-loss.mean:.3f} of the score, so more would help."
        return Judgement(Cause.LABELS, said, *_more_labels(state))
    return _measured(state, state.limits) or Judgement(Cause.NOTHING, NOTHING)


def _labels(state: _State) -> Judgement | None:
    """Judge a run that knows its labels clearly better than other points."""
    on_labels, on_test = state.scores
    gap = on_labels - on_test
    if not gap > max(GAP, np.nan_to_num(score_half_width(state.run, on_test))):
        return None
    word = "pairs" if state.spec.problem.labels == "pairs" else "labels"
    of_them = f"the {state.run.problem.score_name} is {on_labels:.3f} on them, but {on_test:.3f} on test points"
    said = f"The {word} are few: {of_them}, in the mean of the last quarter of the iterations."
    return Judgement(Cause.LABELS, said, *_more_labels(state))


def _ridge(state: _State) -> Judgement | None:
    """Judge a ridge that is strong beside the risk's curvature."""
    if state.ridge < MUCH_RIDGE:
        return None
    lam = float(state.values["lam"])
    said = f"The regularisation is strong: λ = {lam:g} is {_percent(state.ridge)} of the risk's curvature."
    return Judgement(Cause.REGULARISATION, said, *_lam_to("Less", lam, lam / FACTOR_OF_RIDGE))


def _nothing(state: _State) -> Judgement:
    if state.gauges is None:
        return Judgement(Cause.EARLY, "The run is too short, or has no probe points, to say what limits it.")
    return Judgement(Cause.NOTHING, NOTHING)


NOTHING = "Nothing limits this run."
# In this order: what spoils a run comes before what makes its result a little worse.
_RULES: tuple[Callable[[_State], Judgement | None], ...] = (
    _diverged,
    _step,
    _too_early,
    _noise_or_length,
    _growing,
    _useless,
    _converging,
    _hurt,
    _fallen,
    _measured_generalisation,
    _labels,
    _moving,
    _ridge,
    _nothing,
)


def _step_to(kind: str, now: float, then: float) -> Remedy:
    then = float(f"{then:.2g}")
    return f"{kind} step: {now:.2g} → {then:g}", {"solver": {"step_size": then}}


def _lam_to(kind: str, now: float, then: float) -> Remedy:
    then = float(f"{then:.2g}")
    return (f"{kind} regularisation: λ {now:g} → {then:g}", {"solver": {"lam": then}}) if then != now else NO_REMEDY


def _solver_to(cause: Cause, state: _State, then: float) -> Remedy:
    """Return the remedy of a cause, whose value is the section's; none if the value is the largest already."""
    if cause is Cause.STEP:
        return _step_to("Larger", state.theta, then)
    name, words = {
        Cause.ITERATIONS: ("n_iter", "More iterations"),
        Cause.BATCHES: ("batch_size", "Larger batches"),
        Cause.FEATURES: ("n_features", "More features"),
    }[cause]
    now = int({**vars(state.spec.solver), **state.values}[name])
    return (f"{words}: {now:,} → {int(then):,}", {"solver": {name: int(then)}}) if then > now else NO_REMEDY


def _more_iterations(state: _State) -> Remedy:
    return _solver_to(Cause.ITERATIONS, state, min(FACTOR * state.run.n_iter, MOST_ITERATIONS))


def _usual_width(state: _State) -> tuple[Remedy, float]:
    """Return the kernel's usual width for these points, and by how much the present one is too far from it."""
    kernel = state.spec.kernel
    for p in kernel.parameters:
        if not isinstance(p, Real):
            continue
        now = float(getattr(kernel, p.name))
        try:
            usual = width(p, "scale", state.run.split.X_train, kernel.name)
        except ParameterError:  # out of the parameter's range
            continue
        then = float(f"{usual:.2g}")
        remedy: Remedy = f"Usual width: {p.symbol} {now:g} → {then:g}", {"kernel": {p.name: then}}
        return remedy, max(now / usual, usual / now) / FAR_FROM_USUAL
    return NO_REMEDY, 0.0


def _more_labels(state: _State) -> Remedy:
    """Return twice as many labels, or pairs, if the source has them; of edited data, none."""
    data, split, is_pairs = state.spec.data, state.run.split, state.spec.problem.labels == "pairs"
    there = int((split.y_hidden != UNLABELED).sum()) // (4 if is_pairs else 1)
    now, then = data.n_labeled, min(2 * data.n_labeled, there)
    if data.edits or then <= now:
        return NO_REMEDY
    return f"More {'pairs' if is_pairs else 'labels'}: {now:,} → {then:,}", {"data": {"n_labeled": then}}


def _reason(state: _State) -> list[Figure]:
    """Return the figures of all causes that have a meaning for the run."""
    if state.run.stop_reason is StopReason.DIVERGED:
        return []
    found = list[Figure]()
    if state.limits is not None:
        found += _of_limits(state.limits)
    elif state.gauges is not None:
        found += _of_gauges(state, state.gauges)
    if state.ridge:
        found.append(Figure(Cause.REGULARISATION, _percent(state.ridge), "λ beside the risk's curvature."))
    on_labels, on_test = state.scores if state.run.t else (math.nan, math.nan)
    if math.isfinite(on_labels):
        name = f"The {state.run.problem.score_name} on the labeled points, in the mean of the last quarter of the iterations"
        said = f"{name}; it is {on_test:.3f} on the test points."
        found.append(Figure(Cause.LABELS, f"{on_labels:.3f}", said))
    return found


def _of_limits(limits: RunLimits) -> list[Figure]:
    causes = (Cause.ITERATIONS, Cause.BATCHES, Cause.FEATURES)
    said = ("iterations that are missing", "the choice of mini-batches", "the choice of random features")
    parts = [f"{limits.parts[name]:.2g}" for name in CAUSES]
    words = [f"Distance to the optimum, relative to its size, because of {one}." for one in said]
    return [Figure(*one) for one in zip(causes, parts, words, strict=True)]


def _of_gauges(state: _State, at: GaugeValues) -> list[Figure]:
    share = at.relative(at.last.update) if at.largest is None else at.step / at.largest
    of = "The size of one step beside f" if at.largest is None else f"The step beside the largest one, {at.largest:.2g}"
    found = [Figure(Cause.STEP, _percent(share), f"{of}.")]
    if state.has_way:
        said = f"The way of f since iteration {state.t // 2:,}, beside its size."
        found.append(Figure(Cause.ITERATIONS, _percent(at.moved), said))
    causes = {BATCHES: Cause.BATCHES, FEATURES: Cause.FEATURES}
    noises = [(causes[name], share) for name, share in at.noises.items() if not math.isnan(share)]
    said = "What their random choice has changed so far, beside the size of f."
    return found + [Figure(cause, _percent(share), said) for cause, share in noises]


def _percent(share: float) -> str:
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}" if share < 9.995 else f"{share:,.0f} ×"
