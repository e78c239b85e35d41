"""How soon a run's test score gets where it is wanted: from the histories that are kept."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dsgcore.studies.results import Measure, Results
from dsgcore.studies.store import Store, StoredRun

COLUMN = "score_test"
# So far below the best point's mean score the usual target lies: one point of a hundred.
BEHIND = 0.01
RUNS_AT_ONCE = 50


class ScoreCurves:
    """The test scores of runs by iteration, read once each."""

    def __init__(self) -> None:
        self.known: dict[str, NDArray[np.float32]] = {}

    def read(self, store: Store, runs: Iterable[str], seconds: float = np.inf) -> bool:
        """Read those that are not known, for about so many seconds; return whether all are known now.

        Parameters
        ----------
        store : Store
        runs : iterable of str
            The hashes of runs that are there.
        seconds : float
        """
        missing, start = [name for name in runs if name not in self.known], time.monotonic()
        for first in range(0, len(missing), RUNS_AT_ONCE):
            if time.monotonic() - start >= seconds:
                return False
            some = store.columns(missing[first : first + RUNS_AT_ONCE], COLUMN)
            self.known |= {name: values.astype(np.float32) for name, values in some.items()}
        return True

    def seconds_to(self, run: StoredRun, target: float) -> float | None:
        """Return the seconds until the score was first at the target; None where it never was.

        Of the time only a run's whole is kept: it is spread evenly over its iterations.
        """
        reached = np.flatnonzero(self.known.get(run.sha256, np.empty(0)) >= target)
        return None if not len(reached) else (int(reached[0]) + 1) * run.seconds / max(run.iterations, 1)


def time_to(target: float, curves: ScoreCurves) -> Measure:
    """Return the measure: seconds until the test score is first at a target."""
    return Measure("seconds to the score", False, lambda run: curves.seconds_to(run, target))


def usual_target(scores: Results) -> float | None:
    """Return a score that is worth waiting for: a little below the best point's mean, in three digits; None without one."""
    best = scores.mean[scores.ranking()[0]] if len(scores.mean) else np.nan
    return round(float(best) - BEHIND, 3) if np.isfinite(best) else None
