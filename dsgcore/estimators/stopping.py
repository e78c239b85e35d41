"""Early stopping: the end of a fit when the averaged model no longer changes, and errors for runs that diverge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import AUTOMATIC, Checked, Real, integer, real
from dsgcore.core.sampling import evenly_spread
from dsgcore.solver.carried import AllPoints, Carried
from dsgcore.solver.loop import Iterate
from dsgcore.solver.model import FEW_POINTS, Expansion
from dsgcore.solver.plan import tail_start
from dsgcore.solver.problem import objective
from dsgcore.solver.stopping import StoppingRule
from dsgcore.solver.task import Task

# Iterations between two checks of the averaged model (even, because half of it must begin a tail), and points for a
# check.
ITERATIONS_BETWEEN_LOOKS, POINTS = 50, 256
# The points of a later stage of a fit get their values only when the fit gets there. Each stage ends after so many times
# as many iterations as the one before, because it visits mostly the same points. Where there are so many times as many
# rows as visits between two checks, it visits others, and each stage is as short as a check allows.
STAGES_GROW, ROWS_PER_VISIT = 4, 2
# In longer fits, sums of values at many points would need too much memory.
MOST_ITERATIONS_SUMMED = 20_000


@dataclass(frozen=True)
class AutomaticTolerance:
    """The tolerance that 'auto' stands for: one for a fit from 0, and one for a fit that starts at a solution."""

    from_0: float = 0.02
    started: float = 0.05

    def of(self, *, has_start: bool) -> float:
        """Return the tolerance of a fit."""
        return self.started if has_start else self.from_0


@dataclass(frozen=True)
class Tolerance(Real):
    """A tolerance, or 'auto', for which a fit takes its `AutomaticTolerance`."""

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
        Tolerance for early stopping, as a share of the scores' size: `fit` ends when the mean of the second half of the
        iterates changes by no more from check to check (root mean square over some training points). None makes all
        iterations, as `partial_fit` does. Here 'auto' has its number already.
    n_iter_no_change
        Number of iterations for which the change must stay within `tol`. It is checked every 50 iterations.
    verbose
        1 prints a line at every check, 2 or more at every iteration.
    """

    tol: float | None = real(AutomaticTolerance.from_0, low=0.0, high=1.0, optional=True)
    n_iter_no_change: int = integer(50, low=1, high=100_000)
    verbose: int = integer(0, low=0)


def stages(task: Task, start: int) -> Iterator[tuple[int, int]]:
    """Return the first and the last iteration of each stage of a fit that may end early, the first ones not included."""
    n_visits, stop = ITERATIONS_BETWEEN_LOOKS * task.batch_size * len(task.rows), task.plan.n_iter
    is_sparse, end = len(task.X) > ROWS_PER_VISIT * n_visits, ITERATIONS_BETWEEN_LOOKS
    while start < stop:
        if end > start:
            yield start, min(end, stop)
            start = end
        end = end + ITERATIONS_BETWEEN_LOOKS if is_sparse else end * STAGES_GROW


class StoppingCheck:
    """Check of a fit: the stopping rule, at every 50 iterations.

    It carries the values of f at some training points through the iterations, and keeps their sums, so that the mean
    over every tail is known. The solver appends to `model`. The other arguments are as in `Stopping`, except these:

    Parameters
    ----------
    task : Task
    model : Expansion
    rows : ndarray
        Ascending rows whose values the fit needs in the end. The check is on some of them.
    training : AllPoints, optional
        The values at all training points, if the solver carries them anyway.
    """

    def __init__(
        self,
        task: Task,
        model: Expansion,
        rows: NDArray,
        training: AllPoints | None = None,
        *,
        tol: float | None,
        n_iter_no_change: int,
        verbose: int,
    ) -> None:
        self.rule, self.verbose = StoppingRule(tol, n_iter_no_change), verbose
        self.is_watching = tol is not None or verbose > 0
        checked = evenly_spread(len(task.X), POINTS if self.is_watching else 0)
        is_short = self.is_watching and task.plan.n_iter <= MOST_ITERATIONS_SUMMED
        self.rows = np.union1d(checked, rows) if is_short else checked
        self._checked = np.searchsorted(self.rows, checked)
        self._shared = training
        self.points = Carried(task.X[self.rows], model) if training is None else training
        self.first, self.total = len(model), np.zeros(len(self.rows))
        self.totals = [self.total.copy()]

    @property
    def carried(self) -> list[Carried]:
        """Values that the solver must update in each iteration."""
        return [self.points] if self.is_watching and self._shared is None else []

    @property
    def values(self) -> NDArray:
        """The values of f at the rows."""
        return self.points.values if self._shared is None else self.points.values.take(self.rows)

    def replay(self, model: Expansion, *, has_start: bool) -> bool:
        """Process the iterations that a model has already, from the first one on; return True if it has converged.

        If the first one is a solution already, the first mean is compared with it.
        """
        is_settled = False
        for t, block in enumerate(model.blocks[self.first :], start=self.first + 1):
            if self.is_watching or self._shared is not None:
                self.points.advance(model.frequencies(t, block.shape[1]), block, model.decays[t - 1])
            if has_start and t == 1:
                self.rule.scores = self.values[self._checked]
            is_settled = self.look(t, None)
        return is_settled

    def look(self, t: int, iterate: Iterate | None) -> bool:
        """Process iteration `t`; return True if the model has converged.

        The iterate's objective is printed. It is None for an iteration from a checkpoint.
        """
        if not self.is_watching:
            return False
        self.total += self.values
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
        self.rule.look((self.total - start)[self._checked] / tail_start(made), ITERATIONS_BETWEEN_LOOKS)

    def mean(self, made: int) -> NDArray | None:
        """Return the mean of the last half of all iterations at the rows, or None if its sum was not kept."""
        number, rest = divmod(tail_start(made), ITERATIONS_BETWEEN_LOOKS // 2)
        if self.first or rest or not self.is_watching:
            return None
        return ((self.total - self.totals[number]) / (made - tail_start(made))).astype(self.points.values.dtype)


def check_finite(task: Task, model: Expansion, check: StoppingCheck, name: str, *, is_done: bool) -> None:
    """Raise DSGError if a run has ended early by itself, or if values are not finite: the carried ones, or some others."""
    with np.errstate(over="ignore", invalid="ignore"):  # the values show divergence
        values = check.values if len(check.rows) else model.evaluate(task.X[:FEW_POINTS])
    if not np.isfinite(values).all() or (len(model) < task.plan.n_iter and not is_done):
        or_else = "" if np.isfinite(task.kernel.bound) else ", or a smaller sigma"
        raise DSGError(
            f"{name} diverged at iteration {len(model) + 1}: "
            f"step_size {task.plan.theta:g} is too big for this problem; try half of it{or_else}"
        )
