"""Sparse text of LIBSVM and SVMlight, made dense: a label, then index:value pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
from numpy.typing import DTypeLike, NDArray
from pyarrow import compute

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import as_number, reason_of
from dsgcore.data.reading.parse import lines_of
from dsgcore.data.reading.recipe import Limits
from dsgcore.data.reading.sources import Source
from dsgcore.data.reading.unlabeled import INEXACT

# Lines with mistakes match, too: the reader reports them.
_LINE = re.compile(r"\s*[^\s:]+(\s+qid:\d+)?(\s+-?\d+:[^\s,;:]*)+\s*(#.*)?")
_PAIRS = re.compile(r"\s*\d{1,10}:[^\s,;:]+(\s+\d{1,10}:[^\s,;:]+)+\s*(#.*)?")
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
        indices = (
            [int(word.partition(":")[0]) for word in line.split("#")[0].split()[1:]] if _PAIRS.fullmatch(line) else []
        )
        n += bool(_LINE.fullmatch(line)) or (bool(indices) and all(one < other for one, other in pairwise(indices)))
    return n > len(lines) / 2


def zero_is_unlabeled(source: Source) -> bool:
    """Return True if the labels are +1, -1 and 0, with the plus sign: SVMlight's 0 means unlabeled."""
    found: set[str] = set()
    with source.open() as stream:
        for line in stream:
            found.update(line.decode("utf-8-sig", "replace").split("#")[0].split(maxsplit=1)[:1])
            if not found <= _SIGNS:
                return False
    return len(found) == len(_SIGNS)


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of the text: the label and the line of each; and the row, the index and the value of each pair."""

    labels: NDArray
    lines: NDArray[np.int64]
    rows: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float64]

    def frame(self, base: int, width: int, dtype: DTypeLike) -> pd.DataFrame:
        """Return the rows as a table of columns x1, x2, .. and the label."""
        dense = np.zeros((len(self.labels), width), dtype=dtype)
        dense[self.rows, self.indices - base] = self.values
        table = pd.DataFrame(dense, columns=[f"x{j + 1}" for j in range(width)], copy=False)
        return pd.concat([table, pd.Series(self.labels, name=TARGET)], axis=1)


def pieces_of(source: Source) -> Iterator[Piece]:
    """Yield the rows of a text in pieces; raise `DataError` for the first line that is not a label and index:value pairs."""
    line, given = 1, lines_of(source, "utf-8")
    while some := list(islice(given, LINES)):
        lines = compute.replace_substring_regex(pyarrow.array(some, pyarrow.large_string()), r"#[^\r\n]*", "")
        lines = compute.ascii_trim_whitespace(lines)
        kept = np.flatnonzero(compute.not_equal(lines, "").to_numpy(zero_copy_only=False))
        if len(kept):
            yield _parsed(lines.take(pyarrow.array(kept)), kept + line)
        line += len(some)


def read_svmlight(
    source: Source, limits: Limits, first: int | None = None, d: int | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the points, as columns x1, x2, .., and their labels; and notes.

    Parameters
    ----------
    source : Source
    limits : Limits
    first : {0, 1}, optional
        The first index. By default 0 if it occurs, else 1.
    d : int, optional
        The number of columns. By default the largest index tells.
    """
    limits.check_unpacked(source.size)
    found, n, ends = list[Piece](), 0, Ends()
    for piece in pieces_of(source):
        found.append(replace(piece, rows=piece.rows + n))
        n += len(piece.labels)
        limits.check_rows(n)
        ends.add(piece)
    if not found:
        raise DataError("the file has no rows")
    base, width = ends.checked(limits, first, d)
    limits.check_points(n, width)
    whole = Piece(*(np.concatenate([getattr(one, own.name) for one in found]) for own in fields(Piece)))
    table = whole.frame(base, width, ends.dtype)
    table.attrs = {"first_index": base, "n_indices": width}  # for files that the model predicts
    return table, []


