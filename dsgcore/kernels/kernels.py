"""The interface of a kernel, and the kernels: computed exactly, and through the density of their frequencies (Bochner)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from dsgcore.core.documented import documented
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Checked, choice, real
from dsgcore.core.sampling import FREQUENCIES, SHARE_OF_WIDTH, generator
from dsgcore.core.threads import pause, single_threaded_blas
from dsgcore.kernels import loops
from dsgcore.kernels.features import Cosines, FeatureMap, Products, scratch

# Beyond so many widths from the origin, no precision resolves a bounded kernel. In float32 its features overflow soon
# after.
MOST_WIDTHS = 2.0**64
# Fourth powers of such numbers, and sums of very many of them, stay within float64.
LARGEST = 1e70

# Number of kernel values in memory at a time.
MAX_VALUES = 2**21
# Most frequencies that are made orthogonal to each other. The work grows with the square of this number.
MOST_ORTHOGONAL = 256
# The Matérn kernel's nu, and its polynomial in r = sqrt(2 nu) ||x - x'|| / length before exp(-r).
MATERN = {
    "1/2": (0.5, lambda r: 1.0),
    "3/2": (1.5, lambda r: 1.0 + r),
    "5/2": (2.5, lambda r: 1.0 + r + r**2 / 3.0),
}


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
        What accumulates and evaluates its random features.
    has_loop : bool
        True if `sums` is a compiled loop, which takes as long for a value as for a feature.
    """

    name: ClassVar[str]
    family: ClassVar[str] = ""
    bound: ClassVar[float] = 1.0
    feature_bound: ClassVar[float] = 1.0
    feature_map: ClassVar[FeatureMap] = Cosines()
    has_loop: ClassVar[bool] = False

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

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        """Draw float32 features: (d, m) frequencies in turns per unit, or another form for `feature_map`."""
        ...


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
    has_loop = True

    @property
    def width(self) -> float:
        """The distance at which the kernel is exp(-1/2)."""
        return float((2 * self.sigma) ** -0.5)

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        values = cdist(X, Z, "sqeuclidean")
        values *= -self.sigma  # in place: new memory takes longer than the exponentials
        return np.exp(values, out=values)

    def sums(self, X: NDArray, c: NDArray, Z: NDArray, decay: float, out: NDArray) -> None:
        scalar = X.dtype.type
        with single_threaded_blas():
            loops.gaussian_sums(X, c, Z, scalar(self.sigma), scalar(decay), out, scratch.buffers[X.dtype])

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        # float32 draws in any precision: a model has the same features in both.
        W = rng.standard_normal((d, m), dtype=np.float32)
        W *= np.float32((2 * self.sigma) ** 0.5 / (2 * np.pi))
        return W


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


@documented
@dataclass(frozen=True)
class Laplacian(Kernel):
    """The Laplacian kernel k(x, x') = exp(-sigma ||x - x'||_1); each coordinate of its frequencies is Cauchy(0, sigma).

    The density of the frequencies has a heavy tail, as the Matérn kernel's has: a few are so large that float32 keeps
    nothing of their phase. Such a feature is noise with the same size and a mean of almost zero.

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
        return np.exp(-self.sigma * cdist(X, Z, "cityblock"))

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        W = rng.standard_cauchy((d, m))
        W *= self.sigma / (2 * np.pi)
        return W.astype(np.float32)


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
        nu, polynomial = MATERN[self.nu]
        r = cdist(X, Z) * ((2 * nu) ** 0.5 / self.length)
        return polynomial(r) * np.exp(-r)

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        nu, _ = MATERN[self.nu]
        W = rng.standard_normal((d, m))
        W *= np.sqrt(2 * nu / rng.chisquare(2 * nu, m)) / (2 * np.pi * self.length)
        return W.astype(np.float32)


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
    feature_map: ClassVar[FeatureMap] = Products()

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
        return (self.sigma * (np.asarray(X, dtype=float) @ np.asarray(Z, dtype=float).T)) ** int(self.power)

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray:
        signs = rng.integers(0, 2, size=(int(self.power), d, m), dtype=np.int8)
        return (2 * signs - 1).astype(np.float32) * np.float32(self.sigma**0.5)


def block_frequencies(kernel: Kernel, seed: int, t: int, d: int, m: int, dtype: np.dtype) -> NDArray:
    """Return the frequencies of iteration `t`, of shape (d, m), in turns per unit; every call gives the same."""
    return kernel.frequencies(generator(seed, FREQUENCIES, t), d, m).astype(dtype, copy=False)


# --- points so far from the origin that a kernel's features are not finite, or that their coordinates are rounded too much


class ResolutionWarning(UserWarning):
    """Warning that coordinates are so large that rounding steps come near the kernel's width."""


