"""The one stochastic functional-gradient loop, for every problem and kernel.

    for t = 1 .. T:
        draw one mini-batch per source from (seed, source, t), and m frequencies from (seed, t)
        c     <- problem.coefficients(f_t at the batch points)
        alpha <- -eta_t * sum_b c_b phi(x_b)
        f     <- (1 - eta_t lambda) f + alpha' phi

It is a generator: it pauses by not being asked. The papers' algorithms sum all earlier blocks again at every batch point;
here the values of the points that later batches will visit are carried forward instead, one block evaluation per iteration.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core import features
from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.expansion import Expansion
from dsgcore.core.kernels import Kernel
from dsgcore.core.parameters import Choice, Integer, Parameter, Real
from dsgcore.core.problem import Problem, stacked
from dsgcore.core.sampling import batches
from dsgcore.core.schedules import SCHEDULES, Plan, Setting

# With more visits a point than this, leaving out points after their last visit saves next to nothing: carry them all.
MAX_VISITS_PER_POINT = 64
# With no more rows than this for each visit, marking the visited ones in a table of all rows beats sorting the visits.
ROWS_PER_VISIT_MARKED = 8
# Rows read from a memory map before its pages are given back.
ROWS_READ_AT_ONCE = 1024

SOLVER_PARAMETERS: tuple[Parameter, ...] = (
    Real(
        "step_size",
        0.5,
        low=1e-6,
        high=1e6,
        scale="log",
        symbol="η",
        usual=(1e-3, 20.0),
        label="Step size",
        sentence="How far each iteration moves the function (θ in the decaying schedules).",
    ),
    Choice(
        "schedule",
        "constant",
        options=tuple(SCHEDULES),
        symbol="η_t",
        label="Step schedule",
        sentence="How the step shrinks with the iteration t, or with the length T of the run.",
    ),
    Real(
        "lam",
        1e-2,
        low=0.0,
        high=1e3,
        scale="log",
        symbol="λ",
        usual=(0.0, 10.0),
        label="Regularisation",
        sentence="Ridge: how strongly the function is pulled towards zero.",
    ),
    Integer(
        "n_features",
        256,
        low=1,
        high=65_536,
        scale="log2",
        symbol="m",
        usual=(1, 4096),
        label="Random features",
        sentence="How many random features stand in for the kernel in each iteration.",
    ),
    Integer(
        "batch_size",
        128,
        low=1,
        high=65_536,
        scale="log2",
        symbol="B",
        usual=(1, 1024),
        label="Mini-batch",
        sentence="How many points are drawn from each source in each iteration.",
    ),
    Integer(
        "n_iter",
        300,
        low=1,
        high=100_000,
        scale="log",
        symbol="T",
        usual=(16, 4096),
        label="Iterations",
        sentence="How many iterations the run has.",
    ),
    Choice(
        "dtype",
        "float32",
        options=("float32", "float64"),
        label="Precision",
        sentence="Floating-point numbers used; float32 is about three times faster.",
    ),
)


@dataclass(frozen=True)
class Task:
    """What is to be solved.

    Attributes
    ----------
    problem, kernel : Problem, Kernel
    X : ndarray of shape (n, d)
        All training points; may be a memory map, of which only the visited rows are read.
    rows : source -> ndarray of shape (n_source,)
        Which rows belong to each source.
    plan : Plan
        Step size, ridge and number of features of every iteration.
    batch_size : int
        Points drawn from each source at every iteration.
    seed : int
    dtype : numpy dtype
    """

    problem: Problem
    kernel: Kernel
    X: NDArray
    rows: Mapping[str, NDArray]
    plan: Plan
    batch_size: int
    seed: int
    dtype: np.dtype

    def batch(self, t: int) -> dict[str, NDArray]:
        """Return the rows of iteration `t`'s mini-batches."""
        return batches(self.seed, t, self.rows, dict.fromkeys(self.rows, self.batch_size))

    def new_model(self) -> Expansion:
        """Return the model before the first iteration, f = 0."""
        return Expansion(self.kernel, self.seed, self.X.shape[1], self.dtype)


@dataclass(frozen=True)
class Iterate:
    """One iteration, as diagnostics see it.

    Attributes
    ----------
    t : int
        Number of the iteration, from 1.
    setting : Setting
        Step, ridge and number of features it was made with.
    batch : source -> ndarray of shape (B,)
        Rows of the mini-batches.
    f : source -> ndarray of shape (B,)
        Values f_t at the batch points, before the step.
    c : source -> ndarray of shape (B,)
        Coefficients.
    terms : dict
        Signed parts of the batch objective at f_t.
    block : ndarray of shape (2, m)
        Amplitudes and phases that the iteration added to the model (of shape (1, m) for features that are products).
    points : ndarray of shape (sum of B, d)
        The batch points, source after source, in the order of `Problem.sources`.
    weights : ndarray of shape (sum of B,)
        The coefficients in the same order.
    """

    t: int
    setting: Setting
    batch: Mapping[str, NDArray]
    f: Mapping[str, NDArray]
    c: Mapping[str, NDArray]
    terms: Mapping[str, float]
    block: NDArray
    points: NDArray
    weights: NDArray


