"""Weights of several models in the score of several classes. They maximise the likelihood of held-out labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

# Strength of the pull towards equal weights, in log-likelihood units, and the smallest weight before the sum becomes one.
PULL, SMALLEST = 0.3, 1e-3


def log_shares(codes: NDArray, n_classes: int) -> NDArray:
    """Return the logarithms (K,) of the classes' shares among codes (n,). A class without codes counts as half a point."""
    return np.log(np.maximum(np.bincount(codes, minlength=n_classes), 0.5) / len(codes))


def likeliest_weights(y: NDArray, values: Sequence[NDArray]) -> NDArray:
    """Return the weights of m models, and then the weight of the log shares of the classes.

    The probabilities of the classes are the softmax of the weighted sum. Its mean log-likelihood, less the pull, is
    concave.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class codes that the models have not seen.
    values : sequence of m ndarrays of shape (n, K)
        In comparable units, for instance divided by their spreads.

    Returns
    -------
    ndarray of shape (m + 1,)
        At least 0. The models' weights have the sum 1.

    Notes
    -----
    Source: D. Wolpert, Stacked Generalization, Neural Networks 5, 1992; here with a pull towards equal weights.
    """
    m, shape = len(values), values[0].shape
    n, own = shape[0], (np.arange(len(y)), y)
    every = np.stack([*values, np.tile(log_shares(y, shape[1]), (n, 1))]).reshape(m + 1, -1)

    def loss(weights: NDArray) -> tuple[float, NDArray]:
        scores = (weights @ every).reshape(shape)
        scores -= scores.max(axis=1, keepdims=True)
        excess = np.exp(scores)
        total = excess.sum(axis=1)
        excess /= total[:, None]
        excess[own] -= 1.0
        apart = np.append(weights[:m] - weights[:m].mean(), 0.0)
        pull, likelihood = PULL / n, np.mean(scores[own] - np.log(total))
        return pull * apart @ apart - likelihood, 2 * pull * apart + every @ excess.ravel() / n

    start, ends = np.append(np.full(m, 1 / m), 0.0), [(SMALLEST, None)] * m + [(0.0, None)]
    found = minimize(loss, start, jac=True, bounds=ends, method="L-BFGS-B").x
    return found / found[:m].sum()
