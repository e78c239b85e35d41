"""PS3VT's loop: proximal stochastic sub-gradients with singular value thresholding.

    for t = 1 .. T:
        draw a mini-batch of labeled points
        Q <- W - (1/mu) (sub-gradient of the batch's hinge loss + 2 tau_A W + 2 tau_I X L X' W)
        W <- Q with every singular value after the first theta made smaller by tau_S / mu, not below 0
        W <- W min(1, 1 / ||W||)

Like the solver it is a generator: it pauses by not being asked. Any iteration's draws can be made again from (seed, t).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.kernels import Gaussian, block_frequencies
from dsgcore.core.problem import UNLABELED, ProblemError
from dsgcore.core.sampling import batch_rows, generator
from dsgcore.multiclass.graph import laplacian, smoothness
from dsgcore.multiclass.problem import MultiClass

SOURCE = "labeled"
DTYPE = np.dtype(np.float64)


@dataclass(frozen=True)
class FixedFeatures:
    """What W multiplies: a point's own coordinates, or random Fourier features of them, fixed by the seed.

    Attributes
    ----------
    kind : {"linear", "fourier"}
    sigma : float
        Sharpness of the kernel exp(-sigma ||x - x'||^2) that the Fourier features stand for.
    n_features : int
        Number m of frequencies.
    seed : int
    """

    kind: str
    sigma: float
    n_features: int
    seed: int

    def __call__(self, X: NDArray) -> NDArray:
        """Return X, or sqrt(1/m) [cos w_1'x .. cos w_m'x, sin w_1'x .. sin w_m'x] of shape (n, 2m), in float64."""
        X = np.ascontiguousarray(X, dtype=DTYPE)
        if self.kind == "linear":
            return X
        W = block_frequencies(Gaussian(self.sigma), self.seed, 0, X.shape[1], self.n_features, DTYPE)
        angles = 2.0 * np.pi * (X @ W)
        phi = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        phi *= self.n_features**-0.5
        return phi


@dataclass(frozen=True)
class MultiClassTask:
    """What is to be solved; `make_task` makes it from points and labels.

    Attributes
    ----------
    problem : MultiClass
        Objective and parameters.
    features : FixedFeatures
    X : ndarray of shape (n_l, d)
        Features of the labeled points, float64.
    y : ndarray of shape (n_l,)
        Their classes, 0 to K - 1.
    n_classes : int
        Number K of classes.
    M : ndarray of shape (d, d) or None
        The graph's X L X' over all points; None where tau_I = 0.
    seed : int
    orders : ndarray of shape (epochs, n_l), optional
        In which order the released variant visits the labeled points in each epoch; drawn from the seed if left out.
    batches : sequence of ndarray, optional
        Rows of each iteration's mini-batch, where they are known already; drawn from the seed if left out.
    """

    problem: MultiClass
    features: FixedFeatures
    X: NDArray
    y: NDArray
    n_classes: int
    M: NDArray | None
    seed: int
    orders: NDArray | None = None
    batches: Sequence[NDArray] | None = None

    @property
    def batch_size(self) -> int:
        """The number of labeled points in an iteration's mini-batch."""
        return self.problem.batch_size or len(self.y)

    def batch(self, t: int) -> NDArray:
        """Return the rows of iteration `t`'s mini-batch; t from 1."""
        if self.batches is not None:
            return self.batches[t - 1]
        if self.problem.variant == "released":
            return self._epoch_batch(t)
        if self.problem.batch_size is None:
            return np.arange(len(self.y))
        return batch_rows(self.seed, SOURCE, t, np.arange(len(self.y)), self.batch_size)

    def _epoch_batch(self, t: int) -> NDArray:
        epoch, number = divmod(t - 1, -(-len(self.y) // self.batch_size))
        order = _order(self.seed, epoch, len(self.y)) if self.orders is None else self.orders[epoch]
        return order[number * self.batch_size : (number + 1) * self.batch_size]

    def step(self, t: int) -> float:
        """Return iteration `t`'s step."""
        step = self.problem.step_size
        return step / (t + len(self.y)) if self.problem.variant == "released" else step

    def start(self) -> NDArray:
        """Return the weights before the first iteration, W = 0."""
        return np.zeros((self.X.shape[1], self.n_classes))

    def terms(self, W: NDArray) -> dict[str, float]:
        """Return the terms of the objective over all labeled points; their sum is the objective."""
        terms, _ = self.problem.smooth_terms(W, self.X, self.y, self.M)
        return {**terms, "tail": self.problem.tail(_singular_values(W), *W.shape)}


@lru_cache(maxsize=8)
def _order(seed: int, epoch: int, n: int) -> NDArray:
    return generator(seed, "order", epoch).permutation(n)


def make_task(problem: MultiClass, X: NDArray, y: NDArray, seed: int) -> MultiClassTask:
    """Map the points to features, and build the graph over all of them.

    Parameters
    ----------
    problem : MultiClass
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Classes 0 to K - 1, and -1 for unlabeled points.
    seed : int, 0 <= seed < 2**32

    Returns
    -------
    MultiClassTask

    Raises
    ------
    ProblemError
        If there are fewer than two classes.
    """
    labeled = y != UNLABELED
    n_classes = len(np.unique(y[labeled]))
    if n_classes < 2:
        raise ProblemError(f"several classes are needed, got labels of {n_classes} class{'es' * (n_classes != 1)}")
    features = FixedFeatures(problem.features, problem.sigma, problem.n_features, seed)
    M = None
    with single_threaded_blas():  # the same bits, whatever the number of threads
        if problem.tau_I > 0.0:
            L = laplacian(X, n_neighbors=problem.n_neighbors, variant=problem.variant)
            M = smoothness(features(X), L)
        return MultiClassTask(problem, features, features(X[labeled]), y[labeled].astype(np.intp), n_classes, M, seed)


@dataclass(frozen=True)
class MultiClassStep:
    """One iteration.

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
        Frobenius norm of the sub-gradient that was followed (the tail is not in it).
    W : ndarray of shape (d, K)
        Weights after the step. Not to be written to.
    singular_values : ndarray of shape (min(d, K),)
        Those of W, in descending order.
    """

    t: int
    step: float
    batch: NDArray
    terms: dict[str, float]
    gradient_norm: float
    W: NDArray
    singular_values: NDArray


def descend(task: MultiClassTask, W: NDArray | None = None, t: int = 0) -> Iterator[MultiClassStep]:
    """Run Algorithm 1, up to the problem's `n_iter`.

    Parameters
    ----------
    task : MultiClassTask
    W : ndarray of shape (d, K), optional
        Weights after iteration `t`, to go on from there; 0 if left out.
    t : int, default 0
        Iterations made already.

    Yields
    ------
    MultiClassStep
        After the step. It ends early, before the first step that is not finite.
    """
    W = task.start() if W is None else W
    values = _singular_values(W)
    for number in range(t + 1, task.problem.n_iter + 1):
        with single_threaded_blas():
            iterate = _iterate(task, W, values, number)
        if iterate is None:
            return
        yield iterate
        W, values = iterate.W, iterate.singular_values


def train(task: MultiClassTask, W: NDArray | None = None, t: int = 0) -> tuple[NDArray, int]:
    """Run Algorithm 1 to its end for the weights alone: those of `solve`, bit for bit, without its records.

    Parameters
    ----------
    task : MultiClassTask
    W : ndarray of shape (d, K), optional
        Weights after iteration `t`, to go on from there; 0 if left out.
    t : int, default 0
        Iterations made already.

    Returns
    -------
    W : ndarray of shape (d, K)
        Weights after the last iteration that is finite.
    n_iter : int
        Number of that iteration: the problem's `n_iter`, or less where a step was not finite.
    """
    W = task.start() if W is None else W
    with single_threaded_blas():
        for number in range(t + 1, task.problem.n_iter + 1):
            Q = W - task.step(number) * _gradient(task, W, task.batch(number))
            if not np.isfinite(Q).all():
                return W, number - 1
            W, _ = _advance(Q, task, number)
    return W, max(t, task.problem.n_iter)


def _gradient(task: MultiClassTask, W: NDArray, rows: NDArray) -> NDArray:
    """Return the gradient of the problem's `smooth_terms`, in the same order of operations."""
    problem, X = task.problem, task.X[rows]
    gradient = X.T @ (problem.slopes(X @ W, task.y[rows]) / task.batch_size) + 2.0 * problem.tau_A * W
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
    values = _singular_values(W) if new is None else new
    return MultiClassStep(t, step, rows, terms, float(np.linalg.norm(gradient)), W, values)


def _advance(Q: NDArray, task: MultiClassTask, t: int) -> tuple[NDArray, NDArray | None]:
    """Threshold and project; return also the singular values where they are known on the way."""
    problem, threshold = task.problem, task.step(t) * task.problem.tau_S
    return (_released_step if problem.variant == "released" else _paper_step)(Q, threshold, problem)


def _paper_step(Q: NDArray, threshold: float, problem: MultiClass) -> tuple[NDArray, NDArray | None]:
    """Shrink the singular values after the first theta, then project into the ball."""
    if threshold == 0.0:
        return Q * _into_ball(Q, problem.ball), None
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
    """Make some singular values of a matrix smaller by a threshold, not below zero.

    Parameters
    ----------
    Q : ndarray of shape (d, K)
    threshold : float >= 0
    which : slice
        Which of the singular values, in descending order.

    Returns
    -------
    W : ndarray of shape (d, K)
        Where `which` is all values after the first theta, W minimises ||W - Q||_F^2 / 2 + threshold * (sum of the
        singular values of W after the first theta): Proposition 1.
    values : ndarray of shape (min(d, K),)
        The new values, in the order of the old.
    """
    U, values, Vt = np.linalg.svd(Q, full_matrices=False)
    values[which] = np.maximum(0.0, values[which] - threshold)
    return (U * values) @ Vt, values


def _singular_values(W: NDArray) -> NDArray:
    return np.linalg.svd(W, compute_uv=False)
