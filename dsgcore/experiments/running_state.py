"""State that every iteration of a stochastic run updates: f at points, its exact twin, dual coefficients and norms."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.data import Split
from dsgcore.experiments.stochastic_task import unlabeled_rows
from dsgcore.problems import UNLABELED, Problem
from dsgcore.solver.carried import AllPoints, Carried, VisitedPoints, training_points
from dsgcore.solver.diagnostics import AverageNorm, DualCoefficients, ExactTwin, SquaredNorm
from dsgcore.solver.loop import Iterate
from dsgcore.solver.model import Expansion
from dsgcore.solver.problem import Values
from dsgcore.solver.task import Task

# With at most this many training points, f is tracked at all of them, and the objective is that of the whole sample.
MAX_POINTS_FOR_WHOLE_SAMPLE = 20_000
# The state that an iteration updates besides the model.
_POINTS = ("_training", "probes", "rest_of_test", "labeled", "unlabeled")
RUNNING_STATE = (*_POINTS, "twin", "dual", "norm", "average_norm")


class MeasuredPoints:
    """Points that are tracked for measurements alone, and the seconds that this takes."""

    def __init__(self, point_sets: list[Carried]) -> None:
        self.point_sets, self.seconds = point_sets, 0.0

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, with frequencies `W`."""
        start = time.perf_counter()
        for points in self.point_sets:
            points.advance(W, block, decay)
        self.seconds += time.perf_counter() - start


class RunningState:
    """A model with all its tracked state, before and after any iteration."""

    model: Expansion
    _training: AllPoints | VisitedPoints

    def __init__(self, task: Task, split: Split) -> None:
        self.task, self.split, self.kernel = task, split, task.kernel
        self.labeled_rows = np.flatnonzero(split.y_train != UNLABELED)
        self.unlabeled_rows = unlabeled_rows(split)

    def _carry(self, n_probes: int) -> None:
        """Return the initial tracked state; so many test points serve to measure the features' error."""
        self.probes = self._carried(self.split.X_test[:n_probes], with_variance=True)
        self.rest_of_test = self._carried(self.split.X_test[n_probes:])
        self.twin = ExactTwin(self.kernel, self.probes.X)
        self.dual, self.norm = DualCoefficients(len(self.task.X)), SquaredNorm()
        after = self.task.plan.average_after
        self.average_norm = None if after is None else AverageNorm(after)
        is_carried = isinstance(self._training, AllPoints)
        self.labeled = None if is_carried else self._carried(self.task.X[self.labeled_rows])
        self.unlabeled = self._some_unlabeled() if self.problem.is_shifted and not is_carried else None

    def _carried(self, X: NDArray, *, with_variance: bool = False) -> Carried:
        after = self.task.plan.average_after
        return Carried(X, self.model, with_variance=with_variance, average_after=after)

    def _new_training(self) -> AllPoints | VisitedPoints:
        if len(self.task.X) <= MAX_POINTS_FOR_WHOLE_SAMPLE:
            return AllPoints(self.task, self.model)
        return training_points(self.task, self.model)

    def _some_unlabeled(self) -> Carried:
        """Return unlabeled training points, evenly spread if there are more than the tracked ones."""
        rows = self.unlabeled_rows
        return self._carried(self.task.X[rows[evenly_spread(len(rows), MAX_POINTS_FOR_WHOLE_SAMPLE)]])

    def _copied(self) -> dict[str, Any]:
        """Return the number of iterations and copies of the tracked state."""
        return {"t": self.t, **{name: copy(getattr(self, name)) for name in RUNNING_STATE}}

    @property
    def t(self) -> int:
        """The number of iterations that the model and all values now include."""
        return len(self.model)

    @property
    def problem(self) -> Problem:
        """The setting, bound to the training labels."""
        return self.task.problem

    @property
    def training_values(self) -> NDArray | None:
        """F at all training points, of shape (n,); None if there are too many of them to track."""
        return self._training.values if isinstance(self._training, AllPoints) else None

    def _values_per_source(self) -> Values:
        if self.training_values is None:
            return {}
        return {source: self.training_values[rows] for source, rows in self.task.rows.items()}

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

    @property
    def shift(self) -> float:
        """The shift that the estimator adds to f before it takes the sign, from the unlabeled training points."""
        values = self.training_values
        return self._shift_of(lambda: values[self.unlabeled_rows], "values")  # type: ignore[index]

    @property
    def average_shift(self) -> float:
        """The shift of the averaged f."""
        training = self._training
        return self._shift_of(lambda: training.average_of(self.unlabeled_rows), "average")

    def _shift_of(self, at_all: Callable[[], NDArray], name: str) -> float:
        if not self.problem.is_shifted:
            return 0.0
        return float(self.problem.shift(at_all() if self.unlabeled is None else getattr(self.unlabeled, name)))

    @property
    def test_average(self) -> NDArray:
        """The averaged f at all test points, of shape (n_test,)."""
        return np.concatenate([self.probes.average, self.rest_of_test.average])

    def update_state(self, iterate: Iterate) -> None:
        """Update the state that the solver itself does not track, by one iteration."""
        step, decay = iterate.weighed_with, iterate.step.decay
        self.norm.advance(iterate.values, iterate.weights, iterate.block, step, decay)
        if self.average_norm is not None:
            self.average_norm.advance(iterate.averages, iterate.weights, step, decay, self.norm.value)
        self.dual.advance(iterate.rows, iterate.weights, step, decay)
        if len(self.probes.X):
            self.twin.advance(iterate.points, iterate.weights, step, decay)
