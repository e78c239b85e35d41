"""NumPy's `.npz` archives, as arrays or as tables: the columns of X, and each array with one value per row.

Nothing is ever unpickled. The unpacked size of the arrays is checked before memory is taken; `numpy.load` does not do
that.
"""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import column_names, listed, printable
from dsgcore.data.reading.sources import Piece, Source

POINTS, LABELS = "X", "y"
# Exceptions of numpy and zipfile for broken, encrypted, mislabelled or absurdly large members.
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)
_UNREADABLE = (*_DAMAGED, MemoryError, OverflowError, RuntimeError, SyntaxError, TypeError, ValueError)


def read_arrays(source: Source, limits: Limits, *wanted: str) -> dict[str, NDArray]:
    """Unpack the named arrays of an archive, or all of them. X of shape (n, d) must be among them."""
    with source.open() as stream:
        content = stream.read()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise DataError("the file must be an .npz archive of arrays, and this one is not a zip archive")
    try:
        archive = np.load(io.BytesIO(content), allow_pickle=False)
    except _UNREADABLE as error:
        raise DataError("the .npz archive is damaged: its table of contents cannot be read") from error
    with archive:
        # Another kind of archive may hold an X as well. If the caller names X, the error says that it is not an array.
        members = [info for info in archive.zip.infolist() if wanted or info.filename.endswith(".npy")]
        sizes = {info.filename.removesuffix(".npy"): info.file_size for info in members}
        for name in wanted or (POINTS,):
            if name not in sizes:
                given = listed(sorted(sizes)) or "nothing"
                raise DataError(f"the file must hold an array {quoted(name)}, and it holds {given}")
        names = wanted or tuple(sizes)
        limits.check_unpacked(sum(sizes[name] for name in names), "the archive")
        arrays = {name: _array(archive, name) for name in names}
    X = arrays[POINTS]
    if X.ndim != 2 or X.size == 0:
        raise DataError(f"X must have shape (n, d) with at least one row and one column, got {X.shape}")
    if X.dtype.kind not in "biuf":
        raise DataError(f"X must hold real numbers, got the type {printable(str(X.dtype))}")
    return arrays


def _array(archive: Any, name: str) -> NDArray:
    """Unpack one array of an archive without loading any Python objects."""
    try:
        array = archive[name]
    except _UNREADABLE as error:
        if "pickle" in str(error) or "Object arrays" in str(error):
            objects = "holds Python objects (a pickle), which are never loaded: save plain numbers"
            raise DataError(f"array {quoted(name)} {objects}") from error
        raise DataError(f"array {quoted(name)} cannot be read: the archive is damaged") from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"{quoted(name)} must be a NumPy array (a member .npy), and it is another kind of file")
    return array


def read_archive(source: Source, limits: Limits) -> Iterator[Piece]:
    """Yield the table, in one piece."""
    arrays = read_arrays(source, limits)
    X = arrays.pop(POINTS)
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


def _as_column(name: str, array: NDArray, n: int) -> NDArray | None:
    if array.ndim != 1 or array.dtype.kind not in "biufUS" or (len(array) != n and name != LABELS):
        return None
    if len(array) != n:
        raise DataError(f"{name} must have shape ({n},), one value for each row of X, got {array.shape}")
    return array.astype(object) if array.dtype.kind == "U" else np.asarray(array)
