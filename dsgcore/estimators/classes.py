"""Classes from a model's values: their scores, checks of their number, decision thresholds, and bases of estimators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score, roc_curve

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import counted
from dsgcore.data.reading.unlabeled import is_minus_one, labels_given
from dsgcore.estimators.inputs import check_same_kind, encode, over_partitions
from dsgcore.kernels.kernels import check_unmasked
from dsgcore.prior import energy_class_prior
from dsgcore.problems.thresholds import classify, mean_auc
from dsgcore.solver.problem import UNLABELED

Weights = ArrayLike | None
# A score of fewer labeled points among unlabeled ones is mostly chance.
FEW_LABELS = 5


def accuracy_of(classes: NDArray, predicted: ArrayLike, y: Any, sample_weight: Weights = None) -> float:
    """Return the share of labeled points whose predicted label is right."""
    labels = labels_given(y, has_minus_one=bool(is_minus_one(np.asarray(classes)).any()))
    (own,), weights = labeled_parts(labels.is_labeled, sample_weight, np.asarray(predicted))
    check_same_kind(labels.values, own)
    if len(classes) and (unseen := labels.values[~np.isin(labels.values, classes)]).size:
        warnings.warn(
            f"{len(unseen)} of {len(own)} labels are of classes that fit has not seen, such as {unseen[0]!s}, and count as "
            "mistakes. For folds with labels of each class, give cv=dsgcore.model_selection.LabeledFolds()",
            stacklevel=3,
        )
    return float(np.average(own == labels.values, weights=weights))


def auc_of(classes: NDArray, values: ArrayLike, y: Any, sample_weight: Weights = None) -> float:
    """Return the AUC of values on the labeled points, or the mean AUC over the cuts of ordered classes into two groups.

    Warn and return NaN if all labels are of one class; warn if one of several ordered classes has none.
    """
    codes = encode(y, np.asarray(classes))[1]
    (known, own), weights = labeled_parts(codes != UNLABELED, sample_weight, codes, np.asarray(values))
    if weights is not None:  # a point of weight 0 does not count
        known, own, weights = (each[weights > 0.0] for each in (known, own, weights))
    there = np.unique(known)
    said = "the AUC of labels of one class is not defined: it is NaN"
    if len(there) > 1 and (missing := [str(label) for code, label in enumerate(classes) if code not in there]):
        said = f"there are no labels of {', '.join(missing)}, and the mean AUC is that of the cuts between the other classes"
    if len(there) < max(2, len(classes)):
        warnings.warn(said, UndefinedMetricWarning, stacklevel=3)
    if weights is None or len(there) < 2:
        return mean_auc(known, own)
    return float(np.mean([roc_auc_score(known >= cut, own, sample_weight=weights) for cut in there[1:]]))


def labeled_parts(is_known: NDArray, sample_weight: Weights, *arrays: NDArray) -> tuple[list[NDArray], NDArray | None]:
    """Return the labels and values of the labeled points, and their weights. Few among unlabeled ones are a warning."""
    check_length(len(is_known), len(arrays[-1]))
    if not is_known.any():
        raise DSGError("a score needs labeled points, got none: y holds only -1 and missing labels")
    if (n := int(is_known.sum())) < min(FEW_LABELS, len(is_known)):
        warnings.warn(
            f"the score is that of {n} labeled points among {len(is_known)}, and so few give one by chance. For folds with "
            "labels of each class, give cv=dsgcore.model_selection.LabeledFolds(), and take the mean over all folds",
            stacklevel=4,
        )
    parts = [array[is_known] for array in arrays]
    if sample_weight is None:
        return parts, None
    check_unmasked(sample_weight, "sample_weight")
    weights = np.ravel(np.asarray(sample_weight, dtype=float))
    if len(weights) != len(is_known):
        raise DSGError(
            f"sample_weight must have a number for each of {counted(len(is_known), 'point')}, got {len(weights)}"
        )
    if not (is_allowed := np.isfinite(weights) & (weights >= 0)).all():
        raise DSGError(f"sample_weight must hold finite numbers of at least 0, got {weights[np.argmin(is_allowed)]:g}")
    if not weights[is_known].any():
        raise DSGError("sample_weight must be above 0 for a labeled point, got only zeros")
    return parts, weights[is_known]


def check_length(n_labels: int, n: int) -> None:
    """Raise `DSGError` unless there are as many labels as points."""
    if n_labels != n:
        raise DSGError(f"y must have a label for each of {counted(n, 'point')} (-1: unlabeled), got {n_labels}")


class ScoredOnLabels(ClassifierMixin):
    """Base class of classifiers whose score uses the labeled points only; `is_ranking` says if it is the (mean) AUC."""

    is_ranking: bool = False
    is_ordered: bool = False
    classes_: NDArray

    def score(self: Any, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None) -> float:
        """Return the AUC of a ranker on the labeled points, the mean AUC of ordered classes, or the accuracy of a classifier.

        Points whose label is -1 or missing do not count. An AUC is NaN if all labels are of one class.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,)
            True labels, -1 as in `fit`.
        sample_weight : array-like of shape (n,), optional
            Weights of the points.

        Raises
        ------
        DSGError
            If no point is labeled.
        """
        find = self.predict if not self.is_ranking else getattr(self, "ranking_function", self.decision_function)
        found = find(X)  # first, because it reports an estimator that is not fitted
        return (auc_of if self.is_ranking else accuracy_of)(self.classes_, found, y, sample_weight)


def fitted_classifier(estimator: Any, X: Any, y: Any) -> Any:
    """Return a copy of an estimator, fitted to points of which some have the label -1.

    Raise `DSGError` if it has no classes, or has taken -1 for one. In a masked array of labels -1 is a class.
    """
    fitted, name = clone(estimator).fit(X, y), type(estimator).__name__
    if not hasattr(fitted, "classes_"):
        raise DSGError(f"estimator must be a classifier or a ranker, got {name}, which has no classes")
    if not isinstance(y, np.ma.MaskedArray) and is_minus_one(np.asarray(fitted.classes_)).any():
        raise DSGError(
            f"{name} takes the label -1 for a class, but it means unlabeled here: give an estimator that takes it so, such as "
            "TSGS3VM, or leave out the unlabeled points. A class -1 needs another label"
        )
    return fitted


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
