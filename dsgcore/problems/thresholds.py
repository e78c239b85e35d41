"""Thresholds that cut the values of a ranking function into ordered classes, and measures of the classes."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.problem import ProblemError

# Thresholds closer than this, relative to their size, are one.
TIE = 1e-9


def thresholds(y: NDArray, f: NDArray, *, loss: str = "hinge", margin: float = 1.0) -> NDArray:
    """Return the thresholds b_1 <= .. <= b_{k-1} that minimise the all-threshold loss, of shape (k - 1,).

    For each j, b_j minimises sum_{y_i >= j} delta(f_i - b) + sum_{y_i < j} delta(b - f_i), where delta(z) is
    max(0, margin - z) or (margin - z)^2.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class codes 0 .. k - 1 in their order, every one of them present.
    f : ndarray of shape (n,)
        Values of the ranking function at the same points.
    loss : {"hinge", "squared"}, default "hinge"
        delta.
    margin : float >= 0, default 1.0
        How far from a threshold a value should be, in units of f. It matters: where the values spread by less
        than the margin, as those of an AUC objective with a ridge do, the hinge thresholds follow the classes'
        sizes more than their values. With 0 they cut the values where the labeled classes' shares do.

    Raises
    ------
    ProblemError
        If a class is missing, there is only one, a value is not finite, or the margin is negative.

    Warns
    -----
    UserWarning
        If thresholds coincide: they are then given the same value, and no point can get the classes between them.

    Notes
    -----
    Source: QS3ORAO (AAAI 2020), "Calculate the Thresholds"; Fathony, Bashiri and Ziebart (2017).

    Deviation: no linear program is solved. The hinge loss is linear between the kinks f_i - margin (of points
    above) and f_i + margin (below), its slope is minus the number of points below at the far left and grows by
    one at each kink: it is zero between the n_below-th kink and the next. Of that interval, which need not be a
    point as the paper's Lemma 1 has it, this is the middle.
    """
    y, f = np.asarray(y), np.asarray(f, dtype=float)
    if not np.isfinite(f).all():
        raise ProblemError("thresholds need values that are finite")
    if not margin >= 0:
        raise ProblemError(f"the margin must be 0 or more, got {margin!r}")
    k = len(check_classes(y))
    find = {"hinge": _hinge_threshold, "squared": _squared_threshold}[loss]
    b = np.sort([find(f[y >= j] - margin, f[y < j] + margin) for j in range(1, k)])
    return _merge_ties(b)


def _hinge_threshold(above: NDArray, below: NDArray) -> float:
    """Return the middle of the interval between the n_below-th kink and the next."""
    kinks = np.sort(np.concatenate([above, below]))
    return float(kinks[len(below) - 1] + kinks[len(below)]) / 2.0


def _squared_threshold(above: NDArray, below: NDArray) -> float:
    """Return the mean of f_i - margin above and f_i + margin below."""
    return float(np.mean(np.concatenate([above, below])))


def _merge_ties(b: NDArray) -> NDArray:
    is_tie = np.diff(b) <= TIE * np.maximum(np.abs(b[1:]), np.abs(b[:-1]))
    if is_tie.any():
        empty = ", ".join(str(j + 1) for j in np.flatnonzero(is_tie))
        warnings.warn(f"thresholds coincide: no point can get the class of code {empty}", stacklevel=3)
        for j in np.flatnonzero(is_tie):
            b[j + 1] = b[j]
    return b


def check_classes(y: NDArray) -> NDArray:
    """Return the class codes 0 .. k - 1 in `y`; raise `ProblemError` where one is missing or there is only one."""
    classes = np.unique(y)
    wrong = np.flatnonzero(classes != np.arange(len(classes)))
    if len(wrong):
        raise ProblemError(
            "classes must have the codes 0 .. k - 1 with a labeled point of each, "
            f"got none of code {wrong[0]} but one of code {classes[wrong[0]]:g}"
        )
    if len(classes) < 2:
        raise ProblemError(f"ordinal regression needs labeled points of at least two classes, got {len(classes)}")
    return classes


def classify(f: NDArray, b: NDArray) -> NDArray:
    """Return the class code of each value: the number of thresholds below it; both of shape (n,)."""
    return np.searchsorted(b, f, side="left")


def class_measures(y: NDArray, f: NDArray, b: NDArray) -> dict[str, float]:
    """Return the mean absolute error and the accuracy of the classes that thresholds `b` give to values `f`."""
    error = np.abs(classify(f, b) - np.asarray(y))
    return {"mean absolute error": float(error.mean()), "accuracy": float(np.mean(error == 0))}


def mean_auc(y: NDArray, f: NDArray) -> float:
    """Return the mean over 0 < j < k of the AUC of the classes from code j on against those before, ties one half.

    From class codes y and values f, both (n,). Sub-problems without a point on either side are left out; NaN where none is
    left, or a value is NaN.
    """
    if np.isnan(f).any():
        return float("nan")
    y = np.asarray(y).astype(int)
    # One sort serves all sub-problems: a sample's AUC follows from the sum of its ranks.
    order = np.argsort(f)
    above = np.bincount(y)[::-1].cumsum()[::-1][1:]
    rank_sums = np.bincount(y[order], weights=_ranks(f[order]))[::-1].cumsum()[::-1][1:]
    pairs = above * (len(y) - above)
    has_both = pairs > 0
    if not has_both.any():
        return float("nan")
    wins = rank_sums[has_both] - above[has_both] * (above[has_both] + 1) / 2.0
    return float(np.mean(wins / pairs[has_both]))


def _ranks(values: NDArray) -> NDArray:
    """Return the ranks, from one on, of sorted values (n,); those of ties are their mean rank."""
    is_first = np.append(True, values[1:] != values[:-1])
    if is_first.all():
        return np.arange(1.0, len(values) + 1.0)
    starts = np.flatnonzero(is_first)
    counts = np.diff(starts, append=len(values))
    return np.repeat(starts + (counts + 1) / 2.0, counts)
