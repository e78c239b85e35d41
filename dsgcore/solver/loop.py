"""The one stochastic functional-gradient loop, for every problem and kernel.

    for t = 1 .. T:
        draw one mini-batch per source from (seed, source, t), and m frequencies from (seed, t)
        c     <- problem.coefficients(f_t at the batch points)
        alpha <- -eta_t * sum_b c_b phi(x_b)
        f     <- (1 - eta_t lambda) f + alpha' phi

It is a generator, so it pauses until the caller takes the next iterate. The values of f at the batch points are tracked,
so an iteration evaluates one block instead of all earlier ones.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import MOST_PLACES, TOGETHER
from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels.features import as_points
from dsgcore.solver.model import Expansion
from dsgcore.solver.problem import Problem, Values
from dsgcore.solver.start import solution
from dsgcore.solver.task import Step, Task

# With more visits per point than this, dropping points after their last visit saves next to nothing: track all points.
MAX_VISITS_PER_POINT = 64
# Number of rows read from a memory map before its pages are released.
ROWS_READ_AT_ONCE = 1024
# A fit that may end early tracks the points of a later stage only from there on. A stage ends at these iterations, or after
# so many times as many as the one before, because it visits mostly the same points. But all are equally long while more
# rows are drawn from than so many of them visit, and than half of the iterations so far: to add up the earlier blocks at
# the next visits then costs less than to carry every row. A stage with as many visits as rows is the last, unless an
# iteration visits a quarter of the rows: to plan all iterations would then take longer than to add up their blocks again.
FIRST_STAGE, STAGES_GROW, FEW_STAGES, LEAST_ROWS = 50, 4, 2, 4


@dataclass(frozen=True)
class Iterate:
    """One iteration, as diagnostics see it. The arrays are of all mini-batches, source after source, or of one source (B,)."""

    t: int  # from 1
    step: Step
    sources: tuple[str, ...]
    rows: NDArray  # (sum of B,), those of the mini-batches, source after source
    values: NDArray  # (sum of B,), f_t at the batch points, before the step
    # the iteration's block of the model: (2, m) amplitudes and phases, or another form of the kernel's feature map
    block: NDArray
    points: NDArray  # (sum of B, d)
    weights: NDArray  # (sum of B,), the coefficients
    # Values of the averaged iterate at the batch points, before the step; those of f if the plan asks for no average.
    averages: NDArray
    problem: Problem

    @property
    def weighed_with(self) -> float:
        """The factor by which the weights count, with the other sign, in h."""
        return self.step.size

    def _per_source(self, values: NDArray) -> Values:
        return dict(zip(self.sources, values.reshape(len(self.sources), -1), strict=True))

    @property
    def batch(self) -> Values:
        """The rows of each source's mini-batch."""
        return self._per_source(self.rows)

    @property
    def f(self) -> Values:
        """f_t at the batch points of each source."""
        return self._per_source(self.values)

    @property
    def average(self) -> Values:
        """The averaged iterate at the batch points of each source."""
        return self._per_source(self.averages)

    @cached_property
    def terms(self) -> Mapping[str, float]:
        """Signed parts of the batch objective at f_t, computed when somebody asks for them."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.problem.terms(self.f)


@dataclass(frozen=True)
class Beginning(Iterate):
    """First iteration of a run that starts at a solution for some points. Its rows are these, and no mini-batches."""

    weighed_with = 1.0  # the solution is no step

    @property
    def batch(self) -> Values:
        """No rows of any source."""
        return dict.fromkeys(self.sources, self.rows[:0])

    @property
    def f(self) -> Values:
        """F before the first iteration, 0 at a point of each source."""
        return {source: np.zeros(1, dtype=self.values.dtype) for source in self.sources}

    average = f


def solve(
    task: Task,
    model: Expansion,
    *,
    training: TrainingPoints | None = None,
    carried: Sequence[Advanced] = (),
) -> Iterator[Iterate]:
    """Run the iterations of the plan that `model` does not have yet.

    `model` is ``task.new_model()``, or one to continue; every iteration appends a block to it. `training` is given if the caller
    also reads its values. `carried` is other state to update: values at test points, probes, a surface. Yield an `Iterate` after
    the model and all tracked values have been updated. The generator ends early, before the first step that is not finite.
    """
    sources, problem, has_start = tuple(task.rows), task.problem, task.plan.first_features is not None
    training = training if training is not None else training_points(task, model)
    for t in range(len(model) + 1, task.plan.n_iter + 1):
        step = task.plan.at(t)
        # Overflow is expected here: the values of a diverging run show it.
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            if t == 1 and has_start:
                W = model.frequencies(t, step.n_features)
                rows, points, weights, block = solution(task, W)
                zeros = np.zeros(len(rows), dtype=task.dtype)
                iterate: Iterate = Beginning(t, step, sources, rows, zeros, block, points, -weights, zeros, problem)
            else:
                rows, places = training.batch(t)
                values, points = training.values.take(places), training.X.take(places, axis=0)
                averages = training.average_of(places) if training.t > training.average_after else values
                coefficients = problem.coefficients(dict(zip(sources, values.reshape(len(sources), -1), strict=True)))
                weights = np.concatenate([coefficients[source] for source in sources]).astype(task.dtype, copy=False)
                if not np.isfinite(weights).all():
                    return
                W = model.frequencies(t, step.n_features)
                block = model.kernel.feature_map.accumulate(points, weights, W, step.size)
                iterate = Iterate(t, step, sources, rows, values, block, points, weights, averages, problem)
            decay = 1.0 - step.size * step.lam
            model.blocks.append(block)
            model.decays.append(decay)
            for tracked in (training, *carried):
                tracked.advance(W, block, decay)
        yield iterate


class Advanced(Protocol):
    """Interface of state that every iteration updates."""

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, with frequencies `W`."""
        ...


