"""QSG-S2AUC as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike, NDArray

from dsgcore.core.expansion import Expansion
from dsgcore.core.problem import UNLABELED
from dsgcore.core.solver import Task
from dsgcore.estimators.base import BinaryEstimator, evaluate
from dsgcore.estimators.classes import best_threshold
from dsgcore.problems.auc import SemiSupervisedAUC


@dataclass(eq=False, repr=False, kw_only=True)
class QSGS2AUC(BinaryEstimator):
    """Semi-supervised AUC optimisation by quadruply stochastic gradients.

    A kernel scorer that ranks positives above negatives, learned from a few labels and many unlabeled points. Each
    iteration draws a mini-batch of positives, negatives and unlabeled points, and fresh random features of the kernel.
    Memory is O(n_iter * n_features), whatever the number of points.

    Parameters
    ----------
    kernel : {"gaussian", "orthogonal_gaussian", "laplacian", "matern", "dot_product"}, default="gaussian"
        The kernel; the second one is the Gaussian with random features that cost less where d is some hundreds or more.
    sigma : float in [1e-6, 1e6] or "scale", default="scale"
        Sharpness of the Gaussian kernel exp(-sigma ||x - x'||^2) and of the Laplacian one exp(-sigma ||x - x'||_1), scale
        of the dot product kernel (sigma <x, x'>)^power. "scale" is 1 / (n_features_in_ * X.var()),
        1 / (n_features_in_ * X.std()) and 1 / mean ||x||^2.
    length : float in [1e-6, 1e6] or "scale", default="scale"
        Length scale of the Matérn kernel; "scale" is sqrt(n_features_in_ * X.var()).
    nu : {"1/2", "3/2", "5/2"}, default="3/2"
        Smoothness of the Matérn kernel.
    power : {1, 3, 5}, default=3
        Degree of the dot product kernel.
    gamma : float in [0, 1], default=0.5
        Weight of the labeled pairs; 1 - gamma is that of the pairs with unlabeled points.
    lam : float in [0, 1000], default=1e-2
        Ridge.
    n_iter : int in [1, 100000], default=100
        Number of iterations T, of `fit` or of one call of `partial_fit`.
    n_features : int in [1, 65536], default=256
        Random features m per iteration.
    batch_size : int in [1, 65536], default=128
        Points drawn from each source per iteration, with replacement.
    step_size : float in [1e-6, 1e6], default=0.5
        Step eta, or the schedule's constant theta. The dot product kernel, which is not bounded, may need a smaller one.
    schedule : {"constant", "theta/t", "theta/sqrt(T)", "theta/T^(3/4)"}, default="constant"
        How the step depends on the iteration t and the length T of the run. The paper's theorem is for
        "theta/t" with theta * lam in (1, 2).
    pairing : {"triplets", "all"}, default="triplets"
        Pairs within a mini-batch: one by one as in the paper, or all of them.
    dtype : {"float32", "float64"}, default="float32"
        Precision.
    random_state : int, RandomState instance or None, default=None
        Seed of batches and features; an int gives the same numbers at every call.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    model_ : dsgcore.Expansion
        The scorer f.
    threshold_ : float
        Score above which `predict` says positive: it maximises the balanced accuracy on the labeled points.
    n_iter_ : int
        Iterations made, in all calls of `partial_fit` together.
    n_features_in_ : int
        Number of coordinates d of a point.

    Notes
    -----
    Source: W. Shi, B. Gu, X. Li, X. Geng and H. Huang, Quadruply Stochastic Gradients for Large Scale Nonlinear
    Semi-Supervised AUC Optimization, IJCAI 2019, (6) and Algorithms 1 and 2. See `dsgcore.problems.SemiSupervisedAUC`.

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

    gamma: float = 0.5
    pairing: str = "triplets"

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
