"""The sets that are shipped with scikit-learn: whole, or with fewer rows, noise, and another share of positives.

The standard deviation `noise` is in units of each feature's own over all rows of the source, so constant features stay constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from dsgcore.core.parameters import Integer, Real
from dsgcore.data._checks import check_whole, keyed_generator
from dsgcore.data.conversions import EVEN_ODD, IN_ORDER, equal_frequency_bins
from dsgcore.data.datasets import Dataset
from dsgcore.data.entries import DatasetEntry
from dsgcore.data.options import IMBALANCE, N_CLASSES, NOISE, N

# Of the classes, the number of rows that are asked for, the share of positives, and a generator: the rows that are kept.
Choose = Callable[[NDArray[np.int64], int | None, float | None, np.random.Generator], NDArray[np.intp]]
_UCI = "UCI {}, as shipped with scikit-learn"


def _shipped(
    name: str,
    title: str,
    sentence: str,
    load: Callable[[], Any],
    classes: Callable[..., NDArray[np.integer]],
    choose: Choose,
    *options: Integer | Real,
    n: int,
    d: int,
    source: str,
    class_names: tuple[str, ...],
    licence: str = "CC BY 4.0",
    **said: Any,
) -> DatasetEntry:
    """Make the entry of a set; `classes` gives the class codes of the source's target."""

    def make(
        entry: DatasetEntry, seed: int, n: int | None, noise: float, imbalance: float | None = None, **given: int
    ) -> Dataset:
        bunch = load()
        X, y = bunch.data, classes(bunch.target, **given).astype(np.int64)
        rows = choose(y, n, imbalance, keyed_generator(seed, f"{name}/rows"))
        # Drawn for all rows: a row's noise does not depend on which others are chosen.
        added = noise * X.std(axis=0) * keyed_generator(seed, f"{name}/noise").standard_normal(X.shape)
        return Dataset(
            name=name,
            X=np.ascontiguousarray((X + added)[rows], dtype=np.float32),
            y=y[rows],
            feature_names=tuple(str(feature) for feature in bunch.feature_names),
            class_names=tuple(f"bin {i + 1}" for i in range(given["n_classes"])) if given else class_names,
            source=source,
            licence=licence,
        )

    size = replace(N, default=None, high=n, optional=True)
    return DatasetEntry(
        name, title, sentence, make, (size, NOISE, *options), n, d, source, licence, class_names, **said
    )


def _with_share(
    y: NDArray[np.int64], n: int | None, imbalance: float | None, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw rows of two classes, in the order of the source; a share of positives is reached by dropping rows of one class."""
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
    """Draw rows whatever their class, in the order of the source."""
    return np.sort(rng.permutation(len(y))[:n])


def _as_they_are(target: NDArray[np.integer]) -> NDArray[np.integer]:
    return target


_DIGITS = _UCI.format("Optical Recognition of Handwritten Digits, test part")
_ANY_SHARE = replace(IMBALANCE, default=None, optional=True)

digits_even_odd = _shipped(
    "digits",
    "Digits",
    "Handwritten digits of 8x8 pixels, even against odd: ten clusters in 64 dimensions.",
    load_digits,
    lambda target: target % 2 == 0,
    _with_share,
    _ANY_SHARE,
    n=1797,
    d=64,
    source=_DIGITS,
    class_names=("odd", "even"),
)
# scikit-learn's own coding is the reverse.
breast_cancer = _shipped(
    "breast_cancer",
    "Breast cancer",
    "Tumours described by 30 measurements, malignant against benign: nearly separable.",
    load_breast_cancer,
    lambda target: target == 0,
    _with_share,
    _ANY_SHARE,
    n=569,
    d=30,
    source=_UCI.format("Breast Cancer Wisconsin (Diagnostic)"),
    class_names=("benign", "malignant"),
)
diabetes = _shipped(
    "diabetes",
    "Diabetes",
    "Patients described by 10 measurements; the progression of their disease in five bins.",
    lambda: load_diabetes(scaled=False),
    lambda target, n_classes: equal_frequency_bins(target, n_classes),
    _of_all,
    N_CLASSES,
    n=442,
    d=10,
    source="Efron, Hastie, Johnstone and Tibshirani 2004, as shipped with scikit-learn",
    class_names=tuple(f"bin {i + 1}" for i in range(N_CLASSES.default)),
    licence="BSD-3-Clause (as part of scikit-learn)",
    target="regression",
)
ten_digits = _shipped(
    "ten_digits",
    "Digits, ten classes",
    "Handwritten digits of 8x8 pixels: ten classes in 64 dimensions.",
    load_digits,
    _as_they_are,
    _of_each_class,
    n=1797,
    d=64,
    source=_DIGITS,
    class_names=tuple("0123456789"),
    target="classes",
    conversions=(EVEN_ODD, IN_ORDER),
)
wine = _shipped(
    "wine",
    "Wine",
    "Wines of three growers, described by 13 measurements.",
    load_wine,
    _as_they_are,
    _of_each_class,
    n=178,
    d=13,
    source=_UCI.format("Wine"),
    class_names=("class_0", "class_1", "class_2"),
    target="classes",
)
iris = _shipped(
    "iris",
    "Iris",
    "Irises of three species, described by 4 lengths and widths of their petals and sepals.",
    load_iris,
    _as_they_are,
    _of_each_class,
    n=150,
    d=4,
    source="Fisher 1936, UCI Iris, as shipped with scikit-learn",
    class_names=("setosa", "versicolor", "virginica"),
    target="classes",
)
