"""Results of a study: a table of its runs, statistics of each point over the seeds, their differences, curves, Optuna trials."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.metrics import Difference, paired_difference
from dsgcore.core.parameters import quoted
from dsgcore.diagnostics.convergence import Convergence
from dsgcore.experiments import Spec
from dsgcore.studies.carrying_out import Outcome
from dsgcore.studies.store import DIVERGED, Store, StoredRun
from dsgcore.studies.study import Axis, Study, StudyError, StudyRun

if TYPE_CHECKING:
    from optuna.storages import BaseStorage


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

    def __init__(self, study: Study) -> None:
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
        """Look up which runs are new since the last call; a failed one may have been made elsewhere since."""
        self.stored |= store.get({name for name in self.hashes if name is not None} - self.stored.keys())
        all_failed = self.failed | dict(failed or {})
        self.failed = {place: why for place, why in all_failed.items() if self.hashes[place] not in self.stored}

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
        values, limits = (
            np.array([None if run is None else of(run) for run in stored], dtype=np.float64).reshape(shape)
            for of in (measure.of, lambda run: run.step_limit)
        )
        self.values = np.where(has_diverged, np.nan, values)
        known = np.ma.masked_invalid(self.values)
        self.n, self.n_diverged = known.count(axis=1), has_diverged.sum(axis=1)
        found = known.mean(axis=1), np.ma.sqrt(known.var(axis=1, ddof=1) / self.n), known.min(axis=1), known.max(axis=1)
        self.mean, self.error, self.low, self.high = (column.filled(np.nan) for column in found)
        self.step_limit = np.ma.masked_invalid(limits).mean(axis=1).filled(np.nan)

    def __repr__(self) -> str:
        done = f"{int(self.n.sum())} of {self.values.size} runs"
        best = self.ranking()[0] if self.n.any() else None
        what = "" if best is None else f", best {self.mean[best]:.4g} at {self.points[best]}"
        return f"Results({self.measure.name}: {done}{what})"

    def ranking(self) -> NDArray[np.intp]:
        """Return the points' indices, best first; those that diverged come last.

        A point with values at more seeds comes before one with fewer, so one lucky seed cannot lead the ranking.
        """
        worth = np.where(np.isnan(self.mean), -np.inf, self.mean if self.measure.is_better_high else -self.mean)
        return np.lexsort((np.arange(len(worth)), -worth, -self.n, self.n_diverged > 0))

    @property
    def are_equal(self) -> bool:
        """True if several points have a mean, and all the same one, so that none is the best."""
        known = self.mean[~np.isnan(self.mean)]
        return len(known) > 1 and bool((known == known[0]).all())

    def compared(self, place: int, with_place: int) -> Difference:
        """Return the difference between two points, over the seeds that both have."""
        return paired_difference(self.values[place], self.values[with_place])


RESULTS = ("seed", "score", "objective", "seconds", "state", "sha256")


def table_of(study: Study, outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return one row per run, in the study's order. `csv_of` it has the same bytes, wherever the runs were made.

    The columns are the axes' values, seed, score, objective, seconds, state and the spec's sha256. The state of a stored run
    is "finished", "settled", "plateau" or "diverged"; otherwise it is the error message.
    """
    rows = []
    for outcome in outcomes:
        run, stored = outcome.run, outcome.stored
        made: list[Any] = [None, None, None, outcome.failed]
        if stored is not None:
            made = [stored.score, stored.objective, stored.seconds, stored.state]
        rows.append([*run.values, run.seed, *made, run.spec.sha256 if run.spec is not None else None])
    names = [*(["spec"] if study.others else []), *(axis.name for axis in study.axes), *RESULTS]
    return pd.DataFrame(rows, columns=names, dtype=object).infer_objects()


def csv_of(table: pd.DataFrame) -> str:
    """Return a table as CSV text. Numbers have the shortest form that reads back exactly."""
    return table.to_csv(index=False, lineterminator="\n")


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


def time_to(target: float, curves: ScoreCurves) -> Measure:
    """Return the measure "seconds until the test score first reaches a target", None if it never does.

    The store holds only a run's total time, which is spread evenly over its iterations.
    """

    def seconds(run: StoredRun) -> float | None:
        reached = np.flatnonzero(curves.known.get(run.sha256, np.empty(0)) >= target)
        return None if not len(reached) else (int(reached[0]) + 1) * run.seconds / max(run.iterations, 1)

    return Measure("seconds to the score", False, seconds)


def usual_target(scores: Results) -> float | None:
    """Return a useful target score: a little below the best point's mean, in three digits; None without a best point."""
    best = scores.mean[scores.ranking()[0]] if len(scores.mean) else np.nan
    return round(float(best) - BEHIND, 3) if np.isfinite(best) else None


