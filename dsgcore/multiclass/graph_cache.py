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
from dsgcore.multiclass.problem import MultiClass
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
    """The graph's term for a linear model.

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


def make_graph(X: NDArray, n_neighbors: int, variant: str, report: Callable[[float], object]) -> Graph:
    """Make the graph over the points `X`; the other arguments are as in `laplacian`."""
    start = time.perf_counter()
    with single_threaded_blas():  # bit-for-bit identical for any number of threads
        return Graph(laplacian(X, n_neighbors=n_neighbors, variant=variant, report=report), time.perf_counter() - start)


def make_pull(X: NDArray, graph: Graph, features: FixedFeatures) -> Pull:
    """Make the graph's term for a model that is linear in the features, from a graph over the points `X`."""
    start = time.perf_counter()
    with single_threaded_blas():
        M = smoothness(features(X), graph.L)
        return Pull(M, largest_eigenvalue(M), graph.seconds + time.perf_counter() - start)


def make_graph_and_pull(
    X: NDArray,
    graph: Graph | None,
    n_neighbors: int,
    variant: str,
    features: FixedFeatures,
    *,
    report: Callable[[tuple[str, float]], object],
) -> tuple[Graph, Pull]:
    """Make both in one job, the graph only if it is missing; `report` gets the current work and the share done."""

    def told(share: float) -> None:
        report((f"finding the neighbours of {len(X):,} points", SHARE_OF_NEIGHBOURS * share))

    told(0.0)
    graph = make_graph(X, n_neighbors, variant, told) if graph is None else graph
    report(("computing the graph's matrix", SHARE_OF_NEIGHBOURS))
    return graph, make_pull(X, graph, features)


class GraphCache:
    """A split's points in float64, their features, and the graph over the training points.

    The last result of each kind is kept. A run and its twin share it, and so do runs that differ in other parameters.
    """

    def __init__(self, split: Split) -> None:
        self.X = split.X_train.astype(np.float64)
        labeled = self.X[split.y_train != UNLABELED]
        self._points = {"training": self.X, "labeled": labeled, "test": split.X_test.astype(np.float64)}
        self._made: dict[str, tuple[object, Any]] = {}

    def graph(self, problem: MultiClass) -> Graph:
        """Return a problem's graph."""
        key = (problem.n_neighbors, problem.variant)
        return self._once("graph", key, lambda: make_graph(self.X, *key, lambda share: None))

    def pull(self, problem: MultiClass, features: FixedFeatures) -> Pull:
        """Return the graph's term for a problem."""
        key = (problem.n_neighbors, problem.variant, features)
        return self._once("pull", key, lambda: make_pull(self.X, self.graph(problem), features))

    def keep(self, problem: MultiClass, features: FixedFeatures, made: tuple[Graph, Pull]) -> None:
        """Keep the results of `make_graph_and_pull` for a problem."""
        key = (problem.n_neighbors, problem.variant)
        self._made["graph"], self._made["pull"] = (key, made[0]), ((*key, features), made[1])

    def made(self, problem: MultiClass, features: FixedFeatures) -> tuple[Graph | None, Pull | None]:
        """Return the kept graph and its term for a problem, or None for each that is missing."""
        key = (problem.n_neighbors, problem.variant)
        return self._known("graph", key), self._known("pull", (*key, features))

    def scored(self, which: str, features: FixedFeatures) -> ScoredPoints:
        """Return the points for "training", the "labeled" ones of them, or those for the "test"."""
        return self._once(which, features, lambda: ScoredPoints(self._points[which], features))

    def _known(self, name: str, key: object) -> Any:
        known, value = self._made.get(name, (None, None))
        return value if known == key else None

    def _once(self, name: str, key: object, make: Callable[[], Any]) -> Any:
        if self._known(name, key) is None:
            self._made[name] = key, make()
        return self._made[name][1]


_caches: WeakKeyDictionary[Split, GraphCache] = WeakKeyDictionary()


def graph_cache_of(split: Split) -> GraphCache:
    """Return the shared data of all runs on a split; it is freed with the split."""
    if split not in _caches:
        _caches[split] = GraphCache(split)
    return _caches[split]
