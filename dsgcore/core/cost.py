"""Sizes that determine a run's cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Cost of a run: peak memory in bytes, and seconds of one core.

    `seconds` is an upper estimate for one iteration, for limits. `likely` is about what the whole run takes.
    """

    memory: int
    seconds: float
    likely: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Return the sum of both costs."""
        return Cost(self.memory + other.memory, self.seconds + other.seconds, self.likely + other.likely)


@dataclass(frozen=True)
class Sizes:
    """Sizes of a run: points, columns, labels, iterations, and bytes per number."""

    n_train: int
    n_test: int
    d: int
    n_labeled: int
    batch_size: int
    n_features: int
    n_iter: int
    n_probes: int
    itemsize: int


# Seconds for one random feature at one point with few coordinates, in float32; each coordinate adds a part of a
# cosine's time.
SECONDS_A_FEATURE = 1e-9
COORDINATES_PER_COSINE = 10
SECONDS_A_DRAW = 1e-8
# Seconds for one value of a kernel matrix in float64, and for each coordinate.
SECONDS_A_VALUE = 12e-9
SECONDS_A_DISTANCE = 0.75e-9


def seconds_of_features(points: int, d: int, n_features: int, itemsize: int) -> float:
    """Estimate the seconds that so many random features of so many points take, including their draws."""
    each = SECONDS_A_FEATURE * (itemsize / 4) * (1 + d / COORDINATES_PER_COSINE)
    return points * n_features * each + d * n_features * SECONDS_A_DRAW
