"""Rows of data that may be larger than memory: arrays and memory maps, tables of Parquet files, collections of Dask.

A table in parts means what the same table means in memory: its recipe and its features come from rows that are evenly spread,
its labels from one pass, and its points are prepared when they are read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow
from numpy.typing import NDArray

from dsgcore.core.parameters import Choice, counted
from dsgcore.core.sampling import UNLABELED, evenly_spread
from dsgcore.data.datasets import SCALING, DataError, checked
from dsgcore.data.parts import Callback, Part, Parts, Rows
from dsgcore.data.reading.binary import ParquetTable, as_in_parquet, frame_of_table, is_parquet_data, pandas_index
from dsgcore.data.reading.cells import (
    Seen,
    about_missing,
    blanked,
    column_names,
    listed,
    readable,
    suspicions,
    with_columns,
    written,
)
from dsgcore.data.reading.columns import ROWS, check_chosen, is_index, leaks, may_be_index
from dsgcore.data.reading.features import SAMPLE, Features
from dsgcore.data.reading.file import File, about_empty_rows, training_labels, with_fields
from dsgcore.data.reading.labels import (
    about_gaps,
    class_codes,
    factorized,
    label_text,
    labels_of,
    pair_ids,
    refuse_pairs,
)
from dsgcore.data.reading.recipe import AUTO, LOCAL, MISSING_WORDS, NONE, OF_FILE, Recipe
from dsgcore.data.reading.sources import about_others
from dsgcore.data.reading.unlabeled import about_unlabeled, is_minus_one

MISSING = Choice("missing", AUTO, options=(AUTO, "mean", "median", "most frequent"), optional=True)


class Prepared(NamedTuple):
    """A table's rows, their labels as codes or pair ids, the classes' names, the preparation, and sentences."""

    rows: Rows
    y: Any
    classes: list[str]
    features: Features
    notes: list[str]
    guesses: list[str]  # the notes that record a guess: the table itself does not state them
    left_out: NDArray[np.int64]  # ascending rows of the table that are none of these, for they have no value


@dataclass
class PartedTable:
    """A table in parts, whose recipe and features are those that it would have if it were read whole."""

    name: str
    parts: Parts
    kinds: Mapping[str, np.dtype | None]  # the type of each column, None for one that holds no numbers
    index: frozenset[str] = frozenset()  # the columns that the table declares as its index
    keys: Sequence[str] = ()  # the columns in the names of folders
    file: File | None = None  # the table itself, if it is in memory
    said: Sequence[str] = ()  # sentences about its files

    def __post_init__(self) -> None:
        """Raise `DataError` if there are no rows."""
        if not len(self.parts):
            raise DataError("X must have at least one row, got none")

    @classmethod
    def of(cls, X: Any, callback: Callback | None = None, **given: Any) -> PartedTable:
        """Return the table of a Dask DataFrame, of Parquet files (each row group is a part), or of another file, read whole.

        `given` are fields of the recipe of that file.
        """
        if is_dask(X):
            from dask.base import compute
            from dask.delayed import delayed

            names = {name: str(name) for name in X.columns}
            if len(set(names.values())) < len(X.columns):
                raise DataError(f"each column must have a name of its own, got {listed(names.values())}")
            # All is read from one collection: two selections of columns from the same table may have other partitions.
            tasks = X.rename(columns=names).to_delayed()
            with readable("a partition"):
                sizes = compute(*map(delayed(len), tasks))
            picks = [partial(_on_worker, _of_frame, task) for task in tasks]
            parts = [Part(f"partition {i}", n, pick) for i, (pick, n) in enumerate(zip(picks, sizes, strict=True))]
            return cls("table", Parts(parts, callback), _kinds_of(X))
        path = Path(X)
        if not path.exists():
            raise DataError(f"there is no file or folder {str(path)!r}")
        if is_parquet_data(path):
            with_fields(Recipe(format="parquet"), given)
            table = ParquetTable.of(path)
            own = dict(zip(column_names(table.schema.names)[0], table.schema.names, strict=True))
            kinds = {name: _kind_of_arrow(field.type) for name, field in zip(own, table.schema, strict=True)}
            parts = [Part(called, n, partial(_of_parquet, read, own)) for called, n, read in table.groups()]
            declared = pandas_index(table.schema.metadata)
            index, keys = ([name for name in own if own[name] in some] for some in (declared, table.keys))
            return cls(path.name, Parts(parts, callback), kinds, frozenset(index), keys, said=about_others(path))
        file = File.of_path(path)
        frame = file.table(file.sniff(**given)).frame
        part = Part(path.name, len(frame), partial(_of_frame, frame))
        return cls(path.name, Parts([part], callback), _kinds_of(frame), file=file)

    def frame(
        self, number: int, names: Sequence[str], words: Sequence[str], rows: NDArray | None = None
    ) -> pd.DataFrame:
        """Return some columns of a part as a table is read whole; its index has the numbers of the table's rows."""
        part = self.parts.parts[number]
        with readable(self.parts.called(number)):
            frame = _framed(part.read(names, rows))
        frame = with_columns(frame, {name: blanked(column, words, Seen()) for name, column in frame.items()})
        return frame.set_axis(
            pd.Index(self.parts.starts[number] + (np.arange(part.n) if rows is None else rows)), axis=0
        )

    def some(self, rows: NDArray, names: Sequence[str]) -> File:
        """Return ascending rows of the table as a file, which the one reader reads."""
        found = [contents for _, _, contents in self.parts.read(names, rows, "sample of ")]
        is_arrow = not isinstance(found[0], pd.DataFrame)
        frame = _framed(pyarrow.concat_tables(found).unify_dictionaries() if is_arrow else pd.concat(found))
        frame = frame.set_axis(pd.Index(rows), axis=0)
        frame.attrs = {"keys": self.keys}
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

        At most `sample` rows, evenly spread, are learned from. With `is_strict` a missing number is an error. `given` is as in
        `File.recipe`. Raises `DataError` as the reader does for a table in memory.
        """
        features, kind = given.get("features"), labels if labels != "pairs" else "classes"
        check_chosen(list(self.kinds), given.get("target"), features, given.get("drop") or ())
        names = list(dict.fromkeys([*(features or ()), *self.kinds]))
        spread = evenly_spread(len(self.parts), sample)
        if self.file is not None:
            file = self.file
            recipe = file.recipe(kind, is_asked=is_asked, **given)
        else:
            file = self.some(spread, names)
            recipe = file.recipe(kind, is_asked=is_asked, **given | {"roles": self._roles(given, file)})
            others = self._rows_of_other_categories(recipe, file.table(recipe).frame)
            if len(others):
                file = self.some(np.union1d(spread, others), names)
        frame = file.table(recipe).frame
        fitted = None if self.file is not None else np.flatnonzero(np.isin(frame.index, spread))
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
            self.parts = Parts([Part(self.name, len(frame), partial(_of_frame, frame))], self.parts.callback)
        guesses = [*made.left_out_sentences()]
        notes = [*made.sentences("all rows" if self.file is not None else "evenly spread rows")]
        classes, left_out = list[str](), np.empty(0, dtype=np.int64)
        y: Any = None
        if labels != "none":
            y, classes, said, guessed, gaps = self._labels(recipe, labels)
            left_out = self._empty(gaps, recipe, frame) if self.file is None else left_out
            unlabeled = about_gaps(int(np.sum(y == UNLABELED)) - len(left_out)) if classes else []
            notes = [*said, *unlabeled, *notes, *suspicions(frame, recipe.label(), file.table(recipe).seen)]
            guesses = [*guessed, *guesses]
        about = about_empty_rows(len(left_out)) if self.file is None else file.table(recipe).notes[1:]
        about = [*self.said, *about]
        notes, guesses = [*about, *notes], [*about, *guesses]
        if y is not None and classes:
            here = np.asarray(y) if self.file is not None else np.asarray(y)[frame.index]
            notes += leaks(frame, here, made.columns, classes)
        own = self.parts.parts
        points = [Part(one.name, one.n, partial(self._points, i, made, is_strict)) for i, one in enumerate(own)]
        array = Rows(Parts(points, self.parts.callback), len(made.names), dtype, made.names)
        if len(left_out):
            array, y = array.taken(np.delete(np.arange(len(array)), left_out)), np.delete(y, left_out)
        return Prepared(array, y, classes, made, notes, guesses, left_out)

    def _empty(self, rows: NDArray, recipe: Recipe, frame: pd.DataFrame) -> NDArray[np.int64]:
        """Return those of ascending rows that have no value, as a table that is read whole leaves them out.

        Each pass reads one column of the rows in question, that with the fewest gaps in a sample of the table first.
        """
        for name in frame.isna().sum().sort_values(kind="stable").index:
            found = [rows[:0]]
            for number, own, read in self.parts.read([name], rows, "empty rows of ") if len(rows) else ():
                assert own is not None
                with readable(self.parts.called(number), also=(pyarrow.ArrowException,)):
                    is_missing = blanked(_framed(read)[name], recipe.missing_words, Seen()).isna().to_numpy()
                found.append(self.parts.starts[number] + own[is_missing])
            rows = np.concatenate(found)
        return rows if len(rows) < len(self.parts) else rows[:0]

    def _points(self, number: int, features: Features, is_strict: bool, _names: Any, rows: NDArray) -> NDArray:
        frame = self.frame(number, features.columns, features.recipe.missing_words, rows)
        return features.transform(frame, keeps_gaps=is_strict)

    def _roles(self, given: Mapping[str, Any], sample: File) -> dict[str, str]:
        """Return the given roles, and those of columns named as an index, by the first rows: others are far apart.

        Only rows that follow each other count up by one, and have an id of several rows again.
        """
        said = dict(given.get("roles") or {})
        left = {*said, *(given.get("drop") or ()), given.get("target")}
        names = [name for name in self.kinds if may_be_index(name) and name not in left]
        if given.get("features") is not None or not names:
            return said
        first, spread = (
            file.table(Recipe(missing_words=())).frame
            for file in (self.some(np.arange(min(ROWS, len(self.parts))), names), sample)
        )
        found = {name: is_index(name, first[name]) for name in names}
        others = [name for name in names if not found[name] and name not in self.index]  # which the table declares
        only_there = {name: "number" for name in others if is_index(name, spread[name])}
        return {name: "index" for name in names if found[name]} | only_there | said

    def _rows_of_other_categories(self, recipe: Recipe, frame: pd.DataFrame) -> NDArray:
        """Return ascending rows with the categories that the sample does not have, one for each, found in one pass."""
        words, names = recipe.missing_words, [name for name, role in recipe.roles if role == "category"]
        known, found = {name: {*labels_of(frame[name])} for name in names}, set[int]()
        is_sample = bool(names) and len(frame) < len(self.parts)
        for number, _, read in self.parts.read(names, doing="categories of ") if is_sample else ():
            with readable(self.parts.called(number), also=(pyarrow.ArrowException,)):
                own = _framed(read)
            for name in names:
                if len(known[name]) > LOCAL.categories + 1:  # the preparation says so
                    continue
                different = blanked(own[name], words, Seen()).drop_duplicates()
                for row, one in zip(different.index, labels_of(different), strict=True):
                    if one is not None and one not in known[name]:
                        known[name].add(one)
                        found.add(int(self.parts.starts[number] + row))
        return np.array(sorted(found), dtype=np.int64)

    def _labels(self, recipe: Recipe, labels: str) -> tuple[NDArray, list[str], list[str], list[str], NDArray]:
        """Return all class codes or pair ids, the classes' names, notes, guesses, and the rows without a label in the table.

        The column is read alone, in one pass.
        """
        label, is_whole, seen = recipe.label(), labels == "pairs" or recipe.bins is not None, Seen()
        values, found, counts = dict[Any, int](), list[Any](), np.zeros(0, dtype=np.int64)
        for number, _, read in self.parts.read([label], doing="labels of "):
            with readable(f"the labels of {self.parts.called(number)}", also=(pyarrow.ArrowException,)):
                column = blanked(_framed(read)[label], recipe.missing_words, seen)
            if is_whole:
                found.append(column)
                continue
            codes, different = factorized(column)
            places = [values.setdefault(value, len(values)) for value in different]
            found.append(np.array([*places, -1], dtype=np.min_scalar_type(-max(1, len(values))))[codes])
            counts = np.pad(counts, (0, len(values) - len(counts)))
            counts += np.bincount(found[-1][codes >= 0], minlength=len(values))
        missing = [*filter(None, [about_missing(Seen({k: n for k, n in seen.items() if k[0]}), "missing labels")])]
        if is_whole:
            whole = pd.concat(found, ignore_index=True)
            y, classes, notes = (pair_ids(whole), (), ()) if labels == "pairs" else class_codes(whole, recipe, labels)
            said = [*missing, *(one for one in notes if one not in about_gaps(int(np.sum(y == UNLABELED))))]
            return y, list(classes), said, said, np.flatnonzero(whole.isna())
        order = np.argsort(-counts, kind="stable")  # of several forms of a class the most frequent one is its name
        column = pd.Series(list(values), name=label).iloc[order]
        refuse_pairs(column.repeat(np.minimum(counts[order], 3)))  # more than two rows are no pair
        codes, classes, notes = class_codes(column, recipe, labels)
        of_value = np.full(len(values) + 1, -1, dtype=np.min_scalar_type(-max(1, len(classes))))
        of_value[order] = codes
        y = np.concatenate([of_value[places] for places in found])
        hidden = label_text(column, recipe)[1]
        is_guess = recipe.unlabeled == AUTO and not all(is_minus_one(np.array(sorted(hidden), dtype=str)))
        guessed = about_unlabeled(hidden, recipe.unlabeled) if is_guess else ()
        gaps = np.flatnonzero(np.concatenate(found) == -1)
        gone = about_gaps(int(np.sum(codes == UNLABELED)))  # of values
        said = [*missing, *(one for one in notes if one not in gone)]
        return y, list(classes), said, [*missing, *guessed], gaps

    def empty_rows(self, recipe: Recipe) -> NDArray[np.int64]:
        """Return the rows that have no value."""
        first = np.arange(min(SAMPLE, self.parts.parts[0].n))
        some = self.frame(0, [*self.kinds], recipe.missing_words, first)
        return self._empty(np.arange(len(self.parts)), recipe, some)

    def frames(
        self, features: Features, keep: Sequence[str], left_out: NDArray | None = None
    ) -> list[tuple[str, Callable[[], pd.DataFrame]]]:
        """Return the name of each part, and a function that reads its columns of features and those to keep."""
        names, words = list(dict.fromkeys([*features.columns, *keep])), features.recipe.missing_words
        found = list[tuple[str, Callable[[], pd.DataFrame]]]()
        for i, one in enumerate(self.parts.parts):
            own = np.arange(one.n)
            rows = own if left_out is None else own[~np.isin(self.parts.starts[i] + own, left_out)]
            found.append((one.name, partial(self.frame, i, names, words, None if len(rows) == one.n else rows)))
        return found


def _framed(read: Any) -> pd.DataFrame:
    is_frame = isinstance(read, pd.DataFrame)  # of which Dask's have an index of their own
    return as_in_parquet(read) if is_frame else frame_of_table(read, LOCAL)[0]


# A column is asked for by the name that the reader gives it: without blanks, and by its number if it has none.
def _of_parquet(read: Callable[..., Any], own: Mapping[str, str], names: Sequence[str], rows: NDArray | None) -> Any:
    return read([own[name] for name in names], rows).rename_columns(list(names))


def _of_frame(frame: pd.DataFrame, names: Sequence[str], rows: NDArray | None) -> pd.DataFrame:
    return frame[list(names)] if rows is None else frame[list(names)].iloc[rows]


def _of_array(X: NDArray, _names: Sequence[str], rows: NDArray) -> NDArray:
    return np.asarray(X[rows])


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


# --- what people give


def is_dask(X: Any) -> bool:
    """Return True if the object is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def is_arrays(X: Any) -> bool:
    """Return True if the value is a list of arrays of points."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(a, np.ndarray) and a.ndim == 2 for a in X)


def _parts_of_arrays(X: Any) -> tuple[list[Part], int, np.dtype]:
    """Return the parts, the number of columns and the type of arrays, memory maps, or the blocks of a Dask Array."""
    if is_arrays(X):
        d = X[0].shape[1]
        for number, own in enumerate(X, start=1):
            if own.shape[1] != d:
                raise DataError(f"array {number} must have {d} columns as the first one, got {own.shape[1]}")
        parts = [
            Part(str(getattr(own, "filename", None) or "an array"), len(own), partial(_of_array, own)) for own in X
        ]
        return parts, d, np.result_type(*X)
    from dask.base import compute
    from dask.delayed import delayed

    if X.ndim != 2:
        raise DataError(f"a Dask Array of points must have two dimensions, got {X.ndim}")
    blocks = list(X.rechunk({1: -1}).to_delayed()[:, 0])
    sizes = compute(*map(delayed(len), blocks)) if np.isnan(X.chunks[0]).any() else X.chunks[0]
    picks = [partial(_on_worker, _of_array, block) for block in blocks]
    parts = [Part(f"block {i}", int(n), pick) for i, (pick, n) in enumerate(zip(picks, sizes, strict=True))]
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
    callback: Callback | None = None,
    **reading: Any,
) -> tuple[Rows, Any]:
    """Return an out-of-core array that reads only the rows it needs, and the labels.

    A table's columns are prepared as everywhere: missing numbers are replaced, categories get a column each, dates are days.

    Parameters
    ----------
    X : path, Dask DataFrame, Dask Array or list of ndarray
        A Parquet file, or a folder of Parquet files in the order of their names; another file of a table, such as a CSV,
        which is read whole; a Dask collection; or arrays or memory maps of shape (n_i, d), one after the other.
    y : str, Dask Series or Array, list of ndarray, array-like or None
        The labels, or the name of their column. The column is read alone, in one pass. Missing labels are unlabeled, and
        rows without any value are left out. In labels that are not a column of `X`, -1 is unlabeled, too.
    features : sequence of str, optional
        The feature columns, each once. By default all columns except the label and an index, such as the one that pandas
        writes. The rows' `notes` name the columns that are left out.
    drop : sequence of str
        Columns to leave out.
    missing_words : sequence of str
        Text cells that mean a missing value. By default the words of pandas' `read_csv`, and "?", which others replace.
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
    **reading : object
        Other options of the commands: `roles` (a role for each name), `order`, `bins`, `text_dimensions`, and of a text
        `header`, `delimiter`, `decimal` and `encoding`.

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
    said = NONE if unlabeled is None else written(unlabeled)
    given: dict[str, Any] = {"missing": {None: "mean", AUTO: "mean"}.get(missing, missing), "unlabeled": said}
    if is_arrays(X) or (is_dask(X) and not hasattr(X, "columns")):
        parts, d, dtype = _parts_of_arrays(X)
        if scaling == "none" and missing in (None, AUTO):
            own = np.result_type(np.float32, dtype)
            rows = Rows(Parts(parts, callback), d, own)
        else:
            names = [f"x{j + 1}" for j in range(d)]

            def framed(part: Part, some: Sequence[str], own: NDArray | None) -> pd.DataFrame:
                return pd.DataFrame(part.read((), np.arange(part.n) if own is None else own), columns=names)[list(some)]

            as_tables = [Part(one.name, one.n, partial(framed, one)) for one in parts]
            table = PartedTable("arrays", Parts(as_tables, callback), dict.fromkeys(names, dtype))
            rows = table.prepared("none", scaling, sample=sample, is_strict=missing in (None, AUTO), **given).rows
            rows.names = None
        if not len(rows):
            raise DataError("X must have at least one row, got none")
        return rows, _given_labels(y, len(rows), said)
    target = y if isinstance(y, str) else None
    given |= {"target": target, "features": features, "drop": drop, "missing_words": missing_words, **reading}
    kind, is_strict = "none" if target is None else labels, missing is None
    text = {name: value for name, value in reading.items() if name in OF_FILE}
    made = PartedTable.of(X, callback, **text).prepared(
        kind, scaling, sample=sample, is_strict=is_strict, is_asked=False, **given
    )
    made.rows.notes, made.rows.guesses = tuple(made.notes), tuple(made.guesses)
    if target is None:
        return made.rows, _given_labels(y, len(made.rows), said)
    if labels == "pairs":
        return made.rows, made.y
    found, classes = training_labels(made.y, made.classes, is_ordered=bool(made.features.recipe.order))
    return made.rows, found if classes is None else np.array(classes, dtype=object)[found]


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
        raise DataError(f"there must be a label for each of {counted(n, 'row')} (-1: unlabeled), got {len(y)}")
    if y is None or unlabeled == AUTO:
        return y
    codes, names, _ = class_codes(pd.Series(y, name="y"), Recipe(unlabeled=unlabeled), "classes")
    return training_labels(codes, names)[0]
