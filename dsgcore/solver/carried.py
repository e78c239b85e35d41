"""Points that a run tracks: every iteration adds its block to the model's values at them.

The papers' algorithms sum all earlier blocks again at every batch point. Here the training points that later batches
visit keep their values, and so do points at which something is measured.
"""

from __future__ import annotations

import math
import mmap
from copy import copy
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.kernels import features
from dsgcore.solver.model import Expansion
from dsgcore.solver.task import Task

# With more visits per point than this, dropping points after their last visit saves next to nothing: track all points.
MAX_VISITS_PER_POINT = 64
# Number of rows read from a memory map before its pages are released.
ROWS_READ_AT_ONCE = 1024
# A fit that may end early tracks the points of a later stage only from there on. A stage ends at these iterations, or after
# so many times as many as the one before, because it visits mostly the same points. Where there are so many times as many
# rows as visits in the first stage, each visits others, and all are equally long.
FIRST_STAGE, STAGES_GROW, ROWS_PER_VISIT = 50, 4, 2


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
    """A set of points with the model's values at them, updated at every iteration.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    model : Expansion
    with_variance : bool, default False
        Also track V, an unbiased estimate of E (f - h)^2 at every point, from the spread of the single features'
        contributions: V <- (1 - eta lambda)^2 V + Var_j[m p_j] / m, with p_j the j-th feature's contribution to the
        block. The errors of the iterations are martingale differences, so their variances add up. With fixed features,
        V is the same spread of the features' contributions to f.
    average_after : int, optional
        Also track the sum of the iterates after so many iterations, for their mean.
    """

    changed: ClassVar[tuple[str, ...]] = ("values", "variance", "total")

    def __init__(
        self, X: NDArray, model: Expansion, *, with_variance: bool = False, average_after: int | None = None
    ) -> None:
        self.X = features.as_points(X, model.dtype)
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

    def advance(self, W: NDArray, block: NDArray, decay: float, n: int | None = None) -> None:
        """Add one iteration's block, with frequencies `W`; with `n`, at the first points alone if no variance is tracked."""
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
        self._batches_around, self._drawn = task.batches_around, (0, np.empty((0, 0), dtype=np.int64))

    def batch(self, t: int) -> tuple[NDArray, NDArray]:
        """Return the rows of iteration `t`'s mini-batches, source after source, and their places among the points."""
        first, batches = self._drawn
        if not first <= t < first + len(batches):
            first, batches = self._drawn = self._batches_around(t)
        rows = batches[t - first]
        return rows, rows


class VisitedPoints(Carried):
    """The training points that future iterations will visit, up to the last one of the plan or of a stage, and no others.

    The index streams are known in advance, and so is every point's last visit. The points are ordered by their last
    visit, latest first, so the points needed after iteration t are a prefix. The sum of its lengths over t is at most
    min(n T, B T^2 / 2) block evaluations. Summing all earlier blocks again would cost B T^2 / 2.

    Parameters
    ----------
    task : Task
    model : Expansion
        The run's model, which has the iterations before each stage when the run gets there.
    first : int, optional
        Number of iterations to begin after. Default: all that the model has.
    is_staged : bool, default False
        True for a run that may end early: the points of a later stage get their values when the run gets there.
    """

    def __init__(self, task: Task, model: Expansion, first: int | None = None, *, is_staged: bool = False) -> None:
        self.task, self.model, self.is_staged = task, model, is_staged
        self._begin(len(model) if first is None else first)

    def _begin(self, start: int) -> None:
        """Take the points of the stage after so many iterations, with their values there."""
        task, stop = self.task, end_of_stage(self.task, start) if self.is_staged else self.task.plan.n_iter
        self.start, self.stop, streams = start, stop, task.joined_batches(start, stop)
        visited, inverse = np.unique(streams, return_inverse=True)
        inverse, last = inverse.reshape(streams.shape), np.zeros(len(visited), dtype=np.int64)
        for t, places in enumerate(inverse, start + 1):
            last[places] = t
        order, rank = np.argsort(-last, kind="stable"), np.empty(len(visited), dtype=np.int32)
        rank[order] = np.arange(len(order))
        self.visited, self.positions = visited[order], rank[inverse]
        self.needed_after = np.searchsorted(-last[order], -np.arange(start + 1, stop + 1), side="left")
        points = _rows_in_order(task.X, visited, rank, task.dtype)
        super().__init__(points, self.model.prefix(start), average_after=task.plan.average_after)

    def batch(self, t: int) -> tuple[NDArray, NDArray]:
        """Return the rows of iteration `t`'s mini-batches, source after source, and their places among the points."""
        if t > self.stop:
            self._begin(self.stop)
        places = self.positions[t - self.start - 1]
        return self.visited[places], places

    def advance(self, W: NDArray, block: NDArray, decay: float, n: int | None = None) -> None:
        """Add one iteration's block at the points that are still to be visited in its stage."""
        if self.t == self.stop:  # a checkpoint's iteration, whose batch nobody has asked for
            self._begin(self.stop)
        super().advance(W, block, decay, self.needed_after[self.t - self.start])


