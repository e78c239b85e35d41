"""Numbers as charts send them: short enough for several times a second."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_POWERS = np.array([float(10**k) for k in range(23)])


def four_digits(values: NDArray) -> list[Any]:
    """Return numbers short enough to send several times a second, in lists nested like the array; None where not finite."""
    values = np.asarray(values, dtype=np.float64)
    short, is_sure = _rounded(values)
    if is_sure.all():
        return short.tolist()
    plain = short.astype(object)
    plain[~is_sure] = [float(f"{v:.4g}") if np.isfinite(v) else None for v in values[~is_sure]]
    return plain.tolist()


def _rounded(values: NDArray) -> tuple[NDArray, NDArray]:
    """Return numbers of four digits, and where they surely are the nearest ones, as text would give them.

    A power of ten up to 10^22 is exact, so whole digits times or by one are rounded once, as text is when it is read. Not
    sure are very small and large numbers, and those that may lie in the middle between two of four digits.
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
