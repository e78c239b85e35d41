"""What the semi-supervised support vector machines share: their points in order, the centred kernel, the fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines.base import BinaryBaseline, GaussianOrLinear
from dsgcore.baselines.basis import Basis, BasisModel, HasMatrix
from dsgcore.baselines.memory import BYTES_PER_NUMBER, Memory
from dsgcore.baselines.memory import kernel_matrix as of_kernel_matrix
from dsgcore.baselines.progress import Callback
from dsgcore.core.parameters import Real, as_in
from dsgcore.problems.s3vm import SemiSupervisedSVM

# Kernel values made at a time while the matrix is filled, and arrays of them that making them takes.
MAX_VALUES = 2**20
VALUES_BESIDE = 3

C = as_in(SemiSupervisedSVM, "C", sentence="How much a labeled point on the wrong side of the margin costs.")
BALANCE_TARGET = Real(
    "balance_target",
    None,
    low=-1.0,
    high=1.0,
    optional=True,
    symbol="r",
    label="Mean value",
    sentence="What the function's mean over the unlabeled points is kept at; by default the mean label of the labeled ones.",
)


@dataclass(frozen=True, eq=False)
class OrderedPoints:
    """Labeled points, then unlabeled ones.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n_l,)
        +1 or -1 for each labeled point.
    """

    X: NDArray
    y: NDArray

    @property
    def n_labeled(self) -> int:
        """Number of labeled points n_l."""
        return len(self.y)

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabeled points n_u."""
        return len(self.X) - len(self.y)


@dataclass(eq=False, repr=False, kw_only=True)
class S3VMBaseline(GaussianOrLinear, BinaryBaseline):
    """Shell of a semi-supervised support vector machine.

    Attributes
    ----------
    model_ : dsgcore.baselines.basis.BasisModel
        The function f, with its bias where it has one.
    """

    def _run(self, X: NDArray, y: NDArray, callback: Callback | None) -> Self:
        if not (y == 0).any():  # the labeled points are the unlabeled sample too
            X, y = np.concatenate([X, X]), np.concatenate([y, np.zeros(len(y))])
        return super()._run(X, y, callback)

    def _some_kernel(self, X: NDArray) -> HasMatrix:
        kernel = self._kernel(X)
        assert kernel is not None  # of these kernels all are
        return kernel


def in_order(X: NDArray, y: NDArray) -> OrderedPoints:
    """Return the points, labeled ones (y = 1 or -1) before unlabeled ones (0), each kind in its order."""
    is_labeled = y != 0
    return OrderedPoints(np.concatenate([X[is_labeled], X[~is_labeled]]), y[is_labeled])


def kernel_matrix(kernel: HasMatrix, X: NDArray, *, extra: int = 0) -> NDArray:
    """Return the kernel matrix of the points, made a few rows at a time, so that nothing of its size is beside it.

    Parameters
    ----------
    kernel : HasMatrix
    X : ndarray of shape (n, d)
    extra : int, default 0
        Number of rows and columns of zeros to append.

    Returns
    -------
    ndarray of shape (n + extra, n + extra)
    """
    n = len(X)
    K = np.zeros((n + extra, n + extra))
    size = max(1, MAX_VALUES // n)
    for start in range(0, n, size):
        rows = slice(start, min(n, start + size))
        K[rows, :n] = kernel.matrix(X[rows], X)
    return K


def centred_matrix(kernel: HasMatrix, points: OrderedPoints, *, extra: int = 0) -> NDArray:
    """Return the kernel matrix of the points, centred in feature space on the mean of the unlabeled ones.

    With phi' = phi - mean_U phi, every function <w, phi'> has the mean 0 over the unlabeled points.

    Parameters
    ----------
    kernel : HasMatrix
    points : OrderedPoints
    extra : int, default 0
        Number of rows and columns of zeros to append.

    Returns
    -------
    ndarray of shape (n + extra, n + extra)
    """
    n = len(points.X)
    K = kernel_matrix(kernel, points.X, extra=extra)
    mean = K[:n, points.n_labeled : n].mean(axis=1)
    K[:n, :n] -= mean[:, None]
    K[:n, :n] -= mean
    K[:n, :n] += mean[points.n_labeled :].mean()
    return K


def matrix_memory(n: int, numbers_beside: float = 0.0, cache: int = 0) -> Memory:
    """Return the need for a kernel matrix made by `kernel_matrix`, for some numbers, and for libsvm's cache.

    Parameters
    ----------
    n : int
        Number of points.
    numbers_beside : float, default 0
        How many float64 numbers there are beside it.
    cache : int, default 0
        MB of kernel values in float32 that are kept at most.
    """
    need = of_kernel_matrix(n)
    pieces = VALUES_BESIDE * max(n, min(MAX_VALUES, n * n))
    kept = min(need.bytes // 2, cache * 10**6)
    return Memory(need.bytes + kept + BYTES_PER_NUMBER * int(pieces + numbers_beside), need.purpose)


def expansion(kernel: HasMatrix, X: NDArray, coef: NDArray, bias: float) -> BasisModel:
    """Return f(x) = sum_i coef_i k(x, x_i) + bias, without the points whose coefficient is 0."""
    held = np.flatnonzero(coef)
    held = held if len(held) else np.arange(1)
    return BasisModel(Basis(kernel, X[held], has_bias=True), np.append(coef[held], bias))


def centred_expansion(kernel: HasMatrix, points: OrderedPoints, coef: NDArray, mean: float) -> BasisModel:
    """Return f(x) = sum_i coef_i k'(x, x_i) + mean, k' the kernel centred on the unlabeled points, as an expansion in k.

    Parameters
    ----------
    kernel : HasMatrix
    points : OrderedPoints
    coef : ndarray of shape (n,)
    mean : float
        Mean of f over the unlabeled points.
    """
    coef = coef.copy()
    coef[points.n_labeled :] -= coef.sum() / points.n_unlabeled
    model = expansion(kernel, points.X, coef, 0.0)
    unlabeled, size = points.X[points.n_labeled :], max(1, MAX_VALUES // len(points.X))
    values = [model.evaluate(unlabeled[start : start + size]) for start in range(0, len(unlabeled), size)]
    model.coef[-1] = mean - np.concatenate(values).mean()
    return model
