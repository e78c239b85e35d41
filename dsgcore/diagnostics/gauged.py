"""Quantities derived from a run's gauges: recent progress of f, its fluctuation, and the reach of its steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.gauges import STRIDE, Reading
from dsgcore.experiments.run import Run


class Gauged:
    """A run's gauge values up to iteration `t`, at least one; sizes are relative to the size of f at the probes."""

    def __init__(self, run: Run, t: int, readings: list[Reading]) -> None:
        self.run, self.t, self.readings, self.last = run, t, readings, readings[-1]
        self.size = float(np.sqrt(np.mean(self.last.f**2)))
        self.step = run.engine.step_at(min(t + 1, run.n_iter))
        self.largest = run.engine.largest_step

    def relative(self, square: float) -> float:
        """Return the root of a mean square, relative to the size of f."""
        return float(np.sqrt(square)) / self.size if self.size > 0 else 0.0

    @property
    def moved(self) -> float:
        """The distance that f moved in the second half of the iterations."""
        return self.relative(float(np.mean((self._near(self.t) - self._near(self.t / 2)) ** 2)))

    def _near(self, t: float) -> NDArray:
        """Return the mean of f over the last eighth before `t`, so that noise does not count as movement."""
        some = [r.f for r in self.readings if 0.875 * t - STRIDE < r.t <= t] or [self.readings[0].f]
        mean: NDArray = np.mean(some, axis=0)
        return mean

    @property
    def wander(self) -> float:
        """The fluctuation of f, from second differences, which are zero on a straight path."""
        F = np.array([r.f for r in self.readings if r.t > self.t / 2])
        lag = max(1, len(F) // 8)
        bends = F[2 * lag :] - 2.0 * F[lag:-lag] + F[: -2 * lag]
        return self.relative(float(np.mean(bends**2)) / 6.0) if bends.size else 0.0

    @property
    def reach(self) -> float:
        """The sum of all step sizes to the planned end, in units of half the largest step; infinite if no step is too large."""
        if self.largest is None:
            return np.inf
        left = self.run.n_iter - self.t
        still = left * float(np.sqrt(self.step * self.run.engine.step_at(self.run.n_iter)))
        return (self.last.reach + still) * 2.0 / self.largest
