"""The dot product kernel, computed exactly, and through real-valued random features that are products, not cosines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.parameters import choice, real
from dsgcore.kernels import features_product
from dsgcore.kernels.base import Kernel
from dsgcore.kernels.features import FeatureMap


@documented
@dataclass(frozen=True)
class DotProduct(Kernel):
    """The dot product kernel k(x, x') = (sigma ⟨x, x'⟩)^power, with the features prod_l ⟨w_l, x⟩ of random signs w_l.

    With w_1 .. w_p of independent entries +-sqrt(sigma), E[prod_l ⟨w_l, x⟩ ⟨w_l, x'⟩] = (sigma ⟨x, x'⟩)^p: the random
    Maclaurin features of a single monomial. The variance of one feature's product is
    sigma^2p [(||x||^2 ||x'||^2 + 2 ⟨x, x'⟩^2 - 2 sum_i x_i^2 x'_i^2)^p - ⟨x, x'⟩^2p]. sigma and p are the paper's sigma_1, in
    1 / (units of x)^2, and sigma_2.

    Parameters
    ----------
    sigma : Kernel scale
        Factor of the product of two points: (σ₁⟨x, x'⟩)^p.
    power : Power
        Degree of the polynomials. 1 is linear.

    Notes
    -----
    Source: TSGSU, "Experiments" (high-dimensional data sets); features: Kar and Karnick, Random Feature Maps
    for Dot Product Kernels (AISTATS 2012), Algorithm 1 with a fixed degree.

    The kernel is not bounded: the papers' bound on the random features' error holds on a bounded set of points
    only, and is infinite here.
    """

    sigma: float = real(1.0, low=1e-6, high=1e6, scale="log", symbol="σ₁", usual=(0.001, 10.0))
    power: str = choice("3", options=("1", "3", "5"), symbol="σ₂")

    name = "dot_product"
    bound = math.inf
    feature_bound = math.inf
    feature_map: ClassVar[FeatureMap] = features_product

    @property
    def factors(self) -> int:
        """The power."""
        return int(self.power)

    @staticmethod
    def like_gaussian(sigma: float, d: int) -> float:
        """Return the scale with k(x, x) at most 1 for nearly all points: those up to three deviations above the mean length."""
        mean, deviation = 1 / 3, math.sqrt(4 / 45)  # of the square of a coordinate that is uniform in [0, 1]
        return 1 / (mean * d + 3 * deviation * math.sqrt(d))

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return k(x_i, z_j), of shape (n, p)."""
        return (self.sigma * (np.asarray(X, dtype=float) @ np.asarray(Z, dtype=float).T)) ** int(self.power)

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        """Draw the random signs, times sqrt(sigma), as float32 of shape (power, d, m)."""
        signs = rng.integers(0, 2, size=(int(self.power), d, m), dtype=np.int8)
        return (2 * signs - 1).astype(np.float32) * np.float32(self.sigma**0.5)
