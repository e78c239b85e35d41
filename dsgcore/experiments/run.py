"""A spec being carried out: advanced by iterations or by seconds, steered, recorded, replayed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from dsgcore._threads import single_threaded_blas
from dsgcore.data import Split, draw_pairs, hide_labels, load, load_npz
from dsgcore.diagnostics import DualCoefficients, ExactTwin, SquaredNorm
from dsgcore.expansion import Expansion
from dsgcore.experiments.history import History
from dsgcore.experiments.spec import FILE, Spec
from dsgcore.problems import UNLABELED, Problem, objective
from dsgcore.problems.base import Values
from dsgcore.schedules import Change
from dsgcore.solver import AllPoints, Carried, Iterate, Task, VisitedPoints, solve, training_points

# Up to this many training points, all of them are carried, and the objective is that of the whole sample.
MAX_POINTS_FOR_WHOLE_SAMPLE = 20_000


class StopReason(Enum):
    """Why a run has ended; the value is the sentence to show."""

    FINISHED = "All iterations are done."
    PLATEAU = "Stopped: the objective has not become lower for as long as the patience allows."
    DIVERGED = "Stopped: the values are no longer finite, so the step is too big. This is the last good state."


class Health(Enum):
    """The state of the numbers; the value is the sentence to show."""

    GOOD = "The objective is below its start."
    STARTING = "The run has not started yet."
    GROWING = "The objective is above its start: the step may be too big."
    DIVERGED = "The values are no longer finite."


@dataclass(frozen=True)
class Snapshot:
    """A run as it was after `t` iterations: the model, and the recorded row."""

    t: int
    model: Expansion
    row: dict[str, float]


def load_split(spec: Spec) -> Split:
    """Load a spec's data and hide labels as it says."""
    data, labels = spec.data, spec.problem.labels
    if data.name == FILE:
        assert data.path is not None  # the spec was checked
        is_binary = labels != "ordinal"
        dataset = load_npz(data.path, positive=data.positive, is_binary=is_binary, target=data.target)
    else:
        options = {name: getattr(data, name) for name in ("n", "noise", "imbalance")}
        dataset = load(data.name, seed=spec.seed, **{k: v for k, v in options.items() if v is not None})
    hide = draw_pairs if labels == "pairs" else hide_labels
    return hide(dataset, data.n_labeled, data.test_share, spec.seed, data.stratified, scaling=data.scaling)


