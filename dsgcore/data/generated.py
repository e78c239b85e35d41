"""Data sets that are drawn from a formula, with two classes, ordered classes or unordered classes.

`noise` is the standard deviation, in data units, of the Gaussian noise that is added to each coordinate of a clean
shape. For ordered classes it is added to the height that is cut into them. The shapes are between 2 and 3.5 units wide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles, make_friedman1, make_moons

from dsgcore.core.parameters import Integer, Real
from dsgcore.data.conversions import EVEN_ODD, equal_frequency_bins
from dsgcore.data.entries import DatasetEntry, Drawn
from dsgcore.data.options import N_CLASSES, NOISE, OPTIONS, N, keyed_generator

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
            return X, y, None, _class_names(target, int(y.max()) + 1)

        return DatasetEntry(
            name=draw.__name__,
            title=title,
            sentence=sentence,
            draw=drawn,
            options=_options_of(draw, options),
            n=int(N.default),
            d=d,
            source="generated",
            licence="none needed (generated)",
            class_names=_class_names(target, n_classes or N_CLASSES.default),
            target=target,
            conversions=conversions,
        )

    return entry_of


def _options_of(draw: Callable[..., Points], others: tuple[Integer | Real, ...]) -> tuple[Integer | Real, ...]:
    own = {option.name: option for option in (*OPTIONS, *others)}
    usual = {name: given.default for name, given in signature(draw).parameters.items() if name in own}
    return tuple(
        o if usual[n] is Parameter.empty else replace(o, default=usual[n]) for n, o in own.items() if n in usual
    )


_ordered = partial(_generated, target="ordinal")
_several = partial(_generated, target="classes", conversions=(EVEN_ODD,))


def _class_names(target: str, n: int) -> tuple[str, ...]:
    return ("negative", "positive") if target == "binary" else tuple(f"class {i + 1}" for i in range(n))


@_generated(
    "Two moons", "Two interleaved half circles: a few labels are enough once the unlabeled points show the shapes."
)
def two_moons(rng: np.random.Generator, n: int, imbalance: float, noise: float = 0.15) -> Points:
    """Draw two half circles of radius 1."""
    return make_moons(n_samples=_class_sizes(n, imbalance), noise=noise, random_state=_random_state(rng))


@_generated("Circles", "A circle inside a circle: no straight line separates them.")
def circles(rng: np.random.Generator, n: int, imbalance: float, noise: float = 0.1) -> Points:
    """Draw two circles with one centre: negatives at radius 1, positives at radius 0.5."""
    sizes = _class_sizes(n, imbalance)
    return make_circles(n_samples=sizes, noise=noise, random_state=_random_state(rng), factor=0.5)


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
    X, target = make_friedman1(n, FRIEDMAN_FEATURES, noise=noise, random_state=_random_state(rng))
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


def _random_state(rng: np.random.Generator) -> int:
    """Return an integer seed for scikit-learn."""
    return int(rng.integers(2**32))
