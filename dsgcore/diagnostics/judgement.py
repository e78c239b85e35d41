"""What limits a run: one cause, one sentence, and one change of the spec that helps, with the figures behind them.

While a run goes on, the causes are told from its history and from cheap gauges. The gauges measure the noise that
entered so far, as if no later step reduced it, so they overstate noise, and more so for larger steps. Their thresholds
lie between the values of runs that do well and those of spoilt ones. `dsgcore.diagnostics.limits` measures the causes
by intervention instead, and the judgement takes its figures if it is given them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import per_cent
from dsgcore.core.metrics import Effect
from dsgcore.core.parameters import ParameterError, Real
from dsgcore.diagnostics.limits import CAUSES, FACTOR, FACTOR_OF_RIDGE, HALF_THE_LABELS, LESS, MORE, NEAR, RunLimits
from dsgcore.estimators.inputs import width
from dsgcore.experiments.run import Health, Run, StopReason, stable_step, step_limit
from dsgcore.experiments.spec import Spec, defaults_of
from dsgcore.experiments.stochastic import CURVATURE
from dsgcore.experiments.verdict import at_chance, best_score, fallen, gain_over_twin, is_constant, score_half_width
from dsgcore.problems import UNLABELED
from dsgcore.solver.measures import STRIDE, Reading
from dsgcore.solver.parameters import SolverParameters

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
# So is an assumed share of positives that differs from that of the points by this much.
FAR_SHARE = 0.1
# The score on the labels exceeds that on the test points by at least this much if labels are too few.
GAP = 0.02
# The share of a run's last rows that a score is averaged over.
LATE = 0.25
# A measured gain of the score that is worth a change.
WORTH = 0.005
MOST_ITERATIONS, MOST_FEATURES, LARGEST_BATCH = 100_000, 65_536, 65_536


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


# Relative to the size of f: more noise than this limits a run.
MUCH, MUCH_WANDER = {Cause.BATCHES: 1.0, Cause.FEATURES: 0.1}, 0.1
# What a remedy makes larger: the words of the cause and of the remedy, the solver's parameter, and its largest value.
LARGER = {
    Cause.ITERATIONS: ("The iterations are too few", "More iterations", "n_iter", MOST_ITERATIONS),
    Cause.BATCHES: ("The mini-batches are too small", "Larger batches", "batch_size", LARGEST_BATCH),
    Cause.FEATURES: ("The random features are too few", "More features", "n_features", MOST_FEATURES),
}


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
    # What spoils a run comes before what makes its result a little worse.
    found = next(chain(_spoilt(state), _worse(state), _measured_scores(state), _told(state)))
    return replace(found, reason=tuple(_figures(state)))


class _State:
    """What the rules ask about a run. Values of gauges are relative to the size of f at the probes."""

    def __init__(self, run: Run, baseline: Run | None, limits: RunLimits | None) -> None:
        self.run, self.baseline, self.limits, self.spec, self.t = run, baseline, limits, run.spec, run.model_t
        self.values = run.spec.values_at(self.t + 1)
        self.step, self.largest = run.engine.step_at(min(self.t + 1, run.n_iter)), run.engine.largest_step
        asked = self.values["step_size"]
        # The step size of the slider, or the value of "auto".
        self.theta = float(run.engine.automatic_step or 0.0) if asked is None else float(asked)
        # True if f goes towards an optimum, so that the way it has moved says something.
        self.has_way = bool(run.problem.engine == "stochastic")
        self.readings: list[Reading] = run.engine.gauges.up_to(self.t)
        end = run.t if run.is_finished else run.n_iter
        self.is_early = len(self.readings) < FEWEST_READINGS or self.t < EARLIEST * end
        if not self.is_early:
            self.last = self.readings[-1]
            self.size = float(np.sqrt(np.mean(self.last.f**2)))
            history, features = run.history, self.last.features
            if math.isnan(features) and run.problem.labels != "classes" and "error_mean" in history.names:
                # An iteration of one feature shows no spread: |f - h|^2, as measured.
                until = np.searchsorted(history.column("t"), self.t, side="right")
                features = float(history.column("error_mean")[until - 1]) if until else math.nan
            noises = {Cause.BATCHES: self.last.batches, Cause.FEATURES: features}
            self.noises = {cause: self.relative(square) for cause, square in noises.items()}

    def relative(self, square: float) -> float:
        """Return the root of a mean square, relative to the size of f."""
        return float(np.sqrt(square)) / self.size if self.size > 0 else 0.0

    @cached_property
    def moved(self) -> float:
        """The distance that f moved in the second half of the iterations."""

        def near(t: float) -> NDArray:  # the mean over an eighth, so that noise does not count as movement
            return np.mean(
                [r.f for r in self.readings if 0.875 * t - STRIDE < r.t <= t] or [self.readings[0].f], axis=0
            )

        return self.relative(float(np.mean((near(self.t) - near(self.t / 2)) ** 2)))

    @cached_property
    def unrest(self) -> float:
        """The fluctuation of f in units of its limit, from second differences, which are zero on a straight path.

        It is zero while f is still converging.
        """
        if self.last.agreement >= AGREE:
            return 0.0
        F = np.array([r.f for r in self.readings if r.t > self.t / 2])
        lag = max(1, len(F) // 8)
        bends = F[2 * lag :] - 2.0 * F[lag:-lag] + F[: -2 * lag]
        return (self.relative(float(np.mean(bends**2)) / 6.0) if bends.size else 0.0) / MUCH_WANDER

    @property
    def reach(self) -> float:
        """The sum of all step sizes to the planned end, in units of half the largest step; infinite if no step is too large."""
        if self.largest is None:
            return np.inf
        end = self.run.t if self.run.stop_reason is StopReason.SETTLED else self.run.n_iter
        still = (end - self.t) * float(np.sqrt(self.step * self.run.engine.step_at(end)))
        return (self.last.reach + still) * 2.0 / self.largest

    @property
    def has_arrived(self) -> bool:
        """True if the run has ended, or its function does not move any more."""
        return self.run.is_finished or (not self.is_early and self.moved <= STILL_MOVES)

    @cached_property
    def useless(self) -> str:
        """Why the score is no better than chance, as a clause; empty if it is better."""
        return at_chance(self.run)

    @cached_property
    def ridge(self) -> float:
        """The ridge relative to the risk's curvature; 0 if there is no curvature."""
        if self.largest is None or self.run.engine.limited_by != CURVATURE:
            return 0.0
        lam = float(self.values["lam"])
        return lam / max(2.0 / self.largest - lam, 1e-6)

    @cached_property
    def scores(self) -> tuple[float, float]:
        """The scores on the labeled and on the test points, each a mean over the last quarter of the iterations."""
        rows = slice(-max(1, int(LATE * self.run.t)), None)
        on_labels, on_test = (self.run.history.column(f"score_{name}")[rows] for name in ("labeled", "test"))
        return float(np.mean(on_labels)), float(np.mean(on_test))


