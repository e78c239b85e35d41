"""Deliberate violations of two assumptions: that labels are right, and that all parts have the same class shares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dsgcore.data.datasets import DataError
from dsgcore.data.options import LABEL_NOISE, PRIOR_SHIFT, checked, keyed_generator
from dsgcore.data.splits import Split
from dsgcore.solver.problem import UNLABELED


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
        disturb = _with_mixed_pairs if is_pairs else _with_wrong_labels
        split = disturb(split, noise, keyed_generator(seed, "split/label_noise"))
    return _with_other_shares(split, shift, keyed_generator(seed, "split/prior_shift")) if shift else split


def _with_wrong_labels(split: Split, share: float, rng: np.random.Generator) -> Split:
    k = len(split.class_names)
    rows = rng.permutation(split.labeled)[: round(share * len(split.labeled))]
    y_train = split.y_train.copy()
    y_train[rows] = (y_train[rows] + rng.integers(1, k, size=len(rows))) % k
    return replace(split, y_train=y_train)


def _with_mixed_pairs(split: Split, share: float, rng: np.random.Generator) -> Split:
    y, y_train = split.y_hidden, split.y_train.copy()
    ids = np.unique(y_train[split.labeled])
    for pair in rng.permutation(ids)[: round(share * len(ids))]:
        stays, goes = rng.permutation(np.flatnonzero(y_train == pair))
        others = np.flatnonzero((y_train == UNLABELED) & (y == 1 - y[stays]))
        if len(others) < 2:
            raise DataError("label_noise must leave unlabeled points of both classes; give fewer pairs or less noise")
        y_train[[goes, rng.choice(others)]] = UNLABELED, pair
    return replace(split, y_train=y_train)


def _with_other_shares(split: Split, shift: float, rng: np.random.Generator) -> Split:
    k = len(split.class_names)
    is_thinned = split.y_hidden < k // 2 if shift > 0 else split.y_hidden >= k - k // 2
    rows = np.flatnonzero(is_thinned & (split.y_hidden != UNLABELED) & (split.y_train == UNLABELED))
    left_out = rng.permutation(rows)[: round(abs(shift) * len(rows))]
    kept = np.delete(np.arange(len(split.y_train)), left_out)
    if not np.any(split.y_train[kept] == UNLABELED):
        raise DataError(f"prior_shift must leave unlabeled points, got {shift:g}")
    return split.of_rows(kept)
