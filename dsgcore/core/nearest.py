"""Nearest neighbours by SciPy's tree or scikit-learn's comparison of all points, on the threads of this process's pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors

from dsgcore.core._threads import for_each_piece, single_threaded_openmp

# Points in a piece, a multiple of scikit-learn's own pieces. It searches fewer than 1,024 points in another order, and
# then finds other points of those at the same distance.
ROWS = 2048
# Up to so many coordinates the tree finds neighbours in less time than a comparison of all points. Its leaves have so
# many points.
COORDINATES_OF_TREE, LEAF = 9, 32
# Larger coordinates count as this one, so that their squares are finite.
LARGEST = 1e150


class Nearest:
    """Search for the nearest of some points by Euclidean distance.

    The results are bit-for-bit identical for any number of threads, also if several points are at the same distance.

    Parameters
    ----------
    X : ndarray of shape (m, d)
    """

    def __init__(self, X: NDArray) -> None:
        self.points = _bounded(X)
        # Splitting at the middle rather than at the median keeps the parts of clustered points compact.
        self._tree = KDTree(self.points, LEAF, balanced_tree=False) if X.shape[1] <= COORDINATES_OF_TREE else None
        self._all = None if self._tree is not None else NearestNeighbors(algorithm="brute").fit(self.points)

    def of(self, Z: NDArray, k: int) -> tuple[NDArray, NDArray]:
        """Return the distances from points (n, d) to the k nearest ones (k <= m), and the numbers of these, both (n, k)."""
        distances, numbers = np.empty((len(Z), k)), np.empty((len(Z), k), dtype=np.intp)
        points = _bounded(Z)

        def work(part: slice) -> None:
            if self._tree is not None:
                distances[part], numbers[part] = self._tree.query(points[part], np.arange(1, k + 1))
            if self._all is not None:
                with single_threaded_openmp():  # its threads wait busily
                    distances[part], numbers[part] = self._all.kneighbors(points[part], k)

        edges = [*range(0, len(Z) - ROWS + 1, ROWS)] or [0]
        for_each_piece(work, [slice(a, b) for a, b in zip(edges, [*edges[1:], len(Z)], strict=True)])
        return distances, numbers

    def of_own(self, rows: NDArray, k: int) -> tuple[NDArray, NDArray]:
        """Return the same for the points' own `rows` (n,), each without itself (k < m).

        If copies of a point fill its list, the first copy is left out instead of the point.
        """
        distances, numbers = self.of(self.points[rows], k + 1)
        is_other = numbers != rows[:, None]
        is_other[is_other.all(axis=1), 0] = False
        return distances[is_other].reshape(len(rows), k), numbers[is_other].reshape(len(rows), k)


def _bounded(X: NDArray) -> NDArray:
    return np.clip(X, -LARGEST, LARGEST) if X.size and float(max(X.max(), -X.min())) > LARGEST else X
