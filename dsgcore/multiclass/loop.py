"""PS3VT's loop: proximal stochastic sub-gradients with singular value thresholding.

    for t = 1 .. T:
        draw a mini-batch of labeled points
        Q <- W - (1/mu) (sub-gradient of the batch's hinge loss + 2 lam W + 2 tau_I X L X' W)
        W <- Q with every singular value after the first theta made smaller by tau_S / mu, not below 0
        W <- W min(1, 1 / ||W||)

The authors' program differs in steps, ball and shrunk values (`dsgcore.multiclass.problem.MultiClass`). Like the solver this
is a generator, so that the caller can pause it. Any iteration's draws follow from (seed, t).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import batch_rows, evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels import Gaussian
from dsgcore.kernels.kernels import too_far
from dsgcore.multiclass.automatic import settle_step, settle_weights
from dsgcore.multiclass.features import FixedFeatures, Frame, LazyFeatures, features_of, spread
from dsgcore.multiclass.problem import RELEASED, MultiClass
from dsgcore.solver.problem import UNLABELED, ProblemError
from dsgcore.solver.stopping import Stopping, TailMean


@dataclass(frozen=True, eq=False)
class MultiClassStep:
    """Record of iteration `t` (from 1). Its measurements are computed when they are asked for: most fits need none.

    `batch` (B,) are rows among the labeled points. `before`, `gradient`, `Q` and `W` (d, K) are the weights before the step, the
    sub-gradient that was followed, without the tail, and the weights after the sub-gradient step, and after threshold and
    projection: do not write to them. `spectra` are singular values before and after, if the thresholding has computed them.
    """

    task: MultiClassTask
    t: int
    batch: NDArray
    before: NDArray
    gradient: NDArray
    Q: NDArray
    W: NDArray
    spectra: tuple[NDArray | None, NDArray | None]

    @cached_property
    def singular_values(self) -> NDArray:
        """Singular values of W, in descending order."""
        return np.linalg.svdvals(self.W) if self.spectra[1] is None else self.spectra[1]

    @property
    def terms(self) -> dict[str, float]:
        """The batch objective before the step: the loss, "ridge", "graph" and "tail"."""
        task, W = self.task, self.before
        values = np.linalg.svdvals(W) if self.spectra[0] is None else self.spectra[0]
        with single_threaded_blas():
            terms = task.problem.terms(W, task.X[self.batch], task.y[self.batch], task.M)
        return {**terms, "tail": task.problem.tail(values, *W.shape)}


def descend(task: MultiClassTask, W: NDArray | None = None, t: int = 0) -> Iterator[MultiClassStep]:
    """Run Algorithm 1, up to the problem's `n_iter`; stop early before the first step that is not finite.

    It continues from the weights `W` (d, K) after `t` iterations, or starts from 0 without them.
    """
    values = None
    W = task.start() if W is None else W
    for number in range(t + 1, task.problem.n_iter + 1):
        problem = task.problem.at(number, len(task.y))
        with single_threaded_blas():  # bit-for-bit identical for any number of threads
            rows = task.batch(number)
            gradient = problem.gradient(W, task.X[rows], task.y[rows], task.M)
            Q = W - problem.step_size * gradient
            if not np.isfinite(Q).all():
                return
            new, spectrum = proximal_step(Q, problem)
        of_step = task if problem is task.problem else replace(task, problem=problem)
        yield MultiClassStep(of_step, number, rows, W, gradient, Q, new, (values, spectrum))
        W, values = new, spectrum


def proximal_step(Q: NDArray, problem: MultiClass) -> tuple[NDArray, NDArray | None]:
    """Shrink the singular values after the first theta, then project into the ball: Proposition 1.

    The authors' program projects first, and shrinks the first ones. Return the weights, and their singular values in
    descending order if these were computed.
    """
    threshold = problem.step_size * problem.tau_S
    if problem.variant == RELEASED:
        Q = Q * min(1.0, problem.ball / (np.linalg.norm(Q) or 1.0))
        return (Q, None) if threshold == 0.0 else shrink(Q, threshold, problem.shrunk(*Q.shape))
    W, values = (Q, None) if threshold == 0.0 else shrink(Q, threshold, problem.shrunk(*Q.shape))
    norm = float(np.linalg.norm(W if values is None else values))
    if norm > problem.ball:
        scale = problem.ball / norm
        W, values = W * scale, None if values is None else values * scale
    return W, values


def shrink(Q: NDArray, threshold: float, which: slice) -> tuple[NDArray, NDArray]:
    """Reduce some of the descending singular values of Q (d, K) by a threshold, but not below zero.

    Return the matrix W and its singular values. If they are those after the first n, W minimises ||W - Q||_F^2 / 2 +
    threshold * (sum of the singular values of W after the first n): Proposition 1.
    """
    U, values, Vt = np.linalg.svd(Q, full_matrices=False)
    values[which] = np.maximum(0.0, values[which] - threshold)
    return (U * values) @ Vt, np.sort(values)[::-1]


# Sums for the mean are kept at multiples of this number of iterations: after a start at a solution, and at 0.
STRETCH_STARTED, STRETCH = 25, 100
# A fit ends when the mean's scores change by no more than this share, from 0 and from an exact start.
TOL_FROM_0, TOL_STARTED = 0.01, 0.05
# Number of labeled points at which the change of the mean's scores is measured.
POINTS = 256


def tail_mean(task: MultiClassTask, start: NDArray | None, stopping: Stopping) -> TailMean:
    """Return the mean of the weights' second half, with its scores at some labeled points; `start` are those of an exact start."""
    phi = task.X[evenly_spread(len(task.X), POINTS)]
    stretch = STRETCH if start is None else STRETCH_STARTED
    zero, n_iter = task.start(), task.problem.n_iter
    return TailMean(zero, n_iter, stretch, stopping, start=zero if start is None else start, scores=lambda W: phi @ W)


