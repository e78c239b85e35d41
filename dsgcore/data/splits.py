"""The only place that hides labels of data. It also holds out test rows, scales the features, and can break two assumptions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.core.sampling import UNLABELED
from dsgcore.data.datasets import (
    LABEL_NOISE,
    PRIOR_SHIFT,
    SCALING,
    TEST_SHARE,
    CountError,
    DataError,
    Dataset,
    check_count,
    checked,
    keyed_generator,
)

# --- scaling


_COLUMNS = 32  # number of columns that are copied to float64 at one time


@dataclass(frozen=True, eq=False)
class Scaling:
    """Fitted scaling of features: (x - offset) / width, or 0 if the training rows are constant.

    Parameters
    ----------
    kind : {"unit", "standard", "none"}
    offset : ndarray of shape (d,), float32
        "unit": minimum of the training rows; "standard": their mean; "none": 0.
    width : ndarray of shape (d,), float32
        "unit": range of the training rows; "standard": their standard deviation; "none": 1.
        0 for constant features.
    """

    kind: str
    offset: NDArray[np.float32]
    width: NDArray[np.float32]

    def apply(self, X: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return scaled points, in a new array of shape (n, d); nothing is clipped."""
        scaled = np.array(X, dtype=np.float32, order="C")
        if self.kind != "none":
            scaled -= self.offset
            scaled /= np.where(self.width > 0, self.width, np.float32(np.inf))  # constant features become 0
        return scaled


def fit_scaling(X: NDArray[np.float32], rows: NDArray[np.int64], kind: str) -> Scaling:
    """Fit the scaling. It works on a few columns at a time, so that no float64 copy of all points is needed."""
    d = X.shape[1]
    offset, width = np.zeros(d, dtype=np.float32), np.ones(d, dtype=np.float32)
    if kind != "none":
        for start in range(0, d, _COLUMNS):
            block = slice(start, start + _COLUMNS)
            columns = X[rows, block]
            low, high = columns.min(axis=0), columns.max(axis=0)
            if kind == "unit":
                offset[block], width[block] = low, high - low
            else:
                offset[block] = columns.mean(axis=0, dtype=np.float64)
                # Exactly 0 for a constant column, whatever the rounding of its mean.
                width[block] = np.where(low < high, columns.std(axis=0, dtype=np.float64), 0)
    return Scaling(kind, offset, width)


# --- splits


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows with most labels hidden, and test rows.

    Parameters
    ----------
    X_train : ndarray of shape (n_train, d), float32, C-contiguous
        Scaled points, in random order.
    y_train : ndarray of shape (n_train,), int64
        Class codes of the labeled rows (pair ids of the similar ones), -1 for all others.
    y_hidden : ndarray of shape (n_train,), int64
        The true codes of all training rows, -1 if the source gives none. For diagnosis only, never for training.
    X_test : ndarray of shape (n_test, d), float32, C-contiguous
        Points with the scaling of the training rows; they may leave [0, 1].
    y_test : ndarray of shape (n_test,), int64
        True codes.
    scaling : Scaling
        Fitted on the training rows.
    train_rows : ndarray of shape (n_train,), int64
        Rows of the data set that `X_train` holds.
    test_rows : ndarray of shape (n_test,), int64
        Rows of the data set that `X_test` holds.
    class_names : tuple of str
        Names of the classes, in the order of their codes.
    feature_names : tuple of str
        Names of the columns of `X_train`.
    n_rows : int
        Number of rows of the data set. Points painted by hand have the next numbers.
    before : Split or None
        The split before edits by hand; None if there are none.
    """

    X_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    y_hidden: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]
    scaling: Scaling
    train_rows: NDArray[np.int64]
    test_rows: NDArray[np.int64]
    class_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    n_rows: int = 0
    before: Split | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, training and test together, and columns."""
        return len(self.X_train) + len(self.X_test), self.X_train.shape[1]

    @cached_property
    def labeled(self) -> NDArray[np.int64]:
        """The labeled rows of `X_train`, in increasing order."""
        return np.flatnonzero(self.y_train != UNLABELED)

    def with_points(self, dataset: Dataset) -> Split:
        """Return the split with the points of a data set that has the same rows."""
        return replace(
            self,
            X_train=dataset.X[self.train_rows],
            X_test=dataset.X[self.test_rows],
            feature_names=dataset.feature_names,
            scaling=fit_scaling(dataset.X, self.train_rows, "none"),
        )

    def of_rows(self, kept: NDArray[np.intp]) -> Split:
        """Return the split with these training rows only."""
        own = {name: getattr(self, name)[kept] for name in ("X_train", "y_train", "y_hidden", "train_rows")}
        return replace(self, **own)


