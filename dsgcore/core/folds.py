"""Folds of labels: those of scikit-learn, whose checks of the labels take longer than a choice on a few of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Fold = tuple[NDArray, NDArray]  # rows to train on, and rows that are held out; both ascending


def stratified_folds(y: NDArray, n_folds: int) -> list[Fold]:
    """Return the folds of scikit-learn's ``StratifiedKFold(n_folds, shuffle=True, random_state=0)``.

    If a class has fewer points than there are folds, some folds hold out none of it.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Classes.
    n_folds : int
        At most the number of points in the largest class.
    """
    classes, first, counts = np.unique(y, return_index=True, return_counts=True)
    rng, fold_of, dealt = np.random.RandomState(0), np.empty(len(y), dtype=np.intp), 0
    # The classes' points are dealt to the folds in turn, in the order in which the classes appear, and then shuffled.
    for k in np.argsort(first):
        own = np.sort(np.arange(dealt, dealt + counts[k]) % n_folds)
        rng.shuffle(own)
        fold_of[y == classes[k]] = own
        dealt += counts[k]
    return _folds(fold_of, n_folds)


def shuffled_folds(n: int, n_folds: int) -> list[Fold]:
    """Return the folds of scikit-learn's ``KFold(n_folds, shuffle=True, random_state=0)`` for n points."""
    order, fold_of = np.arange(n), np.empty(n, dtype=np.intp)
    np.random.RandomState(0).shuffle(order)
    fold_of[order] = np.sort(np.arange(n) % n_folds)
    return _folds(fold_of, n_folds)


def _folds(fold_of: NDArray, n_folds: int) -> list[Fold]:
    return [(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(n_folds)]
