"""Curves of finished runs over iterations, evaluations or seconds, and the time until a score reaches a target."""

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
# Distance of the default target below the best point's mean score: 0.01.
BEHIND = 0.01
RUNS_AT_ONCE = 50


@dataclass(frozen=True)
class Curves:
    """One column of the histories of some runs: `t`, (iterations,), and `values`, (runs, iterations), NaN beyond a run's end."""

    t: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def middle(self) -> NDArray[np.float64]:
        """The median of the runs that reached each iteration."""
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
    """Return the first of these columns that the runs' histories have; the store must hold all of the hashes."""
    found = store.columns(hashes, columns)
    rows = [found[name] for name in hashes]
    length = max((len(row) for row in rows), default=0)
    padded = [np.pad(row, (0, length - len(row)), constant_values=np.nan) for row in rows]
    return Curves(np.arange(1.0, length + 1.0), np.reshape(padded, (len(rows), length)))


def x_values(by: str, t: NDArray, spec: Spec, runs: Sequence[StoredRun]) -> NDArray[np.float64]:
    """Return the evaluations or seconds that belong to iterations.

    An evaluation is one random feature at one point of a batch. The store holds only a run's total time. It is spread
    evenly over the iterations, and averaged over the runs.
    """
    if by == EVALUATIONS:
        return evaluations(spec, len(t))
    if by == SECONDS:
        return t * float(np.mean([run.seconds / max(run.iterations, 1) for run in runs]))
    return t.astype(float)


def evaluations(spec: Spec, n_iter: int) -> NDArray[np.float64]:
    """Return the number of random features that a run has evaluated at points of batches after each of its first iterations."""
    t, features = np.arange(1, n_iter + 1), np.full(n_iter, spec.solver.n_features)
    for change in spec.changes:
        if change.name == "n_features":
            features[t >= change.t] = int(change.value or 0)
    return np.cumsum(features, dtype=float) * spec.solver.batch_size


class ScoreCurves:
    """Cached test scores of runs by iteration."""

    def __init__(self) -> None:
        self.known: dict[str, NDArray[np.float32]] = {}

    def read(self, store: Store, runs: Iterable[str], seconds: float = np.inf) -> bool:
        """Read the scores of unknown hashes, for about so many seconds; return True if all are known now."""
        missing, start = [name for name in runs if name not in self.known], time.monotonic()
        for first in range(0, len(missing), RUNS_AT_ONCE):
            if time.monotonic() - start >= seconds:
                return False
            some = store.columns(missing[first : first + RUNS_AT_ONCE], SCORES)
            self.known |= {name: values.astype(np.float32) for name, values in some.items()}
        return True

    def seconds_to(self, run: StoredRun, target: float) -> float | None:
        """Return the seconds until the score first reached the target; None if it never did.

        The store holds only a run's total time, which is spread evenly over its iterations.
        """
        reached = np.flatnonzero(self.known.get(run.sha256, np.empty(0)) >= target)
        return None if not len(reached) else (int(reached[0]) + 1) * run.seconds / max(run.iterations, 1)


def time_to(target: float, curves: ScoreCurves) -> Measure:
    """Return the measure "seconds until the test score first reaches a target"."""
    return Measure("seconds to the score", False, lambda run: curves.seconds_to(run, target))


def usual_target(scores: Results) -> float | None:
    """Return a useful target score: a little below the best point's mean, in three digits; None without a best point."""
    best = scores.mean[scores.ranking()[0]] if len(scores.mean) else np.nan
    return round(float(best) - BEHIND, 3) if np.isfinite(best) else None
