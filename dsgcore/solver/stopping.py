"""The end of a fit: the mean of the iterates' second half, and the rule that it has stopped changing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from dsgcore.core.documented import documented
from dsgcore.core.parameters import AUTOMATIC, Checked, Real, integer, real
from dsgcore.core.sampling import evenly_spread
from dsgcore.solver.carried import Advanced, AllPoints, Carried, TrainingPoints, is_dense, training_points
from dsgcore.solver.loop import Iterate
from dsgcore.solver.model import Expansion
from dsgcore.solver.plan import tail_start
from dsgcore.solver.problem import objective
from dsgcore.solver.task import Task

# Points at which the change of f is measured, and iterations between two kept sums of its values there.
POINTS, STRETCH = 256, 25
# The points of a later stage of a fit get their values only when the fit gets there. Each stage ends after so many times
# as many iterations as the one before, because it visits mostly the same points. Where there are so many times as many
# rows as visits between two looks, it visits others, and each stage is as short as a look allows.
STAGES_GROW, ROWS_PER_VISIT = 4, 2
# In longer fits, sums of values at many points would need too much memory.
MOST_ITERATIONS_SUMMED = 20_000

TOL = Real("tol", AUTOMATIC, low=0.0, high=1.0, optional=True, words=(AUTOMATIC,))


@documented
@dataclass(frozen=True)
class Stopping(Checked):
    """Early stopping of a fit, and its printed output.

    Parameters
    ----------
    tol
        Tolerance for early stopping, as a share of the scores' size: `fit` ends when the mean of the second half of the
        iterates changes by no more from look to look (root mean square over some training points). None makes all
        iterations, as `partial_fit` does. Here 'auto' has its number already.
    n_iter_no_change
        Number of iterations for which the change must stay within `tol`. It is checked every 50 iterations.
    verbose
        1 prints a line at every check, 2 or more at every iteration.
    """

    tol: float | None = real(0.02, low=0.0, high=1.0, optional=True)
    n_iter_no_change: int = integer(50, low=1, high=100_000)
    verbose: int = integer(0, low=0)


class TailMean:
    """Mean of the second half of the iterates, whatever their number will be, and the rule that it has settled.

    An iterate is an array: weights, or the values of f at some points. Sums are kept at every `stretch` iterations. At every
    second of these times the mean's scores are compared with those before. It has settled if they changed by no more than
    the share `tol` of their size, for `n_iter_no_change` iterations.

    Parameters
    ----------
    zero : ndarray
        The sum of no iterate.
    n_iter : int
        Largest number of iterations.
    stretch : int
    stopping : Stopping
    start : ndarray, optional
        The iterate before the first one, if it is a solution already: the first mean is compared with it.
    scores : callable, optional
        Returns the scores of a mean; by default the mean itself.
    """

    def __init__(
        self,
        zero: NDArray,
        n_iter: int,
        stretch: int,
        stopping: Stopping,
        *,
        start: NDArray | None = None,
        scores: Callable[[NDArray], NDArray] = np.asarray,
    ) -> None:
        self.n_iter, self.stretch, self.stopping, self._scores_of = n_iter, stretch, stopping, scores
        self.t, self.total = 0, zero.copy()
        self._totals = {0: zero}
        self.scores = None if start is None else scores(start)
        self.change, self.looks, self.settled_for = np.inf, 0, 0

    def add(self, values: NDArray, says: Callable[[], str] = lambda: "") -> bool:
        """Add the next iterate; return True if the mean has settled. `says` is printed where `verbose` asks for it."""
        self.t += 1
        self.total += values
        if self.t % self.stretch == 0 or self.t == tail_start(self.n_iter):
            self._totals[self.t] = self.total.copy()
        verbose, is_time = self.stopping.verbose, self.t % (2 * self.stretch) == 0
        if is_time and (self.stopping.tol is not None or verbose):
            self._look()
        if verbose > 1 or (verbose and is_time):
            print(f"iteration {self.t}: {says()}change {self.change:.2g}")
        return self.is_settled

    @property
    def mean(self) -> NDArray:
        """Mean of the second half of the iterates so far; of a little more where no sum was kept at its start."""
        start = max(t for t in self._totals if t <= tail_start(self.t))
        return (self.total - self._totals[start]) / (self.t - start)

    def _look(self) -> None:
        before, self.scores = self.scores, self._scores_of(self.mean)
        size = max(float(np.linalg.norm(self.scores)), np.finfo(float).tiny)
        self.change = float(np.linalg.norm(self.scores if before is None else self.scores - before)) / size
        self.looks += 1
        tol = self.stopping.tol
        is_still = before is not None and tol is not None and self.change <= tol
        self.settled_for = self.settled_for + 2 * self.stretch if is_still else 0

    @property
    def is_settled(self) -> bool:
        """True if the scores have stopped changing."""
        return self.stopping.tol is not None and self.settled_for >= self.stopping.n_iter_no_change

    @property
    def is_moving(self) -> bool:
        """True if the scores still changed by more than `tol` at the last look, and it was not the first one."""
        return self.stopping.tol is not None and self.looks > 1 and not self.is_settled

    def warn(self, estimator: Any) -> None:
        """Warn if the model was still changing at the last look of the whole run."""
        if self.is_moving and self.t >= self.n_iter:
            warnings.warn(
                f"{type(estimator).__name__} was still moving by {self.change:.1%} after n_iter={estimator.n_iter} iterations "
                f"(tol={self.stopping.tol:g}): raise n_iter, or raise tol if this is accurate enough",
                ConvergenceWarning,
                stacklevel=5,
            )


class ValuesMean(TailMean):
    """Tail mean of f at some training points, whose values the solver carries through the iterations.

    Parameters
    ----------
    task : Task
    model : Expansion
        The fit's model, to which the solver appends.
    first : int
        Number of iterations that it had before the fit.
    rows : ndarray
        Ascending rows whose values the fit needs in the end. The change is measured at 256 others.
    stopping : Stopping

    Attributes
    ----------
    training : TrainingPoints
        The solver's source of mini-batches.
    carried : list of Carried
        Other values that the solver must update.
    """

    def __init__(self, task: Task, model: Expansion, first: int, rows: NDArray, stopping: Stopping) -> None:
        self.first, self.is_watching = first, stopping.tol is not None or stopping.verbose > 0
        self._has_start = first == 0 and task.plan.first_features is not None
        n_iter, checked = task.plan.n_iter - first, evenly_spread(len(task.X), POINTS * self.is_watching)
        self.rows = np.union1d(checked, rows) if n_iter <= MOST_ITERATIONS_SUMMED and self.is_watching else checked
        places = np.searchsorted(self.rows, checked)
        super().__init__(np.zeros(len(self.rows)), n_iter, STRETCH, stopping, scores=lambda mean: mean[places])
        self.training: TrainingPoints
        self._points: Carried
        if is_dense(task, first):
            self.training = self._points = AllPoints(task, model.prefix(first))
            self._at: NDArray | slice = self.rows
            self.carried: list[Carried] = []
        else:
            ends = stages(task, first) if stopping.tol is not None else iter([(first, task.plan.n_iter)])
            self.training = StagedPoints(task, model, first, ends)
            self._points, self._at = Carried(task.X[self.rows], model.prefix(first)), slice(None)
            self.carried = [self._points] if self.is_watching else []

    @property
    def values(self) -> NDArray:
        """The values of f at the rows."""
        return self._points.values[self._at]

    def replay(self, model: Expansion) -> bool:
        """Process the iterations that the fit's model has already, from the first one on; return True if it has settled."""
        for t, block in enumerate(model.blocks[self.first :], start=self.first + 1):
            others: list[Advanced] = [self.training, *self.carried]
            for points in others:
                points.advance(model.frequencies(t, block.shape[1]), block, model.decays[t - 1])
            self.take(None)
        return self.is_settled

    def take(self, iterate: Iterate | None) -> bool:
        """Add f after an iteration; return True if the mean has settled. None stands for one from a checkpoint."""
        if not self.is_watching:
            return False
        if self._has_start and self.t == 0:  # the first mean is compared with the solution
            self.scores = self._scores_of(self.values)
        if iterate is None:
            return self.add(self.values, lambda: "from the checkpoint, ")
        return self.add(self.values, lambda: f"batch objective {objective(iterate.terms):.5g}, ")

    @property
    def known(self) -> NDArray | None:
        """The mean of the last half of all iterations at the rows, or None if its sum was not kept."""
        if self.first or not self.is_watching or tail_start(self.t) % self.stretch:
            return None
        return self.mean.astype(self._points.values.dtype)


