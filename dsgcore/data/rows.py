"""Rows of data that may be larger than memory: arrays and memory maps, tables of Parquet files, collections of Dask.

A table in parts means what the same table means in memory: its recipe and its features come from rows that are evenly spread,
its labels from one pass, and its points are prepared when they are read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import pyarrow
from numpy.typing import DTypeLike, NDArray

from dsgcore.core.parameters import Choice
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.datasets import SCALING, DataError, checked
from dsgcore.data.reading.binary import ParquetTable, frame_of_table, is_parquet_data, pandas_index
from dsgcore.data.reading.cells import Seen, about_missing, blanked, check_column, listed, readable, suspicions, written
from dsgcore.data.reading.columns import ROWS, check_chosen, is_index, leaks, may_be_index
from dsgcore.data.reading.features import SAMPLE, Features
from dsgcore.data.reading.file import File, training_labels
from dsgcore.data.reading.labels import class_codes, hidden_labels, labels_of, pair_ids
from dsgcore.data.reading.recipe import AUTO, LOCAL, MISSING_WORDS, Recipe
from dsgcore.data.reading.unlabeled import about_unlabeled, is_minus_one

# Progress callback: called after each part with its name, the number of parts read, and the number of all parts.
Callback = Callable[[str, int, int], object]
MISSING = Choice("missing", AUTO, options=(AUTO, "mean", "median", "most frequent"), optional=True)


# --- parts, and a table of them


@dataclass(frozen=True)
class Part:
    """Rows that are read together: an array, a row group of a file, a partition, or a whole table.

    `read` returns some columns (of an array all) at ascending rows of the part, None: all rows.
    """

    name: str
    n: int
    read: Callable[[Sequence[str], NDArray | None], Any]


class Prepared(NamedTuple):
    """A table's rows, their labels as codes or pair ids, the classes' names, the preparation, and sentences."""

    rows: Rows
    y: Any
    classes: list[str]
    features: Features
    notes: list[str]
    guesses: list[str]  # the notes that record a guess: the table itself does not state them


class PartedTable:
    """A table in parts, whose recipe and features are those that it would have if it were read whole.

    Parameters
    ----------
    name : str
    parts : sequence of Part
    kinds : mapping of str to numpy dtype or None
        The type of each column; None for one that holds no numbers.
    index : collection of str
        Columns that the table declares as its index.
    file : File, optional
        The table itself, if it is in memory.
    callback : callable, optional
    """

    def __init__(
        self,
        name: str,
        parts: Sequence[Part],
        kinds: Mapping[str, np.dtype | None],
        index: Iterable[str] = (),
        file: File | None = None,
        callback: Callback = lambda name, done, of: None,
    ) -> None:
        self.name, self.parts, self.kinds, self.index, self.file = name, parts, kinds, frozenset(index), file
        self.starts, self.callback = np.cumsum([0, *(part.n for part in parts)]), callback
        self.attrs = dict[str, Any]()
        if not self.starts[-1]:
            raise DataError("X must have at least one row, got none")

    @classmethod
    def of_path(cls, path: Path, callback: Callback = lambda name, done, of: None) -> PartedTable:
        """Return the rows of a Parquet file, or of a folder of them; each row group is a part."""
        table = ParquetTable.of(path)
        parts = [Part(name, n, partial(_of_group, read)) for name, n, read in table.groups()]
        kinds = {field.name: _kind_of_arrow(field.type) for field in table.schema}
        made = cls(path.name, parts, kinds, pandas_index(table.schema.metadata), callback=callback)
        made.attrs = {"keys": table.keys}
        return made

    @classmethod
    def of_dask(cls, X: Any, callback: Callback) -> PartedTable:
        """Return the rows of a DataFrame; each partition is a part, and one task reads what is needed of it.

        All is read from one collection: two selections of columns from the same table may have other partitions.
        """
        from dask.base import compute
        from dask.delayed import delayed

        names = {name: str(name) for name in X.columns}
        if len(set(names.values())) < len(X.columns):
            raise DataError(f"each column must have a name of its own, got {listed(names.values())}")
        X = X.rename(columns=names)
        tasks = X.to_delayed()
        with readable("a partition"):
            sizes = compute(*map(delayed(len), tasks))
        parts = [
            Part(f"partition {i}", n, partial(_on_worker, _of_frame, task))
            for i, (task, n) in enumerate(zip(tasks, sizes, strict=True))
        ]
        return cls("table", parts, _kinds_of(X), callback=callback)

    @classmethod
    def of_file(cls, path: Path, callback: Callback) -> PartedTable:
        """Return the rows of any other file, which is read whole, as the commands and the app read it."""
        file = File.of_path(path)
        frame = file.table(file.sniff()).frame
        part = Part(path.name, len(frame), partial(_of_frame, frame))
        return cls(path.name, [part], _kinds_of(frame), file=file, callback=callback)

    @classmethod
    def of_arrays(cls, parts: Sequence[Part], d: int, dtype: np.dtype, callback: Callback) -> PartedTable:
        """Return the rows of arrays as a table with the columns x1, x2, .."""
        names = [f"x{j + 1}" for j in range(d)]
        as_tables = [Part(part.name, part.n, partial(_of_array_part, part, names)) for part in parts]
        return cls("arrays", as_tables, dict.fromkeys(names, dtype), callback=callback)

    def called(self, number: int) -> str:
        """Return a part's number, counted from 1, and its name."""
        return f"part {number + 1} of {len(self.parts)} ({self.parts[number].name})"

    def frame(
        self, number: int, names: Sequence[str], words: Sequence[str], rows: NDArray | None = None
    ) -> pd.DataFrame:
        """Return some columns of a part as a table is read whole; its index has the numbers of the table's rows."""
        with readable(self.called(number)):
            frame = _framed(self.parts[number].read(names, rows))
        frame = frame.assign(**{name: blanked(column, words, Seen()) for name, column in frame.items()})
        own = np.arange(self.parts[number].n) if rows is None else rows
        return frame.set_axis(pd.Index(self.starts[number] + own), axis=0)

    def _at(self, rows: NDArray, names: Sequence[str]) -> pd.DataFrame:
        """Return some columns at ascending rows."""
        edges, found = np.searchsorted(rows, self.starts), []
        for number in map(int, np.flatnonzero(np.diff(edges))):
            own = rows[edges[number] : edges[number + 1]] - self.starts[number]
            with readable(self.called(number)):
                found.append(self.parts[number].read(names, own))
            self.callback(f"sample of {self.parts[number].name}", number + 1, len(self.parts))
        if isinstance(found[0], pd.DataFrame):
            return pd.concat(found).set_axis(pd.Index(rows), axis=0)
        return _framed(pyarrow.concat_tables(found).unify_dictionaries()).set_axis(pd.Index(rows), axis=0)

    def some(self, rows: NDArray, names: Sequence[str]) -> File:
        """Return some rows of the table as a file, which the one reader reads."""
        frame = self._at(rows, names)
        frame.attrs = self.attrs
        return File.of_frame(frame, self.name, self.index)

    def prepared(
        self,
        labels: str,
        scaling: str = "none",
        *,
        sample: int = SAMPLE,
        is_strict: bool = False,
        is_asked: bool = True,
        **given: Any,
    ) -> Prepared:
        """Return the rows, prepared when they are read, their labels, and what they were learned from.

        Parameters
        ----------
        labels : {"binary", "pairs", "ordinal", "classes", "none"}
        scaling : str
        sample : int
            The largest number of rows, evenly spread, from which the preparation is learned.
        is_strict : bool
            True if a missing number is an error.
        **given : object
            As in `File.recipe`.

        Raises
        ------
        DataError
            As the reader does for a table in memory.
        """
        features, kind = given.get("features"), labels if labels != "pairs" else "classes"
        check_chosen(list(self.kinds), given.get("target"), features, given.get("drop") or ())
        names = list(dict.fromkeys([*(features or ()), *self.kinds]))
        if self.file is not None:
            file, fitted = self.file, None
            recipe = file.recipe(kind, is_asked=is_asked, **given)
        else:
            spread = evenly_spread(int(self.starts[-1]), sample)
            file, fitted = self.some(spread, names), np.arange(len(spread))
            recipe = file.recipe(kind, is_asked=is_asked, **given | {"roles": self._roles(given)})
            others = self._rows_of_other_categories(recipe, file.table(recipe).frame)
            if len(others):
                rows = np.union1d(spread, others)
                file, fitted = self.some(rows, names), np.searchsorted(rows, spread)
        frame = file.table(recipe).frame
        if recipe.missing == "drop":
            raise DataError(
                "rows with missing numbers cannot be left out of a table that is not read whole: replace the numbers "
                "(--missing mean)"
            )
        kinds = [kind for name, kind in self.kinds.items() if kind is not None and recipe.role(name) == "number"]
        dtype = np.dtype(np.float32) if scaling != "none" else np.result_type(np.float32, *kinds)
        made = Features(recipe, LOCAL, scaling, dtype).fit(frame, fitted)
        if is_strict and made.missing:
            name = next(iter(made.missing))
            row = frame.index[int(np.argmax(frame[name].isna()))] + 1
            raise DataError(
                f"numbers are missing, the first in row {row}, column {name!r}: choose a replacement (missing='mean' or "
                "--missing mean)"
            )
        if self.file is not None:
            self.parts = [Part(self.name, len(frame), partial(_of_frame, frame))]
            self.starts = np.array([0, len(frame)])
        guesses = [*made.left_out_sentences()]
        notes = [*made.sentences("all rows" if self.file is not None else "evenly spread rows")]
        y, classes = None, list[str]()
        if labels != "none":
            y, classes, said, guessed = self._labels(recipe, labels)
            notes, guesses = [*said, *notes, *suspicions(frame, recipe.label())], [*guessed, *guesses]
        if y is not None and classes:
            here = np.asarray(y) if self.file is not None else np.asarray(y)[frame.index]
            notes += leaks(frame, here, made.columns, classes)
        parts = [
            Part(part.name, part.n, partial(self._points, number, made, is_strict))
            for number, part in enumerate(self.parts)
        ]
        source = Source(parts, len(made.names), dtype, made.names, self.callback)
        return Prepared(Rows(source, dtype, self), y, classes, made, notes, guesses)

    def _points(self, number: int, features: Features, is_strict: bool, _names: Any, rows: NDArray) -> NDArray:
        frame = self.frame(number, features.columns, features.recipe.missing_words, rows)
        return features.transform(frame, keeps_gaps=is_strict)

    def _roles(self, given: Mapping[str, Any]) -> dict[str, str]:
        """Return the given roles, and that of an index, which counts up by one only in rows that follow each other."""
        said = dict(given.get("roles") or {})
        names = [name for name in self.kinds if may_be_index(name) and name not in said]
        if given.get("features") is not None or not names:
            return said
        first = self._at(np.arange(min(ROWS, int(self.starts[-1]))), names)
        left = (*(given.get("drop") or ()), given.get("target"))
        return {name: "index" for name in names if name not in left and is_index(name, first[name])} | said

    def _rows_of_other_categories(self, recipe: Recipe, frame: pd.DataFrame) -> NDArray:
        """Return ascending rows with the categories that the sample does not have, one for each, found in one pass."""
        names = [name for name, role in recipe.roles if role == "category"]
        known = {name: {*labels_of(frame[name], recipe.missing_words)} for name in names}
        found = set[int]()
        for number, part in enumerate(self.parts if names and len(frame) < self.starts[-1] else ()):
            own = self.frame(number, names, recipe.missing_words)
            for name in names:
                if len(known[name]) > LOCAL.categories + 1:  # the preparation says so
                    continue
                different = own[name].drop_duplicates()
                for row, one in zip(different.index, labels_of(different, recipe.missing_words), strict=True):
                    if one is not None and one not in known[name]:
                        known[name].add(one)
                        found.add(int(row))
            self.callback(f"categories of {part.name}", number + 1, len(self.parts))
        return np.array(sorted(found), dtype=np.int64)

    def _labels(self, recipe: Recipe, labels: str) -> tuple[NDArray, list[str], list[str], list[str]]:
        """Return all class codes or pair ids, the classes' names, notes and guesses; the column is read alone, in one pass."""
        label, is_whole, seen = recipe.label(), labels == "pairs" or recipe.bins is not None, Seen()
        values, found = dict[Any, int](), list[Any]()
        counts = np.zeros(0, dtype=np.int64)
        for number, part in enumerate(self.parts):
            with readable(f"the labels of {self.called(number)}"):
                column = blanked(_framed(part.read([label], None))[label], recipe.missing_words, seen)
            if is_whole:
                found.append(column)
                continue
            codes, different = pd.factorize(column, use_na_sentinel=True)
            places = [values.setdefault(value, len(values)) for value in different]
            found.append(np.array([*places, -1], dtype=np.min_scalar_type(-max(1, len(values))))[codes])
            counts = np.pad(counts, (0, len(values) - len(counts)))
            counts += np.bincount(found[-1][codes >= 0], minlength=len(values))
            self.callback(f"labels of {part.name}", number + 1, len(self.parts))
        missing = [*filter(None, [about_missing(Seen({k: n for k, n in seen.items() if k[0]}), "missing labels")])]
        if labels == "pairs":
            return pair_ids(pd.concat(found, ignore_index=True), recipe), [], missing, missing
        if is_whole:
            y, classes, notes = class_codes(pd.concat(found, ignore_index=True), recipe, labels)
            return y, list(classes), [*missing, *notes], [*missing, *notes]
        order = np.argsort(-counts, kind="stable")  # of several forms of a class the most frequent one is its name
        column = pd.Series(list(values), name=label).iloc[order]
        codes, classes, notes = class_codes(column, recipe, labels)
        of_value = np.full(len(values) + 1, -1, dtype=np.min_scalar_type(-max(1, len(classes))))
        of_value[order] = codes
        hidden = hidden_labels(column, recipe)
        is_guess = recipe.unlabeled == AUTO and not all(is_minus_one(np.array(sorted(hidden), dtype=str)))
        guessed = about_unlabeled(hidden, recipe.unlabeled) if is_guess else ()
        return (
            np.concatenate([of_value[places] for places in found]),
            list(classes),
            [*missing, *notes],
            [*missing, *guessed],
        )

    def frames(self, features: Features, keep: Sequence[str]) -> list[tuple[str, Callable[[], pd.DataFrame]]]:
        """Return the name of each part, and a function that reads its columns of features and those to keep."""
        names, words = list(dict.fromkeys([*features.columns, *keep])), features.recipe.missing_words
        return [(part.name, partial(self.frame, number, names, words)) for number, part in enumerate(self.parts)]


