"""Files in memory or on disk, unpacked, and those that are no delimited text: Parquet, Arrow, ORC, npz, Excel, JSON, ARFF."""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import column_names, listed, printable, readable, reason_of

PIECE = 2**20
BATCH = 16_384
POINTS, LABELS = "X", "y"
NESTED = "(nested)"  # placeholder in a column of lists and other nested values
PARQUET_ENDINGS = (".parquet", ".pq", ".parq")
LARGE = 40_000_000  # numbers of a table that is not read whole
_OFFSET = 4  # bytes of a reference to a text
_XZ_MEMORY = 128 * 2**20  # the largest dictionary that an .xz file may request
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_KINDS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow", b"ORC": "orc"}
_OTHERS = {
    b"\x89HDF": "an HDF5 file",
    b"MATLAB 5.0": "a Matlab file",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"SQLite format 3": "an SQLite database",
    b"\x93NUMPY": "a single NumPy array, so without labels",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x7fELF": "a program",
    b"MZ": "a program",
}
# A name in brackets may begin a table's header: [K+], {a}, <x>.
_OTHER_TEXTS = {
    "a web page or XML": re.compile(r"<[!?]|<html\b|<(?=(?s:.*)\n\s*<[^\n]*\s*\Z)|<[^\n]*>\s*\Z"),
    "JSON, but no records": re.compile(r"\{\s*(?:\"|\}\s*\Z)|\[\s*(?:[\[{\"]|-?\d[\d.e+-]*\s*[,\n])"),
}
_READABLE = "CSV and other text, LIBSVM, Parquet, Feather, ORC, JSON lines, ARFF, Excel (.xlsx) and .npz archives"
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)
_UNREADABLE = (*_DAMAGED, MemoryError, OverflowError, RuntimeError, SyntaxError, TypeError, ValueError)


# --- bytes


@dataclass(frozen=True)
class Source:
    """A file to read: its name without folders, a function that opens it, and its size in bytes."""

    name: str
    open: Callable[[], IO[bytes]]
    size: int
    path: Path | None = None  # a folder of files

    @classmethod
    def of_bytes(cls, content: bytes, name: str) -> Source:
        """Return a source made of a file's bytes."""
        return cls(name, lambda: io.BytesIO(content), len(content))

    @classmethod
    def of_path(cls, path: str | os.PathLike[str]) -> Source:
        """Return a source for a file on disk, which is read in pieces, or for a folder of files."""
        file = Path(path)
        if file.is_dir():
            files = files_of(file)
            return cls(file.name, files[0].open_binary, sum(one.size for one in files), file)
        try:
            with file.open("rb"):
                size = file.stat().st_size
        except (OSError, ValueError) as error:
            reason = "there is no such file" if isinstance(error, FileNotFoundError) else "it is not a readable file"
            raise DataError(f"cannot read {quoted(file.name)}: {reason}") from None
        return cls(file.name, lambda: file.open("rb"), size)

    def open_binary(self) -> IO[bytes]:
        """Open the file."""
        return self.open()

    def head(self, size: int) -> bytes:
        """Return the first bytes."""
        with self.open() as stream:
            return stream.read(size)

    def sha256(self) -> str:
        """Return the digest of the bytes; of a folder, of its files' digests."""
        if self.path is not None:
            return hashlib.sha256("".join(file.sha256() for file in files_of(self.path)).encode()).hexdigest()
        with self.open() as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def files_of(folder: Path) -> list[Source]:
    """Return the files of one kind in a folder, by their names; hidden files and folders are left out."""
    found = [
        file
        for file in sorted(folder.rglob("*"))
        if not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts) and file.is_file()
    ]
    chosen = [file for file in found if file.suffix.lower() in PARQUET_ENDINGS] or found
    if not chosen:
        raise DataError(f"the folder {quoted(str(folder))} holds no files of data: give one with Parquet or CSV files")
    return [Source.of_path(file) for file in chosen]


