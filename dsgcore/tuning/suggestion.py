"""Result of a search for parameters: the candidates with their scores, and their gains over the present values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.metrics import Difference, accuracy_half_width, paired_difference


@dataclass(frozen=True, eq=False)
class Tried:
    """Candidate with its scores.

    Attributes
    ----------
    parameters : mapping
        Parameters that differ from the subject's own values. Empty for those values.
    on_folds : tuple of ndarray
        Scores on the folds of its last round, as `Subject.score` returns them.
    n_iter : int
        Number of iterations in that round.
    """

    parameters: Mapping[str, Any]
    on_folds: tuple[NDArray, ...] = field(repr=False)
    n_iter: int

    @property
    def scores(self) -> tuple[float, ...]:
        """The score on each of the folds."""
        return tuple(float(np.mean(of_fold)) for of_fold in self.on_folds)

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores)) if self.on_folds else float("-inf")


@dataclass(frozen=True)
class Suggestion:
    """Result of `suggest`.

    Attributes
    ----------
    parameters : dict
        Parameters to set on the estimator. Empty if no candidate was clearly better, with the gain's `interval` above
        zero.
    gain : Difference
        Gain in the mean score over the folds, compared with the estimator's own parameters. Its interval is over
        held-out points for an accuracy if there are enough of them, otherwise over folds. NaN if no other candidate
        reached the same round.
    score : float
        The mean score over the folds.
    tried : tuple of Tried
        All candidates, beginning with those that reached the last round.
    seconds : float
        Duration of the search, in seconds.
    reason : str
        Reason why the estimator's own values have no score, if they have none.
    gains : tuple of Difference
        For each candidate of `tried`, its gain over the own values in its last round.
    """

    parameters: dict[str, Any]
    gain: Difference
    score: float
    tried: tuple[Tried, ...] = field(repr=False)
    seconds: float
    reason: str = ""
    gains: tuple[Difference, ...] = field(default=(), repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """All candidates in the order of `tried`, one row each, with their parameters.

        `gain` is the difference to the own values, on the same folds and with the same iterations, and `low` to `high`
        its 95 % interval. An empty parameter is the own value. Set any row's parameters to use it anyway.
        """
        measured = [
            {"score": one.mean, "gain": own.mean, "low": own.low, "high": own.high, "n": own.n, "unit": own.unit}
            for one, own in zip(self.tried, self.gains, strict=True)
        ]
        rows = [row | {"n_iter": one.n_iter, **one.parameters} for row, one in zip(measured, self.tried, strict=True)]
        return pd.DataFrame(rows)

    def sentence(self) -> str:
        """Return a sentence with the result and its uncertainty."""
        n = len(self.tried)
        if self.reason:
            better = " Other values have a score." if self.parameters else ""
            return f"The current values have no score on the held-out folds: {self.reason}.{better}"
        if not self.parameters:
            return f"None of {n} candidates was clearly better than the current values, which stay."
        gain = self.gain
        return (
            f"The best of {n} candidates scores {self.score:.4f} on held-out folds: {gain.mean:+.4f} ± {gain.half_width:.4f} "
            f"from the current values (95 % over {gain.n} {gain.unit}; the best of many looks better than it is)."
        )


def gain_of(one: Tried, own: Tried) -> Difference:
    """Return the gain of one candidate over another; NaN if either has no score."""
    if not (math.isfinite(one.mean) and math.isfinite(own.mean)):
        return Difference(n=len(own.on_folds), unit="folds")
    over_folds = paired_difference(one.scores, own.scores, unit="folds")
    if all(of_fold.dtype == bool for of_fold in (*one.on_folds, *own.on_folds)):
        hits, others = np.concatenate(one.on_folds), np.concatenate(own.on_folds)
        if math.isfinite(half_width := accuracy_half_width(hits, others)):
            return Difference.around(over_folds.mean, half_width, len(hits), "held-out points")
    return over_folds