class Run:
    """One run of a spec.

    Parameters
    ----------
    spec : Spec
    split : Split, optional
        The data, where the caller has loaded them already (as `load_split` does for this spec).

    Attributes
    ----------
    spec : Spec
        With every change made during the run: a run of this spec from the start gives the same numbers.
    history : History
        One row an iteration: t, step_size, lam, n_features, objective, its terms, ridge, the scores, and the error of
        the random features.
    clock : list of float
        Seconds spent when each row was recorded (not part of the history, which is reproducible).
    model : Expansion
    stop_reason : StopReason or None
    """

    def __init__(self, spec: Spec, split: Split | None = None) -> None:
        self.spec = spec
        self.split = split if split is not None else load_split(spec)
        self.history = History()
        self.clock: list[float] = []
        self.stop_reason: StopReason | None = None
        self._best = (np.inf, 0)
        self._set_up()

    def _set_up(self) -> None:
        spec, split = self.spec, self.split
        dtype = np.dtype(spec.solver.dtype)
        X = np.ascontiguousarray(split.X_train, dtype=dtype)
        problem = spec.problem.bind(split.y_train)
        self.task = Task(
            problem=problem,
            kernel=spec.kernel,
            X=X,
            rows=problem.rows(split.y_train),
            plan=spec.plan(),
            batch_size=spec.solver.batch_size,
            seed=spec.seed,
            dtype=dtype,
        )
        self.model = self.task.new_model()
        self.labeled_rows = np.flatnonzero(split.y_train != UNLABELED)
        n_probes = spec.diagnostics.n_probes
        self.probes = Carried(split.X_test[:n_probes], self.model, with_variance=True)
        self.rest_of_test = Carried(split.X_test[n_probes:], self.model)
        self.twin = ExactTwin(spec.kernel, self.probes.X)
        self.dual = DualCoefficients(len(X))
        self.norm = SquaredNorm()
        self._training = self._new_training()
        is_carried = isinstance(self._training, AllPoints)
        self.labeled = None if is_carried else Carried(X[self.labeled_rows], self.model)
        self._iterates = self._solve()

    def _new_training(self) -> AllPoints | VisitedPoints:
        if len(self.task.X) <= MAX_POINTS_FOR_WHOLE_SAMPLE:
            return AllPoints(self.task.X, self.model)
        return training_points(self.task, self.model)

    def _solve(self) -> Iterator[Iterate]:
        carried = [self.probes, self.rest_of_test, self.labeled]
        used = [points for points in carried if points is not None and len(points.X)]
        return solve(self.task, self.model, training=self._training, carried=used)

    @property
    def problem(self) -> Problem:
        """The setting, bound to the training labels."""
        return self.task.problem

    @property
    def t(self) -> int:
        """Iterations made so far."""
        return len(self.history)

    @property
    def n_iter(self) -> int:
        """Iterations that the run is to make."""
        return self.task.plan.n_iter

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen."""
        return self.stop_reason is not None

    @property
    def training_values(self) -> NDArray | None:
        """F at all training points, of shape (n,); None where there are too many of them to carry."""
        return self._training.values if isinstance(self._training, AllPoints) else None

    @property
    def test_values(self) -> NDArray:
        """F at all test points, of shape (n_test,)."""
        return np.concatenate([self.probes.values, self.rest_of_test.values])

    @property
    def labeled_values(self) -> NDArray:
        """F at the labeled training points, of shape (n_labeled,)."""
        if self.labeled is not None:
            return self.labeled.values
        assert self.training_values is not None
        return self.training_values[self.labeled_rows]

    def advance(self, iterations: int | None = None, seconds: float | None = None) -> int:
        """Make up to this many iterations, or as many as fit in so many seconds (at least one); return how many.

        Parameters
        ----------
        iterations : int, optional
            Default: all that are left.
        seconds : float, optional
            Default: no limit.
        """
        start, before = time.perf_counter(), self.clock[-1] if self.clock else 0.0
        made, wanted = 0, self.n_iter if iterations is None else iterations
        while made < wanted and not self.is_finished:
            if not self._advance_once():
                break
            made += 1
            elapsed = time.perf_counter() - start
            self.clock.append(before + elapsed)
            if seconds is not None and elapsed >= seconds:
                break
        return made

    def _advance_once(self) -> bool:
        # A diverging run is told by its values. One limit on BLAS for all that an iteration calls: setting it takes time.
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            iterate = next(self._iterates, None)
            if iterate is None:
                self.stop_reason = StopReason.FINISHED if self.t >= self.n_iter else StopReason.DIVERGED
                return False
            row = self._measure(iterate)
        if not np.isfinite(row["objective"]):
            self.model = self.model.prefix(self.t)
            self.stop_reason = StopReason.DIVERGED
            return False
        self.history.append(row)
        self._check_stop(row["objective"])
        return True

    def _measure(self, iterate: Iterate) -> dict[str, float]:
        setting = iterate.setting
        step, decay = setting.step, setting.decay
        f = np.concatenate(list(iterate.f.values()))
        self.norm.advance(f, iterate.weights, iterate.block, step, decay)
        self.dual.advance(np.concatenate(list(iterate.batch.values())), iterate.weights, step, decay)
        values = self._values_per_source()
        terms = self.problem.risk_terms(values) if values else dict(iterate.terms)
        ridge = 0.5 * setting.lam * self.norm.value
        return {
            "t": iterate.t,
            "step_size": step,
            "lam": setting.lam,
            "n_features": setting.n_features,
            "objective": objective(terms) + ridge,
            "objective_batch": objective(iterate.terms) + ridge,
            **{f"term: {name}": value for name, value in terms.items()},
            "term: ridge": ridge,
            **self._scores(),
            **self._feature_error(iterate),
        }

    def _values_per_source(self) -> Values:
        if self.training_values is None:
            return {}
        return {source: self.training_values[rows] for source, rows in self.task.rows.items()}

    def _scores(self) -> dict[str, float]:
        split, score = self.split, self.problem.score
        scores = {
            "score_test": score(split.y_test, self.test_values),
            "score_labeled": score(split.y_hidden[self.labeled_rows], self.labeled_values),
        }
        if self.training_values is not None:
            rows = self.task.rows["unlabeled"]
            scores["score_unlabeled"] = score(split.y_hidden[rows], self.training_values[rows])
        return scores

    def _feature_error(self, iterate: Iterate) -> dict[str, float]:
        if not len(self.probes.X):
            return {}
        setting = iterate.setting
        self.twin.advance(iterate.points, iterate.weights, setting.step, setting.decay)
        assert self.probes.variance is not None
        error = self.twin.compare(self.probes.values, self.probes.variance)
        return {
            "error_mean": error.mean,
            "error_max": error.largest,
            "h_squared": error.scale,
            "bound": error.bound,
            "band": error.band,
        }

    def _check_stop(self, value: float) -> None:
        best, best_t = self._best
        stop = self.spec.stop
        if value < best - stop.tolerance * abs(best) or not np.isfinite(best):
            self._best = (value, self.t)
        elif stop.patience and self.t - best_t >= stop.patience:
            self.stop_reason = StopReason.PLATEAU
        if self.t >= self.n_iter and self.stop_reason is None:
            self.stop_reason = StopReason.FINISHED

    def change(self, name: str, value: float) -> None:
        """Give a parameter another value from the next iteration on; the change becomes part of the spec.

        Parameters
        ----------
        name : {"step_size", "n_features", "lam"}
        value : float

        Raises
        ------
        ParameterError
            If the name or the value is not allowed.
        """
        self.spec = self.spec.with_change(Change(self.t + 1, name, value))
        self.task.plan.changes[:] = self.spec.changes

    def extend(self, n_iter: int) -> None:
        """Let the run go on to `n_iter` iterations; values that were no longer carried are computed again once.

        Schedules that depend on the length T of the run use the new length from here on, so the run is then not that
        of its spec from the start.
        """
        if n_iter <= self.n_iter:
            raise ValueError(f"n_iter must be more than the run's {self.n_iter}, got {n_iter}")
        self.spec = replace(self.spec, solver=replace(self.spec.solver, n_iter=n_iter))
        self.task = replace(self.task, plan=self.task.plan.with_n_iter(n_iter))
        if isinstance(self._training, VisitedPoints):
            self._training = training_points(self.task, self.model)
        self._iterates = self._solve()
        self.stop_reason = None

    def snapshot(self, t: int) -> Snapshot:
        """Return the model and the recorded row after `t` iterations, 1 <= t <= the iterations made."""
        if not 1 <= t <= self.t:
            raise ValueError(f"t must be between 1 and {self.t}, the iterations made so far, got {t}")
        return Snapshot(t, self.model.prefix(t), self.history.row(t - 1))

    @classmethod
    def replay(cls, spec: Spec, t: int) -> Run:
        """Make a run of `spec` anew, up to iteration `t`: the same numbers as when it was made first."""
        run = cls(spec)
        run.advance(t)
        return run

    def exact_values(self, Z: NDArray) -> NDArray:
        """Return the exact-kernel twin h at the points `Z` (p, d) at the present iteration: O(n p) kernel evaluations."""
        Z = np.ascontiguousarray(Z, dtype=self.task.dtype)
        out = np.zeros(len(Z), dtype=self.task.dtype)
        used = np.flatnonzero(self.dual.values)
        weights = self.dual.values[used].astype(self.task.dtype)
        self.spec.kernel.sums(self.task.X[used], weights, Z, 0.0, out)
        return out

    @property
    def health(self) -> Health:
        """The state of the numbers."""
        if self.stop_reason is StopReason.DIVERGED:
            return Health.DIVERGED
        if not len(self.history):
            return Health.STARTING
        # f starts at 0, where every pair costs 1 and the ridge nothing: that is the objective's start.
        start = self.start_objective()
        return Health.GOOD if self.history.last()["objective"] <= start else Health.GROWING

    def start_objective(self) -> float:
        """Return the objective at f = 0."""
        zeros = {source: np.zeros(2) for source in self.task.rows}
        return objective(self.problem.risk_terms(zeros))
