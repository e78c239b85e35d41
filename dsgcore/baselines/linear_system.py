"""Symmetric linear systems: factorization, condition estimate, and least squares for singular systems."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack


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
        warnings.warn(f"{name}: the system is {said}; a larger lam helps", IllPosedWarning, stacklevel=6)


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
