"""Results of a study: a table of its runs, statistics of each point over the seeds, their order and differences."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.metrics import Difference, paired_difference
from dsgcore.studies.carrying_out import Outcome
from dsgcore.studies.spec_list import AnyStudy
from dsgcore.studies.store import DIVERGED, Store, StoredRun


@dataclass(frozen=True)
class Measure:
    """A number by which runs are compared: its name, and True if more is better."""

    name: str
    is_better_high: bool
    of: Callable[[StoredRun], float | None]


MEASURES = {
    "score": Measure("test score", True, lambda run: run.score),
    "objective": Measure("objective", False, lambda run: run.objective),
    "error": Measure("|f − h|²", False, lambda run: run.error),
    "seconds": Measure("seconds a run", False, lambda run: run.seconds),
}


class StudyRuns:
    """A study's runs and their results, looked up in the store without making or hashing the runs again."""

    def __init__(self, study: AnyStudy) -> None:
        self.study = study
        self.runs = list(study.runs())
        self.hashes = [run.key for run in self.runs]
        self.points = [run.values for run in self.runs[:: len(study.seeds)]]
        self.stored: dict[str, StoredRun] = {}
        self.failed: dict[int, str] = {run.place: run.refused for run in self.runs if run.spec is None}

    @property
    def n_there(self) -> int:
        """The number of runs that are finished or have failed."""
        return sum(name in self.stored for name in self.hashes) + len(self.failed)

    def refresh(self, store: Store, failed: Mapping[int, str] | None = None) -> None:
        """Look up which runs are new since the last call."""
        self.stored |= store.get({name for name in self.hashes if name is not None} - self.stored.keys())
        self.failed |= failed or {}

    def outcomes(self) -> list[Outcome]:
        """Return an outcome for each run, in the study's order; that of an unfinished run has neither result nor error."""
        return [
            Outcome(run, self.stored.get(name or ""), self.failed.get(run.place, ""))
            for run, name in zip(self.runs, self.hashes, strict=True)
        ]

    def results(self, measure: str | Measure) -> Results:
        """Return the results so far for a measure: the name of one of `MEASURES`, or another `Measure`."""
        return Results(self, MEASURES[measure] if isinstance(measure, str) else measure)


class Results:
    """One measure of a study's runs.

    Attributes
    ----------
    points : list of tuple
        The axes' values of each point.
    values : ndarray of shape (points, seeds)
        NaN if a run is not finished, has diverged or has no such number.
    n, n_diverged : ndarray of shape (points,)
        For each point, the number of seeds with a value, and of those that diverged.
    mean, error, low, high : ndarray of shape (points,)
        Over the seeds that have a value; `error` is the standard error of the mean, NaN with less than two.
    step_limit : ndarray of shape (points,)
        The step size above which a point's runs diverge, averaged over the seeds; NaN if unknown.
    """

    def __init__(self, made: StudyRuns, measure: Measure) -> None:
        self.study, self.measure, self.points = made.study, measure, made.points
        stored = [made.stored.get(name or "") for name in made.hashes]
        shape = len(self.points), len(made.study.seeds)
        has_diverged = np.array([run is not None and run.state == DIVERGED for run in stored]).reshape(shape)
        values, limits = (_numbers(stored, of).reshape(shape) for of in (measure.of, lambda run: run.step_limit))
        self.values = np.where(has_diverged, np.nan, values)
        known = np.ma.masked_invalid(self.values)
        self.n, self.n_diverged = known.count(axis=1), has_diverged.sum(axis=1)
        found = known.mean(axis=1), np.ma.sqrt(known.var(axis=1, ddof=1) / self.n), known.min(axis=1), known.max(axis=1)
        self.mean, self.error, self.low, self.high = (column.filled(np.nan) for column in found)
        self.step_limit = np.ma.masked_invalid(limits).mean(axis=1).filled(np.nan)

    def ranking(self) -> NDArray[np.intp]:
        """Return the points' indices, best first; those that diverged come last.

        A point with values at more seeds comes before one with fewer, so one lucky seed cannot lead the ranking.
        """
        worth = np.where(np.isnan(self.mean), -np.inf, self.mean if self.measure.is_better_high else -self.mean)
        return np.lexsort((np.arange(len(worth)), -worth, -self.n, self.n_diverged > 0))

    def compared(self, place: int, with_place: int) -> Difference:
        """Return the difference between two points, over the seeds that both have."""
        return paired_difference(self.values[place], self.values[with_place])


def _numbers(runs: Sequence[StoredRun | None], of: Callable[[StoredRun], float | None]) -> NDArray[np.float64]:
    """Return a number for each run, of shape (runs,); NaN if it has none, or is not finished."""
    return np.array([None if run is None else of(run) for run in runs], dtype=np.float64)


RESULTS = ("seed", "score", "objective", "seconds", "state", "sha256")


def table_of(study: AnyStudy, outcomes: Sequence[Outcome]) -> str:
    """Return one row per run, in the study's order, as CSV text. Any executor gives the same bytes.

    The columns are the axes' values, seed, score, objective, seconds, state and the spec's sha256. Numbers have the
    shortest form that reads back exactly. The state of a stored run is "finished", "plateau" or "diverged"; otherwise
    it is the error message.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*(axis.name for axis in study.axes), *RESULTS])
    for outcome in outcomes:
        run, stored = outcome.run, outcome.stored
        made: tuple[Any, ...] = None, None, None, outcome.failed
        if stored is not None:
            made = stored.score, stored.objective, stored.seconds, stored.state
        writer.writerow([*run.values, run.seed, *made, run.spec.sha256 if run.spec is not None else None])
    return file.getvalue()
