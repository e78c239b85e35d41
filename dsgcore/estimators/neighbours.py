"""Labels spread over a graph of nearest neighbours: what the unlabeled points say about the classes of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

from dsgcore.core.folds import Fold
from dsgcore.core.sampling import evenly_spread
from dsgcore.estimators.scaled import at_scaled, scaled, scaler_of
from dsgcore.kernels._loops_spread import COLUMNS_OF_BLOCK, spread_blocks
from dsgcore.kernels._loops_vectors import IS_USED
from dsgcore.kernels.nearest import Nearest
from dsgcore.solver.problem import UNLABELED

# Neighbours of a point, and the share of a point's mass that it passes on to them.
N_NEIGHBORS, TRUST = 7, 0.8
# A graph has at most so many labeled points, and so many others. Thresholds are found at so many of the graph's points.
MOST_POINTS, POINTS_CUT = 2000, 1000
# Accuracy of the masses, and the mass that each point has without labels near it. A step halves the error.
TOLERANCE, STEPS = 1e-6, 21


def _weights() -> NDArray:
    """Return the weights of the steps of Chebyshev's iteration, for eigenvalues from -TRUST to TRUST."""
    return np.array(
        list(accumulate(range(STEPS), lambda weight, _: 1.0 / (1.0 - TRUST**2 / 4.0 * weight), initial=2.0))[1:]
    )


WEIGHTS = _weights()


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Values at the points of a graph; a new point has the mean of its neighbours' values.

    Attributes
    ----------
    scaler : object
        scikit-learn's scaling.
    search : dsgcore.kernels.nearest.Nearest
        Search for the nearest of the scaled points.
    values : ndarray of shape (m,) or (m, K)
    """

    scaler: StandardScaler
    search: Nearest
    values: NDArray

    def at(self, X: NDArray) -> NDArray:
        """Return the values at points (n, d), of shape (n,) or (n, K)."""
        k = _listed(len(self.values))
        return at_scaled(X, self.scaler, lambda points: self.values[self.search.of(points, k)[1]].mean(axis=1))


class Graph:
    """Graph of the nearest neighbours among some points, on which labels spread.

    Each label begins as a mass of one in its class. A point passes on a share of its mass to its neighbours, again and
    again. Its value follows from the shares of the classes in what it has got in total: for two classes the second
    one's share less the first one's, for ordered classes their mean number, otherwise all shares.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Points; `graph_rows` selects them.
    is_ordered : bool

    Notes
    -----
    Source: D. Zhou, O. Bousquet, T. Lal, J. Weston and B. Schölkopf, Learning with Local and Global Consistency, NIPS
    2004, (2), with a graph of neighbours instead of a Gaussian kernel. scikit-learn has it as `LabelSpreading`.
    """

    def __init__(self, X: NDArray, *, is_ordered: bool) -> None:
        self._is_ordered = is_ordered
        self.scaler = scaler_of(X)
        self.search, k = Nearest(scaled(X, self.scaler)), _listed(len(X))
        _, near = self.search.of_own(np.arange(len(X)), k)
        S = csr_array((np.ones(near.size), near.ravel(), np.arange(0, near.size + 1, k)), shape=(len(X), len(X)))
        S = csr_array(S.maximum(S.T))
        degrees = np.diff(S.indptr)
        self._root = 1.0 / np.sqrt(degrees)
        S.data *= TRUST * np.repeat(self._root, degrees) * self._root[S.indices]
        self._passed_on = S
        self._lists = np.column_stack([np.arange(len(X)), near[:, :-1]])
        self._known: tuple[NDArray, NDArray] | None = None  # the last marks that `on` has spread, and their masses

    def learned(self, codes: NDArray) -> Neighbours:
        """Return the values that follow from the points' class codes (m,), -1 for unlabeled points."""
        labeled = np.flatnonzero(codes != UNLABELED)
        marks = self._marks(labeled, codes[labeled], int(codes.max()) + 1)
        known = self._known
        masses = known[1] if known is not None and np.array_equal(known[0], marks) else self._spread(marks)
        return Neighbours(self.scaler, self.search, self._values(masses, marks))

    def at_own_points(self, values: NDArray) -> NDArray:
        """Return the means of the neighbours' values at the graph's own points, each its own first neighbour."""
        return values[self._lists].mean(axis=1)

    def on(self, rows: NDArray, y: NDArray) -> Callable[[Sequence[Fold]], list[NDArray]]:
        """Return a function of folds (train, held) of labeled `rows` with codes y: the values at each one's held-out rows."""

        def held_out(folds: Sequence[Fold]) -> list[NDArray]:
            marks = [self._marks(rows[held], y[held], int(y.max()) + 1) for _, held in folds]
            parts = np.split(self._spread(np.hstack(marks)), len(folds), axis=1)
            self._known = every, total = np.sum(marks, axis=0), np.sum(parts, axis=0)
            return [
                self._values((total - part)[rows[held]], every - mark)
                for (_, held), part, mark in zip(folds, parts, marks, strict=True)
            ]

        return held_out

    def _marks(self, rows: NDArray, codes: NDArray, n_classes: int) -> NDArray:
        """Return a one at each of these labeled points, in its class's column."""
        marks = np.zeros((len(self._root), n_classes))
        marks[rows, codes] = 1.0
        return marks

    def _spread(self, marks: NDArray) -> NDArray:
        """Return the masses in the end, by Chebyshev's iteration."""
        S = self._passed_on
        if IS_USED:
            return _in_blocks(S, marks) * self._root[:, None]
        before, masses = np.zeros_like(marks), marks
        for weight in WEIGHTS:
            after = S @ masses  # in place from here on: with many classes these are large
            after += marks
            after -= before
            after *= weight
            after += before
            before, masses = masses, after
        return masses * self._root[:, None]

    def _values(self, masses: NDArray, marks: NDArray) -> NDArray:
        """Return the values for masses (n, K). Points that no label reaches have the labels' own shares."""
        masses = np.maximum(masses, 0.0) + TOLERANCE * marks.mean(axis=0)
        shares = masses / masses.sum(axis=1, keepdims=True)
        if self._is_ordered:
            return shares @ np.arange(shares.shape[1])
        return shares if shares.shape[1] > 2 else shares[:, 1] - shares[:, 0]


