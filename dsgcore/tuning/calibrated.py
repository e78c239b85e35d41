"""Meta-estimators: class probabilities for few labels, calibrated on held-out ones, and labels that only training hides."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from dsgcore.core.parameters import ParameterError
from dsgcore.estimators.classes import ScoredOnLabels, fitted_classifier
from dsgcore.estimators.inputs import EstimatorBase, all_or_nothing, columns_of, encode
from dsgcore.solver.problem import UNLABELED
from dsgcore.tuning.folds import LabeledFolds, accuracy


@dataclass(eq=False, repr=False)
class Calibrated(ScoredOnLabels, EstimatorBase):
    """Estimator with `predict_proba`: Platt's method on held-out labels.

    Each fold holds out labels, trains on all other points, and scores the held-out ones. A logistic regression on these
    scores gives the probabilities. Then the estimator is trained on all points.

    Parameters
    ----------
    estimator : estimator
        An estimator or a competitor of DSG Lab, with `decision_function`. It is not changed.
    n_splits : int, default=5
        Number of folds, each of which is one more fit.
    random_state : int, RandomState instance or None, default=None
        Seed for the folds.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, trained on all points.
    classes_ : ndarray of shape (k,)
        The labels, in the order of the columns of `predict_proba`.
    platt_ : LogisticRegression
        Model from scores to probabilities. A class with a single label has no held-out score and probability 0.

    Notes
    -----
    scikit-learn's `CalibratedClassifierCV` takes -1 for a class. It suits the labeled rows alone.

    Source: J. Platt, Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from dsgcore import TSGS3VM
    >>> from dsgcore.model_selection import Calibrated
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = Calibrated(TSGS3VM(random_state=0), random_state=0)
    >>> model.fit(X, np.where(np.arange(300) < 60, y, -1)).predict_proba(X).shape
    (300, 2)
    """

    estimator: Any
    _: KW_ONLY
    n_splits: int = 5
    random_state: int | np.random.RandomState | None = None

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the estimator and the probabilities; `y` has -1 for unlabeled points."""
        X, y = (indexable(each)[0] for each in (X, y))  # folds take rows of both
        self.estimator_ = fitted_classifier(self.estimator, X, y)
        self.classes_ = self.estimator_.classes_
        self.__dict__.update(columns_of(self.estimator_))
        _, codes = encode(y, self.classes_)
        folds = LabeledFolds(self.n_splits, unlabeled="train", random_state=self.random_state)
        held, scores = [], []
        for train, test in folds.split(X, y):
            rows = test[codes[test] != UNLABELED]
            model = clone(self.estimator).fit(_safe_indexing(X, train), _safe_indexing(y, train))
            scores.append(_columns(model.decision_function(_safe_indexing(X, rows))))
            held.append(codes[rows])
        of_held = np.concatenate(scores)
        self._scale = float(np.std(of_held)) or 1.0
        self.platt_ = LogisticRegression(max_iter=1000).fit(of_held / self._scale, np.concatenate(held))
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the estimator's scores."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(X))

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the label of the largest probability for each row of `X`."""
        places = self.predict_proba(X).argmax(axis=1)  # first, because it reports an estimator that is not fitted
        return self.classes_[places]

    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return the probability of each class, of shape (n, k)."""
        scores = _columns(self.decision_function(X))
        found = np.zeros((len(scores), len(self.classes_)))
        found[:, self.platt_.classes_] = self.platt_.predict_proba(scores / self._scale)
        return found


