"""Convergence of a run: trajectories to its theorem's limit over seeds, their bands, and slopes beside the theorem's.

A trajectory is measured at iterations evenly spread on a logarithmic scale. If the risk is quadratic, the minimiser f* is
computed exactly, and distances to it are measured. Otherwise the squared norm of the objective's gradient is measured at
every iteration, for its running mean. All means are over the training points.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import Cost
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.diagnostics.references import (
    BYTES_A_PAIR,
    MAX_POINTS,
    Subsample,
    is_sampled,
    on_some_points,
    references,
    seeds_of,
    settled_task,
)
from dsgcore.experiments import Spec, load_split, theory_of
from dsgcore.settings import Constant, profile_of
from dsgcore.solver.loop import AllPoints, solve
from dsgcore.solver.measures import DualCoefficients, ExactTwin, Reference, slope
from dsgcore.solver.task import Task

ERROR, DISTANCE, AVERAGE, NORM = "error", "distance", "average", "norm"
GRADIENT, GRADIENT_MEAN = "gradient", "gradient_mean"
# The names of the quantities.
WORDS = {
    DISTANCE: "|f − f*|²",
    AVERAGE: "|f̄ − f*|²",
    ERROR: "|f − h|²",
    NORM: "‖h − f*‖²",
    GRADIENT: "‖∇J(h)‖²",
    GRADIENT_MEAN: "running mean of ‖∇J(h)‖²",
}
PER_DECADE = 20
# Seconds for each pair of points: of a product of the matrix and a vector, and of solving.
SECONDS_A_PAIR, SECONDS_A_TRIPLE = 1e-9, 1e-10
# Share of the upper estimate that a trajectory is likely to take.
SHARE = 0.35
RESAMPLES = 200
BAND = (0.2, 0.8)
# A slope is fitted over the range in which x grows by this factor.
LAST = 10.0
# A slope breaks the promise if it exceeds the promised one by both this many standard errors and this share of it.
ERRORS, CLOSE = 2.0, 0.2


def reference_of(spec: Spec, split: Split) -> Reference:
    """Return the `Reference` of a spec's trajectory; raise `DiagnosticsError` if the spec has none."""
    with single_threaded_blas():
        return next(references([settled_task(spec, split)]))[1]


def trajectory_cost(spec: Spec, n_train: int) -> Cost:
    """Estimate the cost besides the run: bytes, and seconds per iteration."""
    n = min(n_train, MAX_POINTS)
    pairs = n**2
    seconds = 2 * pairs * SECONDS_A_PAIR + pairs * n * SECONDS_A_TRIPLE / spec.solver.n_iter
    return Cost(BYTES_A_PAIR * pairs, seconds, SHARE * seconds * spec.solver.n_iter)


def trajectory(spec: Spec, split: Split, reference: Reference | None = None) -> dict[str, NDArray]:
    """Return the trajectory of a spec's run, column by column.

    Parameters
    ----------
    spec : Spec
        With a stochastic setting. Its seed sets batches and features, and the subsample of many points.
    split : Split
        The data, from any seed.
    reference : Reference, optional
        The reference, if it is already known.

    Returns
    -------
    dict of str to ndarray of shape (k,)
        Always:

        - "t", and "seconds" of the method alone
        - "error" |f − h|², and "bound" M² (κ + φ)² Σ|a|²
        - "largest_weight" M and "squared_steps" Σ|a|², its constants

        With an optimum:

        - "distance" |f − f*|²
        - "average", the same for the mean of the iterates after t/2
        - "norm" ‖h − f*‖²_H
        - "scale", the mean of f*², and "f_star_norm" ‖f*‖²_H

        Without an optimum, or if the theorem is about it:

        - "gradient" ‖∇J(h_t)‖² and "gradient_mean", its running mean

        With a subsample also "points", the training points used, and "of_points", all of them. The run ends at the
        first value that is not finite.
    """
    task = settled_task(spec, split)
    with single_threaded_blas():
        own, reference = next(references([task])) if reference is None else (on_some_points(task), reference)
        return _columns(own, reference, len(split.X_train), GRADIENT_MEAN in theory_of(spec).rates)


