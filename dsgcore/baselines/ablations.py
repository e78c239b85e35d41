"""Three special cases of PS3VT, which are also its baselines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from numpy.typing import ArrayLike, NDArray

from dsgcore.baselines.base import Baseline
from dsgcore.baselines.progress import Callback, Watch
from dsgcore.core.documented import estimator
from dsgcore.estimators.inputs import all_or_nothing
from dsgcore.estimators.ps3vt import GraphParameters, MultiClassEstimator, RankParameters
from dsgcore.multiclass.task import MultiClassTask


@dataclass(kw_only=True, eq=False, repr=False)
class MultiClassBaseline(MultiClassEstimator, Baseline):
    """Base class of PS3VT's special cases, with progress."""

    citation = "Li, Liu, Yin and Wang, IJCAI 2019, Table 2"
    kernels = ()

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:
        """Learn the coefficients, as `PS3VT.fit` does.

        `callback` is as in every `dsgcore.baselines.Baseline`, and is called at each iteration.
        """
        self._watch = Watch(callback, type(self).__name__)
        try:
            super().fit(X, y)
            self.objectives_ = self._watch.objectives()
        finally:
            del self._watch
        return self

    def _train(self, task: MultiClassTask) -> NDArray:
        self._watch.expect(task.problem.n_iter + 1)
        W = super()._train(_Watched(**vars(task), watch=self._watch))
        self._watch.step(sum(task.terms(W).values()))
        return W


@dataclass(frozen=True, kw_only=True)
class _Watched(MultiClassTask):
    """Task that notifies a watch when an iteration draws its mini-batch."""

    watch: Watch

    def batch(self, t: int) -> NDArray:
        self.watch.step()
        return super().batch(t)


@estimator
class LinearMC(MultiClassBaseline):
    """Max-margin multi-class classification: PS3VT without graph and without pull to low rank.

    Unlabeled points are accepted, but have no effect (except for sigma="scale").

    Attributes
    ----------
    objectives_ : ndarray of shape (1,)
        The objective over all labeled points at the end.
    converged_ : bool
        True if the average converged, or if there was no early stopping.

    Notes
    -----
    Source: Table 2 of the PS3VT paper. See `PS3VT`.
    """

    title = "Linear-MC"
    sentence = "learns from the labels alone, without the graph and without a penalty on the rank"


@estimator
class LRCMC(RankParameters, MultiClassBaseline):
    """Multi-class classification with a pull to low rank: PS3VT without the graph.

    The pull stands for the local Rademacher complexity. For everything else see `LinearMC`.
    """

    title = "LRC-MC"
    sentence = "learns from the labels alone, with a penalty on the rank"


@estimator
class SSMC(GraphParameters, MultiClassBaseline):
    """Semi-supervised multi-class classification: PS3VT without the pull to low rank.

    A graph makes close points, labeled or not, score alike. For everything else see `LinearMC`.
    """

    title = "SS-MC"
    sentence = "learns from labels and a graph of neighbours, without a penalty on the rank"
