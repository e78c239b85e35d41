"""Data from `.npz` files. Nothing is ever unpickled; whatever is wrong with a file is a `DataError`."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError, Dataset

MAX_BYTES = 2**30
MAX_CLASSES = 1000
LARGEST = 1e30  # beyond it, differences and means leave float32's range
_SHOWN = 8
# What numpy and zipfile raise on broken, encrypted, mislabelled or absurdly large members.
_UNREADABLE = (
    ValueError,
    OSError,
    EOFError,
    MemoryError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    TypeError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


def load_npz(
    path: str | os.PathLike[str],
    *,
    positive: int | float | str | None = None,
    is_binary: bool = True,
    target: str = "y",
) -> Dataset:
    """Read a data set from a file with the arrays X (n, d) and y (n,).

    Parameters
    ----------
    path : path
        A file that `numpy.savez` or `numpy.savez_compressed` wrote.
    positive : label or None, default None
        The label that is positive; all others together are negative (one against the rest). None takes the
        largest label, and asks for exactly two. Text is compared with the label as written, so ``"3"`` finds
        the number 3.
    is_binary : bool, default True
        Whether to make a binary task. With False, the labels become the codes 0..K-1 in increasing order.
    target : str, default "y"
        Name of the array that holds the labels.

    Returns
    -------
    Dataset
        Its `sha256` is the digest of the file's bytes.

    Raises
    ------
    DataError
        When the file cannot be read, holds no such arrays, or its values are not usable.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else "it is not a readable file"
        raise DataError(f"cannot read {quoted(file.name)}: {reason}") from error
    return parse_npz(content, name=file.stem, positive=positive, is_binary=is_binary, target=target)


def parse_npz(
    content: bytes,
    *,
    name: str,
    positive: int | float | str | None = None,
    is_binary: bool = True,
    target: str = "y",
    max_bytes: int = MAX_BYTES,
) -> Dataset:
    """Read a data set from a file's bytes, for instance those of an upload.

    Parameters
    ----------
    content : bytes
    name : str
        Name of the data set.
    positive, is_binary, target
        As in `load_npz`.
    max_bytes : int, default 1 GiB
        Largest size of one unpacked array; a small file can claim to hold a huge one.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        As in `load_npz`.
    """
    X, labels = _read_arrays(content, ("X", target), max_bytes)
    X = _checked_points(X)
    y, class_names = _coded(_checked_labels(labels, target, len(X)), target, positive, is_binary)
    return Dataset(
        name=name,
        X=X,
        y=y,
        feature_names=tuple(f"x{j + 1}" for j in range(X.shape[1])),
        class_names=class_names,
        source=f"file {name}.npz",
        licence="not stated",
        sha256=hashlib.sha256(content).hexdigest(),
    )


def _read_arrays(content: bytes, names: tuple[str, str], max_bytes: int) -> list[NDArray]:
    """Unpack the named arrays and no others."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise DataError("the file must be an .npz archive of arrays, and this one is not a zip archive")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            sizes = {info.filename.removesuffix(".npy"): info.file_size for info in archive.infolist()}
    except _UNREADABLE as error:
        raise DataError("the .npz archive is damaged: its table of contents cannot be read") from error
    for name in names:
        if name not in sizes:
            raise DataError(f"the file must hold an array {quoted(name)}, and it holds {_shown(sorted(sizes))}")
        if sizes[name] > max_bytes:
            raise DataError(f"array {quoted(name)} must unpack to at most {max_bytes} bytes, got {sizes[name]}")
    return [read_array(content, name) for name in names]


def read_array(content: bytes, name: str) -> NDArray:
    """Unpack one array of an archive, without ever loading Python objects."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            array = arrays[name]
    except _UNREADABLE as error:
        if "pickle" in str(error) or "Object arrays" in str(error):
            message = (
                f"array {quoted(name)} holds Python objects (a pickle), which are never loaded: save plain numbers"
            )
            raise DataError(message) from error
        raise DataError(f"array {quoted(name)} cannot be read: the archive is damaged") from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"{quoted(name)} must be a NumPy array (a member {name}.npy), and it is another kind of file")
    return array


def _checked_points(X: NDArray) -> NDArray[np.float32]:
    if X.ndim != 2 or X.size == 0:
        raise DataError(f"X must have shape (n, d) with at least one row and one column, got {X.shape}")
    if X.dtype.kind not in "biuf":
        raise DataError(f"X must hold real numbers, got the type {X.dtype}")
    with np.errstate(over="ignore"):
        points = np.ascontiguousarray(X, dtype=np.float32)
    # One pass in the usual case; NaN fails both comparisons.
    if not (points.max() <= LARGEST and points.min() >= -LARGEST):
        i, j = np.argwhere(~(np.abs(points) <= LARGEST))[0]
        where = f"row {i}, column {j} (counted from 0)"
        raise DataError(f"X must be finite and at most {LARGEST:g} in size, got {X[i, j]} in {where}")
    return points


def _checked_labels(labels: NDArray, target: str, n: int) -> NDArray:
    if labels.shape != (n,):
        raise DataError(f"{target} must have shape ({n},), one label for each row of X, got {labels.shape}")
    if labels.dtype.kind not in "biufU":
        raise DataError(f"{target} must hold whole numbers or text, got the type {labels.dtype}")
    if labels.dtype.kind == "b":
        return labels.astype(np.int64)
    if labels.dtype.kind != "f":
        return labels
    is_whole = np.isfinite(labels) & (labels == np.round(labels)) & (np.abs(labels) < 2**53)
    if not is_whole.all():
        i = int(np.argmin(is_whole))
        raise DataError(f"{target} must hold whole numbers or text, got {labels[i]} in row {i} (counted from 0)")
    return labels.astype(np.int64)


def _coded(
    labels: NDArray, target: str, positive: int | float | str | None, is_binary: bool
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Turn labels into class codes and class names."""
    values, codes = np.unique(labels, return_inverse=True)
    if not 2 <= len(values) <= MAX_CLASSES:
        raise DataError(f"{target} must hold between 2 and {MAX_CLASSES} classes, got {len(values)}")
    names = _class_names(values, target)
    if not is_binary:
        return codes.astype(np.int64), names
    if positive is None and len(names) > 2:
        raise DataError(f"a binary task with {len(names)} classes needs the positive one named: {_shown(names)}")
    wanted = names[-1] if positive is None else _written(positive)
    if wanted not in names:
        raise DataError(f"positive must be one of the labels {_shown(names)}, got {quoted(positive)}")
    code = names.index(wanted)
    negative = names[1 - code] if len(names) == 2 else f"not {wanted}"
    return (codes == code).astype(np.int64), (negative, wanted)


def _class_names(values: NDArray, target: str) -> tuple[str, ...]:
    try:
        names = tuple(str(value) for value in values)
    except (ValueError, SystemError) as error:  # code points that are no characters
        raise DataError(f"{target} holds text that is not valid Unicode") from error
    for name in names:
        if not name.isprintable() or not name.strip():
            raise DataError(f"{target} must hold printable labels, got {name!a}")
    return names


def _written(label: int | float | str) -> str:
    """Write a label as `_class_names` does: true as 1, 3.0 as 3."""
    if isinstance(label, (bool, np.bool_)) or (isinstance(label, float) and label.is_integer()):
        return str(int(label))
    return str(label)


def _shown(names: list[str] | tuple[str, ...]) -> str:
    """List a few names."""
    if not names:
        return "nothing"
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
