"""A file's bytes in memory or on disk, unpacked if they are packed, and their kind of file."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pandas as pd

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import reason_of

PIECE = 2**20
_XZ_MEMORY = 128 * 2**20  # the largest dictionary that an .xz file may request
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
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
    b"ARROW1": "an Arrow file",
    b"ORC": "an ORC file",
}
# A name in brackets may begin a table's header: [K+], {a}, <x>.
_OTHER_TEXTS = {
    "a web page or XML": re.compile(r"<[!?]|<html\b|<(?=(?s:.*)\n\s*<[^\n]*\s*\Z)|<[^\n]*>\s*\Z"),
    "JSON": re.compile(r"\{\s*(?:\"|\}\s*\Z)|\[\s*(?:[\[{\"]|-?\d[\d.e+-]*\s*[,\n])"),
    "an ARFF file": re.compile(r"@relation\s"),
}
_READABLE = "CSV or other delimited text, Parquet, LIBSVM/SVMlight text and .npz archives"


# Some rows of a table, and sentences about changes to the columns' names.
Piece = tuple[pd.DataFrame, list[str]]


@dataclass(frozen=True)
class Source:
    """A file to read: its name without folders, a function that opens it, and its size in bytes."""

    name: str
    open: Callable[[], IO[bytes]]
    size: int

    @classmethod
    def of_bytes(cls, content: bytes, name: str) -> Source:
        """Return a source made of a file's bytes."""
        return cls(name, lambda: io.BytesIO(content), len(content))

    @classmethod
    def of_path(cls, path: str | os.PathLike[str]) -> Source:
        """Return a source for a file on disk, which is read in pieces."""
        file = Path(path)
        try:
            with file.open("rb"):
                size = file.stat().st_size
        except (OSError, ValueError) as error:
            reason = "there is no such file" if isinstance(error, FileNotFoundError) else "it is not a readable file"
            raise DataError(f"cannot read {quoted(file.name)}: {reason}") from None
        return cls(file.name, lambda: file.open("rb"), size)

    def head(self, size: int) -> bytes:
        """Return the first bytes."""
        with self.open() as stream:
            return stream.read(size)

    def sha256(self) -> str:
        """Return the digest of the bytes."""
        with self.open() as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def unpacked(source: Source, limits: Limits) -> Source:
    """Return the source without gzip, bzip2 or xz; raise `DataError` before a too large content fills memory."""
    if (kind := _packed_by(source, limits)) is None:
        return source
    pieces, size = [], 0
    for piece in _unpacked_pieces(source, kind):
        size += len(piece)
        limits.check_unpacked(size)
        pieces.append(piece)
    if not size:
        raise DataError(f"the file is packed by {kind} and empty")
    return Source.of_bytes(b"".join(pieces), source.name)


def streamed(source: Source, limits: Limits) -> Source:
    """Return the source without gzip, bzip2 or xz, unpacked while it is read: nothing is held in memory."""
    if (kind := _packed_by(source, limits)) is None:
        return source
    return Source(source.name, lambda: io.BufferedReader(_Pieces(_unpacked_pieces(source, kind)), PIECE), source.size)


def _packed_by(source: Source, limits: Limits) -> str | None:
    limits.check_size(source.size)
    if not source.size:
        raise DataError("the file is empty")
    return next((kind for magic, kind in _PACKED.items() if source.head(8).startswith(magic)), None)


def _unpacked_pieces(source: Source, kind: str) -> Iterator[bytes]:
    openers: dict[str, Callable[[IO[bytes]], Any]] = {"gzip": lambda f: gzip.GzipFile(fileobj=f), "bzip2": bz2.BZ2File}
    try:
        with source.open() as stream:
            if kind == "xz":
                yield from _xz_pieces(stream)
                return
            with openers[kind](stream) as packed:
                while piece := packed.read(PIECE):
                    yield piece
    except (OSError, EOFError, zlib.error, lzma.LZMAError, MemoryError) as error:
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


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a stream."""

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


def binary_format(source: Source) -> str | None:
    """Return "parquet" or "npz" if the bytes are of that kind, None for text; raise `DataError` with the name of other kinds."""
    head = source.head(4096)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return _zip_format(source)
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise DataError(f"the file is {what}; those that can be read are {_READABLE}")
    if head[:1] == b"\x80" and head[1:2] <= b"\x05":
        raise DataError("the file is a pickle of Python objects, which is never loaded: save it as CSV or Parquet")
    return None


def _zip_format(source: Source) -> str:
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError):
        raise DataError("the archive is damaged: its table of contents cannot be read") from None
    if any(name.endswith(".npy") for name in names):
        return "npz"
    if "[Content_Types].xml" in names:
        raise DataError("the file is an Office document, such as an Excel workbook: save its sheet as CSV")
    raise DataError("the file is a zip archive without arrays: unpack it and give the table inside")


def refuse_other_text(text: str) -> None:
    """Raise `DataError` if text is not a table, judged by its beginning."""
    start = text.lstrip("\ufeff \t\r\n").lower()
    for what, form in _OTHER_TEXTS.items():
        if form.match(start):
            raise DataError(f"the file is {what}; those that can be read are {_READABLE}")
