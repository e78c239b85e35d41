"""What PS3VT stands on: the graph over a split's points and their features, made once for all runs on that split."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dsgcore.core._threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.graph import laplacian, largest_eigenvalue, smoothness
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.weights import Weights
from dsgcore.problems import UNLABELED

# Up to this many numbers, the features of a point set are kept instead of made anew at every iteration.
MAX_KEPT_FEATURES = 2**25
# From this many training points on, their graph is made in the background while a page waits.
MIN_POINTS_TO_WAIT_FOR = 10_000
# Of the time that all of this takes.
SHARE_OF_NEIGHBOURS = 0.85


class ScoredPoints:
    """Points whose scores are asked for at every iteration."""

    def __init__(self, X: NDArray, features: FixedFeatures) -> None:
        self.X, self.features = X, features
        self.phi = features(X) if len(X) * features.width(X.shape[1]) <= MAX_KEPT_FEATURES else None

    def scores(self, W: NDArray) -> NDArray:
        """Return the scores of all classes, of shape (n, K)."""
        return self.phi @ W if self.phi is not None else Weights(self.features, W, self.X.shape[1]).evaluate(self.X)


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph's Laplacian, of shape (n, n), and the seconds that it took."""

    L: csr_array
    seconds: float


@dataclass(frozen=True, eq=False)
class Pull:
    """What a graph asks of a linear model.

    Attributes
    ----------
    M : ndarray of shape (D, D)
        The features' X L X'.
    largest : float
        The largest eigenvalue of M: a step 1/mu overshoots where tau_I / mu is above 1 / `largest`.
    seconds : float
        What it took, with its graph.
    """

    M: NDArray
    largest: float
    seconds: float


def make_graph(X: NDArray, n_neighbors: int, variant: str, report: Callable[[float], object]) -> Graph:
    """Make the graph over the points `X`; the others as in `laplacian`."""
    start = time.perf_counter()
    with single_threaded_blas():  # the same bits, whatever the number of threads
        return Graph(laplacian(X, n_neighbors=n_neighbors, variant=variant, report=report), time.perf_counter() - start)


def make_pull(X: NDArray, graph: Graph, features: FixedFeatures) -> Pull:
    """Make what a graph over the points `X` asks of a model that is linear in the features."""
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
    """Make both in a job of its own, the graph where there is none; `report` gets what is being done, and the share done."""

    def told(share: float) -> None:
        report((f"finding the neighbours of {len(X):,} points", SHARE_OF_NEIGHBOURS * share))

    told(0.0)
    graph = make_graph(X, n_neighbors, variant, told) if graph is None else graph
    report(("weighing what the graph asks of the features", SHARE_OF_NEIGHBOURS))
    return graph, make_pull(X, graph, features)


class Ground:
    """A split's points in float64, their features, and the graph over those for training.

    Of each, what was made last is kept: a run and its twin, and runs that differ in other things, share it.
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
        """Return what a problem's graph asks of a model."""
        key = (problem.n_neighbors, problem.variant, features)
        return self._once("pull", key, lambda: make_pull(self.X, self.graph(problem), features))

    def keep(self, problem: MultiClass, features: FixedFeatures, made: tuple[Graph, Pull]) -> None:
        """Take over what `make_graph_and_pull` has made for a problem."""
        key = (problem.n_neighbors, problem.variant)
        self._made["graph"], self._made["pull"] = (key, made[0]), ((*key, features), made[1])

    def made(self, problem: MultiClass, features: FixedFeatures) -> tuple[Graph | None, Pull | None]:
        """Return what is there already of a problem's graph and its pull."""
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


_grounds: WeakKeyDictionary[Split, Ground] = WeakKeyDictionary()


def ground_of(split: Split) -> Ground:
    """Return what all runs on a split share; it goes when the split does."""
    if split not in _grounds:
        _grounds[split] = Ground(split)
    return _grounds[split]
