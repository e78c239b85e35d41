"""Shared data of all runs on a split: the graph over its points and their features, computed once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.graph import laplacian, largest_eigenvalue, smoothness
from dsgcore.multiclass.weights import Weights
from dsgcore.problems import UNLABELED

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
        self.phi = features(X) if len(X) * features.width(X.shape[1]) <= MAX_KEPT_FEATURES else None
        self._last: tuple[NDArray, NDArray] | None = None

    def scores(self, W: NDArray) -> NDArray:
        """Return the scores of all classes, of shape (n, K), read-only; weights W (D, K) are never changed in place."""
        last = self._last
        if last is None or last[0] is not W:
            with single_threaded_blas():  # bit-for-bit identical for any number of threads
                made = (
                    self.phi @ W
                    if self.phi is not None
                    else Weights(self.features, W, self.X.shape[1]).evaluate(self.X)
                )
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
    """The graph's term for a model that is linear in some features.

    Attributes
    ----------
    M : ndarray of shape (D, D)
        The features' X L X'.
    largest : float
        The largest eigenvalue of M. A step 1/mu overshoots if tau_I / mu is above 1 / `largest`.
    seconds : float
        Time for M and the graph, in seconds.
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
        if self.made(links, features)[1] is None:
            graph = self.made(links, features)[0]
            self.keep(links, features, make_graph_and_pull(self.X, graph, links, features))
        return self._made["pull"][1]

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
