"""Out-of-core points that look like an array (a shape and rows) and are read one part at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dsgcore.core.parameters import quoted
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.datasets import DataError
from dsgcore.data.out_of_core.preparation import Preparation
from dsgcore.data.reading.names import readable
from dsgcore.kernels.features import in_precision

# Values that depend on all rows, such as a kernel's "scale", are estimated from at most this many rows, evenly spread.
SAMPLE = 65_536
# Progress callback: called after each part with its name, the number of parts read, and the number of all parts.
Tell = Callable[[str, int, int], object]


class Part(Protocol):
    """Rows that are read together: a row group of a file, a partition or a memory map."""

    name: str  # name of the part in messages

    def __len__(self) -> int: ...

    def points(self, rows: NDArray) -> NDArray:
        """Return the points at ascending `rows` of this part, of shape (len(rows), d)."""
        ...


@dataclass
class Reader:
    """Reader of points, one part at a time. Its errors name the part and the fault."""

    parts: Sequence[Part]
    d: int
    names: tuple[str, ...] | None
    tell: Tell
    preparation: Preparation | None = None
    is_checked: bool = True
    notes: tuple[str, ...] = ()  # sentences about columns that are left out, and about labels that were read as missing
    guesses: tuple[str, ...] = ()  # the notes that record a guess: the data themselves do not state them
    starts: NDArray = field(init=False)
    reads: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.starts = np.cumsum([0, *map(len, self.parts)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def each(self, rows: NDArray, dtype: np.dtype) -> Iterator[NDArray]:
        """Yield the points at ascending `rows`, part after part."""
        edges = np.searchsorted(rows, self.starts)
        touched = np.flatnonzero(np.diff(edges))
        for done, number in enumerate(map(int, touched), start=1):
            own = rows[edges[number] : edges[number + 1]] - self.starts[number]
            yield self._part(number, own, dtype)
            self.tell(self.parts[number].name, done, len(touched))

    def _part(self, number: int, rows: NDArray, dtype: np.dtype) -> NDArray:
        part = self.parts[number]
        self.reads += 1
        with readable(self.called(number)):
            points = part.points(rows)
        if points.shape != (len(rows), self.d):
            raise DataError(f"{self.called(number)} must give {len(rows)} rows of {self.d} numbers, got {points.shape}")
        return self._checked(number, rows, points, dtype)

    def _checked(self, number: int, rows: NDArray, points: NDArray, dtype: np.dtype) -> NDArray:
        with np.errstate(over="ignore"):
            if self.preparation is not None:
                points = self.preparation.apply(points)
            points = np.ascontiguousarray(points, dtype=dtype)
        is_bad = ~np.isfinite(points)
        if self.is_checked and is_bad.any():
            row, column = np.argwhere(is_bad)[0]
            raise DataError(
                f"{self.called(number)} holds {_bad(points[row, column], dtype)} at its row {rows[row] + 1}, "
                f"column {self.column(int(column))}"
            )
        return points

    def column(self, number: int) -> str:
        """Return a column's name, or its number counted from 1 if it has no name."""
        return str(number + 1) if self.names is None else quoted(self.names[number])

    def called(self, number: int) -> str:
        """Return a part's number, counted from 1, and its name."""
        return f"part {number + 1} of {len(self.parts)} ({self.parts[number].name})"


def _bad(value: float, dtype: np.dtype) -> str:
    """Return the error for an unusable number, with a remedy."""
    if np.isnan(value):
        return "NaN, a missing number (missing='mean' or --missing mean replaces it),"
    return f"a number that is infinite, or too large for {dtype}, and must be corrected,"


class _Held:
    """Pre-fetched points, by ascending row."""

    def __init__(self, d: int) -> None:
        self.rows, self.points = np.empty(0, dtype=np.int64), np.empty((0, d))

    def places(self, rows: NDArray) -> NDArray | None:
        """Return the positions of these rows' points, or None if one of them was not pre-fetched."""
        places = np.searchsorted(self.rows, rows)
        is_here = places < len(self.rows)
        is_here[is_here] = self.rows[places[is_here]] == rows[is_here]
        return places if is_here.all() else None


