"""Points that a run carries along: the model's values at them, brought forward by one block at every iteration.

The papers' algorithms sum all earlier blocks again at every batch point. Here the training points that later batches will
visit keep their values, and so do points at which something is measured.
"""

from __future__ import annotations

import mmap
from collections.abc import Collection, Mapping
from copy import copy
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core import features
from dsgcore.core.expansion import Expansion
from dsgcore.core.task import Task

# With more visits a point than this, leaving out points after their last visit saves next to nothing: carry them all.
MAX_VISITS_PER_POINT = 64
# With no more rows than this for each visit, marking the visited ones in a table of all rows beats sorting the visits.
ROWS_PER_VISIT_MARKED = 8
# Rows read from a memory map before its pages are given back.
ROWS_READ_AT_ONCE = 1024


class Advanced(Protocol):
    """What is brought forward at every iteration."""

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, of frequencies `W`."""
        ...


class TrainingPoints(Advanced, Protocol):
    """Where the solver finds its mini-batches: rows, points, and f at them."""

    def batch(self, t: int) -> dict[str, NDArray]:
        """Return the rows of iteration `t`'s mini-batches, source -> (B,)."""
        ...

    def at(self, t: int, batch: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Return f at the batch points of each source."""
        ...

    def average_at(self, t: int, batch: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Return the averaged f at the batch points of each source, where the plan asks for an average; else f."""
        ...

    def points(self, t: int, batch: Mapping[str, NDArray]) -> NDArray:
        """Return the batch points, source after source."""
        ...


class OwnValues:
    """What is brought forward, and copied now and then: a copy has its own of what is changed in place."""

    changed: ClassVar[tuple[str, ...]] = ()

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self) | {name: copy(vars(self)[name]) for name in self.changed})
        return other


class Carried(OwnValues):
    """A set of points with the model's values at them, brought forward at every iteration.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    model : Expansion
    with_variance : bool, default False
        Also carry V, an unbiased estimate of E (f - h)^2 at every point, from the spread of the single features'
        contributions: V <- (1 - eta lambda)^2 V + Var_j[m p_j] / m, p_j the j-th feature's contribution to the block.
        The errors of the iterations are martingale differences, so their variances add up.
    average_after : int, optional
        Also carry the sum of the iterates after so many iterations, for their mean.
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
        """Begin anew to sum up the iterates: those after so many iterations, no fewer than have been made."""
        self.average_after = after
        # Of the iterates to be averaged, but for the present one.
        self.total = None if after is None else np.zeros(len(self.X))

    def _catch_up(self, model: Expansion) -> None:
        at_once = len(model) if self.average_after is None else min(len(model), self.average_after + 1)
        self.t = at_once if self.variance is None else 0
        model.update(self.values, self.X, 0, self.t)
        for t, block in enumerate(model.blocks[self.t :], start=self.t + 1):
            self.advance(model.frequencies(t, block.shape[1]), block, model.decays[t - 1])

    @property
    def average(self) -> NDArray:
        """The mean of the iterates to be averaged so far, at all points; f itself before there are any."""
        return self.average_of(slice(None))

    def average_of(self, rows: NDArray | slice) -> NDArray:
        """Return the same at some of the points alone."""
        values = self.values[rows]
        if self.total is None or self.average_after is None or self.t <= self.average_after:
            return values
        return ((self.total[rows] + values) / (self.t - self.average_after)).astype(values.dtype)

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, of frequencies `W`."""
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
        """Add one iteration's block at the first `n` points alone; without the variance."""
        self._sum_up(n)
        self.feature_map.evaluate(self.X[:n], W, block, decay, self.values[:n])

    def _sum_up(self, n: int) -> None:
        """Count the present iterate in, before the next one takes its place."""
        if self.total is not None and self.average_after is not None and self.t > self.average_after:
            self.total[:n] += self.values[:n]
        self.t += 1


