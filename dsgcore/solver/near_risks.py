"""Risks whose minimisers are known, in which the points of a source count alike. Runs begin with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.kernels.loops import hinge_weights

# Largest distance of a margin from 1 that a support vector machine leaves, and its largest number of steps.
MARGIN_ERROR, MOST_STEPS = 1e-3, 20_000
# Ridge that stands for none.
SMALLEST_RIDGE = 1e-12


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

    def solution(self, M: NDArray, K: NDArray, lam: float) -> NDArray:
        """Return the a with which f = K a minimises the risk plus lam a'K a / 2, for M (n, S) from `shares`.

        With the risk as f'Qf / 2 + l'f it solves (Q K + lam) a = -l. Raise `numpy.linalg.LinAlgError` if nothing does.
        """
        system = (M @ self.spread)[:, None] * K - M @ (self.between @ (M.T @ K))
        system[np.diag_indices(len(K))] += lam
        return np.linalg.solve(system, -(M @ self.linear))


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

    def solution(self, M: NDArray, K: NDArray, lam: float) -> NDArray:
        """Return the same as `SourceQuadratic.solution`, up to `MARGIN_ERROR` or `MOST_STEPS`.

        Each point belongs to one source that counts, or to none. Raise `numpy.linalg.LinAlgError` if a number of K is not finite.
        """
        if not np.isfinite(K).all():
            raise np.linalg.LinAlgError("the kernel matrix has numbers that are not finite")
        cost = M @ self.weight / max(lam, SMALLEST_RIDGE)
        return hinge_weights(K.astype(float), np.sign(M @ self.sign), cost, MARGIN_ERROR, MOST_STEPS)


def shares(rows: Iterable[NDArray], n: int) -> NDArray:
    """Return each point's share (n, S) in the mean over every source, from the sources' rows."""
    return np.stack([np.bincount(own, minlength=n) / len(own) for own in rows], axis=1)
