"""What PS3VT's weights multiply: features that stay the same in all iterations, and the frame in which they are learned on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.kernels import Gaussian, block_frequencies

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
    has_ones : bool
        Whether a column of ones stands behind them, for an intercept.
    """

    kind: str
    sigma: float
    n_features: int
    seed: int
    has_ones: bool = False

    def __call__(self, X: NDArray) -> NDArray:
        """Return X, or sqrt(1/m) [cos w_1'x .. cos w_m'x, sin w_1'x .. sin w_m'x] of shape (n, 2m), in float64; then the ones."""
        X = np.ascontiguousarray(X, dtype=DTYPE)
        phi = X if self.kind == "linear" else self._waves(X)
        return np.hstack([phi, np.ones((len(X), 1))]) if self.has_ones else phi

    def _waves(self, X: NDArray) -> NDArray:
        W = block_frequencies(Gaussian(self.sigma), self.seed, 0, X.shape[1], self.n_features, DTYPE)
        angles = 2.0 * np.pi * (X @ W)
        phi = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        phi *= self.n_features**-0.5
        return phi

    def width(self, d: int) -> int:
        """Return how many features a point of `d` coordinates has."""
        return (d if self.kind == "linear" else 2 * self.n_features) + self.has_ones


@dataclass(frozen=True, eq=False)
class MadeAnew:
    """Features that are too many to be held: those of the rows that are asked for are made each time.

    Attributes
    ----------
    features : FixedFeatures
    points : ndarray of shape (n, d)
    """

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
