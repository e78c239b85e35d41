"""QSG-S2AUC as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike, NDArray

from dsgcore.core.documented import documented
from dsgcore.core.expansion import Expansion
from dsgcore.core.parameters import field_as_in
from dsgcore.core.problem import UNLABELED
from dsgcore.core.solver import Task
from dsgcore.estimators.base import BinaryEstimator, evaluate
from dsgcore.estimators.classes import best_threshold
from dsgcore.problems.auc import SemiSupervisedAUC


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class QSGS2AUC(BinaryEstimator):
    """Semi-supervised AUC optimisation by quadruply stochastic gradients.

    A kernel scorer that ranks positives above negatives, learned from a few labels and many unlabeled points. Each
    iteration draws a mini-batch of positives, negatives and unlabeled points, and fresh random features of the kernel.
    Memory is O(n_iter * n_features), whatever the number of points.

    Attributes
    ----------
    threshold_ : float
        Score above which `predict` says positive: it maximises the balanced accuracy on the labeled points.

    Notes
    -----
    Source: W. Shi, B. Gu, X. Li, X. Geng and H. Huang, Quadruply Stochastic Gradients for Large Scale Nonlinear
    Semi-Supervised AUC Optimization, IJCAI 2019, (6) and Algorithms 1 and 2. See `dsgcore.problems.SemiSupervisedAUC`.
    The paper's theorem is for the schedule "theta/t" with theta * lam in (1, 2).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from dsgcore import QSGS2AUC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = MinMaxScaler().fit_transform(X)
    >>> few = np.where(np.arange(len(y)) % 10 == 0, y, -1)  # nine labels of ten hidden
    >>> model = QSGS2AUC(sigma=0.5, random_state=0).fit(X, few)
    >>> roc_auc_score(y, model.decision_function(X)) > 0.98
    True
    """

    problem_class: ClassVar[type[SemiSupervisedAUC]] = SemiSupervisedAUC

    gamma: float = field_as_in(SemiSupervisedAUC, "gamma")
    pairing: str = field_as_in(SemiSupervisedAUC, "pairing")

    def _place(self, task: Task, codes: NDArray, model: Expansion) -> None:
        labeled = codes != UNLABELED
        self.threshold_ = best_threshold(codes[labeled], evaluate(model, task.X[labeled]))

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return f(x) minus the threshold, of shape (n,): the higher, the more positive.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        """
        return self._values(X) - self.threshold_
