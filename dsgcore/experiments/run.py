"""The run of a spec: advanced by iterations or by seconds, steered, recorded, replayed."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from enum import Enum
from html import escape
from operator import attrgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.engine import check_cost, engine_of
from dsgcore.experiments.history import History
from dsgcore.experiments.spec import FILE, Setting, Spec
from dsgcore.problems import UNLABELED
from dsgcore.solver.task import Change

# An average is evaluated at so many unlabeled points when a person looks at them.
POINTS_SHOWN = 1000
# First length of a run's charts if it ends when it has settled, most often within twice as many iterations.
LENGTH = 200


class StopReason(Enum):
    """Reason why a run has ended; the value is the sentence to show.

    A run that diverges goes back to its last iteration whose objective was not above that of f = 0, or else to the
    start. Its history still continues to the last finite objective.
    """

    FINISHED = "All iterations are done."
    SETTLED = "The run has settled: its average has stopped changing, so that no iteration need follow."
    PLATEAU = "Stopped early: the objective has not fallen for the number of iterations in “patience”."
    DIVERGED = (
        "Stopped: the values are no longer finite, so the step size is too big. The result is from before f grew."
    )


class Health(Enum):
    """Numerical state of a run; the value is the sentence to show."""

    GOOD = "The objective is below that of f = 0."
    STARTING = "The run has not started yet."
    GROWING = "The objective is above that of f = 0. The step size may be too big."
    DIVERGED = "The values are no longer finite."


def _of_engine(name: str) -> Any:
    """Return a property of a run that reads its engine's attribute of that name."""
    return property(attrgetter(f"engine.{name}"))


