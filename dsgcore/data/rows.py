"""Rows of data that may be larger than memory: arrays and memory maps, folders of Parquet files, collections of Dask.

A source has `labels()`, which are read first, and `take(rows)`, which reads the parts that hold these rows.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike, NDArray

from dsgcore.core.parameters import quoted
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.datasets import SCALING, DataError, checked
from dsgcore.data.reading.cells import Seen, about_missing, blanked
from dsgcore.data.reading.features import MISSING, SAMPLE, Preparation
from dsgcore.data.reading.recipe import AUTO, MISSING_WORDS
from dsgcore.data.reading.unlabeled import (
    Labels,
    about_unlabeled,
    as_text,
    is_minus_one,
    labels_of_column,
    numbers_given,
)
from dsgcore.data.row_sources import Callback, Source, computed, is_arrays, is_dask, own_type, source_of
from dsgcore.kernels.features import in_precision


def opened(X: Any, y: Any) -> tuple[Any, Any]:
    """Return points and labels unchanged if they are in memory, otherwise `Rows` and the labels."""
    is_elsewhere = isinstance(X, str | os.PathLike) or is_dask(X) or is_arrays(X)
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
    callback: Callback = lambda name, done, of: None,
) -> tuple[Rows, Any]:
    """Return an out-of-core array that reads only the rows it needs, and the labels.

    Parameters
    ----------
    X : path, Dask DataFrame, Dask Array or list of ndarray
        A Parquet file, or a folder of Parquet files in the order of their names; another file of a table, such as a CSV,
        which is read whole; a Dask collection; or arrays or memory maps of shape (n_i, d), one after the other.
    y : str, Dask Series or Array, list of ndarray, array-like or None
        The labels, or the name of their column. The column is read alone, in one pass. Missing labels are unlabeled. In
        labels that are not a column of `X`, -1 is unlabeled, too.
    features : sequence of str, optional
        The feature columns, each once. By default all columns except the label and an index, such as the one that pandas writes.
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
    callback : callable, optional
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
    label = y if isinstance(y, str) else None
    source = source_of(X, label, features, drop)
    source.callback = callback
    if not len(source):
        raise DataError("X must have at least one row, got none")
    own = own_type(source.dtype)
    source.preparation = _learned(source, own, missing, scaling, sample) if preparation is None else preparation
    if preparation is not None and preparation.d != source.d:
        raise DataError(
            f"the preparation is for {preparation.d} columns, got {source.d}: choose the same columns with features"
        )
    is_scaled = source.preparation is not None and source.preparation.scaling.kind != "none"
    return Rows(source, np.dtype(np.float32) if is_scaled else own), _labels(y, source, missing_words, unlabeled)


def _learned(source: Source, dtype: np.dtype, missing: str | None, scaling: str, sample: int) -> Preparation | None:
    """Learn how every row is prepared."""
    if missing is None and scaling == "none":
        return None
    MISSING.check(missing)
    checked(SCALING, scaling)
    taken = evenly_spread(len(source), sample)
    some = np.concatenate(list(source.take(taken, dtype, is_checked=False)))  # a missing number is not yet an error
    _check_finite(source, some, taken, is_filled=missing is not None)
    return Preparation.learned(some, missing, scaling)


def _check_finite(source: Source, some: NDArray, taken: NDArray, *, is_filled: bool) -> None:
    """Raise `DataError` if a number is infinite, or missing without a replacement."""
    is_bad = np.isinf(some) if is_filled else ~np.isfinite(some)
    if not is_bad.any():
        return
    row, column = np.argwhere(is_bad)[0]
    where = f"in row {taken[row] + 1}, column {source.column(int(column))}"
    if np.isinf(some[row, column]):
        raise DataError(
            f"numbers must be finite, got one that is infinite or too large for {some.dtype} {where}: correct it"
        )
    raise DataError(f"numbers are missing, the first {where}: choose a replacement (missing='mean' or --missing mean)")


