"""What diagnoses of a run share: its task, points, matrix and optimum, and four versions of the run with the same seed.

|                 | mini-batches                  | whole sample                       |
|-----------------|-------------------------------|------------------------------------|
| random features | f: the method                 | r: the features' noise alone       |
| exact kernel    | b: the batches' noise alone   | g: neither, the deterministic path |

All are values at the n training points. The papers split |f - f*| into |f - h| and |h - f*| instead. Their h uses f's
own coefficients, so it reacts to f's errors. The two parts are strongly correlated, and both overstate the cost of the
features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import Integer, ParameterError
from dsgcore.core.sampling import generator
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.experiments import Spec, load_split
from dsgcore.experiments.stochastic import task_of
from dsgcore.solver.automatic_step import settle_step
from dsgcore.solver.loop import AllPoints, solve
from dsgcore.solver.measures import DiagnosticsError, DualCoefficients, Reference
from dsgcore.solver.task import Step, Task

# A diagnosis needs the kernel matrix of its points, and so uses at most this many.
MAX_POINTS = 4000
# Bytes for each pair of them: kernel matrix, quadratic form and their product (three arrays at a time), and one more.
BYTES_A_PAIR = 4 * 8
NUMBER_OF_SEEDS = Integer("seeds", None, low=1, high=1000)


@dataclass(frozen=True)
class Subsample:
    """The share of the training points that a diagnosis used.

    Attributes
    ----------
    points : int
        The training points used with each seed.
    of : int
        All training points.
    seeds : tuple of int
        The seeds, each of which drew its own points.
    """

    points: int
    of: int
    seeds: tuple[int, ...]

    @classmethod
    def of_points(cls, n: int, seeds: Iterable[int]) -> Subsample | None:
        """Return the subsample of `n` training points; None if the diagnosis uses all of them."""
        return cls(MAX_POINTS, n, tuple(seeds)) if is_sampled(n) else None

    def sentence(self) -> str:
        """Return a sentence about the points used, and about the meaning of the intervals over the seeds."""
        many = len(self.seeds) > 1
        used = f"Measured on {self.points:,} of the {self.of:,} training points, drawn at random"
        if not many:
            return f"{used} with seed {self.seeds[0]}. Other seeds draw other points."
        listed = ", ".join(map(str, self.seeds))
        return f"{used}. Each seed ({listed}) draws its own points. The intervals over the seeds include this choice and are wider."

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        return asdict(self) | {"seeds": list(self.seeds)}


def is_sampled(n: int) -> bool:
    """Return True if a diagnosis of `n` training points uses a part of them."""
    return n > MAX_POINTS


def on_some_points(task: Task) -> Task:
    """Return the task on at most `MAX_POINTS` training points, drawn at random with the task's seed.

    The problem, the kernel, the step and the batch size do not change. A small source keeps all of its points: labeled
    points are few, and the noise of a source's mean falls with their number.
    """
    if not is_sampled(len(task.X)):
        return task
    sizes, left = dict[str, int](), MAX_POINTS
    # Equal shares for the sources; unused places of a small source go to the others.
    for place, source in enumerate(sorted(task.rows, key=lambda source: len(task.rows[source]))):
        sizes[source] = min(len(task.rows[source]), left // (len(task.rows) - place))
        left -= sizes[source]
    parts = [generator(task.seed, f"diagnosed {s}").permutation(task.rows[s])[: sizes[s]] for s in task.rows]
    kept = np.unique(np.concatenate(parts))
    # Sources share points if no point is unlabeled.
    others = np.setdiff1d(np.arange(len(task.X)), kept)
    more = generator(task.seed, "diagnosed").permutation(others)[: MAX_POINTS - len(kept)]
    kept = np.sort(np.concatenate([kept, more]))
    rows = {source: np.searchsorted(kept, np.intersect1d(own, kept)) for source, own in task.rows.items()}
    return replace(task, X=np.ascontiguousarray(task.X[kept]), rows=rows)


def references(tasks: Iterable[Task]) -> Iterator[tuple[Task, Reference]]:
    """Yield tasks that differ in their seeds, each with the reference that belongs to it.

    There is one reference for all of them, unless each draws its own training points from many.
    """
    reference: Reference | None = None
    for task in tasks:
        own = on_some_points(task)
        if reference is None or is_sampled(len(task.X)):
            reference = None  # before the next kernel matrix is made
            reference = Reference.of(own)
        yield own, reference


def seeds_of(spec: Spec, seeds: int | Sequence[int]) -> tuple[int, ...]:
    """Return the seeds; a number stands for that many seeds, from the spec's own on. Raise `ParameterError` for no seed."""
    if np.ndim(seeds) == 0:
        seeds = range(spec.seed, spec.seed + int(NUMBER_OF_SEEDS.check(seeds) or 1))
    used = tuple(replace(spec, seed=seed).seed for seed in cast("Sequence[int]", seeds))
    if not used:
        raise ParameterError("seeds must be a number of seeds or some seeds, got none")
    return used


