"""The three methods that PS3VT holds as special cases, which are also what it competes with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from dsgcore.baselines.base import MEMORY_LIMIT, Baseline
from dsgcore.baselines.memory import Memory, larger, numbers
from dsgcore.baselines.progress import Callback, Watch
from dsgcore.core.documented import documented, told
from dsgcore.core.problem import UNLABELED
from dsgcore.data.reading.unlabeled import labels_given
from dsgcore.estimators.inputs import encode
from dsgcore.multiclass.estimator import Graph, MultiClassEstimator, Tail
from dsgcore.multiclass.graph import MAX_ANCHORS, ROWS_AT_A_TIME
from dsgcore.multiclass.tail import STRETCH
from dsgcore.multiclass.task import MultiClassTask

# Numbers of eight bytes that the graph takes per point: neighbours, weights and their transposes.
GRAPH_NUMBERS = 120


@dataclass(kw_only=True, eq=False, repr=False)
class MultiClassBaseline(MultiClassEstimator, Baseline):
    """Shell of PS3VT's special cases, which compete with it: with progress, cancellation and a memory limit.

    Parameters
    ----------
    memory_limit
        GB that a fit may take beside the points; one that needs more is refused before it starts.
    """

    citation: ClassVar[str] = "Li, Liu, Yin and Wang, IJCAI 2019, Table 2"
    kernels: ClassVar[tuple[str, ...]] = ()
    copies: ClassVar[int] = 0

    memory_limit: float = told(MEMORY_LIMIT.default, MEMORY_LIMIT.allowed())

    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:
        """Learn the coefficients, as `PS3VT.fit` does; `callback` as in every `dsgcore.baselines.Baseline`, at each iteration."""
        given = labels_given(y)
        points, codes = validate_data(self, X, encode(given)[1], dtype=np.float64)
        self._problem(points)  # raises for a bad parameter, before the need for memory is computed from it
        _, need = self._allowed(points, codes)
        self._watch = Watch(callback, type(self).__name__)
        try:
            super().fit(X, cast("ArrayLike", given))
            self.memory_ = need
            self.objectives_ = self._watch.objectives()
        finally:
            del self._watch
        return self

    def _train(self, task: MultiClassTask) -> NDArray:
        self._watch.expect(task.problem.n_iter + 1)
        W = super()._train(_Watched(**vars(task), watch=self._watch))
        self._watch.step(sum(task.terms(W).values()))
        return W

    def _checked(self) -> dict[str, Any]:
        return {"memory_limit": MEMORY_LIMIT.check(self.memory_limit)}

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        # Fourier features are made from their phases; the coordinates themselves are copied.
        D, times = (2 * int(self.n_features), 2.5) if self.features == "fourier" else (d, 2.0 + self.fit_intercept)
        has_graph = bool(getattr(self, "tau_I", 0.0))
        rows = n if y is None or has_graph else np.count_nonzero(y != UNLABELED)
        graph = GRAPH_NUMBERS * n * has_graph
        distances = min(n, ROWS_AT_A_TIME) * min(n, MAX_ANCHORS) * has_graph
        need = numbers(
            times * rows * D + 2.0 * D * D * has_graph + graph + self._sums(D, y), f"{D:,} features of {rows:,} points"
        )
        return larger(need, numbers(graph + distances, f"the graph of {n:,} points"))

    def _sums(self, D: int, y: NDArray | None) -> float:
        """Return how many numbers the sums for the average take: of ten classes, where they are not known."""
        n_classes = 10 if y is None else int(y.max()) + 1
        return (int(self.n_iter) / STRETCH + 8.0) * D * n_classes


@dataclass(frozen=True, kw_only=True)
class _Watched(MultiClassTask):
    """A task that tells a watch when an iteration asks for its mini-batch."""

    watch: Watch

    def batch(self, t: int) -> NDArray:
        self.watch.step()
        return super().batch(t)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LinearMC(MultiClassBaseline):
    """Max-margin multi-class classification: PS3VT without graph and without pull to low rank.

    Unlabeled points are accepted; they play no part (but in sigma="scale").

    Attributes
    ----------
    objectives_ : ndarray of shape (1,)
        The objective over all labeled points at the end.
    converged_ : bool
        Whether the average came to rest, where it was asked to.
    memory_ : int
        As of every `dsgcore.baselines.Baseline`.

    Notes
    -----
    Source: Table 2 of the PS3VT paper. See `PS3VT`.
    """

    title: ClassVar[str] = "Linear-MC"
    sentence: ClassVar[str] = "learns from the labels alone: neither graph nor pull to low rank"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LRCMC(Tail, MultiClassBaseline):
    """Multi-class classification with a pull to low rank: PS3VT without the graph.

    The pull stands for the local Rademacher complexity. The rest as in `LinearMC`.
    """

    title: ClassVar[str] = "LRC-MC"
    sentence: ClassVar[str] = "learns from the labels alone, pulled to low rank"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SSMC(Graph, MultiClassBaseline):
    """Semi-supervised multi-class classification: PS3VT without the pull to low rank.

    A graph makes close points, labeled or not, score alike. The rest as in `LinearMC`.
    """

    title: ClassVar[str] = "SS-MC"
    sentence: ClassVar[str] = "learns from labels and a graph of neighbours, without the pull to low rank"
