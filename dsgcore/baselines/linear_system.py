"""Symmetric systems by factorization: how far the answer can be trusted, and least squares where it cannot."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack


class IllPosedWarning(UserWarning):
    """A system is singular, or indefinite so that its solution is no minimum."""


@dataclass(frozen=True, eq=False)
class Solution:
    """What solves A x = b.

    Attributes
    ----------
    x : ndarray of shape (m,)
    condition : float
        LAPACK's estimate of A's condition number in the 1-norm; infinite where a factorization failed.
    is_definite : bool
        Whether A is positive definite, so that x is a minimum.
    is_singular : bool
        Whether A is singular to working precision; x then is the shortest least squares solution.
    """

    x: NDArray
    condition: float
    is_definite: bool
    is_singular: bool

    def warn(self, name: str) -> None:
        """Warn in one sentence where the solution is no ordinary one."""
        if self.is_singular:
            said = f"singular (condition {self.condition:.2g}) and was solved by least squares"
        elif not self.is_definite:
            said = "indefinite: its solution is where the gradient is zero, but no minimum"
        else:
            return
        warnings.warn(f"{name}: the system is {said}; a larger lam helps", IllPosedWarning, stacklevel=6)


def solve_symmetric(A: NDArray, b: NDArray) -> Solution:
    """Solve A x = b for a symmetric A (m, m), which may be overwritten, and b (m,).

    By Cholesky; where A is indefinite by Bunch and Kaufman's LDL', and where it is singular by least squares.
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
    """Return the solution and the reciprocal condition; None where A is not positive definite."""
    factor, info = lapack.dpotrf(A, lower=1, clean=0)
    if info:
        return b, None
    return lapack.dpotrs(factor, b, lower=1)[0], float(lapack.dpocon(factor, norm, uplo="L")[0])


def _by_ldl(A: NDArray, b: NDArray, norm: float) -> tuple[NDArray, float]:
    factor, pivots, info = lapack.dsytrf(A, lower=1, lwork=64 * len(A))
    if info:  # a pivot is exactly zero
        return b, 0.0
    return lapack.dsytrs(factor, pivots, b, lower=1)[0], float(lapack.dsycon(factor, pivots, norm, lower=1)[0])
