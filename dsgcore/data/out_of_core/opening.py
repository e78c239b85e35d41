"""Out-of-core rows and their labels: the rows are read when needed, the labels are in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.data.datasets import DataError
from dsgcore.data.options import SCALING, checked
from dsgcore.data.out_of_core.columns import Asked
from dsgcore.data.out_of_core.dask_parts import computed, is_dask, reader_of_dask
from dsgcore.data.out_of_core.parquet_files import labels_of_parquet, reader_of_parquet
from dsgcore.data.out_of_core.preparation import MISSING, Preparation
from dsgcore.data.out_of_core.rows import SAMPLE, Reader, Rows, Tell
from dsgcore.data.reading.label_kinds import as_text
from dsgcore.data.reading.missing import Seen, blanked
from dsgcore.data.reading.missing import sentence as missing_sentence
from dsgcore.data.reading.recipe import MISSING_WORDS
from dsgcore.data.reading.unlabeled import AUTO, Labels, about_unlabeled, is_minus_one, labels_of_column, numbers_given


@dataclass
class _ArrayPart:
    """An array of shape (n, d), in memory or mapped."""

    X: NDArray
    name: str

    def __len__(self) -> int:
        return len(self.X)

    def points(self, rows: NDArray) -> NDArray:
        return np.asarray(self.X[rows])


def opened(X: Any, y: Any) -> tuple[Any, Any]:
    """Return points and labels unchanged if they are in memory, otherwise `Rows` and the labels."""
    is_elsewhere = isinstance(X, str | os.PathLike) or is_dask(X) or _is_arrays(X)
    if not is_elsewhere:
        return X, y
    rows, labels = rows_of(X, y)
    for guess in rows.guesses:
        warnings.warn(guess, UserWarning, stacklevel=3)
    return rows, labels


def rows_of(
    X: Any,
    y: Any = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    missing_words: Sequence[str] = MISSING_WORDS,
    missing: str | None = None,
    scaling: str = "none",
    sample: int = SAMPLE,
    preparation: Preparation | None = None,
    unlabeled: str | float | None = AUTO,
    tell: Tell = lambda name, done, of: None,
) -> tuple[Rows, Any]:
    """Return an out-of-core array that reads only the rows it needs, and the labels.

    Parameters
    ----------
    X : path, Dask DataFrame, Dask Array or list of ndarray
        A Parquet file, or a folder of Parquet files in the order of their names; a Dask collection; or arrays or memory
        maps of shape (n_i, d), one after the other.
    y : str, Dask Series or Array, list of ndarray, array-like or None
        The labels, or the name of their column. The column is read alone, in one pass. Missing labels are unlabeled. In
        labels that are not a column of `X`, -1 is unlabeled, too.
    features : sequence of str, optional
        The feature columns. By default all columns except the label and an index, such as the one that pandas writes.
        The rows' `notes` name the columns that are left out.
    drop : sequence of str
        Columns to leave out.
    missing_words : sequence of str
        Text labels that mean a missing label. By default the words of pandas' `read_csv`, and "?".
    missing : {"mean", "median", "most frequent"}, optional
        The replacement for missing numbers. By default a missing number is an error.
    scaling : {"none", "unit", "standard"}, default "none"
        The scaling of each feature, as in a spec's data. Scaled points have single precision.
    sample : int, default 65,536
        The largest number of rows, evenly spread, from which replacement and scaling are learned.
    preparation : Preparation, optional
        The preparation of another reading (its rows' `preparation`). It replaces `missing` and `scaling`.
    unlabeled : label or None, default "auto"
        The label of a column that means "not labeled". "auto" takes -1 if there are two or more other labels and none
        of them is negative. If there is only one other label, -1 is a class. None or "none": every label is a class.
    tell : callable, optional
        Called after each part with its name, the number of parts read and the number of all parts. An exception that it
        raises ends the reading.

    Returns
    -------
    rows : Rows
        Points for the estimators' `fit` and `partial_fit`.
    labels : ndarray of shape (n,) or None
        -1 for unlabeled rows. If -1 is a class, the labels are a masked array; its mask marks the unlabeled rows.

    Raises
    ------
    DataError
        If a part cannot be used. The message names the part.

    Examples
    --------
    >>> import numpy as np
    >>> from dsgcore.data import rows_of
    >>> rows, labels = rows_of([np.zeros((3, 2)), np.ones((2, 2))], [0, 1, 0, 1, -1])
    >>> rows.shape, rows[3:]
    ((5, 2), array([[1., 1.],
           [1., 1.]]))
    """
    reader, dtype = _reader(X, Asked.of(y if isinstance(y, str) else None, features, drop), tell)
    if not len(reader):
        raise DataError("X must have at least one row, got none")
    # float32 rounds some whole numbers of four bytes and more.
    is_wide = dtype == np.float64 or (dtype.kind in "iu" and dtype.itemsize >= 4)
    own = np.dtype(np.float64 if is_wide else np.float32)
    reader.preparation = _learned(reader, own, missing, scaling, sample) if preparation is None else preparation
    if preparation is not None and preparation.d != reader.d:
        raise DataError(
            f"the preparation is for {preparation.d} columns, got {reader.d}: choose the same columns with features"
        )
    is_scaled = reader.preparation is not None and reader.preparation.scaling.kind != "none"
    return Rows(reader, np.dtype(np.float32) if is_scaled else own), _labels(X, y, reader, missing_words, unlabeled)


def _reader(X: Any, asked: Asked, tell: Tell) -> tuple[Reader, np.dtype]:
    if _is_arrays(X):
        return _reader_of_arrays(X, tell)
    if is_dask(X):
        return reader_of_dask(X, asked, tell)
    path = Path(X)
    if not path.exists():
        raise DataError(f"there is no file or folder {str(path)!r}")
    return reader_of_parquet(path, asked, tell)


def _is_arrays(X: Any) -> bool:
    """Return True if the value is a list of arrays of points."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(a, np.ndarray) and a.ndim == 2 for a in X)


def _reader_of_arrays(arrays: Sequence[NDArray], tell: Tell) -> tuple[Reader, np.dtype]:
    d = arrays[0].shape[1]
    parts = [_ArrayPart(X, str(getattr(X, "filename", None) or "an array")) for X in arrays]
    for number, X in enumerate(arrays, start=1):
        if X.shape[1] != d:
            raise DataError(f"array {number} must have {d} columns as the first one, got {X.shape[1]}")
    return Reader(parts, d, None, tell), np.result_type(*arrays)


def _learned(reader: Reader, dtype: np.dtype, missing: str | None, scaling: str, sample: int) -> Preparation | None:
    """Learn how every row is prepared."""
    if missing is None and scaling == "none":
        return None
    reader.is_checked = False  # a missing number is not yet an error
    MISSING.check(missing)
    checked(SCALING, scaling)
    taken = evenly_spread(len(reader), sample)
    some = Rows(reader, dtype)[taken]
    reader.is_checked = True
    _check_finite(reader, some, taken, is_filled=missing is not None)
    return Preparation.learned(some, missing, scaling)


def _check_finite(reader: Reader, some: NDArray, taken: NDArray, *, is_filled: bool) -> None:
    """Raise `DataError` if a number is infinite, or missing without a replacement."""
    is_bad = np.isinf(some) if is_filled else ~np.isfinite(some)
    if not is_bad.any():
        return
    row, column = np.argwhere(is_bad)[0]
    where = f"in row {taken[row] + 1}, column {reader.column(int(column))}"
    if np.isinf(some[row, column]):
        raise DataError(
            f"numbers must be finite, got one that is infinite or too large for {some.dtype} {where}: correct it"
        )
    raise DataError(f"numbers are missing, the first {where}: choose a replacement (missing='mean' or --missing mean)")


def _labels(X: Any, y: Any, reader: Reader, words: Sequence[str], unlabeled: str | float | None) -> Any:
    if y is None:
        return None
    is_column = isinstance(y, str)
    if is_column:
        y = _column(X, y, reader, words)
    elif is_dask(y):
        y = computed(y)
    elif isinstance(y, list | tuple) and all(map(np.ndim, y)):
        y = np.concatenate(y)
    if len(y) != len(reader):
        raise DataError(f"there must be a label for each of {len(reader)} rows (-1: unlabeled), got {len(y)}")
    if not is_column and unlabeled == AUTO:
        return y if isinstance(y, np.ma.MaskedArray) else _as_they_were(y, numbers_given(y))
    labels, hidden = labels_of_column(y, unlabeled)
    is_guess = unlabeled == AUTO and not all(is_minus_one(np.array(sorted(hidden), dtype=str)))
    _say(reader, about_unlabeled(hidden, unlabeled), is_guess=is_guess)
    return _as_they_were(y, labels)


def _column(X: Any, name: str, reader: Reader, words: Sequence[str]) -> pd.Series:
    """Return a column of labels; some words mean a missing label."""
    seen = Seen()
    given = pd.Series(computed(X[name]) if is_dask(X) else labels_of_parquet(reader, name), name=name)
    labels = as_text(blanked(given, words, seen))
    _say(reader, filter(None, [missing_sentence(seen)]))
    return labels


def _say(reader: Reader, sentences: Iterable[str], *, is_guess: bool = True) -> None:
    said = tuple(sentences)
    reader.notes, reader.guesses = reader.notes + said, reader.guesses + said * is_guess


def _as_they_were(y: Any, labels: Labels) -> Any:
    """Return labels as an array, and pandas' ordered categories unchanged."""
    return labels.array() if labels.order is None else pd.Series(y).where(labels.is_labeled)