def unpacked(source: Source, limits: Limits) -> Source:
    """Return the source without gzip, bzip2, xz, zstd or zip; raise `DataError` before a large content fills memory."""
    if source.path is not None:
        return source
    opened = streamed(source, limits)
    if opened is source:
        return source
    pieces, size = [], 0
    with opened.open() as stream:
        for piece in iter(partial(stream.read, PIECE), b""):
            size += len(piece)
            limits.check_unpacked(size)
            pieces.append(piece)
    if not size:
        raise DataError("the file is packed and empty")
    return Source.of_bytes(b"".join(pieces), source.name)


def streamed(source: Source, limits: Limits) -> Source:
    """Return the source without its packing, unpacked while it is read: nothing is held in memory."""
    limits.check_size(source.size)
    if not source.size:
        raise DataError("the file is empty")
    head = source.head(8)
    kind = next((kind for magic, kind in _PACKED.items() if head.startswith(magic)), None)
    kind = "zip" if head.startswith(b"PK\x03\x04") and _zip_member(source) else kind
    if kind is None:
        return source
    return Source(source.name, lambda: stream_of(_unpacked_pieces(source, kind)), source.size)


def _unpacked_pieces(source: Source, kind: str) -> Iterator[bytes]:
    openers: dict[str, Callable[[IO[bytes]], Any]] = {
        "gzip": lambda f: gzip.GzipFile(fileobj=f),
        "bzip2": bz2.BZ2File,
        "zstd": lambda f: pyarrow.CompressedInputStream(pyarrow.PythonFile(f, mode="r"), "zstd"),
        "zip": lambda f: zipfile.ZipFile(f).open(str(_zip_member(source))),  # noqa: SIM115
    }
    try:
        with source.open() as stream:
            if kind == "xz":
                yield from _xz_pieces(stream)
                return
            with openers[kind](stream) as packed:
                while piece := packed.read(PIECE):
                    yield piece
    except _UNREADABLE as error:
        raise DataError(f"the file is packed by {kind} and damaged or cut off: {reason_of(error)}") from None


def _xz_pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """Unpack one stream after another; `lzma.LZMAFile` would take as much memory as each header requests."""
    given = stream.read(PIECE)
    while given:
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        while not unpacker.eof:
            if unpacker.needs_input and not given and not (given := stream.read(PIECE)):
                raise EOFError("the end is missing")
            yield unpacker.decompress(given, PIECE)
            given = b""
        given = (unpacker.unused_data or stream.read(PIECE)).lstrip(b"\0")  # padding of a stream


def stream_of(pieces: Iterator[bytes]) -> io.BufferedReader:
    """Return pieces of bytes as a stream."""
    return io.BufferedReader(_Pieces(pieces), PIECE)


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a raw stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._left and (piece := next(self._pieces, None)) is not None:
            self._left = piece
        given, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)

    def close(self) -> None:
        self._pieces.close()  # type: ignore[attr-defined]
        super().close()


# --- kinds of files


def binary_format(source: Source) -> str | None:
    """Return the format of a file that is no delimited or LIBSVM text, else None; raise `DataError` for other kinds."""
    head = source.head(4096)
    if found := next((kind for magic, kind in _KINDS.items() if head.startswith(magic)), None):
        return found
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_format(source)
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise DataError(f"the file is {what}; those that can be read are {_READABLE}")
    if head[:1] == b"\x80" and head[1:2] <= b"\x05":
        raise DataError("the file is a pickle of Python objects, which is never loaded: save it as CSV or Parquet")
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if re.match(r"\{\s*\"|\[\s*\{\s*\"", text):
        return "json"
    return "arff" if re.search(r"(?im)\A(\s*%[^\n]*\n|\s*\n)*\s*@relation\s", text) else None


def _zip_names(source: Source) -> list[str]:
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            return [name for name in archive.namelist() if not name.endswith("/")]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError):
        raise DataError("the archive is damaged: its table of contents cannot be read") from None


def _zip_format(source: Source) -> str:
    names = _zip_names(source)
    if any(name.endswith(".npy") for name in names):
        return "npz"
    if "[Content_Types].xml" in names:
        if any(name.startswith("xl/") for name in names):
            return "excel"
        raise DataError("the file is an Office document: save its table as CSV")
    raise DataError(f"the file is a zip archive of {len(names)} files, none of them an array: give the table inside")


