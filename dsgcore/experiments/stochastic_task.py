"""The solver's task in a spec, its result without measurements, and its cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import Cost, Sizes, seconds_of_features
from dsgcore.core.parameters import ParameterError
from dsgcore.core.sampling import evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.data.datasets import N_CLASSES
from dsgcore.experiments.spec import Spec
from dsgcore.kernels.far_points import too_far
from dsgcore.problems import UNLABELED, Problem
from dsgcore.solver.automatic_step import settle_step
from dsgcore.solver.carried import Carried, training_points
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import tail_start
from dsgcore.solver.start import plan_start
from dsgcore.solver.stopping import Stopping, ValuesMean
from dsgcore.solver.task import Task

# The shift that keeps the balance is computed from at most this many unlabeled points.
MAX_POINTS_FOR_SHIFT = 20_000
# Bytes for each visit known in advance: the row's number, its place, and the memory for sorting them.
BYTES_A_VISIT = 32
# The run and its supervised twin.
RUNS = 2
# Fitted to runs (.github/docs/notes/explore.md): likely seconds of an iteration for each source, mostly of measuring it, and
# the share of the upper estimate for features and kernel sums.
SECONDS_A_SOURCE, SHARE = 1.65e-4, 0.22


def task_of(spec: Spec, split: Split) -> Task:
    """Return the solver's task, still without its automatic step."""
    dtype = np.dtype(spec.solver.dtype)
    if said := too_far(split.X_train, spec.kernel):
        raise ParameterError(said)
    problem = cast(Problem, spec.problem).bind(split.y_train)
    task = Task(
        problem=problem,
        kernel=spec.kernel,
        X=np.ascontiguousarray(split.X_train, dtype=dtype),
        rows=problem.rows(split.y_train),
        plan=spec.plan(),
        batch_size=spec.solver.batch_size,
        seed=spec.seed,
        dtype=dtype,
        sampling=spec.solver.sampling,
    )
    plan_start(task, spec.solver.start)
    return task


def learned(spec: Spec, split: Split, until: Callable[[], bool] = lambda: False) -> NDArray | None:
    """Return a whole run's result on the test points, as it is scored; None if `until`, called each time, ended it."""
    task = task_of(spec, split)
    settle_step(task)
    model, after = task.new_model(), task.plan.average_after
    # The balance is computed from unlabeled points; from none if it is not kept.
    rows = unlabeled_rows(split) if task.problem.is_shifted else np.zeros(0, dtype=np.intp)
    test = Carried(split.X_test, model, average_after=after)
    unlabeled = Carried(task.X[rows[evenly_spread(len(rows), MAX_POINTS_FOR_SHIFT)]], model, average_after=after)
    training = training_points(task, model)
    check = ValuesMean(task, model, training, Stopping(tol=spec.solver.tol or None))
    carried = [points for points in (test, unlabeled) if len(points.X)]
    with single_threaded_blas():  # one limit for all iterations: setting it is slow
        for _ in solve(task, model, training=training, carried=[*carried, *check.carried]):
            if until():
                return None
            if check.take():
                break
    n_iter = len(model)
    if n_iter < task.plan.n_iter and not check.is_settled:  # the next step is not finite
        return np.full(len(test.X), np.nan)
    of_test, of_unlabeled = test.average, unlabeled.average
    if n_iter < task.plan.n_iter and after is not None:  # the mean of the second half of those made
        mean = model.tail_average(n_iter - tail_start(n_iter))
        of_test, of_unlabeled = (mean.evaluate(points.X) for points in (test, unlabeled))
    return of_test + task.problem.shift(of_unlabeled) if task.problem.is_shifted else of_test


def unlabeled_rows(split: Split) -> NDArray:
    """Return the numbers of the training points without a label; of all if each has one."""
    unlabeled = np.flatnonzero(split.y_train == UNLABELED)
    return unlabeled if len(unlabeled) else np.arange(len(split.y_train))


def stochastic_cost(spec: Spec, sizes: Sizes, most_for_whole_sample: int) -> Cost:
    """Return the cost of a run, without its data; up to `most_for_whole_sample` training points, all are tracked."""
    problem, kernel = cast(Problem, spec.problem), spec.kernel
    sources = problem.most_sources(spec.data.n_classes or N_CLASSES.default)
    rows = sources * sizes.batch_size
    is_whole = sizes.n_train <= most_for_whole_sample
    visits = 0 if is_whole else rows * sizes.n_iter
    carried = sizes.n_train if is_whole else min(sizes.n_train, visits) + min(sizes.n_labeled, sizes.n_train)
    points = carried + sizes.n_test
    block = 2 * sizes.n_features * sizes.itemsize
    frequencies = kernel.factors * sizes.d * sizes.n_features * (8 + sizes.itemsize)
    seconds = kernel.factors * seconds_of_features(points + 2 * rows, sizes.d, sizes.n_features, sizes.itemsize)
    seconds += kernel.seconds_of_sums(rows * sizes.n_probes, sizes.d, sizes.itemsize)
    return Cost(
        RUNS * (sizes.n_iter * block + visits * BYTES_A_VISIT + points * (sizes.d + 4) * sizes.itemsize) + frequencies,
        seconds,
        sizes.n_iter * (sources * SECONDS_A_SOURCE + SHARE * seconds),
    )