def _spoilt(state: _State) -> Iterator[Judgement]:
    """Yield what spoils a run: divergence, too large a step, then the worst of ridge, width, length and noise."""
    run, largest, limits = state.run, state.largest, state.limits
    if run.stop_reason is StopReason.DIVERGED:
        limit, now = step_limit(run), run.spec.values_at(run.tried)["step_size"] or run.engine.automatic_step or 0.0
        above = "" if limit is None else f": above about {limit:.2g} it does"
        remedy = _step_to("Smaller", now, stable_step(run, run.tried))
        yield Judgement(Cause.DIVERGED, f"Steps of {now:g} made f diverge{above}.", *remedy)
    said = ""
    if largest is None:
        if not (
            state.is_early or -state.last.agreement < OPPOSED or (leap := state.relative(state.last.update)) < LEAP
        ):
            said = f"one moves f by {_percent(leap)} of its size, and the next one moves it back."
    elif not state.step < largest:
        said = f"{state.step:.2g} is above {largest:.2g}, the largest that {run.engine.limited_by} allows."
    if said:
        remedy = _step_to("Smaller", state.theta, stable_step(run, state.t))
        yield Judgement(Cause.STEP, f"The step is too large: {said}", *remedy)
    if state.is_early and not run.is_finished:
        yield Judgement(Cause.EARLY, "It is too early to say what limits this run.")
    found = [*_unsuited(state)]
    if limits is not None and (limits.has_grown or limits.parts["together"] > NEAR):
        # Much noise explains a useless result, too.
        noise = max(limits.parts[cause.value] / much for cause, much in MUCH.items())
        if all(severity < noise for severity, _ in found):
            yield from _measured(state, limits)
    elif not state.is_early and limits is None:
        found += _short_or_noisy(state)
    if found:
        yield max(found, key=lambda one: one[0])[1]
    if run.is_finished and run.health is Health.GROWING:
        said = "The objective is above that of f = 0: the step is too large."
        yield Judgement(Cause.STEP, said, *_step_to("Smaller", state.theta, stable_step(run, state.t)))
    if state.has_arrived and state.useless:  # though neither noise nor ridge nor width explain it
        said = f"{state.useless[:1].upper()}{state.useless[1:]} Change the kernel's width, the regularisation or the labels."
        yield Judgement(Cause.EQUAL if is_constant(run) else Cause.CHANCE, said, *_more_labels(state))


