"""A Parquet file, or a folder of them, as one table: one schema for all files, and the columns of hive's folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
from numpy.typing import NDArray
from pyarrow import types

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.binary import is_parquet, written_out
from dsgcore.data.reading.names import readable

_MAGIC = b"PAR1"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def dataset_of(path: Path) -> Any:
    """Return the files as one pyarrow dataset, in the order of their names; hidden files and folders are left out."""
    files = [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if is_parquet(file, path)]
    if not files:
        raise DataError(f"there must be Parquet files (*.parquet) in {quoted(str(path))}, got none")
    schemas = {file: _schema(file) for file in files}
    names = list(map(str, files))
    options: dict[str, Any] = {"format": "parquet"}
    schema = unified(schemas)
    if path.is_dir():
        keys = pyarrow.schema([(name, kind) for name, kind in _keys(path, files) if name not in schema.names])
        hive = pyarrow.dataset.partitioning(keys, flavor="hive")
        options |= {"partitioning": hive, "partition_base_dir": str(path)}
        schema = pyarrow.schema([*schema, *keys], metadata=schema.metadata)
    return pyarrow.dataset.dataset(names, schema=schema, **options)


def _keys(folder: Path, files: Iterable[Path]) -> Iterator[tuple[str, Any]]:
    """Yield the keys in the names of folders, such as year=2020, and the type of their values."""
    found: dict[str, list[str]] = {}
    for file in files:
        for name, _, value in (part.partition("=") for part in file.relative_to(folder).parts[:-1] if "=" in part):
            found.setdefault(unquote(name), []).extend([unquote(value)] if value != _NO_VALUE else [])
    for name, values in found.items():
        is_whole = all(re.fullmatch(r"-?\d{1,18}", value) for value in values)
        is_number = all(re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", value, re.IGNORECASE) for value in values)
        yield name, pyarrow.int64() if is_whole else pyarrow.float64() if is_number else pyarrow.string()


def _schema(file: Path) -> Any:
    with readable(file.name, also=(pyarrow.ArrowException,)):
        with file.open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                raise DataError(
                    f"{file.name} cannot be read: it is no Parquet file, so save the table as one (pandas: to_parquet)"
                )
        schema = pyarrow.parquet.read_schema(file)
    if twice := [name for name, n in Counter(schema.names).items() if n > 1]:
        raise DataError(f"{file.name} has several columns {quoted(twice[0])}: each must have a name of its own")
    return schema


def unified(schemas: Mapping[Path, Any]) -> Any:
    """Return one schema for several files: numbers take the larger type, a column without values that of the others."""
    fields = []
    for name in dict.fromkeys(name for schema in schemas.values() for name in schema.names):
        found = {file: schema.field(name) for file, schema in schemas.items() if name in schema.names}
        kinds = {file: field.type for file, field in found.items() if not types.is_null(field.type)}
        fields.append(next(iter(found.values())).with_type(_common(name, kinds)))
    return pyarrow.schema(fields, metadata=next(iter(schemas.values())).metadata)


def check_columns(fragment: Any, names: Iterable[str]) -> None:
    """Raise `DataError` if a file of a dataset lacks a column."""
    there = {*fragment.physical_schema.names, *pyarrow.dataset.get_partition_keys(fragment.partition_expression)}
    for name in names:
        if name not in there:
            raise DataError(
                f"{Path(fragment.path).name} has no column {quoted(name)}, and another file has: each must have it"
            )


def _common(name: str, kinds: Mapping[Path, Any]) -> Any:
    """Return one type for all values of a column; raise `DataError` if there is none."""
    if not kinds:
        return pyarrow.null()
    (file, first), *others = kinds.items()
    if all(kind == first for _, kind in others):
        return first
    values = [kind.value_type if types.is_dictionary(kind) else kind for kind in kinds.values()]
    if all(map(_is_text, values)):
        return pyarrow.large_string()
    is_real = [types.is_floating(kind) or types.is_decimal(kind) for kind in values]
    is_whole = [types.is_integer(kind) or types.is_boolean(kind) for kind in values]
    if all(real or whole for real, whole in zip(is_real, is_whole, strict=True)):
        return pyarrow.float64() if any(is_real) or any(map(types.is_uint64, values)) else pyarrow.int64()
    if all(types.is_timestamp(kind) or types.is_date(kind) for kind in values):
        return pyarrow.timestamp("us")
    other, kind = next((file, kind) for file, kind in others if kind != first)
    raise DataError(
        f"column {quoted(name)} holds {first} in {file.name} and {kind} in {other.name}: write it with one type"
    )


def _is_text(kind: Any) -> bool:
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def part_columns(fragment: Any, kinds: Mapping[str, Any], rows: int | None = None) -> Any:
    """Return some columns of a file or a row group in these types, as a table; by default all rows."""
    own = fragment.physical_schema
    inside = [name for name in kinds if name in own.names]
    scanner = fragment.scanner(schema=own, columns=inside, use_threads=False)
    table = scanner.to_table() if rows is None else scanner.head(rows)
    keys = pyarrow.dataset.get_partition_keys(fragment.partition_expression)
    columns = [
        _cast(table.column(name), kind)
        if name in inside
        else pyarrow.chunked_array([pyarrow.repeat(pyarrow.scalar(keys.get(name), kind), table.num_rows)])
        for name, kind in kinds.items()
    ]
    return pyarrow.table(columns, names=list(kinds))


def _cast(column: Any, kind: Any) -> Any:
    """Return a column in another type; Boolean values become 0 and 1."""
    if column.type == kind:
        return column
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_boolean(column.type):
        column = column.cast(pyarrow.int8())
    return column.cast(kind, safe=not types.is_floating(kind))


def numbers_of(fragment: Any, kinds: Mapping[str, Any], rows: NDArray) -> NDArray:
    """Return the numbers of some columns at some rows of a row group; a missing one is NaN."""
    table = part_columns(fragment, kinds).take(rows)
    return np.column_stack([_as_numbers(written_out(column)) for column in table.columns])


def _as_numbers(column: Any) -> NDArray:
    is_truth_with_gaps = types.is_boolean(column.type) and column.null_count
    return (column.cast(pyarrow.int8()) if is_truth_with_gaps else column).to_numpy()
