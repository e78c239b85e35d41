"""A kernel of one wave along each coordinate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import real
from dsgcore.kernels.kernels import Kernel


@dataclass(frozen=True)
class ToyKernel(Kernel):
    """The mean over the coordinates of cos(pace (x - x'))."""

    pace: float = real(2.0, low=0.01, high=100.0, scale="log", symbol="a", label="Pace", sentence="Of the waves.")

    name = "toy_kernel"

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        return np.cos(self.pace * (X[:, None, :] - Z[None, :, :])).mean(axis=2)

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        W = np.zeros((d, m), dtype=np.float32)
        W[rng.integers(0, d, m), np.arange(m)] = self.pace / (2 * np.pi)
        return W