def hide_labels(
    dataset: Dataset, n_labeled: int, test_share: float, seed: int, stratified: bool = True, *, scaling: str = "unit"
) -> Split:
    """Hold out test rows and hide the labels of all but a few training rows.

    Parameters
    ----------
    dataset : Dataset
    n_labeled : int, 2 <= n_labeled <= number of training rows
        Training rows that keep their label.
    test_share : float in (0, 0.9]
        Share of rows held out.
    seed : int, 0 <= seed < 2**32
        The same seed gives bit-for-bit identical splits.
    stratified : bool, default True
        True if the classes keep their shares among test and labeled rows. Then each class has at least one test row and
        one labeled row. If False, both are drawn uniformly from all rows.
    scaling : {"unit", "standard", "none"}, default "unit"
        Scaling of each feature: "unit" to [0, 1], "standard" to mean 0 and standard deviation 1, "none" not at all.
        Fitted on the training rows only.

    Returns
    -------
    Split

    Raises
    ------
    DataError
        If the data set has too few rows, or too few of one class.

    Examples
    --------
    >>> from dsgcore.data import hide_labels, load
    >>> split = hide_labels(load("two_moons", n=200), n_labeled=20, test_share=0.5, seed=0)
    >>> split.X_train.shape, int((split.y_train >= 0).sum())
    ((100, 2), 20)
    """
    checked(SCALING, scaling)
    y = dataset.y
    known = np.flatnonzero(y != UNLABELED)  # rows without a label in their source do not count as labeled rows
    n_test = max(round(len(known) * checked(TEST_SHARE, test_share)), 1)
    names, counts = dataset.class_names, np.bincount(y[known], minlength=len(dataset.class_names))
    if stratified and counts.min() < 2:
        must = "each class must have at least 2 labeled rows, one of them for testing"
        raise DataError(f"{must}: got {counts.min()} of {quoted(names[int(np.argmin(counts))])}")
    if len(known) - n_test < 2:
        raise DataError(f"at least 2 training rows must be left, got {len(known) - n_test} of {len(known)} rows")
    n_labeled = check_count("n_labeled", n_labeled, 2, len(known) - n_test, "the number of training rows")
    groups = y if stratified else np.zeros_like(y)
    if stratified:  # each class gets a labeled row and a test row
        # Enough labeled rows are enough training rows: `n_labeled` is at most the number of these.
        for what, given in (("n_labeled", n_labeled), ("the number of test rows", n_test)):
            if given < len(counts):
                said = f"{what} must be at least {len(counts)}, one for each class, got {given}"
                raise CountError(said, len(counts)) if what == "n_labeled" else DataError(said)
    test_rows = known[_draw(groups[known], n_test, keyed_generator(seed, "split/test"), leave=1)]
    others = np.setdiff1d(np.arange(len(y)), test_rows)
    train_rows = keyed_generator(seed, "split/order").permutation(others)
    candidates = np.flatnonzero(y[train_rows] != UNLABELED)
    labeled = candidates[
        _draw(groups[train_rows[candidates]], n_labeled, keyed_generator(seed, "split/labeled"), leave=0)
    ]
    y_train = np.full(len(train_rows), UNLABELED)
    y_train[labeled] = y[train_rows[labeled]]
    return _assembled(dataset, train_rows, test_rows, y_train, scaling)


