"""Nearest neighbours, by SciPy's tree or by comparing all points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from dsgcore.core._threads import for_each_piece, pieces
from dsgcore.core.errors import DSGError
from dsgcore.kernels._loops_blocks import set_nearest_of_blocks
from dsgcore.kernels._loops_nearest import set_nearest
from dsgcore.kernels._loops_vectors import IS_USED

# Up to so many coordinates the tree finds neighbours in less time than a comparison of all points. Its leaves have so
# many points.
COORDINATES_OF_TREE, LEAF = 5, 32
# At most so many points, and so many products, are compared at a time. In blocks the products are not kept.
ROWS, PRODUCTS, ROWS_OF_BLOCKS = 128, 2**20, 1024
# Larger coordinates count as this one, so that their squares are finite.
LARGEST = 1e150
# Largest coordinate of which products in single precision are finite, in units of the points' largest one.
FARTHEST = 1e15


class Nearest:
    """Search for the nearest of some points by Euclidean distance, in double precision.

    The results are bit-for-bit identical for any number of threads, also if several points are at the same distance.

    Parameters
    ----------
    X : ndarray of shape (m, d)

    Raises
    ------
    DSGError
        If a coordinate is NaN.
    """

    def __init__(self, X: NDArray) -> None:
        self.points = np.ascontiguousarray(_bounded(X), dtype=np.float64)
        # Splitting at the middle rather than at the median keeps the parts of clustered points compact.
        self._tree = KDTree(self.points, LEAF, balanced_tree=False) if X.shape[1] <= COORDINATES_OF_TREE else None
        self._all = None if self._tree is not None else _Products(self.points)

    def of(self, Z: NDArray, k: int) -> tuple[NDArray, NDArray]:
        """Return the distances from points (n, d) to the k nearest ones (k <= m), and the numbers of these, both (n, k)."""
        distances, numbers = np.empty((len(Z), k)), np.empty((len(Z), k), dtype=np.intp)
        points, tree, products = _bounded(Z), self._tree, self._all

        def work(part: slice) -> None:
            if tree is not None:
                distances[part], numbers[part] = tree.query(points[part], np.arange(1, k + 1))
            if products is not None:
                products.set_nearest(points[part], distances[part], numbers[part])

        for_each_piece(work, pieces(len(Z), ROWS, len(Z) * len(self.points)))
        return distances, numbers

    def of_own(self, rows: NDArray, k: int) -> tuple[NDArray, NDArray]:
        """Return the same for the points' own `rows` (n,), each without itself (k < m).

        If copies of a point fill its list, the first copy is left out instead of the point.
        """
        distances, numbers = self.of(self.points[rows], k + 1)
        is_other = numbers != rows[:, None]
        is_other[is_other.all(axis=1), 0] = False
        return distances[is_other].reshape(len(rows), k), numbers[is_other].reshape(len(rows), k)


class _Products:
    """Comparison with all points: products in single precision leave a few of them, whose distances are computed exactly.

    Half of |x - z|^2 is |z|^2 / 2 + (z, 1)'(-x, |x|^2 / 2). Points are taken from their mean, in units of their largest
    coordinate.
    """

    def __init__(self, X: NDArray) -> None:
        self.X, self.centre = X, X.mean(axis=0)
        centred = X - self.centre
        self.unit = float(np.abs(centred).max(initial=0.0)) or 1.0
        centred /= self.unit
        halves = 0.5 * np.einsum("ij,ij->i", centred, centred)
        self.columns = np.empty((X.shape[1] + 1, len(X)), dtype=np.float32)
        self.columns[:-1], self.columns[-1] = -centred.T, halves
        self.size = float(np.sqrt(2.0 * halves.max(initial=0.0)))
        # A product's error, as a share of the vectors' norms: those of its terms, of the sums and of rounded numbers.
        self.rounding = (X.shape[1] + 8) * float(np.finfo(np.float32).eps)

    def set_nearest(self, Z: NDArray, distances: NDArray, numbers: NDArray) -> None:
        """Set the distances and the numbers of the nearest points to points (n, d), both (n, k)."""
        at_once = ROWS_OF_BLOCKS if IS_USED else max(1, min(ROWS, PRODUCTS // len(self.X)))
        for start in range(0, len(Z), at_once):
            rows = slice(start, start + at_once)
            points = np.ascontiguousarray(Z[rows], dtype=np.float64)
            with np.errstate(over="ignore"):
                centred = (points - self.centre) / self.unit
                size = np.sqrt(np.einsum("ij,ij->i", centred, centred))
            errors = self.rounding * self.size * (size + self.size)
            is_far = size > FARTHEST
            errors[is_far], centred[is_far] = np.inf, 0.0
            single, exact = centred.astype(np.float32), (self.X, points, distances[rows], numbers[rows])
            if IS_USED:
                set_nearest_of_blocks(single, self.columns, errors, *exact)
            else:
                set_nearest(single @ self.columns[:-1] + self.columns[-1], errors, *exact)
        np.sqrt(distances, out=distances)


def _bounded(X: NDArray) -> NDArray:
    """Return the points with no coordinate beyond `LARGEST`; raise DSGError if one is NaN."""
    largest = float(np.maximum(X.max(), -X.min())) if X.size else 0.0  # NaN if any coordinate is
    if np.isnan(largest):
        raise DSGError(
            "a point has no nearest one where a coordinate is NaN: fill in missing values, or drop their rows"
        )
    return np.clip(X, -LARGEST, LARGEST) if largest > LARGEST else X
