"""Classes from a model's values: checks of their number, decision thresholds, and the base for ordered classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

from dsgcore.core.errors import DSGError
from dsgcore.estimators.inputs import over_partitions
from dsgcore.estimators.scores import ScoredOnLabels, mean_auc_of
from dsgcore.prior import energy_class_prior
from dsgcore.problems.thresholds import classify

# Inverse ridge of the curves for the thresholds between ordered classes, and the farthest threshold in spreads.
CURVE, FARTHEST = 100.0, 10.0


def check_every_class(classes: NDArray, codes: NDArray, *, is_binary: bool) -> None:
    """Raise DSGError unless there are enough classes, each with a label among the codes (n,)."""
    (check_two_classes if is_binary else check_some_classes)(classes)
    for code, label in enumerate(classes):
        if not (codes == code).any():
            raise DSGError(f"y must hold labeled points of every class, got none of class {label!s}")


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
    """Return the threshold that maximises true minus false positive rate, in the middle of a gap between values.

    If no threshold is better than chance, return one above all values, so that no point is positive.
    """
    false_rate, true_rate, thresholds = roc_curve(is_positive, values, drop_intermediate=False)
    lowest_positive = thresholds[np.argmax(true_rate - false_rate)]
    if not np.isfinite(lowest_positive):
        return float(values.max()) + 1.0
    below = values[values < lowest_positive]
    return float((lowest_positive + below.max()) / 2.0) if len(below) else float(lowest_positive) - 1.0


def share_threshold(values: NDArray, share: float) -> float:
    """Return the middle of the gap above which this share of the values lies, at least one value and not all."""
    ordered = np.sort(values)
    below = int(np.clip(round((1.0 - share) * len(ordered)), 1, max(1, len(ordered) - 1)))
    return float(ordered[below - 1] + ordered[min(below, len(ordered) - 1)]) / 2.0


def decision_threshold(share: Any, codes: NDArray, values: NDArray, some: NDArray) -> float:
    """Return the decision threshold for two classes, from class codes (n,) and values (n,) of labeled points.

    `share` is the share of values above it among `some` values: a number, "labels" for that of the labels, or "estimate" for
    the one that the distribution of the values suggests. None maximises the balanced accuracy on the labeled points.
    """
    if share is None:
        return best_threshold(codes, values)
    if share == "labels":
        share = np.mean(codes)
    elif share == "estimate":
        share = energy_class_prior(*(sample[:, None] for sample in (values[codes == 1], values[codes == 0], some)))
    return share_threshold(some, float(share))


def spread(values: NDArray) -> float:
    """Return the standard deviation of values (n,), or of those (n, K) less their row means; 1 instead of 0."""
    centred = values if values.ndim == 1 else values - values.mean(axis=1, keepdims=True)
    return float(np.std(centred, dtype=float)) or 1.0


def even_chances(y: NDArray, f: NDArray, n_classes: int) -> NDArray:
    """Return for each cut of ordered classes the score at which both sides are equally likely, in rising order.

    The class codes y (n,) and the scores f (n,) are those of held-out labels. A logistic curve says how likely a class is.
    """
    units, cuts = ((f - f.mean()) / spread(f))[:, None], []
    for cut in range(1, n_classes):
        is_above = y >= cut
        if is_above.all() or not is_above.any():
            cuts.append(-FARTHEST if is_above.all() else FARTHEST)
            continue
        curve = LogisticRegression(C=CURVE).fit(units, is_above)
        slope, start = float(curve.coef_[0, 0]), float(curve.intercept_[0])
        cuts.append(float(np.clip(-start / slope, -FARTHEST, FARTHEST)) if slope > 0 else -np.sign(start) * FARTHEST)
    return f.mean() + spread(f) * np.sort(cuts)


class OrderedClassifier(ScoredOnLabels):
    """Base class of estimators for ordered classes, with a ranking function and thresholds between the classes."""

    is_ordered: ClassVar[bool] = True

    classes_: NDArray
    thresholds_: NDArray

    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return f(x), of shape (n,). Larger values belong to later classes."""
        raise NotImplementedError

    @over_partitions
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the distance of f(x) from the edge of each class's interval, negative outside, of shape (n, k).

        The largest one is the predicted class's. For two classes return f(x) minus the threshold, of shape (n,).
        """
        f = self.ranking_function(X)
        above = f[:, None] - self.thresholds_
        if len(self.classes_) == 2:
            return above[:, 0]
        far = np.full((len(f), 1), np.inf)
        return np.minimum(np.hstack([far, above]), np.hstack([-above, far]))

    @over_partitions
    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,): the class whose interval contains f(x)."""
        f = self.ranking_function(X)
        return self.classes_[classify(f, self.thresholds_)]

    def mean_auc(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the mean AUC over the k - 1 cuts of the classes into two groups, counting ties as one half.

        `X` (n, d) are points and `y` (n,) their true labels. Points with -1 do not count. Return NaN if there are
        labels of one class only.
        """
        values = self.ranking_function(X)
        return mean_auc_of(self.classes_, values, y)