class OwnValues:
    """State that iterations update; its copies own the arrays that change in place."""

    changed: ClassVar[tuple[str, ...]] = ()

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self) | {name: copy(vars(self)[name]) for name in self.changed})
        return other


class Carried(OwnValues):
    """A set of points (n, d) with the model's values at them, updated at every iteration.

    `with_variance` also tracks V, an unbiased estimate of E (f - h)^2 at every point, from the spread of the single features'
    contributions: V <- (1 - eta lambda)^2 V + Var_j[m p_j] / m, with p_j the j-th feature's contribution to the block. The errors
    of the iterations are martingale differences, so their variances add up. With fixed features, V is the same spread of the
    features' contributions to f. `average_after` also tracks the sum of the iterates after so many iterations, for their mean.
    """

    changed: ClassVar[tuple[str, ...]] = ("values", "variance", "total")
    # How many of the points, the first ones, are needed after each iteration from `start` on; None: all of them.
    needed_after: NDArray | None = None
    start = 0

    def __init__(
        self, X: NDArray, model: Expansion, *, with_variance: bool = False, average_after: int | None = None
    ) -> None:
        self.X = as_points(X, model.dtype)
        self.feature_map = model.kernel.feature_map
        # The coefficients of f, if its features are fixed and V is tracked.
        self.alpha = np.zeros((), dtype=model.dtype) if with_variance and model.is_fixed else None
        self.values = np.zeros(len(X), dtype=model.dtype)
        self.variance = np.zeros(len(X)) if with_variance else None
        # Averaging has begun as soon as more iterations than this have been made.
        self.average_after = math.inf if average_after is None else average_after
        # The sum of the iterates to be averaged, without the current one.
        self.total = None if average_after is None else np.zeros(len(X))
        # The iterations that the model has already: in one go as far as neither the variance nor the mean needs each.
        at_once = len(model) if average_after is None else min(len(model), average_after + 1)
        self.t = 0 if with_variance else at_once
        if self.t:
            model.update(self.values, self.X, 0, self.t)
        for t, block in enumerate(model.blocks[self.t :], start=self.t + 1):
            self.advance(model.frequencies(t, block.shape[1]), block, model.decays[t - 1])

    @property
    def average(self) -> NDArray:
        """The mean of the averaged iterates so far, at all points; f itself if averaging has not begun."""
        return self.average_of(slice(None))

    def average_of(self, rows: NDArray | slice) -> NDArray:
        """Return the same mean at some of the points alone."""
        values = self.values[rows]
        if self.total is None or self.t <= self.average_after:
            return values
        return ((self.total[rows] + values) / (self.t - self.average_after)).astype(values.dtype)

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, with frequencies `W`, at the points that are still needed."""
        n = None if self.needed_after is None else self.needed_after[self.t - self.start]
        if self.total is not None and self.t > self.average_after:
            self.total[:n] += self.values[:n]  # the current iterate, before the next one replaces it
        self.t += 1
        if self.variance is None:
            self.feature_map.evaluate(self.X[:n], W, block, decay, self.values[:n])
            return
        m = block.shape[1]
        if self.alpha is not None:
            self.alpha = self.alpha * self.alpha.dtype.type(decay) + self.feature_map.coefficients(block)
            block, decay = self.feature_map.block_of(self.alpha), 0.0
        sums, squares = self.feature_map.evaluate_with_squares(self.X, W, block)
        self.values *= self.values.dtype.type(decay)
        self.values += sums
        spread = squares.astype(np.float64) - sums.astype(np.float64) ** 2 / m
        with np.errstate(divide="ignore", invalid="ignore"):  # one feature has no spread: NaN
            self.variance *= decay**2
            self.variance += np.maximum(spread, 0.0) * np.divide(m, m - 1.0)


class AllPoints(Carried):
    """All training points, tracked to the end: their values serve mini-batches and whole-sample measures."""

    def __init__(self, task: Task, model: Expansion) -> None:
        super().__init__(task.X, model, average_after=task.plan.average_after)
        self._task, self._drawn = task, (0, np.empty((0, 0), dtype=np.int64))

    def batch(self, t: int) -> tuple[NDArray, NDArray]:
        """Return the rows of iteration `t`'s mini-batches, source after source, and their places among the points."""
        start, batches = self._drawn
        if not start < t <= start + len(batches):
            n = max(1, min(TOGETHER, MOST_PLACES // self._task.batch_size))
            start, batches = self._drawn = t - 1, self._task.joined_batches(t - 1, t - 1 + n)
        rows = batches[t - 1 - start]
        return rows, rows


class VisitedPoints(Carried):
    """The training points that future iterations will visit, up to the last one of the plan or of a stage, and no others.

    The index streams are known in advance, and so is every point's last visit. The points are ordered by their last
    visit, latest first, so the points needed after iteration t are a prefix. The sum of its lengths over t is at most
    min(n T, B T^2 / 2) block evaluations. Summing all earlier blocks again would cost B T^2 / 2.

    It begins after the iterations that the model has. `is_staged` is for a run that may end early: the points of a later stage
    get their values when the run gets there, from the model's iterations of then.
    """

    def __init__(self, task: Task, model: Expansion, *, is_staged: bool = False) -> None:
        self.task, self.model, self.is_staged = task, model, is_staged
        self._begin(len(model))

    def _begin(self, start: int) -> None:
        task, stop = self.task, self.task.plan.n_iter
        if self.is_staged:
            n, n_visits, end = sum(map(len, task.rows.values())), task.batch_size * len(task.rows), FIRST_STAGE
            while end <= start:
                end = end + FIRST_STAGE if n > n_visits * max(FEW_STAGES * FIRST_STAGE, end / 2) else end * STAGES_GROW
            if LEAST_ROWS * n_visits <= n <= n_visits * (end - start):
                end = stop  # another stage would add up all earlier blocks at the same points
            stop = min(end, stop)
        self.start, self.stop, streams = start, stop, task.joined_batches(start, stop)
        if streams.size < len(task.X):
            visited, inverse = np.unique(streams, return_inverse=True)
        else:  # no sort: for 30,000 labels it took a third of a fit
            is_visited = np.zeros(len(task.X), dtype=bool)
            is_visited[streams] = True
            visited, inverse = np.flatnonzero(is_visited), (np.cumsum(is_visited) - 1)[streams]
        inverse, last = inverse.reshape(streams.shape), np.zeros(len(visited), dtype=np.int64)
        for t, places in enumerate(inverse, start + 1):
            last[places] = t
        order, rank = np.argsort(-last, kind="stable"), np.empty(len(visited), dtype=np.int32)
        rank[order] = np.arange(len(order))
        self.visited, self.positions = visited[order], rank[inverse]
        points, memory_map = np.empty((len(visited), task.X.shape[1]), dtype=task.dtype), memory_map_of(task.X)
        for first in range(0, len(visited), ROWS_READ_AT_ONCE):
            piece = slice(first, first + ROWS_READ_AT_ONCE)
            points[rank[piece]] = task.X[visited[piece]]
            if memory_map is not None and hasattr(mmap, "MADV_DONTNEED"):  # only a few of its pages stay in memory
                memory_map.madvise(mmap.MADV_DONTNEED)
        self.needed_after = None  # at all of them while they get their values
        super().__init__(points, self.model, average_after=task.plan.average_after)
        self.needed_after = np.searchsorted(-last[order], -np.arange(start + 1, stop + 1), side="left")

    def batch(self, t: int) -> tuple[NDArray, NDArray]:
        if t > self.stop:
            self._begin(self.stop)
        places = self.positions[t - self.start - 1]
        return self.visited[places], places


class DrawnPoints(OwnValues):
    """The points of one mini-batch, for fixed features: their values follow from the coefficients of f, none is carried."""

    def __init__(self, task: Task, model: Expansion) -> None:
        self.task, self.model, self.feature_map, self.t = task, model, model.kernel.feature_map, len(model)
        blocks, after = model.joined().blocks, task.plan.average_after
        self.alpha = self.feature_map.coefficients(blocks[0]) if blocks else np.zeros((), dtype=model.dtype)
        self.average_after = math.inf if after is None else after
        # The sum of the coefficients of the iterates to be averaged, without the current ones.
        averaged = [] if after is None else [model.prefix(t).joined().blocks[0] for t in range(after + 1, self.t)]
        self.total = sum(map(self.feature_map.coefficients, averaged), np.zeros((), dtype=model.dtype))
        self.X = self.values = np.zeros(0, dtype=model.dtype)

    def batch(self, t: int) -> tuple[NDArray, NDArray]:
        (rows,) = self.task.joined_batches(t - 1, t)
        self.X = as_points(self.task.X[rows], self.model.dtype)
        self.values = self._values_of(self.alpha)
        return rows, np.arange(len(rows))

    def _values_of(self, alpha: NDArray) -> NDArray:
        values = np.zeros(len(self.X), self.model.dtype)
        if alpha.ndim:
            block = self.feature_map.block_of(alpha)
            self.feature_map.evaluate(self.X, self.model.frequencies(1, block.shape[1]), block, 0.0, values)
        return values

    def average_of(self, rows: NDArray | slice) -> NDArray:
        """Return the mean of the averaged iterates so far at some of the points; f itself if averaging has not begun."""
        n = self.t - self.average_after
        return (
            self._values_of((self.total + self.alpha) / self.alpha.dtype.type(n))[rows] if n > 0 else self.values[rows]
        )

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block to the coefficients."""
        if self.t > self.average_after:
            self.total = self.total + self.alpha
        self.t += 1
        self.alpha = self.alpha * self.alpha.dtype.type(decay) + self.feature_map.coefficients(block)


def memory_map_of(X: NDArray) -> mmap.mmap | None:
    """Return the memory map behind an array, perhaps a view; None if it is in memory, or copied on writing."""
    base: object = X
    while isinstance(base, np.ndarray) and getattr(base, "mode", "r") != "c":
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


TrainingPoints = AllPoints | VisitedPoints | DrawnPoints


def training_points(task: Task, model: Expansion, *, is_staged: bool = False) -> TrainingPoints:
    """Return the training points in the form that suits a run of this length; all if each is visited often.

    `is_staged` is as in `VisitedPoints`.
    """
    if model.is_fixed:
        return DrawnPoints(task, model)
    n_visits = (task.plan.n_iter - len(model)) * task.batch_size * len(task.rows)
    is_most = 2 * sum(map(len, task.rows.values())) > len(task.X)  # many labels leave many unlabeled points out
    if is_most and n_visits > MAX_VISITS_PER_POINT * len(task.X) and memory_map_of(task.X) is None:
        return AllPoints(task, model)
    return VisitedPoints(task, model, is_staged=is_staged)
