"""The curves of runs that are there: one row a run, over iterations, evaluations or seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.experiments.spec import Spec
from dsgcore.studies.store import Store, StoredRun

ITERATIONS, EVALUATIONS, SECONDS = "iterations", "evaluations", "seconds"
BY = (ITERATIONS, EVALUATIONS, SECONDS)


@dataclass(frozen=True)
class Curves:
    """A column of the histories of some runs.

    Attributes
    ----------
    t : ndarray of shape (iterations,)
    values : ndarray of shape (runs, iterations)
        NaN beyond a run's end.
    """

    t: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def middle(self) -> NDArray[np.float64]:
        """The median of the runs that got so far."""
        return np.array([_median(column) for column in self.values.T])

    @property
    def low(self) -> NDArray[np.float64]:
        """The lowest of the runs."""
        return np.nanmin(np.where(np.isnan(self.values), np.inf, self.values), axis=0)

    @property
    def high(self) -> NDArray[np.float64]:
        """The highest of the runs."""
        return np.nanmax(np.where(np.isnan(self.values), -np.inf, self.values), axis=0)


def _median(column: NDArray) -> float:
    there = column[np.isfinite(column)]
    return float(np.median(there)) if len(there) else np.nan


def curves_of(store: Store, hashes: Sequence[str], column: str = "score_test") -> Curves:
    """Return a column of the histories of runs; all of the hashes must be there."""
    rows = [store.history(name).get(column, np.empty(0)) for name in hashes]
    length = max((len(row) for row in rows), default=0)
    values = np.full((len(rows), length), np.nan)
    for place, row in zip(values, rows, strict=True):
        place[: len(row)] = row
    return Curves(np.arange(1.0, length + 1.0), values)


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