def _framed(read: Any) -> pd.DataFrame:
    return read if isinstance(read, pd.DataFrame) else frame_of_table(read, LOCAL)[0]


def _of_group(read: Callable[[Sequence[str]], Any], names: Sequence[str], rows: NDArray | None) -> Any:
    return read(names) if rows is None else read(names).take(rows)


def _of_frame(frame: pd.DataFrame, names: Sequence[str], rows: NDArray | None) -> pd.DataFrame:
    return frame[list(names)] if rows is None else frame[list(names)].iloc[rows]


def _of_array_part(part: Part, names: list[str], some: Sequence[str], rows: NDArray | None) -> pd.DataFrame:
    return pd.DataFrame(part.read((), np.arange(part.n) if rows is None else rows), columns=names)[list(some)]


# The worker that holds a part picks the rows, and only these are sent.
def _on_worker(pick: Callable[..., Any], part: Any, *given: Any) -> Any:
    from dask.delayed import delayed

    return delayed(pick)(part, *given).compute()


def _kind_of_arrow(of: Any) -> np.dtype | None:
    """Return the type of a column's numbers; None if it holds something else."""
    types = pyarrow.types
    if types.is_dictionary(of):
        return _kind_of_arrow(of.value_type)
    if types.is_decimal(of):
        return np.dtype(np.float64)
    is_number = types.is_boolean(of) or types.is_integer(of) or types.is_floating(of)
    return np.dtype(of.to_pandas_dtype()) if is_number else None


