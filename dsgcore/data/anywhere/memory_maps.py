"""Parts that are arrays of their own: a list of memory maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.data.anywhere.parts import Reader, Tell
from dsgcore.data.datasets import DataError


@dataclass
class ArrayPart:
    """An array of shape (n, d), in memory or mapped."""

    X: NDArray
    name: str

    def __len__(self) -> int:
        return len(self.X)

    def points(self, rows: NDArray) -> NDArray:
        """Return the points at some rows."""
        return np.asarray(self.X[rows])


def is_arrays(X: Any) -> bool:
    """Whether it is a list of arrays of points."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(a, np.ndarray) and a.ndim == 2 for a in X)


def reader_of_arrays(arrays: Sequence[NDArray], tell: Tell) -> tuple[Reader, np.dtype]:
    """Return what reads them, and the type of their numbers."""
    d = arrays[0].shape[1]
    parts = [ArrayPart(X, str(getattr(X, "filename", None) or "an array")) for X in arrays]
    for number, X in enumerate(arrays, start=1):
        if X.shape[1] != d:
            raise DataError(f"array {number} must have {d} columns as the first one, got {X.shape[1]}")
    return Reader(parts, d, None, tell), np.result_type(*arrays)
