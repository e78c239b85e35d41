"""Models that are linear in explicit features: kernels at centres, or the coordinates themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import generator

# Most kernel values held at a time while a model is evaluated.
MAX_VALUES = 2**22


class HasMatrix(Protocol):
    """Protocol for a baseline's kernel."""

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return k(x_i, z_j), of shape (n, p)."""

    def frequencies(self, rng: np.random.Generator, d: int, m: int) -> NDArray | None:
        """Draw frequencies of random features, of shape (d, m), in turns per unit.

        Return None if the points are their own features.
        """
        return None


@dataclass(frozen=True)
class Linear(HasMatrix):
    """The linear kernel k(x, x') = <x, x'>."""

    name: ClassVar[str] = "linear"

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return <x_i, z_j>, of shape (n, p)."""
        return X @ Z.T


@dataclass(frozen=True, eq=False)
class Basis:
    """Features phi(x) = [k(x, c_1) .. k(x, c_m)], or x itself without a kernel, then a 1 if there is a bias.

    Parameters
    ----------
    kernel : HasMatrix or None
        None for the coordinates themselves.
    centers : ndarray of shape (m, d)
        Of shape (0, d) if there is no kernel.
    has_bias : bool
    """

    kernel: HasMatrix | None
    centers: NDArray
    has_bias: bool = False

    @property
    def size(self) -> int:
        """Number of features."""
        return (self.centers.shape[1] if self.kernel is None else len(self.centers)) + self.has_bias

    def features(self, X: NDArray) -> NDArray:
        """Return phi of each row of `X`, of shape (n, size)."""
        values = X if self.kernel is None else self.kernel.matrix(X, self.centers)
        return np.column_stack([values, np.ones(len(X))]) if self.has_bias else values


@dataclass(frozen=True, eq=False)
class BasisModel:
    """Model f(x) = phi(x)' coef.

    Parameters
    ----------
    basis : Basis
    coef : ndarray of shape (size,), or (size, k) for k functions
        The bias is the last entry, if the basis has one.
    """

    basis: Basis
    coef: NDArray

    def evaluate(self, X: NDArray) -> NDArray:
        """Return f at each row of `X`, of shape (n,) or (n, k). Evaluates in blocks of bounded size."""
        pieces = gen_batches(len(X), max(1, MAX_VALUES // self.basis.size))
        return np.concatenate([self.basis.features(X[rows]) @ self.coef for rows in pieces])


def choose_centers(X: NDArray, given: int | NDArray | None, seed: int) -> NDArray:
    """Return the kernel centres: all points of X (n, d), a random draw without replacement, or the given array (m, d).

    A draw of more centres than there are points returns all points. Raise DSGError if given centres have another
    number of coordinates.
    """
    if isinstance(given, np.ndarray):
        if given.shape[1] != X.shape[1]:
            raise DSGError(f"centers must have {X.shape[1]} coordinates as the points have, got {given.shape[1]}")
        return given
    if given is None or given >= len(X):
        return X
    return X[generator(seed, "centers").choice(len(X), size=given, replace=False)]
