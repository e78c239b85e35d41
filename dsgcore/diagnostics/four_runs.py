"""A run four times with the same seed: with and without the noise of its batches, with and without that of its features.

|                 | mini-batches                  | whole sample                       |
|-----------------|-------------------------------|------------------------------------|
| random features | f: the method                 | r: the features' noise alone       |
| exact kernel    | b: the batches' noise alone   | g: neither, the deterministic path |

All are values at the n training points. The papers split |f - f*| into |f - h| and |h - f*| instead, where h takes f's own
coefficients and so reacts to f's errors: the two parts are strongly correlated, and both overstate what features cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.carried import AllPoints
from dsgcore.core.diagnostics import MAX_EXACT_POINTS, DiagnosticsError, GradientNorm, exact_optimum
from dsgcore.core.problem import stacked
from dsgcore.core.schedules import Step
from dsgcore.core.solver import Iterate, solve
from dsgcore.core.task import Task
from dsgcore.data import Split
from dsgcore.experiments.engine import engine_for
from dsgcore.experiments.loading import load_split
from dsgcore.experiments.spec import Spec

# Up to so many training points the kernel matrix is made; above, a diagnosis is refused.
MAX_POINTS = 4000
# Where there is no exact optimum, g goes on to at most so many times the run's length, for where it leads to.
LONGEST_WAY = 10
# And ends when a step moves it by less than this, relative to its size.
STANDS_STILL = 1e-6
# So many iterations are recorded, evenly spread on a logarithmic scale.
RECORDED = 60
# A squared distance so many times that of f = 0 is no way to an optimum.
GROWN = 100.0


@dataclass(frozen=True, eq=False)
class FourRuns:
    """Mean squares over the training points, at some iterations of a run with one seed, each of shape (k,).

    Attributes
    ----------
    t : ndarray of int
        The iterations.
    optimisation : ndarray
        Of g - f*: how far the deterministic path still has to go.
    batches : ndarray
        Of b - g: what the batches' noise costs.
    features : ndarray
        Of r - g: what the features' noise costs.
    together : ndarray
        Of f - f*.
    error : ndarray
        Of f - h, the papers' error of the random features.
    scale : float
        Of f* itself. Where the risk is not quadratic, f* is where a run would go on to without noise, each its own: it may be
        one of several minima.
    is_exact : bool
        Whether f* is the exact minimiser.
    """

    t: NDArray
    optimisation: NDArray
    batches: NDArray
    features: NDArray
    together: NDArray
    error: NDArray
    scale: float
    is_exact: bool

    @property
    def remainder(self) -> NDArray:
        """What the two noises and the way make of each other: together less the three parts, signed."""
        return self.together - self.optimisation - self.batches - self.features

    @property
    def has_grown(self) -> bool:
        """Whether the run has grown without end, or begun to."""
        return not len(self.t) or not self.together[-1] <= GROWN * self.scale


class _Dual:
    """A function of the exact kernel, sum_i a_i k(x_i, .), by its values at the training points."""

    def __init__(self, K: NDArray) -> None:
        self.K, self.a = K, np.zeros(len(K))

    @property
    def values(self) -> NDArray:
        return self.K @ self.a

    def advance(self, rows: Any, slopes: NDArray, step: Step) -> None:
        self.a *= step.decay
        np.subtract.at(self.a, rows, step.size * slopes.astype(np.float64))


def four_runs(
    spec: Spec,
    seed: int | None = None,
    *,
    split: Split | None = None,
    tell: Callable[[float], object] = lambda share: None,
) -> FourRuns:
    """Make the four runs of a spec.

    Parameters
    ----------
    seed : int, optional
        Of batches and features; the data stay those of the spec's seed. By default the spec's.
    spec, split, tell
        As of `dsgcore.diagnostics.limits`; so is what is raised.

    Returns
    -------
    FourRuns
    """
    return runs_of_seeds(spec, (spec.seed if seed is None else seed,), split=split, tell=tell)[0]


def runs_of_seeds(
    spec: Spec,
    seeds: Sequence[int],
    *,
    split: Split | None = None,
    tell: Callable[[float], object] = lambda share: None,
) -> tuple[FourRuns, ...]:
    """Make the four runs with each of several seeds; what has no noise is made once. Parameters as of `limits`."""
    check_possible(spec)
    split = load_split(spec) if split is None else split
    check_possible(spec, len(split.X_train))
    task: Task = engine_for(spec, split).task  # type: ignore[attr-defined]
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        still = _noiseless(task, lambda share: tell(share / (1 + len(seeds))))
        return tuple(
            _measured(replace(task, seed=seed), still, lambda share, i=i: tell((i + share) / (1 + len(seeds))))  # type: ignore[misc]
            for i, seed in enumerate(seeds, start=1)
        )


def seeds_of(spec: Spec, seeds: int | Sequence[int]) -> tuple[int, ...]:
    """Return the seeds that are asked for: a number stands for so many from the spec's own on."""
    return tuple(range(spec.seed, spec.seed + seeds)) if isinstance(seeds, int) else tuple(seeds)


