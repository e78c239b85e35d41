"""What can be told of a run's progress and noise while it goes on, for next to nothing: folded over its records.

All of it is read at a few probes, every eighth iteration: there the values themselves, whether two updates in a row agree, and how
much variance features and batches have brought into the values so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.kernels import Kernel
from dsgcore.core.solver import Iterate

# So often a reading is taken, at so many probes, of so many places of a batch.
STRIDE, PROBES, PLACES = 8, 24, 64
# Of a batch of one point nothing can be told: so many readings' are taken together.
POOLED = 32
# A reading's share of the running mean of how two updates in a row agree.
FORGETS = 0.2


@dataclass(frozen=True, eq=False)
class Reading:
    """What the gauges read after iteration `t`, which was made with the step size `step`."""

    t: int
    step: float
    reach: float  # sum of the step sizes so far
    f: NDArray  # values at the probes, of shape (p,)
    # Mean over the probes of the variance that the random features, and that the batches, have brought into f so far, as if no
    # later step mended any of it; NaN where there are no random features.
    features: float
    batches: float
    update: float  # its mean square
    # Running mean of the cosine between two updates in a row: positive on a way, negative where steps overshoot or noise alone
    # is left.
    agreement: float


class BatchSpread:
    """The variance of a batch's gradient at the probes, from the spread over its places.

    g_b(z) = B sum over the sources of c_b k(x_b, z) belongs to one place b of the batch. The sources' points of one place are
    summed up before the variance is taken, for losses of pairs and triplets bind them together.
    """

    def __init__(self, kernel: Kernel, probes: NDArray) -> None:
        self.kernel, self.probes = kernel, np.asarray(probes, dtype=np.float64)

    def each(self, iterate: Iterate) -> NDArray:
        """Return g_b at the probes for some of an iteration's places, of shape (places, p)."""
        n_sources, size = len(iterate.batch), len(iterate.weights) // len(iterate.batch)
        places = np.arange(min(size, PLACES))
        rows = (np.arange(n_sources)[:, None] * size + places).ravel()
        K = self.kernel.matrix(np.asarray(iterate.points[rows], dtype=np.float64), self.probes)
        K *= size * iterate.weights[rows, None]
        summed: NDArray = K.reshape(n_sources, len(places), -1).sum(axis=0)
        return summed


class Gauges:
    """Readings of a run at every eighth iteration, of `n` values at up to two dozen probes; of none nothing is read."""

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
        """Add an iteration of batches of `size`; one that has been added before, as those that are made again are, counts once.

        `read` is asked now and then: it returns the values at the probes, the features' variance there, and what returns the
        gradient of each place of the batch, of shape (places, n).
        """
        if t <= self.t or not len(self._f):
            return
        self.t, left, is_first = t, -t % STRIDE, self.t == 0
        f, features, each = read() if left <= 2 or is_first else (self._f, 0.0, None)
        if each is not None and (left == 0 or is_first):
            self._measure(each(), size)
        self._reach += step
        # As noisy as the iteration measured last: V_b <- (1 - eta lambda)^2 V_b + eta^2 Var_b[g_b] / B.
        self._batches = decay**2 * self._batches + step**2 * self._of_gradient
        if left <= 2:
            self._note(t, step, f.astype(np.float64), features)

    def _measure(self, each: NDArray, size: int) -> None:
        if size == 1:
            self._pool = each = np.concatenate([self._pool, each])[-POOLED:]
        if len(each) > 1:
            self._of_gradient = float(each.var(axis=0, ddof=1).mean()) / size

    def _note(self, t: int, step: float, f: NDArray, features: float) -> None:
        """Keep the values two iterations and one before a reading; with the third, take it."""
        update = f - self._f
        if t % STRIDE == 0:
            self._agreement += FORGETS * (_cosine(update, self._update) - self._agreement)
            of_noise = (features, self._batches, float(np.mean(update**2)), self._agreement)
            self.readings.append(Reading(t, step, self._reach, f, *of_noise))
        self._f, self._update = f, update

    def up_to(self, t: int) -> list[Reading]:
        """Return the readings of the first `t` iterations."""
        return [reading for reading in self.readings if reading.t <= t]


def _cosine(u: NDArray, v: NDArray) -> float:
    sizes = float(np.linalg.norm(u) * np.linalg.norm(v))
    return float(u @ v) / sizes if 0.0 < sizes < np.inf else 0.0