def check_possible(spec: Spec) -> None:
    """Raise `DiagnosticsError`, with the reason, if the four runs cannot be made of a spec."""
    if (engine := spec.problem.engine_of_run) != "stochastic":
        here = "This variant has one for each class" if engine == "softmax" else "This setting draws them once"
        raise DiagnosticsError(
            f"DSG Lab finds limits only if each iteration draws new random features for one function. {here}"
        )


def settled_task(spec: Spec, split: Split) -> Task:
    """Return the solver's task for a spec, with its automatic step; raise `DiagnosticsError` as in `check_possible`."""
    check_possible(spec)
    # The way from 0 is what is examined, with all iterations, as the papers' are.
    task = task_of(replace(spec, solver=replace(spec.solver, start=None, tol=0.0)), split)
    settle_step(task)
    return task


# Without an exact optimum, g continues for at most this many times the run's length, to find its limit.
LONGEST_WAY = 10
# It ends when a step moves it by less than this, relative to its size.
STANDS_STILL = 1e-6
# Number of recorded iterations, evenly spread on a logarithmic scale.
RECORDED = 60
# A squared distance above this many times that of f = 0 means divergence.
GROWN = 100.0


@dataclass(frozen=True, eq=False)
class FourRuns:
    """Mean squares over the training points, at some iterations of a run with one seed, each of shape (k,).

    Attributes
    ----------
    t : ndarray of int
        The iterations.
    optimisation : ndarray
        Of g - f*: the remaining distance of the deterministic path.
    batches : ndarray
        Of b - g: the effect of mini-batch noise.
    features : ndarray
        Of r - g: the effect of feature noise.
    together : ndarray
        Of f - f*.
    error : ndarray
        Of f - h, the papers' error of the random features.
    scale : float
        Of f* itself. If the risk is not quadratic, f* is the limit of each run without noise; it may be one of several
        minima.
    is_exact : bool
        True if f* is the exact minimiser.
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
    def has_grown(self) -> bool:
        """True if the run has diverged, or has begun to."""
        return not len(self.t) or not self.together[-1] <= GROWN * self.scale


def four_runs(
    spec: Spec,
    seeds: int | Sequence[int] = 1,
    *,
    split: Split | None = None,
    callback: Callable[[float], object] = lambda share: None,
) -> tuple[FourRuns, ...]:
    """Make the four runs of a spec with each of several seeds of batches and features; the data belong to the spec's seed.

    Parameters and errors are as in `dsgcore.diagnostics.limits`. The noiseless run is made once, or once per seed if each
    seed draws its own training points.
    """
    found = list[FourRuns]()
    for rows, of_f, end, is_exact in paths_of_four_runs(spec, seeds, split, callback):
        ways = [(at.g - end, at.b - at.g, at.r - at.g, at.f - of_f, at.f - at.h) for at in rows]
        squares = [[np.mean(difference**2) for difference in each] for each in ways]
        own, b, r, f, error = np.array(squares, dtype=np.float64).reshape(len(rows), 5).T
        t, scale = np.array([at.t for at in rows]), float(np.mean(of_f**2))
        found.append(FourRuns(t, own, b, r, f, error, scale, is_exact))
    return tuple(found)


class FourValues(NamedTuple):
    """The values of the four runs, and of h, at the training points after `t` iterations."""

    t: int
    g: NDArray
    b: NDArray
    r: NDArray
    f: NDArray
    h: NDArray


class Paths(NamedTuple):
    """The recorded values of four runs, those of f* as f and as g approach it, and if f* is exact."""

    rows: list[FourValues]
    of_f: NDArray
    end: NDArray
    is_exact: bool


def paths_of_four_runs(
    spec: Spec,
    seeds: int | Sequence[int],
    split: Split | None,
    callback: Callable[[float], object] = lambda share: None,
) -> Iterator[Paths]:
    """Yield the four runs of each seed. A seed's values can take 10 MB."""
    task, used = settled_task(spec, load_split(spec) if split is None else split), seeds_of(spec, seeds)
    has_own, parts, g, end = is_sampled(len(task.X)), count(), dict[int, NDArray](), np.zeros(0)
    n_parts, n_iter = len(used) * (1 + has_own) + (not has_own), task.plan.n_iter
    wanted = set(np.geomspace(1, n_iter, min(RECORDED, n_iter)).round().astype(int).tolist())

    def next_part() -> Callable[[float], object]:
        part = next(parts)
        return lambda share: callback((part + share) / n_parts)

    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        for own, reference in references(replace(task, seed=seed) for seed in used):
            if has_own or not g:  # the noiseless path is equal for all seeds that have the same points
                path, told = DualCoefficients(len(own.X)), next_part()
                values, g = reference.K @ path.values, {}
                for t in range(1, n_iter + 1):
                    values = _down(reference, path, values, own.plan.at(t))
                    told(t / n_iter)
                    if t in wanted:
                        g[t] = values
                end = _end(own, reference, path)
            h = DualCoefficients(len(own.X))
            rows = list(_steps(own, reference, g, h, next_part()))
            found = Paths(rows, _end(own, reference, h), end, reference.optimum is not None)
            del reference, rows  # before the next kernel matrix is made
            yield found
            del found


