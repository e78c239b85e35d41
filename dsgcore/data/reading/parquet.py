"""Parquet tables, read in batches so that their unpacked size is checked before memory is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.indexes import pandas_index
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import column_names, readable
from dsgcore.data.reading.sources import Piece, Source

BATCH = 16_384
OFFSET = 4  # bytes of a reference to a text
NESTED = "(nested)"  # placeholder in a column of lists and other nested values
_DAMAGED = ("the Parquet file", "is damaged, cut off or of an unknown kind")


def arrow() -> Any:
    """Return the package pyarrow; raise `DataError` if it is not installed."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.dataset
        import pyarrow.parquet
    except ImportError:
        raise DataError(
            "Parquet files need the package pyarrow, which is not installed: install it, or give a CSV"
        ) from None
    return pyarrow


def index_columns(source: Source) -> list[str]:
    """Return the index columns that pandas wrote, by the names that `read_parquet` gives them."""
    with readable(*_DAMAGED, also=(arrow().ArrowException,)), source.open() as stream:
        schema = _opened(stream).schema_arrow
    index, (names, _) = pandas_index(schema.metadata), column_names(schema.names)
    return [name for name, raw in zip(names, schema.names, strict=True) if raw in index]


def read_parquet(source: Source, limits: Limits, rows: int | None = None) -> Iterator[Piece]:
    """Yield the table in pieces of so many rows (None: in one)."""
    with readable(*_DAMAGED, also=(arrow().ArrowException,)), source.open() as stream:
        schema = _opened(stream).schema_arrow
        # A text that the file holds once and uses in many rows is one text until all of them are counted.
        file = _opened(stream, read_dictionary=[field.name for field in schema if _is_text(field.type)])
        _check(file.metadata, schema, limits)
        names, notes = column_names(schema.names)
        batches = _batches(file, schema, min(rows or BATCH, BATCH))
        yield from ((frame, notes) for frame in _gathered(batches, names, limits, rows))


def _opened(stream: Any, **options: Any) -> Any:
    return arrow().parquet.ParquetFile(stream, pre_buffer=False, **options)


def _is_text(kind: Any) -> bool:
    types = arrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)


def _check(metadata: Any, schema: Any, limits: Limits) -> None:
    """Raise `DataError` if the file's metadata exceed the limits. The contents are counted again while reading."""
    n = metadata.num_rows
    if not n or not metadata.num_columns:
        raise DataError(f"the table must have rows and columns, got {n} x {metadata.num_columns}")
    limits.check_rows(n)
    limits.check_columns(max(metadata.num_columns, len(schema)))
    limits.check_unpacked(sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)))
    limits.check_unpacked(n * sum(_width(field.type) for field in schema))


def _width(kind: Any) -> int:
    """Return the least number of bytes that a value takes in memory."""
    if arrow().types.is_nested(kind) or arrow().types.is_dictionary(kind) or _is_text(kind):
        return 1
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:  # no fixed width
        return 1


def _batches(file: Any, schema: Any, size: int) -> Iterator[Any]:
    """Yield rows as the file holds them. Lists and other nested columns, which no role takes, are not read."""
    is_nested, n = arrow().types.is_nested, file.metadata.num_rows
    flat = [field.name for field in schema if not is_nested(field.type)]
    if len(flat) == len(schema):
        yield from file.iter_batches(batch_size=size, use_threads=False)
        return
    if flat:
        batches = file.iter_batches(batch_size=size, use_threads=False, columns=flat)
        read = ((batch.num_rows, batch.columns) for batch in batches)  # fewer rows at a row group's end
    else:
        read = ((min(size, n - start), []) for start in range(0, n, size))
    for length, given in read:
        # By position: several columns may have the same name, lists among them.
        columns = iter([column for column in given if not is_nested(column.type)])
        nothing = arrow().repeat(arrow().scalar(NESTED), length).dictionary_encode()
        whole = [nothing if is_nested(field.type) else next(columns) for field in schema]
        yield arrow().RecordBatch.from_arrays(whole, names=schema.names)


def _gathered(batches: Any, names: list[str], limits: Limits, rows: int | None) -> Iterator[pd.DataFrame]:
    """Join batches to pieces of so many rows; count rows and bytes."""
    n, size, waiting = 0, 0, []
    for batch in batches:
        n, size = n + batch.num_rows, size + sum(map(_size, batch.columns))
        limits.check_rows(n)
        limits.check_unpacked(size)
        batch.validate(full=True)  # otherwise text that is not UTF-8 would fail much later
        waiting.append([written_out(column) for column in batch.columns])
        if rows is not None and sum(len(columns[0]) for columns in waiting) >= rows:
            yield _frame(waiting, names)
            waiting = []
    if not n:
        raise DataError("the Parquet file is damaged: it has no rows, and says that it has some")
    if waiting:
        yield _frame(waiting, names)


def _size(column: Any) -> int:
    """Return the bytes of a column once each row has its own value."""
    if not arrow().types.is_dictionary(column.type):
        return max(column.nbytes, len(column))
    values, codes = column.dictionary, column.indices.drop_null().to_numpy(zero_copy_only=False)
    if not _is_text(values.type):
        return values.nbytes // max(len(values), 1) * len(column)
    lengths = arrow().compute.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False)
    return OFFSET * len(column) + int(lengths[codes].sum(dtype=np.int64))


def written_out(column: Any) -> Any:
    """Return an Arrow column with one value per row, and decimals in a type that pandas knows."""
    if arrow().types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(arrow().float64()) if arrow().types.is_decimal(column.type) else column


def exact(column: Any) -> pd.Series:
    """Return an Arrow column as a pandas column. Integers beside missing values stay integers, and ordered categories ordered."""
    types = arrow().types
    if types.is_dictionary(column.type):
        column, order = column.cast(column.type.value_type), _order(column)
        if order is not None:
            return pd.Series(pd.Categorical(exact(column), order, ordered=True))
    has_gaps = column.null_count and types.is_integer(column.type)
    return column.to_pandas(types_mapper=_with_gaps if has_gaps else None)


def _order(column: Any) -> list[Any] | None:
    """Return ordered categories in their order; None if they have none, or if the parts of a column contradict each other."""
    if not column.type.ordered:
        return None
    parts = [part.dictionary.to_pylist() for part in getattr(column, "chunks", [column])]
    order: list[Any] = max(parts, key=len, default=[])
    return order if all(part == [value for value in order if value in set(part)] for part in parts) else None


def _with_gaps(kind: Any) -> Any:
    """Return pandas' nullable integer type for an Arrow type."""
    return pd.api.types.pandas_dtype(str(kind).replace("u", "U").replace("i", "I"))


def _frame(batches: list[list[Any]], names: list[str]) -> pd.DataFrame:
    columns = [exact(arrow().chunked_array(list(chunks))) for chunks in zip(*batches, strict=True)]
    frame = pd.concat(columns, axis=1)
    frame.columns = pd.Index(names)
    return frame
