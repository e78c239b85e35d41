"""Scores of predictions and values against labels. They ignore unlabeled points."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from dsgcore.core.errors import DSGError
from dsgcore.data.reading.unlabeled import is_minus_one, labels_given
from dsgcore.estimators.inputs import check_same_kind, encode
from dsgcore.problems.thresholds import mean_auc
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
    weights = np.ravel(np.asarray(sample_weight, dtype=float))
    if len(weights) != len(is_known):
        raise DSGError(f"sample_weight must have a number for each of {len(is_known)} points, got {len(weights)}")
    if not (is_allowed := np.isfinite(weights) & (weights >= 0)).all():
        raise DSGError(f"sample_weight must hold finite numbers of at least 0, got {weights[np.argmin(is_allowed)]:g}")
    return parts, weights[is_known]


def check_length(n_labels: int, n: int) -> None:
    """Raise `DSGError` unless there are as many labels as points."""
    if n_labels != n:
        raise DSGError(f"y must have a label for each of {n} points (-1: unlabeled), got {n_labels}")


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
