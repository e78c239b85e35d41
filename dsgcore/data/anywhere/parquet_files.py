"""A folder of Parquet files: each row group of each file is a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.anywhere.rows import Reader, Tell, readable
from dsgcore.data.datasets import DataError


@dataclass
class _RowGroup:
    """A row group of a Parquet file."""

    fragment: Any
    schema: Any
    columns: tuple[str, ...]
    name: str
    n: int

    def __len__(self) -> int:
        return self.n

    def points(self, rows: NDArray) -> NDArray:
        table = self._table(self.columns).take(rows)
        return np.column_stack([table.column(name).to_numpy() for name in self.columns])

    def labels(self, column: str) -> NDArray:
        return self._table([column]).column(column).to_pandas().to_numpy()

    def _table(self, columns: Sequence[str]) -> Any:
        return self.fragment.to_table(schema=self.schema, columns=list(columns), use_threads=False)


def reader_of_parquet(
    folder: Path, label: str | None, features: Sequence[str] | None, tell: Tell
) -> tuple[Reader, np.dtype]:
    """Return what reads a folder's Parquet files in the order of their names, and the type of their numbers."""
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.parquet"))
    if not files:
        raise DataError(f"there must be Parquet files (*.parquet) in {quoted(str(folder))}, got none")
    with readable(files[0].name):
        schema = _dataset(files[0]).schema
    names = tuple(features) if features is not None else tuple(name for name in schema.names if name != label)
    if not names:
        raise DataError("the Parquet files have no column of features")
    dtype = np.result_type(*(_number_type(schema, name) for name in names))
    parts = [part for file in files for part in _row_groups(file, schema, names)]
    return Reader(parts, len(names), names, tell), dtype


def labels_of_parquet(reader: Reader, column: str) -> NDArray:
    """Return the column of labels, in one pass over it alone."""
    found = []
    for number, part in enumerate(reader.parts):
        with readable(f"the labels of {reader.called(number)}"):
            found.append(part.labels(column))  # type: ignore[attr-defined]
        reader.tell(f"labels of {part.name}", number + 1, len(reader.parts))
    return np.concatenate(found)


def _dataset(file: Path) -> Any:
    try:
        import pyarrow.dataset
    except ImportError:
        raise DataError("Parquet files are read by the package pyarrow, which is not installed") from None
    return pyarrow.dataset.dataset(str(file), format="parquet")


def _number_type(schema: Any, name: str) -> np.dtype:
    if name not in schema.names:
        raise DataError(f"the Parquet files have no column {quoted(name)}")
    try:
        dtype = np.dtype(schema.field(name).type.to_pandas_dtype())
    except NotImplementedError:
        dtype = np.dtype(object)
    if dtype.kind not in "biuf":
        raise DataError(f"column {quoted(name)} holds no numbers: name the columns that are features")
    return dtype


def _row_groups(file: Path, schema: Any, columns: tuple[str, ...]) -> list[_RowGroup]:
    with readable(file.name):
        (fragment,) = _dataset(file).get_fragments()
        groups = fragment.split_by_row_group()
        sizes = [group.row_groups[0].num_rows for group in groups]
    names = [f"{file.name}, row group {number}" if len(groups) > 1 else file.name for number in range(len(groups))]
    return [_RowGroup(group, schema, columns, *own) for group, *own in zip(groups, names, sizes, strict=True)]
