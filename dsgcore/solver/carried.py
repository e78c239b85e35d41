"""Points that a run tracks: every iteration adds its block to the model's values at them.

The papers' algorithms sum all earlier blocks again at every batch point. Here the training points that later batches
visit keep their values, and so do points at which something is measured.
"""

from __future__ import annotations

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


class Advanced(Protocol):
    """Interface of state that every iteration updates."""

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, with frequencies `W`."""
        ...


class TrainingPoints(Advanced, Protocol):
    """Interface of the solver's source of mini-batches: rows, points, and f at them, all source after source."""

    def rows(self, t: int) -> NDArray:
        """Return the rows of iteration `t`'s mini-batches."""
        ...

    def at(self, t: int) -> NDArray:
        """Return f at the batch points."""
        ...

    def average_at(self, t: int) -> NDArray:
        """Return the averaged f at the batch points if the plan asks for an average; else f."""
        ...

    def points(self, t: int) -> NDArray:
        """Return the batch points."""
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
        block. The errors of the iterations are martingale differences, so their variances add up.
    average_after : int, optional
        Also track the sum of the iterates after so many iterations, for their mean.
    """

    changed: ClassVar[tuple[str, ...]] = ("values", "variance", "total")

    def __init__(
        self, X: NDArray, model: Expansion, *, with_variance: bool = False, average_after: int | None = None
    ) -> None:
        self.X = features.as_points(X, model.dtype)
        self.feature_map = model.kernel.feature_map
        self.values = np.zeros(len(X), dtype=model.dtype)
        self.variance = np.zeros(len(X)) if with_variance else None
        self.average_from(average_after)
        self.t = 0
        self._catch_up(model)

    def average_from(self, after: int | None) -> None:
        """Restart the sum of iterates: it holds those after so many iterations, at least as many as have been made."""
        self.average_after = after
        # The sum of the iterates to be averaged, without the current one.
        self.total = None if after is None else np.zeros(len(self.X))

    def _catch_up(self, model: Expansion) -> None:
        at_once = len(model) if self.average_after is None else min(len(model), self.average_after + 1)
        self.t = at_once if self.variance is None else 0
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
        if self.total is None or self.average_after is None or self.t <= self.average_after:
            return values
        return ((self.total[rows] + values) / (self.t - self.average_after)).astype(values.dtype)

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, with frequencies `W`."""
        if self.variance is None:
            self.advance_first(len(self.X), W, block, decay)
            return
        self._sum_up(len(self.X))
        m = block.shape[1]
        sums, squares = self.feature_map.evaluate_with_squares(self.X, W, block)
        self.values *= self.values.dtype.type(decay)
        self.values += sums
        spread = squares.astype(np.float64) - sums.astype(np.float64) ** 2 / m
        with np.errstate(divide="ignore", invalid="ignore"):  # one feature has no spread: NaN
            self.variance *= decay**2
            self.variance += np.maximum(spread, 0.0) * np.divide(m, m - 1.0)

    def advance_first(self, n: int, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block at the first `n` points alone, without the variance."""
        self._sum_up(n)
        self.feature_map.evaluate(self.X[:n], W, block, decay, self.values[:n])

    def _sum_up(self, n: int) -> None:
        """Add the current iterate to the sum, before the next one replaces it."""
        if self.total is not None and self.average_after is not None and self.t > self.average_after:
            self.total[:n] += self.values[:n]
        self.t += 1


class AllPoints(Carried):
    """All training points, tracked to the end: their values serve mini-batches and whole-sample measures."""

    def __init__(self, task: Task, model: Expansion) -> None:
        super().__init__(task.X, model, average_after=task.plan.average_after)
        self._around, self._drawn = task.batches_around, (0, np.empty((0, 0), dtype=np.int64))

    def rows(self, t: int) -> NDArray:
        """Return the rows of iteration `t`'s mini-batches."""
        first, batches = self._drawn
        if not first <= t < first + len(batches):
            self._drawn = first, batches = self._around(t)
        return batches[t - first]

    def at(self, t: int) -> NDArray:
        """Return f at the batch points."""
        return self.values.take(self.rows(t))

    def average_at(self, t: int) -> NDArray:
        """Return the averaged f at the batch points."""
        return self.average_of(self.rows(t))

    def points(self, t: int) -> NDArray:
        """Return the batch points."""
        return self.X.take(self.rows(t), axis=0)


class VisitedPoints(OwnValues):
    """The training points that future iterations will visit up to `stop` (default: the plan's last), and no others.

    The index streams are known in advance, and so is every point's last visit. The points are ordered by their last
    visit, latest first, so the points needed after iteration t are a prefix. The sum of its lengths over t is at most
    min(n T, B T^2 / 2) block evaluations. Summing all earlier blocks again would cost B T^2 / 2.
    """

    changed: ClassVar[tuple[str, ...]] = ("carried",)

    def __init__(self, task: Task, model: Expansion, stop: int | None = None) -> None:
        self.start, stop = len(model), task.plan.n_iter if stop is None else stop
        streams = task.joined_batches(self.start, stop)
        visited, inverse = np.unique(streams, return_inverse=True)
        inverse, last = inverse.reshape(streams.shape), np.zeros(len(visited), dtype=np.int64)
        for t, places in enumerate(inverse, self.start + 1):
            last[places] = t
        order, rank = np.argsort(-last, kind="stable"), np.empty(len(visited), dtype=np.int32)
        rank[order] = np.arange(len(order))
        self.visited, self.positions = visited[order], rank[inverse]
        self.needed_after = np.searchsorted(-last[order], -np.arange(self.start + 1, stop + 1), side="left")
        points = _rows_in_order(task.X, visited, rank, task.dtype)
        self.carried = Carried(points, model, average_after=task.plan.average_after)

    def _places(self, t: int) -> NDArray:
        return self.positions[t - 1 - self.start]

    def rows(self, t: int) -> NDArray:
        """Return the rows of iteration `t`'s mini-batches."""
        return self.visited[self._places(t)]

    def at(self, t: int) -> NDArray:
        """Return f at the batch points."""
        return self.carried.values[self._places(t)]

    def average_at(self, t: int) -> NDArray:
        """Return the averaged f at the batch points."""
        return self.carried.average_of(self._places(t))

    def points(self, t: int) -> NDArray:
        """Return the batch points."""
        return self.carried.X.take(self._places(t), axis=0)

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block at the points that are still to be visited."""
        needed = self.needed_after[self.carried.t - self.start]
        self.carried.advance_first(needed, W, block, decay)


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


def training_points(task: Task, model: Expansion, stop: int | None = None) -> AllPoints | VisitedPoints:
    """Return the training points in the form that suits a run of this length; `stop` is as in `VisitedPoints`."""
    return AllPoints(task, model) if is_dense(task, len(model)) else VisitedPoints(task, model, stop)


def is_dense(task: Task, start: int) -> bool:
    """Return True if the iterations after `start` visit the points so often that all are tracked."""
    n_visits = (task.plan.n_iter - start) * task.batch_size * len(task.rows)
    return n_visits > MAX_VISITS_PER_POINT * len(task.X) and memory_map_of(task.X) is None
