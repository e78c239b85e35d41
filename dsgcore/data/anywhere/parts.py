"""Parts of a collection of rows: what each must be able to do, and one reader for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.anywhere.preparation import Preparation
from dsgcore.data.datasets import DataError

# What readers of files and workers of clusters raise.
UNREADABLE = (OSError, ValueError, TypeError, KeyError, RuntimeError, MemoryError)
# Is told of every part that has been read: its name, how many parts, of how many.
Tell = Callable[[str, int, int], object]


class Part(Protocol):
    """Rows that are read together: a row group of a file, a partition, a memory map."""

    @property
    def name(self) -> str:
        """What a sentence calls it."""
        ...

    def __len__(self) -> int: ...

    def points(self, rows: NDArray) -> NDArray:
        """Return the points at ascending `rows` of this part, of shape (len(rows), d)."""
        ...


@dataclass
class Reader:
    """Reads points of parts, a part at a time, and says in one sentence what is wrong with one."""

    parts: Sequence[Part]
    d: int
    names: tuple[str, ...] | None
    tell: Tell = lambda name, done, of: None
    preparation: Preparation | None = None
    is_checked: bool = True
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
        try:
            points = part.points(rows)
        except DataError:
            raise
        except UNREADABLE as error:
            raise DataError(f"{self.called(number)} cannot be read: {_sentence(error)}") from None
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
            where = f"row {rows[row]}, column {quoted(self.names[column]) if self.names else column}"
            raise DataError(f"{self.called(number)} holds NaN, or a number too large for {dtype}, at its {where}")
        return points

    def called(self, number: int) -> str:
        """Return what a part is called: its number, from 1, and its name."""
        return f"part {number + 1} of {len(self.parts)} ({self.parts[number].name})"


def _sentence(error: Any) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
