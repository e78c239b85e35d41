"""Scorers, called with a fitted estimator, points and labels. Higher is better, and -1 marks unlabeled points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.core.metrics import auc_of_samples
from dsgcore.core.parameters import ParameterError, Real
from dsgcore.estimators.inputs import check_same_kind, encode
from dsgcore.estimators.scores import accuracy_of, auc_of, check_length
from dsgcore.solver.problem import UNLABELED, unlabeled_rows
from dsgcore.tuning.folds import encoded

PRIOR = Real("prior", 0.5, low=0.01, high=0.99)


def accuracy(estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return the share of labeled points whose predicted label is right."""
    return accuracy_of(getattr(estimator, "classes_", np.empty(0)), estimator.predict(X), y)


def hits(estimator: Any, X: ArrayLike, y: ArrayLike) -> NDArray:
    """Return a truth value for each labeled point: True if its predicted label is right."""
    classes, codes = encoded(y)
    labeled, predicted = codes != UNLABELED, np.asarray(estimator.predict(X))
    check_length(len(codes), len(predicted))
    check_same_kind(classes, predicted)
    return predicted[labeled] == classes[codes[labeled]]


def auc_score(estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return the AUC on the labeled points; NaN if a class is missing."""
    return auc_of(estimator.classes_, estimator.decision_function(X), y)


def mean_auc_score(estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return the mean AUC over the k - 1 cuts of the ordered classes into two groups, on the labeled points."""
    return auc_of(estimator.classes_, estimator.ranking_function(X), y)


@dataclass(frozen=True)
class SimilarUnlabeledRisk:
    """Scorer: minus the similar-unlabeled risk with the zero-one loss. It needs no label.

    Parameters
    ----------
    prior : float in [0.01, 0.99], not 1/2
        Share of positives among the unlabeled points.

    Notes
    -----
    The risk estimates the share of points whose predicted label is wrong. The estimate can be below 0. The released program of
    SU-SL takes 1 minus twice the risk, and 0 if that is below 0.

    Source: H. Bao, G. Niu and M. Sugiyama, Classification from pairwise similarity and unlabeled data, ICML 2018, (7).
    W. Shi et al., Machine Learning, 2021, section 6, use it with `PairFolds`.
    """

    prior: float

    def __call__(self, estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
        """Return the score of a fitted estimator on pairs and unlabeled points."""
        p = PRIOR.check(self.prior)
        assert p is not None
        if p == 0.5:
            raise ParameterError("prior must not be 1/2, where pairs say nothing, got 0.5")
        is_positive = np.asarray(estimator.predict(X)) == estimator.classes_[1]
        check_length(len(np.asarray(y)), len(is_positive))
        return -similar_unlabeled_risk(is_positive, np.asarray(y) != UNLABELED, p)


def similar_unlabeled_risk(is_positive: NDArray, is_similar: NDArray, prior: float) -> float:
    """Return the similar-unlabeled risk with the zero-one loss for a share of positives, from two masks of shape (n,).

    The masks mark the points predicted positive, and the members of similar pairs. All other points are unlabeled.
    """
    sign = np.where(is_positive, 1.0, -1.0)
    similar = (prior**2 + (1 - prior) ** 2) * np.mean(sign[is_similar])
    wrong = prior * (1 + sign[~is_similar]) - (1 - prior) * (1 - sign[~is_similar])
    return float((np.mean(wrong) / 2 - similar) / (2 * prior - 1))


@dataclass(frozen=True)
class PNUAUCRisk:
    """Scorer of a fitted `PNUAUC`: minus its risk with the zero-one loss, on held-out points.

    The risk is (1 - |g|) R_PN + |g| R*, with the zero-one loss (ties 1/2). With p = prior,
    R* = (R_PU - p / 2) / (1 - p) for eta >= 0 and (R_UN - (1 - p) / 2) / p for eta < 0.

    The weight g is not eta. It minimises the variance of the sum: a / (a + b) with a = (1 - p)^2 (n_P - 1), b = p^2
    n_N for eta >= 0, and -b / (a + b) with a = (1 - p)^2 n_P, b = p^2 (n_N - 1) for eta < 0.

    Parameters
    ----------
    n_positive, n_negative : int
        Number of labeled points in all folds together.

    Notes
    -----
    Source: the authors' public program of T. Sakai, G. Niu and M. Sugiyama, Machine Learning, 2018.
    """

    n_positive: int
    n_negative: int

    def __call__(self, estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
        """Return minus the risk on points X with labels y, -1 for unlabeled.

        If there are no unlabeled points, all points are used for them.
        """
        f = np.asarray(estimator.decision_function(X))
        _, codes = encode(y, estimator.classes_)
        check_length(len(codes), len(f))
        P, N, U = f[codes == 1], f[codes == 0], f[unlabeled_rows(codes == UNLABELED)]
        p, weight = estimator.prior_, abs(self.weight(estimator.eta_, estimator.prior_))
        if estimator.eta_ >= 0:
            semi = (1.0 - auc_of_samples(P, U) - p / 2.0) / (1.0 - p)
        else:
            semi = (1.0 - auc_of_samples(U, N) - (1.0 - p) / 2.0) / p
        return -float((1.0 - weight) * (1.0 - auc_of_samples(P, N)) + weight * semi)

    def weight(self, eta: float, prior: float) -> float:
        """Return g."""
        is_positive = eta >= 0
        a = (1.0 - prior) ** 2 * (self.n_positive - is_positive)
        b = prior**2 * (self.n_negative - (not is_positive))
        return a / (a + b) if is_positive else -b / (a + b)
