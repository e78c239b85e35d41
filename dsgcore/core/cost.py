"""Sizes that determine the cost of data and of a run, and the machine's memory."""

from __future__ import annotations

import os
from dataclasses import dataclass

GIGABYTE = 10**9
# Bytes per number of a data set while it is made and split: once in float64, then twice in float32.
BYTES_WHILE_MADE = 16
# Other bytes per row: labels, row numbers, permutations.
BYTES_A_ROW = 64


@dataclass(frozen=True)
class Cost:
    """Cost of a run: peak memory in bytes, and seconds of one core.

    `seconds` is an upper estimate for one iteration, for limits. `likely` is about what the whole run takes.
    """

    memory: int
    seconds: float
    likely: float = 0.0


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


def of_machine() -> int:
    """Return the machine's memory, in bytes; 8 GB if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return 8 * GIGABYTE


def memory_of_data(n: int, d: int) -> int:
    """Return the bytes that data of n rows and d columns take while they are made and split."""
    return n * (BYTES_WHILE_MADE * d + BYTES_A_ROW)


def seconds_of_features(points: int, d: int, n_features: int, itemsize: int) -> float:
    """Estimate the seconds that so many random features of so many points take, including their draws."""
    each = SECONDS_A_FEATURE * (itemsize / 4) * (1 + d / COORDINATES_PER_COSINE)
    return points * n_features * each + d * n_features * SECONDS_A_DRAW
