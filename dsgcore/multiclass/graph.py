"""The neighbour graph and its term for a linear model; and what all runs on a split share: the graph, points and features."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from dsgcore.core.sampling import evenly_spread
from dsgcore.core.threads import single_threaded_blas, single_threaded_openmp
from dsgcore.data import Split
from dsgcore.multiclass.features import FixedFeatures, LazyFeatures, check_square
from dsgcore.problems import UNLABELED

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
    n_listed, points = min(n_neighbors, len(X) - 1), X - X[0]  # numbers around 0
    search = NearestNeighbors(n_neighbors=n_listed + 1).fit(points)
    distances, neighbors = np.empty((len(X), n_listed)), np.empty((len(X), n_listed), dtype=np.intp)
    for start in range(0, len(X), ROWS_AT_A_TIME):
        rows = np.arange(start, min(start + ROWS_AT_A_TIME, len(X)))
        with single_threaded_openmp():  # the same neighbours for any number of threads
            far, near = search.kneighbors(points[rows])
        is_other = near != rows[:, None]
        is_other[is_other.all(axis=1), 0] = False  # its copies fill its list
        distances[rows], neighbors[rows] = far[is_other].reshape(len(rows), -1), near[is_other].reshape(len(rows), -1)
        report((rows[-1] + 1) / len(X))
    starts = np.arange(len(X) + 1) * n_listed
    S = csr_array((distances.ravel() ** 2, neighbors.ravel(), starts), shape=(len(X), len(X)))
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
    check_square(features.shape[1], "the graph (tau_I above 0)")
    return features.T @ (L @ features)


def largest_eigenvalue(M: NDArray) -> float:
    """Return the largest eigenvalue of a symmetric positive semi-definite matrix.

    For the graph term's matrix it is half the term's curvature.
    """
    if len(M) <= MAX_ROWS_FOR_ALL_EIGENVALUES:
        return float(np.linalg.eigvalsh(M)[-1])
    return float(eigsh(M, k=1, v0=np.ones(len(M)), return_eigenvectors=False)[0])


# Up to this many numbers, the features of a point set are kept. Larger ones are recomputed at every iteration.
MAX_KEPT_FEATURES = 2**25
# From this many training points on, the graph is made in the background while a page waits.
MIN_POINTS_TO_WAIT_FOR = 10_000
# Share of the neighbour search in the time for the graph and its matrix.
SHARE_OF_NEIGHBOURS = 0.85


class ScoredPoints:
    """Points whose scores every iteration needs. Those of the last weights are kept: a run and its twin ask for them again."""

    def __init__(self, X: NDArray, features: FixedFeatures) -> None:
        self.X, self.features = X, features
        is_kept = len(X) * features.width(X.shape[1]) <= MAX_KEPT_FEATURES
        self.phi: NDArray | LazyFeatures = features(X) if is_kept else LazyFeatures(features, X)
        self._last: tuple[NDArray, NDArray] | None = None

    def scores(self, W: NDArray) -> NDArray:
        """Return the scores of all classes, of shape (n, K), read-only; weights W (D, K) are never changed in place."""
        last = self._last
        if last is None or last[0] is not W:
            with single_threaded_blas():  # bit-for-bit identical for any number of threads
                made = self.phi @ W
            made.flags.writeable = False
            self._last = last = W, made
        return last[1]


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph's Laplacian, of shape (n, n), and the seconds that it took."""

    L: csr_array
    seconds: float


@dataclass(frozen=True, eq=False)
class Pull:
    """The graph's term for a model that is linear in some features: M (D, D), the features' X L X', and its `seconds`.

    A step 1/mu overshoots if tau_I / mu is above 1 / `largest`, M's largest eigenvalue.
    """

    M: NDArray
    largest: float
    seconds: float


def make_graph_and_pull(
    X: NDArray,
    graph: Graph | None,
    links: tuple[int, bool],
    features: FixedFeatures,
    *,
    report: Callable[[tuple[str, float]], object] = lambda done: None,
) -> tuple[Graph, Pull]:
    """Make the graph over the points `X`, unless it is given, and its term for a model that is linear in the features.

    `links` are `MultiClass.links`. `report` gets the current work and the share done.
    """

    def told(share: float) -> None:
        report((f"finding the neighbours of {len(X):,} points", SHARE_OF_NEIGHBOURS * share))

    told(0.0)
    with single_threaded_blas():  # bit-for-bit identical for any number of threads
        start = time.perf_counter()
        if graph is None:
            graph = Graph(laplacian(X, *links, report=told), time.perf_counter() - start)
        report(("computing the graph's matrix", SHARE_OF_NEIGHBOURS))
        start = time.perf_counter()
        M = smoothness(features(X), graph.L)
        return graph, Pull(M, largest_eigenvalue(M), graph.seconds + time.perf_counter() - start)


class GraphCache:
    """A split's points in float64, their features, and the graph over the training points.

    The last result of each kind is kept. A run and its twin share it, and so do runs that differ in other parameters.
    """

    def __init__(self, split: Split) -> None:
        self.X = split.X_train.astype(np.float64)
        labeled = self.X[split.y_train != UNLABELED]
        self._points = {"training": self.X, "labeled": labeled, "test": split.X_test.astype(np.float64)}
        self._made: dict[str, tuple[object, Any]] = {}

    def pull(self, links: tuple[int, bool], features: FixedFeatures) -> Pull:
        """Return the graph's term."""
        graph, pull = self.made(links, features)
        if pull is None:
            graph, pull = make_graph_and_pull(self.X, graph, links, features)
            self.keep(links, features, (graph, pull))
        return pull

    def laplacian(self, links: tuple[int, bool]) -> csr_array:
        """Return the graph's Laplacian, of shape (n, n)."""
        if self._known("graph", links) is None:  # no run has used it, so that there is no term
            start = time.perf_counter()
            L = laplacian(self.X, *links)
            self._made["graph"] = links, Graph(L, time.perf_counter() - start)
        return self._made["graph"][1].L

    def keep(self, links: tuple[int, bool], features: FixedFeatures, made: tuple[Graph, Pull]) -> None:
        """Keep the results of `make_graph_and_pull`."""
        self._made["graph"], self._made["pull"] = (links, made[0]), ((links, features), made[1])

    def made(self, links: tuple[int, bool], features: FixedFeatures) -> tuple[Graph | None, Pull | None]:
        """Return the kept graph and its term, or None for each that is missing."""
        return self._known("graph", links), self._known("pull", (links, features))

    def scored(self, which: str, features: FixedFeatures) -> ScoredPoints:
        """Return the points for "training", the "labeled" ones of them, or those for the "test"."""
        if self._known(which, features) is None:
            self._made[which] = features, ScoredPoints(self._points[which], features)
        return self._made[which][1]

    def _known(self, name: str, key: object) -> Any:
        known, value = self._made.get(name, (None, None))
        return value if known == key else None


_caches: WeakKeyDictionary[Split, GraphCache] = WeakKeyDictionary()


def graph_cache_of(split: Split) -> GraphCache:
    """Return the shared data of all runs on a split; it is freed with the split."""
    if split not in _caches:
        _caches[split] = GraphCache(split)
    return _caches[split]
