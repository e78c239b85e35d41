"""A spec being carried out: advanced by iterations or by seconds, steered, recorded, replayed."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from enum import Enum
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.errors import DSGError
from dsgcore.core.schedules import Change
from dsgcore.data import Split
from dsgcore.experiments.engine import Model, engine_for
from dsgcore.experiments.history import History
from dsgcore.experiments.loading import load_split
from dsgcore.experiments.settings import Setting
from dsgcore.experiments.spec import Spec
from dsgcore.problems import UNLABELED


class StopReason(Enum):
    """Why a run has ended; the value is the sentence to show.

    Growth set in after the last iteration whose objective was not above that of f = 0; where there was none, at the
    start. A run that has diverged stands there as a whole, while its history goes on to the last finite objective.
    """

    FINISHED = "All iterations are done."
    PLATEAU = "Stopped early: the objective has not fallen for the number of iterations in “patience”."
    DIVERGED = (
        "Stopped: the values are no longer finite, so the step size is too big. The page shows the last "
        "state before that."
    )


class Health(Enum):
    """The state of the numbers; the value is the sentence to show."""

    GOOD = "The objective is below its start."
    STARTING = "The run has not started yet."
    GROWING = "The objective is above its start. The step size may be too big."
    DIVERGED = "The values are no longer finite."


@dataclass(frozen=True)
class Snapshot:
    """A run as it was after `t` iterations: the model, and the recorded row."""

    t: int
    model: Model
    row: dict[str, float]


def _of_engine(name: str) -> Any:
    """Return a property of a run: what its engine has by that name at the moment."""
    return property(attrgetter(f"engine.{name}"))


class Run:
    """One run of a spec. `problem`, `model`, values, `shift` and `exact_values` are its engine's: described at `Engine`.

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
        One row an iteration: t, what was steered, objective, its terms, the scores, and what the method measures besides
        (the error of the random features; the singular values). Where the spec asks for an average, its objective and test
        score too.
    clock : list of float
        Seconds spent when each row was recorded (not part of the history, which is reproducible).
    training_clock : list of float
        Seconds of them that the method itself took: without tests, twins and whatever else is measured.
    engine : Engine
        The method at work: the model, its values, and what only this method has.
    stop_reason : StopReason or None
    model_t : int
        Iterations after which the model and all values are as they are now: `t`, but less once a run has diverged.
    """

    problem: Setting = _of_engine("problem")
    model: Any = _of_engine("model")
    model_t: int = _of_engine("t")
    training_values: NDArray | None = _of_engine("training_values")
    test_values: NDArray = _of_engine("test_values")
    labeled_values: NDArray = _of_engine("labeled_values")
    shift: float = _of_engine("shift")
    exact_values: Callable[[NDArray], NDArray] = _of_engine("exact_values")

    def __init__(self, spec: Spec, split: Split | None = None) -> None:
        self.spec = spec
        self.split = split if split is not None else load_split(spec)
        self.history = History()
        self.clock: list[float] = []
        self.training_clock: list[float] = []
        self.stop_reason: StopReason | None = None
        self._best = (np.inf, 0)
        self.labeled_rows = np.flatnonzero(self.split.y_train != UNLABELED)
        self.engine = engine_for(spec, self.split)
        self._start_objective = self.engine.start_objective()

    @property
    def result(self) -> Any:
        """The model that the spec asks for: the averaged iterate where it asks for one, else `model`."""
        return self.model if self.spec.solver.average is None else self.engine.average_at(self.model_t)

    @property
    def result_test_values(self) -> NDArray:
        """What `result` makes of the test points, of shape (n_test,) or (n_test, K)."""
        return self.test_values if self.spec.solver.average is None else self.engine.test_average

    @property
    def result_score(self) -> float | None:
        """The test score of `result`, None before the first iteration."""
        if not len(self.history):
            return None
        if self.spec.solver.average is None:
            return self.history.last()["score_test"]
        return float(self.problem.score(self.split.y_test, self.engine.test_average))

    @property
    def t(self) -> int:
        """Iterations made so far, each with a row of the history."""
        return len(self.history)

    @property
    def tried(self) -> int:
        """Iterations to ask a run of this spec for, to bring it where this one stands: also the one that was not finite."""
        return self.t + (self.stop_reason is StopReason.DIVERGED)

    @property
    def n_iter(self) -> int:
        """Iterations that the run is to make."""
        return self.spec.solver.n_iter

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen."""
        return self.stop_reason is not None

    @property
    def unlabeled_values(self) -> NDArray:
        """Values at the unlabeled points; at the test points where the training points are too many to carry."""
        values = self.training_values
        return self.test_values if values is None else values[self.split.y_train == UNLABELED]

    def advance(
        self, iterations: int | None = None, seconds: float | None = None, until: Callable[[], bool] = lambda: False
    ) -> int:
        """Make up to this many iterations, or as many as fit in so many seconds (at least one); return how many.

        Parameters
        ----------
        iterations : int, optional
            Default: all that are left.
        seconds : float, optional
            Default: no limit.
        until : callable, optional
            Asked after every iteration; True ends the advance.
        """
        start, before = time.perf_counter(), self.clock[-1] if self.clock else 0.0
        made, wanted = 0, self.n_iter if iterations is None else iterations
        # A diverging run is told by its values. One limit on BLAS for all iterations: setting it takes time.
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            while made < wanted and not self.is_finished:
                if not self._advance_once():
                    break
                made += 1
                elapsed = time.perf_counter() - start
                self.clock.append(before + elapsed)
                self.training_clock.append(self.engine.training_seconds)
                if (seconds is not None and elapsed >= seconds) or until():
                    break
        return made

    def _advance_once(self) -> bool:
        row = self.engine.advance()
        if row is None or not np.isfinite(row["objective"]):
            self.engine.go_back()
            self.stop_reason = StopReason.DIVERGED
            return False
        self.history.append(row)
        if row["objective"] <= self._start_objective:
            self.engine.keep()
        self._check_stop(row["objective"])
        return True

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
        name : str
            One of the spec's `steerable`.
        value : float

        Raises
        ------
        ParameterError
            If the name or the value is not allowed.
        """
        self.spec = self.spec.with_change(Change(self.t + 1, name, value))
        self.engine.follow(self.spec)

    def extend(self, n_iter: int) -> None:
        """Let the run go on to `n_iter` iterations; values that were no longer carried are computed again once.

        Schedules that depend on the length T of the run use the new length from here on, so the run is then not that
        of its spec from the start.
        """
        if n_iter <= self.n_iter:
            raise DSGError(f"n_iter must be more than the run's {self.n_iter}, got {n_iter}")
        if self.stop_reason is StopReason.DIVERGED:
            raise DSGError("a run that has diverged has nothing to go on from")
        self.spec = replace(self.spec, solver=replace(self.spec.solver, n_iter=n_iter))
        self.engine.extend(self.spec)
        self.stop_reason = None

    def snapshot(self, t: int) -> Snapshot:
        """Return the model and the recorded row after `t` iterations, 1 <= t <= the iterations made."""
        if not 1 <= t <= self.t:
            raise DSGError(f"t must be between 1 and {self.t}, the iterations made so far, got {t}")
        return Snapshot(t, self.engine.model_at(t), self.history.row(t - 1))

    def at(self, t: int) -> Run:
        """Return the run as it was after `t` iterations, 1 <= t <= `model_t`: to be looked at, not to go on.

        Its model, values and history are, bit for bit, those of a run that was stopped there.
        """
        if not 1 <= t <= self.model_t:
            raise DSGError(f"t must be between 1 and {self.model_t}, the iterations that there are, got {t}")
        if t == self.t:
            return self
        view = copy(self)
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            view.engine = self.engine.at(t)
        view.history, view.stop_reason = self.history.first(t), None
        view.clock, view.training_clock = self.clock[:t], self.training_clock[:t]
        return view

    @classmethod
    def replay(cls, spec: Spec, t: int) -> Run:
        """Make a run of `spec` anew, up to iteration `t`: the same numbers as when it was made first."""
        run = cls(spec)
        run.advance(t)
        return run

    @property
    def health(self) -> Health:
        """The state of the numbers."""
        if self.stop_reason is StopReason.DIVERGED:
            return Health.DIVERGED
        if not len(self.history):
            return Health.STARTING
        is_good = self.history.last()["objective"] <= self._start_objective
        return Health.GOOD if is_good else Health.GROWING

    def start_objective(self) -> float:
        """Return the objective at f = 0, where a run starts."""
        return self._start_objective
