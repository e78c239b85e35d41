"""Checks of a data set and its split before learning: columns, classes, coverage, pairs, leaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.sampling import UNLABELED
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data.datasets import Dataset
from dsgcore.data.splits import Split

BINS = 20
NOT_KNOWN = "not known"
# Distances are computed for at most this many unlabeled points, evenly spread.
MAX_QUERIES = 1000


def column_summary(dataset: Dataset) -> pd.DataFrame:
    """Return one row per feature: range, mean, standard deviation, number of values, and a histogram of 20 equal bins."""
    X = dataset.X
    return pd.DataFrame(
        {
            "feature": dataset.feature_names,
            "histogram": [np.histogram(column, BINS)[0].tolist() for column in X.T],
            "minimum": X.min(axis=0),
            "mean": X.mean(axis=0, dtype=np.float64),
            "maximum": X.max(axis=0),
            "deviation": X.std(axis=0, dtype=np.float64),
            "distinct": [len(np.unique(column)) for column in X.T],
        }
    )


def class_balance(split: Split) -> pd.DataFrame:
    """Return the numbers of labeled, unlabeled and test points of each true class (the index).

    If the source gives no class for some points, a last row, "not known", counts them.
    """
    is_labeled = split.y_train != UNLABELED
    samples = {"labeled": split.y_hidden[is_labeled], "unlabeled": split.y_hidden[~is_labeled], "test": split.y_test}
    k = len(split.class_names)
    # An unknown class, -1, is counted after all classes.
    counts = {name: np.bincount(np.where(y < 0, k, y), minlength=k + 1) for name, y in samples.items()}
    balance = pd.DataFrame(counts, index=pd.Index([*split.class_names, NOT_KNOWN], name="class"))
    return balance if balance.loc[NOT_KNOWN].any() else balance.iloc[:k]


@dataclass(frozen=True, eq=False)
class Coverage:
    """Distances from the labeled points to q unlabeled points (at most 1000), in scaled features."""

    to_labeled: NDArray[np.float64]  # of shape (q,): distance to the nearest labeled point
    to_any: NDArray[np.float64]  # of shape (q,): distance to the nearest other training point
    n_right: int = 0  # points whose nearest labeled point has the same class: the hits of labels alone
    n_known: int = 0  # points whose class is known, as that of their nearest labeled point


def coverage(split: Split) -> Coverage:
    """Measure how well the labeled points cover the unlabeled ones; uses true classes, not the given labels."""
    X = split.X_train.astype(np.float64)
    rows = np.flatnonzero(split.y_train == UNLABELED)
    rows = rows[:: max(1, -(-len(rows) // MAX_QUERIES))]
    if not len(rows) or not len(split.labeled):
        return Coverage(np.empty(0), np.empty(0))
    from sklearn.neighbors import NearestNeighbors  # here, as it takes long to import

    with single_threaded_blas():
        distance, number = NearestNeighbors(n_neighbors=1).fit(X[split.labeled]).kneighbors(X[rows])
        to_any = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X[rows])[0][:, 1]
    true, given = split.y_hidden[rows], split.y_hidden[split.labeled[number[:, 0]]]
    is_known = (true != UNLABELED) & (given != UNLABELED)
    return Coverage(
        to_labeled=distance[:, 0],
        to_any=to_any,
        n_right=int(np.sum(true[is_known] == given[is_known])),
        n_known=int(np.sum(is_known)),
    )


@dataclass(frozen=True)
class PairConsistency:
    """Numbers of similar pairs whose members share a class, and of those that do not."""

    both_positive: int
    both_negative: int
    mixed: int
    unknown: int  # with a member whose class the source does not give
    # The expected share of positive pairs: pi^2 / (pi^2 + (1 - pi)^2), for the positives' share pi among unlabeled
    # points.
    expected_positive: float


def pair_consistency(split: Split) -> PairConsistency:
    """Compare the classes of the two members of each pair; `y_train` holds pair ids."""
    members = split.labeled[np.argsort(split.y_train[split.labeled], kind="stable")].reshape(-1, 2)
    classes = split.y_hidden[members]
    is_known = (classes != UNLABELED).all(axis=1)
    sums = np.bincount(classes[is_known].sum(axis=1), minlength=3)
    y = split.y_hidden[(split.y_train == UNLABELED) & (split.y_hidden != UNLABELED)]
    share = float(np.mean(y == 1)) if len(y) else float("nan")
    expected = share**2 / (share**2 + (1 - share) ** 2)
    return PairConsistency(int(sums[2]), int(sums[0]), int(sums[1]), int(np.sum(~is_known)), expected)


@dataclass(frozen=True, eq=False)
class Leaks:
    """Points that occur more than once: m test points equal some training point."""

    test_rows: NDArray[np.int64]  # shape (m,): their rows of the data set
    train_rows: NDArray[np.int64]  # shape (m,): for each of them, the first such training row
    contradicting: int  # how many of them have another class than that training row
    within_training: int  # training points that equal an earlier training point


def leaks(split: Split) -> Leaks:
    """Find points that occur in both training and test rows, bit-for-bit identical after scaling."""
    # A view of each row as one value that can be compared and sorted; -0 counts as 0.
    rows = [np.ascontiguousarray(X + np.float32(0)) for X in (split.X_train, split.X_test)]
    train, test = (X.view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel() for X in rows)
    values, first = np.unique(train, return_index=True)
    place = np.minimum(np.searchsorted(values, test), len(values) - 1)
    hits = np.flatnonzero(values[place] == test)
    equal = first[place[hits]]
    known = (split.y_test[hits] != UNLABELED) & (split.y_hidden[equal] != UNLABELED)
    return Leaks(
        test_rows=split.test_rows[hits],
        train_rows=split.train_rows[equal],
        contradicting=int(np.sum(known & (split.y_test[hits] != split.y_hidden[equal]))),
        within_training=len(train) - len(values),
    )