class DrawnPoints(OwnValues):
    """The points of one mini-batch, for fixed features: their values follow from the coefficients of f, none is carried."""

    average_after: ClassVar[float] = math.inf

    def __init__(self, task: Task, model: Expansion) -> None:
        self.task, self.model, self.feature_map, self.t = task, model, model.kernel.feature_map, len(model)
        blocks = model.joined().blocks
        self.alpha = self.feature_map.coefficients(blocks[0]) if blocks else np.zeros((), dtype=model.dtype)
        self.X = self.values = np.zeros(0, dtype=model.dtype)

    def batch(self, t: int) -> tuple[NDArray, NDArray]:
        """Return the rows of iteration `t`'s mini-batches, source after source, and their places among the points."""
        rows = np.concatenate([*self.task.batch(t).values()])
        self.X, self.values = (
            features.as_points(self.task.X[rows], self.model.dtype),
            np.zeros(len(rows), self.model.dtype),
        )
        if self.alpha.ndim:
            block = self.feature_map.block_of(self.alpha)
            self.feature_map.evaluate(self.X, self.model.frequencies(t, block.shape[1]), block, 0.0, self.values)
        return rows, np.arange(len(rows))

    def average_of(self, rows: NDArray | slice) -> NDArray:
        """Return f at some of the points: no mean is tracked."""
        return self.values[rows]

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block to the coefficients."""
        self.t += 1
        self.alpha = self.alpha * self.alpha.dtype.type(decay) + self.feature_map.coefficients(block)


def _rows_in_order(X: NDArray, rows: NDArray, places: NDArray, dtype: np.dtype) -> NDArray:
    """Return the ascending `rows` of X, each at its place; only a few pages of a memory map stay in memory."""
    ordered, memory_map = np.empty((len(rows), X.shape[1]), dtype=dtype), memory_map_of(X)
    for first in range(0, len(rows), ROWS_READ_AT_ONCE):
        piece = slice(first, first + ROWS_READ_AT_ONCE)
        ordered[places[piece]] = X[rows[piece]]
        if memory_map is not None and hasattr(mmap, "MADV_DONTNEED"):
            memory_map.madvise(mmap.MADV_DONTNEED)
    return ordered


def memory_map_of(X: NDArray) -> mmap.mmap | None:
    """Return the memory map behind an array, perhaps a view; None if it is in memory, or copied on writing."""
    base: object = X
    while isinstance(base, np.ndarray) and getattr(base, "mode", "r") != "c":
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


TrainingPoints = AllPoints | VisitedPoints | DrawnPoints


def training_points(
    task: Task, model: Expansion, first: int | None = None, *, is_staged: bool = False
) -> TrainingPoints:
    """Return the training points in the form that suits a run of this length; all if each is visited often.

    `first` and `is_staged` are as in `VisitedPoints`.
    """
    start = len(model) if first is None else first
    if model.is_fixed:
        return DrawnPoints(task, model.prefix(start))
    n_visits = (task.plan.n_iter - start) * task.batch_size * len(task.rows)
    if n_visits > MAX_VISITS_PER_POINT * len(task.X) and memory_map_of(task.X) is None:
        return AllPoints(task, model.prefix(start))
    return VisitedPoints(task, model, start, is_staged=is_staged)


def end_of_stage(task: Task, start: int) -> int:
    """Return the last iteration of the stage after `start` iterations of a fit that may end early."""
    n_visits, end = FIRST_STAGE * task.batch_size * len(task.rows), FIRST_STAGE
    is_sparse = len(task.X) > ROWS_PER_VISIT * n_visits
    while end <= start:
        end = end + FIRST_STAGE if is_sparse else end * STAGES_GROW
    return min(end, task.plan.n_iter)
