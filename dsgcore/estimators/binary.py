"""Base class of the estimators for two classes."""

from __future__ import annotations

from numpy.typing import ArrayLike, NDArray

from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.estimators.out_of_core import over_partitions


class BinaryEstimator(FunctionalGradientEstimator):
    """Base class of estimators for two classes; a positive decision function means the second class.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels. The second one is the positive class.
    """

    @over_partitions
    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,)."""
        is_second = self.decision_function(X) > 0  # first, because it raises NotFittedError
        return self.classes_[is_second.astype(int)]

    @over_partitions
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return f(x) minus the decision threshold, of shape (n,). Larger values are more likely positive."""
        return self._cut(self._values(X))

    def _cut(self, f: NDArray) -> NDArray:
        """Shift the scores so that the decision threshold is at 0."""
        return f
