"""Fixed features for PS3VT's weights, the frame in which the weights are learned, and the model: weights on features."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import REQUIRED, Flag, Integer, parameter_like
from dsgcore.kernels import Gaussian, OrthogonalGaussian, block_frequencies
from dsgcore.kernels.features import explicit
from dsgcore.kernels.kernels import LARGEST, too_far
from dsgcore.multiclass.problem import MultiClass
from dsgcore.solver.model_files import (
    OF_ALL_MODELS,
    ModelError,
    ModelFile,
    check_fingerprint,
    check_points,
    fingerprint,
    write,
)
from dsgcore.solver.problem import ProblemError

DTYPE = np.dtype(np.float64)
# Number of feature sets with cached frequencies: that of the current run, and the previous one.
KEPT_FREQUENCIES = 2
# Most rows of a square matrix of features: it has 16 GiB.
MOST_IN_SQUARE = 46_340


@dataclass(frozen=True)
class FixedFeatures:
    """Features that W multiplies: a point's coordinates, or random Fourier features of them, fixed by the seed.

    `kind` is "linear" or "fourier". `n_features` frequencies approximate the kernel exp(-sigma ||x - x'||^2). With
    `is_orthogonal` their directions are orthogonal to each other, in groups of at most d. With `has_ones` a column of ones
    follows, for an intercept. `n_blocks` iterations have own features, one block of 2m after the other; 0: those of all.
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
        phi = np.ascontiguousarray(X, dtype=DTYPE)
        if self.kind != "linear":
            angles = 2.0 * np.pi * (phi @ _frequencies(self, phi.shape[1]))
            phi = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
            phi *= self.n_features**-0.5
        return np.hstack([phi, np.ones((len(phi), 1))]) if self.has_ones else phi

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
    kernel = (OrthogonalGaussian if features.is_orthogonal else Gaussian)(features.sigma)
    return block_frequencies(kernel, features.seed, min(features.n_blocks, 1), d, features.n_features, DTYPE)


def check_square(n: int, what: str) -> None:
    """Raise `ProblemError`, before it is allocated, for a matrix (n, n) of features that few machines could hold."""
    if n > MOST_IN_SQUARE:
        raise ProblemError(
            f"{what} needs a matrix of {n} x {n} numbers, which is {8 * n * n / 2**30:.0f} GiB: take fewer features, so that "
            f"it has at most {MOST_IN_SQUARE} rows"
        )


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

    def __matmul__(self, W: NDArray) -> NDArray:
        return Weights(self.features, W, self.points.shape[1]).evaluate(self.points)


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


# Most numbers of features kept at a time.
MAX_VALUES = 2**24
MODEL = "weights"
# Those of the features, and the number of coordinates. One that has a default is stored if its value is another.
_HEADER = (
    parameter_like(MultiClass, "feature_map", name="kind", default=REQUIRED),
    parameter_like(MultiClass, "sigma", default=REQUIRED),
    parameter_like(MultiClass, "n_features", default=REQUIRED),
    *OF_ALL_MODELS,
    Flag("has_ones", False),
    Flag("is_orthogonal", False),
    Integer("n_blocks", 0, low=0),
)


@dataclass(frozen=True, eq=False)
class Weights:
    """Scores of K classes, h(x) = W' phi(x), with `W` (D, K) in float64, for points with `d` coordinates."""

    features: FixedFeatures
    W: NDArray = field(repr=False)
    d: int

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the scores (n, K) at the points `X` (n, d); raise `ModelError` for other or far points."""
        X = np.asarray(X)
        check_points(X, self.d)
        features, size, scores = self.features, max(1, MAX_VALUES // len(self.W)), np.zeros((len(X), self.W.shape[1]))
        if features.kind == "fourier" and (said := too_far(X, Gaussian(features.sigma))):
            raise ModelError(said)
        blocks = np.split(self.W, features.n_blocks) if features.n_blocks else []
        with np.errstate(over="ignore", invalid="ignore"):  # the check of the scores reports overflow
            for start in range(0, len(X), size):
                rows = slice(start, start + size)
                piece = np.ascontiguousarray(X[rows], dtype=DTYPE)
                if not blocks:
                    scores[rows] = features(piece) @ self.W
                for t, W in enumerate(blocks, start=1):
                    scores[rows] += explicit(piece, features.of_block(t, self.d)) @ W
        is_finite = np.isfinite(scores).all(axis=1)
        if not is_finite.all() and (np.abs(X[~is_finite]) > LARGEST).any():
            raise ModelError(
                f"X[{np.argmin(is_finite)}] is so far away that its scores overflow float64: scale the points"
            )
        return scores

    def fingerprint(self) -> str:
        """Return a digest of the frequencies, empty for linear features.

        It differs if the same frequencies cannot be drawn again.
        """
        f = self.features
        return "" if f.kind == "linear" else fingerprint(Gaussian(f.sigma), f.seed, 0, self.d, f.n_features)

    def save(self, file: str | Path | IO[bytes]) -> None:
        """Write the weights, and the data to redraw their features from, to a NumPy archive without pickle."""
        own, usual = {**asdict(self.features), "d": self.d}, {p.name: p.default for p in _HEADER}
        header = {name: value for name, value in own.items() if value != usual[name]}
        write(file, MODEL, {**header, "fingerprint": self.fingerprint()}, W=self.W)


def restore(held: ModelFile) -> Weights:
    """Return the model in a file; raise `ModelError` as `dsgcore.load_model` does."""
    given, W = held.expect({"fingerprint"}, {"W"}, _HEADER), held.arrays["W"]
    if given["n_blocks"] and (given["kind"] == "linear" or given["has_ones"] or given["is_orthogonal"]):
        raise ModelError("not a model file: features of each iteration must be plain Fourier features")
    d = given.pop("d")
    features = FixedFeatures(**given)
    n_rows = features.width(d)
    if W.dtype != np.float64 or W.ndim != 2 or len(W) != n_rows or W.shape[1] < 2:
        shape = f"({n_rows}, K), of float64 and with K of at least 2"
        raise ModelError(f"not a model file: W must have shape {shape}, got {W.shape} of {W.dtype.name}")
    if not np.isfinite(W).all():
        raise ModelError("not a model file: its weights must be finite numbers")
    model = Weights(features, W, d)
    check_fingerprint(held.header["fingerprint"], model.fingerprint())
    return model
