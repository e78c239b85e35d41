"""Sparse text of LIBSVM and SVMlight, made dense: a label, then index:value pairs."""

from __future__ import annotations

import io
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import IO

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.label_kinds import INEXACT
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import as_number, reason_of
from dsgcore.data.reading.sources import Piece, Source

# Lines with mistakes match, too: the reader reports them.
_LINE = re.compile(r"\s*[^\s:]+(\s+qid:\d+)?(\s+-?\d+:[^\s,;:]*)+\s*(#.*)?")
_PAIRS = re.compile(r"\s*\d{1,10}:[^\s,;:]+(\s+\d{1,10}:[^\s,;:]+)+\s*(#.*)?")
_UNREADABLE = (ValueError, OverflowError, MemoryError, IndexError, SystemError)
_SNIFFED_LINES = 50
_LARGEST_INDEX = 2**31 - 1
TARGET = "label"
_SIGNS = {b"+1", b"-1", b"0"}
EXACT = 2**24  # float32 rounds larger whole numbers


def is_svmlight(head: str) -> bool:
    """Return True if the first lines of a text hold index:value pairs, most with a label in front."""
    lines = [line for line in head.splitlines()[:_SNIFFED_LINES] if line.strip() and line[0] != "#"]
    return sum(bool(_LINE.fullmatch(line) or _is_without_label(line)) for line in lines) > len(lines) / 2


def _is_without_label(line: str) -> bool:
    """Return True if a line is two or more index:value pairs, with increasing indices from the second one on."""
    if not _PAIRS.fullmatch(line):
        return False
    indices = [int(word.partition(":")[0]) for word in line.split("#")[0].split()[1:]]
    return all(one < other for one, other in pairwise(indices))


def read_svmlight(source: Source, limits: Limits, rows: int | None = None) -> Iterator[Piece]:
    """Yield the points and their labels, in pieces of so many rows (None: in one)."""
    n, low, high = _extent(source, limits, rows)
    if not n:
        raise DataError("the file has no rows")
    if high < 0:
        raise DataError("no row has any index:value pair")
    first = min(low, 1)  # indices begin at 1, unless 0 is used
    d = high + 1 - first
    limits.check_points(n, d)
    names = pd.Index([f"x{j + 1}" for j in range(d)] + [TARGET])
    for X, y in _pieces(source, rows):
        pairs = X.tocoo()
        is_large = len(pairs.data) > 0 and np.abs(pairs.data).max() > EXACT
        dense = np.zeros((X.shape[0], d + 1), dtype=np.float64 if is_large else np.float32)
        dense[pairs.row, pairs.col - first] = pairs.data
        frame = pd.DataFrame(dense, columns=names, copy=False)
        frame[TARGET] = y
        yield frame, []


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file, without the byte order mark that some editors write first."""
    yield from (line.removeprefix(BOM_UTF8) for line in islice(stream, 1))
    yield from stream


def zero_is_unlabeled(source: Source) -> bool:
    """Return True if the labels are +1, -1 and 0, with the plus sign: SVMlight's 0 means unlabeled."""
    found: set[bytes] = set()
    with source.open() as stream:
        for line in _lines(stream):
            found.update(line.split(b"#")[0].split(maxsplit=1)[:1])
            if not found <= _SIGNS:
                return False
    return len(found) == len(_SIGNS)


def _extent(source: Source, limits: Limits, rows: int | None) -> tuple[int, int, int]:
    """Return the number of rows and the smallest and largest index; raise `DataError` if they exceed the limits."""
    n, low, high = 0, _LARGEST_INDEX, -1
    for X, _ in _pieces(source, rows):
        limits.check_rows(n + X.shape[0])
        if X.nnz:
            low, high = min(low, int(X.indices.min())), max(high, int(X.indices.max()))
            if high > limits.columns:
                row = n + int(np.searchsorted(X.indptr, int(X.indices.argmax()), side="right"))
                raise DataError(f"an index must be at most {limits.columns}, got {high} in row {row}")
        n += X.shape[0]
    return n, low, high


def _pieces(source: Source, rows: int | None) -> Iterator[tuple]:
    """Yield sparse points and labels, with the indices as the file has them."""
    with source.open() as stream:
        start, own = 0, _lines(stream)
        while lines := list(islice(own, rows)):
            content = b"".join(lines)
            if b"\0" in content:
                line = start + content[: content.index(b"\0")].count(b"\n") + 1
                raise DataError(f"line {line} holds a NUL byte: the file is no plain text")
            try:
                X, y = load_svmlight_file(io.BytesIO(content), dtype=np.float64, zero_based=True)
                yield X, _exact(lines, y)
            except _UNREADABLE as error:
                raise DataError(_blame(lines, start, error)) from None
            start += len(lines)


def _exact(lines: list[bytes], y: NDArray) -> NDArray:
    """Return the labels; if they are too large for exact floats, as whole numbers in an object array."""
    if not (np.abs(y) >= INEXACT).any():
        return y
    words = [words[0] for line in lines if (words := line.split(b"#")[0].split(maxsplit=1))]
    return np.array([int(word) if word.lstrip(b"+-").isdigit() else float(word) for word in words], dtype=object)


def _blame(lines: list[bytes], start: int, error: BaseException) -> str:
    """Return an error that names the line which is not a label and index:value pairs."""
    for number, line in enumerate(lines, start=start + 1):
        content = line.split(b"#")[0].decode("ascii", errors="replace").split()
        if content and (wrong := _wrong(content)):
            return f"line {number} {wrong}"
    return f"the file cannot be read as LIBSVM text: {reason_of(error)}"


def _remedy(first: str) -> str:
    """Return what is in the label's place, and a remedy."""
    if ":" in first:
        return ", an index:value pair: the label is missing, so write one before it"
    if "," in first:
        return ", several labels: keep one of them, or make a file for each label"
    return ": number the classes"


def _wrong(words: list[str]) -> str:
    if as_number(words[0]) is None:
        return f"must begin with one number as its label, got {quoted(words[0])}{_remedy(words[0])}"
    previous = -1
    for word in words[1:]:
        index, colon, value = word.partition(":")
        if index == "qid":
            continue
        if not colon or as_number(value) is None:
            return f"must hold index:value pairs, got {quoted(word)}"
        if not index.isdigit() or len(index) > 10 or int(index) > _LARGEST_INDEX:
            return f"must have whole indices between 0 and {_LARGEST_INDEX}, got {quoted(index)}"
        if int(index) <= previous:
            return f"must have increasing indices, got {quoted(index)} after {previous}"
        previous = int(index)
    return ""
