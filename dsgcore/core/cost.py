"""Sizes that determine the cost of data and of a run, the machine's memory, and durations and shares as text."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

GIGABYTE = 10**9
# Bytes of the machine's memory.
try:
    OF_MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
except (AttributeError, ValueError, OSError):  # Windows does not report it
    OF_MACHINE = 8 * GIGABYTE
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

    def __add__(self, other: Cost) -> Cost:
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


def memory_of_data(n: int, d: int) -> int:
    """Return the bytes that data of n rows and d columns take while they are made and split."""
    return n * (BYTES_WHILE_MADE * d + BYTES_A_ROW)


def seconds_of_features(points: int, d: int, n_features: int, itemsize: int) -> float:
    """Estimate the seconds that so many random features of so many points take, including their draws."""
    each = SECONDS_A_FEATURE * (itemsize / 4) * (1 + d / COORDINATES_PER_COSINE)
    return points * n_features * each + d * n_features * SECONDS_A_DRAW


# --- durations as text


MOST_SECONDS, MOST_MINUTES = 90, 90
# Before this share of the work is done, a time left would be a guess.
FIRST_SHARE = 0.02


def duration_text(seconds: float) -> str:
    """Return a time in readable units.

    Examples
    --------
    >>> duration_text(12), duration_text(600), duration_text(9000)
    ('12 s', '10 min', '2.5 h')
    """
    if seconds < MOST_SECONDS:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 60 * MOST_MINUTES else f"{seconds / 3600:.1f} h"


def per_cent(share: float, digits: int = 0) -> str:
    """Return a share in per cent.

    Examples
    --------
    >>> per_cent(0.333), per_cent(0.0123, 1), per_cent(12.5)
    ('33 %', '1.2 %', '1,250 %')
    """
    return f"{100 * share:z,.{digits}f} %"


class TimeLeft:
    """Time left of some work, from the time that its parts have taken so far; `clock` returns the time in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._start, self._before = clock, clock(), 0

    def skip(self, done: int) -> None:
        """Begin to count now: this many parts were done before, by an earlier command."""
        self._start, self._before = self._clock(), done

    def text(self, done: int, total: int) -> str:
        """Return the time left as the end of a sentence; an empty text if too little is done to tell, or all."""
        made = done - self._before
        if made <= 0 or made < FIRST_SHARE * (total - self._before) or done >= total:
            return ""
        return f", about {duration_text((self._clock() - self._start) / made * (total - done))} left"
