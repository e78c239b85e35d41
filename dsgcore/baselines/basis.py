"""Models that are linear in explicit features (kernels at centres, or the coordinates), and systems for their weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils import gen_batches

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Choice, Integer
from dsgcore.core.sampling import generator

# Most kernel values held at a time while a model is evaluated.
MAX_VALUES = 2**22
# Factor of the sum of squared weights in each penalty.
FACTORS = {"euclidean": 1.0, "half euclidean": 0.5, "half rkhs": 0.5}
PENALTY = Choice("penalty", "half euclidean", options=("half euclidean", "half rkhs")).called(
    "Penalty",
    "Norm of the ridge: half the squared length of the weights, or half the squared norm of f in the kernel's space.",
)


class HasMatrix(Protocol):
    """Protocol for a baseline's kernel."""

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return k(x_i, z_j), of shape (n, p)."""


@dataclass(frozen=True)
class Linear(HasMatrix):
    """The linear kernel k(x, x') = <x, x'> / divisor."""

    name: ClassVar[str] = "linear"

    divisor: float = 1.0

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return <x_i, z_j> / divisor, of shape (n, p)."""
        return X @ Z.T / self.divisor


@dataclass(frozen=True, eq=False)
class Basis:
    """Features phi(x) = [k(x, c_1) .. k(x, c_m)], or x itself without a kernel, then a 1 if there is a bias.

    `centers` is of shape (m, d), or (0, d) without a kernel. `factor` (m, m) is lower triangular with L L' = k(c, c): then the
    penalty |v|^2 is that of weights v for psi = L^-1 phi, the squared norm of f in the kernel's space, plus the squared bias.
    Without it psi is phi.
    """

    kernel: HasMatrix | None
    centers: NDArray
    has_bias: bool = False
    factor: NDArray | None = None

    @property
    def size(self) -> int:
        """Number of features."""
        return (self.centers.shape[1] if self.kernel is None else len(self.centers)) + self.has_bias

    def features(self, X: NDArray) -> NDArray:
        """Return phi of each row of `X`, of shape (n, size)."""
        values = X if self.kernel is None else self.kernel.matrix(X, self.centers)
        return np.column_stack([values, np.ones(len(X))]) if self.has_bias else values

    def penalised(self, X: NDArray) -> NDArray:
        """Return psi of each row of `X`, of shape (n, size)."""
        values = self.features(X)
        if self.factor is not None:
            m = len(self.factor)
            values[:, :m] = linalg.solve_triangular(self.factor, values[:, :m].T, lower=True).T
        return values

    def pieces(self, n: int) -> list[slice]:
        """Return slices of `n` rows, so few that their features take a bounded memory."""
        return list(gen_batches(n, max(1, MAX_VALUES // self.size)))

    def blocks(self, X: NDArray) -> Iterator[NDArray]:
        """Yield psi of the rows of `X`, piece by piece."""
        return (self.penalised(X[rows]) for rows in self.pieces(len(X)))

    def model(self, v: NDArray) -> BasisModel:
        """Return the model with weights v for psi, of shape (size,) or (size, k)."""
        coef = v.copy()
        if self.factor is not None:
            m = len(self.factor)
            coef[:m] = linalg.solve_triangular(self.factor, v[:m], lower=True, trans="T")
        return BasisModel(self, coef)


@dataclass(frozen=True, eq=False)
class BasisModel:
    """Model f(x) = phi(x)' coef, with `coef` of shape (size,), or (size, k) for k functions; the bias is its last entry."""

    basis: Basis
    coef: NDArray

    def evaluate(self, X: NDArray) -> NDArray:
        """Return f at each row of `X`, of shape (n,) or (n, k). Evaluates in blocks of bounded size."""
        return np.concatenate([self.basis.features(X[rows]) @ self.coef for rows in self.basis.pieces(len(X))])


def make_basis(kernel: HasMatrix | None, centers: NDArray, penalty: str = "", *, has_bias: bool = False) -> Basis:
    """Return the features of a model, for a penalty in `FACTORS`.

    For the kernel's norm, the centres' kernel matrix is factored by Cholesky's method with pivoting. The factorization
    stops when the remainder is rounding error, so that redundant centres are left out. Then the condition of the
    system in v depends on the risk and the ridge only, even if the kernel is very flat.
    """
    if kernel is None:  # both norms are the same
        return Basis(None, centers[:0], has_bias)
    if penalty != "half rkhs":
        return Basis(kernel, centers, has_bias)
    factor, pivots, rank, _ = linalg.lapack.dpstrf(kernel.matrix(centers, centers), lower=1)
    return Basis(kernel, centers[pivots[:rank] - 1], has_bias, np.tril(factor[:rank, :rank]))


@dataclass(frozen=True)
class Centers(Integer):
    """Number of centres, or the centres themselves as an array of shape (m, d)."""

    def allowed(self) -> str:
        """Return a description of the allowed values."""
        return f"a whole number of {self.low} or more, None for all points, or an array of centres"

    def check(self, value: object) -> Any:
        """Return None, an int, or a float array; raise `ParameterError` otherwise."""
        return np.asarray(value, dtype=float) if np.ndim(value) == 2 else super().check(value)  # type: ignore[arg-type]


CENTERS = Centers("centers", None, low=1, scale="log", usual=(100, 10_000), optional=True).called(
    "Kernel centres", "Number of training points, drawn at random, that carry a kernel. The default is all points."
)


def choose_centers(X: NDArray, given: int | NDArray | None, seed: int) -> NDArray:
    """Return the kernel centres: all points of X (n, d), a random draw without replacement, or the given array (m, d).

    A draw of more centres than there are points returns all points. Raise DSGError if given centres have another
    number of coordinates.
    """
    if isinstance(given, np.ndarray):
        if given.shape[1] != X.shape[1]:
            raise DSGError(f"centers must have {X.shape[1]} coordinates as the points have, got {given.shape[1]}")
        return given
    if given is None or given >= len(X):
        return X
    return X[generator(seed, "centers").choice(len(X), size=given, replace=False)]


class IllPosedWarning(UserWarning):
    """Warning that a system is singular, or indefinite so that its solution is no minimum."""


def solve_symmetric(A: NDArray, b: NDArray, name: str, stacklevel: int = 7) -> NDArray:
    """Solve A x = b for a symmetric A (m, m); by least squares if A is singular to working precision.

    Warn if A is singular, or indefinite so that x is no minimum; `name` is the estimator's, whose `fit` is called at
    `stacklevel`.
    """
    said = "singular and was solved by least squares"
    with warnings.catch_warnings():
        warnings.simplefilter("error", linalg.LinAlgWarning)
        try:
            return linalg.solve(A, b, assume_a="pos")
        except linalg.LinAlgWarning:
            x = None
        except linalg.LinAlgError:
            try:
                x = linalg.solve(A, b, assume_a="sym")
                said = "indefinite: at its solution the gradient is zero, but it is no minimum"
            except (linalg.LinAlgError, linalg.LinAlgWarning):
                x = None
    warnings.warn(f"{name}: the system is {said}; a larger lam helps", IllPosedWarning, stacklevel=stacklevel)
    return linalg.lstsq(A, b, lapack_driver="gelsy")[0] if x is None else x