def _unsuited(state: _State) -> Iterator[tuple[float, Judgement]]:
    """Yield too strong a ridge, and of a useless result a share of positives and a kernel's width far from those of the data."""
    defaults = defaults_of(type(state.spec.problem), state.spec.data.name)
    usual, lam = float(defaults.get("solver", {}).get("lam", SolverParameters().lam)), float(state.values["lam"])
    useless, opening = state.useless if state.has_arrived else "", f"{state.useless[:1].upper()}{state.useless[1:-1]}"
    is_strong = state.ridge >= MUCH_RIDGE or lam > FAR_FROM_USUAL * usual
    if (is_strong and useless) or state.ridge >= 1.0:
        little = LITTLE_RIDGE * lam / state.ridge if state.ridge else usual
        said = useless or f"it is {_percent(state.ridge)} of the risk's curvature, and takes the details from f."
        severity = max(1.0, state.ridge, lam / (FAR_FROM_USUAL * usual) if usual else 1.0)
        said = f"The regularisation is too strong, λ = {lam:g}: {said}"
        yield severity, Judgement(Cause.REGULARISATION, said, *_lam_to("Less", lam, min(usual, little)))
    cause, prior = Cause.EQUAL if is_constant(state.run) else Cause.CHANCE, getattr(state.spec.problem, "prior", 0.5)
    share = round(float(np.mean(state.run.split.y_test == 1)), 2)
    if useless and state.run.problem.labels == "pairs" and abs(prior - share) >= FAR_SHARE and share not in (0, 0.5, 1):
        said = f"{opening}: the assumed share of positives is {prior:g}, and that of the points is {share:g}."
        remedy: Remedy = f"Assumed share: {prior:g} → {share:g}", {"problem": {"prior": share}}
        yield abs(prior - share) / FAR_SHARE, Judgement(cause, said, *remedy)
    kernel, X = state.spec.kernel, state.run.split.X_train
    for p in (one for one in kernel.parameters if useless and isinstance(one, Real)):
        now = float(getattr(kernel, p.name))
        try:
            usual = width(p, "scale", X, kernel.name)
        except ParameterError:  # out of the parameter's range
            continue
        good = usual, defaults.get("kernel", {}).get(p.name) or usual  # a set's own width suits it
        then, severity = float(f"{usual:.2g}"), min(max(now / one, one / now) for one in good) / FAR_FROM_USUAL
        if severity >= 1.0:
            remedy = f"Usual width: {p.symbol} {now:g} → {then:g}", {"kernel": {p.name: then}}
            yield severity, Judgement(cause, f"{opening}: the kernel's width does not suit these points.", *remedy)
        return


