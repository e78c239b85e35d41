"""NumPy's `.npz` archives as tables: the array X by its columns, and every array with a value for each row."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.data.datasets import DataError
from dsgcore.data.files import read_array
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import column_names, listed
from dsgcore.data.reading.sources import Source

POINTS, LABELS = "X", "y"


def read_archive(source: Source, limits: Limits) -> Iterator[tuple[pd.DataFrame, list[str]]]:
    """Yield the table, in one piece."""
    with source.open() as stream:
        content = stream.read()
    arrays = {name: read_array(content, name) for name in _checked_names(source, limits)}
    X = arrays.pop(POINTS)
    if X.ndim != 2 or X.size == 0:
        raise DataError(f"X must have shape (n, d) with at least one row and one column, got {X.shape}")
    if X.dtype.kind not in "biuf":
        raise DataError(f"X must hold real numbers, got the type {X.dtype}")
    n, d = X.shape
    limits.check_rows(n)
    limits.check_points(n, d)
    names = [f"x{j + 1}" for j in range(d)]
    others = {name: column for name, array in arrays.items() if (column := _as_column(name, array, n)) is not None}
    names, notes = column_names([*names, *others])
    frame = pd.DataFrame(X, copy=False)
    for number, column in enumerate(others.values()):
        frame[d + number] = column
    frame.columns = pd.Index(names)
    left = [name for name in arrays if name not in others]
    if left:
        notes.append(f"Arrays of the archive that have no value for each row are left out: {listed(left)}.")
    yield frame, notes


def _checked_names(source: Source, limits: Limits) -> list[str]:
    """Return the names of the arrays; X must be among them, and together they must not unpack to too much."""
    with source.open() as stream, zipfile.ZipFile(stream) as archive:
        sizes = {
            i.filename.removesuffix(".npy"): i.file_size for i in archive.infolist() if i.filename.endswith(".npy")
        }
    if POINTS not in sizes:
        raise DataError(f"the archive must hold an array X (n, d), and it holds {listed(sorted(sizes))}")
    limits.check_unpacked(sum(sizes.values()), "the archive")
    return list(sizes)


def _as_column(name: str, array: NDArray, n: int) -> NDArray | None:
    if array.ndim != 1 or array.dtype.kind not in "biufUS" or (len(array) != n and name != LABELS):
        return None
    if len(array) != n:
        raise DataError(f"{name} must have shape ({n},), one value for each row of X, got {array.shape}")
    return array.astype(object) if array.dtype.kind == "U" else np.asarray(array)