def _zip_member(source: Source) -> str | None:
    """Return the only file in a zip archive of no other kind; None if there are several, or arrays."""
    names = [name for name in _zip_names(source) if not name.startswith("__MACOSX/") and "/." not in f"/{name}"]
    return names[0] if len(names) == 1 and not names[0].endswith(".npy") else None


def refuse_other_text(text: str) -> None:
    """Raise `DataError` if text is not a table, judged by its beginning."""
    start = text.lstrip("\ufeff \t\r\n").lower()
    for what, form in _OTHER_TEXTS.items():
        if form.match(start):
            raise DataError(f"the file is {what}; those that can be read are {_READABLE}")


def read_binary(source: Source, kind: str, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return the table of a file of this format, and notes."""
    readers: dict[str, Callable[[Source, Limits], tuple[pd.DataFrame, list[str]]]] = {
        "parquet": read_parquet,
        "arrow": _read_arrow,
        "orc": _read_orc,
        "npz": read_archive,
        "excel": _read_excel,
        "json": _read_json,
    }
    what = {"parquet": "Parquet", "arrow": "Arrow", "orc": "ORC", "json": "JSON", "excel": "Excel"}.get(kind, kind)
    damaged = (f"the {what} file", "is damaged, cut off or of an unknown kind")
    with readable(*damaged, also=(pyarrow.ArrowException, *_UNREADABLE)):
        return readers[kind](source, limits)


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
        schema = pyarrow.parquet.ParquetFile(stream, pre_buffer=False).schema_arrow
    index, (names, _) = pandas_index(schema.metadata), column_names(schema.names)
    return [name for name, raw in zip(names, schema.names, strict=True) if raw in index]


def read_parquet(source: Source, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return the table of a Parquet file; its unpacked size is checked before memory is taken."""
    with source.open() as stream:
        schema = pyarrow.parquet.ParquetFile(stream, pre_buffer=False).schema_arrow
        # A text that the file holds once and uses in many rows is one text until all of them are counted.
        file = pyarrow.parquet.ParquetFile(
            stream, pre_buffer=False, read_dictionary=[field.name for field in schema if _is_text(field.type)]
        )
        _check(file.metadata, schema, limits)
        names, notes = column_names(schema.names)
        return _gathered(_batches(file, schema), names, limits, schema), notes


def _is_text(kind: Any) -> bool:
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
    if types.is_nested(kind) or types.is_dictionary(kind) or _is_text(kind):
        return 1
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:  # no fixed width
        return 1


def _batches(file: Any, schema: Any) -> Iterator[Any]:
    """Yield rows as the file holds them. Lists and other nested columns, which no role takes, are not read."""
    n = file.metadata.num_rows
    flat = [field.name for field in schema if not types.is_nested(field.type)]
    if len(flat) == len(schema):
        yield from file.iter_batches(batch_size=BATCH, use_threads=False)
        return
    if flat:
        batches = file.iter_batches(batch_size=BATCH, use_threads=False, columns=flat)
        read = ((batch.num_rows, batch.columns) for batch in batches)  # fewer rows at a row group's end
    else:
        read = ((min(BATCH, n - start), []) for start in range(0, n, BATCH))
    for length, given in read:
        # By position: several columns may have the same name, lists among them.
        columns = iter([column for column in given if not types.is_nested(column.type)])
        whole = [_nested(length) if types.is_nested(field.type) else next(columns) for field in schema]
        yield pyarrow.RecordBatch.from_arrays(whole, names=schema.names)


def _nested(length: int) -> Any:
    return pyarrow.repeat(pyarrow.scalar(NESTED), length).dictionary_encode()


def _gathered(batches: Iterator[Any], names: list[str], limits: Limits, schema: Any) -> pd.DataFrame:
    """Join batches; count rows and bytes."""
    n, size, waiting = 0, 0, []
    for batch in batches:
        n, size = n + batch.num_rows, size + sum(map(_size, batch.columns))
        limits.check_rows(n)
        limits.check_unpacked(size)
        batch.validate(full=True)  # otherwise text that is not UTF-8 would fail much later
        waiting.append(
            [
                column if getattr(field.type, "ordered", False) else written_out(column)
                for column, field in zip(batch.columns, schema, strict=True)
            ]
        )
    if not n:
        raise DataError("the Parquet file is damaged: it has no rows, and says that it has some")
    return _frame([pyarrow.chunked_array(list(chunks)) for chunks in zip(*waiting, strict=True)], names, schema)


def _frame(columns: Sequence[Any], names: Sequence[str], schema: Any) -> pd.DataFrame:
    frame = pd.concat([exact(column, field) for column, field in zip(columns, schema, strict=True)], axis=1)
    frame.columns = pd.Index(names)
    return frame


def _size(column: Any) -> int:
    """Return the bytes of a column once each row has its own value."""
    if not types.is_dictionary(column.type):
        return max(column.nbytes, len(column))
    values, codes = column.dictionary, column.indices.drop_null().to_numpy(zero_copy_only=False)
    if not _is_text(values.type):
        return values.nbytes // max(len(values), 1) * len(column)
    lengths = compute.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False)
    return _OFFSET * len(column) + int(lengths[codes].sum(dtype=np.int64))


