"""The data sets by name: what each is, which options it takes, and how to load it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dsgcore.data._checks import MAX_SEED, check_between, check_whole
from dsgcore.data.bundled import breast_cancer, digits_even_odd
from dsgcore.data.classes import blobs, iris, spirals, ten_digits, wine
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.ordinal import diabetes, ordinal_ramp, ordinal_rings
from dsgcore.data.synthetic import MAX_ROWS, MIN_ROWS, circles, gaussian_mixture, two_moons, xor


@dataclass(frozen=True)
class DatasetOption:
    """An option of a data set: its name and range, and its default (None: leave the data as they are)."""

    name: str
    low: float
    high: float
    default: float | None

    @property
    def is_whole(self) -> bool:
        """Whether the option is a count."""
        return self.name in ("n", "seed")

    def check(self, value: object) -> float | None:
        """Return `value` in its own type, or raise `DataError`."""
        if value is None and self.default is None:
            return None
        if self.is_whole:
            return check_whole(self.name, value, int(self.low), int(self.high))
        return check_between(self.name, value, self.low, self.high)


@dataclass(frozen=True)
class DatasetEntry:
    """A data set by name.

    Parameters
    ----------
    name : str
        The name in links and specs.
    title : str
        The name that people see.
    sentence : str
        What it is, and why to look at it.
    make : callable
        Makes the `Dataset` from the options and a seed, all by keyword.
    options : tuple of DatasetOption
        Which of n, noise and imbalance it takes.
    n, d : int
        Rows (by default) and columns.
    source, licence : str
    target : {"binary", "ordinal", "classes"}
        What is to be learned: two classes, ordered ones, or several without an order.
    """

    name: str
    title: str
    sentence: str
    make: Callable[..., Dataset]
    options: tuple[DatasetOption, ...]
    n: int
    d: int
    source: str
    licence: str
    target: str = "binary"

    def suits(self, labels: str) -> bool:
        """Whether a problem that learns from such labels can use the set: "binary", "pairs", "ordinal" or "classes"."""
        return self.target == {"pairs": "binary"}.get(labels, labels)

    def option(self, name: str) -> DatasetOption:
        """Return the option of that name, or raise `DataError`."""
        known = {option.name: option for option in (*self.options, _SEED)}
        if name not in known:
            raise DataError(f"the options of {self.name} are {', '.join(known)}, got {name!r}")
        return known[name]


_SEED = DatasetOption("seed", 0, MAX_SEED, 0)
_UCI = "UCI Machine Learning Repository, as shipped with scikit-learn"


def _options(n: tuple[int, int, int | None], noise: float, imbalance: float | None) -> tuple[DatasetOption, ...]:
    return (
        DatasetOption("n", *n),
        DatasetOption("noise", 0.0, 2.0, noise),
        DatasetOption("imbalance", 0.01, 0.99, imbalance),
    )


def _size_and_noise(n: tuple[int, int, int | None], noise: float) -> tuple[DatasetOption, ...]:
    return (DatasetOption("n", *n), DatasetOption("noise", 0.0, 2.0, noise))


def _generated(name: str, title: str, sentence: str, make: Callable[..., Dataset], noise: float) -> DatasetEntry:
    options = _options((MIN_ROWS, MAX_ROWS, 1000), noise, 0.5)
    return DatasetEntry(name, title, sentence, make, options, 1000, 2, "generated", "none needed (generated)")


_ENTRIES = (
    _generated(
        "two_moons",
        "Two moons",
        "Two interleaved half circles: a few labels are enough once the unlabeled points show the shapes.",
        two_moons,
        0.15,
    ),
    _generated(
        "circles",
        "Circles",
        "A circle inside a circle: no straight line separates them.",
        circles,
        0.1,
    ),
    _generated(
        "xor",
        "Exclusive or",
        "Positive where both coordinates have one sign: there is no gap for unlabeled points to show.",
        xor,
        0.1,
    ),
    _generated(
        "gaussian_mixture",
        "Gaussian mixture",
        "Six clusters in a ring, positive and negative in turn: each cluster needs a label near it.",
        gaussian_mixture,
        0.4,
    ),
    DatasetEntry(
        "digits",
        "Digits",
        "Handwritten digits of 8x8 pixels, even against odd: ten clusters in 64 dimensions.",
        digits_even_odd,
        _options((MIN_ROWS, 1797, None), 0.0, None),
        1797,
        64,
        _UCI,
        "CC BY 4.0",
    ),
    DatasetEntry(
        "breast_cancer",
        "Breast cancer",
        "Tumours described by 30 measurements, malignant against benign: nearly separable.",
        breast_cancer,
        _options((MIN_ROWS, 569, None), 0.0, None),
        569,
        30,
        _UCI,
        "CC BY 4.0",
    ),
    DatasetEntry(
        "ordinal_ramp",
        "Ramp",
        "Five classes that follow each other along a winding slope.",
        ordinal_ramp,
        _size_and_noise((MIN_ROWS, MAX_ROWS, 1000), 0.1),
        1000,
        2,
        "generated",
        "none needed (generated)",
        "ordinal",
    ),
    DatasetEntry(
        "ordinal_rings",
        "Rings",
        "Five classes from the centre outwards: no straight line orders them.",
        ordinal_rings,
        _size_and_noise((MIN_ROWS, MAX_ROWS, 1000), 0.1),
        1000,
        2,
        "generated",
        "none needed (generated)",
        "ordinal",
    ),
    DatasetEntry(
        "diabetes",
        "Diabetes",
        "Patients described by 10 measurements; the progression of their disease in five bins.",
        diabetes,
        _size_and_noise((MIN_ROWS, 442, None), 0.0),
        442,
        10,
        "Efron, Hastie, Johnstone and Tibshirani 2004, as shipped with scikit-learn",
        "BSD-3-Clause (as part of scikit-learn)",
        "ordinal",
    ),
    DatasetEntry(
        "spirals",
        "Spirals",
        "Four arms of a spiral, a class each: a few labels spread along the arms once the graph shows them.",
        spirals,
        _size_and_noise((MIN_ROWS, MAX_ROWS, 1000), 0.03),
        1000,
        2,
        "generated",
        "none needed (generated)",
        "classes",
    ),
    DatasetEntry(
        "blobs",
        "Blobs",
        "Six clusters in a ring, a class each: straight lines separate them.",
        blobs,
        _size_and_noise((MIN_ROWS, MAX_ROWS, 1000), 0.3),
        1000,
        2,
        "generated",
        "none needed (generated)",
        "classes",
    ),
    DatasetEntry(
        "ten_digits",
        "Digits, ten classes",
        "Handwritten digits of 8x8 pixels: ten classes in 64 dimensions.",
        ten_digits,
        _size_and_noise((MIN_ROWS, 1797, None), 0.0),
        1797,
        64,
        _UCI,
        "CC BY 4.0",
        "classes",
    ),
    DatasetEntry(
        "wine",
        "Wine",
        "Wines of three growers, described by 13 measurements.",
        wine,
        _size_and_noise((MIN_ROWS, 178, None), 0.0),
        178,
        13,
        _UCI,
        "CC BY 4.0",
        "classes",
    ),
    DatasetEntry(
        "iris",
        "Iris",
        "Irises of three species, described by 4 lengths and widths of their petals and sepals.",
        iris,
        _size_and_noise((MIN_ROWS, 150, None), 0.0),
        150,
        4,
        _UCI,
        "CC BY 4.0",
        "classes",
    ),
)

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
        raise DataError(f"the data set must be one of {', '.join(DATASETS)}, got {name!r}")
    entry = DATASETS[name]
    given = {key: entry.option(key).check(value) for key, value in options.items()}
    return entry.make(**{option.name: option.default for option in entry.options} | given)