class Ends:
    """The least and the largest index of all rows so far, each with its first line, and the largest value."""

    def __init__(self) -> None:
        self.low, self.high, self.largest = (2**62, 0), (-1, 0), 0.0
        self.has_large_labels = False  # that floats would round

    def add(self, piece: Piece) -> None:
        """Look at more rows."""
        self.has_large_labels |= piece.labels.dtype == object
        if len(piece.indices):
            places = piece.indices.argmin(), piece.indices.argmax()
            low, high = ((int(piece.indices[place]), int(piece.lines[piece.rows[place]])) for place in places)
            self.low, self.high = min(self.low, low), max(self.high, high, key=lambda end: end[0])
            self.largest = max(self.largest, float(np.abs(piece.values).max()))

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
                f"line {self.low[1]} has the index {self.low[0]}, and the first index of the training file is {base}"
            )
        high, line = self.high
        width = high + 1 - base
        if d is not None and width > d:
            raise DataError(f"line {line} has the index {high}, and the largest of the training file is {d - 1 + base}")
        if width > limits.columns:
            raise DataError(
                f"an index must be at most {limits.columns}, got {high} in line {line}: the points would be too wide"
            )
        return base, width if d is None else d


def _parsed(lines: Any, numbers: NDArray) -> Piece:
    words = compute.ascii_split_whitespace(lines)
    starts, flat = np.asarray(words.offsets), words.flatten()
    is_label = np.zeros(len(flat), dtype=bool)
    is_label[starts[:-1]] = True
    is_qid = compute.starts_with(flat, "qid:").to_numpy(zero_copy_only=False)
    kept = np.flatnonzero(~is_label & ~is_qid)
    rows = np.repeat(np.arange(len(lines)), np.diff(starts))[kept]
    pairs = flat.take(pyarrow.array(kept))
    try:
        labels = _labels(flat.take(pyarrow.array(starts[:-1])))
        parts = compute.split_pattern(pairs, ":", max_splits=1)
        halves = parts.flatten()
        if len(halves) != 2 * len(pairs):
            raise pyarrow.ArrowInvalid("a pair has no colon")
        place = np.arange(len(pairs))
        indices = halves.take(pyarrow.array(2 * place)).cast(pyarrow.int64()).to_numpy()
        values = _numbers(halves.take(pyarrow.array(2 * place + 1)))
    except pyarrow.ArrowInvalid as error:
        raise DataError(_blame(lines, numbers, error)) from None
    same_row = rows[1:] == rows[:-1]
    if (same_row & (np.diff(indices) <= 0)).any() or (
        len(indices) and not 0 <= indices.min() <= indices.max() <= _LARGEST_INDEX
    ):
        raise DataError(_blame(lines, numbers, ValueError("its indices are not in order")))
    return Piece(labels, numbers, rows, indices, values)


def _numbers(words: Any) -> NDArray[np.float64]:
    words = compute.replace_substring_regex(words, r"^\+([\d.])", r"\1")
    numbers: NDArray[np.float64] = words.cast(pyarrow.float64()).to_numpy()
    return numbers


def _labels(words: Any) -> NDArray:
    """Return labels as numbers; as whole numbers in an object array if they are too large for exact floats."""
    numbers = _numbers(words)
    if not (np.abs(numbers) >= INEXACT).any():
        return numbers
    exact = [int(word) if word.lstrip("+-").isdigit() else float(word) for word in words.to_pylist()]
    return np.array(exact, dtype=object)


def _blame(lines: Any, numbers: NDArray, error: BaseException) -> str:
    """Return the first line that is not a label and index:value pairs, and its fault."""
    for number, line in zip(numbers, lines, strict=True):
        first, *pairs = line.as_py().split()
        if as_number(first) is None:
            remedy = ": number the classes"
            if ":" in first:
                remedy = ", an index:value pair: the label is missing, so write one before it"
            elif "," in first:
                remedy = ", several labels: keep one of them, or make a file for each label"
            return f"line {number} must begin with one number as its label, got {quoted(first)}{remedy}"
        previous = -1
        for pair in pairs:
            index, colon, value = pair.partition(":")
            if index == "qid":
                continue
            if not colon or as_number(value) is None:
                return f"line {number} must hold index:value pairs, got {quoted(pair)}"
            if not index.isdigit() or len(index) > 10 or int(index) > _LARGEST_INDEX:
                return f"line {number} must have whole indices between 0 and {_LARGEST_INDEX}, got {quoted(index)}"
            if int(index) <= previous:
                return f"line {number} must have increasing indices, got {quoted(index)} after {previous}"
            previous = int(index)
    return f"the file cannot be read as LIBSVM text: {reason_of(error)}"