SOURCE = "labeled"
# Most numbers of Fourier features that are kept. For more, each mini-batch computes its own when it is drawn.
MOST_FEATURES = 2**24
# In that case the step size is computed from this many points.
POINTS_FOR_STEP = 2048


@dataclass(frozen=True)
class MultiClassTask:
    """Task of PS3VT's loop; `make_task` makes it from points and labels.

    X (n_l, d) are the features of the labeled points, float64, and y (n_l,) their classes, 0 to K - 1. M (d, d) is the graph's
    X L X' over all points; None if tau_I = 0. `frame` is that of X, M and all weights, if they differ from the original features.
    """

    problem: MultiClass
    features: FixedFeatures
    X: NDArray | LazyFeatures
    y: NDArray
    n_classes: int
    M: NDArray | None
    seed: int
    frame: Frame | None = None

    @property
    def batch_size(self) -> int:
        """Number of labeled points in an iteration's mini-batch."""
        return self.problem.batch_size or len(self.y)

    def batch(self, t: int) -> NDArray:
        """Return the rows of iteration `t`'s mini-batch; t from 1."""
        if self.problem.batch_size is None:
            return np.arange(len(self.y))
        in_passes = self.problem.variant == RELEASED
        return batch_rows(self.seed, SOURCE, t, np.arange(len(self.y)), self.batch_size, is_shuffled=in_passes)

    def start(self) -> NDArray:
        """Return the weights before the first iteration, W = 0."""
        return np.zeros((self.X.shape[1], self.n_classes))

    def plain(self, W: NDArray) -> NDArray:
        """Return the weights for the original features."""
        return W if self.frame is None else self.frame.leave(W)

    def terms(self, W: NDArray) -> dict[str, float]:
        """Return the terms of the objective over all labeled points. Their sum is the objective."""
        terms = self.problem.terms(W, cast(NDArray, self.X), self.y, self.M)
        return {**terms, "tail": self.problem.tail(np.linalg.svdvals(W), *W.shape)}

    @property
    def some_features(self) -> NDArray:
        """Features of all labeled points if they are kept, else of some, evenly spread."""
        return self.X if isinstance(self.X, np.ndarray) else self.X[evenly_spread(len(self.X), POINTS_FOR_STEP)]


def make_task(problem: MultiClass, X: NDArray, y: NDArray, seed: int, n_classes: int = 0) -> MultiClassTask:
    """Map the points X (n, d) to features, build the graph over all of them, and resolve automatic parameters.

    y (n,) are classes 0 to K - 1, and -1 for unlabeled points. By default K counts the classes up to the largest label. Raise
    `ProblemError` if there are fewer than two classes, or a point is too far away for Fourier features.
    """
    labeled = y != UNLABELED
    found = np.unique(y[labeled])
    if len(found) < 2:
        raise ProblemError(
            f"labels of at least two classes are needed, got {len(found)} class{'es' * (len(found) != 1)}"
        )
    features = features_of(problem, seed)
    if features.kind == "fourier" and (said := too_far(X, Gaussian(features.sigma))):
        raise ProblemError(said)
    is_free = features.kind == "linear" and features.has_ones
    frame = Frame(X.mean(axis=0), spread(X)) if is_free else None
    with single_threaded_blas():  # bit-for-bit identical for any number of threads
        problem, M = settle_weights(problem, features, X, y)
        size = np.count_nonzero(labeled) * features.width(X.shape[1])
        if features.kind != "linear" and size > MOST_FEATURES:
            phi: NDArray | LazyFeatures = LazyFeatures(features, X[labeled])
        else:
            phi = features(X[labeled]) if frame is None else frame(features(X[labeled]))
        codes = y[labeled].astype(np.intp)
        K = max(n_classes, int(found[-1]) + 1)
        task = MultiClassTask(problem, features, phi, codes, K, M, seed, frame=frame)
        return replace(task, problem=settle_step(task.problem, task.some_features, len(codes), M))
