"""Trajectory of a run to its theorem's limit, measured at iterations evenly spread on a logarithmic scale.

If the risk is quadratic, the minimiser f* is computed exactly, and distances to it are measured. Otherwise the squared
norm of the objective's gradient is measured at every iteration, for its running mean. All means are over the training
points.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.cost import Cost
from dsgcore.data import Split
from dsgcore.diagnostics.four_runs import Reference, settled_task
from dsgcore.diagnostics.subsample import MAX_POINTS, is_sampled, on_some_points
from dsgcore.experiments import Spec, theory_of
from dsgcore.solver.carried import AllPoints
from dsgcore.solver.diagnostics import DualCoefficients, ExactTwin
from dsgcore.solver.loop import Iterate, solve
from dsgcore.solver.task import Task

ERROR, DISTANCE, AVERAGE, NORM = "error", "distance", "average", "norm"
GRADIENT, GRADIENT_MEAN = "gradient", "gradient_mean"
# The names of the quantities.
WORDS = {
    DISTANCE: "|f − f*|²",
    AVERAGE: "|f̄ − f*|²",
    ERROR: "|f − h|²",
    NORM: "‖h − f*‖²",
    GRADIENT: "‖∇J(h)‖²",
    GRADIENT_MEAN: "running mean of ‖∇J(h)‖²",
}
PER_DECADE = 20
# Bytes of the arrays of n × n numbers: kernel matrix, quadratic form, their product, and the same again to solve.
BYTES_A_PAIR = 4 * 8
# Seconds for each pair of points: of a product of the matrix and a vector, and of solving.
SECONDS_A_PAIR, SECONDS_A_TRIPLE = 1e-9, 1e-10
# Share of the upper estimate that a trajectory is likely to take.
SHARE = 0.35


def reference_of(spec: Spec, split: Split) -> Reference:
    """Return the `Reference` of a spec's trajectory; raise `DiagnosticsError` if the spec has none.

    With many training points the spec's seed draws those used, so each seed has its own reference.
    """
    task = on_some_points(settled_task(spec, split))
    with single_threaded_blas():
        return Reference.of(task)


def trajectory_cost(spec: Spec, n_train: int) -> Cost:
    """Estimate the cost besides the run: bytes, and seconds per iteration."""
    n = min(n_train, MAX_POINTS)
    pairs = n**2
    seconds = 2 * pairs * SECONDS_A_PAIR + pairs * n * SECONDS_A_TRIPLE / spec.solver.n_iter
    return Cost(BYTES_A_PAIR * pairs, seconds, SHARE * seconds * spec.solver.n_iter)


def trajectory(
    spec: Spec, split: Split, reference: Reference | None = None, until: Callable[[], bool] = lambda: False
) -> dict[str, NDArray]:
    """Return the trajectory of a spec's run, column by column.

    Parameters
    ----------
    spec : Spec
        With a stochastic setting. Its seed sets batches and features, and the subsample of many points.
    split : Split
        The data, from any seed.
    reference : Reference, optional
        The reference, if it is already known.
    until : callable, optional
        Called before every iteration; True ends the trajectory there.

    Returns
    -------
    dict of str to ndarray of shape (k,)
        Always:

        - "t", and "seconds" of the method alone
        - "error" |f − h|², and "bound" M² (κ + φ)² Σ|a|²
        - "largest_weight" M and "squared_steps" Σ|a|², its constants

        With an optimum:

        - "distance" |f − f*|²
        - "average", the same for the mean of the iterates after t/2
        - "norm" ‖h − f*‖²_H
        - "scale", the mean of f*², and "f_star_norm" ‖f*‖²_H

        Without an optimum, or if the theorem is about it:

        - "gradient" ‖∇J(h_t)‖² and "gradient_mean", its running mean

        With a subsample also "points", the training points used, and "of_points", all of them. The run ends at the
        first value that is not finite.
    """
    reference = reference_of(spec, split) if reference is None else reference
    task = on_some_points(settled_task(spec, split))
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        followed = _Followed(task, reference, len(split.X_train), with_gradient=GRADIENT_MEAN in theory_of(spec).rates)
        rows = list(_rows(followed, until))
    names = rows[0] if rows else followed.row(0, 0.0)
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in names}


def recorded(n_iter: int) -> NDArray:
    """Return the iterations at which a trajectory is measured."""
    number = int(np.ceil(PER_DECADE * np.log10(max(n_iter, 2)))) + 1
    return np.unique(np.geomspace(1, n_iter, number).round().astype(int))


def _rows(followed: _Followed, until: Callable[[], bool]) -> Iterator[dict[str, float]]:
    task, wanted = followed.task, set(recorded(followed.task.plan.n_iter).tolist())
    iterates, seconds = solve(task, followed.model, training=followed.points), 0.0
    while not until():
        start = time.perf_counter()
        iterate = next(iterates, None)
        seconds += time.perf_counter() - start
        if iterate is None:
            return
        followed.advance(iterate)
        if iterate.t in wanted:
            row = followed.row(iterate.t, seconds)
            if not np.isfinite(row[ERROR]):
                return
            yield row


class _Followed:
    """A run's f at the training points, its twin h by dual coefficients, and quantities derived from both."""

    def __init__(self, task: Task, reference: Reference, of_points: int, *, with_gradient: bool) -> None:
        self.task, self.reference, self.of_points, self.model = task, reference, of_points, task.new_model()
        self.points, self.dual = AllPoints(task, self.model), DualCoefficients(len(task.X))
        self.lemma = ExactTwin(task.kernel, task.X[:1])
        self.f_star: NDArray | None = None if reference.optimum is None else reference.K @ reference.optimum
        self.total, self.totals = np.zeros(len(task.X)), {0: np.zeros(len(task.X))}
        self.halves = set((recorded(task.plan.n_iter) // 2).tolist())
        self.lam, self.gradient, self.gradients = task.plan.at(1).lam, 0.0, 0.0
        self.has_gradient = with_gradient or self.f_star is None

    def advance(self, iterate: Iterate) -> None:
        """Advance all values by an iteration."""
        step, rows = iterate.step, iterate.rows
        self.lam = step.lam
        if self.has_gradient:  # of h before the step: the mean starts at h_1 = 0
            self.gradient = self.reference.whole.at(self.dual.values, self.lam)
            self.gradients += self.gradient
        self.dual.advance(rows, iterate.weights, step.size, step.decay)
        self.lemma.advance(iterate.points, iterate.weights, step.size, step.decay)
        if self.f_star is not None:
            self.total += self.points.values
            if iterate.t in self.halves:
                self.totals[iterate.t] = self.total.copy()

    def row(self, t: int, seconds: float) -> dict[str, float]:
        """Return all measurements after `t` iterations."""
        f = self.points.values.astype(np.float64)
        found = {
            "t": t,
            "seconds": seconds,
            ERROR: _mean_square(f - self.reference.K @ self.dual.values),
            "bound": self.lemma.bound(),
            "largest_weight": self.lemma.largest_weight,
            "squared_steps": self.lemma.squared_steps,
        }
        if is_sampled(self.of_points):
            found |= {"points": len(f), "of_points": self.of_points}
        if self.has_gradient:
            found |= {GRADIENT: self.gradient, GRADIENT_MEAN: self.gradients / max(t, 1)}
        if self.f_star is not None and self.reference.optimum is not None:
            found |= self._to_optimum(f, t, self.f_star, self.reference.optimum)
        return found

    def _to_optimum(self, f: NDArray, t: int, f_star: NDArray, optimum: NDArray) -> dict[str, float]:
        difference = self.dual.values - optimum
        mean = (self.total - self.totals[t // 2]) / max(t - t // 2, 1)
        return {
            DISTANCE: _mean_square(f - f_star),
            AVERAGE: _mean_square(mean - f_star),
            NORM: float(difference @ (self.reference.K @ difference)),
            "scale": _mean_square(f_star),
            "f_star_norm": float(optimum @ f_star),
        }


def _mean_square(values: NDArray) -> float:
    return float(np.mean(values**2))
