"""Doubly stochastic gradients for several classes: the softmax loss, with new random features in each iteration.

for j = 1 .. T:
    R     <- softmax(F at the mini-batch) - one hot, with F = sum of all earlier W_i' phi_i
    W_j   <- -eta_j (Phi'Phi / B + lam + tiny)^-1 Phi'R / B, or the same without the inverse
    W_i   <- (1 - eta_j lam) W_i for all earlier i; with the inverse, only if lam > 1e-6, as in the authors' program
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels.features import explicit
from dsgcore.multiclass.problem import logistic

# Added to the preconditioner's diagonal, and the largest ridge that shrinks nothing, as in the authors' program.
TINY, NO_RIDGE = 1e-7, 1e-6
# Rows of the mini-batch, frequencies (d, m) in turns per unit, and the step size.
Draw = tuple[NDArray, NDArray, float]


def softmax_blocks(
    X: NDArray, y: NDArray, n_classes: int, draws: Iterable[Draw], lam: float, *, is_preconditioned: bool
) -> Iterator[tuple[NDArray, float]]:
    """Yield each iteration's coefficients (2m, K), and the factor that they apply to all earlier ones.

    Parameters
    ----------
    X, y : ndarray of shape (n, d) and (n,)
        Labeled points, and their classes 0 to K - 1.
    """
    F = np.zeros((len(X), n_classes))
    for rows, frequencies, eta in draws:
        decay = 1.0 if is_preconditioned and lam <= NO_RIDGE else 1.0 - eta * lam
        with single_threaded_blas():  # bit-for-bit identical for any number of threads
            every = explicit(X, frequencies)
            phi, slopes = every[rows], logistic(F[rows], y[rows])[1] / len(rows)
            W = -eta * (phi.T @ slopes)
            if is_preconditioned:
                system = phi.T @ phi / len(rows)
                system[np.diag_indices(len(system))] += lam + TINY
                W = np.linalg.solve(system, W)
            F = decay * F + every @ W
        yield W, decay


def weighted_blocks(blocks: list[tuple[NDArray, float]], first: int) -> NDArray:
    """Return the coefficients (T, 2m, K) of the mean of the iterates after the `first` ones; of the last one for T - 1."""
    weights, later = np.empty(len(blocks)), 0.0
    for i in range(len(blocks) - 1, -1, -1):
        weights[i] = (i >= first) + later
        later = blocks[i][1] * weights[i]
    coefficients = np.stack([W for W, _ in blocks])
    return coefficients * (weights / (len(blocks) - first))[:, None, None]
