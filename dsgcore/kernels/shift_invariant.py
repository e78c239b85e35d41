"""The Laplacian and Matérn kernels, computed exactly, and through the density of their frequencies.

Both densities have heavy tails: a few frequencies are so large that float32 keeps nothing of their phase. Such
a feature is noise with the same size and a mean of almost zero. The mean over m features hardly changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from dsgcore.core.documented import documented
from dsgcore.core.parameters import choice, real
from dsgcore.kernels.base import Kernel


@documented
@dataclass(frozen=True)
class Laplacian(Kernel):
    """The Laplacian kernel k(x, x') = exp(-sigma ||x - x'||_1); each coordinate of its frequencies is Cauchy(0, sigma).

    sigma is the inverse width, in 1 / (units of x); scikit-learn calls it ``gamma``.

    Parameters
    ----------
    sigma : Inverse bandwidth
        How quickly similarity fades with distance: exp(−σ‖x−x'‖₁). A larger σ is a narrower kernel.

    Notes
    -----
    Source: Rahimi and Recht, Random Features for Large-Scale Kernel Machines (NIPS 2007), Figure 1.
    """

    sigma: float = real(1.0, low=1e-6, high=1e6, scale="log", symbol="σ", usual=(0.01, 100.0))

    name = "laplacian"

    @property
    def width(self) -> float:
        """The distance at which the kernel is exp(-1)."""
        return 1 / self.sigma

    @staticmethod
    def like_gaussian(sigma: float, d: int) -> float:
        """Return the σ with 1/e at the same distance r: the sum of d normal differences is about sqrt(2 d / pi) r."""
        return math.sqrt(sigma * math.pi / (2 * d))

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return k(x_i, z_j), of shape (n, p)."""
        return np.exp(-self.sigma * cdist(X, Z, "cityblock"))

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        """Draw float32 frequencies of shape (d, m), in turns per unit."""
        W = rng.standard_cauchy((d, m))
        W *= self.sigma / (2 * np.pi)
        return W.astype(np.float32)


# nu, and the polynomial in r = sqrt(2 nu) ||x - x'|| / length before exp(-r).
MATERN = {
    "1/2": (0.5, lambda r: 1.0),
    "3/2": (1.5, lambda r: 1.0 + r),
    "5/2": (2.5, lambda r: 1.0 + r + r**2 / 3.0),
}


@documented
@dataclass(frozen=True)
class Matern(Kernel):
    """The Matérn kernel: with r = sqrt(2 nu) ||x - x'|| / length, exp(-r) times 1, 1 + r or 1 + r + r^2 / 3.

    Its frequencies follow a multivariate t distribution with 2 nu degrees of freedom: g sqrt(2 nu / chi2) / length, with
    g ~ N(0, I) and chi2 of 2 nu degrees. Functions drawn from the kernel have nu - 1/2 derivatives.

    length is in units of x; scikit-learn calls it ``length_scale``.

    Parameters
    ----------
    length : Bandwidth
        Distance over which two points are similar. A larger one is a wider kernel.
    nu : Smoothness
        Smoothness of the functions: 1/2 has kinks, 5/2 has two derivatives.

    Notes
    -----
    Source: Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), (4.14)-(4.17).
    """

    length: float = real(1.0, low=1e-6, high=1e6, scale="log", symbol="ℓ", usual=(0.01, 100.0))
    nu: str = choice("3/2", options=tuple(MATERN), symbol="ν")

    name = "matern"

    @property
    def width(self) -> float:
        """The kernel's length scale."""
        return self.length

    @staticmethod
    def like_gaussian(sigma: float, d: int) -> float:
        """Return the length for which the kernel becomes the Gaussian one as nu grows."""
        return 1 / math.sqrt(2 * sigma)

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return k(x_i, z_j), of shape (n, p)."""
        nu, polynomial = MATERN[self.nu]
        r = cdist(X, Z) * ((2 * nu) ** 0.5 / self.length)
        return polynomial(r) * np.exp(-r)

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        """Draw float32 frequencies of shape (d, m), in turns per unit."""
        nu, _ = MATERN[self.nu]
        W = rng.standard_normal((d, m))
        W *= np.sqrt(2 * nu / rng.chisquare(2 * nu, m)) / (2 * np.pi * self.length)
        return W.astype(np.float32)
