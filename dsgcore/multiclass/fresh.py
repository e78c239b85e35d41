"""Doubly stochastic gradients for several classes: the softmax loss, with new random features in each iteration.

for j = 1 .. T:
    R     <- softmax(F at the mini-batch) - one hot, with F = sum of all earlier W_i' phi_i
    W_j   <- -eta_j (Phi'Phi / B + lam + tiny)^-1 Phi'R / B, or the same without the inverse
    W_i   <- (1 - eta_j lam) W_i for all earlier i; with the inverse, only if lam > 1e-6, as in the authors' program
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels.features import explicit
from dsgcore.multiclass.problem import logistic

# Added to the preconditioner's diagonal, and the largest ridge that shrinks nothing, as in the authors' program.
TINY, NO_RIDGE = 1e-7, 1e-6
# Rows of the mini-batch, frequencies (d, m) in turns per unit, the step size and the ridge.
Draw = tuple[NDArray, NDArray, float, float]


@dataclass(frozen=True, eq=False)
class Block:
    """One iteration: its coefficients W (2m, K), and the factor that they apply to all earlier ones.

    `losses` (B,) and `slopes` (B, K) are those of the mini-batch's points before the step, `phi` (B, 2m) their features.
    """

    W: NDArray
    decay: float
    draw: Draw
    losses: NDArray
    slopes: NDArray
    phi: NDArray


def softmax_blocks(
    X: NDArray, y: NDArray, n_classes: int, draws: Iterable[Draw], *, is_preconditioned: bool
) -> Iterator[Block]:
    """Yield the iterations.

    Parameters
    ----------
    X, y : ndarray of shape (n, d) and (n,)
        Labeled points, and their classes 0 to K - 1.
    """
    F = np.zeros((len(X), n_classes))
    for draw in draws:
        rows, frequencies, eta, lam = draw
        decay = 1.0 if is_preconditioned and lam <= NO_RIDGE else 1.0 - eta * lam
        with single_threaded_blas():  # bit-for-bit identical for any number of threads
            every = explicit(X, frequencies)
            phi, (losses, slopes) = every[rows], logistic(F[rows], y[rows])
            W = -eta * (phi.T @ (slopes / len(rows)))
            W = np.linalg.solve(moments(phi.T @ phi / len(rows), lam), W) if is_preconditioned else W
            F = decay * F + every @ W
        yield Block(W, decay, draw, losses, slopes, phi)


def moments(products: NDArray, lam: float) -> NDArray:
    """Add the ridge of the preconditioner to a matrix of second moments, in place."""
    products[np.diag_indices(len(products))] += lam + TINY
    return products


def weighted_blocks(blocks: Sequence[tuple[NDArray, float]], first: int) -> NDArray:
    """Return the coefficients (T, 2m, K) of the mean of the iterates after the `first` ones; of the last one for T - 1.

    `blocks` are each iteration's coefficients, and its factor for all earlier ones.
    """
    weights, later = np.empty(len(blocks)), 0.0
    for i in range(len(blocks) - 1, -1, -1):
        weights[i] = (i >= first) + later
        later = blocks[i][1] * weights[i]
    coefficients = np.stack([W for W, _ in blocks])
    return coefficients * (weights / (len(blocks) - first))[:, None, None]
