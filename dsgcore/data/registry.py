"""The data sets by name, and their loader."""

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
    """Return a data set by its name, a key of `DATASETS`.

    The other parameters and the errors are those of the entry, a `DatasetEntry`. An unknown name raises `DataError`,
    too.
    """
    if name not in DATASETS:
        raise DataError(f"the data set must be one of {', '.join(DATASETS)}, got {quoted(name)}")
    return DATASETS[name](**options)
