"""PS3VT's loop: proximal stochastic sub-gradients with singular value thresholding.

    for t = 1 .. T:
        draw a mini-batch of labeled points
        Q <- W - (1/mu) (sub-gradient of the batch's hinge loss + 2 lam W + 2 tau_I X L X' W)
        W <- Q with every singular value after the first theta made smaller by tau_S / mu, not below 0
        W <- W min(1, 1 / ||W||)

Like the solver it is a generator, so that the caller can pause it. Any iteration's draws follow from (seed, t).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.task import MultiClassTask
from dsgcore.solver.stopping import Stopping, TailMean


@dataclass(frozen=True)
class MultiClassStep:
    """Record of one iteration.

    Attributes
    ----------
    t : int
        Number of the iteration, from 1.
    step : float
        Its step 1/mu.
    batch : ndarray of shape (B,)
        Rows of the mini-batch, among the labeled points.
    terms : dict
        "hinge", "ridge", "graph" and "tail": the batch objective before the step.
    gradient_norm : float
        Frobenius norm of the sub-gradient that was followed, without the tail.
    Q : ndarray of shape (d, K)
        Weights after the sub-gradient step, before threshold and projection.
    W : ndarray of shape (d, K)
        Weights after the whole step. Do not write to them.
    singular_values : ndarray of shape (min(d, K),)
        Those of W, in descending order.
    """

    t: int
    step: float
    batch: NDArray
    terms: dict[str, float]
    gradient_norm: float
    Q: NDArray
    W: NDArray
    singular_values: NDArray


def descend(task: MultiClassTask, W: NDArray | None = None, t: int = 0) -> Iterator[MultiClassStep]:
    """Run Algorithm 1, up to the problem's `n_iter`; stop early before the first step that is not finite.

    It continues from the weights `W` (d, K) after `t` iterations, or starts from 0 without them.
    """
    W = task.start() if W is None else W
    values = np.linalg.svdvals(W)
    for number in range(t + 1, task.problem.n_iter + 1):
        with single_threaded_blas():
            iterate = _iterate(task, W, values, number)
        if iterate is None:
            return
        yield iterate
        W, values = iterate.W, iterate.singular_values


def train(
    task: MultiClassTask,
    W: NDArray | None = None,
    t: int = 0,
    *,
    is_enough: Callable[[int, NDArray], bool] | None = None,
) -> tuple[NDArray, int]:
    """Run Algorithm 1 to its end and return the weights only, bit-for-bit identical with those of `descend`.

    `is_enough` gets each iteration's number and the weights after it. The run ends when it returns True.

    Returns
    -------
    W : ndarray of shape (d, K)
        Weights after the last iteration that is finite.
    n_iter : int
        Number of that iteration: the problem's `n_iter`, or less if a step was not finite or `is_enough` returned
        True.
    """
    W = task.start() if W is None else W
    with single_threaded_blas():
        for number in range(t + 1, task.problem.n_iter + 1):
            Q = _gradient(task, W, task.batch(number))
            Q *= task.step(number)
            np.subtract(W, Q, out=Q)
            if not np.isfinite(Q).all():
                return W, number - 1
            W, _ = _advance(Q, task, number)
            if is_enough is not None and is_enough(number, W):
                return W, number
    return W, max(t, task.problem.n_iter)


def _gradient(task: MultiClassTask, W: NDArray, rows: NDArray) -> NDArray:
    """Return the gradient of the problem's `smooth_terms`, in the same order of operations."""
    problem, X = task.problem, task.X[rows]
    gradient = X.T @ (problem.slopes(X @ W, task.y[rows]) / task.batch_size)
    gradient += 2.0 * problem.lam * problem.pulled(W)
    if task.M is not None:
        gradient += 2.0 * problem.tau_I * (task.M @ W)
    return gradient


def _iterate(task: MultiClassTask, W: NDArray, values: NDArray, t: int) -> MultiClassStep | None:
    problem, rows, step = task.problem, task.batch(t), task.step(t)
    terms, gradient = problem.smooth_terms(W, task.X[rows], task.y[rows], task.M, size=task.batch_size)
    terms["tail"] = problem.tail(values, *W.shape)
    Q = W - step * gradient
    if not np.isfinite(Q).all():
        return None
    W, new = _advance(Q, task, t)
    values = np.linalg.svdvals(W) if new is None else new
    return MultiClassStep(t, step, rows, terms, float(np.linalg.norm(gradient)), Q, W, values)


def _advance(Q: NDArray, task: MultiClassTask, t: int) -> tuple[NDArray, NDArray | None]:
    """Threshold and project; return the weights, and their singular values if these were computed."""
    problem, threshold = task.problem, task.step(t) * task.problem.tau_S
    return (_released_step if problem.variant == "released" else _paper_step)(Q, threshold, problem)


def _paper_step(Q: NDArray, threshold: float, problem: MultiClass) -> tuple[NDArray, NDArray | None]:
    """Shrink the singular values after the first theta, then project into the ball."""
    if threshold == 0.0:
        scale = _into_ball(Q, problem.ball)
        return (Q if scale == 1.0 else Q * scale), None
    W, values = shrink(Q, threshold, slice(problem.n_kept(*Q.shape), None))
    scale = _into_ball(values, problem.ball)
    return W * scale, values * scale


def _released_step(Q: NDArray, threshold: float, problem: MultiClass) -> tuple[NDArray, NDArray | None]:
    """Project into the ball, then shrink the first theta singular values."""
    Q = Q * _into_ball(Q, problem.ball)
    if threshold == 0.0:
        return Q, None
    W, values = shrink(Q, threshold, slice(problem.n_kept(*Q.shape)))
    return W, np.sort(values)[::-1]


def _into_ball(values: NDArray, radius: float) -> float:
    norm = float(np.linalg.norm(values))
    return radius / norm if norm > radius else 1.0


def shrink(Q: NDArray, threshold: float, which: slice) -> tuple[NDArray, NDArray]:
    """Reduce the singular values of Q (d, K) in `which` (descending order) by a threshold, but not below zero.

    Return the matrix W, and its singular values in the order of the old. If `which` is all values after the first
    theta, W minimises ||W - Q||_F^2 / 2 + threshold * (sum of the singular values of W after the first theta):
    Proposition 1.
    """
    U, values, Vt = np.linalg.svd(Q, full_matrices=False)
    values[which] = np.maximum(0.0, values[which] - threshold)
    return (U * values) @ Vt, values


# Sums for the mean are kept at multiples of this number of iterations: after a start at a solution, and at 0.
STRETCH_STARTED, STRETCH = 25, 100
# Number of labeled points at which the change of the mean's scores is measured.
POINTS = 256


def tail_mean(task: MultiClassTask, start: NDArray | None, stopping: Stopping) -> TailMean:
    """Return the mean of the weights' second half, with its scores at some labeled points; `start` is as in `train`."""
    phi = task.X[evenly_spread(len(task.X), POINTS)]
    stretch = STRETCH if start is None else STRETCH_STARTED
    zero, n_iter = task.start(), task.problem.n_iter
    return TailMean(zero, n_iter, stretch, stopping, start=zero if start is None else start, scores=lambda W: phi @ W)
