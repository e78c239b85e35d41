"""Reader of a folder of Parquet files: each row group of each file is one part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.out_of_core.columns import Asked, check_numbers, features_of
from dsgcore.data.out_of_core.rows import Reader, Tell
from dsgcore.data.reading.indexes import ROWS, pandas_index
from dsgcore.data.reading.names import listed, readable
from dsgcore.data.reading.parquet import arrow, exact, written_out

_MAGIC = b"PAR1"


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
        return np.column_stack([_as_numbers(table.column(name)) for name in self.columns])

    def labels(self, column: str) -> Any:
        """Return a column as the file holds it."""
        return self._table([column]).column(column)

    def _table(self, columns: Sequence[str]) -> Any:
        return self.fragment.to_table(schema=self.schema, columns=list(columns), use_threads=False)


def reader_of_parquet(folder: Path, asked: Asked, tell: Tell) -> tuple[Reader, np.dtype]:
    """Return a reader of a folder of Parquet files, in the order of their names, and the type of their numbers."""
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.parquet"))
    if not files:
        raise DataError(f"there must be Parquet files (*.parquet) in {quoted(str(folder))}, got none")
    for file in files:
        _check_kind(file)
    first = _dataset(files[0])
    schema = first.schema
    types = arrow().types
    empty = [field.name for field in schema if types.is_null(field.type)]
    chosen = features_of(schema.names, asked, pandas_index(schema.metadata), partial(_first_rows, first, types), empty)
    kinds = {name: _kind(schema.field(name).type, types) for name in chosen.names}
    check_numbers({name: kind for name, kind in kinds.items() if isinstance(kind, str)})
    dtype = np.result_type(*(kind for kind in kinds.values() if not isinstance(kind, str)))
    wanted = (*chosen.names, *([asked.label] if asked.label is not None else ()))
    parts = [part for file in files for part in _row_groups(file, schema, chosen.names, wanted)]
    return Reader(parts, len(chosen.names), chosen.names, tell, notes=chosen.notes, guesses=chosen.guesses), dtype


def _check_kind(file: Path) -> None:
    """Raise `DataError` if a file's first bytes are not those of a Parquet file."""
    with readable(file.name), file.open("rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise DataError(
                f"{file.name} cannot be read: it is no Parquet file, so save the table as one (pandas: to_parquet)"
            )


def _first_rows(dataset: Any, types: Any, names: list[str]) -> pd.DataFrame:
    """Return the first rows of some columns; no rows of a column with lists or other nested values."""
    flat = [name for name in names if not types.is_nested(dataset.schema.field(name).type)]
    with readable("the file"):
        frame = dataset.head(ROWS, columns=flat, use_threads=False).to_pandas(ignore_metadata=True)
    return frame.reindex(columns=names)


def labels_of_parquet(reader: Reader, column: str) -> pd.Series:
    """Return the label column, read alone in one pass. Whole numbers stay exact if some labels are missing."""
    found = []
    for number, part in enumerate(reader.parts):
        with readable(f"the labels of {reader.called(number)}"):
            found.append(part.labels(column))  # type: ignore[attr-defined]
        reader.tell(f"labels of {part.name}", number + 1, len(reader.parts))
    if arrow().types.is_dictionary(found[0].type):
        return exact(arrow().chunked_array([chunk for column in found for chunk in column.chunks]))
    return pd.concat([exact(column) for column in found], ignore_index=True)


def _dataset(file: Path) -> Any:
    with readable(file.name):
        return arrow().dataset.dataset(str(file), format="parquet")


def _kind(of: Any, types: Any) -> np.dtype | str:
    """Return the type of a column's numbers, or a description if it holds something else."""
    if types.is_dictionary(of):
        return _kind(of.value_type, types)
    if types.is_decimal(of):
        return np.dtype(np.float64)
    if types.is_boolean(of) or types.is_integer(of) or types.is_floating(of):
        return np.dtype(of.to_pandas_dtype())
    if types.is_temporal(of):
        return "dates or durations"
    if types.is_nested(of):
        return "structs" if types.is_struct(of) else "lists or other nested values"
    return "text or bytes"


def _as_numbers(column: Any) -> NDArray:
    """Return a column's numbers; a missing one is NaN."""
    column = written_out(column)
    is_truth_with_gaps = arrow().types.is_boolean(column.type) and column.null_count
    return (column.cast("int8") if is_truth_with_gaps else column).to_numpy()


def _row_groups(file: Path, schema: Any, columns: tuple[str, ...], wanted: tuple[str, ...]) -> list[_RowGroup]:
    dataset = _dataset(file)
    if absent := [name for name in wanted if name not in dataset.schema.names]:
        raise DataError(f"{file.name} has no column {listed(absent)}, and the first file has: each must have it")
    with readable(file.name):
        (fragment,) = dataset.get_fragments()
        groups = fragment.split_by_row_group()
        sizes = [group.row_groups[0].num_rows for group in groups]
    names = [f"{file.name}, row group {number}" if len(groups) > 1 else file.name for number in range(len(groups))]
    return [_RowGroup(group, schema, columns, *own) for group, *own in zip(groups, names, sizes, strict=True)]
