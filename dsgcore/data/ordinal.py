"""Ordered classes: generated ones, and regression targets cut into bins of equal frequency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1

from dsgcore.data._checks import check_noise, check_whole, keyed_generator
from dsgcore.data.conversions import equal_frequency_bins
from dsgcore.data.datasets import Dataset
from dsgcore.data.synthetic import MAX_ROWS, MIN_ROWS

N_CLASSES = 5
MAX_CLASSES = 20
FRIEDMAN_FEATURES = 10


def ordinal_ramp(n: int = 1000, noise: float = 0.1, n_classes: int = N_CLASSES, seed: int = 0) -> Dataset:
    """Draw points of the square [-1, 1]², with classes that follow each other along a winding slope.

    Parameters
    ----------
    n : int, 20 <= n <= 1,000,000
        Number of points.
    noise : float, >= 0
        Standard deviation of the Gaussian noise added to the height, which lies between -1.5 and 1.5.
    n_classes : int, 2 <= n_classes <= 20, default 5
        Number of classes; they are equally large, up to one point.
    seed : int, 0 <= seed < 2**32

    Returns
    -------
    Dataset
    """
    rng = keyed_generator(seed, "ordinal_ramp")
    X = rng.uniform(-1.0, 1.0, size=(check_whole("n", n, MIN_ROWS, MAX_ROWS), 2))
    height = X[:, 0] + 0.5 * np.sin(3.0 * X[:, 1])
    return _binned("ordinal_ramp", X, height + check_noise(noise) * rng.standard_normal(len(X)), n_classes)


def ordinal_rings(n: int = 1000, noise: float = 0.1, n_classes: int = N_CLASSES, seed: int = 0) -> Dataset:
    """Draw points of the disc of radius 1, with classes that are rings from the centre outwards.

    Parameters
    ----------
    n, noise, n_classes, seed
        As in `ordinal_ramp`; the noise is added to the radius.

    Returns
    -------
    Dataset
    """
    rng = keyed_generator(seed, "ordinal_rings")
    rows = check_whole("n", n, MIN_ROWS, MAX_ROWS)
    radius, angle = np.sqrt(rng.uniform(size=rows)), rng.uniform(0.0, 2 * np.pi, size=rows)
    X = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _binned("ordinal_rings", X, radius + check_noise(noise) * rng.standard_normal(rows), n_classes)


def friedman(n: int = 1000, noise: float = 1.0, n_classes: int = N_CLASSES, seed: int = 0) -> Dataset:
    """Draw points of the unit cube in ten dimensions, and cut a regression target of five of them into bins.

    The target is 10 sin(pi x1 x2) + 20 (x3 - 1/2)² + 10 x4 + 5 x5 (Friedman 1991), of standard deviation 5; the other five
    coordinates have no part in it.

    Parameters
    ----------
    n, n_classes, seed
        As in `ordinal_ramp`.
    noise : float, >= 0
        Standard deviation of the Gaussian noise added to the target before it is cut.

    Returns
    -------
    Dataset
    """
    rows = check_whole("n", n, MIN_ROWS, MAX_ROWS)
    random_state = int(keyed_generator(seed, "friedman").integers(2**32))
    X, target = make_friedman1(rows, FRIEDMAN_FEATURES, noise=check_noise(noise), random_state=random_state)
    return _binned("friedman", X, target, n_classes)


def _binned(name: str, X: NDArray, values: NDArray, n_classes: object) -> Dataset:
    k = check_whole("n_classes", n_classes, 2, MAX_CLASSES)
    return Dataset(
        name=name,
        X=np.ascontiguousarray(X, dtype=np.float32),
        y=equal_frequency_bins(values, k),
        feature_names=tuple(f"x{j + 1}" for j in range(X.shape[1])),
        class_names=tuple(f"class {i + 1}" for i in range(k)),
        source="generated",
        licence="none needed (generated)",
    )


def diabetes(n: int | None = None, noise: float = 0.0, n_classes: int = N_CLASSES, seed: int = 0) -> Dataset:
    """Load 442 patients with 10 measurements; the disease's progression after a year in bins of equal frequency.

    Parameters
    ----------
    n : int or None, 20 <= n <= 442, default None
        Size of a random subsample; None keeps all rows.
    noise : float, >= 0, default 0
        Standard deviation of added Gaussian noise, in units of each feature's own standard deviation.
    n_classes : int, 2 <= n_classes <= 20, default 5
        Number of bins, over all rows.
    seed : int, 0 <= seed < 2**32

    Returns
    -------
    Dataset
    """
    bunch = load_diabetes(scaled=False)
    total = len(bunch.data)
    k = check_whole("n_classes", n_classes, 2, MAX_CLASSES)
    kept = total if n is None else check_whole("n", n, MIN_ROWS, total, "all rows")
    rows = np.sort(keyed_generator(seed, "diabetes/rows").permutation(total)[:kept])
    rng = keyed_generator(seed, "diabetes/noise")
    X = bunch.data + check_noise(noise) * bunch.data.std(axis=0) * rng.standard_normal(bunch.data.shape)
    return Dataset(
        name="diabetes",
        X=np.ascontiguousarray(X[rows], dtype=np.float32),
        y=equal_frequency_bins(bunch.target, k)[rows],
        feature_names=tuple(bunch.feature_names),
        class_names=tuple(f"bin {i + 1}" for i in range(k)),
        source="Efron, Hastie, Johnstone and Tibshirani 2004, as shipped with scikit-learn",
        licence="BSD-3-Clause (as part of scikit-learn)",
    )
