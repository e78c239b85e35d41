"""Thresholds that cut a ranking function's values into ordered classes, and measures of the classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.solver.problem import ProblemError

# Thresholds with a smaller relative distance are treated as equal.
TIE = 1e-9


def thresholds(y: NDArray, f: NDArray, *, loss: str = "hinge", margin: float = 1.0) -> NDArray:
    """Return the thresholds b_1 <= .. <= b_{k-1} that minimise the all-threshold loss, of shape (k - 1,).

    For each j, b_j minimises sum_{y_i >= j} delta(f_i - b) + sum_{y_i < j} delta(b - f_i), where delta(z) is
    max(0, margin - z) ("hinge") or (margin - z)^2 ("squared"). y (n,) are class codes 0 .. k - 1 in their order, f (n,) values of
    the ranking function. If the values spread by less than the margin, the hinge thresholds follow the sizes of the classes more
    than the values. That happens for an AUC objective with a ridge. With 0 they cut the values into the labeled classes' shares.

    Thresholds that coincide get the same value with a warning: no point can get a class between them. Raise `ProblemError` if a
    class is missing, there is only one, a value is not finite, or the margin is negative.

    Source: QS3ORAO (AAAI 2020), "Calculate the Thresholds"; Fathony, Bashiri and Ziebart (2017).

    Deviation: no linear program is solved. The hinge loss is linear between its kinks: f_i - margin for points
    above, and f_i + margin for points below. Its slope starts at minus the number of points below, and grows by
    one at each kink. So it is zero between the n_below-th kink and the next, and the threshold is the middle of that
    interval. The paper's Lemma 1 takes it to be a single point, but it need not be.
    """
    y, f = np.asarray(y), np.asarray(f, dtype=float)
    if not np.isfinite(f).all():
        raise ProblemError("thresholds need values that are finite")
    if not margin >= 0:
        raise ProblemError(f"the margin must be 0 or more, got {margin!r}")
    found = []
    for j in range(1, len(check_classes(y))):
        kinks, n_below = np.concatenate([f[y >= j] - margin, f[y < j] + margin]), int(np.sum(y < j))
        found.append(kinks.mean() if loss == "squared" else np.sort(kinks)[n_below - 1 : n_below + 1].mean())
    b = np.sort(found)
    is_tie = np.diff(b) <= TIE * np.maximum(np.abs(b[1:]), np.abs(b[:-1]))
    if is_tie.any():
        empty = ", ".join(str(j + 1) for j in np.flatnonzero(is_tie))
        warnings.warn(f"thresholds coincide: no point can get the class of code {empty}", stacklevel=2)
        for place in np.flatnonzero(is_tie):
            b[place + 1] = b[place]
    return b


def check_classes(y: NDArray) -> NDArray:
    """Return the class codes 0 .. k - 1 in `y`; raise `ProblemError` if one is missing or there is only one."""
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
    """Return the class code of each value, the number of thresholds below it; both of shape (n,)."""
    return np.searchsorted(b, f, side="left")


def cuts_of(facts: Mapping[str, Any]) -> NDArray:
    """Return the thresholds (k - 1,) of a run or a fit that says "thresholds", or a "threshold" and a "shift" of two classes."""
    return np.array(facts.get("thresholds", [facts.get("threshold", 0.0) - facts.get("shift", 0.0)]))


def class_measures(y: NDArray, f: NDArray, b: NDArray) -> dict[str, float]:
    """Return the mean absolute error and the accuracy of the classes that thresholds `b` give to values `f`."""
    error = np.abs(classify(f, b) - np.asarray(y))
    return {"mean absolute error": float(error.mean()), "accuracy": float(np.mean(error == 0))}


def mean_auc(y: NDArray, f: NDArray) -> float:
    """Return the mean over 0 < j < k of the AUC of codes from j on against codes before j, counting ties as one half.

    The class codes y and the values f have shape (n,). Sub-problems without a point on either side do not count.
    Return NaN if no sub-problem is left, or if a value is NaN.
    """
    if np.isnan(f).any():
        return float("nan")
    y = np.asarray(y).astype(int)
    # One sort serves all sub-problems, because a sample's AUC follows from the sum of its ranks.
    above = np.bincount(y)[::-1].cumsum()[::-1][1:]
    _, place, counts = np.unique(f, return_inverse=True, return_counts=True)
    ranks = (counts.cumsum() - (counts - 1) / 2.0)[place]  # ties get their mean rank
    rank_sums = np.bincount(y, weights=ranks)[::-1].cumsum()[::-1][1:]
    pairs = above * (len(y) - above)
    has_both = pairs > 0
    if not has_both.any():
        return float("nan")
    wins = rank_sums[has_both] - above[has_both] * (above[has_both] + 1) / 2.0
    return float(np.mean(wins / pairs[has_both]))
