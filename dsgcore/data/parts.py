"""Rows that are read when they are needed: parts one after the other, and the array of points that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import readable
from dsgcore.data.reading.features import SAMPLE

# Progress callback: called after each part with its name, the number of parts read, and the number of all parts.
Callback = Callable[[str, int, int], object]


@dataclass(frozen=True)
class Part:
    """Rows that are read together: an array, a row group of a file, a partition, or a whole table.

    `read` returns some columns (of an array all) at ascending rows of the part, None: all rows.
    """

    name: str
    n: int
    read: Callable[[Sequence[str], NDArray | None], Any]


class Parts:
    """Parts, one after the other; `callback` is told of each that has been read."""

    def __init__(self, parts: Sequence[Part], callback: Callback | None) -> None:
        self.parts, self.callback = parts, callback
        self.starts = np.cumsum([0, *(part.n for part in parts)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def called(self, number: int) -> str:
        """Return a part's number, counted from 1, and its name."""
        return f"part {number + 1} of {len(self.parts)} ({self.parts[number].name})"

    def read(
        self, names: Sequence[str] = (), rows: NDArray | None = None, doing: str = ""
    ) -> Iterator[tuple[int, NDArray | None, Any]]:
        """Yield the number, the own rows and the contents of each part that holds some of ascending rows (None: all)."""
        edges = self.starts if rows is None else np.searchsorted(rows, self.starts)
        touched = [
            number for number, part in enumerate(self.parts) if rows is None or edges[number] < edges[number + 1]
        ]
        for done, number in enumerate(touched, start=1):
            own = None if rows is None else rows[edges[number] : edges[number + 1]] - self.starts[number]
            with readable(f"the {doing}{self.called(number)}" if doing else self.called(number)):
                contents = self.parts[number].read(names, own)
            yield number, own, contents
            if self.callback is not None:
                self.callback(f"{doing}{self.parts[number].name}", done, len(touched))


