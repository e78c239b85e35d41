"""Interface of a kernel: k(x, x') and the distribution of its random features; the rest has defaults."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.cost import SECONDS_A_DISTANCE, SECONDS_A_VALUE
from dsgcore.core.parameters import Checked
from dsgcore.core.pauses import pause
from dsgcore.kernels import features
from dsgcore.kernels.features import FeatureMap

# Number of kernel values in memory at a time.
MAX_VALUES = 2**21


class Kernel(Checked, Protocol):
    """A kernel for the solver, the model and the diagnostics; a frozen dataclass with two methods fulfils it.

    Attributes
    ----------
    name : str
    family : str
        The name of the exact kernel, if several kernels differ only in their random features; else empty.
    parameters : tuple of Parameter
        The parameters and their ranges: the dataclass's fields that are made by `real`, `choice` and the like.
    bound : float
        kappa, the largest k(x, x).
    feature_bound : float
        phi, the largest |phi_w(x)' phi_w(x')|.
    feature_map : FeatureMap
        The module that accumulates and evaluates its random features.
    factors : int
        Number of projections in one feature.
    """

    name: ClassVar[str]
    family: ClassVar[str] = ""
    bound: ClassVar[float] = 1.0
    feature_bound: ClassVar[float] = 1.0
    feature_map: ClassVar[FeatureMap] = features

    @property
    def width(self) -> float | None:
        """The distance over which two points become different; None if that depends on the points' position."""
        return None

    @property
    def factors(self) -> int:
        """The number of projections in one feature."""
        return 1

    @staticmethod
    def like_gaussian(sigma: float, d: int) -> float | None:
        """Return the width for d coordinates in [0, 1] that corresponds to this Gaussian σ; None: the default."""
        return None

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return k(x_i, z_j), of shape (n, p)."""
        ...

    def sums(self, X: NDArray, c: NDArray, Z: NDArray, decay: float, out: NDArray) -> None:
        """Set ``out[p] = decay * out[p] + sum_b c[b] k(x_b, z_p)`` in place, in pieces of the matrix."""
        size = max(1, MAX_VALUES // max(1, len(X)))
        out *= out.dtype.type(decay)
        with single_threaded_blas():
            for start in range(0, len(Z), size):
                out[start : start + size] += c @ self.matrix(X, Z[start : start + size])
                pause()

    def seconds_of_sums(self, values: int, d: int, itemsize: int) -> float:
        """Estimate the seconds in which `sums` computes so many kernel values at points with `d` coordinates."""
        return values * (SECONDS_A_VALUE + d * SECONDS_A_DISTANCE)

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        """Draw float32 features: (d, m) frequencies in turns per unit, or another form for `feature_map`."""
        ...