class Advanced(Protocol):
    """What is brought forward at every iteration."""

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, of frequencies `W`."""
        ...


class Carried:
    """A set of points with the model's values at them, brought forward at every iteration.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    model : Expansion
    with_variance : bool, default False
        Also carry V, an unbiased estimate of E (f - h)^2 at every point, from the spread of the single features'
        contributions: V <- (1 - eta lambda)^2 V + Var_j[m p_j] / m, p_j the j-th feature's contribution to the block.
        The errors of the iterations are martingale differences, so their variances add up.
    """

    def __init__(self, X: NDArray, model: Expansion, *, with_variance: bool = False) -> None:
        self.X = features.as_points(X, model.dtype)
        self.feature_map = model.kernel.feature_map
        self.values = np.zeros(len(X), dtype=model.dtype)
        self.variance = np.zeros(len(X)) if with_variance else None
        self._catch_up(model)

    def _catch_up(self, model: Expansion) -> None:
        if self.variance is None:
            model.update(self.values, self.X, 0, len(model))
            return
        for t, (block, decay) in enumerate(zip(model.blocks, model.decays, strict=True), start=1):
            self.advance(model.frequencies(t, block.shape[1]), block, decay)

    def copy(self) -> Self:
        """Return the same points with values of their own."""
        other = copy(self)
        other.values = self.values.copy()
        other.variance = None if self.variance is None else self.variance.copy()
        return other

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, of frequencies `W`."""
        if self.variance is None:
            self.feature_map.evaluate(self.X, W, block, decay, self.values)
            return
        m = block.shape[1]
        sums, squares = self.feature_map.evaluate_with_squares(self.X, W, block)
        self.values *= self.values.dtype.type(decay)
        self.values += sums
        spread = squares.astype(np.float64) - sums.astype(np.float64) ** 2 / m
        with np.errstate(divide="ignore", invalid="ignore"):  # one feature has no spread: NaN
            self.variance *= decay**2
            self.variance += np.maximum(spread, 0.0) * np.divide(m, m - 1.0)


