"""Whether a run scores better than its twin, or whether the test points are too few to tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

from numpy.typing import NDArray

from dsgcore.core.intervals import accuracy_half_width, auc_half_width
from dsgcore.experiments.run import Health, Run


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
    if problem.is_scored_by_hits:
        return accuracy_half_width(problem.hits(y, f), problem.hits(y, g))
    return auc_half_width(y, f, g)