def _columns(task: Task, reference: Reference, of_points: int, with_gradient: bool) -> dict[str, NDArray]:
    """Follow f at the training points, and its twin h by dual coefficients; return what follows from both, by name."""
    n, n_iter, K, optimum, model = len(task.X), task.plan.n_iter, reference.K, reference.optimum, task.new_model()
    points, dual, lemma = AllPoints(task, model), DualCoefficients(n), ExactTwin(task.kernel, task.X[:1])
    f_star = None if optimum is None else K @ optimum
    total, totals, halves = np.zeros(n), {0: np.zeros(n)}, set((recorded(n_iter) // 2).tolist())
    wanted, rows, seconds, gradient, gradients = set(recorded(n_iter).tolist()), list[dict[str, float]](), 0.0, 0.0, 0.0

    def row(t: int) -> dict[str, float]:
        f = points.values.astype(np.float64)
        found = {"t": t, "seconds": seconds, ERROR: float(np.mean((f - K @ dual.values) ** 2)), "bound": lemma.bound()}
        found |= {"largest_weight": lemma.largest_weight, "squared_steps": lemma.squared_steps}
        if is_sampled(of_points):
            found |= {"points": n, "of_points": of_points}
        if with_gradient or f_star is None:
            found |= {GRADIENT: gradient, GRADIENT_MEAN: gradients / max(t, 1)}
        if f_star is not None and optimum is not None:
            mean, difference = (total - totals[t // 2]) / max(t - t // 2, 1), dual.values - optimum
            squares = {DISTANCE: f - f_star, AVERAGE: mean - f_star, "scale": f_star}
            found |= {name: float(np.mean(values**2)) for name, values in squares.items()}
            found |= {NORM: float(difference @ (K @ difference)), "f_star_norm": float(optimum @ f_star)}
        return found

    iterates = solve(task, model, training=points)
    with np.errstate(over="ignore", invalid="ignore"):
        while True:
            start = time.perf_counter()
            iterate = next(iterates, None)
            seconds += time.perf_counter() - start
            if iterate is None:
                break
            step = iterate.step
            if with_gradient or f_star is None:  # of h before the step: the mean starts at h_1 = 0
                gradient = reference.whole.at(dual.values, step.lam)
                gradients += gradient
            dual.advance(iterate.rows, iterate.weights, step.size, step.decay)
            lemma.advance(iterate.points, iterate.weights, step.size, step.decay)
            if f_star is not None:
                total += points.values
                if iterate.t in halves:
                    totals[iterate.t] = total.copy()
            if iterate.t in wanted:
                if not np.isfinite((found := row(iterate.t))[ERROR]):
                    break
                rows.append(found)
    return {name: np.array([one[name] for one in rows], dtype=np.float64) for name in (rows[0] if rows else row(0))}


def recorded(n_iter: int) -> NDArray:
    """Return the iterations at which a trajectory is measured."""
    number = int(np.ceil(PER_DECADE * np.log10(max(n_iter, 2)))) + 1
    return np.unique(np.geomspace(1, n_iter, number).round().astype(int))


@dataclass(frozen=True)
class Slope:
    """The slope of one logarithm against another, and its standard error over the seeds (NaN with fewer than two)."""

    value: float
    error: float

    def keeps(self, promised: float) -> bool:
        """Return True if the quantity falls at least as fast as t to the power of `promised`, within the error."""
        error = self.error if np.isfinite(self.error) else 0.0
        return bool(self.value <= promised + max(ERRORS * error, CLOSE * abs(promised)))


@dataclass(frozen=True, eq=False)
class Convergence:
    """The trajectories of one spec over several seeds.

    Attributes
    ----------
    t : ndarray of shape (k,)
    columns : mapping of str to ndarray of shape (seeds, k)
        The columns of `dsgcore.diagnostics.convergence`; NaN beyond the end of a run that diverged.
    """

    spec: Spec
    seeds: tuple[int, ...]
    t: NDArray = field(repr=False)
    columns: Mapping[str, NDArray] = field(repr=False)

    @classmethod
    def of(cls, spec: Spec, trajectories: Mapping[int, Mapping[str, NDArray]]) -> Convergence:
        """Return the trajectories of several seeds as one object."""
        longest = max(trajectories.values(), key=lambda own: len(own["t"]))
        k = len(longest["t"])

        def padded(column: NDArray) -> NDArray:
            return np.pad(column, (0, k - len(column)), constant_values=np.nan)

        columns = {name: np.array([padded(own[name]) for own in trajectories.values()]) for name in longest}
        return cls(spec, tuple(trajectories), longest["t"], columns)

    @property
    def quantities(self) -> tuple[str, ...]:
        """The measured quantities, by the names of their columns."""
        return tuple(name for name in WORDS if name in self.columns)

    @property
    def subsample(self) -> Subsample | None:
        """The training points used; None if all of them were."""
        if "of_points" not in self.columns or not len(self.t):
            return None
        return Subsample.of_points(int(np.nanmax(self.columns["of_points"])), self.seeds)

    @property
    def n_diverged(self) -> int:
        """The number of runs that ended before their last iteration."""
        has_ended = len(self.t) > 0 and self.t[-1] >= self.spec.solver.n_iter
        return int(np.isnan(self.columns[ERROR][:, -1]).sum()) if has_ended else len(self.seeds)

    def median(self, name: str) -> NDArray:
        """Return a quantity's median over the seeds, of shape (k,)."""
        return _quantile(self.columns[name], 0.5)

    def band(self, name: str) -> tuple[NDArray, NDArray]:
        """Return the 20 % and 80 % quantiles over the seeds."""
        low, high = (_quantile(self.columns[name], share) for share in BAND)
        return low, high

    def mean(self, name: str) -> NDArray:
        """Return a quantity's mean over the seeds, to compare with theorems on expectations."""
        return np.asarray(self.columns[name].mean(axis=0))

    def bounds(self, name: str) -> dict[str, NDArray]:
        """Return upper bounds of a quantity's mean over t, by their names in charts.

        For |f − h|² it is M² (κ + φ)² Σ|a|² (QSG-S2AUC's Lemma 1). For |f − f*|² it is 2 |f − h|² + 2 κ ‖h − f*‖²_H,
        with that bound for the first term and the measured norm. If the paper gives its theorem's constants, the
        theorem's own bound comes last; one in the length of the run holds for all of it.
        """
        found, lemma = dict[str, NDArray](), self.mean("bound")
        if name == ERROR:
            found["the paper's bound"] = lemma
        elif name == DISTANCE:
            found["bound with the measured ‖h − f*‖²"] = 2.0 * lemma + 2.0 * self.spec.kernel.bound * self.mean(NORM)
        own = self.theorem_bound()
        if own is not None and own.of == name:
            found["the theorem's bound"] = own.value * (self.t if own.rate.of == "t" else self.t[-1:]) ** own.rate.slope
        return {words: np.broadcast_to(values, self.t.shape) for words, values in found.items()}

    def constants(self) -> dict[str, float]:
        """Return the constants of the bound M² (κ + φ)² Σ|a|², at the end, averaged over the seeds."""
        kernel = self.spec.kernel
        return {
            "κ": kernel.bound,
            "φ": kernel.feature_bound,
            "M": float(self.mean("largest_weight")[-1]),
            "Σ|a|²": float(self.mean("squared_steps")[-1]),
        }

    def theorem_bound(self) -> Constant | None:
        """Return the theorem's bound with its constant, if the paper gives one and its assumptions hold."""
        if not theory_of(self.spec).holds:
            return None
        names = ("largest_weight", "f_star_norm")
        M, squared = (float(self.mean(name)[-1]) if name in self.columns else np.nan for name in names)
        return profile_of(self.spec.problem).theorem.constant(self.spec, M, squared**0.5)

    def slope(self, name: str) -> Slope:
        """Return the slope of a quantity's mean over the last decade of t."""
        return fitted(self.t, self.columns[name])


def convergence(
    spec: Spec,
    seeds: int | Sequence[int] = 5,
    *,
    split: Split | None = None,
    callback: Callable[[float], object] = lambda share: None,
) -> Convergence:
    """Measure the convergence of a spec's run over several seeds.

    Parameters and errors are as in `dsgcore.diagnostics.limits`.

    Returns
    -------
    Convergence

    Examples
    --------
    >>> from dsgcore import Spec
    >>> from dsgcore.diagnostics import convergence
    >>> data = {"name": "two_moons", "n": 200, "n_labeled": 20}
    >>> made = convergence(Spec.from_dict({"setting": "auc", "data": data, "solver": {"n_iter": 20}}), seeds=2)
    >>> made.slope("error").value < 0
    True
    """
    used, trajectories = seeds_of(spec, seeds), {}
    split = load_split(spec) if split is None else split
    n, with_gradient = len(split.X_train), GRADIENT_MEAN in theory_of(spec).rates
    tasks = (settled_task(replace(spec, seed=seed), split) for seed in used)
    with single_threaded_blas():
        for seed, (task, reference) in zip(used, references(tasks), strict=True):
            trajectories[seed] = _columns(task, reference, n, with_gradient)
            del reference  # before the next kernel matrix is made
            callback(len(trajectories) / len(used))
    return Convergence.of(spec, trajectories)


def fitted(x: NDArray, values: NDArray) -> Slope:
    """Return the slope of the mean of `values` (seeds, k) against `x` (k,) on logarithmic scales, over the last decade of x.

    Its standard error comes from resampling the seeds.
    """
    late = x >= (x[-1] / LAST if len(x) else 0.0)
    own, rng, n = values[:, late], np.random.default_rng(0), len(values)
    resampled = [slope(x[late], own[rng.integers(0, n, n)].mean(axis=0)) for _ in range(RESAMPLES * (n > 1))]
    return Slope(slope(x[late], own.mean(axis=0)), float(np.std(resampled)) if resampled else float("nan"))


def _quantile(values: NDArray, share: float) -> NDArray:
    """Return a quantile over the seeds that reached each iteration."""
    there = np.isfinite(values).any(axis=0)
    found = np.full(values.shape[1], np.nan)
    found[there] = np.nanquantile(values[:, there], share, axis=0)
    return found
