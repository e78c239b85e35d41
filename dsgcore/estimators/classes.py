"""Classes from a model's values: checks of their number, decision thresholds, and the base for ordered classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.metrics import roc_curve

from dsgcore.core.errors import DSGError
from dsgcore.estimators.inputs import over_partitions
from dsgcore.estimators.scores import ScoredOnLabels, auc_of
from dsgcore.prior import energy_class_prior
from dsgcore.problems.thresholds import classify

# Inverse ridge of the curves for the thresholds between ordered classes, and the farthest threshold in spreads.
CURVE, FARTHEST = 100.0, 10.0
# Newton's steps for these curves end at this decrement, or after so many.
ACCURATE, MOST_STEPS = 1e-6, 100


def check_classes(classes: NDArray, codes: NDArray | None = None, *, is_binary: bool = False) -> None:
    """Raise DSGError unless there are two classes or more, with `is_binary` two, each with a label among the codes (n,)."""
    if len(classes) != 2 if is_binary else len(classes) < 2:
        two = "Only binary classification is supported: y must hold two classes"
        raise DSGError(
            f"{two if is_binary else 'y must hold two classes or more'} (and -1 for unlabeled points: a class -1 needs "
            f"another label), got {len(classes)} class{'es' * (len(classes) != 1)}"
        )
    if codes is None:
        return
    for code, label in enumerate(classes):
        if not (codes == code).any():
            raise DSGError(f"y must hold labeled points of every class, got none of class {label!s}")


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
    ordered = np.sort(some)  # the middle of the gap, with at least one value below and one above
    below = int(np.clip(round((1.0 - float(share)) * len(ordered)), 1, max(1, len(ordered) - 1)))
    return float(ordered[below - 1] + ordered[min(below, len(ordered) - 1)]) / 2.0


def spread(values: NDArray) -> float:
    """Return the standard deviation of values (n,), or of those (n, K) less their row means; 1 instead of 0."""
    centred = values if values.ndim == 1 else values - values.mean(axis=1, keepdims=True)
    return float(np.std(centred, dtype=float)) or 1.0


def even_chances(y: NDArray, f: NDArray, n_classes: int) -> NDArray:
    """Return for each cut of ordered classes the score at which both sides are equally likely, in rising order.

    The class codes y (n,) and the scores f (n,) are those of held-out labels. A logistic curve says how likely a class is.
    """
    units, is_above = (f - f.mean()) / spread(f), y[:, None] >= np.arange(1, n_classes)
    # Logistic curves over the scores, those of scikit-learn's LogisticRegression(C=CURVE), which would take a fifth of a
    # default fit of QS3ORAO. Each Newton step is shortened as far as it leaves the losses' quadratic model.
    A, ridge = np.column_stack([units, np.ones(len(f))]), np.array([1.0 / CURVE, np.finfo(float).eps * len(f)])
    w, products = np.zeros((n_classes - 1, 2)), np.column_stack([units * units, units, units, np.ones(len(f))])
    for _ in range(MOST_STEPS):
        chances = expit(A @ w.T)
        gradient = (chances - is_above).T @ A + ridge * w
        hessian = ((chances * (1.0 - chances)).T @ products).reshape(-1, 2, 2) + np.diag(ridge)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        decrement = np.sqrt(np.einsum("ci,ci->c", gradient, step))
        w -= step / (1.0 + decrement)[:, None]
        if decrement.max() < ACCURATE:
            break
    slope, start = w.T
    with np.errstate(divide="ignore", invalid="ignore"):
        cuts = np.where(slope > 0, np.clip(-start / slope, -FARTHEST, FARTHEST), -np.sign(start) * FARTHEST)
    cuts = np.where(is_above.all(axis=0), -FARTHEST, np.where(is_above.any(axis=0), cuts, FARTHEST))
    return f.mean() + spread(f) * np.sort(cuts)


class HighestScore(ScoredOnLabels):
    """Base class of estimators that predict the class with the highest score; two classes have one score, the second's."""

    def predict(self: Any, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,)."""
        f = self.decision_function(X)  # first, because it raises NotFittedError
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]


class OrderedClassifier(ScoredOnLabels):
    """Base class of estimators for ordered classes, with a ranking function and thresholds between the classes."""

    is_ordered = True

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
        return auc_of(self.classes_, values, y)
