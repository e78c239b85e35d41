"""Dask's collections: each partition of a DataFrame, or block of rows of an Array, is a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.anywhere.rows import Reader, Tell, readable
from dsgcore.data.datasets import DataError


@dataclass
class _Partition:
    """A partition: the rows that are asked for are picked where it is, and travel alone."""

    delayed: Any
    name: str
    n: int

    def __len__(self) -> int:
        return self.n

    def points(self, rows: NDArray) -> NDArray:
        from dask.delayed import delayed

        return delayed(picked)(self.delayed, rows).compute()


def picked(partition: Any, rows: NDArray) -> NDArray:
    """Return some rows of a table or an array as an array."""
    return np.asarray(partition.iloc[rows] if hasattr(partition, "iloc") else partition[rows])


def is_dask(X: Any) -> bool:
    """Whether it is one of Dask's collections."""
    return hasattr(X, "__dask_graph__")


def reader_of_dask(X: Any, label: str | None, features: Sequence[str] | None, tell: Tell) -> tuple[Reader, np.dtype]:
    """Return what reads the rows of a DataFrame or an Array, and the type of their numbers."""
    if not hasattr(X, "columns"):
        return _reader_of_array(X, tell)
    names = tuple(str(name) for name in (X.columns if features is None else features) if name != label)
    table = X[list(names)]
    dtypes = [np.dtype(getattr(dtype, "numpy_dtype", dtype)) for dtype in table.dtypes]
    for name, dtype in zip(names, dtypes, strict=True):
        if dtype.kind not in "biuf":
            raise DataError(f"column {quoted(name)} holds no numbers: name the columns that are features")
    sizes = computed(X[[label or names[0]]].map_partitions(len))
    parts = [
        _Partition(one, f"partition {i}", int(n))
        for i, (one, n) in enumerate(zip(table.to_delayed(), sizes, strict=True))
    ]
    return Reader(parts, len(names), names, tell), np.result_type(*dtypes)


def _reader_of_array(X: Any, tell: Tell) -> tuple[Reader, np.dtype]:
    from dask.base import compute
    from dask.delayed import delayed

    if X.ndim != 2:
        raise DataError(f"a Dask Array of points must have two dimensions, got {X.ndim}")
    blocks = list(X.rechunk({1: -1}).to_delayed()[:, 0])
    sizes = X.chunks[0]
    if np.isnan(sizes).any():
        sizes = compute(*(delayed(len)(block) for block in blocks))
    parts = [_Partition(one, f"block {i}", int(n)) for i, (one, n) in enumerate(zip(blocks, sizes, strict=True))]
    return Reader(parts, X.shape[1], None, tell), X.dtype


def computed(lazy: Any) -> Any:
    """Return a collection in memory; a DataFrame's column as a Series, which knows the order of its categories."""
    with readable("a partition"):
        return lazy.compute()
