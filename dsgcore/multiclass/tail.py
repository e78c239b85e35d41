"""Mean of the second half's weights, and its convergence check."""

from __future__ import annotations

from numpy.typing import NDArray

from dsgcore.core.plan import tail_start
from dsgcore.core.sampling import evenly_spread
from dsgcore.estimators.stopping import StoppingRule
from dsgcore.multiclass.task import MultiClassTask

# Sums are kept at multiples of this number of iterations. The mean is checked after an even number of such stretches.
STRETCH = 100
# Number of labeled points at which the change of the mean's scores is measured.
POINTS = 256


class TailMean:
    """Running sums of the weights, so that the mean of the second half is known at any end of the run.

    `rule` tells if the mean has converged, from its scores at some of the labeled points. With `verbose` every check
    prints a line.
    """

    def __init__(self, task: MultiClassTask, *, tol: float | None, n_iter_no_change: int, verbose: int) -> None:
        self.verbose = verbose
        self.n_iter, self.t = task.problem.n_iter, 0
        self.total = task.start()
        self._totals = {0: self.total.copy()}
        self._phi = task.X[evenly_spread(len(task.X), POINTS)]
        self.rule = StoppingRule(tol, n_iter_no_change, self._phi @ self.total)

    def take(self, t: int, W: NDArray) -> bool:
        """Add the weights after iteration `t`; return True if the mean has converged."""
        self.t = t
        self.total += W
        if t % STRETCH == 0 or t == tail_start(self.n_iter):
            self._totals[t] = self.total.copy()
        if t % (2 * STRETCH) == 0 and (self.rule.tol is not None or self.verbose):
            self._look()
        return self.rule.is_settled

    @property
    def mean(self) -> NDArray:
        """Mean of the weights over the second half of the iterations made."""
        start = tail_start(self.t)
        return (self.total - self._totals[start]) / (self.t - start)

    def _look(self) -> None:
        self.rule.look(self._phi @ self.mean, 2 * STRETCH)
        if self.verbose:
            print(f"iteration {self.t}: the mean's scores moved by {self.rule.change:.2g} of their size")