def written_out(column: Any) -> Any:
    """Return an Arrow column with one value per row, and decimals in a type that pandas knows."""
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pyarrow.float64()) if types.is_decimal(column.type) else column


def exact(column: Any, field: Any = None) -> pd.Series:
    """Return an Arrow column as a pandas column. Integers beside missing values stay integers, and ordered categories ordered."""
    order = declared_order(column, field)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if order is not None:
        return pd.Series(pd.Categorical(exact(column), order, ordered=True))
    has_gaps = column.null_count and types.is_integer(column.type)
    return column.to_pandas(types_mapper=_with_gaps if has_gaps else None)


def declared_order(column: Any, field: Any = None) -> list[Any] | None:
    """Return ordered categories in their order; None if they have none, or if the parts of a column contradict each other."""
    metadata = {} if field is None or field.metadata is None else field.metadata
    if (polars := next((value for key, value in metadata.items() if b"ENUM_VALUES" in key), None)) is not None:
        return _order_of_enum(polars)
    if not types.is_dictionary(column.type) or not column.type.ordered:
        return None
    parts = [part.dictionary.to_pylist() for part in getattr(column, "chunks", [column])]
    order: list[Any] = max(parts, key=len, default=[])
    return order if all(part == [value for value in order if value in set(part)] for part in parts) else None


def _order_of_enum(written: bytes) -> list[str] | None:
    """Return the values of a polars Enum: each is its length, a semicolon and its text."""
    found, place = list[str](), 0
    while place < len(written) and (mark := written.find(b";", place)) > 0 and written[place:mark].isdigit():
        length = int(written[place:mark])
        found.append(written[mark + 1 : mark + 1 + length].decode("utf-8", "replace"))
        place = mark + 1 + length
    return found or None


def _with_gaps(kind: Any) -> Any:
    """Return pandas' nullable integer type for an Arrow type."""
    return pd.api.types.pandas_dtype(str(kind).replace("u", "U").replace("i", "I"))


