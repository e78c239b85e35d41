"""Splitters of points into training and test sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Choice, Integer
from dsgcore.core.sampling import generator
from dsgcore.estimators.inputs import encode, seed_of
from dsgcore.estimators.pairs import pair_ids
from dsgcore.solver.problem import UNLABELED

N_SPLITS = Integer("n_splits", 5, low=2, high=1000)
PLACE_OF_UNLABELED = Choice("unlabeled", "folded", options=("folded", "train"))

# Reason why no search is possible.
TOO_FEW = "the labels are too few: at least two of five folds must hold labels of each class"


class FoldError(DSGError):
    """Error: folds cannot be made of these points. The message says which points are too few."""


def encoded(y: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return the classes and the codes of labels, as in `fit` of the estimators. Ordered categories keep their order."""
    return encode(y, is_ordered=True)


class _Folds(BaseCrossValidator):
    """Base class of splitters that test each point once.

    Subclasses assign a fold to each point, or -1 for points that are always in training.
    """

    def __init__(self, n_splits: int = 5, *, random_state: int | np.random.RandomState | None = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

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
        for number in range(self.n_splits):
            is_test = self._is_test(fold, number)
            yield np.flatnonzero(~is_test), np.flatnonzero(is_test)

    def _is_test(self, fold: NDArray, number: int) -> NDArray:
        """Return a mask of the points that are tested in one split."""
        return fold == number


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

    def __init__(
        self,
        n_splits: int = 5,
        *,
        unlabeled: Literal["folded", "train"] = "folded",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_splits, random_state=random_state)
        self.unlabeled = unlabeled

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
