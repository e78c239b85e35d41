"""Files that are no delimited text: Parquet and folders of it, Arrow, ORC, npz, JSON."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet
from numpy.typing import NDArray
from pyarrow import compute, types

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import column_names, listed, printable, readable, with_columns, written
from dsgcore.data.reading.recipe import Limits
from dsgcore.data.reading.sources import (
    CONTROL,
    PIECE,
    UNREADABLE,
    Source,
    about_others,
    parquet_files,
    values_in_names,
)

POINTS, LABELS = "X", "y"
_SEVERAL = (list, tuple, dict, set, np.ndarray)  # kinds of cells that are no single value
NESTED = "(nested)"  # placeholder in a column of lists and other nested values
LARGE = 40_000_000  # numbers of a table that is not read whole
_BEYOND = 2.0**63
_MAGIC = b"PAR1"
# Arrow takes no rows of views.
_OF_VIEWS = {pyarrow.string_view(): pyarrow.large_string(), pyarrow.binary_view(): pyarrow.large_binary()}


def read_binary(source: Source, kind: str, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return the table of a file of this format, and notes."""
    what = {"parquet": "Parquet", "arrow": "Arrow", "orc": "ORC", "json": "JSON"}.get(kind, kind)
    damaged = (f"the {what} file", "is damaged, cut off or of an unknown kind")
    with readable(*damaged, also=(pyarrow.ArrowException, *UNREADABLE)), source.open() as stream:
        if kind == "parquet":
            frame, notes = _read_parquet(stream, limits)
        else:
            if kind != "npz":  # whose table of contents says its size
                limits.check_unpacked(source.size)
            content = io.BytesIO(stream.read())
            if kind == "npz":
                frame, notes = _read_npz(content, limits)
            elif kind == "json":
                frame, notes = frame_of_table(_json_table(content), limits)
            elif kind == "orc":
                from pyarrow import orc  # not on every system

                frame, notes = frame_of_table(orc.ORCFile(content).read(), limits)
            elif content.getvalue().startswith(b"\xff"):  # a stream, which has no table of contents
                frame, notes = frame_of_table(pyarrow.ipc.open_stream(content).read_all(), limits)
            else:
                frame, notes = frame_of_table(pyarrow.feather.read_table(content), limits)
    if not len(frame):
        raise DataError(f"the table must have rows and columns, got 0 x {frame.shape[1]}")
    return frame, notes


# --- columnar files


def pandas_index(metadata: Mapping[bytes, bytes] | None) -> frozenset[str]:
    """Return the index columns that pandas recorded in a Parquet schema's metadata."""
    try:
        said = json.loads((metadata or {})[b"pandas"])["index_columns"]
        return frozenset(name for name in said if isinstance(name, str))
    except (KeyError, TypeError, ValueError, RecursionError):
        return frozenset()


def index_columns(source: Source) -> list[str]:
    """Return the index columns that pandas wrote, by the names that `read_parquet` gives them."""
    wrong = "is damaged, cut off or of an unknown kind"
    with readable("the Parquet file", wrong, also=(pyarrow.ArrowException,)), source.open() as stream:
        place = stream if stream.seekable() else io.BytesIO(stream.read())  # unpacked on the way
        schema = pyarrow.parquet.ParquetFile(place, pre_buffer=False).schema_arrow
    index, (names, _) = pandas_index(schema.metadata), column_names(schema.names)
    return [name for name, raw in zip(names, schema.names, strict=True) if raw in index]


