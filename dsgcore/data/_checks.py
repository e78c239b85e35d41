"""Checks of single values, with one-sentence errors, and the keyed generators of this folder."""

from __future__ import annotations

import math

import numpy as np

from dsgcore.data.datasets import DataError
from dsgcore.parameters import Integer, ParameterError, Real, quoted
from dsgcore.sampling import MAX_SEED, generator


def check_whole(name: str, value: object, low: int, high: int, what_high_is: str = "") -> int:
    """Return `value` as an int in [low, high], or raise `DataError`."""
    try:
        return int(Integer(name, low, low=low, high=high).check(value))
    except ParameterError:
        of = f" ({what_high_is})" if what_high_is else ""
        raise DataError(f"{name} must be a whole number between {low} and {high}{of}, got {quoted(value)}") from None


def check_between(name: str, value: object, low: float, high: float) -> float:
    """Return `value` as a float in [low, high], or raise `DataError`."""
    if low <= number(value) <= high:
        return number(value)
    raise DataError(f"{name} must be between {low:g} and {high:g}, got {quoted(value)}")


def number(value: object) -> float:
    """Return `value` as a float, or NaN where it is no number, so that every comparison with it fails."""
    try:
        checked = Real("", 0.0, low=-math.inf, high=math.inf).check(value)
    except ParameterError:
        return math.nan
    return math.nan if checked is None else checked


def check_share(name: str, value: object) -> float:
    """Return `value` as a float strictly between 0 and 1, or raise `DataError`."""
    if 0 < number(value) < 1:
        return number(value)
    raise DataError(f"{name} must be greater than 0 and less than 1, got {quoted(value)}")


def check_noise(value: object) -> float:
    """Return `value` as a finite standard deviation, or raise `DataError`."""
    if 0 <= number(value) < math.inf:
        return number(value)
    raise DataError(f"noise must be a finite number, at least 0, got {quoted(value)}")


def keyed_generator(seed: object, stream: str) -> np.random.Generator:
    """Return the generator of one named stream of the data: a function of (seed, stream) alone."""
    return generator(check_whole("seed", seed, 0, MAX_SEED), f"data/{stream}")
