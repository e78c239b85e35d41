"""What PS3VT's weights multiply: features that stay the same in all iterations, and the frame in which they are learned on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.kernels import Gaussian, block_frequencies
from dsgcore.multiclass.problem import MultiClass

DTYPE = np.dtype(np.float64)
# So many frequencies are made orthogonal to each other at most: the work grows with their square.
MOST_ORTHOGONAL = 256
# The frequencies of so many sets of features are kept: those of a run that is watched, and of the one before.
KEPT_FREQUENCIES = 2


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
    has_ones : bool
        Whether a column of ones stands behind them, for an intercept.
    is_orthogonal : bool
        Whether the frequencies' directions are orthogonal to each other, as many at a time as there are coordinates.
    """

    kind: str
    sigma: float
    n_features: int
    seed: int
    has_ones: bool = False
    is_orthogonal: bool = False

    def __call__(self, X: NDArray) -> NDArray:
        """Return X, or sqrt(1/m) [cos w_1'x .. cos w_m'x, sin w_1'x .. sin w_m'x] of shape (n, 2m), in float64; then the ones."""
        X = np.ascontiguousarray(X, dtype=DTYPE)
        phi = X if self.kind == "linear" else self._waves(X)
        return np.hstack([phi, np.ones((len(X), 1))]) if self.has_ones else phi

    def _waves(self, X: NDArray) -> NDArray:
        angles = 2.0 * np.pi * (X @ _frequencies(self, X.shape[1]))
        phi = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        phi *= self.n_features**-0.5
        return phi

    def width(self, d: int) -> int:
        """Return how many features a point of `d` coordinates has."""
        return (d if self.kind == "linear" else 2 * self.n_features) + self.has_ones


def features_of(problem: MultiClass, seed: int) -> FixedFeatures:
    """Return the features that a problem asks for."""
    p = problem
    return FixedFeatures(p.features, p.sigma, p.n_features, seed, p.fit_intercept, p.is_orthogonal)


@lru_cache(maxsize=KEPT_FREQUENCIES)
def _frequencies(features: FixedFeatures, d: int) -> NDArray:
    """Return the frequencies (d, m): the same ones at every call."""
    W = block_frequencies(Gaussian(features.sigma), features.seed, 0, d, features.n_features, DTYPE)
    return _orthogonal(W) if features.is_orthogonal else W


def _orthogonal(W: NDArray) -> NDArray:
    """Return normal columns (d, m) with their lengths, and directions that are orthogonal, d and at most 256 at a time.

    Each direction alone is uniform as before, so the kernel that the features stand for is the same on average; their error is
    smaller the more coordinates there are (Yu et al., Orthogonal Random Features, NIPS 2016).
    """
    size = min(len(W), MOST_ORTHOGONAL)
    made = np.empty_like(W)
    with single_threaded_blas():  # the same bits, whatever the number of threads
        for start in range(0, W.shape[1], size):
            block = W[:, start : start + size]
            Q, R = np.linalg.qr(block)
            made[:, start : start + size] = Q * np.sign(np.diag(R)) * np.linalg.norm(block, axis=0)
    return made


@dataclass(frozen=True, eq=False)
class MadeAnew:
    """Features of points (n, d) that are too many to be held: those of the rows that are asked for are made each time."""

    features: FixedFeatures
    points: NDArray

    def __len__(self) -> int:
        return len(self.points)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points, and of features of each."""
        return len(self.points), self.features.width(self.points.shape[1])

    def __getitem__(self, rows: NDArray | slice) -> NDArray:
        return self.features(self.points[rows])


@dataclass(frozen=True, eq=False)
class Frame:
    """An origin amid the points, and ones as long as a coordinate: what a column of ones allows to learn in.

    W'x + b is W'(x - m) + b', and b' is (W's last row) * scale: the same models, but one step suits all columns, wherever the
    points lie.

    Attributes
    ----------
    center : ndarray of shape (d,)
        The points' mean.
    scale : float
        The root of their coordinates' mean variance.
    """

    center: NDArray
    scale: float

    def __call__(self, phi: NDArray) -> NDArray:
        """Return linear features (n, d + 1) in the frame."""
        return np.hstack([phi[:, :-1] - self.center, self.scale * phi[:, -1:]])

    def leave(self, W: NDArray) -> NDArray:
        """Return the weights of the features as they are."""
        return np.vstack([W[:-1], self.scale * W[-1:] - self.center @ W[:-1]])


def spread(X: NDArray) -> float:
    """Return the root of the coordinates' mean variance; 1 where all points coincide."""
    return float(np.sqrt(np.mean(np.var(X, axis=0)))) or 1.0


def frame_of(X: NDArray, features: FixedFeatures) -> Frame | None:
    """Return the frame for points (n, d); None where the features are to be taken as they are."""
    is_free = features.kind == "linear" and features.has_ones
    return Frame(X.mean(axis=0), spread(X)) if is_free else None
