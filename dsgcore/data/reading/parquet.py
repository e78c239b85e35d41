"""Parquet tables, read in batches so that what they unpack to is known before it fills memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import column_names, reason_of
from dsgcore.data.reading.sources import Piece, Source

BATCH = 16_384


def read_parquet(source: Source, limits: Limits, rows: int | None = None) -> Iterator[Piece]:
    """Yield the table in pieces of so many rows (None: in one)."""
    parquet, arrow = _pyarrow()
    try:
        with source.open() as stream:
            file = parquet.ParquetFile(stream, pre_buffer=False)
            _check(file.metadata, limits)
            names, notes = column_names(file.schema_arrow.names)
            batches = file.iter_batches(batch_size=min(rows or BATCH, BATCH), use_threads=False)
            yield from ((frame, notes) for frame in _gathered(batches, names, limits, rows, arrow))
    except DataError:
        raise
    except (arrow.ArrowException, ValueError, OSError, OverflowError, MemoryError, TypeError, KeyError) as error:
        raise DataError(f"the Parquet file is damaged, cut off or of an unknown kind: {reason_of(error)}") from None


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DataError("Parquet files are read by the package pyarrow, which is not installed: give a CSV") from None
    return pyarrow.parquet, pyarrow


def _check(metadata: Any, limits: Limits) -> None:
    """Refuse what the file itself says is too much; what it holds is counted once more while it is read."""
    if not metadata.num_rows or not metadata.num_columns:
        raise DataError(f"the table must have rows and columns, got {metadata.num_rows} x {metadata.num_columns}")
    limits.check_rows(metadata.num_rows)
    limits.check_columns(metadata.num_columns)
    limits.check_unpacked(sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)))


def _gathered(batches: Any, names: list[str], limits: Limits, rows: int | None, arrow: Any) -> Iterator[pd.DataFrame]:
    """Put batches together to pieces of so many rows, and count rows and bytes."""
    n, size, waiting = 0, 0, []
    for batch in batches:
        n, size = n + batch.num_rows, size + batch.nbytes
        limits.check_rows(n)
        limits.check_unpacked(size)
        batch.validate(full=True)  # else text that is no UTF-8 would be found out much later
        waiting.append(batch)
        if rows is not None and sum(b.num_rows for b in waiting) >= rows:
            yield _frame(waiting, names, arrow)
            waiting = []
    if not n:
        raise DataError("the Parquet file is damaged: it has no rows, and says that it has some")
    if waiting:
        yield _frame(waiting, names, arrow)


def _frame(batches: list[Any], names: list[str], arrow: Any) -> pd.DataFrame:
    table = arrow.Table.from_batches(batches)
    columns = [_column(table.column(j), arrow) for j in range(table.num_columns)]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame()
    frame.columns = pd.Index(names)
    return frame


def _column(column: Any, arrow: Any) -> pd.Series:
    """Return a column as pandas knows it; lists and other nested values become text that no role but "ignore" takes."""
    types = arrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_decimal(column.type):
        column = column.cast(arrow.float64())
    if types.is_nested(column.type):
        return pd.Series([NESTED] * len(column), dtype=object)
    return column.to_pandas()


NESTED = "(nested)"