def too_far(X: NDArray, kernel: Kernel, first: int = 0, *, dtype: np.dtype | None = None) -> str:
    """Return a message if one of the points (n, d) is out of a bounded kernel's reach; else an empty text.

    The rows are counted from `first`. With a `dtype` it also says if an unbounded kernel overflows that at one of the points.
    """
    if not np.isfinite(kernel.bound) and dtype is not None:
        with np.errstate(over="ignore"):
            largest = X[np.argmax(np.einsum("ij,ij->i", X, X))][None].astype(float)
            value = float(kernel.matrix(largest, largest)[0, 0])
        said = f"kernel {kernel.name!r} overflows {dtype} at these points, where it reaches {value:.3g}: "
        return (
            "" if value <= float(np.finfo(dtype).max) else f"{said}take a smaller sigma or power, or scale the points"
        )
    limit = MOST_WIDTHS * (kernel.width or 1.0)
    if not np.isfinite(kernel.bound) or not _largest(X, None) > limit:
        return ""
    with np.errstate(invalid="ignore"):
        row, column = np.argwhere(np.abs(X) > limit)[0]
    return (
        f"X[{row + first}, {column}] must be of size {limit:.3g} at most for this {kernel.name!r} kernel, "
        f"got {X[row, column]:.3g}: scale the points"
    )


def overflowing(X: NDArray, values: NDArray, kernel: Kernel) -> str:
    """Return a message with the first point at which an unbounded kernel overflows; else an empty text."""
    rows = np.flatnonzero(~np.isfinite(values))
    if not len(rows) or np.isfinite(kernel.bound):
        return ""
    with np.errstate(over="ignore", invalid="ignore"):
        points = X[rows].astype(float)
        row = np.argmax(np.einsum("ij,ij->i", points, points))
        size = float(kernel.matrix(points[row][None], points[row][None])[0, 0])
    if size <= float(np.finfo(values.dtype).max) or np.isnan(points).any():
        return ""
    return f"X[{rows[row]}] is so far away that the kernel {kernel.name!r} overflows {values.dtype} there: scale the points"


def warn_of_rounding(X: NDArray, kernel: Kernel, dtype: np.dtype, names: Sequence[str] | None = None) -> None:
    """Warn if the precision rounds a column of the points (n, d) to steps that the kernel would distinguish."""
    said = rounded_columns(X, kernel, dtype, names)
    if said:
        warnings.warn(
            f'{said}: points that differ by less become equal. Give the points in float64 with dtype="float64", or subtract '
            "each column's mean first.",
            ResolutionWarning,
            stacklevel=3,
        )


def rounded_columns(X: NDArray, kernel: Kernel, dtype: np.dtype, names: Sequence[str] | None = None) -> str:
    """Return a message that names the columns of the points (n, d) that are rounded too much; else an empty text."""
    width, eps = kernel.width, float(np.finfo(dtype).eps)
    limit = np.inf if width is None else SHARE_OF_WIDTH * width / eps
    if not len(X) or not _largest(X, None) > limit:
        return ""
    sizes = _largest(X, 0)
    columns = np.flatnonzero(sizes > limit)
    called = [str(column) if names is None else repr(str(names[column])) for column in columns[:3]]
    more = f" and {len(columns) - 3} more" if len(columns) > 3 else ""
    largest = float(sizes[columns].max())
    return (
        f"column{'s' * (len(columns) > 1)} {', '.join(called)}{more} of X hold{'s' * (len(columns) == 1)} numbers of size "
        f"{largest:.3g}, which {dtype} rounds to steps of {eps * largest:.2g}, and the kernel's width is {width:.2g}"
    )


def _largest(X: NDArray, axis: int | None) -> NDArray:
    """Return the largest absolute value, without a copy of the points; 0 if there are none."""
    return np.maximum(X.max(axis=axis, initial=0), -X.min(axis=axis, initial=0))


def check_values(values: NDArray) -> NDArray:
    """Return a model's values (n,) or (n, k) at points; raise DSGError if one is not finite and so gives no class."""
    is_finite = np.isfinite(values)
    if not is_finite.all():
        row = np.argwhere(~is_finite)[0, 0]
        raise DSGError(f"X[{row}] is so far away that the model's value there is no finite number: scale the points")
    return values


def check_unmasked(X: object, name: str = "X") -> None:
    """Raise DSGError for masked values: NumPy and scikit-learn take the numbers under the mask."""
    if isinstance(X, np.ma.MaskedArray) and (n := np.count_nonzero(np.ma.getmaskarray(X))):
        mean = f", for instance by {name}.filled({name}.mean(axis=0))" * (name == "X")
        raise DSGError(f"{name} must not have masked values, got {n}: replace them{mean}")


def check_sizes(X: NDArray, name: str = "X") -> None:
    """Raise DSGError if a coordinate of the points (n, d) is so large that sums of squared distances overflow float64."""
    if _largest(X, None) > LARGEST:
        row, column = np.argwhere(np.abs(X) > LARGEST)[0]
        raise DSGError(
            f"{name}[{row}, {column}] must be of size {LARGEST:g} at most, for its squares must not overflow float64, "
            f"got {X[row, column]:.3g}: scale the points"
        )