class AllPoints(Carried):
    """The training points, every one carried to the end: their values serve batches and whole-sample measures alike."""

    def __init__(self, task: Task, model: Expansion) -> None:
        super().__init__(task.X, model, average_after=task.plan.average_after)
        self.batch = task.batch

    def at(self, t: int, batch: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Return f at the batch points of each source."""
        return {source: self.values[rows] for source, rows in batch.items()}

    def average_at(self, t: int, batch: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Return the averaged f at the batch points of each source."""
        return _per_source(self.average_of(np.concatenate(list(batch.values()))), batch)

    def points(self, t: int, batch: Mapping[str, NDArray]) -> NDArray:
        """Return the batch points, source after source."""
        return self.X[np.concatenate(list(batch.values()))]


class VisitedPoints(OwnValues):
    """The training points that the iterations still to come will visit, and no others.

    Index streams are known in advance, so every point's last visit is. With the points ordered by their last visit,
    latest first, those still needed after iteration t are a prefix: sum over t of its length is at most
    min(n T, B T^2 / 2) block evaluations, where summing all earlier blocks again costs B T^2 / 2.
    """

    changed: ClassVar[tuple[str, ...]] = ("carried",)

    def __init__(self, task: Task, model: Expansion) -> None:
        visited, rank, self.positions, self.needed_after = visits(task, len(model))
        self.visited = np.empty_like(visited)
        self.visited[rank] = visited
        self.sources = tuple(task.rows)
        self.start = len(model)
        points = _rows_in_order(task.X, visited, rank, task.dtype)
        self.carried = Carried(points, model, average_after=task.plan.average_after)

    def _places(self, t: int) -> NDArray:
        return self.positions[t - 1 - self.start]

    def batch(self, t: int) -> dict[str, NDArray]:
        """Return the rows of iteration `t`'s mini-batches."""
        return _per_source(self.visited[self._places(t)], self.sources)

    def at(self, t: int, batch: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Return f at the batch points of each source."""
        return _per_source(self.carried.values[self._places(t)], batch)

    def average_at(self, t: int, batch: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Return the averaged f at the batch points of each source."""
        return _per_source(self.carried.average_of(self._places(t)), batch)

    def points(self, t: int, batch: Mapping[str, NDArray]) -> NDArray:
        """Return the batch points, source after source."""
        return self.carried.X[self._places(t)]

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block at the points still to be visited."""
        needed = self.needed_after[self.carried.t - self.start]
        self.carried.advance_first(needed, W, block, decay)


def _per_source(values: NDArray, sources: Collection[str]) -> dict[str, NDArray]:
    """Return what belongs to each source: every batch has the same size."""
    return dict(zip(sources, values.reshape(len(sources), -1), strict=True))


def visits(task: Task, start: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return what the iterations after `start` visit, at places in the order of the last visits, latest first.

    These are rows in ascending order and the place of each, both (k,); the places of every iteration's batch points,
    (T, visits); and how many places are still visited after each iteration, (T,).
    """
    n_iter = task.plan.n_iter
    streams = np.empty((n_iter - start, task.batch_size * len(task.rows)), dtype=np.int64)
    for i, stream in enumerate(streams):
        np.concatenate(list(task.batch(start + 1 + i).values()), out=stream)
    visited, inverse = _distinct(streams, len(task.X))
    last = np.zeros(len(visited), dtype=np.int64)
    for i, rows in enumerate(inverse):
        last[rows] = start + 1 + i
    order = np.argsort(-last, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    needed_after = np.searchsorted(-last[order], -np.arange(start + 1, n_iter + 1), side="left")
    return visited, rank, rank[inverse], needed_after


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
    return AllPoints(task, model) if is_dense(task, len(model)) else VisitedPoints(task, model)


def is_dense(task: Task, start: int) -> bool:
    """Whether the iterations after `start` visit the points so often that all are carried."""
    n_visits = (task.plan.n_iter - start) * task.batch_size * len(task.rows)
    return n_visits > MAX_VISITS_PER_POINT * len(task.X) and memory_map_of(task.X) is None
