"""Convergence of a run: trajectories over seeds, their median and band, and fitted slopes beside the theorem's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.diagnostics.four_runs import seeds_of
from dsgcore.diagnostics.subsample import Subsample, is_sampled
from dsgcore.diagnostics.trajectory import DISTANCE, ERROR, NORM, WORDS, reference_of, trajectory
from dsgcore.experiments import Spec, load_split, theory_of
from dsgcore.settings import Constant, Measured, profile_of
from dsgcore.solver.diagnostics import slope

RESAMPLES = 200
BAND = (0.2, 0.8)
# A slope is fitted over the range in which x grows by this factor.
LAST = 10.0
# A slope breaks the promise if it exceeds the promised one by both this many standard errors and this share of it.
ERRORS, CLOSE = 2.0, 0.2


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
        The columns of `dsgcore.diagnostics.trajectory`; NaN beyond the end of a run that diverged.
    """

    spec: Spec
    seeds: tuple[int, ...]
    t: NDArray
    columns: Mapping[str, NDArray]

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
        return profile_of(self.spec.problem).theorem.constant(self.spec, Measured(M, squared**0.5))

    def slope(self, name: str) -> Slope:
        """Return the slope of a quantity's mean over the last decade of t."""
        return fitted(self.t, self.columns[name])


def convergence(
    spec: Spec,
    seeds: int | Sequence[int] = 5,
    *,
    split: Split | None = None,
    tell: Callable[[float], object] = lambda share: None,
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
    used = seeds_of(spec, seeds)
    split = load_split(spec) if split is None else split
    has_own, reference, trajectories = is_sampled(len(split.X_train)), None, {}
    for i, seed in enumerate(used):
        own = replace(spec, seed=seed)
        if reference is None or has_own:
            reference = None  # before the next kernel matrix is made
            reference = reference_of(own if has_own else spec, split)
        trajectories[seed] = trajectory(own, split, reference)
        tell((i + 1) / len(used))
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
