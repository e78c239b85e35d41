"""Splitters of points into training and test sets, and scorers. Higher is better, and -1 marks unlabeled points."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length

from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import auc_of_samples
from dsgcore.core.parameters import Choice, Integer, ParameterError, Real
from dsgcore.core.sampling import generator
from dsgcore.estimators.classes import accuracy_of, auc_of, check_length
from dsgcore.estimators.inputs import check_same_kind, encode, seed_of
from dsgcore.estimators.similar_unlabeled import pair_ids
from dsgcore.solver.problem import UNLABELED, rows_where

N_SPLITS = Integer("n_splits", 5, low=2, high=1000)
PLACE_OF_UNLABELED = Choice("unlabeled", "folded", options=("folded", "train"))

# Reason why no search is possible.
TOO_FEW = "the labels are too few: at least two of five folds must hold labels of each class"


class FoldError(DSGError):
    """Error: folds cannot be made of these points. The message says which points are too few."""


def encoded(y: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return the classes and the codes of labels, as in `fit` of the estimators. Ordered categories keep their order."""
    return encode(y, is_ordered=True)


@dataclass(eq=False, repr=False)
class _Folds(BaseCrossValidator):
    """Base class of splitters that test each point once.

    Subclasses assign a fold to each point, or -1 for points that are always in training.
    """

    n_splits: int = 5
    _: KW_ONLY
    random_state: int | np.random.RandomState | None = None

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of splits."""
        return self.n_splits

    def folds(self, y: ArrayLike) -> NDArray:
        """Return each point's fold, of shape (n,): 0 to n_splits - 1, and -1 for points that are never tested."""
        N_SPLITS.check(self.n_splits)
        return self._folds(y, seed_of(self.random_state))

    def _folds(self, y: ArrayLike, seed: int) -> NDArray:
        raise NotImplementedError

    def _deal(self, fold: NDArray, rows: NDArray, seed: int, what: str = "unlabeled points") -> None:
        """Assign rows to the folds at random, in equal numbers."""
        drawn = rows[generator(seed, f"folds of {what}").permutation(len(rows))]
        fold[drawn] = np.arange(len(rows)) % self.n_splits

    def split(self, X: object, y: ArrayLike | None = None, groups: object = None) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield the rows for training and the rows for testing. Only `y` is used.

        Parameters
        ----------
        y : array-like of shape (n,), or (n, 2)
            As in `fit` of the estimators, with -1 for unlabeled points; or two columns as for `SeenLabels`.
        """
        if groups is not None:
            warnings.warn(f"The groups parameter is ignored by {type(self).__name__}", UserWarning, stacklevel=2)
        if y is None:
            raise FoldError("folds follow from the labels, so y must be given, got None")
        fold = self.folds(y)
        check_consistent_length(X, fold)
        for number in range(self.n_splits):
            is_test = self._is_test(fold, number)
            yield np.flatnonzero(~is_test), np.flatnonzero(is_test)

    def _is_test(self, fold: NDArray, number: int) -> NDArray:
        """Return a mask of the points that are tested in one split."""
        return fold == number


@dataclass(eq=False, repr=False)
class LabeledFolds(_Folds):
    """K-fold splitter that keeps each class's share and holds out labels.

    Parameters
    ----------
    n_splits : int >= 2, default=5
        Number of folds.
    unlabeled : {"folded", "train"}, default="folded"
        "folded" splits the unlabeled points too, and so holds some out for scores that use them. "train" puts them in
        every training set and in no test set.
    random_state : int, RandomState instance or None, default=None
        Seed for the folds. Pass an int for the same folds at every call.

    Notes
    -----
    Each class's points are assigned to the folds in turn. So the folds' sizes differ by one at most, and a class of at
    least two points is in every training set. A class with a single label is in every training set too, but in no test
    set. At least two classes must have more than one label.
    """

    _: KW_ONLY
    unlabeled: Literal["folded", "train"] = "folded"

    def _folds(self, y: ArrayLike, seed: int) -> NDArray:
        is_folded = PLACE_OF_UNLABELED.check(self.unlabeled) == "folded"
        classes, codes = encoded(y)
        labeled = np.flatnonzero(codes != UNLABELED)
        _check_count("labeled points", len(labeled), self.n_splits)
        counts = np.bincount(codes[labeled], minlength=len(classes))
        for code in np.argsort(-counts, kind="stable")[:2]:
            _check_count(f"labeled points of class {classes[code]}", int(counts[code]), 2)
        fold, labeled = np.full(len(codes), -1), labeled[counts[codes[labeled]] > 1]
        _check_count("labeled points of classes with two or more", len(labeled), self.n_splits)
        drawn = labeled[generator(seed, "folds of labeled points").permutation(len(labeled))]
        fold[drawn[np.argsort(codes[drawn], kind="stable")]] = np.arange(len(labeled)) % self.n_splits
        if is_folded:
            self._deal(fold, np.flatnonzero(codes == UNLABELED), seed)
        return fold


class PairFolds(_Folds):
    """K-fold splitter for similar pairs and unlabeled points. Both members of a pair are always on the same side.

    The parameters are as in `LabeledFolds`, without `unlabeled`.

    Notes
    -----
    Source: W. Shi et al., Machine Learning, 2021, section 6: the set of similar pairs and the unlabeled data are
    divided evenly into five parts each.
    """

    def _folds(self, y: ArrayLike, seed: int) -> NDArray:
        ids = pair_ids(y)
        is_unlabeled = ids == UNLABELED
        pairs, place = np.unique(ids[~is_unlabeled], return_inverse=True)
        _check_count("similar pairs", len(pairs), self.n_splits)
        _check_count("unlabeled points", int(is_unlabeled.sum()), self.n_splits)
        of_pair, fold = np.empty(len(pairs), dtype=int), np.full(len(ids), -1)
        self._deal(of_pair, np.arange(len(pairs)), seed, "pairs")
        fold[~is_unlabeled] = of_pair[place]
        self._deal(fold, np.flatnonzero(is_unlabeled), seed)
        return fold


class UnlabeledFolds(_Folds):
    """Splitter of the TSGS3VM paper.

    All labeled points and *one* part of the unlabeled points are for training, the other parts for testing.

    The parameters are as in `LabeledFolds`, without `unlabeled`.

    Notes
    -----
    Source: X. Geng et al., IJCAI 2019, section 6.1. The score is the test error. It needs the labels that were hidden
    in training, so use `SeenLabels`, which takes both.
    """

    def _folds(self, y: ArrayLike, seed: int) -> NDArray:
        seen = np.asarray(y)
        seen = seen[:, 0] if seen.ndim == 2 else seen
        unlabeled = np.flatnonzero(encoded(seen)[1] == UNLABELED)
        _check_count("unlabeled points", len(unlabeled), self.n_splits)
        fold = np.full(len(seen), -1)
        self._deal(fold, unlabeled, seed)
        return fold

    def _is_test(self, fold: NDArray, number: int) -> NDArray:
        return (fold != number) & (fold >= 0)


def _check_count(what: str, count: int, least: int) -> None:
    if count < least:
        raise FoldError(f"the number of {what} must be at least {least}, got {count}")


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
        P, N, U = f[codes == 1], f[codes == 0], f[rows_where(codes == UNLABELED, or_all=True)]
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
