"""Three special cases of PS3VT, which are also its baselines."""

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
from dsgcore.estimators.elsewhere import in_memory
from dsgcore.estimators.inputs import encode
from dsgcore.multiclass.estimator import Graph, MultiClassEstimator, Tail
from dsgcore.multiclass.graph import MAX_ANCHORS, ROWS_AT_A_TIME
from dsgcore.multiclass.tail import STRETCH
from dsgcore.multiclass.task import MultiClassTask

# Numbers of eight bytes that the graph needs per point: neighbours, weights and their transposes.
GRAPH_NUMBERS = 120


@dataclass(kw_only=True, eq=False, repr=False)
class MultiClassBaseline(MultiClassEstimator, Baseline):
    """Base class of PS3VT's special cases, with progress, cancellation and a memory limit.

    Parameters
    ----------
    memory_limit
        Most memory that a fit may use beside the points, in GB. `fit` refuses to start if it needs more.
    """

    citation: ClassVar[str] = "Li, Liu, Yin and Wang, IJCAI 2019, Table 2"
    kernels: ClassVar[tuple[str, ...]] = ()
    copies: ClassVar[int] = 0

    memory_limit: float = told(MEMORY_LIMIT.default, MEMORY_LIMIT.allowed())

    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:
        """Learn the coefficients, as `PS3VT.fit` does.

        `callback` is as in every `dsgcore.baselines.Baseline`, and is called at each iteration.
        """
        given = labels_given(y)
        points, codes = validate_data(self, in_memory(X), encode(given)[1], dtype=np.float64)
        self._problem(points)  # raises for a bad parameter before the memory estimate uses it
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
        # Fourier features are computed from their phases; the coordinates themselves are copied.
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
        """Return the count of numbers for the sums of the average. Unknown labels are assumed to have ten classes."""
        n_classes = 10 if y is None else int(y.max()) + 1
        return (int(self.n_iter) / STRETCH + 8.0) * D * n_classes


@dataclass(frozen=True, kw_only=True)
class _Watched(MultiClassTask):
    """Task that notifies a watch when an iteration draws its mini-batch."""

    watch: Watch

    def batch(self, t: int) -> NDArray:
        self.watch.step()
        return super().batch(t)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LinearMC(MultiClassBaseline):
    """Max-margin multi-class classification: PS3VT without graph and without pull to low rank.

    Unlabeled points are accepted, but have no effect (except for sigma="scale").

    Attributes
    ----------
    objectives_ : ndarray of shape (1,)
        The objective over all labeled points at the end.
    converged_ : bool
        True if the average converged, or if there was no early stopping.
    memory_ : int
        Memory in bytes that the fit needs, as in every `dsgcore.baselines.Baseline`.

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

    The pull stands for the local Rademacher complexity. For everything else see `LinearMC`.
    """

    title: ClassVar[str] = "LRC-MC"
    sentence: ClassVar[str] = "learns from the labels alone, pulled to low rank"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SSMC(Graph, MultiClassBaseline):
    """Semi-supervised multi-class classification: PS3VT without the pull to low rank.

    A graph makes close points, labeled or not, score alike. For everything else see `LinearMC`.
    """

    title: ClassVar[str] = "SS-MC"
    sentence: ClassVar[str] = "learns from labels and a graph of neighbours, without the pull to low rank"
