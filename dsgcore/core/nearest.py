"""Nearest neighbours by scikit-learn's search, on the threads of this process's own pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from dsgcore.core._threads import for_each_piece, single_threaded_openmp

# Points in a piece, a multiple of scikit-learn's own pieces. It searches fewer than 1,024 points in another order, and
# then finds other points of those at the same distance.
ROWS = 2048


def nearest(search: NearestNeighbors, Z: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Return the distances from points (n, d) to the k nearest ones, and the numbers of these, both (n, k).

    Bit-for-bit identical for any number of threads, also if several points are at the same distance.
    """
    distances, numbers = np.empty((len(Z), k)), np.empty((len(Z), k), dtype=np.intp)

    def work(part: slice) -> None:
        with single_threaded_openmp():
            distances[part], numbers[part] = search.kneighbors(Z[part], k)

    edges = [*range(0, len(Z) - ROWS + 1, ROWS)] or [0]
    for_each_piece(work, [slice(a, b) for a, b in zip(edges, [*edges[1:], len(Z)], strict=True)])
    return distances, numbers
