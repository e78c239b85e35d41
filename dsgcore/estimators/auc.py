"""QSG-S2AUC as a scikit-learn estimator."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import roc_curve
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.problems.auc import NEGATIVE, POSITIVE, SemiSupervisedAUC
from dsgcore.problems.base import UNLABELED


class QSGS2AUC(ClassifierMixin, FunctionalGradientEstimator):
    """Semi-supervised AUC optimisation by quadruply stochastic gradients.

    A kernel scorer that ranks positives above negatives, learned from a few labels and many unlabeled points. Each
    iteration draws a mini-batch of positives, negatives and unlabeled points, and fresh random features of the kernel.
    Memory is O(n_iter * n_features), whatever the number of points.

    Parameters
    ----------
    kernel : {"gaussian"}, default="gaussian"
        The kernel.
    sigma : float or "scale", default="scale"
        Sharpness of the Gaussian kernel exp(-sigma ||x - x'||^2), in (0, 1e6]; "scale" is
        1 / (n_features_in_ * X.var()).
    gamma : float in [0, 1], default=0.5
        Weight of the labeled pairs; 1 - gamma is that of the pairs with unlabeled points.
    lam : float >= 0, default=1e-2
        Ridge.
    n_iter : int >= 1, default=100
        Number of iterations T.
    n_features : int >= 1, default=256
        Random features m per iteration.
    batch_size : int >= 1, default=128
        Points drawn from each source per iteration, with replacement.
    step_size : float > 0, default=0.5
        Step eta, or the schedule's constant theta.
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
        Iterations made.
    n_features_in_ : int
        Number of coordinates d of a point.

    Notes
    -----
    Source: W. Shi, B. Gu, X. Li, X. Geng and H. Huang, Quadruply Stochastic Gradients for Large Scale Nonlinear
    Semi-Supervised AUC Optimization, IJCAI 2019, Algorithms 1 and 2. See `dsgcore.problems.SemiSupervisedAUC`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from dsgcore import QSGS2AUC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = MinMaxScaler().fit_transform(X)
    >>> few = np.where(np.arange(len(y)) % 10 == 0, y, -1)  # nine labels of ten hidden
    >>> model = QSGS2AUC(sigma=0.5, random_state=0).fit(X, few)
    >>> model.decision_function(X).shape
    (569,)
    """

    problem_class: ClassVar[type[SemiSupervisedAUC]] = SemiSupervisedAUC

    def __init__(
        self,
        kernel: str = "gaussian",
        *,
        sigma: float | str = "scale",
        gamma: float = 0.5,
        lam: float = 1e-2,
        n_iter: int = 100,
        n_features: int = 256,
        batch_size: int = 128,
        step_size: float = 0.5,
        schedule: str = "constant",
        pairing: str = "triplets",
        dtype: str = "float32",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.gamma = gamma
        self.lam = lam
        self.n_iter = n_iter
        self.n_features = n_features
        self.batch_size = batch_size
        self.step_size = step_size
        self.schedule = schedule
        self.pairing = pairing
        self.dtype = dtype
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        """Say that two classes are wanted, no more."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the scorer.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,)
            Two labels, of which the larger one is positive, and -1 for unlabeled points. Without any -1 the labeled
            points also serve as the unlabeled sample.

        Returns
        -------
        QSGS2AUC
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of range, there are not two classes, or the run diverges.
        """
        points, given = validate_data(self, X, y, dtype=[np.float32, np.float64])
        labels = self._encode(given)
        self._fit_model(points, labels)
        labeled = labels != UNLABELED
        self.threshold_ = _best_threshold(labels[labeled], self.model_.evaluate(points[labeled]))
        return self

    def _encode(self, y: NDArray) -> NDArray:
        """Set `classes_`, and return labels 0, 1 and -1 for unlabeled."""
        is_labeled = np.ones(len(y), dtype=bool) if y.dtype.kind in "US" else y != UNLABELED
        check_classification_targets(y[is_labeled])
        self.classes_, codes = np.unique(y[is_labeled], return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(
                "Only binary classification is supported: y must hold two classes (and -1 for unlabeled points), "
                f"got {len(self.classes_)} class{'es' * (len(self.classes_) != 1)}"
            )
        labels = np.full(len(y), UNLABELED)
        labels[is_labeled] = np.where(codes == 1, POSITIVE, NEGATIVE)
        return labels

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return f(x) minus the threshold, of shape (n,): the higher, the more positive.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        """
        return self._values(X) - self.threshold_

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,)."""
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def _best_threshold(labels: NDArray, values: NDArray) -> float:
    """Return the midpoint of the gap between values at which true minus false positive rate is largest."""
    false_rate, true_rate, thresholds = roc_curve(labels, values, drop_intermediate=False)
    lowest_positive = thresholds[np.argmax(true_rate - false_rate)]
    below = values[values < lowest_positive]
    return float((lowest_positive + below.max()) / 2) if len(below) else float(lowest_positive) - 1.0
