"""Logistic regressions that share their points, solved together, as one problem.

An exact start of PS3VT on 1,200 labels of 26 classes takes 0.05 s here, and 0.3 to 0.8 s by scikit-learn's solvers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dsgcore.kernels import _loops_logistic

# Newton's method ends when no mean derivative is larger, or after so many steps; each step is solved to this accuracy.
TOLERANCE, MOST_STEPS, MOST_INNER, INNER = 1e-4, 30, 40, 0.1
# The steps of a single logistic regression with at most so many coordinates come from its Hessian.
MOST_EXACT = 100
# Other steps are computed in single precision if the largest coordinate is in this range.
SMALLEST, LARGEST = 1e-6, 1e6
# A step is halved so many times at most.
MOST_HALVINGS = 20
# Directions in which the points vary by a smaller share of the largest variance are left out.
FLAT = 1e-12
# Ridge of the intercepts per point: enough for a class that no point of a regression has, and too little for others.
FREE = 1e-9


def logistic_weights(
    X: NDArray, targets: NDArray, weights: NDArray, ridge: float, tolerance: float = TOLERANCE
) -> tuple[NDArray, NDArray]:
    """Return the coefficients (d, G, k) and the intercepts (G, k) of logistic regressions, one for each set of weights.

    Each minimises sum_i weights_i loss_i + (ridge / 2) ||w||^2, with an intercept that the ridge hardly touches. Several
    intercepts add up to 0.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    targets : ndarray of shape (n, G, k)
        Targets between 0 and 1. With k = 1 the loss is the logistic one. For a larger k each point's targets add up to 1,
        and the loss is the multinomial one.
    weights : ndarray of shape (n, G)
        The points' weights in each of the G regressions, such as 0 for a held-out point.
    ridge : float, > 0
    tolerance : float
        Largest mean derivative.
    """
    points, basis = _principal(X)
    W, _ = _solved(points, _points_last(targets), _points_last(weights), ridge, tolerance)
    coef = np.einsum("dq,kgq->dgk", basis, W[..., :-1])
    intercepts = W[..., -1].T - np.einsum("d,dgk->gk", X.mean(axis=0), coef)
    return coef, intercepts if targets.shape[-1] == 1 else intercepts - intercepts.mean(axis=1, keepdims=True)


def _points_last(A: NDArray) -> NDArray:
    """Return (n, G, k) as (k, G, n): NumPy adds over the first axis faster than over the last one."""
    return np.ascontiguousarray(A.T)


def _solved(
    points: NDArray,
    targets: NDArray,
    weights: NDArray,
    ridge: float,
    tolerance: float,
) -> tuple[NDArray, NDArray]:
    """Return the weights (k, G, q) and the scores (k, G, n) by Newton's method, for centred points and a column of ones.

    The targets are (k, G, n), and the points' weights (G, n).
    """
    W = np.zeros((*targets.shape[:2], points.shape[1]))
    ridges = np.full(points.shape[1], ridge)
    ridges[-1] = FREE * len(points)
    scores, squares, rounded = _scores(points, W), points**2, _rounded(points)
    is_small = W.size == points.shape[1] <= MOST_EXACT
    losses, chances = _losses_and_chances(scores, targets, weights)
    objective = losses + _dots(ridges * W, W) / 2.0
    for _ in range(MOST_STEPS):
        gradient = _sums(points, weights * (chances - targets)) + ridges * W
        if np.abs(gradient).max() <= tolerance * len(points):
            break
        if is_small:
            step = _exact_step(points, gradient[0, 0], chances[0, 0], weights[0], ridges)[None, None]
        else:
            step = _newton_step(rounded, squares, gradient, chances, weights, ridges)
        moved, size = _scores(points, step), np.ones((targets.shape[1], 1))
        for _ in range(MOST_HALVINGS):
            tried, there = W + size * step, scores + size * moved
            losses, chances = _losses_and_chances(there, targets, weights)
            reached = losses + _dots(ridges * tried, tried) / 2.0
            is_worse = reached > objective + 1e-12 * np.abs(objective)
            if not is_worse.any():
                break
            size[is_worse] /= 2.0
        W, scores, objective = tried, there, reached
    return W, scores


def _principal(X: NDArray) -> tuple[NDArray, NDArray]:
    """Return centred points in their principal directions with a column of ones, and the directions (d, q)."""
    centred = X - X.mean(axis=0)
    is_wide = X.shape[1] > len(X)
    values, V = np.linalg.eigh(centred @ centred.T if is_wide else centred.T @ centred)
    kept = values > FLAT * max(float(values[-1]), np.finfo(float).tiny)
    basis = centred.T @ (V[:, kept] / np.sqrt(values[kept])) if is_wide else V[:, kept]
    return np.column_stack([centred @ basis, np.ones(len(X))]), basis


def _scores(points: NDArray, W: NDArray) -> NDArray:
    return (W.reshape(-1, W.shape[-1]) @ points.T).reshape(*W.shape[:-1], len(points))


def _sums(points: NDArray, U: NDArray) -> NDArray:
    return (U.reshape(-1, U.shape[-1]) @ points).reshape(*U.shape[:-1], points.shape[1])


def _dots(A: NDArray, B: NDArray) -> NDArray:
    return np.einsum("kgq,kgq->g", A, B)


def _losses_and_chances(scores: NDArray, targets: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
    """Return each regression's weighted loss (G,), and the classes' probabilities (k, G, n)."""
    if len(scores) == 1:
        losses = np.logaddexp(0.0, scores[0]) - targets[0] * scores[0]
        chances = 1.0 / (1.0 + np.exp(-np.clip(scores, -500.0, 500.0)))
    else:
        top = scores.max(axis=0)
        chances = np.exp(scores - top)
        total = chances.sum(axis=0)
        losses = top + np.log(total) - (targets * scores).sum(axis=0)
        chances /= total
    return np.einsum("gi,gi->g", weights, losses), chances


def _newton_step(
    points: NDArray, squares: NDArray, gradient: NDArray, chances: NDArray, weights: NDArray, ridges: NDArray
) -> NDArray:
    """Return minus the Hessian's inverse times the gradient, by preconditioned conjugate gradients in all regressions."""
    weighted = weights * chances
    scale = 1.0 / (_sums(squares, weighted * (1.0 - chances)) + ridges)
    given = (-gradient, scale, chances, weighted, ridges)
    rest, scale, chances, weighted, ridges = (values.astype(points.dtype) for values in given)
    step, direction = np.zeros_like(rest), scale * rest
    size, total = _dots(rest, direction), np.empty(weights.size, dtype=points.dtype)
    enough = points.dtype.type(INNER**2) * size
    # The same memory in the shapes of the products and of the loops: a turn is short, and each view takes time.
    (k, G, q), n = rest.shape, len(points)
    Z, H = np.empty((k * G, n), dtype=points.dtype), np.empty((k * G, q), dtype=points.dtype)
    lines, Z_of_classes, H_of_classes = direction.reshape(k * G, q), Z.reshape(k, -1), H.reshape(k, G, q)
    chances, weighted = chances.reshape(k, -1), weighted.reshape(k, -1)
    for _ in range(MOST_INNER):
        np.matmul(lines, points.T, out=Z)
        _loops_logistic.multiply_by_curvature(Z_of_classes, chances, weighted, total)
        np.matmul(Z, points, out=H)
        if not _loops_logistic.move_and_turn(step, rest, direction, H_of_classes, scale, ridges, size, enough):
            break
    return step.astype(np.float64)


def _exact_step(points: NDArray, gradient: NDArray, chances: NDArray, weights: NDArray, ridges: NDArray) -> NDArray:
    """Return the same (q,) for one logistic regression, from its Hessian."""
    hessian = (points * (weights * chances * (1.0 - chances))[:, None]).T @ points
    hessian[np.diag_indices(len(ridges))] += ridges
    return -np.linalg.solve(hessian, gradient)


def _rounded(points: NDArray) -> NDArray:
    """Return the points in single precision, in which a step is accurate enough; large and small ones unchanged."""
    largest = np.abs(points).max()
    return points.astype(np.float32) if SMALLEST < largest < LARGEST else points
