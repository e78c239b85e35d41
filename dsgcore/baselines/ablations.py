"""Three presets of PS3VT, which are also its baselines."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.baselines.base import Baseline, Callback, Watch
from dsgcore.core.documented import estimator
from dsgcore.core.parameters import like
from dsgcore.estimators.inputs import all_or_nothing
from dsgcore.estimators.ps3vt import PS3VT
from dsgcore.multiclass.problem import MultiClass
from dsgcore.solver.stopping import Stopping


class _Iterations(Watch):
    def __call__(self, iterate: object) -> None:
        self.step()


@estimator
class LinearMC(PS3VT, Baseline):
    """Max-margin multi-class classification: PS3VT without graph and without pull to low rank, from a start at 0.

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
    citation = "Li, Liu, Yin and Wang, IJCAI 2019, Table 2"
    sentence = "learns from the labels alone, without the graph and without a penalty on the rank"
    growth = 1.0

    # A class attribute is no parameter any more: a preset keeps this value.
    tau_I: ClassVar[Any] = 0.0  # type: ignore[misc]
    n_neighbors: ClassVar[Any] = PS3VT.n_neighbors  # type: ignore[misc]
    tau_S: ClassVar[Any] = 0.0  # type: ignore[misc]
    theta: ClassVar[Any] = PS3VT.theta  # type: ignore[misc]
    start: ClassVar[Any] = None  # type: ignore[misc]
    tol: float | None = like(Stopping, "tol", default=0.01, scale="log", usual=(1e-4, 0.1))

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:  # type: ignore[override]
        """Learn the coefficients, as `PS3VT.fit` does.

        `callback` is as in every `dsgcore.baselines.Baseline`, and is called at each iteration.
        """
        return super().fit(X, y, callback=_Iterations(callback, type(self).__name__))

    def _train(self, task: Any, callback: Any) -> NDArray:
        callback.total = task.problem.n_iter + 1
        W = super()._train(task, callback)
        callback.step(sum(task.terms(W).values()))
        self.objectives_ = np.array(callback.objectives)
        return W


@estimator
class LRCMC(LinearMC):
    """Multi-class classification with a pull to low rank: PS3VT without the graph.

    The pull stands for the local Rademacher complexity. For everything else see `LinearMC`.
    """

    title = "LRC-MC"
    sentence = "learns from the labels alone, with a penalty on the rank"

    tau_S: float | Literal["auto"] | None = like(MultiClass, "tau_S", default="auto")  # type: ignore[misc]
    theta: float = like(MultiClass, "theta")  # type: ignore[misc]


@estimator
class SSMC(LinearMC):
    """Semi-supervised multi-class classification: PS3VT without the pull to low rank.

    A graph makes close points, labeled or not, score alike. For everything else see `LinearMC`.
    """

    title = "SS-MC"
    sentence = "learns from labels and a graph of neighbours, without a penalty on the rank"
    growth = 2.0

    tau_I: float | Literal["auto"] | None = like(MultiClass, "tau_I", default="auto")  # type: ignore[misc]
    n_neighbors: int = like(MultiClass, "n_neighbors")  # type: ignore[misc]
