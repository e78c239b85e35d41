"""Mean of the second half's weights, and its convergence check."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.core.schedules import tail_start
from dsgcore.multiclass.task import MultiClassTask

# Sums are kept at multiples of this number of iterations. The mean is checked after an even number of such stretches.
STRETCH = 100
# Number of labeled points at which the change of the mean's scores is measured.
POINTS = 256


class TailMean:
    """Running sums of the weights, so that the mean of the second half is known at any end of the run.

    The mean has converged if its scores change by no more than the share `tol` of their size, for `n_iter_no_change`
    iterations. The change is a root mean square over some of the labeled points. With a `tol` of None the check never
    succeeds. With `verbose` every check prints a line.
    """

    def __init__(self, task: MultiClassTask, *, tol: float | None, n_iter_no_change: int, verbose: int) -> None:
        self.tol, self.patience, self.verbose = tol, n_iter_no_change, verbose
        self.n_iter, self.t = task.problem.n_iter, 0
        self.total = task.start()
        self._totals = {0: self.total.copy()}
        self._phi = task.X[evenly_spread(len(task.X), POINTS)]
        self._scores = self._phi @ self.total
        self.change, self.looks, self.settled_for = np.inf, 0, 0

    def take(self, t: int, W: NDArray) -> bool:
        """Add the weights after iteration `t`; return True if the mean has converged."""
        self.t = t
        self.total += W
        if t % STRETCH == 0 or t == tail_start(self.n_iter):
            self._totals[t] = self.total.copy()
        if t % (2 * STRETCH) == 0 and (self.tol is not None or self.verbose):
            self._look()
        return self.is_settled

    @property
    def mean(self) -> NDArray:
        """Mean of the weights over the second half of the iterations made."""
        start = tail_start(self.t)
        return (self.total - self._totals[start]) / (self.t - start)

    @property
    def is_settled(self) -> bool:
        """True if the mean has converged."""
        return self.tol is not None and self.settled_for >= self.patience

    @property
    def is_moving(self) -> bool:
        """True if the averaged scores still changed by more than `tol` at the last check."""
        return self.tol is not None and self.looks > 1 and not self.is_settled

    def _look(self) -> None:
        scores = self._phi @ self.mean
        size = max(float(np.linalg.norm(scores)), np.finfo(float).tiny)
        self.change, self._scores = float(np.linalg.norm(scores - self._scores)) / size, scores
        self.looks += 1
        is_still = self.tol is not None and self.change <= self.tol
        self.settled_for = self.settled_for + 2 * STRETCH if is_still else 0
        if self.verbose:
            print(f"iteration {self.t}: the mean's scores moved by {self.change:.2g} of their size")
