"""The Gaussian kernel, with independent or orthogonal features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.cost import seconds_of_features
from dsgcore.core.documented import documented
from dsgcore.core.parameters import real
from dsgcore.kernels import loops
from dsgcore.kernels.base import Kernel
from dsgcore.kernels.features import scratch_of_this_thread

# Most frequencies that are made orthogonal to each other. The work grows with the square of this number.
MOST_ORTHOGONAL = 256


@documented
@dataclass(frozen=True)
class Gaussian(Kernel):
    """The Gaussian kernel k(x, x') = exp(-sigma ||x - x'||^2); its frequencies are normal, N(0, 2 sigma I).

    sigma is the inverse squared width, in 1 / (units of x)^2; scikit-learn calls it ``gamma``.

    Parameters
    ----------
    sigma : Inverse bandwidth
        How quickly similarity fades with distance: exp(−σ‖x−x'‖²). A larger σ is a narrower kernel.
    """

    sigma: float = real(1.0, low=1e-6, high=1e6, scale="log", symbol="σ", usual=(0.01, 100.0))

    name = "gaussian"
    family = "gaussian"

    @property
    def width(self) -> float:
        """The distance at which the kernel is exp(-1/2)."""
        return float((2 * self.sigma) ** -0.5)

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return k(x_i, z_j), of shape (n, p)."""
        values = cdist(X, Z, "sqeuclidean")
        values *= -self.sigma  # in place: new memory takes longer than the exponentials
        return np.exp(values, out=values)

    def sums(self, X: NDArray, c: NDArray, Z: NDArray, decay: float, out: NDArray) -> None:
        """Set ``out[p] = decay * out[p] + sum_b c[b] k(x_b, z_p)`` in place."""
        scalar = X.dtype.type
        with single_threaded_blas():
            loops.gaussian_sums(X, c, Z, scalar(self.sigma), scalar(decay), out, scratch_of_this_thread(X.dtype))

    def seconds_of_sums(self, values: int, d: int, itemsize: int) -> float:
        """Estimate the seconds in which `sums` computes so many kernel values: each takes as long as a feature."""
        return seconds_of_features(values, d, 1, itemsize)

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        """Draw float32 frequencies of shape (d, m), in turns per unit."""
        # float32 draws in any precision: a model has the same features in both.
        W = rng.standard_normal((d, m), dtype=np.float32)
        W *= self._turns()
        return W

    def _turns(self) -> np.float32:
        return np.float32((2 * self.sigma) ** 0.5 / (2 * np.pi))


@documented
@dataclass(frozen=True)
class OrthogonalGaussian(Gaussian):
    """The Gaussian kernel with frequencies that are orthogonal to each other, d and at most 256 at a time.

    Each single frequency is still N(0, 2 sigma I), so that the features approximate the same kernel on average. Their error
    is smaller, and more so with more coordinates. The frequencies of one iteration are not independent, so the error band
    from the spread of its features is conservative.

    Notes
    -----
    Source: Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, Orthogonal Random Features (NIPS 2016), Section 3.
    """

    name = "orthogonal_gaussian"

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        """Draw float32 frequencies of shape (d, m), in turns per unit: normal ones with their directions made orthogonal."""
        size = min(d, MOST_ORTHOGONAL)
        groups = super().frequencies(rng, d, -(-m // size) * size).reshape(d, -1, size).swapaxes(0, 1)
        with single_threaded_blas():  # bit-for-bit identical for any number of threads
            Q, R = np.linalg.qr(groups)
        Q *= np.sign(np.einsum("gii->gi", R))[:, None] * np.linalg.norm(groups, axis=1)[:, None]
        return np.ascontiguousarray(Q.swapaxes(0, 1).reshape(d, -1)[:, :m])
