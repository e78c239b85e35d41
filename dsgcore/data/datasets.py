"""The type of data sets, the error of every reader of data, options of sets and splits, and conversions of classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Choice, Flag, Integer, Parameter, ParameterError, Real, quoted
from dsgcore.core.sampling import MAX_SEED, generator


class DataError(DSGError):
    """Unusable data, or an unusable option of a data set. The message gives the reason."""


# eq=False: comparing arrays gives no single truth value. A data set equals only itself.
@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with their true classes.

    Parameters
    ----------
    name : str
        Short name, for titles and links.
    X : ndarray of shape (n, d), float32, C-contiguous
        Points.
    y : ndarray of shape (n,), int64
        Class codes 0..K-1; with two classes, 1 is positive and 0 negative; -1 if the source gives no label.
    feature_names : tuple of str, length d
    class_names : tuple of str, length K
        Names in the order of the codes.
    source : str
        The origin of the data, in one sentence.
    licence : str
    sha256 : str, default ""
        Digest of the file's bytes, for data read from a file.
    pairs : ndarray of shape (n,), int64, or None
        Ids of similar pairs from the source, each on two rows; -1 on all other rows. None: the source has no pairs.
    report : tuple of str
        Changes to the source's table, one sentence each.
    left_out : tuple of str
        Columns of the source's table that the points do not use.
    """

    name: str
    X: NDArray[np.float32]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    source: str
    licence: str
    sha256: str = ""
    pairs: NDArray[np.int64] | None = None
    report: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


# --- options


SEED = Integer("seed", 0, low=0, high=MAX_SEED).called(
    "Seed", "All random draws follow from this number: labels, mini-batches and features."
)
# Options of the sets. Each set has its own defaults, and may have a narrower range.
N = Integer("n", 1000, low=20, high=1_000_000, scale="log", usual=(100, 20_000)).called(
    "Points", "Number of points to generate, or to take from the set."
)
NOISE = Real("noise", 0.0, low=0.0, high=2.0, usual=(0.0, 1.0)).called(
    "Noise", "Standard deviation of the noise added."
)
SEPARATION = Real("separation", 3.0, low=0.0, high=20.0, usual=(0.0, 10.0)).called(
    "Separation", "Distance between the two clusters' centres, in standard deviations."
)
N_IRRELEVANT = Integer("n_irrelevant", 98, low=0, high=2000, scale="log", usual=(0, 1000)).called(
    "Irrelevant features", "Number of features that are pure noise."
)
IMBALANCE = Real("imbalance", 0.5, low=0.001, high=0.999, usual=(0.1, 0.9)).called(
    "Share of positives", "Share of positives among all points."
)
N_CLASSES = Integer("n_classes", 5, low=2, high=20, usual=(2, 10)).called(
    "Ordered classes", "Number of ordered classes. A regression target is cut into this many bins of equal frequency."
)
OPTIONS = (N, NOISE, SEPARATION, N_IRRELEVANT, IMBALANCE, N_CLASSES)
OPTION_NAMES = tuple(option.name for option in OPTIONS)
# Options of a split: test rows, hidden labels and wrong labels.
N_LABELED = Integer("n_labeled", 200, "n_l", low=2, high=1_000_000, scale="log", usual=(2, 2000)).called(
    "Labeled points", "Number of training points that keep their label. All others become unlabeled."
)
TEST_SHARE = Real("test_share", 0.3, low=0.001, high=0.9, usual=(0.1, 0.6)).called(
    "Test share", "Share of the points held out for testing."
)
STRATIFIED = Flag("stratified", True).called(
    "Labels by class share", "Choose the labeled points in the proportions of the classes, not purely at random."
)
LABEL_NOISE = Real("label_noise", 0.0, low=0.0, high=1.0, usual=(0.0, 0.5)).called(
    "Wrong labels",
    "Share of the labeled points with a wrong class, or of pairs that mix two classes. This breaks an assumption.",
)
PRIOR_SHIFT = Real("prior_shift", 0.0, low=-0.95, high=0.95, usual=(-0.9, 0.9)).called(
    "Unlabeled points left out",
    "Share of the negatives that is missing from the unlabeled points; with more classes, of the lower half. A negative "
    "value removes positives. This breaks the assumption that labeled and unlabeled points have the same class shares.",
)
SCALING = Choice("scaling", "unit", options=("unit", "standard", "none")).called(
    "Scaling",
    "Scale the features to [0, 1], or to zero mean and unit variance, or not at all. It is fitted on training points only.",
)

