"""From a model's values to classes: how many classes there must be, and where the values are cut into them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_curve

from dsgcore.core.errors import DSGError
from dsgcore.estimators.elsewhere import over_partitions
from dsgcore.estimators.scores import ScoredOnLabels, mean_auc_of
from dsgcore.problems.thresholds import classify


def check_two_classes(classes: NDArray) -> None:
    """Raise DSGError unless there are two classes."""
    if len(classes) != 2:
        raise _wrong(classes, "Only binary classification is supported: y must hold two classes")


def check_some_classes(classes: NDArray) -> None:
    """Raise DSGError unless there are two classes or more."""
    if len(classes) < 2:
        raise _wrong(classes, "y must hold two classes or more")


def _wrong(classes: NDArray, wanted: str) -> DSGError:
    number = f"{len(classes)} class{'es' * (len(classes) != 1)}"
    return DSGError(f"{wanted} (and -1 for unlabeled points: a class -1 needs another label), got {number}")


def best_threshold(is_positive: NDArray, values: NDArray) -> float:
    """Return the middle of the gap between values at which true minus false positive rate is largest.

    If no cut is better than chance, the threshold is above all values, so that none is called positive.
    """
    false_rate, true_rate, thresholds = roc_curve(is_positive, values, drop_intermediate=False)
    lowest_positive = thresholds[np.argmax(true_rate - false_rate)]
    if not np.isfinite(lowest_positive):
        return float(values.max()) + 1.0
    below = values[values < lowest_positive]
    return float((lowest_positive + below.max()) / 2.0) if len(below) else float(lowest_positive) - 1.0


def share_threshold(values: NDArray, share: float) -> float:
    """Return the middle of the gap above which this share of the values lies: at least one of them, and not all."""
    ordered = np.sort(values)
    below = int(np.clip(round((1.0 - share) * len(ordered)), 1, max(1, len(ordered) - 1)))
    return float(ordered[below - 1] + ordered[min(below, len(ordered) - 1)]) / 2.0


class OrderedClassifier(ScoredOnLabels):
    """What an estimator of ordered classes does with its ranking function and the thresholds between the classes."""

    is_ordered: ClassVar[bool] = True

    classes_: NDArray
    thresholds_: NDArray

    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return f(x), of shape (n,): the higher, the later in the order of the classes."""
        raise NotImplementedError

    @over_partitions
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return how far f(x) is inside each class's interval, negative outside; the largest is the predicted class's.

        That is of shape (n, k); for two classes it is f(x) minus the threshold, of shape (n,).
        """
        f = self.ranking_function(X)
        above = f[:, None] - self.thresholds_
        if len(self.classes_) == 2:
            return above[:, 0]
        far = np.full((len(f), 1), np.inf)
        return np.minimum(np.hstack([far, above]), np.hstack([-above, far]))

    @over_partitions
    def predict(self, X: ArrayLike) -> NDArray:
        """Return the label of the interval that f(x) is in, for each row of `X`, of shape (n,)."""
        f = self.ranking_function(X)
        return self.classes_[classify(f, self.thresholds_)]

    def mean_auc(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the mean AUC over the k - 1 places where the classes can be cut in two, ties one half.

        Of points (n, d) and true labels (n,); points with -1 are left out. NaN if there are labels of one class only.
        """
        return mean_auc_of(self.classes_, self.ranking_function(X), y)
