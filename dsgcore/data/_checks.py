"""Checks of single values, with one-sentence errors, and the keyed generators of this folder."""

from __future__ import annotations

import math
import zlib

import numpy as np

from dsgcore.data.datasets import DataError

MAX_SEED = 2**32 - 1


def number(value: object) -> float:
    """Return `value` as a float, or NaN where it is no number, so that every comparison with it fails."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # an int beyond float64
        return math.nan


def check_whole(name: str, value: object, low: int, high: int, what_high_is: str = "") -> int:
    """Return `value` as an int in [low, high], or raise `DataError`."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    of = f" ({what_high_is})" if what_high_is else ""
    raise DataError(f"{name} must be a whole number between {low} and {high}{of}, got {value!r}")


def check_between(name: str, value: object, low: float, high: float) -> float:
    """Return `value` as a float in [low, high], or raise `DataError`."""
    if low <= number(value) <= high:
        return number(value)
    raise DataError(f"{name} must be between {low:g} and {high:g}, got {value!r}")


def check_share(name: str, value: object) -> float:
    """Return `value` as a float strictly between 0 and 1, or raise `DataError`."""
    if 0 < number(value) < 1:
        return number(value)
    raise DataError(f"{name} must be greater than 0 and less than 1, got {value!r}")


def check_noise(value: object) -> float:
    """Return `value` as a finite standard deviation, or raise `DataError`."""
    if 0 <= number(value) < math.inf:
        return number(value)
    raise DataError(f"noise must be a finite number, at least 0, got {value!r}")


def keyed_generator(seed: object, stream: str) -> np.random.Generator:
    """Return the generator of one named stream: a function of (seed, stream) alone."""
    number = check_whole("seed", seed, 0, MAX_SEED)
    key = np.array([number, zlib.crc32(f"data/{stream}".encode())], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key))