def _measured(state: _State, limits: RunLimits) -> Iterator[Judgement]:
    """Yield the largest part of the measured run's distance from the optimum, or that it grows."""
    solver, largest, now = state.spec.solver, limits.largest_step, state.theta
    if limits.has_grown:
        remedy = _step_to("Smaller", now, 0.5 * min(now if largest is None else largest, now))
        yield Judgement(Cause.STEP, "The step is too large: with some seeds f grows.", *remedy)
    if limits.leading == "none":
        return
    part, whole, expected = limits.parts[limits.leading], limits.parts["together"], f"{limits.expected or 0.0:.2g}"
    # A larger step if there is room below the limit of divergence, else more iterations.
    is_steady = largest is not None and solver.step_size is not None and solver.schedule == "constant"
    if limits.leading == "optimisation" and is_steady and FACTOR * now <= (largest or 0.0) / 2:
        said = f"The step is too small: f is still {part:.2g} of the optimum's size away from it."
        yield Judgement(Cause.STEP, said, *_step_to("Larger", now, FACTOR * now), expected)
    else:
        cause = Cause.ITERATIONS if limits.leading == "optimisation" else Cause(limits.leading)
        said = f"{LARGER[cause][0]}: f is {whole:.2g} of the optimum's size away from it, {part:.2g} because of them."
        yield Judgement(cause, said, *_larger(state, cause), expected)


def _short_or_noisy(state: _State) -> Iterator[tuple[float, Judgement]]:
    """Yield iterations, or a step, with which f does not arrive, and noises.

    Wandering counts for the larger noise, and for the smaller one only if it is close.
    """
    if state.has_way:
        moved, reach = state.moved, state.reach
        is_far = state.largest is None and moved > MOVES_FAR and state.last.agreement > AGREE
        if is_far or (moved > STILL_MOVES and reach < ENOUGH_REACH):
            way = f"since iteration {state.t // 2:,} f has moved by {_percent(moved)} of its size, and does not arrive."
            severity, automatic = max(1.0, ENOUGH_REACH / reach), state.run.engine.sizes_at(state.t + 1).automatic
            if automatic > 2.0 * state.theta:
                remedy = _step_to("Larger", state.theta, automatic)
                yield severity, Judgement(Cause.STEP, f"The step is too small: {way}", *remedy)
            else:
                said = f"{LARGER[Cause.ITERATIONS][0]}: {way}"
                yield severity, Judgement(Cause.ITERATIONS, said, *_larger(state, Cause.ITERATIONS))
    noises = state.noises
    larger = Cause.FEATURES if noises[Cause.FEATURES] > noises[Cause.BATCHES] else Cause.BATCHES
    for cause in MUCH:
        share, severity = noises[cause], max(noises[larger] / MUCH[larger], state.unrest)
        if cause is not larger:
            ratio = share / noises[larger] if noises[larger] > 0 else 0.0
            severity = min(share / MUCH[cause], severity * ratio) if ratio > HALF else 0.0
        if severity >= 1.0:
            words, _, name, _ = LARGER[cause]
            said = f"{words}: their random choice has changed f by {_percent(share)} of its size."
            label, changes = _larger(state, cause)
            fall = (_present(state, name) / changes["solver"][name]) ** 0.5 if label else 0.0
            yield severity, Judgement(cause, said, label, changes, _percent(share * fall) if label else "")


