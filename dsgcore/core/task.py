"""What a run is to solve: the problem, the points, and how they are gone through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.expansion import Expansion
from dsgcore.core.kernels import Kernel
from dsgcore.core.problem import Problem
from dsgcore.core.sampling import batches
from dsgcore.core.schedules import Plan


@dataclass(frozen=True)
class Task:
    """What is to be solved.

    Attributes
    ----------
    problem, kernel : Problem, Kernel
    X : ndarray of shape (n, d)
        All training points; may be a memory map, of which only the visited rows are read.
    rows : source -> ndarray of shape (n_source,)
        Which rows belong to each source.
    plan : Plan
        Step size, ridge and number of features of every iteration.
    batch_size : int
        Points drawn from each source at every iteration.
    seed : int
    dtype : numpy dtype
    """

    problem: Problem
    kernel: Kernel
    X: NDArray
    rows: Mapping[str, NDArray]
    plan: Plan
    batch_size: int
    seed: int
    dtype: np.dtype

    def batch(self, t: int) -> dict[str, NDArray]:
        """Return the rows of iteration `t`'s mini-batches."""
        return batches(self.seed, t, self.rows, dict.fromkeys(self.rows, self.batch_size))

    def new_model(self) -> Expansion:
        """Return the model before the first iteration, f = 0."""
        return Expansion(self.kernel, self.seed, self.X.shape[1], self.dtype)
