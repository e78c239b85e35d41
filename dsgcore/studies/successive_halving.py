"""Successive halving of a study: the seeds come in rounds, each with the best third of the points of the round before."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import fmean

from dsgcore.studies.spec_list import AnyStudy
from dsgcore.studies.store import DIVERGED, StoredRun
from dsgcore.studies.study import StudyRun
from dsgcore.tuning.halving import KEPT, best_part

# A third of the points with three times the seeds: rounds of about equal time.
TIMES = round(1 / KEPT)
LEFT_OUT = "left out: its point was not among the best third of a round"


def rounds(
    study: AnyStudy, runs: list[StudyRun], stored: Callable[[StudyRun], StoredRun | None]
) -> Iterator[list[StudyRun]]:
    """Yield the runs of one round after another; all runs at once if the study does not ask for the best first.

    Parameters
    ----------
    runs : list of StudyRun
        All runs of the study, in its order.
    stored : callable
        Returns the result of a run of an earlier round; None if it has failed.
    """
    if not study.is_best_first:
        yield runs
        return
    n, done, upto = len(study.seeds), 0, 1
    points = [runs[first : first + n] for first in range(0, len(runs), n)]
    while done < n:
        yield [run for point in points for run in point[done:upto]]
        points = best_part(sorted(points, key=lambda point: -_worth(map(stored, point[:upto]))))
        done, upto = upto, min(n, TIMES * upto)


def _worth(runs: Iterator[StoredRun | None]) -> float:
    """Return the mean test score of a point's runs; minus infinity if one has diverged, or has no score."""
    scores = [None if run is None or run.state == DIVERGED else run.score for run in runs]
    known = [score for score in scores if score is not None]
    return fmean(known) if len(known) == len(scores) else -math.inf