def _read_parquet(stream: IO[bytes], limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return the table of a Parquet file; its unpacked size is checked before memory is taken."""
    schema = pyarrow.parquet.ParquetFile(stream, pre_buffer=False).schema_arrow
    # A text that the file holds once and uses in many rows is in memory once; categories are so anyway, in their order.
    texts = [field.name for field in schema if _is_text(field.type) and not types.is_dictionary(field.type)]
    file = pyarrow.parquet.ParquetFile(stream, pre_buffer=False, read_dictionary=texts)
    n, d = file.metadata.num_rows, max(file.metadata.num_columns, len(schema))
    if not n or not d:
        raise DataError(f"the table must have rows and columns, got {n} x {d}")
    limits.check_rows(n)
    limits.check_columns(d)
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    limits.check_unpacked(max(n * d, sum(group.total_byte_size for group in groups)))
    # Lists and other nested columns, which no role takes, are not read. Others may have their names.
    table = file.read([field.name for field in schema if not _is_nested(field.type)], use_threads=False)
    table.validate(full=True)  # otherwise text that is not UTF-8 would fail much later
    chunks = (chunk for column in table.columns if types.is_dictionary(column.type) for chunk in column.chunks)
    lengths = (  # of texts, once each row has its own
        compute.sum(compute.binary_length(chunk.dictionary).take(chunk.indices)).as_py()
        for chunk in chunks
        if _is_text(chunk.type)
    )
    limits.check_unpacked(sum(length or 0 for length in lengths))
    return _frame(table.columns, schema, n)


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)


def _is_nested(kind: Any) -> bool:
    return bool(types.is_nested(getattr(kind, "storage_type", kind)))  # an extension's, such as a tensor's


def _frame(columns: Iterable[Any], schema: Any, n: int) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns of a schema as a data frame, and notes on their names. Nested ones say so in each row."""
    names, notes = column_names(schema.names)
    nested = pd.Series(NESTED, index=range(n), dtype=object)
    flat = (column for column in columns if not _is_nested(column.type))
    found = [nested if _is_nested(field.type) else exact(next(flat), field) for field in schema]
    return pd.concat(found, axis=1, keys=range(len(names))).set_axis(pd.Index(names), axis=1), notes


def exact(column: Any, field: Any = None) -> pd.Series:
    """Return an Arrow column as a pandas column. Integers beside missing values stay integers, and ordered categories ordered."""
    order = _declared_order(column, field)
    if types.is_dictionary(column.type):
        kind, found = column.type.value_type, list[NDArray]()
        for chunk in getattr(column, "chunks", [column]):  # a value of many rows is in memory once
            values = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
            found.append(values[chunk.indices.cast(pyarrow.int64()).fill_null(-1)])
        column = pd.Series(np.concatenate(found) if found else [], dtype=object)
        if types.is_primitive(kind) or types.is_decimal(kind):
            column = exact(pyarrow.array(column, kind, from_pandas=True))
        return column if order is None else pd.Series(pd.Categorical(column, order, ordered=True))
    if types.is_decimal(column.type):  # which pandas does not know
        column = column.cast(pyarrow.float64())
    if order is not None:
        return pd.Series(pd.Categorical(exact(column), order, ordered=True))
    if not column.null_count or not types.is_integer(column.type):
        return column.to_pandas()
    own = pd.api.types.pandas_dtype(str(column.type).replace("u", "U").replace("i", "I"))  # such as Int64
    return column.to_pandas(types_mapper={column.type: own}.get)


def _declared_order(column: Any, field: Any = None) -> list[Any] | None:
    """Return ordered categories in their order; None if they have none, or if the parts of a column contradict each other."""
    metadata = getattr(field, "metadata", None) or {}
    if (polars := next((value for key, value in metadata.items() if b"ENUM_VALUES" in key), None)) is not None:
        found, place = list[str](), 0  # each value is its length, a semicolon and its text
        while place < len(polars) and (mark := polars.find(b";", place)) > 0 and polars[place:mark].isdigit():
            place = mark + 1 + int(polars[place:mark])
            found.append(polars[mark + 1 : place].decode("utf-8", "replace"))
        return found or None
    if not types.is_dictionary(column.type) or not column.type.ordered:
        return None
    parts = [part.dictionary.to_pylist() for part in getattr(column, "chunks", [column])]
    order: list[Any] = max(parts, key=len, default=[])
    return order if all(part == [value for value in order if value in set(part)] for part in parts) else None


def frame_of_table(table: Any, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return an Arrow table as a data frame, and notes."""
    if not table.num_columns:
        raise DataError(f"the table must have rows and columns, got {table.num_rows} x {table.num_columns}")
    limits.check_rows(table.num_rows)
    limits.check_columns(table.num_columns)
    limits.check_unpacked(table.nbytes)
    return _frame(table.columns, table.schema, table.num_rows)


def as_in_parquet(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in memory, whose rows count from 0, with the types of columns that it would have in a Parquet file."""
    frame, changed = table.reset_index(drop=True), dict[str, Any]()
    for name, column in frame.items():
        if isinstance(column.dtype, pd.ArrowDtype):
            whole = pyarrow.array(column)
            changed[str(name)] = NESTED if _is_nested(whole.type) else exact(whole)
        elif column.dtype == object and column.map(lambda cell: isinstance(cell, _SEVERAL)).any():
            changed[str(name)] = NESTED
        elif column.dtype.kind == "S" or (
            isinstance(column.dtype, np.dtype) and not column.dtype.isnative
        ):  # as of FITS
            changed[str(name)] = column.astype(object if column.dtype.kind == "S" else column.dtype.newbyteorder("="))
    return with_columns(frame, changed)


def is_parquet_data(path: Path) -> bool:
    """Return True for a Parquet file, and for a folder that holds one."""
    return bool(parquet_files(path)) and (path.is_dir() or _is_parquet(path))


def is_large(path: Path) -> bool:
    """Return True if a Parquet file, or those of a folder, hold more numbers than should be in memory at a time."""
    n = 0
    for file in filter(_is_parquet, parquet_files(path)):
        with readable(file.name, also=(pyarrow.ArrowException,)):
            metadata = pyarrow.parquet.read_metadata(file)
        n += metadata.num_rows * metadata.num_columns
    return n > LARGE


def _is_parquet(file: Path) -> bool:
    with file.open("rb") as stream:
        return (head := stream.read(4096)).startswith(_MAGIC) and CONTROL.search(head) is not None


def read_parquet_folder(path: Path, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return the Parquet files of a folder as one table in memory, and notes."""
    whole = ParquetTable.of(path)
    with readable("the folder", also=(pyarrow.ArrowException,)):
        groups = [*whole.groups()]
        limits.check_rows(sum(n for _, n, _ in groups))
        table = pyarrow.concat_tables([read(whole.schema.names) for _, _, read in groups])
        frame, notes = frame_of_table(table, limits)
    frame.attrs["keys"] = whole.keys
    return frame, [*about_others(path), *notes]


# --- Parquet files, and folders of them, as one table: one schema, and the columns of hive's folders


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file, or the files of a folder in the order of their names, as one table.

    Each file has the values in the names of its folders, such as year=2020; `keys` are the columns of these values, which no
    guess takes for labels.
    """

    files: Mapping[Path, Mapping[str, Any]]
    schema: Any
    keys: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path) -> ParquetTable:
        """Open a file or a folder; hidden files and folders are left out."""
        if not (files := parquet_files(path)):
            raise DataError(f"there must be Parquet files (*.parquet) in {quoted(str(path))}, got none")
        schemas = dict[Path, Any]()
        for file in files:
            with readable(file.name, also=(pyarrow.ArrowException,)):
                if not _is_parquet(file):
                    raise DataError(
                        f"{file.name} cannot be read: it is no Parquet file, so save the table as one (pandas: to_parquet)"
                    )
                schemas[file] = pyarrow.parquet.read_schema(file)
            if twice := [name for name, n in Counter(schemas[file].names).items() if n > 1]:
                raise DataError(f"{file.name} has several columns {quoted(twice[0])}: each must have a name of its own")
        said, kinds = values_in_names(path, files)
        schema, of_arrow = unified(schemas), {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
        fields = [pyarrow.field(name, of_arrow[kind]) for name, kind in kinds.items() if name not in schema.names]
        keys = tuple(field.name for field in fields)
        for file, name in product(files, [*schema.names, *keys]):
            if name not in schemas[file].names and name not in said[file]:
                raise DataError(f"{file.name} has no column {quoted(name)}, and another file has: each must have it")
        return cls(said, pyarrow.schema([*schema, *fields], metadata=schema.metadata), keys)

    def groups(self) -> Iterator[tuple[str, int, partial[Any]]]:
        """Yield the name and the number of rows of each row group, and a function that reads some of its columns."""
        for file in self.files:
            with readable(file.name, also=(pyarrow.ArrowException,)):
                metadata = pyarrow.parquet.read_metadata(file)
            for number in range(metadata.num_row_groups):
                name = f"{file.name}, row group {number}" if metadata.num_row_groups > 1 else file.name
                yield name, metadata.row_group(number).num_rows, partial(self.read, file, number)

    def read(self, file: Path, group: int, names: Sequence[str], rows: NDArray | None = None) -> Any:
        """Return some columns of a file's row group, at some rows or all, in the types of the whole table."""
        opened, columns = pyarrow.parquet.ParquetFile(file, pre_buffer=False), list[Any]()
        table = opened.read_row_group(group, [name for name in names if name not in self.keys], use_threads=False)
        fields, n = [self.schema.field(name) for name in names], opened.metadata.row_group(group).num_rows
        for field in fields:
            if field.name in self.keys:
                columns.append(pyarrow.repeat(pyarrow.scalar(self.files[file][field.name], field.type), n))
                continue
            column = table.column(field.name)
            if column.type != field.type:
                if types.is_dictionary(column.type):
                    values = column.type.value_type
                    column = column.cast(pyarrow.large_string() if types.is_string_view(values) else values)
                if types.is_boolean(column.type):
                    column = column.cast(pyarrow.int8())  # 0 and 1
                column = column.cast(field.type, safe=not types.is_floating(field.type))
            columns.append(column)
        whole = pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))
        taken = whole if rows is None else whole.take(rows)
        taken.validate(full=True)  # otherwise text that is not UTF-8 would fail where its part is not known
        return taken


def unified(schemas: Mapping[Path, Any]) -> Any:
    """Return one schema for several files: numbers take the larger type, a column without values that of the others."""
    fields = []
    for name in dict.fromkeys(name for schema in schemas.values() for name in schema.names):
        found = {file: schema.field(name) for file, schema in schemas.items() if name in schema.names}
        own = {file: _OF_VIEWS.get(field.type, field.type) for file, field in found.items()}
        kinds = {file: kind for file, kind in own.items() if not types.is_null(kind)}
        values = [kind.value_type if types.is_dictionary(kind) else kind for kind in kinds.values()]
        is_real = [types.is_floating(kind) or types.is_decimal(kind) for kind in values]
        is_whole = [types.is_integer(kind) or types.is_boolean(kind) for kind in values]
        file, first = next(iter(kinds.items()), (None, pyarrow.null()))
        other = next((file for file, kind in kinds.items() if kind != first), None)
        if file is None or other is None:
            common = first
        elif all(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) for kind in values):
            common = pyarrow.large_string()
        elif all(real or whole for real, whole in zip(is_real, is_whole, strict=True)):
            is_wide = any(is_real) or any(map(types.is_uint64, values))
            common = pyarrow.float64() if is_wide else pyarrow.int64()
        elif all(types.is_timestamp(kind) or types.is_date(kind) for kind in values):
            common = pyarrow.timestamp("us")
        else:
            held = f"{first} in {file.name} and {kinds[other]} in {other.name}"
            raise DataError(f"column {quoted(name)} holds {held}: write it with one type")
        fields.append(next(iter(found.values())).with_type(common))
    return pyarrow.schema(fields, metadata=next(iter(schemas.values())).metadata)