def _read_arrow(source: Source, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    with source.open() as stream:
        limits.check_unpacked(source.size)
        return frame_of_table(pyarrow.feather.read_table(io.BytesIO(stream.read())), limits)


def _read_orc(source: Source, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    from pyarrow import orc

    with source.open() as stream:
        return frame_of_table(orc.ORCFile(io.BytesIO(stream.read())).read(), limits)


def frame_of_table(table: Any, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return an Arrow table as a data frame, and notes."""
    if not table.num_rows or not table.num_columns:
        raise DataError(f"the table must have rows and columns, got {table.num_rows} x {table.num_columns}")
    limits.check_rows(table.num_rows)
    limits.check_columns(table.num_columns)
    limits.check_unpacked(table.nbytes)
    names, notes = column_names(table.column_names)
    columns = [
        pyarrow.chunked_array([_nested(table.num_rows)]) if types.is_nested(field.type) else column
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    columns = [
        column if getattr(column.type, "ordered", False) or types.is_dictionary(column.type) else written_out(column)
        for column in columns
    ]
    return _frame(columns, names, table.schema), notes


def is_parquet_data(path: Path) -> bool:
    """Return True for a Parquet file, and for a folder that holds one."""
    if path.is_dir():
        return any(is_parquet(file, path) for file in path.rglob("*"))
    with path.open("rb") as stream:
        return stream.read(4) == b"PAR1"


def is_large(path: Path) -> bool:
    """Return True if a Parquet file, or those of a folder, hold more numbers than should be in memory at a time."""
    if path.is_dir():
        return (
            any(file.suffix.lower() in PARQUET_ENDINGS for file in path.rglob("*"))
            and sum(_numbers_in(file) for file in path.rglob("*") if is_parquet(file, path)) > LARGE
        )
    return path.is_file() and _numbers_in(path) > LARGE


def _numbers_in(file: Path) -> int:
    with file.open("rb") as stream:
        if stream.read(4) != b"PAR1":
            return 0
    with readable(file.name, also=(pyarrow.ArrowException,)):
        metadata = pyarrow.parquet.read_metadata(file)
    return int(metadata.num_rows * metadata.num_columns)


def is_parquet(file: Path, folder: Path) -> bool:
    """Return True for a Parquet file of a folder, by its name, that is not hidden."""
    is_hidden = any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    return file.suffix.lower() in PARQUET_ENDINGS and not is_hidden and file.is_file()


# --- archives of arrays


def read_arrays(source: Source, limits: Limits, *wanted: str) -> dict[str, NDArray]:
    """Unpack the named arrays of an archive, or all of them. X of shape (n, d) must be among them.

    Nothing is ever unpickled. The unpacked size is checked before memory is taken; `numpy.load` does not do that.
    """
    with source.open() as stream:
        content = stream.read()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise DataError("the file must be an .npz archive of arrays, and this one is not a zip archive")
    try:
        archive = np.load(io.BytesIO(content), allow_pickle=False)
    except _UNREADABLE as error:
        raise DataError("the .npz archive is damaged: its table of contents cannot be read") from error
    with archive:
        # Another kind of archive may hold an X as well. If the caller names X, the error says that it is not an array.
        members = [info for info in archive.zip.infolist() if wanted or info.filename.endswith(".npy")]
        sizes = {info.filename.removesuffix(".npy"): info.file_size for info in members}
        for name in wanted or (POINTS,):
            if name not in sizes:
                given = listed(sorted(sizes)) or "nothing"
                raise DataError(f"the file must hold an array {quoted(name)}, and it holds {given}")
        names = wanted or tuple(sizes)
        limits.check_unpacked(sum(sizes[name] for name in names), "the archive")
        arrays = {name: _array(archive, name) for name in names}
    X = arrays[POINTS]
    if X.ndim != 2 or X.size == 0:
        raise DataError(f"X must have shape (n, d) with at least one row and one column, got {X.shape}")
    if X.dtype.kind not in "biuf":
        raise DataError(f"X must hold real numbers, got the type {printable(str(X.dtype))}")
    return arrays


def _array(archive: Any, name: str) -> NDArray:
    """Unpack one array of an archive without loading any Python objects."""
    try:
        array = archive[name]
    except _UNREADABLE as error:
        if "pickle" in str(error) or "Object arrays" in str(error):
            objects = "holds Python objects (a pickle), which are never loaded: save plain numbers"
            raise DataError(f"array {quoted(name)} {objects}") from error
        raise DataError(f"array {quoted(name)} cannot be read: the archive is damaged") from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"{quoted(name)} must be a NumPy array (a member .npy), and it is another kind of file")
    return array


def read_archive(source: Source, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns of X and each array with one value per row as a table, and notes."""
    arrays = read_arrays(source, limits)
    X = arrays.pop(POINTS)
    n, d = X.shape
    limits.check_rows(n)
    limits.check_points(n, d)
    others = {name: column for name, array in arrays.items() if (column := _as_column(name, array, n)) is not None}
    names, notes = column_names([*(f"x{j + 1}" for j in range(d)), *others])
    frame = pd.concat([pd.DataFrame(X, copy=False), *(pd.Series(column) for column in others.values())], axis=1)
    frame.columns = pd.Index(names)
    if left := [name for name in arrays if name not in others]:
        notes.append(f"Arrays of the archive that have no value for each row are left out: {listed(left)}.")
    return frame, notes


def _as_column(name: str, array: NDArray, n: int) -> NDArray | None:
    if array.ndim != 1 or array.dtype.kind not in "biufUS" or (len(array) != n and name != LABELS):
        return None
    if len(array) != n:
        raise DataError(f"{name} must have shape ({n},), one value for each row of X, got {array.shape}")
    return array.astype(object) if array.dtype.kind == "U" else np.asarray(array)


# --- Excel, JSON and ARFF


def _read_excel(source: Source, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return the first sheet of a workbook that has a table."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise DataError(
            "Excel workbooks need the package openpyxl (pip install dsg-lab[excel]): install it, or save the sheet as CSV"
        ) from None
    with source.open() as stream, zipfile.ZipFile(stream) as archive:
        limits.check_unpacked(sum(info.file_size for info in archive.infolist()), "the workbook")
    with source.open() as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns of styles that it does not know
        sheets = pd.read_excel(io.BytesIO(stream.read()), sheet_name=None, keep_default_na=False, na_values=[""])
    full = {name: sheet for name, sheet in sheets.items() if len(sheet) and sheet.shape[1]}
    if not full:
        raise DataError("the workbook holds no table: its sheets have no rows below a header")
    name, frame = next(iter(full.items()))
    limits.check_rows(len(frame))
    limits.check_columns(frame.shape[1])
    raw = ["" if str(one).startswith("Unnamed: ") else one for one in frame.columns]
    names, notes = column_names(raw)
    frame.columns = pd.Index(names)
    others = [one for one in full if one != name]
    return frame, [*notes, *([f"The sheet {name!r} is read, and {listed(others)} left out."] if others else [])]


def _read_json(source: Source, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return JSON lines, or a list of records, as a table."""
    with source.open() as stream:
        content = stream.read()
    limits.check_unpacked(len(content))
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        records = json.loads(content)
        if not all(isinstance(record, dict) for record in records):
            raise DataError("the JSON must be a list of records, or a record on each line")
        content = b"\n".join(json.dumps(record).encode() for record in records)
    try:
        options = pyarrow.json.ReadOptions(use_threads=False, block_size=max(PIECE, len(content)))
        return frame_of_table(pyarrow.json.read_json(io.BytesIO(content), options), limits)
    except pyarrow.ArrowInvalid as error:
        raise DataError(f"the JSON must hold a record of plain values on each line: {reason_of(error)}") from None


_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s+(.+)", re.IGNORECASE)


def arff_as_csv(source: Source) -> Source:
    """Return an ARFF file as CSV: the attributes' names, then the data without comments."""
    with source.open() as stream:
        text = stream.read().decode("utf-8-sig", "replace")
    names, lines, is_data = [], list[str](), False
    for line in text.splitlines():
        bare = line.strip()
        if not bare or bare.startswith("%"):
            continue
        if is_data:
            if bare.startswith("{"):
                raise DataError("the ARFF file is sparse (rows in braces): save it as LIBSVM text or CSV")
            lines.append(line)
        elif found := _ATTRIBUTE.match(bare):
            names.append(found[1].strip("'\"").replace("\\'", "'"))
        is_data = is_data or bare.lower().startswith("@data")
    quote = "'" if any("'" in line for line in lines) and not any('"' in line for line in lines) else '"'
    written = io.StringIO()
    rows = csv.reader(lines, quotechar=quote, escapechar="\\", skipinitialspace=True)
    csv.writer(written, lineterminator="\n").writerows([names, *rows])
    return Source.of_bytes(written.getvalue().encode(), source.name)