class Run:
    """One run of a spec: it makes iterations when it is asked to, and keeps their history.

    The engine gives `problem`, `model`, the values, `shift` and `exact_values`: see `StochasticEngine`.

    Parameters
    ----------
    spec : Spec
    split : Split, optional
        The data, if they are already loaded (as `load_split` does for this spec).
    measure : {"all", "brief"}, default "all"
        A brief run measures what a study keeps of each iteration, and everything once at the end. Its history has t, the
        objective and the test score alone, and those of the average if there is one. These columns, `last_row`, the model
        and the values are bit-for-bit the same. There are no gauges and no earlier states, so a brief run that diverges
        cannot go back.

    Raises
    ------
    SpecError
        If the run would need more memory than the machine has. Nothing is allocated then.
    DataError
        As in `load_split`.

    Attributes
    ----------
    spec : Spec
        The spec with every change made during the run. A run of this spec from the start gives bit-for-bit identical
        numbers.
    history : History
        One row per iteration: t, steered values, objective, its terms and the scores. Methods add measurements, such as
        the error of the random features. If the spec asks for an average, also its objective and test score.
    clock : list of float
        Seconds spent when each row was recorded (not part of the history, which is reproducible).
    training_clock : list of float
        The part of these seconds that the method itself took: without tests, twins and other measurements.
    engine : Engine
        The method: the model, its values, and attributes that only this method has.
    stop_reason : StopReason or None
    model_t : int
        The number of iterations that the model and all values now include: `t`, or less if a run has diverged.
    """

    problem: Setting = _of_engine("problem")
    model: Any = _of_engine("model")
    model_t: int = _of_engine("t")
    training_values: NDArray | None = _of_engine("training_values")
    test_values: NDArray = _of_engine("test_values")
    labeled_rows: NDArray = _of_engine("labeled_rows")
    labeled_values: NDArray = _of_engine("labeled_values")
    shift: float = _of_engine("shift")
    exact_values: Callable[[NDArray], NDArray] = _of_engine("exact_values")
    # The objective at f = 0, also for a run with an exact start: what health and growth compare with.
    start_objective: float = _of_engine("start_objective")

    def __init__(self, spec: Spec, split: Split | None = None, *, measure: Literal["all", "brief"] = "all") -> None:
        self.spec, self.is_brief = spec, measure == "brief"
        if split is None:
            check_cost(spec)  # that of a file follows when it is read
        self.split = load_split(spec) if split is None else split
        if split is not None or spec.data.name == FILE:
            check_cost(spec, shape=self.split.shape)
        self.history = History()
        self.clock: list[float] = []
        self.training_clock: list[float] = []
        self.stop_reason: StopReason | None = None
        self._best = (np.inf, 0)
        self.engine: Any = engine_of(spec)(spec, self.split)

    def __repr__(self) -> str:
        state = "" if self.stop_reason is None else f", {self.stop_reason.name.lower()}"
        what = f"{self.spec.problem.name} on {self.spec.data.name}"
        return f"Run({what}: {self.t} of {self.n_iter} iterations{state}; {self.history})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.history._repr_html_()}"

    @property
    def result(self) -> Any:
        """The model that the spec asks for: the averaged iterate if it asks for one, else `model`."""
        return self.model if self.spec.solver.average is None else self.engine.average_at(self.model_t)

    @property
    def result_test_values(self) -> NDArray:
        """Values of `result` at the test points, of shape (n_test,) or (n_test, K)."""
        return self.test_values if self.spec.solver.average is None else self.engine.test_average

    @property
    def result_shift(self) -> float:
        """The number that is added to the values of `result` before their sign is taken."""
        return self.shift if self.spec.solver.average is None else self.engine.average_shift

    def result_at(self, X: NDArray) -> NDArray:
        """Return the values of `result` at points (n, d), of shape (n,) or (n, K)."""
        values: NDArray = self.result.evaluate(np.ascontiguousarray(X, dtype=self.spec.solver.dtype))
        return values

    @property
    def result_labeled_values(self) -> NDArray:
        """Values of `result` at the labeled training points."""
        is_last = self.spec.solver.average is None
        return self.labeled_values if is_last else self.result_at(self.split.X_train[self.labeled_rows])

    @property
    def result_unlabeled_values(self) -> NDArray:
        """Values of `result` at unlabeled points, or at some of them if they are many and f is an average."""
        if self.spec.solver.average is None:
            return self.unlabeled_values
        X = self.split.X_train[self.split.y_train == UNLABELED]
        return self.result_at(X[evenly_spread(len(X), POINTS_SHOWN)])

    @property
    def result_score(self) -> float | None:
        """The test score of `result`, None before the first iteration."""
        if not len(self.history):
            return None
        if self.spec.solver.average is None:
            return self.history.last()["score_test"]
        return float(self.problem.score(self.split.y_test, self.result_test_values + self.result_shift))

    @property
    def t(self) -> int:
        """The number of iterations so far; each has a row in the history."""
        return len(self.history)

    @property
    def tried(self) -> int:
        """The iterations that a run of this spec needs to reach this state; includes one that was not finite."""
        return self.t + (self.stop_reason is StopReason.DIVERGED)

    @property
    def n_iter(self) -> int:
        """The planned number of iterations."""
        return self.spec.solver.n_iter

    @property
    def length(self) -> int:
        """The iterations that a chart of the run has room for: those made once it has settled, until then more."""
        if self.stop_reason is StopReason.SETTLED:
            return self.t
        room = LENGTH << max(0, (self.t // LENGTH).bit_length())
        return self.n_iter if self.spec.solver.tol == 0.0 else min(self.n_iter, room)

    @property
    def averaged_after(self) -> int:
        """The iteration after which iterates are averaged: half of the planned ones, or of those made once the run has settled.

        The last planned one if none are averaged.
        """
        return self.n_iter if (after := self.engine.average_after) is None else int(after)

    @property
    def is_finished(self) -> bool:
        """True if the run has ended."""
        return self.stop_reason is not None

    @property
    def unlabeled_values(self) -> NDArray:
        """Values at the unlabeled points, or at the test points if the training points are too many to track."""
        values = self.training_values
        return self.test_values if values is None else values[self.split.y_train == UNLABELED]

    def advance(
        self, iterations: int | None = None, seconds: float | None = None, until: Callable[[], bool] = lambda: False
    ) -> int:
        """Advance by this many iterations, or for so many seconds (at least one iteration).

        Parameters
        ----------
        iterations : int, optional
            Default: all that are left.
        seconds : float, optional
            Default: no limit.
        until : callable, optional
            Called after every iteration; True ends the advance.

        Returns
        -------
        int
            The number of iterations made.
        """
        start, before = time.perf_counter(), self.clock[-1] if self.clock else 0.0
        made, wanted = 0, self.n_iter if iterations is None else iterations
        # The values show divergence, so NumPy need not warn. One limit on BLAS threads serves all iterations: setting
        # it is slow.
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            while made < wanted and self.stop_reason is None:
                row = self.engine.row(is_brief=self.is_brief) if self.engine.update(is_brief=self.is_brief) else {}
                if not np.isfinite(row.get("objective", np.nan)):
                    if not self.is_brief:
                        self.engine.go_back()
                    self.stop_reason = StopReason.DIVERGED
                    break
                self._record(row)
                made += 1
                elapsed = time.perf_counter() - start
                self.clock.append(before + elapsed)
                self.training_clock.append(self.engine.training_seconds)
                if (seconds is not None and elapsed >= seconds) or until():
                    break
        return made

    def _record(self, row: dict[str, float]) -> None:
        """Keep an iteration's row, and note if the run ends here."""
        self.history.append(row)
        if self.engine.averaged_again:
            self.history.replace(self.engine.averaged_again)
        if not self.is_brief and row["objective"] <= self.start_objective:
            self.engine.keep()
        value, (best, best_t), stop = row["objective"], self._best, self.spec.stop
        if value < best - stop.tolerance * abs(best) or not np.isfinite(best):
            self._best = (value, self.t)
        elif stop.patience and self.t - best_t >= stop.patience:
            self.stop_reason = StopReason.PLATEAU
            self.engine.ends_at = self.t
            self.history.amend(self.engine.row(is_brief=True))  # the average is not measured at every iteration
        if self.stop_reason is None and self.engine.is_settled:
            self.stop_reason = StopReason.SETTLED
        elif self.stop_reason is None and self.t >= self.n_iter:
            self.stop_reason = StopReason.FINISHED

    def last_row(self) -> dict[str, float]:
        """Return everything that can be measured of the last iteration; empty before the first one.

        Raises
        ------
        DSGError
            If a brief run has diverged: its last state is already that of a later iteration.
        """
        if not (self.is_brief and len(self.history)):
            return self.history.last()
        if self.stop_reason is StopReason.DIVERGED:
            raise DSGError('the last row of a brief run that has diverged is not known: make it with measure="all"')
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):  # as in `advance`
            return self.engine.row()

    def change(self, name: str, value: float) -> None:
        """Set a parameter from the next iteration on; the change becomes part of the spec.

        Parameters
        ----------
        name : str
            One of the spec's `steerable`.
        value : float

        Raises
        ------
        SpecError
            If the name or the value is not allowed.
        """
        self.spec = self.spec.with_change(Change(self.t + 1, name, value))
        self.engine.follow(self.spec)

    def at(self, t: int) -> Run:
        """Return the run as it was after `t` iterations, 1 <= t <= `self.t`. It is read-only: it cannot advance.

        Its model, values and history are bit-for-bit identical to those of a run that was stopped there. This holds also
        for the iterations between the one to which a diverged run has gone back and its last finite one. Only the averages
        of a run that has settled are those of its history: of the second half of the iterations that it made.
        """
        if not (1 <= t <= self.t or t == self.model_t):
            raise DSGError(f"t must be between 1 and {self.t}, the iterations made so far, got {t}")
        if t == self.t == self.model_t:
            return self
        view = copy(self)
        if t != self.model_t:
            with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
                view.engine = self.engine.at(t)
        view.history, view.stop_reason = self.history.first(t), None
        view.clock, view.training_clock = self.clock[:t], self.training_clock[:t]
        return view

    @property
    def health(self) -> Health:
        """The numerical state of the run."""
        if self.stop_reason is StopReason.DIVERGED:
            return Health.DIVERGED
        if not len(self.history):
            return Health.STARTING
        is_good = self.history.last()["objective"] <= self.start_objective
        return Health.GOOD if is_good else Health.GROWING


def step_limit(run: Run) -> float | None:
    """Return the largest stable step size (or schedule constant) of a run; None if there is none, or if it is unknown.

    It is that of the present values of all parameters, and of a run that began with them. Decreasing steps have no limit:
    they fall below any limit by themselves.
    """
    engine, largest = run.engine, run.engine.sizes_at(run.n_iter).limit
    first, last = (engine.step_at(t) / _step_asked(run, t) for t in (1, run.n_iter))
    if largest is None or last < 0.999 * first:
        return None
    theta = _step_asked(run, run.n_iter)
    return float(largest * (theta / engine.step_at(run.n_iter)))  # quotient first: for a constant step it is exactly 1


def _step_asked(run: Run, t: int) -> float:
    return float(run.spec.values_at(t)["step_size"] or run.engine.automatic_step or 1.0)


def stable_step(run: Run, t: int) -> float:
    """Return a step size (or schedule constant), smaller than that of iteration `t`, with which the run does not diverge.

    It is the automatic step of the present values, or half of the limit, whichever is smaller. If neither is clearly
    smaller than the present step, it is half of that.
    """
    now, limit = _step_asked(run, t), step_limit(run)
    usual = min(x for x in (run.engine.sizes_at(run.n_iter).automatic, limit and limit / 2.0, now) if x)
    return usual if usual < 0.75 * now else now / 2.0
