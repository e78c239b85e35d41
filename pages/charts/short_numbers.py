"""Numbers with four digits, short enough for charts that change several times a second."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_POWERS = np.array([float(10**k) for k in range(23)])


def four_digits(values: NDArray) -> list[Any]:
    """Return numbers with four digits, in lists nested like the array; None for values that are not finite."""
    values = np.asarray(values, dtype=np.float64)
    short, is_sure = _rounded(values)
    if is_sure.all():
        return short.tolist()
    plain = short.astype(object)
    plain[~is_sure] = [float(f"{v:.4g}") if np.isfinite(v) else None for v in values[~is_sure]]
    return plain.tolist()


def _rounded(values: NDArray) -> tuple[NDArray, NDArray]:
    """Return numbers with four digits, and a mask of those that are surely the nearest such numbers.

    A power of ten up to 10^22 is exact, so the product or quotient of whole digits and a power is rounded only once, like
    text that is read. Very small and very large numbers are not sure, nor are numbers near the middle between two results.
    """
    is_usual = (np.abs(values) >= 1e-18) & (np.abs(values) < 1e25)
    size = np.where(is_usual, np.abs(values), 1.0)
    shift = 3 - np.floor(np.log10(size)).astype(int)
    power = _POWERS[np.abs(shift)]
    scaled = np.where(shift > 0, size * power, size / power)
    digits = np.rint(scaled)
    short = np.where(shift > 0, digits / power, digits * power)
    is_sure = is_usual & (scaled >= 1000) & (scaled < 10000) & (np.abs(scaled - digits) < 0.5 - 1e-9)
    return np.copysign(np.where(is_usual, short, 0.0), values), is_sure | (values == 0)
