"""Whether a run scores better than its twin, or whether the test points are too few to tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.experiments.run import Health, Run

# Of a normal distribution, 95 % lie within so many standard deviations.
Z = 1.959964
# Below so many test points, of an accuracy, or on one side of an AUC, the normal interval is not to be trusted.
FEWEST_POINTS, FEWEST_ON_A_SIDE = 30, 10


class Verdict(Enum):
    """What the test points say of a run and its twin; the value is what to write before the twin's name."""

    BETTER = "better than"
    WORSE = "worse than"
    TIE = "tie with"


@dataclass(frozen=True)
class Comparison:
    """A run's test score less its twin's, and how far the test points allow to trust it.

    Attributes
    ----------
    difference : float
    half_width : float
        Half of the 95 % interval of the difference; NaN where none can be given.
    reason : str
        Why there is no verdict, a sentence; empty where there is one.
    """

    difference: float
    half_width: float = math.nan
    reason: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict: a tie where the interval holds 0, none where there is a reason against any."""
        if self.reason:
            return None
        if abs(self.difference) <= self.half_width:
            return Verdict.TIE
        return Verdict.BETTER if self.difference > 0 else Verdict.WORSE


def compare(run: Run, twin: Run) -> Comparison | None:
    """Compare a run with its twin at the same iteration; None where either has no score there.

    Notes
    -----
    The interval is that of other test points. That of other labels, batches and features needs other seeds.
    """
    if run.t != twin.t or not run.t:
        return None
    difference = run.history.last()["score_test"] - twin.history.last()["score_test"]
    if not math.isfinite(difference):
        return None
    if Health.DIVERGED in (run.health, twin.health):
        return Comparison(difference, reason="No verdict on a run that has diverged.")
    if Health.GROWING in (run.health, twin.health):
        return Comparison(difference, reason="No verdict while an objective is above its start.")
    half_width = _half_width(run.problem, run.split.y_test, run.test_values + run.shift, twin.test_values + twin.shift)
    few = "" if math.isfinite(half_width) else "Too few test points for a verdict."
    return Comparison(difference, half_width, few)


def _half_width(problem: Any, y: NDArray, f: NDArray, g: NDArray) -> float:
    """Return half of the interval by the setting's kind of score: right or wrong point by point, else an AUC."""
    if problem.decision in ("sign", "highest"):
        return accuracy_half_width(problem.hits(y, f), problem.hits(y, g))
    return auc_half_width(y, f, g)


def accuracy_half_width(hits: NDArray, others: NDArray) -> float:
    """Return half of the 95 % interval of the difference of two accuracies on the same points.

    Parameters
    ----------
    hits, others : ndarray of bool, of shape (n,)
        Which points the one and the other have right.

    Returns
    -------
    float
        NaN for fewer than 30 points.

    Notes
    -----
    Only points that one has right and the other wrong count, as in McNemar's test. Source: Bonett and Price 2012, Adjusted
    Wald confidence interval for a difference of binomial proportions based on paired data: one point is added to either
    kind, without which the interval has no width where there are none. Its centre is taken to be the difference itself.
    """
    n = len(hits)
    if n < FEWEST_POINTS:
        return math.nan
    won = (np.sum(hits & ~others) + 1) / (n + 2)
    lost = (np.sum(~hits & others) + 1) / (n + 2)
    return Z * math.sqrt((won + lost - (won - lost) ** 2) / (n + 2))


def auc_half_width(y: NDArray, f: NDArray, g: NDArray) -> float:
    """Return half of the 95 % interval of the difference of two mean AUCs on the same points.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class codes 0 .. k - 1; of two classes the mean AUC is the AUC.
    f, g : ndarray of shape (n,)
        The values of the one and of the other.

    Returns
    -------
    float
        NaN where a class has a single point, or a sub-problem fewer than ten on one side.

    Notes
    -----
    Source: DeLong, DeLong and Clarke-Pearson 1988; with more than two classes, the same for the sum of the sub-problems'
    U-statistics: the variance within each class of what a point contributes, added up over the points.
    """
    y = np.asarray(y).astype(int)
    counts = np.bincount(y)
    below = counts.cumsum()[:-1]
    if len(counts) < 2 or min(below.min(), (len(y) - below).min()) < FEWEST_ON_A_SIDE or (counts == 1).any():
        return math.nan
    gained = contributions(y, f) - contributions(y, g)
    variances = [n * gained[y == c].var(ddof=1) for c, n in enumerate(counts) if n]
    return Z * math.sqrt(sum(variances))


def contributions(y: NDArray, f: NDArray) -> NDArray:
    """Return what each point contributes to the mean AUC, of shape (n,): each pair in order counts for both its points."""
    counts = np.bincount(y)
    n_below = counts.cumsum()[:-1]
    weight = np.concatenate([[0.0], 1.0 / (n_below * (len(y) - n_below) * len(n_below))])
    # A pair of classes a > b is in order in the sub-problems b < j <= a: the sum of their weights.
    until = weight.cumsum()
    wins = np.zeros(len(y))
    for c in np.flatnonzero(counts):
        ordered = np.sort(f[y == c])
        lower = (ordered.searchsorted(f, "left") + ordered.searchsorted(f, "right")) / 2.0
        is_above = y > c
        wins += np.where(is_above, lower, counts[c] - lower) * np.abs(until[y] - until[c])
    return wins
