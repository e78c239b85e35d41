"""Sparse text of LIBSVM and SVMlight, made dense: a label, then index:value pairs."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import as_number, listed, named, reason_of
from dsgcore.data.reading.parse import lines_of
from dsgcore.data.reading.recipe import Limits
from dsgcore.data.reading.sources import Source

# Lines with mistakes match, too: the reader reports them.
_LINE = re.compile(
    r"\s*(?:[^\s:]+(\s+qid:\d+)?(\s+-?\d+:[^\s,;:]*)+|[+-]?\d+(?:[.,]\d+)?(\s+\d+:[+-]?\d+(?:,\d+)?)+)\s*(#.*)?"
)
_PAIRS = re.compile(r"\s*\d{1,10}:[^\s,;:]+(\s+\d{1,10}:[^\s,;:]+)+\s*(#.*)?")
# A time of day, with what follows it; LIBSVM's numbers are seldom of two digits throughout, and do not begin with 0.
_TIME = re.compile(r"\d{1,2}:[0-5]\d(?:[,;:]\S*)?")
_SNIFFED_LINES = 50
LINES = 20_000  # that are read at a time
_LARGEST_INDEX = 2**31 - 1
TARGET = "label"
_SIGNS = {"+1", "-1", "0"}
EXACT = 2**24  # float32 rounds larger whole numbers


def is_svmlight(head: str) -> bool:
    """Return True if the first lines of a text hold index:value pairs, most with a label in front.

    A line without a label has two or more pairs, with increasing indices from the second one on.
    """
    lines = [line for line in head.splitlines()[:_SNIFFED_LINES] if line.strip() and line[0] != "#"]
    n = 0
    for line in lines:
        pairs = line.split("#")[0].split()[1:] if _PAIRS.fullmatch(line) else []
        indices = [int(pair.partition(":")[0]) for pair in pairs]
        n += bool(_LINE.fullmatch(line)) or (bool(indices) and all(one < other for one, other in pairwise(indices)))
    return n > len(lines) / 2 and not _is_table(lines)


def _is_table(lines: Sequence[str]) -> bool:
    """Return True for names above the rows, and for times of day throughout, some of them such as 10:05."""
    first, *others = (line.split("#")[0].split() for line in lines)
    if others and len(first) == len(others[0]) and ":" not in lines[0] and as_number(first[0]) is None:
        return True
    pairs = [word for own in (first, *others) for word in own if ":" in word]
    return any(":0" in pair for pair in pairs) and all(map(_TIME.fullmatch, pairs))


def zero_is_unlabeled(sources: Iterable[Source]) -> bool:
    """Return True if the labels of all files are +1, -1 and 0, with the plus sign: SVMlight's 0 means unlabeled."""
    found: set[str] = set()
    for source in sources:
        with source.open() as stream:
            for line in stream:
                found.update(line.decode("utf-8-sig", "replace").split("#")[0].split(maxsplit=1)[:1])
                if not found <= _SIGNS:
                    return False
    return len(found) == len(_SIGNS)


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of the text: the label and the line of each, and the values at the indices of the file."""

    labels: NDArray
    lines: NDArray[np.int64]
    values: sparse.csr_matrix
    file: str
    has_queries: bool = False

    def frame(self, base: int, width: int, dtype: DTypeLike) -> pd.DataFrame:
        """Return the rows as a table of columns x1, x2, .. and the label."""
        given = self.values
        dense = sparse.csr_matrix((given.data, given.indices - base, given.indptr), (len(self.labels), width))
        table = pd.DataFrame(dense.astype(dtype).toarray(), columns=[f"x{j + 1}" for j in range(width)], copy=False)
        return pd.concat([table, pd.Series(self.labels, name=TARGET)], axis=1)


def pieces_of(source: Source) -> Iterator[Piece]:
    """Yield the rows of a text in pieces; raise `DataError` for the first line that is not a label and index:value pairs."""
    bare = ((number, line.partition("#")[0].strip()) for number, line in enumerate(lines_of(source, "utf-8"), start=1))
    kept = ((number, line) for number, line in bare if line)
    while some := list(islice(kept, LINES)):
        text = "\n".join(line for _, line in some)
        try:
            if "_" in text:
                raise ValueError("a number holds an underscore")  # Python would read it
            given = io.BytesIO(text.encode())
            values, labels = load_svmlight_file(given, n_features=_LARGEST_INDEX, dtype=np.float64, zero_based=True)
        except (ValueError, OverflowError) as error:
            raise DataError(_blame(some, error)) from None
        yield Piece(labels, np.array([number for number, _ in some]), values, source.name, "qid:" in text)


def pieces_of_all(sources: Sequence[Source], read: Callable[[Source], Iterable[Any]] = pieces_of) -> Iterator[Any]:
    """Yield the rows of some texts in pieces; if there are several, errors name the file."""
    for source in sources:
        with named(source.name if len(sources) > 1 else ""):
            yield from read(source)


def read_svmlight(
    sources: Sequence[Source], limits: Limits, first: int | None = None, d: int | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the points of one or several files, as columns x1, x2, .., and their labels; and notes.

    By default the first index is 0 if it occurs, else 1, and the largest index tells the number d of columns.
    """
    limits.check_unpacked(sum(source.size for source in sources))
    found, n, ends = list[Piece](), 0, Ends()
    for piece in pieces_of_all(sources):
        found.append(piece)
        n += len(piece.labels)
        limits.check_rows(n)
        ends.add(piece)
    if not found:
        raise DataError("the file has no rows")
    base, width = ends.checked(limits, first, d)
    limits.check_points(n, width)
    table = pd.concat([piece.frame(base, width, ends.dtype) for piece in found], ignore_index=True)
    table.attrs = {"first_index": base, "n_indices": width}  # for files that the model predicts
    notes = ["The ids of queries (qid) are left out."] * any(piece.has_queries for piece in found)
    if keys := dict.fromkeys(name for source in sources for name in source.keys):
        notes.append(f"LIBSVM text has no names, so columns in the names of folders are left out: {listed(keys)}.")
    return table, notes


