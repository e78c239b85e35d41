"""Means and variances of (n,) arrays, with less call overhead than NumPy's for a few hundred values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray


def mean(values: NDArray, dtype: DTypeLike | None = None) -> np.floating:
    """Return `np.mean(values, dtype=dtype)`, bit-for-bit identical."""
    return _over(np.add.reduce(values, dtype=dtype), np.intp(len(values)))


def means_and_variances(samples: Sequence[NDArray]) -> tuple[NDArray, NDArray]:
    """Return the means and the variances of S samples, both (S,), in double precision; none of the samples may be empty."""
    sizes = np.array([len(own) for own in samples])
    starts, values = np.cumsum(sizes) - sizes, np.concatenate(samples).astype(float)
    means = np.add.reduceat(values, starts) / sizes
    values -= np.repeat(means, sizes)
    values *= values
    return means, np.add.reduceat(values, starts) / sizes


def _over(total: np.floating, n: np.intp) -> np.floating:
    # As in NumPy: divided in double precision, and rounded to the sum's.
    return total.dtype.type(total / n)
