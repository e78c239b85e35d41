"""Data sets by name: drawn from a formula, or shipped with scikit-learn.

`noise` of a drawn set is the standard deviation, in data units, of the Gaussian noise that is added to each coordinate of
a clean shape. For ordered classes it is added to the height that is cut into them. The shapes are between 2 and 3.5 units
wide. `noise` of a shipped set is relative to each feature's own standard deviation over all rows of the source. So
constant features stay constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_friedman1,
    make_moons,
)

from dsgcore.core.cost import GIGABYTE, OF_MACHINE, memory_of_data
from dsgcore.core.parameters import Integer, Real, quoted
from dsgcore.data.datasets import (
    AS_IS,
    BINS,
    EVEN_ODD,
    HALVES,
    IMBALANCE,
    IN_ORDER,
    N_CLASSES,
    NOISE,
    ONE_REST,
    OPTIONS,
    SEED,
    DataError,
    Dataset,
    N,
    check_whole,
    checked,
    equal_frequency_bins,
    keyed_generator,
)

# Points, class codes, feature names and class names. None: x1, x2 ..., and the usual class names.
Drawn = tuple[NDArray, NDArray[np.integer], tuple[str, ...] | None, tuple[str, ...] | None]
# A share of positives from which similar pairs give information: 2 pi - 1 = 0.4.
SHARE_FOR_PAIRS = 0.7


@dataclass(frozen=True)
class DatasetEntry:
    """A named data set. Call it with its options to make the data: ``two_moons(n=200, seed=1)``."""

    name: str  # name in links and specs
    title: str  # name in the app
    sentence: str  # description, and the reason to look at it
    draw: Callable[..., Drawn]  # makes the data from a seed and the options, all checked
    # the names of `OPTIONS` that it takes, with its own defaults and ranges
    options: tuple[Integer | Real, ...]
    n: int  # default number of rows
    d: int
    source: str
    licence: str
    class_names: tuple[str, ...]  # default number of classes or bins
    target: str  # "binary", "ordinal", "classes", or "regression": a number that is cut into bins
    conversions: tuple[str, ...] = ()  # possible conversions, because the classes' numbers mean something
    n_unlabeled: int = 0  # rows besides n, whose class the source does not give

    @property
    def is_generated(self) -> bool:
        """True if the points are drawn from a formula."""
        return self.source == "generated"

    def conversions_for(self, labels: str) -> tuple[str, ...]:
        """Return the keys of `CONVERSIONS` that make the set suit labels, the usual one first; empty if none makes sense."""
        if labels in ("binary", "pairs"):
            if self.target == "binary" or len(self.class_names) == 2:
                return (AS_IS,)
            if self.target in ("ordinal", "regression"):
                return (HALVES,)
            # Even and odd classes are equally frequent, and similar pairs of equally frequent classes hold no information.
            even_odd = tuple(name for name in self.conversions if name == EVEN_ODD and labels != "pairs")
            return (*even_odd, ONE_REST)
        if self.target == "regression":
            return (BINS,)
        if labels == "classes" or self.target == "ordinal":
            return (AS_IS,)
        return tuple(name for name in self.conversions if name == IN_ORDER and self.target == "classes")

    def suits(self, labels: str) -> bool:
        """Return True if a problem with such labels ("binary", "pairs", "ordinal" or "classes") can use the set."""
        return bool(self.conversions_for(labels))

    def is_made_for(self, labels: str) -> bool:
        """Return True if the set suits such labels without a conversion of its classes."""
        kind = {"pairs": "binary"}.get(labels, labels)
        return self.suits(labels) and (self.target == kind or (self.target, kind) == ("regression", "ordinal"))

    def why_not(self, labels: str) -> str:
        """Return the reason, in one sentence, why the set does not suit such labels; empty if it does."""
        if self.suits(labels):
            return ""
        if self.target == "binary":
            return f"{self.title} has two classes, so there is nothing to order: use the page Ranking."
        return f"The classes of {self.title} have no order, so there is nothing to rank."

    def usual_options(self, labels: str) -> dict[str, float]:
        """Return the options whose defaults change for such labels: pairs need unequal classes."""
        option = next((option for option in self.options if option.name == "imbalance"), None)
        is_even = option is not None and (option.default == 0.5 or self.name == "digits")
        return {"imbalance": SHARE_FOR_PAIRS} if labels == "pairs" and is_even else {}

    def shape(self, n: int | None = None, n_irrelevant: int | None = None) -> tuple[int, int]:
        """Return the rows and columns of the data with these options; None for the default."""
        irrelevant = {option.name: option.default for option in self.options}.get("n_irrelevant")
        more = 0 if irrelevant is None or n_irrelevant is None else n_irrelevant - int(irrelevant)
        return n or self.n, self.d + more

    def __call__(self, *values: float | None, **options: float | None) -> Dataset:
        """Make the data set from values of the options in their order, or by name, and `seed`; the others take their defaults.

        Raises `DataError` if an option is unknown, if a value is out of its range, or if the data need more memory than the
        machine has. Nothing is allocated then.
        """
        given = {option.name: value for option, value in zip(self.options, values, strict=False)} | options
        known = {option.name: option for option in (*self.options, SEED)}
        if unknown := [name for name in given if name not in known]:
            raise DataError(f"the options of {self.name} are {', '.join(known)}, got {quoted(unknown[0])}")
        allowed = {name: checked(known[name], value) for name, value in given.items()}
        needed = memory_of_data(*self.shape(allowed.get("n"), allowed.get("n_irrelevant")))
        if needed > OF_MACHINE:
            raise DataError(
                f"{self.name} with these options needs about {needed / GIGABYTE:.3g} GB of memory, but the machine has "
                f"{OF_MACHINE / GIGABYTE:.3g} GB: take fewer points or features"
            )
        X, y, feature_names, class_names = self.draw(
            **{name: option.default for name, option in known.items()} | allowed
        )
        return Dataset(
            name=self.name,
            X=np.ascontiguousarray(X, dtype=np.float32),
            y=np.asarray(y, dtype=np.int64),
            feature_names=feature_names or tuple(f"x{j + 1}" for j in range(X.shape[1])),
            class_names=class_names or self.class_names,
            source=self.source,
            licence=self.licence,
        )


# --- sets that are drawn


Points = tuple[NDArray, NDArray[np.integer]]
# Corners of a regular hexagon of radius 1.5.
_CORNERS = 1.5 * np.array([[np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3])
N_ARMS, N_BLOBS = 4, 6
# The turn of a spiral's arm from its inner end to its outer end, in radians.
TURN = 1.3 * np.pi
INNER_RADIUS = 0.12
FRIEDMAN_FEATURES = 10


def _generated(
    title: str,
    sentence: str,
    *options: Integer | Real,
    d: int = 2,
    target: str = "binary",
    n_classes: int | None = None,
    conversions: tuple[str, ...] = (),
) -> Callable[[Callable[..., Points]], DatasetEntry]:
    """Return a decorator that makes an entry of a function. The function draws points and class codes.

    The set's options are the function's arguments, as in `OPTIONS` but with the function's defaults; `options` changes
    more.
    """

    def entry_of(draw: Callable[..., Points]) -> DatasetEntry:
        def drawn(seed: int, **given: Any) -> Drawn:
            X, y = draw(keyed_generator(seed, draw.__name__), **given)
            return X, y, None, names[: int(y.max()) + 1]

        names = (
            ("negative", "positive") if target == "binary" else tuple(f"class {i + 1}" for i in range(N_CLASSES.high))
        )
        own = {option.name: option for option in (*OPTIONS, *options)}.items()
        usual = {name: given.default for name, given in signature(draw).parameters.items()}
        return DatasetEntry(
            name=draw.__name__,
            title=title,
            sentence=sentence,
            draw=drawn,
            options=tuple(
                o if usual[n] is Parameter.empty else replace(o, default=usual[n]) for n, o in own if n in usual
            ),
            n=int(N.default),
            d=d,
            source="generated",
            licence="none needed (generated)",
            class_names=names[: n_classes or N_CLASSES.default],
            target=target,
            conversions=conversions,
        )

    return entry_of


_ordered = partial(_generated, target="ordinal")
_several = partial(_generated, target="classes", conversions=(EVEN_ODD,))


@_generated(
    "Two moons", "Two interleaved half circles: a few labels are enough once the unlabeled points show the shapes."
)
def two_moons(rng: np.random.Generator, n: int, imbalance: float, noise: float = 0.15) -> Points:
    """Draw two half circles of radius 1."""
    return make_moons(n_samples=_class_sizes(n, imbalance), noise=noise, random_state=int(rng.integers(2**32)))


@_generated("Circles", "A circle inside a circle: no straight line separates them.")
def circles(rng: np.random.Generator, n: int, imbalance: float, noise: float = 0.1) -> Points:
    """Draw two circles with one centre: negatives at radius 1, positives at radius 0.5."""
    sizes = _class_sizes(n, imbalance)
    return make_circles(n_samples=sizes, noise=noise, random_state=int(rng.integers(2**32)), factor=0.5)


@_generated(
    "Exclusive or", "Positive where both coordinates have the same sign: there is no gap for unlabeled points to show."
)
def xor(rng: np.random.Generator, n: int, imbalance: float, noise: float = 0.1) -> Points:
    """Draw points of the square [-1, 1]², positive if both coordinates have the same sign before the noise."""
    y = _shuffled_classes(n, imbalance, rng)
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    is_misplaced = (X[:, 0] * X[:, 1] > 0) != (y == 1)
    X[is_misplaced, 1] *= -1
    return _with_noise(X, noise, rng), y


@_generated(
    "Gaussian mixture", "Six clusters in a ring, positive and negative in turn: each cluster needs a label near it."
)
def gaussian_mixture(rng: np.random.Generator, n: int, imbalance: float, noise: float = 0.4) -> Points:
    """Draw clusters of standard deviation `noise` at the corners of a hexagon of radius 1.5."""
    y = _shuffled_classes(n, imbalance, rng)
    corner = 2 * rng.integers(0, 3, size=n) + (1 - y)
    return _with_noise(_CORNERS[corner], noise, rng), y


@_generated(
    "Two Gaussians", "Two round clusters, as far apart as you choose: the best classifier and its error are known."
)
def two_gaussians(rng: np.random.Generator, n: int, separation: float, imbalance: float) -> Points:
    """Draw two clusters. With equal shares the best classifier is a line, with the error Phi(-separation / 2)."""
    y = _shuffled_classes(n, imbalance, rng)
    return _two_clusters(y, 2, separation, rng), y


@_generated(
    "Many irrelevant features",
    "Two clusters in two coordinates, hidden among 98 that are noise: distances say little.",
    d=100,
)
def high_dimensional(
    rng: np.random.Generator, n: int, n_irrelevant: int, imbalance: float, separation: float = 4.0
) -> Points:
    """Draw two clusters that differ equally in the first two coordinates; the others are standard normal in both classes."""
    y = _shuffled_classes(n, imbalance, rng)
    return _two_clusters(y, 2 + n_irrelevant, separation, rng), y


@_generated(
    "Misleading gap",
    "Two bands, but the classes are left and right: the gap is no boundary, and unlabeled points mislead.",
)
def misleading_gap(rng: np.random.Generator, n: int, imbalance: float, noise: float = 0.1) -> Points:
    """Draw two horizontal bands that both hold both classes: the cluster assumption is false."""
    y = _shuffled_classes(n, imbalance, rng)
    # Densest at the boundary: a triangular density, which falls from the middle to both ends.
    across = 1.5 * (1.0 - np.sqrt(rng.uniform(size=n)))
    band = rng.choice([-1.0, 1.0], size=n)
    X = np.stack([np.where(y == 1, across, -across), 0.7 * band], axis=1)
    return _with_noise(X, noise, rng), y


@_ordered("Ramp", "Classes that follow each other along a winding slope.")
def ordinal_ramp(rng: np.random.Generator, n: int, n_classes: int, noise: float = 0.1) -> Points:
    """Draw points of the square [-1, 1]²; their height lies between -1.5 and 1.5."""
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    height = X[:, 0] + 0.5 * np.sin(3.0 * X[:, 1])
    return X, equal_frequency_bins(height + noise * rng.standard_normal(n), n_classes)


@_ordered("Rings", "Classes from the centre outwards: no straight line orders them.")
def ordinal_rings(rng: np.random.Generator, n: int, n_classes: int, noise: float = 0.1) -> Points:
    """Draw points of the disc of radius 1; the noise is added to the radius."""
    radius, angle = np.sqrt(rng.uniform(size=n)), rng.uniform(0.0, 2 * np.pi, size=n)
    X = radius[:, None] * _on_circle(angle)
    return X, equal_frequency_bins(radius + noise * rng.standard_normal(n), n_classes)


@_generated(
    "Friedman",
    "Friedman's regression function of five features, cut into bins; five more features have no part in it.",
    replace(NOISE, high=10.0, usual=(0.0, 10.0)),
    d=FRIEDMAN_FEATURES,
    target="regression",
)
def friedman(rng: np.random.Generator, n: int, n_classes: int, noise: float = 1.0) -> Points:
    """Draw points of the unit cube, and cut 10 sin(pi x1 x2) + 20 (x3 - 1/2)² + 10 x4 + 5 x5 (Friedman 1991)."""
    X, target = make_friedman1(n, FRIEDMAN_FEATURES, noise=noise, random_state=int(rng.integers(2**32)))
    return X, equal_frequency_bins(target, n_classes)


@_several(
    "Spirals",
    "Four arms of a spiral, a class each: a few labels spread along the arms once the graph shows them.",
    n_classes=N_ARMS,
)
def spirals(rng: np.random.Generator, n: int, noise: float = 0.03) -> Points:
    """Draw points on the arms of a spiral with outer radius 1."""
    y = rng.permutation(np.arange(n) % N_ARMS)
    # Uniform in the area: equally dense inside and outside.
    along = np.sqrt(rng.uniform(size=n))
    angle = TURN * along + 2.0 * np.pi * y / N_ARMS
    radius = INNER_RADIUS + (1.0 - INNER_RADIUS) * along
    return _with_noise(radius[:, None] * _on_circle(angle), noise, rng), y


@_several("Blobs", "Six clusters in a ring, a class each: straight lines separate them.", n_classes=N_BLOBS)
def blobs(rng: np.random.Generator, n: int, noise: float = 0.3) -> Points:
    """Draw clusters of standard deviation `noise` at the corners of a hexagon of radius 1.5."""
    y = rng.permutation(np.arange(n) % N_BLOBS)
    angle = 2.0 * np.pi * y / N_BLOBS
    return _with_noise(1.5 * _on_circle(angle), noise, rng), y


def _on_circle(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _two_clusters(y: NDArray[np.int64], d: int, distance: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw points around two centres on the diagonal of the first two coordinates."""
    X = rng.standard_normal((len(y), d))
    X[:, :2] += (y - 0.5)[:, None] * distance / np.sqrt(2.0)
    return X


def _class_sizes(n: int, imbalance: float) -> tuple[int, int]:
    """Return the numbers of negatives and positives: exact up to rounding, and at least 1 each."""
    n_positive = min(max(round(n * imbalance), 1), n - 1)
    return n - n_positive, n_positive


def _shuffled_classes(n: int, imbalance: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the class codes in a random order."""
    return rng.permutation(np.repeat(np.array([0, 1], dtype=np.int64), _class_sizes(n, imbalance)))


def _with_noise(X: NDArray[np.float64], noise: float, rng: np.random.Generator) -> NDArray[np.float64]:
    return X + noise * rng.standard_normal(X.shape)


# --- sets that are shipped


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


# --- by name


DATASETS: Mapping[str, DatasetEntry] = MappingProxyType(
    {e.name: e for e in list(vars().values()) if isinstance(e, DatasetEntry)}
)


def load(name: str, **options: float | None) -> Dataset:
    """Return a data set by its name, a key of `DATASETS`.

    The other parameters and the errors are those of the entry, a `DatasetEntry`. An unknown name raises `DataError`,
    too.
    """
    if name not in DATASETS:
        raise DataError(f"the data set must be one of {', '.join(DATASETS)}, got {quoted(name)}")
    return DATASETS[name](**options)
