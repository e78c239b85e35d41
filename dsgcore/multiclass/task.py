"""Task for PS3VT's loop: labeled points' features, the graph's matrix and the draws of the mini-batches."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import batch_rows, evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels import Gaussian
from dsgcore.kernels.kernels import too_far
from dsgcore.multiclass.automatic import settle_step, settle_weights
from dsgcore.multiclass.features import FixedFeatures, Frame, LazyFeatures, features_of, frame_of
from dsgcore.multiclass.problem import RELEASED, MultiClass
from dsgcore.solver.problem import UNLABELED, ProblemError

SOURCE = "labeled"
# Most numbers of Fourier features that are kept. For more, each mini-batch computes its own when it is drawn.
MOST_FEATURES = 2**24
# In that case the step size is computed from this many points.
POINTS_FOR_STEP = 2048


@dataclass(frozen=True)
class MultiClassTask:
    """Task of PS3VT's loop; `make_task` makes it from points and labels.

    Attributes
    ----------
    problem : MultiClass
        Objective and parameters.
    features : FixedFeatures
        The features that W multiplies.
    X : ndarray of shape (n_l, d), or LazyFeatures
        Features of the labeled points, float64.
    y : ndarray of shape (n_l,)
        Their classes, 0 to K - 1.
    n_classes : int
        Number K of classes.
    M : ndarray of shape (d, d) or None
        The graph's X L X' over all points. None if tau_I = 0.
    seed : int
    frame : Frame, optional
        Frame of X, M and all weights, if they differ from the original features.
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
        size = len(self.y) if isinstance(self.X, np.ndarray) else max(1, MOST_FEATURES // self.X.shape[1])
        total: dict[str, float] = {}
        for start in range(0, len(self.y), size):
            piece = slice(start, start + size)
            terms = self.problem.terms(W, self.X[piece], self.y[piece], self.M)
            share = len(self.y[piece]) / len(self.y)
            total = {name: total.get(name, 0.0) + share * value for name, value in terms.items()}
        return {**total, "tail": self.problem.tail(np.linalg.svdvals(W), *W.shape)}

    @property
    def some_features(self) -> NDArray:
        """Features of all labeled points if they are kept, else of some, evenly spread."""
        return self.X if isinstance(self.X, np.ndarray) else self.X[evenly_spread(len(self.X), POINTS_FOR_STEP)]


def make_task(problem: MultiClass, X: NDArray, y: NDArray, seed: int, n_classes: int = 0) -> MultiClassTask:
    """Map the points to features, build the graph over all of them, and resolve automatic parameters.

    Parameters
    ----------
    problem : MultiClass
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Classes 0 to K - 1, and -1 for unlabeled points.
    seed : int, 0 <= seed < 2**32
    n_classes : int, optional
        Number K of classes, if some may have no label. Default: those up to the largest label.

    Raises
    ------
    ProblemError
        If there are fewer than two classes, or a point is too far away for Fourier features.
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
    frame = frame_of(X, features)
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
