"""Fixed features for PS3VT's weights, and the frame in which the weights are learned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dsgcore.kernels import Gaussian, OrthogonalGaussian, block_frequencies
from dsgcore.multiclass.problem import MultiClass

DTYPE = np.dtype(np.float64)
# Number of feature sets with cached frequencies: that of the current run, and the previous one.
KEPT_FREQUENCIES = 2


@dataclass(frozen=True)
class FixedFeatures:
    """Features that W multiplies: a point's coordinates, or random Fourier features of them, fixed by the seed.

    Attributes
    ----------
    kind : {"linear", "fourier"}
    sigma : float
        Inverse bandwidth of the kernel exp(-sigma ||x - x'||^2) that the Fourier features approximate.
    n_features : int
        Number m of frequencies.
    seed : int
    has_ones : bool
        True if a column of ones follows, for an intercept.
    is_orthogonal : bool
        True if the frequencies' directions are orthogonal to each other, in groups of at most d.
    n_blocks : int
        Number of iterations whose own features they are, one block of 2m after the other. 0 for those of all iterations.
    """

    kind: str
    sigma: float
    n_features: int
    seed: int
    has_ones: bool = False
    is_orthogonal: bool = False
    n_blocks: int = 0

    def __call__(self, X: NDArray) -> NDArray:
        """Return X, or sqrt(1/m) [cos w_1'x .. cos w_m'x, sin w_1'x .. sin w_m'x] of shape (n, 2m), in float64.

        A column of ones follows if `has_ones`.
        """
        X = np.ascontiguousarray(X, dtype=DTYPE)
        phi = X if self.kind == "linear" else self._waves(X)
        return np.hstack([phi, np.ones((len(X), 1))]) if self.has_ones else phi

    def _waves(self, X: NDArray) -> NDArray:
        angles = 2.0 * np.pi * (X @ _frequencies(self, X.shape[1]))
        phi = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        phi *= self.n_features**-0.5
        return phi

    def width(self, d: int) -> int:
        """Return the number of features of a point with `d` coordinates."""
        return (d if self.kind == "linear" else 2 * self.n_features * max(self.n_blocks, 1)) + self.has_ones

    def of_block(self, t: int, d: int) -> NDArray:
        """Return the frequencies (d, m) of iteration `t`."""
        return block_frequencies(Gaussian(self.sigma), self.seed, t, d, self.n_features, DTYPE)


def features_of(problem: MultiClass, seed: int) -> FixedFeatures:
    """Return the features of a problem."""
    p = problem
    return FixedFeatures(p.feature_map, p.sigma, p.n_features, seed, p.fit_intercept, p.is_orthogonal)


@lru_cache(maxsize=KEPT_FREQUENCIES)
def _frequencies(features: FixedFeatures, d: int) -> NDArray:
    """Return the frequencies (d, m). Every call returns the same ones."""
    kernel = (OrthogonalGaussian if features.is_orthogonal else Gaussian)(features.sigma)
    return block_frequencies(kernel, features.seed, 0, d, features.n_features, DTYPE)


@dataclass(frozen=True, eq=False)
class LazyFeatures:
    """Features of too many points (n, d) to keep in memory. Each access computes them for the rows it needs."""

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
    """Frame for learning with an intercept: an origin at the points' mean, and ones scaled to the size of a coordinate.

    W'x + b is W'(x - m) + b', and b' is (W's last row) * scale. The models are the same, but one step size suits all
    columns, even if the points are far from 0.

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
        """Return the weights for the original features."""
        return np.vstack([W[:-1], self.scale * W[-1:] - self.center @ W[:-1]])


def spread(X: NDArray) -> float:
    """Return the root of the coordinates' mean variance; 1 if all points coincide."""
    return float(np.sqrt(np.mean(np.var(X, axis=0)))) or 1.0


def frame_of(X: NDArray, features: FixedFeatures) -> Frame | None:
    """Return the frame for points (n, d); None for features that need no frame."""
    is_free = features.kind == "linear" and features.has_ones
    return Frame(X.mean(axis=0), spread(X)) if is_free else None
