"""A run's task for the solver: the problem, the points, and the order of their visits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.kernels import Kernel
from dsgcore.kernels.draws import drawn_rows
from dsgcore.solver.model import Expansion
from dsgcore.solver.plan import Plan
from dsgcore.solver.problem import Problem


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

    def batch(self, t: int) -> dict[str, NDArray]:
        """Return the rows of iteration `t`'s mini-batches."""
        return {source: drawn_rows(self.seed, source, t, own, self.batch_size) for source, own in self.rows.items()}

    def new_model(self) -> Expansion:
        """Return the model before the first iteration, f = 0."""
        return Expansion(self.kernel, self.seed, self.X.shape[1], self.dtype)
