"""Neighbour graph over all points, labeled or not, and the smoothness term of its Laplacian for a linear model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from dsgcore.core.sampling import evenly_spread
from dsgcore.core.threads import single_threaded_openmp

# Up to this many points the mean distance uses all pairs. For more points, it uses the distances to this many of them.
MAX_ANCHORS = 1000
ROWS_AT_A_TIME = 4096
# The largest eigenvalue of a matrix with more rows is computed by Lanczos steps.
MAX_ROWS_FOR_ALL_EIGENVALUES = 64


def laplacian(
    X: NDArray,
    n_neighbors: int = 10,
    is_released: bool = False,
    *,
    report: Callable[[float], object] = lambda share: None,
) -> csr_array:
    """Make the Laplacian L = D - S of the nearest-neighbour graph with weights S_ij = exp(-||x_i - x_j||^2 / s^2).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points, at least two.
    n_neighbors : int, default 10
        Number of nearest points that each point lists, not counting itself. At most n - 1 of them exist.
        Two points are linked if one of them lists the other.
    is_released : bool, default False
        True for the authors' program: s is the mean distance to the last listed neighbour, and mutual links count twice.
    report : callable, optional
        Called with the share of the points whose neighbours are known, in (0, 1], after each block of them.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric and positive semi-definite. Its rows sum to zero.

    Notes
    -----
    Source: J. Li, Y. Liu, R. Yin and W. Wang, Multi-Class Learning using Unlabeled Samples: Theory and Algorithm,
    IJCAI 2019, Sections 4.1 and 5. The width s is the mean distance between points.

    Deviation: Section 5 writes L = D - W, a slip for D - S (Section 4.1). Its width is a mean of ||x_i - x_j|| over i
    and leaves j open. Here the mean is over all pairs. With more than 1000 points, j runs over 1000 of them, evenly
    spread over the rows.
    """
    S = _listed(X, min(n_neighbors, len(X) - 1), report)
    width = float(np.sqrt(S.data.reshape(len(X), -1).max(axis=1)).mean()) if is_released else mean_distance(X)
    # If all points coincide, every weight is one.
    S.data = np.exp(-S.data / width**2) if width > 0 else np.ones_like(S.data)
    S = S + S.T if is_released else S.maximum(S.T)
    return csr_array(diags_array(S.sum(axis=1)) - S)


def mean_distance(X: NDArray) -> float:
    """Return the mean distance between the points (rows) of `X`, including the zero distance of each to itself."""
    # Numbers around 0, for a small error of |x|^2 - 2 x'z + |z|^2.
    anchors = X[evenly_spread(len(X), MAX_ANCHORS)] - X[0]
    if len(anchors) == len(X):
        return float(euclidean_distances(anchors).mean())
    pieces = (X[start : start + ROWS_AT_A_TIME] - X[0] for start in range(0, len(X), ROWS_AT_A_TIME))
    return float(sum(euclidean_distances(piece, anchors).sum() for piece in pieces) / (len(X) * len(anchors)))


def smoothness(features: NDArray, L: csr_array) -> NDArray:
    """Return the matrix M = X L X' of shape (d, d), from features of shape (n, d): the graph term is trace(W' M W).

    That term is the sum over all links of S_ij ||h(x_i) - h(x_j)||^2, each link counted once.
    """
    return features.T @ (L @ features)


def largest_eigenvalue(M: NDArray) -> float:
    """Return the largest eigenvalue of a symmetric positive semi-definite matrix.

    For the graph term's matrix it is half the term's curvature.
    """
    if len(M) <= MAX_ROWS_FOR_ALL_EIGENVALUES:
        return float(np.linalg.eigvalsh(M)[-1])
    return float(eigsh(M, k=1, v0=np.ones(len(M)), return_eigenvectors=False)[0])


def _listed(X: NDArray, n_neighbors: int, report: Callable[[float], object]) -> csr_array:
    """Return the squared distance from each point to the points that it lists."""
    points = X - X[0]  # numbers around 0, as above
    search = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(points)
    distances, neighbors = np.empty((len(X), n_neighbors)), np.empty((len(X), n_neighbors), dtype=np.intp)
    for start in range(0, len(X), ROWS_AT_A_TIME):
        rows = np.arange(start, min(start + ROWS_AT_A_TIME, len(X)))
        with single_threaded_openmp():  # the same neighbours for any number of threads
            far, near = search.kneighbors(points[rows])
        is_other = near != rows[:, None]
        is_other[is_other.all(axis=1), 0] = False  # its copies fill its list
        distances[rows], neighbors[rows] = far[is_other].reshape(len(rows), -1), near[is_other].reshape(len(rows), -1)
        report((rows[-1] + 1) / len(X))
    starts = np.arange(len(X) + 1) * n_neighbors
    return csr_array((distances.ravel() ** 2, neighbors.ravel(), starts), shape=(len(X), len(X)))
