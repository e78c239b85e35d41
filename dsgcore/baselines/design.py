"""Features whose penalty is the sum of squared weights, and symmetric linear systems in them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack
from sklearn.utils import gen_batches

from dsgcore.baselines.basis import MAX_VALUES, Basis, BasisModel, HasMatrix
from dsgcore.core.parameters import Choice


class IllPosedWarning(UserWarning):
    """Warning that a system is singular, or indefinite so that its solution is no minimum."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Solution of A x = b.

    Attributes
    ----------
    x : ndarray of shape (m,)
    condition : float
        LAPACK's estimate of A's condition number in the 1-norm. Infinite if a factorization failed.
    is_definite : bool
        True if A is positive definite, so that x is a minimum.
    is_singular : bool
        True if A is singular to working precision. Then x is the shortest least-squares solution.
    """

    x: NDArray
    condition: float
    is_definite: bool
    is_singular: bool

    def warn(self, name: str) -> None:
        """Warn in one sentence if A is singular or indefinite."""
        if self.is_singular:
            said = f"singular (condition {self.condition:.2g}) and was solved by least squares"
        elif not self.is_definite:
            said = "indefinite: at its solution the gradient is zero, but it is no minimum"
        else:
            return
        warnings.warn(f"{name}: the system is {said}; a larger lam helps", IllPosedWarning, stacklevel=7)


def solve_symmetric(A: NDArray, b: NDArray) -> Solution:
    """Solve A x = b for a symmetric A (m, m), which may be overwritten, and b (m,).

    Uses Cholesky's method. If A is indefinite, it uses Bunch and Kaufman's LDL'; if A is singular, least squares.
    """
    norm = float(np.linalg.norm(A, 1))
    x, rcond = _by_cholesky(A, b, norm)
    is_definite = rcond is not None
    if rcond is None:
        x, rcond = _by_ldl(A, b, norm)
    condition = 1.0 / rcond if rcond > 0.0 else math.inf
    if rcond > np.finfo(float).eps and np.isfinite(x).all():
        return Solution(x, condition, is_definite, is_singular=False)
    x = linalg.lstsq(A, b, lapack_driver="gelsy", overwrite_a=True)[0]
    return Solution(x, condition, is_definite=False, is_singular=True)


def _by_cholesky(A: NDArray, b: NDArray, norm: float) -> tuple[NDArray, float | None]:
    """Return the solution and the reciprocal condition number; None if A is not positive definite."""
    factor, info = lapack.dpotrf(A, lower=1, clean=0)
    if info:
        return b, None
    return lapack.dpotrs(factor, b, lower=1)[0], float(lapack.dpocon(factor, norm, uplo="L")[0])


def _by_ldl(A: NDArray, b: NDArray, norm: float) -> tuple[NDArray, float]:
    factor, pivots, info = lapack.dsytrf(A, lower=1, lwork=64 * len(A))
    if info:  # a pivot is exactly zero
        return b, 0.0
    return lapack.dsytrs(factor, pivots, b, lower=1)[0], float(lapack.dsycon(factor, pivots, norm, lower=1)[0])


# Factor of the sum of squared weights in each penalty.
FACTORS = {"euclidean": 1.0, "half euclidean": 0.5, "half rkhs": 0.5}
PENALTY = Choice("penalty", "half euclidean", options=("half euclidean", "half rkhs")).called(
    "Penalty",
    "Norm of the ridge: half the squared length of the weights, or half the squared norm of f in the kernel's space.",
)


@dataclass(frozen=True, eq=False)
class Design:
    """Features psi with f(x) = psi(x)'v and the penalty |v|^2.

    Parameters
    ----------
    basis : Basis
    factor : ndarray of shape (m, m) or None
        If None, psi is the basis's phi. Else L, lower triangular with L L' = k(c, c), and psi = L^-1 phi. Then |v|^2
        is the squared norm of f in the kernel's space, plus the squared bias.
    """

    basis: Basis
    factor: NDArray | None = None

    def features(self, X: NDArray) -> NDArray:
        """Return psi of each row of `X`, of shape (n, size)."""
        values = self.basis.features(X)
        if self.factor is not None:
            m = len(self.factor)
            values[:, :m] = linalg.solve_triangular(self.factor, values[:, :m].T, lower=True).T
        return values

    def blocks(self, X: NDArray) -> Iterator[NDArray]:
        """Yield the features of `X` in blocks of rows of bounded size."""
        return (self.features(X[rows]) for rows in gen_batches(len(X), self.block_size()))

    def block_size(self) -> int:
        """Return the largest number of rows in a block."""
        return max(1, MAX_VALUES // self.basis.size)

    def count(self, n: int) -> int:
        """Return the number of blocks that `n` rows make."""
        return -(-n // self.block_size())

    def model(self, v: NDArray) -> BasisModel:
        """Return f for weights v of shape (size,) or (size, k)."""
        coef = v.copy()
        if self.factor is not None:
            m = len(self.factor)
            coef[:m] = linalg.solve_triangular(self.factor, v[:m], lower=True, trans="T")
        return BasisModel(self.basis, coef)


def add_products(H: NDArray, psi: NDArray, weight: float, room: NDArray) -> None:
    """Add weight * psi'psi to H in place; `room` is a work array of H's shape and is overwritten."""
    np.matmul(psi.T, psi, out=room)
    room *= weight
    H += room


def make_design(kernel: HasMatrix | None, centers: NDArray, penalty: str, *, has_bias: bool = False) -> Design:
    """Return the features for a penalty in `FACTORS`.

    Parameters
    ----------
    kernel : HasMatrix or None
        None for the coordinates themselves, for which both norms are the same.
    centers : ndarray of shape (m, d)

    Notes
    -----
    For the kernel's norm, the centres' kernel matrix is factored by Cholesky's method with pivoting. The factorization
    stops when the remainder is rounding error, so that redundant centres are left out. Then the condition of the
    system in v depends on the risk and the ridge only, even if the kernel is very flat.
    """
    if kernel is None:
        return Design(Basis(None, centers[:0], has_bias))
    if penalty != "half rkhs":
        return Design(Basis(kernel, centers, has_bias))
    factor, pivots, rank, _ = lapack.dpstrf(kernel.matrix(centers, centers), lower=1)
    kept = pivots[:rank] - 1
    return Design(Basis(kernel, centers[kept], has_bias), np.tril(factor[:rank, :rank]))
