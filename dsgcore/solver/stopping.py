"""The end of a fit: the mean of the iterates' second half, and the rule that it has stopped changing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from dsgcore.core.cost import per_cent
from dsgcore.core.parameters import AUTOMATIC, Checked, Real, integer, real
from dsgcore.core.sampling import evenly_spread
from dsgcore.solver.loop import AllPoints, Carried, Iterate, TrainingPoints
from dsgcore.solver.model import Expansion
from dsgcore.solver.problem import objective
from dsgcore.solver.task import Task, tail_start

# Points at which the change of f is measured, and iterations between two kept sums of its values there.
POINTS, STRETCH = 256, 25
# In longer fits, sums of values at many points would need too much memory.
MOST_ITERATIONS_SUMMED = 20_000

TOL = Real("tol", AUTOMATIC, low=0.0, high=1.0, optional=True, words=(AUTOMATIC,))


@dataclass(frozen=True)
class Stopping(Checked):
    """Early stopping of a fit, and its printed output: the estimators' parameters of these names, with a number for 'auto'."""

    tol: float | None = real(0.02, low=0.0, high=1.0, optional=True)
    n_iter_no_change: int = integer(
        50,
        low=1,
        high=100_000,
        label="Iterations at rest",
        sentence="Number of iterations for which the change must stay within `tol`.",
    )
    verbose: int = integer(
        0, low=0, takes_flags=True, sentence="If above 0, print the change at every check; above 1, at every iteration."
    )


class TailMean:
    """Mean of the second half of the iterates, whatever their number will be, and the rule that it has settled.

    An iterate is an array: weights, or the values of f at some points; `zero` is the sum of none. Sums are kept at every `stretch`
    of at most `n_iter` iterations. At every second of these times the mean's `scores` (by default the mean itself) are compared
    with those before. It has settled if they changed by no more than the share `tol` of their size, for `n_iter_no_change`
    iterations. `start` is the iterate before the first one, if it is a solution already: the first mean is compared with it.
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
        # The change at the last look, iterations without one, and True if the scores still changed at a look but the first.
        self.change, self.settled_for, self.looks = np.inf, 0, 0
        self.is_settled = self.is_moving = False
        self.seen: tuple[int, NDArray] = 0, zero  # the iterations up to the last look, and the mean then

    def add(self, values: NDArray, says: Callable[[], str] = lambda: "") -> bool:
        """Add the next iterate; return True if the mean has settled. `says` is printed where `verbose` asks for it."""
        self.t += 1
        self.total += values
        if self.t % self.stretch == 0 or self.t == tail_start(self.n_iter):
            self._totals[self.t] = self.total.copy()
        tol, verbose, is_time = self.stopping.tol, self.stopping.verbose, self.t % (2 * self.stretch) == 0
        if is_time and (tol is not None or verbose):
            self.seen = self.t, self.mean
            before, self.scores = self.scores, self._scores_of(self.seen[1])
            size = max(float(np.linalg.norm(self.scores)), np.finfo(float).tiny)
            self.change = float(np.linalg.norm(self.scores if before is None else self.scores - before)) / size
            self.looks += 1
            is_still = before is not None and tol is not None and self.change <= tol
            self.settled_for = self.settled_for + 2 * self.stretch if is_still else 0
            self.is_settled = self.settled_for >= self.stopping.n_iter_no_change
            self.is_moving = tol is not None and self.looks > 1 and not self.is_settled
        if verbose > 1 or (verbose and is_time):
            print(f"iteration {self.t}: {says()}{f'change {self.change:.2g}' if self.looks else 'not compared yet'}")
        return self.is_settled

    @property
    def mean(self) -> NDArray:
        """Mean of the second half of the iterates so far; of a little more where no sum was kept at its start."""
        start = max(t for t in self._totals if t <= tail_start(self.t))
        return (self.total - self._totals[start]) / (self.t - start)

    def warn(self, estimator: Any) -> None:
        """Warn if the model was still changing at the last look of the whole run."""
        if self.is_moving and self.t >= self.n_iter:
            warnings.warn(
                f"{type(estimator).__name__} was still moving by {per_cent(self.change, 1)} after n_iter={self.n_iter} "
                f"iterations (tol={self.stopping.tol:g}): raise n_iter, or raise tol if this is accurate enough",
                ConvergenceWarning,
                stacklevel=5,
            )


class ValuesMean(TailMean):
    """Tail mean of f at some training points, whose values the solver carries through the iterations of `model`.

    If `training`, the solver's source of mini-batches, has all points, their values serve here; else `carried` is what the solver
    must update, too. `needed` are ascending rows whose values the fit needs in the end. The change is measured at 256 others.
    """

    def __init__(
        self,
        task: Task,
        model: Expansion,
        training: TrainingPoints,
        stopping: Stopping,
        needed: Sequence[int] | NDArray = (),
    ) -> None:
        self.first, self.model, self.training = len(model), model, training
        self.is_watching = stopping.tol is not None or stopping.verbose > 0
        n_iter, checked = task.plan.n_iter - len(model), evenly_spread(len(task.X), POINTS * self.is_watching)
        has_needed = self.is_watching and len(needed) and n_iter <= MOST_ITERATIONS_SUMMED
        self.rows = np.union1d(checked, np.asarray(needed, dtype=np.intp)) if has_needed else checked
        places = np.searchsorted(self.rows, checked)
        super().__init__(np.zeros(len(self.rows)), n_iter, STRETCH, stopping, scores=partial(np.take, indices=places))
        self._has_start = self.first == 0 and task.plan.first_features is not None
        own = None if isinstance(training, AllPoints) else Carried(task.X[self.rows], model)
        self._points = cast(Carried, training if own is None else own)
        self._at: NDArray | slice = self.rows if own is None else slice(None)
        self.carried = [own] if own is not None and self.is_watching else []
        self.values = self._points.values[self._at]  # of f at the rows

    def replay(self, earlier: Expansion) -> bool:
        """Give the model the iterations of an earlier one, as the solver would; return True if the mean has settled."""
        for t, (block, decay) in enumerate(zip(earlier.blocks, earlier.decays, strict=True), start=1):
            self.training.batch(t)  # a stage begins with its first batch
            self.model.blocks.append(block)
            self.model.decays.append(decay)
            for points in (self.training, *self.carried):
                points.advance(earlier.frequencies(t, block.shape[1]), block, decay)
            self.take()
        return self.is_settled

    def take(self, iterate: Iterate | None = None) -> bool:
        """Add f after an iteration; return True if the mean has settled. The iterate itself is printed only."""
        if not self.is_watching:
            return False
        self.values = self._points.values[self._at]
        if self._has_start and self.t == 0:  # the first mean is compared with the solution
            self.scores = self._scores_of(self.values)
        return self.add(
            self.values,
            lambda: "from the checkpoint, " if iterate is None else f"batch objective {objective(iterate.terms):.5g}, ",
        )