def _worse(state: _State) -> Iterator[Judgement]:
    """Yield what makes a result worse than it was, or than it is without unlabeled points."""
    run = state.run
    if not state.has_arrived:
        yield Judgement(Cause.EARLY, "f is still converging.")
    gain = None if state.baseline is None else gain_over_twin(run, state.baseline)
    if gain is not None and gain.effect is Effect.HURTS:
        name, problem, twin = run.problem.baseline_name, state.spec.problem, state.spec.baseline().problem
        others = {} if type(twin) is not type(problem) else {p.name: getattr(twin, p.name) for p in problem.parameters}
        changes = {own: value for own, value in others.items() if value != getattr(problem, own)}
        said = f"The unlabeled points hurt: “{name}” scores {-gain.mean:.3f} better."
        if changes:
            yield Judgement(Cause.UNLABELED, said, f"Take “{name}”", {"problem": changes})
    if (scores := fallen(run)) is not None:
        said, then = "the score has fallen from {:.3f} to {:.3f}.".format(*scores), best_score(run)[1]
        remedy: Remedy = f"Fewer iterations: {run.n_iter:,} → {then:,}", {"solver": {"n_iter": then}}
        yield Judgement(Cause.ITERATIONS, f"The iterations are too many: {said}", *remedy)


def _told(state: _State) -> Iterator[Judgement]:
    """Yield what the run's own history tells of labels, way and ridge, and at last that nothing limits it."""
    run, (on_labels, on_test) = state.run, state.scores
    if on_labels - on_test > max(GAP, np.nan_to_num(score_half_width(run, on_test))):
        word = "pairs" if state.spec.problem.labels == "pairs" else "labels"
        of_them = f"the {run.problem.score_name} is {on_labels:.3f} on them, but {on_test:.3f} on test points"
        said = f"The {word} are few: {of_them}, in the mean of the last quarter of the iterations."
        yield Judgement(Cause.LABELS, said, *_more_labels(state))
    can_move = run.stop_reason is not StopReason.SETTLED and not state.is_early and state.has_way
    if can_move and not (state.moved <= STILL_MOVES or state.unrest >= 1.0):
        way = f"since iteration {state.t // 2:,} f has moved by {_percent(state.moved)} of its size"
        said = f"Most of the way is done, but {way}."
        yield Judgement(Cause.ITERATIONS, said, *_larger(state, Cause.ITERATIONS))
    if state.ridge >= MUCH_RIDGE:
        lam = float(state.values["lam"])
        said = f"The regularisation is strong: λ = {lam:g} is {_percent(state.ridge)} of the risk's curvature."
        yield Judgement(Cause.REGULARISATION, said, *_lam_to("Less", lam, lam / FACTOR_OF_RIDGE))
    if (twin := state.baseline) is not None and twin.t < state.t and not twin.is_finished:
        said = f"“{run.problem.baseline_name}” is behind at iteration {twin.t:,}, so it is too early to say what limits this run."
        yield Judgement(Cause.EARLY, said)
    if state.is_early:
        yield Judgement(Cause.EARLY, "The run is too short, or has no probe points, to say what limits it.")
    yield Judgement(Cause.NOTHING, NOTHING)


def _measured_scores(state: _State) -> Iterator[Judgement]:
    """Yield what another regularisation and more labels would bring, as measured over seeds, and then the largest part."""
    limits = state.limits
    if limits is None:
        return
    lam, found = float(state.values["lam"]), limits.scores
    for name, too, then in ((LESS, "strong", lam / FACTOR_OF_RIDGE), (MORE, "weak", lam * FACTOR_OF_RIDGE)):
        gain = found.get(name)
        if gain is not None and gain.effect is Effect.HELPS and gain.mean >= WORTH:
            said = f"The regularisation is too {too}: λ = {then:.2g} scores {gain.mean:.3f} better."
            yield Judgement(Cause.REGULARISATION, said, *_lam_to(name.partition(" ")[0].capitalize(), lam, then))
    loss = found.get(HALF_THE_LABELS)
    if loss is not None and loss.effect is Effect.HURTS and -loss.mean >= WORTH:
        said = f"The labels are few: half of them cost {-loss.mean:.3f} of the score, so more would help."
        yield Judgement(Cause.LABELS, said, *_more_labels(state))
    yield from _measured(state, limits)
    yield Judgement(Cause.NOTHING, NOTHING)


