"""Kernels, computed exactly as k(X, Z), and as random features through the density of their frequencies (Bochner).

This package imports `dsgcore.core` only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import FREQUENCIES, generator
from dsgcore.kernels.kernels import DotProduct, Gaussian, Kernel, Laplacian, Matern, OrthogonalGaussian

__all__ = [
    "GAUSSIAN",
    "KERNELS",
    "DotProduct",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Matern",
    "OrthogonalGaussian",
    "block_frequencies",
]

GAUSSIAN = Gaussian.name
KERNELS: dict[str, type[Any]] = {
    kernel.name: kernel for kernel in (Gaussian, OrthogonalGaussian, Laplacian, Matern, DotProduct)
}


def block_frequencies(kernel: Kernel, seed: int, t: int, d: int, m: int, dtype: np.dtype) -> NDArray:
    """Return the frequencies of iteration `t`, of shape (d, m), in turns per unit; every call gives the same."""
    return kernel.frequencies(generator(seed, FREQUENCIES, t), d, m).astype(dtype, copy=False)