def draw_pairs(
    dataset: Dataset, n_pairs: int, test_share: float, seed: int, stratified: bool = True, *, scaling: str = "unit"
) -> Split:
    """Hold out test rows, and draw similar pairs from the others. Both members have one class, which stays hidden.

    If the data set has pairs, the pairs are drawn from those, and the members of the others are set aside. Otherwise a
    pair's class is drawn from the classes' shares: positive with probability pi^2 / (pi^2 + (1 - pi)^2). Its members
    are drawn without replacement. This takes more points from the larger class, so some points of the smaller one are
    set aside. Then the unlabeled points keep the class shares of the data.

    Parameters
    ----------
    dataset : Dataset
        With two classes.
    n_pairs : int, >= 1
    test_share, seed, stratified, scaling
        As in `hide_labels`.

    Returns
    -------
    Split
        Its `y_train` holds pair ids 0 .. n_pairs - 1, each of them twice, and -1 for unlabeled points.

    Raises
    ------
    DataError
        If the classes have too few rows for so many pairs, or if no row would be left unlabeled.
    """
    hide = partial(
        hide_labels, n_labeled=len(dataset.class_names), test_share=test_share, seed=seed, stratified=stratified
    )
    if dataset.pairs is not None:
        return _given_pairs(dataset, dataset.pairs, n_pairs, hide, seed, scaling)
    base = hide(dataset, scaling=scaling)
    n_pairs = check_count("the number of similar pairs", n_pairs, 1, (len(base.y_hidden) - 1) // 2)
    try:
        members, others = _members_and_others(base.y_hidden, seed, n_pairs)
    except CountError:
        raise
    except DataError as error:
        nearest = n_pairs
        while nearest > 1:  # a number of pairs, a little fewer, that leaves unlabeled points of both classes
            nearest = min(nearest - 1, nearest * 19 // 20)
            with suppress(DataError):
                _members_and_others(base.y_hidden, seed, nearest)
                break
        raise CountError(str(error), nearest) from None
    y_train = np.full(len(base.y_hidden), UNLABELED)
    y_train[members] = np.arange(n_pairs)[:, None]
    return replace(base, y_train=y_train).of_rows(np.sort(np.concatenate([members.ravel(), others])))


def _members_and_others(y: NDArray[np.int64], seed: int, n_pairs: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs' members, of shape (n_pairs, 2), and as many unlabeled rows as possible with the shares of all."""
    rng, share, members = keyed_generator(seed, "split/pairs"), np.mean(y[y != UNLABELED] == 1), []
    n_positive = int(rng.binomial(n_pairs, share**2 / (share**2 + (1 - share) ** 2)))
    for label, count in ((1, n_positive), (0, n_pairs - n_positive)):
        rows = rng.permutation(np.flatnonzero(y == label))
        if len(rows) < 2 * count:
            raise CountError(
                f"the number of similar pairs must leave enough rows: {count} of {n_pairs} pairs are of one class and need "
                f"{2 * count} of its training rows, got {len(rows)}",
                max(1, n_pairs * (len(rows) // 2) // count),
            )
        members.append(rows[: 2 * count].reshape(count, 2))
    paired = np.concatenate(members)
    rows = np.setdiff1d(np.arange(len(y)), paired)
    shares = np.bincount(y[y != UNLABELED], minlength=2) / np.sum(y != UNLABELED)
    per_class = [rows[y[rows] == label] for label in (0, 1)]
    total = min(len(own) / share for own, share in zip(per_class, shares, strict=True))
    kept = [own[: round(total * share)] for own, share in zip(per_class, shares, strict=True)]
    if not all(len(own) for own in kept):
        raise DataError("the number of similar pairs must leave unlabeled points of both classes; give fewer pairs")
    return paired, np.concatenate([*kept, rows[y[rows] == UNLABELED]])


def _given_pairs(
    dataset: Dataset, pairs: NDArray[np.int64], n_pairs: int, hide: Callable[..., Split], seed: int, scaling: str
) -> Split:
    """Draw from the data set's own pairs. Test rows are drawn from the labeled rows that are in no pair."""
    ids = np.unique(pairs[pairs != UNLABELED])
    n_pairs = check_count("the number of similar pairs", n_pairs, 1, len(ids), "the data set's own pairs")
    if np.all(pairs != UNLABELED):
        raise DataError("some rows must be in no similar pair, as unlabeled points and for testing, got only pairs")
    rows = np.flatnonzero(pairs == UNLABELED)
    alone = replace(dataset, X=dataset.X[rows], y=dataset.y[rows], pairs=None)
    base = hide(alone, scaling="none")
    drawn = np.sort(keyed_generator(seed, "split/pairs").permutation(ids)[:n_pairs])
    members = np.flatnonzero(np.isin(pairs, drawn))
    order = keyed_generator(seed, "split/order").permutation(np.concatenate([members, rows[base.train_rows]]))
    y_train = np.where(pairs[order] == UNLABELED, UNLABELED, np.searchsorted(drawn, pairs[order]))
    return _assembled(dataset, order, rows[base.test_rows], y_train, scaling)


def _draw(groups: NDArray[np.int64], total: int, rng: np.random.Generator, leave: int) -> NDArray[np.bool_]:
    """Mark `total` rows: each group's share, but at least one row, and at most all but `leave` of them."""
    counts = np.bincount(groups)
    low, high = np.minimum(counts, 1), counts - np.minimum(counts, leave)
    quota = counts * (total / counts.sum())
    takes = np.clip(np.round(quota).astype(np.int64), low, high)
    while (missing := total - int(takes.sum())) != 0:
        step = 1 if missing > 0 else -1
        is_free = takes < high if step > 0 else takes > low
        takes[np.argmax(np.where(is_free, step * (quota - takes), -np.inf))] += step
    is_drawn = np.zeros(len(groups), dtype=bool)
    for code in np.flatnonzero(takes):
        is_drawn[rng.permutation(np.flatnonzero(groups == code))[: takes[code]]] = True
    return is_drawn


def _assembled(
    dataset: Dataset, train_rows: NDArray[np.int64], test_rows: NDArray[np.int64], y_train: NDArray[np.int64], kind: str
) -> Split:
    fitted = fit_scaling(dataset.X, train_rows, kind)
    return Split(
        X_train=fitted.apply(dataset.X[train_rows]),
        y_train=y_train,
        y_hidden=dataset.y[train_rows],
        X_test=fitted.apply(dataset.X[test_rows]),
        y_test=dataset.y[test_rows],
        scaling=fitted,
        train_rows=train_rows,
        test_rows=test_rows,
        class_names=dataset.class_names,
        feature_names=dataset.feature_names,
        n_rows=len(dataset.y),
    )


# --- violations of assumptions: right labels, and equal class shares everywhere


def broken(split: Split, *, label_noise: float, prior_shift: float, seed: int, is_pairs: bool = False) -> Split:
    """Return the split with wrong labels, and with other class shares among its unlabeled points. Both 0 change nothing.

    Parameters
    ----------
    split : Split
    label_noise : float in [0, 1]
        Share of the labeled rows that get another class, drawn uniformly from all others. For pairs: share of pairs
        with members of two classes; one member changes places with an unlabeled point.
    prior_shift : float in [-0.95, 0.95]
        Share of the unlabeled rows to leave out from the lower half of the classes (with two classes: from the
        negatives). If negative, the share to leave out from the upper half. Labeled rows, test rows and the scaling do
        not change.
    seed : int, 0 <= seed < 2**32
        The same seed gives bit-for-bit identical data.
    is_pairs : bool, default False
        True if `y_train` holds pair ids.

    Raises
    ------
    DataError
        If a share is out of range, or if there are too few unlabeled points for it.
    """
    noise, shift = checked(LABEL_NOISE, label_noise), checked(PRIOR_SHIFT, prior_shift)
    if noise:
        rng, k, y_train = keyed_generator(seed, "split/label_noise"), len(split.class_names), split.y_train.copy()
        if is_pairs:
            _mix_pairs(split, y_train, noise, rng)
        else:
            rows = rng.permutation(split.labeled)[: round(noise * len(split.labeled))]
            y_train[rows] = (y_train[rows] + rng.integers(1, k, size=len(rows))) % k
        split = replace(split, y_train=y_train)
    if not shift:
        return split
    k = len(split.class_names)
    is_thinned = split.y_hidden < k // 2 if shift > 0 else split.y_hidden >= k - k // 2
    rows = np.flatnonzero(is_thinned & (split.y_hidden != UNLABELED) & (split.y_train == UNLABELED))
    left_out = keyed_generator(seed, "split/prior_shift").permutation(rows)[: round(abs(shift) * len(rows))]
    kept = np.delete(np.arange(len(split.y_train)), left_out)
    if not np.any(split.y_train[kept] == UNLABELED):
        raise DataError(f"prior_shift must leave unlabeled points, got {shift:g}")
    return split.of_rows(kept)


def _mix_pairs(split: Split, y_train: NDArray[np.int64], share: float, rng: np.random.Generator) -> None:
    """Let a member of each of some pairs change places with an unlabeled point of the other class."""
    y = split.y_hidden
    ids = np.unique(y_train[split.labeled])
    for pair in rng.permutation(ids)[: round(share * len(ids))]:
        stays, goes = rng.permutation(np.flatnonzero(y_train == pair))
        others = np.flatnonzero((y_train == UNLABELED) & (y == 1 - y[stays]))
        if len(others) < 2:
            raise DataError("label_noise must leave unlabeled points of both classes; give fewer pairs or less noise")
        y_train[[goes, rng.choice(others)]] = UNLABELED, pair
