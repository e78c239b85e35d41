"""What the estimators with two classes share."""

from __future__ import annotations

from numpy.typing import ArrayLike, NDArray

from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.estimators.over_partitions import over_partitions


class BinaryEstimator(FunctionalGradientEstimator):
    """Shell of an estimator with two classes, of which the second is where the decision function is positive.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    """

    @over_partitions
    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,)."""
        is_second = self.decision_function(X) > 0
        return self.classes_[is_second.astype(int)]

    @over_partitions
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return how far f(x) lies beyond where the classes are cut, of shape (n,): the higher, the more positive."""
        return self._cut(self._values(X))

    def _cut(self, f: NDArray) -> NDArray:
        """Return the values from where the classes are cut on."""
        return f