def convergences(study: Study, keys: Sequence[str | None], store: Store) -> list[Convergence | None]:
    """Return each spec's finished trajectories, by the keys of all runs in their order; None if there are none."""
    there, n = store.get(key for key in keys if key is not None), len(study.seeds)
    found: list[Convergence | None] = []
    for number, spec in enumerate(study.specs):
        own = zip(study.seeds, keys[number * n : (number + 1) * n], strict=True)
        trajectories = {seed: store.history(key) for seed, key in own if key in there and key is not None}
        found.append(Convergence.of(spec, trajectories) if trajectories else None)
    return found


# --- runs as trials in an Optuna storage, which optuna-dashboard shows


# The attribute of a trial by which a run is found again.
KEY = "sha256"
DIGITS_OF_NAME = 12
# Trials that are written while other sweeps that use the store wait.
AT_ONCE = 500
MISSING = "trials need the package optuna: install dsg-lab[optuna]"


def optuna_name(study: Study) -> str:
    """Return the name of a study in an Optuna storage. More seeds or another budget do not change it."""
    plain = {name: part for name, part in study.to_dict().items() if name not in ("seeds", "budget")}
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
    return f"dsg-lab {study.spec.problem.name} {digest[:DIGITS_OF_NAME]}"


def to_optuna(study: Study, store: Store, storage: str | BaseStorage) -> int:
    """Write a study's finished runs as trials of an Optuna storage, each once; return the number of new ones.

    A trial has the axes' values as parameters and the test score as its value, which Optuna maximises. Its user
    attributes are the seed, the objective, the seconds, the state and the digest of the spec. A run that has diverged is
    a trial that failed.

    Parameters
    ----------
    study : Study
    store : Store
        The finished runs. Sweeps that share a store write to an Optuna storage one after another.
    storage : str or optuna.storages.BaseStorage
        A URL, such as ``"sqlite:///trials.db"``, or a storage object. The study is created there if necessary.

    Raises
    ------
    StudyError
        If Optuna is not installed, or if the storage cannot be used.
    """
    try:
        import optuna
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise StudyError(MISSING) from None
    runs = {run.key: run for run in study.runs() if run.key is not None}
    stored, opened, number = list(store.get(runs).values()), None, 0
    try:
        for first in range(0, max(len(stored), 1), AT_ONCE):
            with store.opened() as connection:
                connection.execute("BEGIN IMMEDIATE")  # others wait here
                opened = opened or (optuna.storages.RDBStorage(storage) if isinstance(storage, str) else storage)
                trials = optuna.create_study(
                    study_name=optuna_name(study), storage=opened, direction="maximize", load_if_exists=True
                )
                known = {trial.user_attrs.get(KEY) for trial in trials.get_trials(deepcopy=False)}
                new = [one for one in stored[first : first + AT_ONCE] if one.sha256 not in known]
                trials.add_trials([_trial(study.axes, runs[one.sha256], one) for one in new])
                number += len(new)
    except (SQLAlchemyError, optuna.exceptions.OptunaError, ImportError) as error:
        reason = str(error).splitlines()[0]
    except ValueError:  # a port that is no number; the text may hold a part of the password
        reason = "it is not a valid URL"
    else:
        return number
    finally:
        if isinstance(opened, optuna.storages.RDBStorage) and opened is not storage:
            opened.remove_session()
            opened.engine.dispose()
    shown = _without_password(storage) if isinstance(storage, str) else storage
    raise StudyError(f"the Optuna storage {quoted(shown)} cannot be used: {_without_password(reason)}")


def _trial(axes: tuple[Axis, ...], run: StudyRun, stored: StoredRun) -> Any:
    from optuna.trial import TrialState, create_trial

    has_failed = stored.state == DIVERGED or stored.score is None
    attributes = {name: getattr(stored, name) for name in ("objective", "seconds", "state", KEY)}
    trial = create_trial(
        state=TrialState.FAIL if has_failed else TrialState.COMPLETE,
        value=None if has_failed else stored.score,
        params={axis.name: value for axis, value in zip(axes, run.values, strict=True)},
        distributions={axis.name: _distribution(axis) for axis in axes},
        user_attrs={"seed": run.seed, **attributes},
    )
    trial.datetime_start = trial.datetime_complete - timedelta(seconds=stored.seconds)
    return trial


def _distribution(axis: Axis) -> Any:
    """Return the distribution of an axis: a range of numbers, or a choice."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    values = axis.values
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        return CategoricalDistribution(tuple(dict.fromkeys(values)))
    kind = IntDistribution if all(isinstance(value, int) for value in values) else FloatDistribution
    return kind(min(values), max(values), log=axis.said.get("scale") == "log" and min(values) > 0)


def _without_password(text: str) -> str:
    text = re.sub(r"(://[^:/\s]*):\S*@", r"\1:***@", text)
    return re.sub(r"(?i)(\w*(?:pass|pwd|secret|token)\w*=)[^&\s'\"]*", r"\1***", text)
