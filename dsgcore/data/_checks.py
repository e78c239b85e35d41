"""Checks of numbers whose range is known only with the data, as `DataError`; and the keyed generators of this folder."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsgcore.core.parameters import Integer, Parameter, ParameterError, quoted
from dsgcore.core.sampling import generator
from dsgcore.data.datasets import DataError
from dsgcore.data.options import SEED


def check_whole(name: str, value: object, low: int, high: int, what_high_is: str = "") -> int:
    """Return `value` as an int in [low, high], or raise `DataError`."""
    try:
        return int(Integer(name, low, low=low, high=high).check(value))
    except ParameterError:
        of = f" ({what_high_is})" if what_high_is else ""
        raise DataError(f"{name} must be a whole number between {low} and {high}{of}, got {quoted(value)}") from None


def checked(parameter: Parameter, value: object) -> Any:
    """Return `value` where the parameter allows it, or raise `DataError`."""
    try:
        return parameter.check(value)
    except ParameterError as error:
        raise DataError(str(error)) from None


def keyed_generator(seed: object, stream: str) -> np.random.Generator:
    """Return the generator of one named stream of the data: a function of (seed, stream) alone."""
    return generator(checked(SEED, seed), f"data/{stream}")
