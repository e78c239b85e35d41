"""The mean of the second half's weights, and when it has come to rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.core.schedules import tail_start
from dsgcore.multiclass.task import MultiClassTask

# Sums are kept at every so many iterations; the mean is looked at after an even number of such stretches.
STRETCH = 100
# At so many labeled points it is looked at how far the mean's scores move.
POINTS = 256


class TailMean:
    """Sums weights up as a run goes on, so that the mean of its second half is at hand wherever it ends.

    It is enough when the mean's scores move by no more than the share `tol` of their size, in the root mean square over some of
    the labeled points, for `n_iter_no_change` iterations; with None it never is. With `verbose` every look prints a line.
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
        """Take in the weights after iteration `t`; return whether it is enough."""
        self.t = t
        self.total += W
        if t % STRETCH == 0 or t == tail_start(self.n_iter):
            self._totals[t] = self.total.copy()
        if t % (2 * STRETCH) == 0 and (self.tol is not None or self.verbose):
            self._look()
        return self.is_settled

    @property
    def mean(self) -> NDArray:
        """The mean of the weights after the second half of the iterations made."""
        start = tail_start(self.t)
        return (self.total - self._totals[start]) / (self.t - start)

    @property
    def is_settled(self) -> bool:
        """Whether the mean has come to rest."""
        return self.tol is not None and self.settled_for >= self.patience

    @property
    def is_moving(self) -> bool:
        """Whether the mean was seen to move when it was to come to rest."""
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
