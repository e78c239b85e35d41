"""A run's task for the solver: the problem, the points, and the order of their visits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import Choice
from dsgcore.kernels import Kernel
from dsgcore.kernels.draws import drawn_rows
from dsgcore.solver.model import Expansion
from dsgcore.solver.plan import Plan
from dsgcore.solver.problem import Problem

INDEPENDENT, SHUFFLED = "independent", "shuffled"
SAMPLING = Choice("sampling", INDEPENDENT, options=(INDEPENDENT, SHUFFLED)).called(
    "Sampling", "How the points of a mini-batch are drawn: independently, or in passes over all of them."
)


def drawn(seed: int, t: int, rows: Mapping[str, NDArray], size: int, sampling: str = INDEPENDENT) -> dict[str, NDArray]:
    """Return the rows of iteration `t`'s mini-batches, source -> (size,), drawn from each source's rows."""
    is_shuffled = sampling == SHUFFLED
    return {source: drawn_rows(seed, source, t, own, size, is_shuffled=is_shuffled) for source, own in rows.items()}


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

    def batch(self, t: int) -> dict[str, NDArray]:
        """Return the rows of iteration `t`'s mini-batches."""
        return drawn(self.seed, t, self.rows, self.batch_size, self.sampling)

    def joined_batch(self, t: int) -> NDArray:
        """Return the same in one array, source after source."""
        return np.concatenate(list(self.batch(t).values()))

    def new_model(self) -> Expansion:
        """Return the model before the first iteration, f = 0."""
        return Expansion(self.kernel, self.seed, self.X.shape[1], self.dtype)