NOTHING = "Nothing limits this run."


def _step_to(kind: str, now: float, then: float) -> Remedy:
    then = float(f"{then:.2g}")
    return f"{kind} step: {float(f'{now:.2g}'):g} → {then:g}", {"solver": {"step_size": then}}


def _lam_to(kind: str, now: float, then: float) -> Remedy:
    then = float(f"{then:.2g}")
    return (f"{kind} regularisation: λ {now:g} → {then:g}", {"solver": {"lam": then}}) if then != now else NO_REMEDY


def _present(state: _State, name: str) -> int:
    return int({**vars(state.spec.solver), **state.values}[name])


def _larger(state: _State, cause: Cause) -> Remedy:
    """Return the remedy of a cause, four times its value; none if the value is the largest already."""
    _, words, name, most = LARGER[cause]
    now = _present(state, name)
    then = min(FACTOR * now, most)
    return (f"{words}: {now:,} → {then:,}", {"solver": {name: then}}) if then > now else NO_REMEDY


def _more_labels(state: _State) -> Remedy:
    """Return twice as many labels, or pairs, if the source has them; of edited data, none."""
    data, split, is_pairs = state.spec.data, state.run.split, state.spec.problem.labels == "pairs"
    there = int((split.y_hidden != UNLABELED).sum()) // (4 if is_pairs else 1)
    now, then = data.n_labeled, min(2 * data.n_labeled, there)
    if data.edits or then <= now:
        return NO_REMEDY
    return f"More {'pairs' if is_pairs else 'labels'}: {now:,} → {then:,}", {"data": {"n_labeled": then}}


def _figures(state: _State) -> list[Figure]:
    """Return the figures of all causes that have a meaning for the run."""
    run, largest, found = state.run, state.largest, list[Figure]()
    if run.stop_reason is StopReason.DIVERGED:
        return found
    if state.limits is not None and not state.limits.has_grown:
        whys = ("iterations that are missing", "the choice of mini-batches", "the choice of random features")
        for cause, name, why in zip(LARGER, CAUSES, whys, strict=True):
            said = f"Distance to the optimum, relative to its size, because of {why}."
            found.append(Figure(cause, f"{state.limits.parts[name]:.2g}", said))
    elif not state.is_early:
        share = state.relative(state.last.update) if largest is None else state.step / largest
        beside = f"The step beside the largest one, {largest:.2g}" if largest else "The size of one step beside f"
        found.append(Figure(Cause.STEP, _percent(share), f"{beside}."))
        if state.has_way:
            said = f"The way of f since iteration {state.t // 2:,}, beside its size."
            found.append(Figure(Cause.ITERATIONS, _percent(state.moved), said))
        said = "What their random choice has changed so far, beside the size of f."
        found += [Figure(cause, _percent(s), said) for cause, s in state.noises.items() if not math.isnan(s)]
    if state.ridge:
        found.append(Figure(Cause.REGULARISATION, _percent(state.ridge), "λ beside the risk's curvature."))
    on_labels, on_test = state.scores if run.t else (math.nan, math.nan)
    if math.isfinite(on_labels):
        name = f"The {run.problem.score_name} on the labeled points, in the mean of the last quarter of the iterations"
        said = f"{name}; it is {on_test:.3f} on the test points."
        found.append(Figure(Cause.LABELS, f"{on_labels:.3f}", said))
    return found


def _percent(share: float) -> str:
    return per_cent(share, 1 if share < 0.0995 else 0)