# A person's own table is prepared like that of an estimator or a comparison, and a quarter of its labels is for testing.
OF_OWN: dict[str, Any] = {"scaling": "standard", "test_share": 0.25}


class CountError(DataError):
    """A number of labels or pairs that the data do not have; `nearest` is the nearest one that they have."""

    def __init__(self, message: str, nearest: int) -> None:
        super().__init__(message)
        self.nearest = nearest

    def __reduce__(self) -> tuple[type[CountError], tuple[str, int]]:
        """Let the error pass from one process to another."""
        return type(self), (str(self), self.nearest)


def check_count(name: str, value: object, low: int, high: int, what_high_is: str = "") -> int:
    """Return `value` as an int in [low, high]; raise `CountError` if it is not one."""
    try:
        return int(Integer(name, low, low=low, high=high).check(value))
    except ParameterError:
        of = f" ({what_high_is})" if what_high_is else ""
        said = f"{name} must be a whole number between {low} and {high}{of}, got {quoted(value)}"
        raise CountError(said, min(max(value, low), high) if isinstance(value, int) else low) from None


def check_whole(*given: Any) -> int:
    """Return a number, not one of labels or pairs, as `check_count` does, but raise a plain `DataError`."""
    try:
        return check_count(*given)
    except CountError as error:
        raise DataError(str(error)) from None


def checked(parameter: Parameter, value: object) -> Any:
    """Return `value` if the parameter allows it, otherwise raise `DataError`."""
    try:
        return parameter.check(value)
    except ParameterError as error:
        raise DataError(str(error)) from None


def keyed_generator(seed: object, stream: str) -> np.random.Generator:
    """Return the generator of a named random stream; it depends only on (seed, stream)."""
    return generator(checked(SEED, seed), f"data/{stream}")


# --- conversions of classes, so that a set suits another kind of task


AS_IS = "as they are"
ONE_REST = "one against the rest"
EVEN_ODD = "even against odd"
HALVES = "lower against upper half"
IN_ORDER = "in order of their numbers"
BINS = "equal-frequency bins"
# Kinds of labels that a problem learns from.
LABELS = ("binary", "pairs", "ordinal", "classes")


# Conversions of a set's classes, by their name in specs and links, with a sentence that explains each.
CONVERSIONS = {
    AS_IS: "The classes are used as they are.",
    ONE_REST: "One class is positive, all others together are negative.",
    EVEN_ODD: "Classes with even numbers, counted from 0, are positive, the others negative.",
    HALVES: "The upper half of the ordered classes is positive, the lower half negative.",
    IN_ORDER: "The classes are ranked in the order of their numbers.",
    BINS: "The real-valued target is cut into bins that hold equally many rows.",
}


def equal_frequency_bins(values: NDArray, n_bins: int) -> NDArray[np.int64]:
    """Return the bin of each of n values, from 0. Bins have about equal sizes, and equal values are in one bin.

    If more than n / n_bins values are equal, there can be fewer bins.
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2  # of the ranks of equal values
    bins = np.unique(middle * n_bins // len(values), return_inverse=True)[1]
    return bins[place].astype(np.int64)


def convert(dataset: Dataset, name: str, positive: int | None = None) -> Dataset:
    """Return the data set with converted classes; the points do not change.

    `ONE_REST`, `EVEN_ODD` and `HALVES` make two classes; the other keys of `CONVERSIONS` return the data set itself. For
    `ONE_REST`, `positive` is the number of the positive class, counted from 0. Raises `DataError` if there is no such
    conversion or class.
    """
    if name not in CONVERSIONS:
        raise DataError(f"the conversion must be one of {', '.join(CONVERSIONS)}, got {quoted(name)}")
    if name in (AS_IS, IN_ORDER, BINS):
        return dataset
    codes, one = np.arange(len(dataset.class_names)), positive or 0
    if name == ONE_REST and not 0 <= one < len(codes):
        raise DataError(f"positive must be the number of a class, from 0 to {len(codes) - 1}, got {quoted(positive)}")
    is_positive = {EVEN_ODD: codes % 2 == 0, HALVES: codes >= len(codes) / 2, ONE_REST: codes == one}[name]
    y = np.where(dataset.y < 0, dataset.y, is_positive[dataset.y])  # unlabeled rows stay unlabeled
    low, high = ([dataset.class_names[code] for code in codes[is_positive == side]] for side in (False, True))
    if name == ONE_REST:
        names = f"not {high[0]}", high[0]
    elif name == HALVES:
        names = _stretch(low), _stretch(high)
    else:
        names = ", ".join(low), ", ".join(high)
    return replace(dataset, y=y, class_names=names)


def _stretch(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
