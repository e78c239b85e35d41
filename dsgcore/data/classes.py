"""Several classes without an order: generated ones, and three sets that are shipped with scikit-learn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine

from dsgcore.data._checks import check_noise, check_whole, keyed_generator
from dsgcore.data.datasets import Dataset
from dsgcore.data.synthetic import MAX_ROWS, MIN_ROWS

N_ARMS, N_BLOBS = 4, 6
# How far a spiral's arm turns from its inner end to its outer one.
TURN = 1.3 * np.pi
INNER_RADIUS = 0.12


def spirals(n: int = 1000, noise: float = 0.03, seed: int = 0) -> Dataset:
    """Draw points on four arms of a spiral with outer radius 1, a class each.

    Parameters
    ----------
    n : int, 20 <= n <= 1,000,000
        Number of points; the classes are equally large, up to one point.
    noise : float, >= 0
        Standard deviation, in data units, of the Gaussian noise added to each coordinate.
    seed : int, 0 <= seed < 2**32

    Returns
    -------
    Dataset
    """
    rng = keyed_generator(seed, "spirals")
    y = _shuffled_classes(n, N_ARMS, rng)
    # Uniform in the area: as dense outside as inside.
    along = np.sqrt(rng.uniform(size=len(y)))
    angle = TURN * along + 2.0 * np.pi * y / N_ARMS
    radius = INNER_RADIUS + (1.0 - INNER_RADIUS) * along
    return _generated("spirals", radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), y, noise, rng)


def blobs(n: int = 1000, noise: float = 0.3, seed: int = 0) -> Dataset:
    """Draw six Gaussian clusters at the corners of a hexagon of radius 1.5, a class each.

    Parameters
    ----------
    n, noise, seed
        As in `spirals`; `noise` is thus the standard deviation of each cluster.

    Returns
    -------
    Dataset
    """
    rng = keyed_generator(seed, "blobs")
    y = _shuffled_classes(n, N_BLOBS, rng)
    angle = 2.0 * np.pi * y / N_BLOBS
    return _generated("blobs", 1.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1), y, noise, rng)


def _shuffled_classes(n: object, n_classes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.permutation(np.arange(check_whole("n", n, MIN_ROWS, MAX_ROWS)) % n_classes)


def _generated(name: str, X: NDArray, y: NDArray[np.int64], noise: object, rng: np.random.Generator) -> Dataset:
    return Dataset(
        name=name,
        X=np.ascontiguousarray(X + check_noise(noise) * rng.standard_normal(X.shape), dtype=np.float32),
        y=y,
        feature_names=("x1", "x2"),
        class_names=tuple(f"class {i + 1}" for i in range(int(y.max()) + 1)),
        source="generated",
        licence="none needed (generated)",
    )


def ten_digits(n: int | None = None, noise: float = 0.0, seed: int = 0) -> Dataset:
    """Load 1797 handwritten digits of 8x8 pixels, a class for each of the ten.

    Parameters
    ----------
    n : int or None, 20 <= n <= 1797, default None
        Size of a stratified subsample; None keeps all rows.
    noise : float, >= 0, default 0
        Standard deviation of added Gaussian noise, in units of each feature's own standard deviation (over all rows of
        the source). Constant features stay constant.
    seed : int, 0 <= seed < 2**32

    Returns
    -------
    Dataset
    """
    source = "UCI Optical Recognition of Handwritten Digits, test part, as shipped with scikit-learn"
    return _bundled("ten_digits", load_digits(), n, noise, seed, source)


def wine(n: int | None = None, noise: float = 0.0, seed: int = 0) -> Dataset:
    """Load 178 wines of three growers with 13 measurements.

    Parameters
    ----------
    n : int or None, 20 <= n <= 178, default None
        Size of a stratified subsample; None keeps all rows.
    noise, seed
        As in `ten_digits`.

    Returns
    -------
    Dataset
    """
    return _bundled("wine", load_wine(), n, noise, seed, "UCI Wine, as shipped with scikit-learn")


def iris(n: int | None = None, noise: float = 0.0, seed: int = 0) -> Dataset:
    """Load 150 irises of three species with 4 measurements.

    Parameters
    ----------
    n : int or None, 20 <= n <= 150, default None
        Size of a stratified subsample; None keeps all rows.
    noise, seed
        As in `ten_digits`.

    Returns
    -------
    Dataset
    """
    return _bundled("iris", load_iris(), n, noise, seed, "Fisher 1936, UCI Iris, as shipped with scikit-learn")


def _bundled(name: str, bunch: dict, n: object, noise: object, seed: int, source: str) -> Dataset:
    data, y = bunch["data"], bunch["target"].astype(np.int64)
    kept = len(y) if n is None else check_whole("n", n, MIN_ROWS, len(y), "all rows")
    rows = _first_of_each(y, kept, keyed_generator(seed, f"{name}/rows"))
    added = check_noise(noise) * data.std(axis=0) * keyed_generator(seed, f"{name}/noise").standard_normal(data.shape)
    return Dataset(
        name=name,
        X=np.ascontiguousarray((data + added)[rows], dtype=np.float32),
        y=y[rows],
        feature_names=tuple(str(feature) for feature in bunch["feature_names"]),
        class_names=tuple(str(label) for label in bunch["target_names"]),
        source=source,
        licence="CC BY 4.0",
    )


def _first_of_each(y: NDArray[np.int64], total: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw `total` rows with the classes' shares, in the order of the source."""
    quantile = np.empty(len(y))
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        quantile[own] = (rng.permutation(len(own)) + 0.5) / len(own)
    return np.sort(np.argsort(quantile, kind="stable")[:total])
