"""The curves of runs that are there, over iterations, evaluations or seconds; and how soon a score gets where it is wanted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.experiments import Spec
from dsgcore.studies.results import Measure, Results
from dsgcore.studies.store import Store, StoredRun

ITERATIONS, EVALUATIONS, SECONDS = "iterations", "evaluations", "seconds"
BY = (ITERATIONS, EVALUATIONS, SECONDS)
# The test score of the model that a run gives: of the average, if its spec asks for one.
SCORES = ("score_average", "score_test")
# So far below the best point's mean score the usual target lies: one point of a hundred.
BEHIND = 0.01
RUNS_AT_ONCE = 50


@dataclass(frozen=True)
class Curves:
    """A column of the histories of some runs: `t`, (iterations,), and `values`, (runs, iterations), NaN beyond a run's end."""

    t: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def middle(self) -> NDArray[np.float64]:
        """The median of the runs that got so far."""
        return np.ma.median(np.ma.masked_invalid(self.values), axis=0).filled(np.nan)

    @property
    def low(self) -> NDArray[np.float64]:
        """The lowest of the runs."""
        return np.nanmin(np.where(np.isnan(self.values), np.inf, self.values), axis=0)

    @property
    def high(self) -> NDArray[np.float64]:
        """The highest of the runs."""
        return np.nanmax(np.where(np.isnan(self.values), -np.inf, self.values), axis=0)


def curves_of(store: Store, hashes: Sequence[str], columns: Sequence[str] = SCORES) -> Curves:
    """Return the first of these columns that the histories of runs have; all of the hashes must be there."""
    found = store.columns(hashes, columns)
    rows = [found[name] for name in hashes]
    length = max((len(row) for row in rows), default=0)
    padded = [np.pad(row, (0, length - len(row)), constant_values=np.nan) for row in rows]
    return Curves(np.arange(1.0, length + 1.0), np.reshape(padded, (len(rows), length)))


def x_values(by: str, t: NDArray, spec: Spec, runs: Sequence[StoredRun]) -> NDArray[np.float64]:
    """Return what iterations are in evaluations or seconds.

    An evaluation is a random feature at a point of a batch. Of the time only a run's whole is kept: it is spread evenly over
    its iterations, and the mean of the runs is taken.
    """
    if by == EVALUATIONS:
        return evaluations(spec, len(t))
    if by == SECONDS:
        return t * float(np.mean([run.seconds / max(run.iterations, 1) for run in runs]))
    return t.astype(float)


def evaluations(spec: Spec, n_iter: int) -> NDArray[np.float64]:
    """Return how many random features at points of batches a run has evaluated after each of its first iterations."""
    t, features = np.arange(1, n_iter + 1), np.full(n_iter, spec.solver.n_features)
    for change in spec.changes:
        if change.name == "n_features":
            features[t >= change.t] = int(change.value or 0)
    return np.cumsum(features, dtype=float) * spec.solver.batch_size


class ScoreCurves:
    """The test scores of runs by iteration, read once each."""

    def __init__(self) -> None:
        self.known: dict[str, NDArray[np.float32]] = {}

    def read(self, store: Store, runs: Iterable[str], seconds: float = np.inf) -> bool:
        """Read those, by their hashes, that are not known, for about so many seconds; return whether all are known now."""
        missing, start = [name for name in runs if name not in self.known], time.monotonic()
        for first in range(0, len(missing), RUNS_AT_ONCE):
            if time.monotonic() - start >= seconds:
                return False
            some = store.columns(missing[first : first + RUNS_AT_ONCE], SCORES)
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
