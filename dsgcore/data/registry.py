"""The data sets by name: what each is, which options it takes, and how to load it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from dsgcore.data.bundled import breast_cancer, digits_even_odd
from dsgcore.data.classes import blobs, iris, spirals, ten_digits, wine
from dsgcore.data.conversions import EVEN_ODD, IN_ORDER
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.entries import DatasetEntry, DatasetOption
from dsgcore.data.ordinal import MAX_CLASSES, N_CLASSES, diabetes, friedman, ordinal_ramp, ordinal_rings
from dsgcore.data.synthetic import (
    MAX_IRRELEVANT,
    MAX_ROWS,
    MIN_ROWS,
    circles,
    gaussian_mixture,
    high_dimensional,
    misleading_gap,
    two_gaussians,
    two_moons,
    xor,
)
from dsgcore.parameters import quoted

_UCI = "UCI Machine Learning Repository, as shipped with scikit-learn"
_NONE_NEEDED = "none needed (generated)"
_CLASSES = tuple(f"class {i + 1}" for i in range(N_CLASSES))


def _n(default: int | None = 1000, high: int = MAX_ROWS) -> DatasetOption:
    return DatasetOption("n", MIN_ROWS, high, default)


def _noise(default: float = 0.0) -> DatasetOption:
    return DatasetOption("noise", 0.0, 2.0, default)


def _imbalance(default: float | None = 0.5) -> DatasetOption:
    return DatasetOption("imbalance", 0.01, 0.99, default)


def _separation(default: float) -> DatasetOption:
    return DatasetOption("separation", 0.0, 20.0, default)


_K = DatasetOption("n_classes", 2, MAX_CLASSES, N_CLASSES)


def _generated(
    make: Callable[..., Dataset], title: str, sentence: str, *options: DatasetOption, d: int = 2, **said: Any
) -> DatasetEntry:
    return DatasetEntry(
        make.__name__, title, sentence, make, (_n(), *options), 1000, d, "generated", _NONE_NEEDED, **said
    )


_BINARY = (
    _generated(
        two_moons,
        "Two moons",
        "Two interleaved half circles: a few labels are enough once the unlabeled points show the shapes.",
        _noise(0.15),
        _imbalance(),
    ),
    _generated(
        circles, "Circles", "A circle inside a circle: no straight line separates them.", _noise(0.1), _imbalance()
    ),
    _generated(
        xor,
        "Exclusive or",
        "Positive where both coordinates have one sign: there is no gap for unlabeled points to show.",
        _noise(0.1),
        _imbalance(),
    ),
    _generated(
        gaussian_mixture,
        "Gaussian mixture",
        "Six clusters in a ring, positive and negative in turn: each cluster needs a label near it.",
        _noise(0.4),
        _imbalance(),
    ),
    _generated(
        two_gaussians,
        "Two Gaussians",
        "Two round clusters at a distance to choose: the best classifier and its error are known.",
        _separation(3.0),
        _imbalance(),
    ),
    _generated(
        high_dimensional,
        "Many irrelevant features",
        "Two clusters in two coordinates, hidden among 98 that are noise: distances say little.",
        _separation(4.0),
        DatasetOption("n_irrelevant", 0, MAX_IRRELEVANT, 98),
        _imbalance(),
        d=100,
    ),
    _generated(
        misleading_gap,
        "Misleading gap",
        "Two bands, but the classes are left and right: the gap is no boundary, and unlabeled points mislead.",
        _noise(0.1),
        _imbalance(),
    ),
    DatasetEntry(
        "digits",
        "Digits",
        "Handwritten digits of 8x8 pixels, even against odd: ten clusters in 64 dimensions.",
        digits_even_odd,
        (_n(None, 1797), _noise(), _imbalance(None)),
        1797,
        64,
        _UCI,
        "CC BY 4.0",
        ("odd", "even"),
    ),
    DatasetEntry(
        "breast_cancer",
        "Breast cancer",
        "Tumours described by 30 measurements, malignant against benign: nearly separable.",
        breast_cancer,
        (_n(None, 569), _noise(), _imbalance(None)),
        569,
        30,
        _UCI,
        "CC BY 4.0",
        ("benign", "malignant"),
    ),
)
_ORDERED = (
    _generated(
        ordinal_ramp,
        "Ramp",
        "Classes that follow each other along a winding slope.",
        _noise(0.1),
        _K,
        class_names=_CLASSES,
        target="ordinal",
    ),
    _generated(
        ordinal_rings,
        "Rings",
        "Classes from the centre outwards: no straight line orders them.",
        _noise(0.1),
        _K,
        class_names=_CLASSES,
        target="ordinal",
    ),
    DatasetEntry(
        "diabetes",
        "Diabetes",
        "Patients described by 10 measurements; the progression of their disease in five bins.",
        diabetes,
        (_n(None, 442), _noise(), _K),
        442,
        10,
        "Efron, Hastie, Johnstone and Tibshirani 2004, as shipped with scikit-learn",
        "BSD-3-Clause (as part of scikit-learn)",
        tuple(f"bin {i + 1}" for i in range(N_CLASSES)),
        "regression",
    ),
    _generated(
        friedman,
        "Friedman",
        "Friedman's regression function of five features, cut into bins; five more features have no part in it.",
        DatasetOption("noise", 0.0, 10.0, 1.0),
        _K,
        d=10,
        class_names=_CLASSES,
        target="regression",
    ),
)
_SEVERAL = (
    _generated(
        spirals,
        "Spirals",
        "Four arms of a spiral, a class each: a few labels spread along the arms once the graph shows them.",
        _noise(0.03),
        class_names=_CLASSES[:4],
        target="classes",
        conversions=(EVEN_ODD,),
    ),
    _generated(
        blobs,
        "Blobs",
        "Six clusters in a ring, a class each: straight lines separate them.",
        _noise(0.3),
        class_names=(*_CLASSES, "class 6"),
        target="classes",
        conversions=(EVEN_ODD,),
    ),
    DatasetEntry(
        "ten_digits",
        "Digits, ten classes",
        "Handwritten digits of 8x8 pixels: ten classes in 64 dimensions.",
        ten_digits,
        (_n(None, 1797), _noise()),
        1797,
        64,
        _UCI,
        "CC BY 4.0",
        tuple("0123456789"),
        "classes",
        (EVEN_ODD, IN_ORDER),
    ),
    DatasetEntry(
        "wine",
        "Wine",
        "Wines of three growers, described by 13 measurements.",
        wine,
        (_n(None, 178), _noise()),
        178,
        13,
        _UCI,
        "CC BY 4.0",
        ("class_0", "class_1", "class_2"),
        "classes",
    ),
    DatasetEntry(
        "iris",
        "Iris",
        "Irises of three species, described by 4 lengths and widths of their petals and sepals.",
        iris,
        (_n(None, 150), _noise()),
        150,
        4,
        _UCI,
        "CC BY 4.0",
        ("setosa", "versicolor", "virginica"),
        "classes",
    ),
)
_ENTRIES = (*_BINARY, *_ORDERED, *_SEVERAL)

DATASETS: Mapping[str, DatasetEntry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
DEFAULT_DATASET = "two_moons"


def load(name: str, **options: float | None) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        A key of `DATASETS`.
    **options
        Any of the data set's options, and `seed`; the rest take their defaults.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        When the name or an option is unknown, or a value is out of range.
    """
    if name not in DATASETS:
        raise DataError(f"the data set must be one of {', '.join(DATASETS)}, got {quoted(name)}")
    entry = DATASETS[name]
    given = {key: entry.option(key).check(value) for key, value in options.items()}
    return entry.make(**{option.name: option.default for option in entry.options} | given)