class Rows:
    """An (n, d) out-of-core array, whose rows are read when they are needed. Make one with `rows_of`.

    Attributes
    ----------
    dtype : numpy dtype
        The type of indexed points: float32 or float64.
    names : tuple of str or None
        The features' names, if the source has names.
    notes : tuple of str
        Sentences about the columns and the labels.
    guesses : tuple of str
        The notes that record a guess: an index found by its name and values, words read as missing, rows that are left out.
    """

    ndim = 2

    def __init__(self, parts: Parts, d: int, dtype: np.dtype, names: tuple[str, ...] | None = None) -> None:
        self.dtype, self.names, self.notes, self.guesses = dtype, names, tuple[str, ...](), tuple[str, ...]()
        self._parts, self._d, self._read_as = parts, d, dtype
        self._numbers: NDArray | None = None
        # Pre-fetched points by ascending row, which copies of this array share.
        self._ahead = {"rows": np.empty(0, dtype=np.int64), "points": np.empty((0, d))}

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and the number of features."""
        return len(self._parts if self._numbers is None else self._numbers), self._d

    def __len__(self) -> int:
        return self.shape[0]

    def astype(self, dtype: DTypeLike) -> Self:
        """Return the same rows in another precision."""
        other = copy(self)
        other.dtype = np.dtype(dtype)
        return other

    def taken(self, rows: NDArray) -> Self:
        """Return a lazy array of some of the rows, in this order; reads nothing."""
        other = copy(self)
        other._numbers = self._row_numbers(rows)
        return other

    def sample(self) -> NDArray:
        """Return all rows, or 65,536 evenly spread rows if there are more."""
        return self[evenly_spread(len(self), SAMPLE)]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        return np.asarray(self[:], dtype=dtype)

    def __getitem__(self, key: Any) -> NDArray:
        if isinstance(key, int | np.integer):
            return self[[key]][0]
        rows = self._row_numbers(key)
        if (places := self._places_ahead(rows)) is not None:
            return _in_precision(self._ahead["points"][places], self.dtype)
        different, inverse = np.unique(rows, return_inverse=True)
        return _in_precision(self._read(different)[inverse], self.dtype)

    def read_ahead(self, rows: NDArray) -> None:
        """Pre-fetch these rows, in one pass over the parts that hold them."""
        rows = np.unique(self._row_numbers(rows))
        if self._places_ahead(rows) is None:
            self._ahead |= {"points": self._read(rows), "rows": rows}

    def _places_ahead(self, rows: NDArray) -> NDArray | None:
        """Return the positions of pre-fetched points, or None if one of them was not pre-fetched."""
        ahead = self._ahead["rows"]
        places = np.searchsorted(ahead, rows)
        is_here = places < len(ahead)
        is_here[is_here] = ahead[places[is_here]] == rows[is_here]
        return places if is_here.all() else None

    def pieces(self, rows: NDArray, size: int) -> Iterator[NDArray]:
        """Yield the points at ascending `rows` in pieces, in one pass over the parts that hold them."""
        numbers = self._row_numbers(rows)
        if self._places_ahead(numbers) is not None:
            yield from (self[rows[start : start + size]] for start in range(0, len(rows), size))
            return
        waiting = np.empty((0, self._d), dtype=self.dtype)
        for points in self._take(numbers):
            own = _in_precision(points, self.dtype)
            waiting = np.concatenate([waiting, own]) if len(waiting) else own
            whole = len(waiting) // size * size
            yield from (waiting[start : start + size] for start in range(0, whole, size))
            waiting = waiting[whole:]
        if len(waiting):
            yield waiting

    def _read(self, rows: NDArray) -> NDArray:
        points, start = np.empty((len(rows), self._d), dtype=self._read_as), 0
        for piece in self._take(rows):
            points[start : start + len(piece)] = piece
            start += len(piece)
        return points

    def _take(self, rows: NDArray) -> Iterator[NDArray]:
        """Yield the points at ascending rows, part after part; raise `DataError` for one that is not finite."""
        for number, own, contents in self._parts.read((), rows):
            assert own is not None
            called = self._parts.called(number)
            with readable(called), np.errstate(over="ignore"):
                points = np.ascontiguousarray(contents, dtype=self._read_as)
            if points.shape != (len(own), self._d):
                raise DataError(f"{called} must give {len(own)} rows of {self._d} numbers, got {points.shape}")
            if not np.isfinite(points).all():
                row, column = np.argwhere(~np.isfinite(points))[0]
                bad = f"a number that is infinite, or too large for {points.dtype}, and must be corrected,"
                if np.isnan(points[row, column]):
                    bad = "NaN, a missing number (train with missing='mean' or `fit --missing mean` to replace it),"
                name = str(column + 1) if self.names is None else repr(self.names[column])
                raise DataError(f"{called} holds {bad} at its row {own[row] + 1}, column {name}")
            yield points

    def _row_numbers(self, key: Any) -> NDArray:
        """Return the row numbers of a slice, a mask or numbers, as NumPy reads them; raise IndexError if one is out of range."""
        n = len(self)
        rows = np.arange(*key.indices(n)) if isinstance(key, slice) else np.asarray(key)
        rows = rows if rows.size else np.zeros(rows.shape, dtype=np.int64)  # of no type: no rows
        if isinstance(key, tuple) or rows.dtype.kind not in "biu":
            raise IndexError("an index must be a slice, a mask or whole numbers for rows; all columns are returned")
        if rows.dtype == bool:
            if rows.shape != (n,):
                raise IndexError(f"a mask of rows must have the shape ({n},), got {rows.shape}")
            rows = np.flatnonzero(rows)
        is_outside = (rows < -n) | (rows >= n)
        if is_outside.any():
            raise IndexError(f"row {rows[is_outside][0]} is out of bounds for {n} rows")
        rows = rows.astype(np.int64, copy=False)
        rows = np.where(rows < 0, rows + n, rows)
        return rows if self._numbers is None else self._numbers[rows]


def _in_precision(X: NDArray, dtype: np.dtype) -> NDArray:
    """Return points in another precision, C-contiguous; raise DataError if a number is too large for it."""
    with np.errstate(over="ignore"):
        points = np.ascontiguousarray(X, dtype=dtype)
    if dtype.itemsize < X.dtype.itemsize and not np.isfinite(points).all():
        raise DataError(
            f"X must hold numbers of size {np.finfo(dtype).max:.3g} at most for {dtype}, got larger ones: scale the points"
        )
    return points
