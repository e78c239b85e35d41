"""Squared pairwise risks between sources, for problems that rank: one weight for each ordered pair of sources.

W[a, b] is the weight of "source a should score above source b"; with l(u, v) = (1 - u + v)^2 the risk is

    sum over (a, b) of W[a, b] R[a, b],     R[a, b] = mean of l(f_a, f_b),

the mean taken over all pairs of points, or over the pairs of the i-th point of one with the i-th of the other
(`is_paired`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.problem import Values


def risks(f: Values, *, is_paired: bool) -> NDArray:
    """Return R, of shape (S, S), in O(S n) or, where the points are paired, O(S^2 n).

    Parameters
    ----------
    f : source -> ndarray of shape (n_s,)
        Values of each source; of one length where the points are paired.
    is_paired : bool
    """
    mean = np.array([np.mean(values, dtype=float) for values in f.values()])
    variance = np.array([np.var(values, dtype=float) for values in f.values()])
    # The mean of (1 - u + v)^2 is the square of its mean plus the variance of u - v.
    R = (1.0 - mean[:, None] + mean) ** 2 + variance[:, None] + variance
    if is_paired:
        centred = np.stack(list(f.values())).astype(float) - mean[:, None]
        R -= 2.0 * centred @ centred.T / centred.shape[1]
    return R


def coefficients(f: Values, W: NDArray, *, is_paired: bool) -> dict[str, NDArray]:
    """Return the derivative of the risk by each value, source -> (n_s,).

    For the i-th point of source a: (2 / n_a) sum_b [(W_ba - W_ab) + (W_ab + W_ba) (f_a,i - v_b)], where v_b is
    the i-th value of source b, or the mean of its values.
    """
    both = W + W.T
    constant, degree = W.sum(axis=0) - W.sum(axis=1), both.sum(axis=1)
    partners = (
        np.stack(list(f.values())) if is_paired else np.array([[np.mean(values, dtype=float)] for values in f.values()])
    )
    others = both @ partners
    return {
        source: ((2.0 / len(values)) * (constant[a] + degree[a] * values - others[a])).astype(values.dtype)
        for a, (source, values) in enumerate(f.items())
    }


def quadratic(rows: Mapping[str, NDArray], n: int, W: NDArray) -> tuple[NDArray, NDArray]:
    """Return Q (n, n) and l (n,): over all n points and all pairs, the risk is f'Qf / 2 + l'f + constant."""
    M = np.stack([np.bincount(index, minlength=n) / len(index) for index in rows.values()], axis=1)
    both = W + W.T
    Q = 2.0 * (np.diag(M @ both.sum(axis=1)) - M @ both @ M.T)
    return Q, 2.0 * M @ (W.sum(axis=0) - W.sum(axis=1))
