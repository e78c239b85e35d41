"""The data sets by name, and how to load them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dsgcore.core.parameters import quoted
from dsgcore.data import bundled, generated
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.entries import DatasetEntry

_ENTRIES = [e for module in (generated, bundled) for e in vars(module).values() if isinstance(e, DatasetEntry)]

DATASETS: Mapping[str, DatasetEntry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})


def load(name: str, **options: float | None) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        A key of `DATASETS`.
    **options
        Any of the data set's options, and `seed`; the rest take their defaults.

    Returns and raises as the entry itself, `DatasetEntry`; an unknown name is a `DataError`, too.
    """
    if name not in DATASETS:
        raise DataError(f"the data set must be one of {', '.join(DATASETS)}, got {quoted(name)}")
    return DATASETS[name](**options)
