"""Data sets that are shipped with scikit-learn: whole, or with fewer rows, noise, and another share of positives.

The standard deviation `noise` is relative to each feature's own standard deviation over all rows of the source. So
constant features stay constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from dsgcore.core.parameters import Integer, Real
from dsgcore.data.conversions import EVEN_ODD, IN_ORDER, equal_frequency_bins
from dsgcore.data.entries import DatasetEntry, Drawn
from dsgcore.data.options import IMBALANCE, N_CLASSES, NOISE, N, check_whole, keyed_generator

# From the classes, the number of rows, the share of positives and a generator: the rows to keep.
Choose = Callable[[NDArray[np.int64], int | None, float | None, np.random.Generator], NDArray[np.intp]]
_UCI = "UCI {}, as shipped with scikit-learn"


def _shipped(
    name: str,
    words: tuple[str, str],
    load: Callable[[], Any],
    size: tuple[int, int],
    source: str,
    class_names: Sequence[str],
    codes: Callable[..., NDArray[np.integer]] = np.asarray,
    *,
    target: str = "classes",
    licence: str = "CC BY 4.0",
    conversions: tuple[str, ...] = (),
) -> DatasetEntry:
    """Return the entry of a set. `codes` maps the source's target, and the number of bins if any, to class codes."""
    choose, options = _CHOOSING[target]

    def draw(seed: int, n: int | None, noise: float, imbalance: float | None = None, **bins: int) -> Drawn:
        bunch = load()
        X, y = bunch.data, codes(bunch.target, *bins.values()).astype(np.int64)
        rows = choose(y, n, imbalance, keyed_generator(seed, f"{name}/rows"))
        # The noise is drawn for all rows, so that a row's noise does not depend on the choice of the others.
        added = noise * X.std(axis=0) * keyed_generator(seed, f"{name}/noise").standard_normal(X.shape)
        return (X + added)[rows], y[rows], tuple(map(str, bunch.feature_names)), _bins(*bins.values()) if bins else None

    choices = (replace(N, default=None, high=size[0], optional=True), NOISE, *options)
    return DatasetEntry(name, *words, draw, choices, *size, source, licence, tuple(class_names), target, conversions)


def _bins(n: int) -> tuple[str, ...]:
    return tuple(f"bin {i + 1}" for i in range(n))


def _with_share(
    y: NDArray[np.int64], n: int | None, imbalance: float | None, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw rows of two classes, in the order of the source; rows of one class are dropped to reach the share of positives."""
    n_negative, n_positive = (int(count) for count in np.bincount(y))
    if imbalance is not None:
        n_positive, n_negative = (
            min(n_positive, max(round(n_negative * imbalance / (1 - imbalance)), 1)),
            min(n_negative, max(round(n_positive * (1 - imbalance) / imbalance), 1)),
        )
    if n is not None:
        left = n_negative + n_positive
        total = check_whole("n", n, N.low, left, "the rows left" if imbalance is not None else "all rows")
        n_positive = min(max(round(total * n_positive / left), 1), total - 1)
        n_negative = total - n_positive
    negatives = rng.permutation(np.flatnonzero(y == 0))[:n_negative]
    positives = rng.permutation(np.flatnonzero(y == 1))[:n_positive]
    return np.sort(np.concatenate([negatives, positives]))


def _of_each_class(
    y: NDArray[np.int64], n: int | None, imbalance: float | None, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw rows with the classes' shares, in the order of the source."""
    quantile = np.empty(len(y))
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        quantile[own] = (rng.permutation(len(own)) + 0.5) / len(own)
    return np.sort(np.argsort(quantile, kind="stable")[:n])


def _of_all(y: NDArray[np.int64], n: int | None, imbalance: float | None, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw rows regardless of their class, in the order of the source."""
    return np.sort(rng.permutation(len(y))[:n])


# Kind of target: how its rows are chosen, and its options besides `n` and `noise`.
_CHOOSING: dict[str, tuple[Choose, tuple[Integer | Real, ...]]] = {
    "binary": (_with_share, (replace(IMBALANCE, default=None, optional=True),)),
    "classes": (_of_each_class, ()),
    "regression": (_of_all, (N_CLASSES,)),
}
_DIGITS = _UCI.format("Optical Recognition of Handwritten Digits, test part")

_two_classes = partial(_shipped, target="binary")

digits_even_odd = _two_classes(
    "digits",
    ("Digits", "Handwritten digits of 8x8 pixels, even against odd: ten clusters in 64 dimensions."),
    load_digits,
    (1797, 64),
    _DIGITS,
    ("odd", "even"),
    lambda target: target % 2 == 0,
)
breast_cancer = _two_classes(
    "breast_cancer",
    ("Breast cancer", "Tumours described by 30 measurements, malignant against benign: nearly separable."),
    load_breast_cancer,
    (569, 30),
    _UCI.format("Breast Cancer Wisconsin (Diagnostic)"),
    ("benign", "malignant"),
    lambda target: target == 0,  # scikit-learn codes them the other way round
)
diabetes = _shipped(
    "diabetes",
    ("Diabetes", "Patients described by 10 measurements; the progression of their disease in five bins."),
    lambda: load_diabetes(scaled=False),
    (442, 10),
    "Efron, Hastie, Johnstone and Tibshirani 2004, as shipped with scikit-learn",
    _bins(N_CLASSES.default),
    equal_frequency_bins,
    target="regression",
    licence="BSD-3-Clause (as part of scikit-learn)",
)
ten_digits = _shipped(
    "ten_digits",
    ("Digits, ten classes", "Handwritten digits of 8x8 pixels: ten classes in 64 dimensions."),
    load_digits,
    (1797, 64),
    _DIGITS,
    "0123456789",
    conversions=(EVEN_ODD, IN_ORDER),
)
_WINE_WORDS = "Wine", "Wines of three growers, described by 13 measurements."
wine = _shipped("wine", _WINE_WORDS, load_wine, (178, 13), _UCI.format("Wine"), ("class_0", "class_1", "class_2"))
iris = _shipped(
    "iris",
    ("Iris", "Irises of three species, described by 4 lengths and widths of their petals and sepals."),
    load_iris,
    (150, 4),
    "Fisher 1936, UCI Iris, as shipped with scikit-learn",
    ("setosa", "versicolor", "virginica"),
)