class Rows:
    """An (n, d) out-of-core array, whose rows are read when they are needed. Make one with `rows_of`.

    Attributes
    ----------
    dtype : numpy dtype
        The type of indexed points: float32 or float64.
    names : tuple of str or None
        The features' names, if the source has names.
    """

    ndim = 2

    def __init__(self, reader: Reader, dtype: np.dtype) -> None:
        self.names, self.dtype, self._own = reader.names, dtype, dtype
        self._reader, self._held = reader, _Held(reader.d)
        self._numbers: NDArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and the number of features."""
        return len(self._reader) if self._numbers is None else len(self._numbers), self._reader.d

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def preparation(self) -> Preparation | None:
        """The preparation of every row; None if rows stay as they are."""
        return self._reader.preparation

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about columns that are left out, and about labels that were read as missing."""
        return self._reader.notes

    @property
    def guesses(self) -> tuple[str, ...]:
        """The notes that record a guess: an index found by its name and values, or words read as missing."""
        return self._reader.guesses

    @property
    def parts_read(self) -> int:
        """The number of times that a part has been read."""
        return self._reader.reads

    def astype(self, dtype: DTypeLike) -> Self:
        """Return the same rows in another precision."""
        other = copy(self)
        other.dtype = np.dtype(dtype)
        return other

    def parts(self) -> list[tuple[str, int]]:
        """Return the name and the number of rows of each part."""
        return [(part.name, len(part)) for part in self._reader.parts]

    def rows_of_part(self, number: int) -> NDArray:
        """Return the numbers of a part's rows."""
        return np.arange(self._reader.starts[number], self._reader.starts[number + 1])

    def column_of_part(self, name: str, number: int) -> Any:
        """Return any column of a part of a Parquet file, as the file holds it; raise `DataError` if there is none."""
        part: Any = self._reader.parts[number]
        if not hasattr(part, "labels") or name not in part.schema.names:
            raise DataError(f"there is no column {name!r} in {part.name}: choose other columns to keep")
        return part.labels(name)

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
        places = self._held.places(rows)
        if places is not None:
            return in_precision(self._held.points[places], self.dtype)
        different, inverse = np.unique(rows, return_inverse=True)
        return in_precision(self._read(different)[inverse], self.dtype)

    def read_ahead(self, rows: NDArray) -> None:
        """Pre-fetch these rows, in one pass over the parts that hold them."""
        rows = np.unique(self._row_numbers(rows))
        if self._held.places(rows) is None:
            self._held.points, self._held.rows = self._read(rows), rows

    def pieces(self, rows: NDArray, size: int) -> Iterator[NDArray]:
        """Yield the points at ascending `rows` in pieces, in one pass over the parts that hold them."""
        numbers = self._row_numbers(rows)
        if self._held.places(numbers) is not None:
            yield from (self[rows[start : start + size]] for start in range(0, len(rows), size))
        else:
            yield from self._passing(numbers, size)

    def _passing(self, numbers: NDArray, size: int) -> Iterator[NDArray]:
        waiting = np.empty((0, self._reader.d), dtype=self.dtype)
        for points in self._reader.each(numbers, self._own):
            own = in_precision(points, self.dtype)
            waiting = np.concatenate([waiting, own]) if len(waiting) else own
            whole = len(waiting) // size * size
            yield from (waiting[start : start + size] for start in range(0, whole, size))
            waiting = waiting[whole:]
        if len(waiting):
            yield waiting

    def _read(self, rows: NDArray) -> NDArray:
        points, start = np.empty((len(rows), self._reader.d), dtype=self._own), 0
        for piece in self._reader.each(rows, self._own):
            points[start : start + len(piece)] = piece
            start += len(piece)
        return points

    def _row_numbers(self, key: Any) -> NDArray:
        """Return the row numbers of a slice, a mask or numbers, as NumPy reads them; raise IndexError if one is out of range."""
        rows = np.arange(*key.indices(len(self))) if isinstance(key, slice) else _counted(key, len(self))
        return rows if self._numbers is None else self._numbers[rows]


def _counted(key: Any, n: int) -> NDArray:
    """Return the row numbers, out of n, of a mask or numbers. Negative numbers count from the end."""
    rows = np.asarray(key) if np.size(key) else np.zeros(np.shape(key), dtype=np.int64)
    if isinstance(key, tuple) or rows.dtype.kind not in "biu":
        raise IndexError("an index must be a slice, a mask or whole numbers for rows; all columns are returned")
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise IndexError(f"a mask of rows must have the shape ({n},), got {rows.shape}")
        return np.flatnonzero(rows)
    is_outside = (rows < -n) | (rows >= n)
    if is_outside.any():
        raise IndexError(f"row {rows[is_outside][0]} is out of bounds for {n} rows")
    rows = rows.astype(np.int64, copy=False)
    return np.where(rows < 0, rows + n, rows) if rows.size and rows.min() < 0 else rows