def _labels(y: Any, source: Source, words: Sequence[str], unlabeled: str | float | None) -> Any:
    if y is None:
        return None
    is_column = isinstance(y, str)
    if is_column:
        y = _column(source, y, words)
    elif is_dask(y):
        y = computed(y)
    elif isinstance(y, list | tuple) and all(map(np.ndim, y)):
        y = np.concatenate(y)
    if len(y) != len(source):
        raise DataError(f"there must be a label for each of {len(source)} rows (-1: unlabeled), got {len(y)}")
    if not is_column and unlabeled == AUTO:
        return y if isinstance(y, np.ma.MaskedArray) else _as_they_were(y, numbers_given(y))
    labels, hidden = labels_of_column(y, unlabeled)
    is_guess = unlabeled == AUTO and not all(is_minus_one(np.array(sorted(hidden), dtype=str)))
    source.say(about_unlabeled(hidden, unlabeled), is_guess=is_guess)
    return _as_they_were(y, labels)


def _column(source: Source, name: str, words: Sequence[str]) -> pd.Series:
    """Return a column of labels; some words mean a missing label."""
    if source.labels is None:
        raise DataError(f"y must be labels for an array of points, got the name {quoted(name)}")
    seen = Seen()
    labels = as_text(blanked(source.labels().rename(name), words, seen))
    source.say(filter(None, [about_missing(seen)]))
    return labels


def _as_they_were(y: Any, labels: Labels) -> Any:
    """Return labels as an array, and pandas' ordered categories unchanged."""
    return labels.array() if labels.order is None else pd.Series(y).where(labels.is_labeled)


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

    def __init__(self, source: Source, dtype: np.dtype) -> None:
        self.names, self.dtype, self._own = source.names, dtype, dtype
        self._source, self._held = source, _Held(source.d)
        self._numbers: NDArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and the number of features."""
        return len(self._source) if self._numbers is None else len(self._numbers), self._source.d

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def preparation(self) -> Preparation | None:
        """The preparation of every row; None if rows stay as they are."""
        return self._source.preparation

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about columns that are left out, and about labels that were read as missing."""
        return self._source.notes

    @property
    def guesses(self) -> tuple[str, ...]:
        """The notes that record a guess: an index found by its name and values, or words read as missing."""
        return self._source.guesses

    @property
    def parts_read(self) -> int:
        """The number of times that a part has been read."""
        return self._source.reads

    def astype(self, dtype: DTypeLike) -> Self:
        """Return the same rows in another precision."""
        other = copy(self)
        other.dtype = np.dtype(dtype)
        return other

    def parts(self) -> list[tuple[str, int]]:
        """Return the name and the number of rows of each part."""
        return [(part.name, part.n) for part in self._source.parts]

    def rows_of_part(self, number: int) -> NDArray:
        """Return the numbers of a part's rows."""
        return np.arange(self._source.starts[number], self._source.starts[number + 1])

    def column_of_part(self, name: str, number: int) -> Any:
        """Return any column of a part of a Parquet file; raise `DataError` if there is none."""
        part = self._source.parts[number]
        if part.column is None:
            raise DataError(f"there is no column {name!r} in {part.name}: choose other columns to keep")
        return part.column(name)

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
        waiting = np.empty((0, self._source.d), dtype=self.dtype)
        for points in self._source.take(numbers, self._own):
            own = in_precision(points, self.dtype)
            waiting = np.concatenate([waiting, own]) if len(waiting) else own
            whole = len(waiting) // size * size
            yield from (waiting[start : start + size] for start in range(0, whole, size))
            waiting = waiting[whole:]
        if len(waiting):
            yield waiting

    def _read(self, rows: NDArray) -> NDArray:
        points, start = np.empty((len(rows), self._source.d), dtype=self._own), 0
        for piece in self._source.take(rows, self._own):
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
