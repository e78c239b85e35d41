"""Cheap gauges of a run's progress and noise, computed from the solver's records while it runs.

They are read at a few probes, every eighth iteration:

- the values there
- the agreement of two successive updates
- the variance that features and mini-batches have added to the values so far
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.kernels import Kernel
from dsgcore.solver.loop import Beginning, Iterate

# Iterations between readings, number of probes, and number of places of a batch.
STRIDE, PROBES, PLACES = 8, 24, 64
# A batch of one point shows no spread, so the points of this many readings are used together.
POOLED = 32
# Weight of a reading in the running mean of the agreement of two successive updates.
FORGETS = 0.2


@dataclass(frozen=True, eq=False)
class Reading:
    """Gauge values after iteration `t`, which was made with the step size `step`."""

    t: int
    step: float
    reach: float  # sum of the step sizes so far
    f: NDArray  # values at the probes, of shape (p,)
    # Means over the probes of the variance that the random features, and the batches, have added to f so far, as if no
    # later step reduced it; NaN without random features.
    features: float
    batches: float
    update: float  # its mean square
    # Running mean of the cosine between two successive updates: positive on a path, negative if steps overshoot or if
    # only noise is left.
    agreement: float


@dataclass(frozen=True, eq=False)
class BatchSpread:
    """The variance of a batch's gradient at the probes, from the spread over its places.

    g_b(z) = B sum over the sources of c_b k(x_b, z) belongs to one place b of the batch. The sources' points of one
    place are summed before the variance is taken, because losses of pairs and triplets couple them.
    """

    kernel: Kernel
    probes: NDArray

    def each(self, iterate: Iterate) -> NDArray:
        """Return g_b at the probes for some of an iteration's places, of shape (places, p); zeros for one without a batch."""
        if isinstance(iterate, Beginning):
            return np.zeros((2, len(self.probes)))
        n_sources, size = len(iterate.sources), len(iterate.weights) // len(iterate.sources)
        places = np.arange(min(size, PLACES))
        rows = (np.arange(n_sources)[:, None] * size + places).ravel()
        K = self.kernel.matrix(iterate.points[rows].astype(np.float64), self.probes.astype(np.float64))
        K *= size * iterate.weights[rows, None]
        summed: NDArray = K.reshape(n_sources, len(places), -1).sum(axis=0)
        return summed


class Gauges:
    """Readings of a run at every eighth iteration, for `n` values at up to two dozen probes. If n is 0, nothing is read."""

    def __init__(self, n: int) -> None:
        self.readings: list[Reading] = []
        self.t = 0
        self._f, self._update = np.zeros(n), np.zeros(n)
        self._agreement = self._reach = 0.0
        self._batches = self._of_gradient = 0.0
        self._pool = np.empty((0, n))

    def advance(
        self,
        t: int,
        step: float,
        decay: float,
        size: int,
        read: Callable[[], tuple[NDArray, float, Callable[[], NDArray]]],
    ) -> None:
        """Add an iteration with batches of `size`. An iteration that is repeated counts only once.

        `read` is called now and then. It returns the values at the probes, the features' variance there, and a function
        that returns the gradient of each place of the batch, of shape (places, n).
        """
        if t <= self.t or not len(self._f):
            return
        self.t, left, is_first = t, -t % STRIDE, self.t == 0
        f, features, each = read() if left <= 2 or is_first else (self._f, 0.0, None)
        if each is not None and (left == 0 or is_first):
            own = each()
            if size == 1:
                self._pool = own = np.concatenate([self._pool, own])[-POOLED:]
            if len(own) > 1:
                self._of_gradient = float(own.var(axis=0, ddof=1).mean()) / size
        self._reach += step
        # As noisy as the iteration measured last: V_b <- (1 - eta lambda)^2 V_b + eta^2 Var_b[g_b] / B.
        self._batches = decay**2 * self._batches + step**2 * self._of_gradient
        if left > 2:
            return
        # The values two iterations and one iteration before a reading are kept; it is taken with the third.
        f = f.astype(np.float64)
        update = f - self._f
        if left == 0:
            sizes = float(np.linalg.norm(update) * np.linalg.norm(self._update))
            cosine = float(update @ self._update) / sizes if 0.0 < sizes < np.inf else 0.0
            self._agreement += FORGETS * (cosine - self._agreement)
            of_noise = (features, self._batches, float(np.mean(update**2)), self._agreement)
            self.readings.append(Reading(t, step, self._reach, f, *of_noise))
        self._f, self._update = f, update

    def up_to(self, t: int) -> list[Reading]:
        """Return the readings of the first `t` iterations."""
        return [reading for reading in self.readings if reading.t <= t]