# --- archives of arrays


def _read_npz(content: IO[bytes], limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns of X, of shape (n, d), and each array with one value per row as a table, and notes.

    Nothing is ever unpickled. The unpacked size is checked before memory is taken; `numpy.load` does not do that.
    """
    try:
        archive = np.load(content, allow_pickle=False)
    except UNREADABLE as error:
        raise DataError("the .npz archive is damaged: its table of contents cannot be read") from error
    with archive:
        members = [info for info in archive.zip.infolist() if info.filename.endswith(".npy")]
        sizes, arrays = {info.filename.removesuffix(".npy"): info.file_size for info in members}, dict[str, NDArray]()
        if POINTS not in sizes:
            held = listed(sorted(sizes)) or "nothing"
            raise DataError(
                f"the file must hold an array {quoted(POINTS)}, and it holds {held}: save the points as X, labels as y"
            )
        limits.check_unpacked(sum(sizes.values()), "the archive")
        for name in sizes:
            try:
                arrays[name] = archive[name]
            except UNREADABLE as error:
                fault = "cannot be read: the archive is damaged"
                if "pickle" in str(error) or "Object arrays" in str(error):
                    fault = "holds Python objects (a pickle), which are never loaded: save plain numbers"
                raise DataError(f"array {quoted(name)} {fault}") from error
            if not isinstance(arrays[name], np.ndarray):
                raise DataError(f"{quoted(name)} must be a NumPy array (a member .npy), and it is another kind of file")
    X = arrays.pop(POINTS)
    if X.ndim != 2 or X.size == 0:
        raise DataError(f"X must have shape (n, d) with at least one row and one column, got {X.shape}: reshape it")
    if X.dtype.kind not in "biuf":
        raise DataError(f"X must hold real numbers, got the type {printable(str(X.dtype))}")
    n, d = X.shape
    limits.check_rows(n)
    limits.check_points(n, d)
    others, left = {}, []
    for name, given in arrays.items():
        array = given[:, 0] if given.shape == (n, 1) else given
        is_column = array.ndim == 1 and array.dtype.kind in "biufUS"
        if name == LABELS and array.shape != (n,):
            raise DataError(
                f"{name} must have shape ({n},), one value for each row of X, got {array.shape}: reshape it"
            )
        if is_column and len(array) == n:
            others[name] = array.astype(object) if array.dtype.kind == "U" else np.asarray(array)
        else:
            left.append(name)
    names, notes = column_names([*(f"x{j + 1}" for j in range(d)), *others])
    frame = pd.concat([pd.DataFrame(X, copy=False), *(pd.Series(column) for column in others.values())], axis=1)
    frame.columns = pd.Index(names)
    if left:
        notes.append(f"Arrays of the archive that have no value for each row are left out: {listed(left)}.")
    return as_in_parquet(frame), notes


# --- JSON


def _json_table(stream: io.BytesIO) -> Any:
    """Return JSON lines, or a list of records, as an Arrow table."""
    content = stream.getvalue()
    try:
        given = _parsed(content)
    except (json.JSONDecodeError, UnicodeDecodeError):  # records on lines
        if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            raise
        options = pyarrow.json.ReadOptions(use_threads=False, block_size=max(PIECE, len(content)))
        with suppress(pyarrow.ArrowInvalid):  # as for a column of numbers and words
            return pyarrow.json.read_json(io.BytesIO(content), options)
        with readable("the JSON", "must hold a record of plain values on each line"):
            given = [_parsed(line) for line in content.split(b"\n") if line.strip()]
    if isinstance(given, dict):
        nested = [value for value in given.values() if isinstance(value, list | dict)]
        if len(nested) == len(given) or any(isinstance(one, list | dict) for value in nested for one in value):
            raise DataError('the JSON must hold a list of records (pandas: orient="records"), got one record of lists')
        given = [given]
    if not all(isinstance(record, dict) for record in given):
        raise DataError("the JSON must be a list of records, or a record on each line")
    with readable("the JSON", "must hold records of plain values", also=(pyarrow.ArrowException,)):
        return pyarrow.table(_alike(given))


def _parsed(text: bytes) -> Any:
    """Return JSON as Python's values, with whole numbers that 64 bits do not hold as floats."""
    return json.loads(
        text,
        object_pairs_hook=_record,
        parse_int=lambda word: int(word) if abs(number := float(word)) < _BEYOND else number,
    )


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a record of JSON; raise `DataError` if it gives a name twice: which value is meant is not known."""
    if len(record := dict(pairs)) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise DataError(f"a record of the JSON must give each name once, got {quoted(twice)} twice: delete one")
    return record


def _alike(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the columns of records; one that holds words holds its numbers as words, too."""
    columns = {name: [record.get(name) for record in records] for name in dict.fromkeys(chain.from_iterable(records))}
    for name, values in columns.items():
        if any(isinstance(value, str) for value in values):
            columns[name] = [written(value) if isinstance(value, int | float) else value for value in values]
    return columns
