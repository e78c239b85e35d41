"""Points that lie elsewhere, behind the few things that an array is asked for: a shape, and rows by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dsgcore.core.features import in_precision
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.anywhere.parts import Reader
from dsgcore.data.anywhere.preparation import Preparation

# What follows from the data as a whole (a kernel's "scale") follows from so many rows at most, evenly spread.
SAMPLE = 65_536


class _Held:
    """Points that have been read ahead, by ascending row."""

    def __init__(self, d: int) -> None:
        self.rows, self.points = np.empty(0, dtype=np.int64), np.empty((0, d))

    def places(self, rows: NDArray) -> NDArray | None:
        """Return where these rows' points are; None where one of them is not here."""
        places = np.searchsorted(self.rows, rows)
        is_here = places < len(self.rows)
        is_here[is_here] = self.rows[places[is_here]] == rows[is_here]
        return places if is_here.all() else None


class Rows:
    """An (n, d) array whose rows are read when they are asked for; `rows_of` makes it.

    Attributes
    ----------
    shape : (n, d)
    dtype : numpy dtype
        Of what indexing gives: float32 or float64.
    names : tuple of str or None
        The coordinates' names, where they have some.
    parts_read : int
        How often a part has been read.
    """

    ndim = 2

    def __init__(self, reader: Reader, dtype: np.dtype) -> None:
        self.names, self.dtype, self._own = reader.names, dtype, dtype
        self._reader, self._held = reader, _Held(reader.d)
        self._numbers: NDArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of coordinates."""
        return len(self._reader) if self._numbers is None else len(self._numbers), self._reader.d

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def preparation(self) -> Preparation | None:
        """What is done to every row; None: nothing."""
        return self._reader.preparation

    @property
    def parts_read(self) -> int:
        """How often a part has been read."""
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

    def taken(self, rows: NDArray) -> Self:
        """Return an array of some of the rows, in this order, of which none is read."""
        other = copy(self)
        other._numbers = rows if self._numbers is None else self._numbers[rows]
        return other

    def sample(self) -> NDArray:
        """Return all rows, or where there are more than 65,536 so many of them, evenly spread."""
        return self[evenly_spread(len(self), SAMPLE)]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        return np.asarray(self[:], dtype=dtype)

    def __getitem__(self, key: Any) -> NDArray:
        rows = self._row_numbers(key)
        places = self._held.places(rows)
        if places is not None:
            return in_precision(self._held.points[places], self.dtype)
        different, inverse = np.unique(rows, return_inverse=True)
        return in_precision(self._read(different)[inverse], self.dtype)

    def read_ahead(self, rows: NDArray) -> None:
        """Read these rows in one pass over the parts that hold them, and keep them."""
        rows = np.unique(self._row_numbers(rows))
        if self._held.places(rows) is None:
            self._held.points, self._held.rows = self._read(rows), rows

    def pieces(self, rows: NDArray, size: int) -> Iterator[NDArray]:
        """Yield the points at ascending `rows`, so many at a time, in one pass over the parts that hold them."""
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
        """Return the numbers of the rows that a slice, a mask or numbers mean."""
        if isinstance(key, slice):
            rows = np.arange(*key.indices(len(self)))
        else:
            rows = np.flatnonzero(key) if np.asarray(key).dtype == bool else np.asarray(key, dtype=np.int64)
        return rows if self._numbers is None else self._numbers[rows]
