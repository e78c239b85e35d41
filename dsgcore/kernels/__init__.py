"""Kernels, computed exactly as k(X, Z), and as random features through the density of their frequencies (Bochner).

This package imports `dsgcore.core` only.
"""

from __future__ import annotations

from typing import Any

from dsgcore.kernels.kernels import (
    DotProduct,
    Gaussian,
    Kernel,
    Laplacian,
    Matern,
    OrthogonalGaussian,
    block_frequencies,
)

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
