"""Risks whose minimisers are known, in which the points of a source count alike. Runs begin with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from dsgcore.kernels._loops_hinge import hinge_weights

# Largest distance of a margin from 1 that a support vector machine leaves, and its largest number of steps.
MARGIN_ERROR, MOST_STEPS = 1e-3, 20_000
# Ridge that stands for none.
SMALLEST_RIDGE = 1e-12
# Equations are solved in single precision only if the kernel's eigenvalues, which are at most its trace, are at most so
# many times the ridge, and the ridge at most so many times the kernel's mean k(x, x).
WELL_CONDITIONED = 1e4


@dataclass(frozen=True, eq=False)
class SourceQuadratic:
    """Quadratic risk in which the points of a source count alike.

    With v_s the values at the points of source s, it is
    sum_s spread_s mean(v_s^2) / 2 - sum_st between_st mean(v_s) mean(v_t) / 2 + sum_s linear_s mean(v_s) + constant.

    Attributes
    ----------
    spread, linear : ndarray of shape (S,)
        In the order of `Problem.sources`; no spread is negative.
    between : ndarray of shape (S, S)
        Symmetric.
    """

    spread: NDArray
    between: NDArray
    linear: NDArray

    @property
    def is_counted(self) -> NDArray:
        """A mask (S,) of the sources whose points count."""
        return (self.spread != 0.0) | (self.linear != 0.0) | self.between.any(axis=1)

    def equations(self, M: NDArray, K: NDArray) -> tuple[NDArray, NDArray]:
        """Return Q K and l for the risk f'Qf / 2 + l'f at n points, with M (n, S) from `shares` and any K (n, k)."""
        return (M @ self.spread)[:, None] * K - M @ (self.between @ (M.T @ K)), M @ self.linear

    def solution(self, M: NDArray, K: NDArray, lam: float, precision: DTypeLike = np.float64) -> NDArray:
        """Return the a with (Q K + lam) a = -l, for M (n, S) from `shares` and a kernel matrix K (n, n).

        f = K a minimises the risk plus lam a'K a / 2. If every point has a spread, the equations are divided by it. Then
        they are symmetric but for a matrix of rank S, and take half of the time. They take half of that again in single
        `precision`, which is used if they are well-conditioned.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the equations have no solution.
        """
        spread = M @ self.spread
        if (spread > 0.0).all():
            ridge, right = lam / spread, M / spread[:, None]
            largest = np.trace(K)
            is_easy = largest <= WELL_CONDITIONED * ridge.min() and len(K) * ridge.max() <= WELL_CONDITIONED * largest
            system = K.astype(precision if is_easy else np.float64)
            system[np.diag_indices(len(K))] += ridge
            solved = symmetric_solution(system, right.astype(system.dtype, copy=False))
            means = M.T @ (right - ridge[:, None] * solved)  # the values K @ solved
            v = np.linalg.solve(np.eye(len(self.spread)) - means @ self.between, -means @ self.linear)
            return solved @ (self.between @ v - self.linear)
        system, linear = self.equations(M, K)
        return np.linalg.solve(system + lam * np.eye(len(K)), -linear)


@dataclass(frozen=True, eq=False)
class SourceHinge:
    """Support vector machine's risk: sum_s weight_s mean(max(0, 1 - sign_s v_s)), with v_s the values at source s.

    Attributes
    ----------
    weight, sign : ndarray of shape (S,)
        In the order of `Problem.sources`. A source that does not count has a weight and a sign of 0.
    """

    weight: NDArray
    sign: NDArray

    @property
    def is_counted(self) -> NDArray:
        """A mask (S,) of the sources whose points count."""
        return self.weight != 0.0

    def solution(self, M: NDArray, K: NDArray, lam: float, precision: DTypeLike = np.float64) -> NDArray:
        """Return the a (n,) with which f = K a minimises the risk plus lam a'K a / 2, up to `MARGIN_ERROR` or `MOST_STEPS`.

        The arguments are as in `SourceQuadratic.solution`, but the precision is always double. Each point belongs to one
        source that counts, or to none.

        Raises
        ------
        numpy.linalg.LinAlgError
            If a number of K is not finite.
        """
        if not np.isfinite(K).all():
            raise np.linalg.LinAlgError("the kernel matrix has numbers that are not finite")
        cost = M @ self.weight / max(lam, SMALLEST_RIDGE)
        return hinge_weights(
            np.ascontiguousarray(K, dtype=float), np.sign(M @ self.sign), cost, MARGIN_ERROR, MOST_STEPS
        )


def symmetric_solution(system: NDArray, right: NDArray) -> NDArray:
    """Return the solution of symmetric equations (n, n), by a Cholesky factor if they are positive definite."""
    try:
        # The transposed matrix is the same one, in LAPACK's order.
        factor = cho_factor(system.T, lower=True, check_finite=False)
    except np.linalg.LinAlgError:  # rounding errors, or a ridge that is too small
        return np.linalg.solve(system, right)
    return np.asarray(cho_solve(factor, right, check_finite=False))


def shares(rows: Iterable[NDArray], n: int) -> NDArray:
    """Return each point's share (n, S) in the mean over every source, from the sources' rows."""
    return np.stack([np.bincount(own, minlength=n) / len(own) for own in rows], axis=1)
