"""Conversion of CSV, TSV, LIBSVM and npz files to a temporary Parquet file, so that one reader reads all of them."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError

# Column of labels in a file whose columns have no names; the features are x1, x2, ..
TARGET = "y"
ROWS_OF_A_PART = 50_000
NAMELESS = (".libsvm", ".svm", ".svmlight", ".npz")
_SNIFFED = 65_536


def as_parquet(data: Path, folder: Path, features: Sequence[str] | None = None) -> Path:
    """Return a Parquet file in `folder` with a file's rows; return a folder and a Parquet file unchanged.

    Parameters
    ----------
    data : path
        CSV, TSV, LIBSVM and npz files are known by the endings of their names.
    folder : path
        A folder for the new file.
    features : sequence of str, optional
        Columns that a LIBSVM file must have. Such a file does not say how many it has, so zeros are added.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    read = _READERS.get(data.suffix.lower())
    if read is None or not data.is_file():
        return data
    file = folder / "rows.parquet"
    try:
        table = read(data)
        if read is _of_libsvm and features is not None:
            table = table.reindex(columns=[TARGET, *features], fill_value=0.0)
        table.to_parquet(file, index=False, row_group_size=ROWS_OF_A_PART)
    except (ValueError, OSError, KeyError, IndexError, NotImplementedError) as error:
        raise DataError(f"{quoted(str(data))} cannot be read as a {data.suffix[1:]} file: {error}") from None
    given = data.stat()
    os.utime(file, ns=(given.st_atime_ns, given.st_mtime_ns))  # the same file at each reading
    return file


def _of_text(data: Path) -> pd.DataFrame:
    with data.open(encoding="utf-8-sig", newline="") as file:
        head = file.read(_SNIFFED)
    try:
        mark = csv.Sniffer().sniff(head, delimiters=",;\t|").delimiter
    except csv.Error:
        mark = ","
    return pd.read_csv(data, sep=mark, encoding="utf-8-sig")


def _of_libsvm(data: Path) -> pd.DataFrame:
    from sklearn.datasets import load_svmlight_file

    points, labels = load_svmlight_file(str(data))
    return _table(points.toarray(), labels)


def _of_npz(data: Path) -> pd.DataFrame:
    with np.load(data, allow_pickle=False) as held:
        if "X" not in held:
            raise ValueError("it must hold an array X of points, and y of labels")
        return _table(held["X"], held.get("y"))


def _table(points: np.ndarray, labels: np.ndarray | None) -> pd.DataFrame:
    table = pd.DataFrame(points, columns=[f"x{j + 1}" for j in range(points.shape[1])])
    if labels is None:
        return table
    is_whole = labels.dtype.kind == "f" and bool((labels == np.round(labels)).all())
    return table.assign(**{TARGET: labels.astype(np.int64) if is_whole else labels})


_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), _of_text),
    **dict.fromkeys(NAMELESS[:3], _of_libsvm),
    ".npz": _of_npz,
}
