"""Reader of Dask collections: each partition of a DataFrame, or block of rows of an Array, is one part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.data.datasets import DataError
from dsgcore.data.out_of_core.columns import Asked, check_numbers, features_of
from dsgcore.data.out_of_core.rows import Reader, Tell
from dsgcore.data.reading.names import readable


@dataclass
class _Partition:
    """A Dask partition. The worker that holds it picks the requested rows, and only these rows are sent."""

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
    """Return True if the object is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def reader_of_dask(X: Any, asked: Asked, tell: Tell) -> tuple[Reader, np.dtype]:
    """Return a function that reads rows of a DataFrame or an Array, and the type of their numbers."""
    if not hasattr(X, "columns"):
        return _reader_of_array(X, tell)
    chosen = features_of([str(name) for name in X.columns], asked, (), partial(_first_rows, X))
    table = X[list(chosen.names)]
    kinds = {name: _kind(dtype) for name, dtype in zip(chosen.names, table.dtypes, strict=True)}
    check_numbers({name: kind for name, kind in kinds.items() if isinstance(kind, str)})
    dtypes = [kind for kind in kinds.values() if not isinstance(kind, str)]
    sizes = computed(X[[asked.label or chosen.names[0]]].map_partitions(len))
    parts = [
        _Partition(one, f"partition {i}", int(n))
        for i, (one, n) in enumerate(zip(table.to_delayed(), sizes, strict=True))
    ]
    return Reader(
        parts, len(chosen.names), chosen.names, tell, notes=chosen.notes, guesses=chosen.guesses
    ), np.result_type(*dtypes)


def _first_rows(X: Any, names: list[str]) -> pd.DataFrame:
    parts = (computed(X[names].get_partition(i)) for i in range(X.npartitions))
    return next((part for part in parts if len(part)), pd.DataFrame(columns=names))


def _kind(dtype: Any) -> np.dtype | str:
    """Return the type of a column's numbers, or a description if it holds something else."""
    own = getattr(dtype, "numpy_dtype", dtype)
    if isinstance(own, np.dtype) and own.kind in "biuf":
        return own
    if getattr(own, "kind", "O") in "mM":
        return "dates or durations"
    return "text or other values"


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
    """Return a collection in memory. A DataFrame's column becomes a Series, to keep the order of its categories."""
    with readable("a partition"):
        return lazy.compute()
