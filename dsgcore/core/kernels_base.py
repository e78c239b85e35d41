"""What a kernel is: k(x, x') and the distribution of its random features; the rest has fallbacks."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dsgcore.core import features
from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.cost import SECONDS_A_DISTANCE, SECONDS_A_VALUE
from dsgcore.core.features import FeatureMap
from dsgcore.core.parameters import Checked, Parameter, parameters_of_fields
from dsgcore.core.pauses import pause

# Kernel values held at a time.
MAX_VALUES = 2**21


class Kernel(Checked, Protocol):
    """What the solver, the model and the diagnostics need of a kernel; a frozen dataclass with two methods fulfils it.

    Attributes
    ----------
    name : str
    family : str
        The kernel that it is, whatever its random features, where others are the same; empty: no other is.
    parameters : tuple of Parameter
        What can be set, with its range: the dataclass's fields that are made by `real`, `choice` and the like.
    bound : float
        kappa, the largest k(x, x).
    feature_bound : float
        phi, the largest |phi_w(x)' phi_w(x')|.
    feature_map : FeatureMap
        How its random features are accumulated and evaluated.
    has_independent_features : bool
        Whether the features of one iteration are drawn independently of each other.
    factors : int
        How many projections one feature is made of.
    """

    name: ClassVar[str]
    family: ClassVar[str] = ""
    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()
    bound: ClassVar[float] = 1.0
    feature_bound: ClassVar[float] = 1.0
    feature_map: ClassVar[FeatureMap] = features
    has_independent_features: ClassVar[bool] = True

    @property
    def width(self) -> float | None:
        """The distance over which two points become different; None if that depends on where they lie."""
        return None

    @property
    def factors(self) -> int:
        """How many projections one feature is made of."""
        return 1

    @staticmethod
    def like_gaussian(sigma: float, d: int) -> float | None:
        """Return the width that suits d coordinates in [0, 1] where this Gaussian sharpness does; None: the default."""
        return None

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return k(x_i, z_j), of shape (n, p)."""
        ...

    def sums(self, X: NDArray, c: NDArray, Z: NDArray, decay: float, out: NDArray) -> None:
        """Set ``out[p] = decay * out[p] + sum_b c[b] k(x_b, z_p)`` in place: here by a piece of the matrix at a time."""
        size = max(1, MAX_VALUES // max(1, len(X)))
        out *= out.dtype.type(decay)
        with single_threaded_blas():
            for start in range(0, len(Z), size):
                out[start : start + size] += c @ self.matrix(X, Z[start : start + size])
                pause()

    def seconds_of_sums(self, values: int, d: int, itemsize: int) -> float:
        """Return about the seconds in which `sums` makes so many values of the kernel at points of `d` coordinates."""
        return values * (SECONDS_A_VALUE + d * SECONDS_A_DISTANCE)

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        """Draw what makes float32 features, (d, m) frequencies in turns per unit or what else `feature_map` takes."""
        ...
