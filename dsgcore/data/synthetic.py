"""Generated data of two classes.

`noise` is one thing in all of them: the standard deviation, in data units, of the Gaussian noise added to
each coordinate of points on a clean shape. The shapes are between 2 and 3.5 units wide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles, make_moons

from dsgcore.data._checks import check_between, check_noise, check_share, check_whole, keyed_generator
from dsgcore.data.datasets import Dataset

MIN_ROWS = 20
MAX_ROWS = 1_000_000
MAX_SEPARATION = 20.0
MAX_IRRELEVANT = 2000
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


def two_gaussians(n: int = 1000, separation: float = 3.0, imbalance: float = 0.5, seed: int = 0) -> Dataset:
    """Draw two round Gaussian clusters of standard deviation 1, a class each.

    The best possible classifier is a straight line; with equal shares it errs with probability Phi(-separation / 2).

    Parameters
    ----------
    n, imbalance, seed
        As in `two_moons`.
    separation : float, 0 <= separation <= 20
        Distance between the clusters' centres, in standard deviations.

    Returns
    -------
    Dataset
    """
    rng = keyed_generator(seed, "two_gaussians")
    y = _shuffled_classes(n, imbalance, rng)
    return _dataset("two_gaussians", _two_clusters(y, 2, separation, rng), y)


def high_dimensional(
    n: int = 1000, separation: float = 4.0, n_irrelevant: int = 98, imbalance: float = 0.5, seed: int = 0
) -> Dataset:
    """Draw two Gaussian clusters in two coordinates, among many more that are noise of the same size.

    Parameters
    ----------
    n, imbalance, seed
        As in `two_moons`.
    separation : float, 0 <= separation <= 20
        Distance between the clusters' centres, in standard deviations; they differ in the first two coordinates alike.
    n_irrelevant : int, 0 <= n_irrelevant <= 2000
        Number of coordinates, after those two, that are standard normal in both classes.

    Returns
    -------
    Dataset
    """
    d = 2 + check_whole("n_irrelevant", n_irrelevant, 0, MAX_IRRELEVANT)
    rng = keyed_generator(seed, "high_dimensional")
    y = _shuffled_classes(n, imbalance, rng)
    return _dataset("high_dimensional", _two_clusters(y, d, separation, rng), y)


def _two_clusters(y: NDArray[np.int64], d: int, separation: object, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw points round two centres on the diagonal of the first two coordinates."""
    distance = check_between("separation", separation, 0.0, MAX_SEPARATION)
    X = rng.standard_normal((len(y), d))
    X[:, :2] += (y - 0.5)[:, None] * distance / np.sqrt(2.0)
    return X


def misleading_gap(n: int = 1000, noise: float = 0.1, imbalance: float = 0.5, seed: int = 0) -> Dataset:
    """Draw two horizontal bands with a gap between them; the classes are left and right, and each band holds both.

    The gap is no boundary, and along the boundary the points are dense: the cluster assumption is false, so what
    unlabeled points show leads away from the truth.

    Parameters
    ----------
    n, noise, imbalance, seed
        As in `two_moons`.

    Returns
    -------
    Dataset
    """
    rng = keyed_generator(seed, "misleading_gap")
    y = _shuffled_classes(n, imbalance, rng)
    # Densest at the boundary: a triangle's density, falling from the middle to both ends.
    across = 1.5 * (1.0 - np.sqrt(rng.uniform(size=len(y))))
    band = rng.choice([-1.0, 1.0], size=len(y))
    X = np.stack([np.where(y == 1, across, -across), 0.7 * band], axis=1)
    return _dataset("misleading_gap", _with_noise(X, noise, rng), y)


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
        feature_names=tuple(f"x{j + 1}" for j in range(X.shape[1])),
        class_names=("negative", "positive"),
        source="generated",
        licence="none needed (generated)",
    )
