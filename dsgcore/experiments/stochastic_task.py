"""A spec's task for the solver, and what it learns where nothing is measured on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.automatic_step import settle_step
from dsgcore.core.carried import Carried
from dsgcore.core.sampling import evenly_spread
from dsgcore.core.solver import solve
from dsgcore.core.task import Task
from dsgcore.data import Split
from dsgcore.experiments.spec import Spec
from dsgcore.problems import UNLABELED, Problem

# A shift that keeps the balance is taken from at most so many unlabeled points.
MAX_POINTS_FOR_SHIFT = 20_000


def task_of(spec: Spec, split: Split) -> Task:
    """Return what the solver is to do; its automatic step is still to be found."""
    dtype = np.dtype(spec.solver.dtype)
    problem = cast(Problem, spec.problem).bind(split.y_train)
    return Task(
        problem=problem,
        kernel=spec.kernel,
        X=np.ascontiguousarray(split.X_train, dtype=dtype),
        rows=problem.rows(split.y_train),
        plan=spec.plan(),
        batch_size=spec.solver.batch_size,
        seed=spec.seed,
        dtype=dtype,
    )


def learned(spec: Spec, split: Split, until: Callable[[], bool] = lambda: False) -> NDArray | None:
    """Return what a whole run makes of the test points, as its result is scored; None where it was ended before.

    Parameters
    ----------
    spec, split
        As of `Run`.
    until : callable, optional
        Asked after every iteration; True ends the run.
    """
    task = task_of(spec, split)
    settle_step(task)
    model, after = task.new_model(), task.plan.average_after
    test = Carried(split.X_test, model, average_after=after)
    unlabeled = Carried(task.X[_for_shift(task, split)], model, average_after=after)
    for _ in solve(task, model, carried=[test, unlabeled]):
        if until():
            return None
    if len(model) < task.plan.n_iter:  # the next step is not finite
        return np.full(len(test.X), np.nan)
    return test.average + task.problem.shift(unlabeled.average) if task.problem.is_shifted else test.average


def _for_shift(task: Task, split: Split) -> NDArray:
    """Return the rows that the balance is taken from; none where it is not kept."""
    if not task.problem.is_shifted:
        return np.zeros(0, dtype=np.intp)
    unlabeled = np.flatnonzero(split.y_train == UNLABELED)
    rows = unlabeled if len(unlabeled) else np.arange(len(task.X))
    return rows[evenly_spread(len(rows), MAX_POINTS_FOR_SHIFT)]
