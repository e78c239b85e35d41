"""Options of data sets and splits: ranges, defaults, texts and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsgcore.core.parameters import Choice, Flag, Integer, Parameter, ParameterError, Real, quoted
from dsgcore.core.sampling import MAX_SEED, generator
from dsgcore.data.datasets import DataError

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
    "Ordered classes",
    "Number of ordered classes. A regression target is cut into this many bins of equal frequency.",
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
    "Share of the negatives (with more classes: the lower half) that is missing from the unlabeled points. A negative "
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
    """Return `value` as `check_whole` does; raise `CountError` if it is not in [low, high]."""
    try:
        return check_whole(name, value, low, high, what_high_is)
    except DataError as error:
        nearest = min(max(value, low), high) if isinstance(value, int) else low
        raise CountError(str(error), nearest) from None


def check_whole(name: str, value: object, low: int, high: int, what_high_is: str = "") -> int:
    """Return `value` as an int in [low, high]; raise `DataError` if it is not one."""
    try:
        return int(Integer(name, low, low=low, high=high).check(value))
    except ParameterError:
        of = f" ({what_high_is})" if what_high_is else ""
        raise DataError(f"{name} must be a whole number between {low} and {high}{of}, got {quoted(value)}") from None


def checked(parameter: Parameter, value: object) -> Any:
    """Return `value` if the parameter allows it, otherwise raise `DataError`."""
    try:
        return parameter.check(value)
    except ParameterError as error:
        raise DataError(str(error)) from None


def keyed_generator(seed: object, stream: str) -> np.random.Generator:
    """Return the generator of a named random stream; it depends only on (seed, stream)."""
    return generator(checked(SEED, seed), f"data/{stream}")