def check_possible(spec: Spec, n: int = 0) -> None:
    """Raise `DiagnosticsError`, with the reason, where the four runs cannot be made of a spec with `n` training points."""
    if spec.problem.engine != "stochastic":
        raise DiagnosticsError(
            f"what limits a run is found for stochastic functional gradients; {spec.problem.title} has none"
        )
    if n > min(MAX_POINTS, MAX_EXACT_POINTS):
        raise DiagnosticsError(
            f"the kernel matrix of all training points is needed: at most {MAX_POINTS:,}, got {n:,}; take fewer points (n)"
        )


@dataclass(frozen=True, eq=False)
class _Noiseless:
    """What has no noise, and so is the same for all seeds: the kernel matrix, g at the recorded iterations, and where it leads."""

    K: NDArray
    whole: GradientNorm
    g: dict[int, NDArray]
    end: NDArray
    optimum: NDArray | None


def _noiseless(task: Task, tell: Callable[[float], object]) -> _Noiseless:
    X = np.asarray(task.X, dtype=np.float64)
    K = task.kernel.matrix(X, X)
    whole, path = GradientNorm(task.problem, task.rows, K), _Dual(K)
    g, values = {}, path.values
    wanted = set(_recorded(task.plan.n_iter).tolist())
    for t in range(1, task.plan.n_iter + 1):
        path.advance(slice(None), whole.slopes(values), task.plan.at(t))
        values = path.values
        tell(t / task.plan.n_iter)
        if t in wanted:
            g[t] = values
    optimum = _optimum(task, K, whole)
    # Where there are several minima, each run has its own: the one that it would go to without noise.
    end = _led_to(task, whole, path) if optimum is None else optimum
    return _Noiseless(K, whole, g, end, optimum)


def _measured(task: Task, still: _Noiseless, tell: Callable[[float], object]) -> FourRuns:
    h = _Dual(still.K)
    rows = list(_steps(task, still, h, tell))
    of_f = _led_to(task, still.whole, h) if still.optimum is None else still.optimum
    squares = [
        [np.mean(d**2) for d in (at.g - still.end, at.b - at.g, at.r - at.g, at.f - of_f, at.f - at.h)] for at in rows
    ]
    parts = np.array(squares, dtype=np.float64).reshape(len(rows), 5).T
    t = np.array([at.t for at in rows])
    optimisation, batches, features, together, error = parts
    scale, is_exact = float(np.mean(of_f**2)), still.optimum is not None
    return FourRuns(t, optimisation, batches, features, together, error, scale, is_exact)


def _recorded(n_iter: int) -> NDArray:
    return np.unique(np.geomspace(1, n_iter, min(RECORDED, n_iter)).round().astype(int))


@dataclass(frozen=True, eq=False)
class _At:
    """The values of the four runs, and of h, at the training points after `t` iterations."""

    t: int
    g: NDArray
    b: NDArray
    r: NDArray
    f: NDArray
    h: NDArray


def _steps(task: Task, still: _Noiseless, h: _Dual, tell: Callable[[float], object]) -> Iterator[_At]:
    """Make the runs that have noise all at once, and yield the iterations that are recorded."""
    model, b = task.new_model(), _Dual(still.K)
    points, r = AllPoints(task, model), np.zeros(len(still.K), dtype=task.dtype)
    for iterate in solve(task, model, training=points):
        step, batch = iterate.step, np.concatenate(list(iterate.batch.values()))
        b.advance(batch, _batch_slopes(task, iterate, b), step)
        h.advance(batch, iterate.weights, step)
        _advance_features(task, iterate, still.whole, points.X, r)
        tell(iterate.t / task.plan.n_iter)
        if iterate.t in still.g:
            f = points.values.astype(np.float64)
            yield _At(iterate.t, still.g[iterate.t], b.values, r.astype(np.float64), f, h.values)


def _batch_slopes(task: Task, iterate: Iterate, b: _Dual) -> NDArray:
    """Return the coefficients that the run's own batches have at b."""
    values = {source: b.K[rows] @ b.a for source, rows in iterate.batch.items()}
    return stacked(task.problem.coefficients(values), tuple(values))


def _advance_features(task: Task, iterate: Iterate, whole: GradientNorm, X: NDArray, r: NDArray) -> None:
    """Add a step along the whole sample's gradient through the run's own random features of this iteration."""
    step, kernel = iterate.step, task.kernel
    model = task.new_model()
    W = model.frequencies(iterate.t, step.n_features)
    slopes = whole.slopes(r.astype(np.float64)).astype(task.dtype)
    block = kernel.feature_map.accumulate(X, slopes, W, step.size)
    kernel.feature_map.evaluate(X, W, block, step.decay, r)


def _optimum(task: Task, K: NDArray, whole: GradientNorm) -> NDArray | None:
    """Return the values of the exact minimiser; None where the risk is not quadratic, or without a ridge."""
    lam = task.plan.at(task.plan.n_iter).lam
    return K @ exact_optimum(K, *whole.quadratic, lam) if whole.quadratic is not None and lam > 0 else None


def _led_to(task: Task, whole: GradientNorm, start: _Dual) -> NDArray:
    """Return the values that steps along the whole sample's gradient lead to."""
    path = _Dual(whole.K)
    path.a[:] = start.a
    step = task.plan.at(task.plan.n_iter)
    values = path.values
    for _ in range(LONGEST_WAY * task.plan.n_iter):
        before = values
        path.advance(slice(None), whole.slopes(before), step)
        values = path.values
        if not np.linalg.norm(values - before) > STANDS_STILL * np.linalg.norm(before):
            break
    return values
