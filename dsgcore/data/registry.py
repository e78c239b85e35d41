"""The data sets by name, and how to load them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dsgcore.core.parameters import quoted
from dsgcore.data.bundled import breast_cancer, diabetes, digits_even_odd, iris, ten_digits, wine
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.entries import DatasetEntry
from dsgcore.data.generated import (
    blobs,
    circles,
    friedman,
    gaussian_mixture,
    high_dimensional,
    misleading_gap,
    ordinal_ramp,
    ordinal_rings,
    spirals,
    two_gaussians,
    two_moons,
    xor,
)

_BINARY = (two_moons, circles, xor, gaussian_mixture, two_gaussians, high_dimensional, misleading_gap)
_ORDERED = (ordinal_ramp, ordinal_rings, diabetes, friedman)
_SEVERAL = (spirals, blobs, ten_digits, wine, iris)
_ENTRIES = (*_BINARY, digits_even_odd, breast_cancer, *_ORDERED, *_SEVERAL)

DATASETS: Mapping[str, DatasetEntry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
DEFAULT_DATASET = "two_moons"


def load(name: str, **options: float | None) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        A key of `DATASETS`.
    **options
        Any of the data set's options, and `seed`; the rest take their defaults.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        When the name or an option is unknown, or a value is out of range.
    """
    if name not in DATASETS:
        raise DataError(f"the data set must be one of {', '.join(DATASETS)}, got {quoted(name)}")
    return DATASETS[name](**options)