class CheckedMean(TailMean):
    """Tail mean of f at the 256 points by which a fit ends, for a run whose points are carried to other ends.

    Parameters
    ----------
    task : Task
    model : Expansion
        Without an iteration yet.
    tol : float
        0: the run never ends by it.
    training : AllPoints, optional
        The training points, if all are carried.
    """

    def __init__(self, task: Task, model: Expansion, tol: float, training: AllPoints | None = None) -> None:
        self._rows = evenly_spread(len(task.X), POINTS * (tol > 0.0))
        self._has_start, self._shared = task.plan.first_features is not None, training
        self._own = Carried(task.X[self._rows], model)
        super().__init__(np.zeros(len(self._rows)), task.plan.n_iter, STRETCH, Stopping(tol=tol or None))

    @property
    def carried(self) -> list[Carried]:
        """Points that the solver must update."""
        return [self._own] if self._shared is None and len(self._rows) else []

    def take(self) -> bool:
        """Add f after an iteration; return True if the mean has settled."""
        if not len(self._rows):
            return False
        values = self._own.values if self._shared is None else self._shared.values[self._rows]
        if self._has_start and self.t == 0:  # the first mean is compared with the solution
            self.scores = values
        return self.add(values)


class StagedPoints:
    """Training points of a fit that may end early: those of a later stage get their values when the fit gets there.

    Parameters
    ----------
    task : Task
    model : Expansion
        The fit's model.
    first : int
        Number of iterations that it had before the fit.
    ends : iterator of (int, int)
        The first and the last iteration of each stage, the first ones not included.
    """

    def __init__(self, task: Task, model: Expansion, first: int, ends: Iterator[tuple[int, int]]) -> None:
        self.task, self.model, self.t, self._last, self._ends = task, model, first, first, ends
        self._points: TrainingPoints

    def _of(self, t: int) -> TrainingPoints:
        if t > self._last:
            first, self._last = next(self._ends)
            self._points = training_points(self.task, self.model.prefix(first), self._last)
        return self._points

    def rows(self, t: int) -> NDArray:
        """Return the rows of iteration `t`'s mini-batches."""
        return self._of(t).rows(t)

    def at(self, t: int) -> NDArray:
        """Return f at the batch points."""
        return self._of(t).at(t)

    def average_at(self, t: int) -> NDArray:
        """Return the averaged f at the batch points."""
        return self._of(t).average_at(t)

    def points(self, t: int) -> NDArray:
        """Return the batch points."""
        return self._of(t).points(t)

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block at the points that are still to be visited in its stage."""
        self.t += 1
        self._of(self.t).advance(W, block, decay)


def stages(task: Task, start: int) -> Iterator[tuple[int, int]]:
    """Return the first and the last iteration of each stage of a fit that may end early, the first ones not included."""
    look = 2 * STRETCH
    n_visits, stop = look * task.batch_size * len(task.rows), task.plan.n_iter
    is_sparse, end = len(task.X) > ROWS_PER_VISIT * n_visits, look
    while start < stop:
        if end > start:
            yield start, min(end, stop)
            start = end
        end = end + look if is_sparse else end * STAGES_GROW
