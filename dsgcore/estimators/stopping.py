"""Early stopping: the end of a fit when the averaged model no longer changes, and errors for runs that diverge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsgcore.core.documented import documented
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import AUTOMATIC, Checked, Real, integer, real
from dsgcore.core.sampling import evenly_spread
from dsgcore.solver.carried import Carried
from dsgcore.solver.loop import Iterate
from dsgcore.solver.model import FEW_POINTS, Expansion
from dsgcore.solver.plan import tail_start
from dsgcore.solver.problem import objective
from dsgcore.solver.stopping import StoppingRule
from dsgcore.solver.task import Task

# Iterations between two checks of the averaged model (even, because half of it must begin a tail), and points for a
# check.
ITERATIONS_BETWEEN_LOOKS, POINTS = 50, 256
# The automatic tolerance of a fit from 0, and of one that starts at a solution.
TOL_FROM_0, TOL_STARTED = 0.02, 0.05


@dataclass(frozen=True)
class Tolerance(Real):
    """A tolerance, or 'auto': the one for the fit's start."""

    def _words(self) -> str:
        return f"{super()._words()}, {AUTOMATIC!r}"

    def _checked(self, value: object) -> Any:
        return AUTOMATIC if value == AUTOMATIC else super()._checked(value)


TOL = Tolerance("tol", AUTOMATIC, low=0.0, high=1.0, optional=True)


@documented
@dataclass(frozen=True)
class Stopping(Checked):
    """Early stopping of a fit, and its printed output.

    Parameters
    ----------
    tol
        Tolerance for early stopping. `fit` ends when the mean of the second half of the iterates changes by no more
        than this share of its size (root mean square over some training points). None makes all iterations, as
        `partial_fit` does.
    n_iter_no_change
        Number of iterations for which the change must stay within `tol`. It is checked every 50 iterations.
    verbose
        1 prints a line at every check, 2 or more at every iteration.
    """

    tol: float | None = real(0.02, low=0.0, high=1.0, optional=True)
    n_iter_no_change: int = integer(50, low=1, high=100_000)
    verbose: int = integer(0, low=0)


def tolerance_of_part(tol: float, part: float) -> float:
    """Return the tolerance for values with this weight in a score, from 0 to 1, so that the score keeps within `tol`."""
    return min(1.0, tol / part) if part else 1.0


class StoppingCheck:
    """StoppingCheck check of a fit.

    It carries the values of f at some training points through the iterations, and keeps their sums, so that the mean
    over every tail is known. The solver appends to `model`. The other arguments are as in `Stopping`, except the task.
    """

    def __init__(self, task: Task, model: Expansion, *, tol: float | None, n_iter_no_change: int, verbose: int) -> None:
        self.rule, self.verbose = StoppingRule(tol, n_iter_no_change), verbose
        is_watching = tol is not None or verbose > 0
        rows = evenly_spread(len(task.X), POINTS if is_watching else 0)
        self.points = Carried(task.X[rows], model)
        self.first, self.total = len(model), np.zeros(len(rows))
        self.totals = [self.total.copy()]

    @property
    def carried(self) -> list[Carried]:
        """Values that the solver must update in each iteration."""
        return [self.points] if len(self.points.X) else []

    def begin_at(self, start: Expansion) -> None:
        """Compare the first mean with a start that is a solution already."""
        if self.carried:
            self.rule.scores = start.evaluate(self.points.X)

    def replay(self, model: Expansion) -> bool:
        """Process the iterations that a model has already, from the first one on; return True if it has converged."""
        is_settled = False
        for t, block in enumerate(model.blocks[self.first :], start=self.first + 1):
            for points in self.carried:
                points.advance(model.frequencies(t, block.shape[1]), block, model.decays[t - 1])
            is_settled = self.look(t, None)
        return is_settled

    def look(self, t: int, iterate: Iterate | None) -> bool:
        """Process iteration `t`; return True if the model has converged.

        The iterate's objective is printed. It is None for an iteration from a checkpoint.
        """
        if not self.carried:
            return False
        self.total += self.points.values
        made = t - self.first
        if made % (ITERATIONS_BETWEEN_LOOKS // 2) == 0:
            self.totals.append(self.total.copy())
        is_time = made % ITERATIONS_BETWEEN_LOOKS == 0
        if is_time:
            self._compare(made)
        if self.verbose > 1 or (self.verbose and is_time):
            said = "from the checkpoint" if iterate is None else f"batch objective {objective(iterate.terms):.5g}"
            print(f"iteration {t}: {said}, change {self.rule.change:.2g}")
        return self.rule.is_settled

    def _compare(self, made: int) -> None:
        """Compare the tail's mean with that of the last check."""
        start = self.totals[made // ITERATIONS_BETWEEN_LOOKS]
        self.rule.look((self.total - start) / tail_start(made), ITERATIONS_BETWEEN_LOOKS)


def check_finite(task: Task, model: Expansion, carried: list[Carried], name: str, *, is_done: bool) -> None:
    """Raise DSGError if a run has ended early by itself, or if values are not finite: the carried ones, or some others."""
    with np.errstate(over="ignore", invalid="ignore"):  # the values show divergence
        values = carried[0].values if carried else model.evaluate(task.X[:FEW_POINTS])
    if not np.isfinite(values).all() or (len(model) < task.plan.n_iter and not is_done):
        or_else = "" if np.isfinite(task.kernel.bound) else ", or a smaller sigma"
        raise DSGError(
            f"{name} diverged at iteration {len(model) + 1}: "
            f"step_size {task.plan.theta:g} is too big for this problem; try half of it{or_else}"
        )