class Ends:
    """The least and the largest index of all rows so far, each with the first file and line, and the largest value."""

    def __init__(self) -> None:
        self.low, self.high, self.largest = (2**62, ""), (-1, ""), 0.0

    def add(self, piece: Piece) -> None:
        """Look at more rows."""
        if piece.values.nnz:
            indices, ends = piece.values.indices, piece.values.indptr[1:]
            places = indices.argmin(), indices.argmax()
            lines = (piece.lines[np.searchsorted(ends, i, side="right")] for i in places)
            low, high = ((int(indices[i]), f"{piece.file}: line {n}") for i, n in zip(places, lines, strict=True))
            self.low, self.high = min(self.low, low, key=itemgetter(0)), max(self.high, high, key=itemgetter(0))
            self.largest = max(self.largest, float(np.abs(piece.values.data).max()))

    @property
    def dtype(self) -> DTypeLike:
        """The type that holds the values: float32 rounds large whole numbers."""
        return np.float64 if self.largest > EXACT else np.float32

    def checked(self, limits: Limits, first: int | None = None, d: int | None = None) -> tuple[int, int]:
        """Return the first index and the number of columns; raise `DataError` if they are not those of the training file."""
        if self.high[0] < 0:
            raise DataError("no row has any index:value pair")
        base = min(self.low[0], 1) if first is None else first
        if self.low[0] < base:
            raise DataError(
                f"{self.low[1]} has the index {self.low[0]}, and the first index of the training file is {base}"
            )
        high, line = self.high
        width = high + 1 - base
        if d is not None and width > d:
            raise DataError(f"{line} has the index {high}, and the largest of the training file is {d - 1 + base}")
        if width > limits.columns:
            raise DataError(f"an index must be at most {limits.columns}, got {high} ({line}): rows would be too wide")
        return base, width if d is None else d


def _blame(lines: list[tuple[int, str]], error: BaseException) -> str:
    """Return the first line that is not a label and index:value pairs, and its fault."""
    for number, line in lines:
        first, *pairs = line.split()
        if as_number(first) is None:
            remedy = ": number the classes"
            if ":" in first:
                remedy = ", an index:value pair: write the label before it, or leave out a weight after the label"
            elif "," in first:
                remedy = ", several labels: keep one of them, or make a file for each label"
            return f"line {number} must begin with one number as its label, got {quoted(first)}{remedy}"
        previous = -1
        for pair in pairs:
            index, colon, value = pair.partition(":")
            if index == "qid":
                continue
            if not colon or as_number(value) is None:
                comma = ": write its decimal comma as a point" * (as_number(value.replace(",", ".", 1)) is not None)
                return f"line {number} must hold index:value pairs, got {quoted(pair)}{comma}"
            if not index.isdigit() or len(index) > 10 or int(index) > _LARGEST_INDEX:
                return f"line {number} must have whole indices between 0 and {_LARGEST_INDEX}, got {quoted(index)}"
            if int(index) <= previous:
                return f"line {number} must have increasing indices, got {quoted(index)} after {previous}"
            previous = int(index)
    return f"the file cannot be read as LIBSVM text: {reason_of(error)}"