def _down(reference: Reference, path: DualCoefficients, values: NDArray, step: Step) -> NDArray:
    """Make one step from `values` along the whole sample's gradient; return the new values."""
    path.advance(np.arange(len(values)), reference.whole.slopes(values), step.size, step.decay)
    return reference.K @ path.values


def _end(task: Task, reference: Reference, start: DualCoefficients) -> NDArray:
    """Return the values of f*; if there may be several minima, the limit of noiseless steps from `start`."""
    if reference.optimum is not None:
        return reference.K @ reference.optimum
    path, step = copy(start), task.plan.at(task.plan.n_iter)
    values = reference.K @ path.values
    for _ in range(LONGEST_WAY * task.plan.n_iter):
        before, values = values, _down(reference, path, values, step)
        if not np.linalg.norm(values - before) > STANDS_STILL * np.linalg.norm(before):
            break
    return values


def _steps(
    task: Task, reference: Reference, g: dict[int, NDArray], h: DualCoefficients, callback: Callable[[float], object]
) -> Iterator[FourValues]:
    """Make the noisy runs together, and yield the iterations at which `g` is recorded."""
    K, model, b = reference.K, task.new_model(), DualCoefficients(len(task.X))
    points, r = AllPoints(task, model), np.zeros(len(K), dtype=task.dtype)
    for iterate in solve(task, model, training=points):
        step, batch = iterate.step, iterate.rows
        # The coefficients that the run's own batches have at b.
        at_b = {source: K[rows] @ b.values for source, rows in iterate.batch.items()}
        of_b = task.problem.coefficients(at_b)
        b.advance(batch, np.concatenate([of_b[source] for source in at_b]), step.size, step.decay)
        h.advance(batch, iterate.weights, step.size, step.decay)
        # A step of r along the whole sample's gradient, through this iteration's random features of the run.
        feature_map, W = task.kernel.feature_map, task.new_model().frequencies(iterate.t, step.n_features)
        slopes = reference.whole.slopes(r.astype(np.float64)).astype(task.dtype)
        feature_map.evaluate(points.X, W, feature_map.accumulate(points.X, slopes, W, step.size), step.decay, r)
        callback(iterate.t / task.plan.n_iter)
        if iterate.t in g:
            f = points.values.astype(np.float64)
            yield FourValues(iterate.t, g[iterate.t], K @ b.values, r.astype(np.float64), f, K @ h.values)