def _in_blocks(S: csr_array, marks: NDArray) -> NDArray:
    """Return the masses (m, c) of marks, in single precision: each is a sum of shares, and keeps its relative accuracy."""
    (m, c), single = marks.shape, np.float32
    blocks = np.zeros((m, -(-c // COLUMNS_OF_BLOCK), COLUMNS_OF_BLOCK), dtype=single)
    blocks.reshape(m, -1)[:, :c] = marks
    given = np.ascontiguousarray(blocks.swapaxes(0, 1)).reshape(-1, m * COLUMNS_OF_BLOCK)
    masses = spread_blocks(S.indptr, S.indices, S.data.astype(single), given, WEIGHTS.astype(single))
    return masses.reshape(-1, m, COLUMNS_OF_BLOCK).swapaxes(0, 1).reshape(m, -1)[:, :c]


def _listed(m: int) -> int:
    """Return the number of neighbours that each of m points lists."""
    return min(N_NEIGHBORS, m - 1)


def graph_rows(codes: NDArray) -> NDArray:
    """Return the rows for a graph, ascending: labeled ones, and others evenly spread."""
    return np.union1d(labeled_rows(codes, MOST_POINTS), evenly_spread(len(codes), MOST_POINTS))


def threshold_rows(n: int) -> NDArray:
    """Return ascending rows of n points at which a threshold is found: they are in the graph, and need no other search."""
    of_graph = evenly_spread(n, MOST_POINTS)
    return evenly_spread(n, POINTS_CUT) if n <= MOST_POINTS else of_graph[:: MOST_POINTS // POINTS_CUT]


def labeled_rows(codes: NDArray, most: int) -> NDArray:
    """Return the labeled rows, ascending, or as many of them as `most`, evenly spread, with each class's first one."""
    labeled = np.flatnonzero(codes != UNLABELED)
    rows = labeled[evenly_spread(len(labeled), most)]
    missing = np.setdiff1d(codes[labeled], codes[rows])
    return np.union1d(rows, [np.argmax(codes == code) for code in missing]).astype(np.intp)