def _kinds_of(frame: Any) -> dict[str, np.dtype | None]:
    """Return the type of each column's numbers; None if it holds something else."""
    own = {str(name): getattr(kind, "numpy_dtype", kind) for name, kind in frame.dtypes.items()}
    return {name: kind if isinstance(kind, np.dtype) and kind.kind in "biuf" else None for name, kind in own.items()}


# --- points


@dataclass
class Source:
    """Parts of points, one after the other. Its errors name the part and the fault."""

    parts: Sequence[Part]
    d: int
    dtype: np.dtype
    names: tuple[str, ...] | None = None
    callback: Callback = lambda name, done, of: None
    starts: NDArray = field(init=False)
    reads: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.starts = np.cumsum([0, *(part.n for part in self.parts)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def take(self, rows: NDArray) -> Iterator[NDArray]:
        """Yield the points at ascending `rows`, part after part."""
        edges = np.searchsorted(rows, self.starts)
        touched = np.flatnonzero(np.diff(edges))
        for done, number in enumerate(map(int, touched), start=1):
            part, own = self.parts[number], rows[edges[number] : edges[number + 1]] - self.starts[number]
            called = f"part {number + 1} of {len(self.parts)} ({part.name})"
            self.reads += 1
            with readable(called), np.errstate(over="ignore"):
                points = np.ascontiguousarray(part.read((), own), dtype=self.dtype)
            if points.shape != (len(own), self.d):
                raise DataError(f"{called} must give {len(own)} rows of {self.d} numbers, got {points.shape}")
            if not np.isfinite(points).all():
                row, column = np.argwhere(~np.isfinite(points))[0]
                bad = f"a number that is infinite, or too large for {points.dtype}, and must be corrected,"
                if np.isnan(points[row, column]):
                    bad = "NaN, a missing number (train with missing='mean' or `fit --missing mean` to replace it),"
                name = str(column + 1) if self.names is None else repr(self.names[column])
                raise DataError(f"{called} holds {bad} at its row {own[row] + 1}, column {name}")
            yield points
            self.callback(part.name, done, len(touched))


def is_dask(X: Any) -> bool:
    """Return True if the object is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def is_arrays(X: Any) -> bool:
    """Return True if the value is a list of arrays of points."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(a, np.ndarray) and a.ndim == 2 for a in X)


def _of_arrays(arrays: Sequence[NDArray]) -> tuple[list[Part], int, np.dtype]:
    """Return the parts, the number of columns and the type of arrays in memory or memory maps."""
    d = arrays[0].shape[1]
    for number, X in enumerate(arrays, start=1):
        if X.shape[1] != d:
            raise DataError(f"array {number} must have {d} columns as the first one, got {X.shape[1]}")
    names = [str(getattr(X, "filename", None) or "an array") for X in arrays]
    parts = [Part(name, len(X), partial(_of_array, X)) for name, X in zip(names, arrays, strict=True)]
    return parts, d, np.result_type(*arrays)


def _of_array(X: NDArray, _names: Sequence[str], rows: NDArray) -> NDArray:
    return np.asarray(X[rows])


def _of_dask_array(X: Any) -> tuple[list[Part], int, np.dtype]:
    from dask.base import compute
    from dask.delayed import delayed

    if X.ndim != 2:
        raise DataError(f"a Dask Array of points must have two dimensions, got {X.ndim}")
    blocks = list(X.rechunk({1: -1}).to_delayed()[:, 0])
    sizes = compute(*map(delayed(len), blocks)) if np.isnan(X.chunks[0]).any() else X.chunks[0]
    parts = [
        Part(f"block {i}", int(n), partial(_on_worker, _of_array, block))
        for i, (block, n) in enumerate(zip(blocks, sizes, strict=True))
    ]
    return parts, X.shape[1], X.dtype


def opened(X: Any, y: Any, labels: str = "classes") -> tuple[Any, Any]:
    """Return points and labels unchanged if they are in memory, otherwise `Rows` and the labels, of the kind `labels`."""
    if isinstance(X, np.ndarray) or not (isinstance(X, str | os.PathLike) or is_dask(X) or is_arrays(X)):
        return X, y
    rows, found = rows_of(X, y, labels=labels)
    for guess in rows.guesses:
        warnings.warn(guess, UserWarning, stacklevel=3)
    return rows, found


def rows_of(
    X: Any,
    y: Any = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    missing_words: Sequence[str] = MISSING_WORDS,
    missing: str | None = AUTO,
    scaling: str = "none",
    sample: int = SAMPLE,
    labels: str = "classes",
    unlabeled: str | float | None = AUTO,
    callback: Callback = lambda name, done, of: None,
) -> tuple[Rows, Any]:
    """Return an out-of-core array that reads only the rows it needs, and the labels.

    A table's columns are prepared as everywhere: missing numbers are replaced, categories get a column each, dates are days.

    Parameters
    ----------
    X : path, Dask DataFrame, Dask Array or list of ndarray
        A Parquet file, or a folder of Parquet files in the order of their names; another file of a table, such as a CSV,
        which is read whole; a Dask collection; or arrays or memory maps of shape (n_i, d), one after the other.
    y : str, Dask Series or Array, list of ndarray, array-like or None
        The labels, or the name of their column. The column is read alone, in one pass. Missing labels are unlabeled. In
        labels that are not a column of `X`, -1 is unlabeled, too.
    features : sequence of str, optional
        The feature columns, each once. By default all columns except the label and an index, such as the one that pandas
        writes. The rows' `notes` name the columns that are left out.
    drop : sequence of str
        Columns to leave out.
    missing_words : sequence of str
        Text cells that mean a missing value. By default the words of pandas' `read_csv`, and "?".
    missing : {"auto", "mean", "median", "most frequent"} or None, default "auto"
        The replacement for missing numbers. None: a missing number is an error. "auto" is the mean for the columns of a
        table, and None for arrays.
    scaling : {"none", "unit", "standard"}, default "none"
        The scaling of each feature, as in a spec's data. Scaled points have single precision.
    sample : int, default 65,536
        The largest number of rows, evenly spread, from which replacement and scaling are learned.
    labels : {"classes", "pairs"}
        The meaning of a label column: classes, or the ids of similar pairs.
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
    MISSING.check(missing)
    checked(SCALING, scaling)
    said = None if unlabeled is None else written(unlabeled)
    given: dict[str, Any] = {"missing": {None: "mean", AUTO: "mean"}.get(missing, missing), "unlabeled": said}
    if is_arrays(X) or (is_dask(X) and not hasattr(X, "columns")):
        parts, d, dtype = _of_arrays(X) if is_arrays(X) else _of_dask_array(X)
        own, is_strict = np.result_type(np.float32, dtype), missing in (None, AUTO)
        if is_strict and scaling == "none":
            rows = Rows(Source(parts, d, own, callback=callback), own)
        else:
            table = PartedTable.of_arrays(parts, d, dtype, callback)
            rows = table.prepared("none", scaling, sample=sample, is_strict=is_strict, **given).rows
            rows.names = rows._source.names = None
        if not len(rows):
            raise DataError("X must have at least one row, got none")
        return rows, _given_labels(y, len(rows), said)
    table = _table_of(X, callback)
    target = y if isinstance(y, str) else None
    given |= {"target": target, "features": features, "drop": drop, "missing_words": missing_words}
    made = table.prepared(
        "none" if target is None else labels, scaling, sample=sample, is_strict=missing is None, is_asked=False, **given
    )
    made.rows.notes, made.rows.guesses = tuple(made.notes), tuple(made.guesses)
    if target is None:
        return made.rows, _given_labels(y, len(made.rows), said)
    if labels == "pairs":
        return made.rows, made.y
    found, classes = training_labels(made.y, made.classes, is_ordered=bool(made.features.recipe.order))
    return made.rows, found if classes is None else np.array(classes, dtype=object)[found]


def _table_of(X: Any, callback: Callback) -> PartedTable:
    if is_dask(X):
        return PartedTable.of_dask(X, callback)
    path = Path(X)
    if not path.exists():
        raise DataError(f"there is no file or folder {str(path)!r}")
    return (PartedTable.of_path if is_parquet_data(path) else PartedTable.of_file)(path, callback)


def _given_labels(y: Any, n: int, unlabeled: str | None) -> Any:
    """Return labels that are no column of the table, in memory."""
    if isinstance(y, str):
        raise DataError(f"y must be labels for an array of points, got the name {y!r}")
    if is_dask(y):
        with readable("a partition"):
            y = y.compute()
    elif isinstance(y, list | tuple) and all(map(np.ndim, y)):
        y = np.concatenate(y)
    if y is not None and len(y) != n:
        raise DataError(f"there must be a label for each of {n} rows (-1: unlabeled), got {len(y)}")
    if y is None or unlabeled == AUTO:
        return y
    codes, names, _ = class_codes(pd.Series(y, name="y"), Recipe(unlabeled=unlabeled), "classes")
    return training_labels(codes, names)[0]


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
    notes : tuple of str
        Sentences about the columns and the labels.
    guesses : tuple of str
        The notes that record a guess: an index found by its name and values, or words read as missing.
    """

    ndim = 2

    def __init__(self, source: Source, dtype: np.dtype, table: PartedTable | None = None) -> None:
        self.names, self.dtype = source.names, dtype
        self._source, self._held, self._table = source, _Held(source.d), table
        self.notes: tuple[str, ...] = ()
        self.guesses: tuple[str, ...] = ()
        self._numbers: NDArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and the number of features."""
        return len(self._source) if self._numbers is None else len(self._numbers), self._source.d

    def __len__(self) -> int:
        return self.shape[0]

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
        """Return any column of a part of a table."""
        assert self._table is not None
        check_column(name, list(self._table.kinds))
        return pyarrow.array(self._table.frame(number, [name], ())[name], from_pandas=True)

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
            return _in_precision(self._held.points[places], self.dtype)
        different, inverse = np.unique(rows, return_inverse=True)
        return _in_precision(self._read(different)[inverse], self.dtype)

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
        for points in self._source.take(numbers):
            own = _in_precision(points, self.dtype)
            waiting = np.concatenate([waiting, own]) if len(waiting) else own
            whole = len(waiting) // size * size
            yield from (waiting[start : start + size] for start in range(0, whole, size))
            waiting = waiting[whole:]
        if len(waiting):
            yield waiting

    def _read(self, rows: NDArray) -> NDArray:
        points, start = np.empty((len(rows), self._source.d), dtype=self._source.dtype), 0
        for piece in self._source.take(rows):
            points[start : start + len(piece)] = piece
            start += len(piece)
        return points

    def _row_numbers(self, key: Any) -> NDArray:
        """Return the row numbers of a slice, a mask or numbers, as NumPy reads them; raise IndexError if one is out of range."""
        rows = np.arange(*key.indices(len(self))) if isinstance(key, slice) else _counted(key, len(self))
        return rows if self._numbers is None else self._numbers[rows]


def _in_precision(points: NDArray, dtype: np.dtype) -> NDArray:
    from dsgcore.kernels.features import in_precision  # here, as it loads the compiler, which reading needs not

    return in_precision(points, dtype)


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