class Confidence:
    """Probability that a predicted class is right: a logistic function of how far it is ahead, fitted to held-out labels.

    It is at least one over the number of classes. Platt's method for the predicted class alone does not change which class is
    predicted. It suits few labels of many classes, since it has two parameters, of which the slope is 0 or more.

    Source: C. Gupta and A. Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.
    """

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self._scale, self._line = 1.0, np.array([np.nan, 0.0])

    def fit(self, ahead: NDArray, hits: NDArray[np.bool_]) -> Self:
        """Learn from how far (n,) the predictions at held-out labels were ahead, and which of them were right."""
        if not len(hits):
            return self
        self._scale = float(np.std(ahead)) or 1.0
        right, n = ahead / self._scale, int(hits.sum())
        # Platt's targets, which are not quite 0 and 1, keep the slope finite.
        wanted = np.where(hits, (n + 1.0) / (n + 2.0), 1.0 / (len(hits) - n + 2.0))

        def loss(line: NDArray) -> tuple[float, NDArray]:
            f = line[0] + line[1] * right
            excess = expit(f) - wanted
            return float(np.sum(np.logaddexp(0.0, f) - wanted * f)), np.array([excess.sum(), excess @ right])

        self._line = minimize(loss, [0.0, 1.0], jac=True, bounds=[(None, None), (0.0, None)], method="L-BFGS-B").x
        return self

    def probability(self, ahead: NDArray) -> NDArray:
        """Return the probability (m,) that each prediction is right; NaN if nothing was held out."""
        found = expit(self._line[0] + self._line[1] * ahead / self._scale)
        return np.maximum(found, 1.0 / self.n_classes)


def _columns(scores: ArrayLike) -> NDArray:
    """Return scores as a column, or as one column for each class."""
    return np.asarray(scores, dtype=float).reshape(len(np.asarray(scores)), -1)


def _has(name: str) -> Any:
    return available_if(lambda own: hasattr(getattr(own, "estimator_", own.estimator), name))


@dataclass(eq=False, repr=False)
class SeenLabels(MetaEstimatorMixin, EstimatorBase):
    """Estimator that learns from the visible labels and is scored by the true ones.

    Parameters
    ----------
    estimator : estimator
        Any estimator that accepts -1 for unlabeled points.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    classes_ : ndarray of shape (k,)
        The labels in their order.

    Notes
    -----
    ``y`` has two columns: the visible labels, with -1 for unlabeled points, and the true labels. Only scores use the
    second column. The papers' experiments choose hyper-parameters for transductive methods in this way. In practice
    the true labels are unknown, and this is not possible.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.model_selection import GridSearchCV
    >>> from dsgcore import TSGS3VM
    >>> from dsgcore.model_selection import SeenLabels, UnlabeledFolds
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> seen = np.where(np.arange(300) < 30, y, -1)
    >>> search = GridSearchCV(
    ...     SeenLabels(TSGS3VM(random_state=0)), {"estimator__sigma": [0.1, 5.0]}, cv=UnlabeledFolds(random_state=0)
    ... )
    >>> search.fit(X, np.column_stack([seen, y])).best_params_
    {'estimator__sigma': 5.0}
    """

    estimator: Any

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from the first column of `y`, of shape (n, 2)."""
        self.estimator_ = fitted_classifier(self.estimator, X, _both(y)[0])
        self.classes_ = self.estimator_.classes_
        self.__dict__.update(columns_of(self.estimator_))
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,)."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @_has("decision_function")
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the estimator's decision function at the rows of `X`."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @_has("ranking_function")
    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return the estimator's ranking function at the rows of `X`, for ordered classes."""
        check_is_fitted(self)
        return self.estimator_.ranking_function(X)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the accuracy on the second column of `y`, of shape (n, 2)."""
        return accuracy(self, X, _both(y)[1])


def _both(y: ArrayLike) -> tuple[Any, Any]:
    both = y if isinstance(y, pd.DataFrame) else np.asarray(y)  # a table's columns keep the order of categories
    if both.ndim != 2 or both.shape[1] != 2:
        raise ParameterError(f"y must have the shape (n, 2): labels seen, and true ones; got the shape {both.shape}")
    return (both.iloc[:, 0], both.iloc[:, 1]) if isinstance(both, pd.DataFrame) else (both[:, 0], both[:, 1])
