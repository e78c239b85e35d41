"""Meta-estimator that hides labels in training only."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from dsgcore.core.parameters import ParameterError
from dsgcore.estimators.inputs import all_or_nothing, columns_of
from dsgcore.tuning.scorers import accuracy


def _has(name: str) -> Any:
    return available_if(lambda own: hasattr(getattr(own, "estimator_", own.estimator), name))


class SeenLabels(MetaEstimatorMixin, BaseEstimator):
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

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from the first column of `y`, of shape (n, 2)."""
        self.estimator_ = clone(self.estimator).fit(X, _columns(y)[0])
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
        return accuracy(self, X, _columns(y)[1])


def _columns(y: ArrayLike) -> tuple[Any, Any]:
    both = y if isinstance(y, pd.DataFrame) else np.asarray(y)  # a table's columns keep the order of categories
    if both.ndim != 2 or both.shape[1] != 2:
        raise ParameterError(f"y must have the shape (n, 2): labels seen, and true ones; got the shape {both.shape}")
    return (both.iloc[:, 0], both.iloc[:, 1]) if isinstance(both, pd.DataFrame) else (both[:, 0], both[:, 1])
