"""Features for which a model's penalty is the sum of squared weights, for each supported norm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack
from sklearn.utils import gen_batches

from dsgcore.baselines.basis import MAX_VALUES, Basis, BasisModel, HasMatrix
from dsgcore.core.parameters import Choice

# Factor of the sum of squared weights in each penalty.
FACTORS = {"euclidean": 1.0, "half euclidean": 0.5, "half rkhs": 0.5}
PENALTY = Choice(
    "penalty",
    "half euclidean",
    options=("half euclidean", "half rkhs"),
    label="Penalty",
    sentence="Norm of the ridge: half the squared length of the weights, or half the squared norm of f in the kernel's space.",
)


@dataclass(frozen=True, eq=False)
class Design:
    """Features psi with f(x) = psi(x)'v and the penalty |v|^2.

    Parameters
    ----------
    basis : Basis
    factor : ndarray of shape (m, m) or None
        If None, psi is the basis's phi. Else L, lower triangular with L L' = k(c, c), and psi = L^-1 phi. Then |v|^2
        is the squared norm of f in the kernel's space, plus the squared bias.
    """

    basis: Basis
    factor: NDArray | None = None

    def features(self, X: NDArray) -> NDArray:
        """Return psi of each row of `X`, of shape (n, size)."""
        values = self.basis.features(X)
        if self.factor is not None:
            m = len(self.factor)
            values[:, :m] = linalg.solve_triangular(self.factor, values[:, :m].T, lower=True).T
        return values

    def blocks(self, X: NDArray) -> Iterator[NDArray]:
        """Yield the features of `X` in blocks of rows of bounded size."""
        return (self.features(X[rows]) for rows in gen_batches(len(X), self.block_size()))

    def block_size(self) -> int:
        """Return the largest number of rows in a block."""
        return max(1, MAX_VALUES // self.basis.size)

    def count(self, n: int) -> int:
        """Return the number of blocks that `n` rows make."""
        return -(-n // self.block_size())

    def model(self, v: NDArray) -> BasisModel:
        """Return f for weights v of shape (size,) or (size, k)."""
        coef = v.copy()
        if self.factor is not None:
            m = len(self.factor)
            coef[:m] = linalg.solve_triangular(self.factor, v[:m], lower=True, trans="T")
        return BasisModel(self.basis, coef)


def add_products(H: NDArray, psi: NDArray, weight: float, room: NDArray) -> None:
    """Add weight * psi'psi to H in place; `room` is a work array of H's shape and is overwritten."""
    np.matmul(psi.T, psi, out=room)
    room *= weight
    H += room


def make_design(kernel: HasMatrix | None, centers: NDArray, penalty: str, *, has_bias: bool = False) -> Design:
    """Return the features for a penalty in `FACTORS`.

    Parameters
    ----------
    kernel : HasMatrix or None
        None for the coordinates themselves, for which both norms are the same.
    centers : ndarray of shape (m, d)

    Notes
    -----
    For the kernel's norm, the centres' kernel matrix is factored by Cholesky's method with pivoting. The factorization
    stops when the remainder is rounding error, so that redundant centres are left out. Then the condition of the
    system in v depends on the risk and the ridge only, even if the kernel is very flat.
    """
    if kernel is None:
        return Design(Basis(None, centers[:0], has_bias))
    if penalty != "half rkhs":
        return Design(Basis(kernel, centers, has_bias))
    factor, pivots, rank, _ = lapack.dpstrf(kernel.matrix(centers, centers), lower=1)
    kept = pivots[:rank] - 1
    return Design(Basis(kernel, centers[kept], has_bias), np.tril(factor[:rank, :rank]))