class AllPoints(Carried):
    """The training points, every one carried to the end: their values serve batches and whole-sample measures alike."""

    def at(self, t: int, batch: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Return f at the batch points of each source."""
        return {source: self.values[rows] for source, rows in batch.items()}

    def points(self, t: int, batch: Mapping[str, NDArray]) -> NDArray:
        """Return the batch points, source after source."""
        return self.X[np.concatenate(list(batch.values()))]


class VisitedPoints:
    """The training points that the iterations still to come will visit, and no others.

    Index streams are known in advance, so every point's last visit is. With the points ordered by their last visit,
    latest first, those still needed after iteration t are a prefix: sum over t of its length is at most
    min(n T, B T^2 / 2) block evaluations, where summing all earlier blocks again costs B T^2 / 2.
    """

    def __init__(self, task: Task, model: Expansion) -> None:
        start, n_iter = len(model), task.plan.n_iter
        size = task.batch_size * len(task.rows)
        streams = np.empty((n_iter - start, size), dtype=np.int64)
        for i, stream in enumerate(streams):
            np.concatenate(list(task.batch(start + 1 + i).values()), out=stream)
        visited, inverse = _distinct(streams, len(task.X))
        last = np.zeros(len(visited), dtype=np.int64)
        for i, rows in enumerate(inverse):
            last[rows] = start + 1 + i
        order = np.argsort(-last, kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order))
        self.positions = rank[inverse]
        self.visited = visited[order]
        self.sources = tuple(task.rows)
        self.needed_after = np.searchsorted(-last[order], -np.arange(start + 1, n_iter + 1), side="left")
        self.start = self.t = start
        self.carried = Carried(_rows_in_order(task.X, visited, rank, task.dtype), model)

    def copy(self) -> Self:
        """Return the same points with values of their own."""
        other = copy(self)
        other.carried = self.carried.copy()
        return other

    def batch(self, t: int) -> dict[str, NDArray]:
        """Return the rows of iteration `t`'s mini-batches: every source's has the same size."""
        rows = self.visited[self.positions[t - 1 - self.start]]
        return dict(zip(self.sources, rows.reshape(len(self.sources), -1), strict=True))

    def at(self, t: int, batch: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Return f at the batch points of each source."""
        values = self.carried.values[self.positions[t - 1 - self.start]]
        return dict(zip(batch, values.reshape(len(batch), -1), strict=True))

    def points(self, t: int, batch: Mapping[str, NDArray]) -> NDArray:
        """Return the batch points, source after source."""
        return self.carried.X[self.positions[t - 1 - self.start]]

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block at the points still to be visited."""
        needed = self.needed_after[self.t - self.start]
        carried = self.carried
        carried.feature_map.evaluate(carried.X[:needed], W, block, decay, carried.values[:needed])
        self.t += 1


def _distinct(streams: NDArray, n: int) -> tuple[NDArray, NDArray]:
    """Return the different row numbers (below `n`) in increasing order, and each number's place among them."""
    if n <= ROWS_PER_VISIT_MARKED * streams.size:
        is_visited = np.zeros(n, dtype=bool)
        is_visited[streams] = True
        return np.flatnonzero(is_visited), (np.cumsum(is_visited) - 1)[streams]
    visited = np.sort(streams, axis=None)
    visited = visited[np.diff(visited, prepend=-1) > 0]
    return visited, np.searchsorted(visited, streams)


def _rows_in_order(X: NDArray, rows: NDArray, places: NDArray, dtype: np.dtype) -> NDArray:
    """Return the ascending `rows` of X, each at its place; of a memory map no more than a few pages stay in memory."""
    ordered, memory_map = np.empty((len(rows), X.shape[1]), dtype=dtype), memory_map_of(X)
    for first in range(0, len(rows), ROWS_READ_AT_ONCE):
        piece = slice(first, first + ROWS_READ_AT_ONCE)
        ordered[places[piece]] = X[rows[piece]]
        if memory_map is not None and hasattr(mmap, "MADV_DONTNEED"):
            memory_map.madvise(mmap.MADV_DONTNEED)
    return ordered


def memory_map_of(X: NDArray) -> mmap.mmap | None:
    """Return the memory map that an array, perhaps a view, looks into; None where it is in memory, or copied on writing."""
    base: object = X
    while isinstance(base, np.ndarray) and getattr(base, "mode", "r") != "c":
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def training_points(task: Task, model: Expansion) -> AllPoints | VisitedPoints:
    """Return the training points as a run of this length should carry them."""
    visits = (task.plan.n_iter - len(model)) * task.batch_size * len(task.rows)
    is_dense = visits > MAX_VISITS_PER_POINT * len(task.X) and memory_map_of(task.X) is None
    return AllPoints(task.X, model) if is_dense else VisitedPoints(task, model)


def solve(
    task: Task,
    model: Expansion,
    *,
    training: AllPoints | VisitedPoints | None = None,
    carried: Sequence[Advanced] = (),
) -> Iterator[Iterate]:
    """Run the iterations that `model` does not have yet, up to the plan's last one.

    Parameters
    ----------
    task : Task
    model : Expansion
        ``task.new_model()``, or one to go on with; a block is appended to it at every iteration.
    training : AllPoints or VisitedPoints, optional
        The carried training points, where the caller wants to read their values too.
    carried : sequence of Carried
        More points whose values are kept up to date: test points, probes, a surface; or whatever else `advance` brings forward.

    Yields
    ------
    Iterate
        After the model and all carried values have been updated. It ends early, before the first step that is not finite.
    """
    training = training if training is not None else training_points(task, model)
    for t in range(len(model) + 1, task.plan.n_iter + 1):
        # Overflow is not an accident here: a run that diverges is told by its values.
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            iterate = _iterate(task, model, training, carried, t)
        if iterate is None:
            return
        yield iterate


def _iterate(
    task: Task, model: Expansion, training: AllPoints | VisitedPoints, carried: Sequence[Advanced], t: int
) -> Iterate | None:
    setting = task.plan.at(t)
    batch = training.batch(t) if isinstance(training, VisitedPoints) else task.batch(t)  # drawn already, or not
    f = training.at(t, batch)
    c = task.problem.coefficients(f)
    weights = stacked(c, tuple(batch)).astype(task.dtype, copy=False)
    if not np.isfinite(weights).all():
        return None
    points = training.points(t, batch)
    W = model.frequencies(t, setting.n_features)
    block = model.kernel.feature_map.accumulate(points, weights, W, setting.step)
    model.append(block, setting.decay)
    for point_set in (training, *carried):
        point_set.advance(W, block, setting.decay)
    return Iterate(t, setting, batch, f, c, task.problem.terms(f), block, points, weights)
