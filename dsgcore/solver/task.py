"""A run's task for the solver: the problem, the points, and the order of their visits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import Choice
from dsgcore.core.sampling import places_around
from dsgcore.kernels import Kernel
from dsgcore.solver.model import Expansion
from dsgcore.solver.plan import Plan
from dsgcore.solver.problem import Problem

INDEPENDENT, SHUFFLED = "independent", "shuffled"
FRESH, FIXED = "fresh", "fixed"
SAMPLING = Choice("sampling", INDEPENDENT, options=(INDEPENDENT, SHUFFLED)).called(
    "Sampling", "How the points of a mini-batch are drawn: independently, or in passes over all of them."
)


@dataclass(frozen=True)
class Task:
    """Task for the solver."""

    problem: Problem
    kernel: Kernel
    X: NDArray  # all training points (n, d); may be a memory map, of which only the visited rows are read
    rows: Mapping[str, NDArray]  # the rows of each source, (n_source,)
    plan: Plan
    batch_size: int  # points drawn from each source at every iteration
    seed: int
    dtype: np.dtype
    sampling: str = INDEPENDENT  # or in passes: each row of a source once, in a new random order
    features: str = FRESH  # or fixed: all iterations have those of the first one

    def batch(self, t: int) -> dict[str, NDArray]:
        """Return the rows of iteration `t`'s mini-batches."""
        first, around = self.batches_around(t)
        return dict(zip(self.rows, around[t - first].reshape(len(self.rows), -1), strict=True))

    def batches_around(self, t: int) -> tuple[int, NDArray]:
        """Return the mini-batches of several iterations, `t` among them, source after source, and the first one's number."""
        first, drawn = t, []
        for source, own in self.rows.items():
            first, places = places_around(
                self.seed, source, t, len(own), self.batch_size, is_shuffled=self.sampling == SHUFFLED
            )
            drawn.append(own[places])
        return first, np.concatenate(drawn, axis=1)

    def joined_batches(self, start: int, stop: int) -> NDArray:
        """Return the mini-batches of the iterations after `start` up to `stop`, source after source, (stop - start, S B)."""
        every, t = np.empty((stop - start, self.batch_size * len(self.rows)), dtype=np.int64), start + 1
        while t <= stop:
            first, around = self.batches_around(t)
            end = min(first + len(around), stop + 1)
            every[t - start - 1 : end - start - 1] = around[t - first : end - first]
            t = end
        return every

    def new_model(self) -> Expansion:
        """Return the model before the first iteration, f = 0."""
        return Expansion(self.kernel, self.seed, self.X.shape[1], self.dtype, is_fixed=self.features == FIXED)
