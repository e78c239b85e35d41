"""Generated data in two dimensions.

`noise` is one thing in all of them: the standard deviation, in data units, of the Gaussian noise added to
each coordinate of points on a clean shape. The shapes are between 2 and 3.5 units wide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles, make_moons

from dsgcore.data._checks import check_noise, check_share, check_whole, keyed_generator
from dsgcore.data.datasets import Dataset

MIN_ROWS = 20
MAX_ROWS = 1_000_000
# Corners of a regular hexagon of radius 1.5; every second one is positive.
_CORNERS = 1.5 * np.array([[np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3])


def two_moons(n: int = 1000, noise: float = 0.15, imbalance: float = 0.5, seed: int = 0) -> Dataset:
    """Draw two interleaved half circles of radius 1.

    Parameters
    ----------
    n : int, 20 <= n <= 1,000,000
        Number of points.
    noise : float, >= 0
        Standard deviation, in data units, of the Gaussian noise added to each coordinate.
    imbalance : float in (0, 1)
        Share of positives; exact up to rounding, with at least one point of each class.
    seed : int, 0 <= seed < 2**32

    Returns
    -------
    Dataset
    """
    sizes = _class_sizes(n, imbalance)
    random_state = _random_state(seed, "two_moons")
    X, y = make_moons(n_samples=sizes, noise=check_noise(noise), random_state=random_state)
    return _dataset("two_moons", X, y)


def circles(n: int = 1000, noise: float = 0.1, imbalance: float = 0.5, seed: int = 0) -> Dataset:
    """Draw two circles with one centre: negatives at radius 1, positives at radius 0.5.

    Parameters
    ----------
    n, noise, imbalance, seed
        As in `two_moons`.

    Returns
    -------
    Dataset
    """
    sizes = _class_sizes(n, imbalance)
    random_state = _random_state(seed, "circles")
    X, y = make_circles(n_samples=sizes, noise=check_noise(noise), random_state=random_state, factor=0.5)
    return _dataset("circles", X, y)


def xor(n: int = 1000, noise: float = 0.1, imbalance: float = 0.5, seed: int = 0) -> Dataset:
    """Draw points of the square [-1, 1]², positive where both coordinates had one sign before the noise.

    Parameters
    ----------
    n, noise, imbalance, seed
        As in `two_moons`.

    Returns
    -------
    Dataset
    """
    rng = keyed_generator(seed, "xor")
    y = _shuffled_classes(n, imbalance, rng)
    X = rng.uniform(-1.0, 1.0, size=(len(y), 2))
    is_misplaced = (X[:, 0] * X[:, 1] > 0) != (y == 1)
    X[is_misplaced, 1] *= -1
    return _dataset("xor", _with_noise(X, noise, rng), y)


def gaussian_mixture(n: int = 1000, noise: float = 0.4, imbalance: float = 0.5, seed: int = 0) -> Dataset:
    """Draw six Gaussian clusters at the corners of a hexagon of radius 1.5, positive and negative in turn.

    Parameters
    ----------
    n, noise, imbalance, seed
        As in `two_moons`; `noise` is thus the standard deviation of each cluster.

    Returns
    -------
    Dataset
    """
    rng = keyed_generator(seed, "gaussian_mixture")
    y = _shuffled_classes(n, imbalance, rng)
    corner = 2 * rng.integers(0, 3, size=len(y)) + (1 - y)
    return _dataset("gaussian_mixture", _with_noise(_CORNERS[corner], noise, rng), y)


def _class_sizes(n: object, imbalance: object) -> tuple[int, int]:
    """Return the numbers of negatives and positives."""
    rows = check_whole("n", n, MIN_ROWS, MAX_ROWS)
    n_positive = min(max(round(rows * check_share("imbalance", imbalance)), 1), rows - 1)
    return rows - n_positive, n_positive


def _shuffled_classes(n: object, imbalance: object, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the class codes in a random order."""
    return rng.permutation(np.repeat(np.array([0, 1], dtype=np.int64), _class_sizes(n, imbalance)))


def _with_noise(X: NDArray[np.float64], noise: object, rng: np.random.Generator) -> NDArray[np.float64]:
    """Add Gaussian noise to each coordinate."""
    return X + check_noise(noise) * rng.standard_normal(X.shape)


def _random_state(seed: object, stream: str) -> int:
    """Return the integer seed that scikit-learn takes."""
    return int(keyed_generator(seed, stream).integers(2**32))


def _dataset(name: str, X: NDArray[np.float64], y: NDArray[np.integer]) -> Dataset:
    return Dataset(
        name=name,
        X=np.ascontiguousarray(X, dtype=np.float32),
        y=np.asarray(y, dtype=np.int64),
        feature_names=("x1", "x2"),
        class_names=("negative", "positive"),
        source="generated",
        licence="none needed (generated)",
    )
