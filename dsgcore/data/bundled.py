"""Two binary data sets that are shipped with scikit-learn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

from dsgcore.data._checks import check_noise, check_share, check_whole, keyed_generator
from dsgcore.data.datasets import Dataset

MIN_ROWS = 20


def digits_even_odd(n: int | None = None, noise: float = 0.0, imbalance: float | None = None, seed: int = 0) -> Dataset:
    """Load 1797 handwritten digits of 8x8 pixels; even digits are positive.

    Parameters
    ----------
    n : int or None, 20 <= n <= 1797, default None
        Size of a stratified subsample; None keeps all rows.
    noise : float, >= 0, default 0
        Standard deviation of added Gaussian noise, in units of each feature's own standard deviation (over
        all rows of the source). Constant features stay constant.
    imbalance : float in (0, 1) or None, default None
        Share of positives, reached by dropping rows of the over-represented class; None leaves it as it is.
    seed : int, 0 <= seed < 2**32

    Returns
    -------
    Dataset
    """
    bunch = load_digits()
    y = (bunch.target % 2 == 0).astype(np.int64)
    rows = _chosen_rows(y, n, imbalance, keyed_generator(seed, "digits/rows"))
    return Dataset(
        name="digits",
        X=_noisy(bunch.data, rows, noise, keyed_generator(seed, "digits/noise")),
        y=y[rows],
        feature_names=tuple(str(name) for name in bunch.feature_names),
        class_names=("odd", "even"),
        source="UCI Optical Recognition of Handwritten Digits, test part, as shipped with scikit-learn",
        licence="CC BY 4.0",
    )


def breast_cancer(n: int | None = None, noise: float = 0.0, imbalance: float | None = None, seed: int = 0) -> Dataset:
    """Load 569 tumours with 30 features; malignant is positive (scikit-learn's own coding is the reverse).

    Parameters
    ----------
    n : int or None, 20 <= n <= 569, default None
        Size of a stratified subsample; None keeps all rows.
    noise, imbalance, seed
        As in `digits_even_odd`.

    Returns
    -------
    Dataset
    """
    bunch = load_breast_cancer()
    y = (bunch.target == 0).astype(np.int64)
    rows = _chosen_rows(y, n, imbalance, keyed_generator(seed, "breast_cancer/rows"))
    return Dataset(
        name="breast_cancer",
        X=_noisy(bunch.data, rows, noise, keyed_generator(seed, "breast_cancer/noise")),
        y=y[rows],
        feature_names=tuple(str(name) for name in bunch.feature_names),
        class_names=("benign", "malignant"),
        source="UCI Breast Cancer Wisconsin (Diagnostic), as shipped with scikit-learn",
        licence="CC BY 4.0",
    )


def _chosen_rows(y: NDArray[np.int64], n: object, imbalance: object, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw the rows that are kept, in the order of the source."""
    n_negative, n_positive = (int(count) for count in np.bincount(y))
    if imbalance is not None:
        share = check_share("imbalance", imbalance)
        n_positive, n_negative = (
            min(n_positive, max(round(n_negative * share / (1 - share)), 1)),
            min(n_negative, max(round(n_positive * (1 - share) / share), 1)),
        )
    if n is not None:
        left = n_negative + n_positive
        total = check_whole("n", n, MIN_ROWS, left, "the rows left" if imbalance is not None else "all rows")
        n_positive = min(max(round(total * n_positive / left), 1), total - 1)
        n_negative = total - n_positive
    negatives = rng.permutation(np.flatnonzero(y == 0))[:n_negative]
    positives = rng.permutation(np.flatnonzero(y == 1))[:n_positive]
    return np.sort(np.concatenate([negatives, positives]))


def _noisy(
    X: NDArray[np.float64], rows: NDArray[np.intp], noise: object, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Return the chosen rows with noise added; a row's noise does not depend on which others are chosen."""
    added = check_noise(noise) * X.std(axis=0) * rng.standard_normal(X.shape)
    return np.ascontiguousarray((X + added)[rows], dtype=np.float32)
