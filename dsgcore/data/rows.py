"""Rows of data that may be larger than memory: arrays and memory maps, folders of Parquet files, collections of Dask.

A source has `labels()`, which are read first, and `take(rows)`, which reads the parts that hold these rows.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow
from numpy.typing import DTypeLike, NDArray

from dsgcore.core.parameters import quoted
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.datasets import DataError
from dsgcore.data.options import SCALING, checked
from dsgcore.data.parquet_folders import check_columns, dataset_of, numbers_of, part_columns
from dsgcore.data.preparation import MISSING, Preparation
from dsgcore.data.reading.binary import exact, is_parquet_data, pandas_index
from dsgcore.data.reading.columns import ROWS, about_index, feature_role, is_index, may_be_index
from dsgcore.data.reading.features import Features
from dsgcore.data.reading.file import File
from dsgcore.data.reading.label_kinds import as_text
from dsgcore.data.reading.limits import LOCAL
from dsgcore.data.reading.missing import Seen, blanked
from dsgcore.data.reading.missing import sentence as missing_sentence
from dsgcore.data.reading.names import check_column, listed, readable
from dsgcore.data.reading.recipe import MISSING_WORDS
from dsgcore.data.reading.unlabeled import AUTO, Labels, about_unlabeled, is_minus_one, labels_of_column, numbers_given
from dsgcore.kernels.features import in_precision

# Values that depend on all rows, such as a kernel's "scale", are estimated from at most this many rows, evenly spread.
SAMPLE = 65_536
# Progress callback: called after each part with its name, the number of parts read, and the number of all parts.
Callback = Callable[[str, int, int], object]
# What a column holds that has no value at all.
NOTHING = "no value"
_SHOWN = 6


# --- a table's columns


@dataclass(frozen=True)
class Columns:
    """The columns of a table, and those that are its features.

    Attributes
    ----------
    kinds : mapping of str to numpy dtype or str
        The type of each column's numbers, or what else it holds.
    names : tuple of str
        The features, in their order.
    notes : tuple of str
        Sentences about the columns that are left out.
    guesses : tuple of str
        The notes that record a guess: the table itself does not state them.
    """

    kinds: Mapping[str, np.dtype | str]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()

    @property
    def dtype(self) -> np.dtype:
        """The type of all features together."""
        return np.result_type(*(self.kinds[name] for name in self.names))


def chosen_columns(
    kinds: Mapping[str, np.dtype | str],
    label: str | None,
    features: Sequence[str] | None,
    drop: Collection[str],
    index: Collection[str],
    first: Callable[[list[str]], pd.DataFrame],
) -> Columns:
    """Choose the features of a table: by default all columns but the label, the dropped ones, an index, and empty ones.

    `index` are the columns that the table itself declares as its index, and `first` returns the first rows of some columns.
    """
    known = list(kinds)
    for name in (*([label] if label is not None else ()), *(features or ()), *drop):
        check_column(name, known)
    if label in (*(features or ()), *drop):
        raise DataError(f"column {quoted(label)} is the label: it can be neither a feature nor left out")
    if twice := [name for name in features or () if list(features or ()).count(name) > 1]:
        raise DataError(f"the features must name each column once, got {quoted(twice[0])} twice")
    names = [name for name in (known if features is None else features) if name != label and name not in drop]
    notes: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    if features is None:
        declared = [name for name in names if name in index]
        maybe = [name for name in names if name not in index and may_be_index(name)]
        some = first(maybe) if maybe else pd.DataFrame()
        guessed = [name for name in maybe if is_index(name, some[name])]
        empty = [name for name in names if kinds[name] == NOTHING and name not in (*declared, *guessed)]
        guesses = (about_index(guessed),) if guessed else ()
        notes = ((about_index(declared),) if declared else ()) + guesses
        notes += (f"{listed(empty)}: no value, so it is left out.",) if empty else ()
        names = [name for name in names if name not in (*declared, *guessed, *empty)]
    if not names:
        reason = " ".join(notes).rstrip(".") or "there is none besides the label and those left out"
        raise DataError(f"no column of features is left: {reason}")
    _check_numbers({name: kind for name in names if isinstance(kind := kinds[name], str)})
    return Columns(kinds, tuple(names), notes, guesses)


def _check_numbers(others: dict[str, str]) -> None:
    """Raise `DataError` if a feature holds no numbers; name what it holds."""
    if not others:
        return
    if len(others) == 1:
        ((name, kind),) = others.items()
        what, them = f"column {quoted(name)} holds no numbers but {kind}", "it"
    else:
        shown = ", ".join(f"{quoted(name)} ({kind})" for name, kind in list(others.items())[:_SHOWN])
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        what, them = f"{len(others)} columns hold no numbers, {shown}{more}", "them"
    raise DataError(
        f"{what}: make {them} numbers, leave {them} out (drop, --drop), or name the features instead (features, --features)"
    )


# --- sources


@dataclass(frozen=True)
class Part:
    """Rows that are read together: an array, a row group of a file, or a partition.

    `points` returns the points at ascending rows of the part, of shape (len(rows), d); `column` any of its columns.
    """

    name: str
    n: int
    points: Callable[[NDArray], NDArray]
    column: Callable[[str], Any] | None = None


@dataclass
class Source:
    """Parts of rows, one after the other. Its errors name the part and the fault."""

    parts: Sequence[Part]
    d: int
    dtype: np.dtype
    labels: Callable[[], pd.Series] | None = None
    columns: Columns | None = None
    callback: Callback = lambda name, done, of: None
    preparation: Preparation | None = None
    notes: tuple[str, ...] = ()  # sentences about columns that are left out, and about labels that were read as missing
    guesses: tuple[str, ...] = ()  # the notes that record a guess: the data themselves do not state them
    starts: NDArray = field(init=False)
    reads: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.starts = np.cumsum([0, *(part.n for part in self.parts)])
        if self.columns is not None:
            self.notes, self.guesses = self.columns.notes, self.columns.guesses

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def names(self) -> tuple[str, ...] | None:
        """The features' names, if they have names."""
        return None if self.columns is None else self.columns.names

    def say(self, sentences: Iterable[str], *, is_guess: bool = True) -> None:
        """Add notes."""
        said = tuple(sentences)
        self.notes, self.guesses = self.notes + said, self.guesses + said * is_guess

    def take(self, rows: NDArray, dtype: np.dtype, *, is_checked: bool = True) -> Iterator[NDArray]:
        """Yield the prepared points at ascending `rows`, part after part."""
        edges = np.searchsorted(rows, self.starts)
        touched = np.flatnonzero(np.diff(edges))
        for done, number in enumerate(map(int, touched), start=1):
            part, own = self.parts[number], rows[edges[number] : edges[number + 1]] - self.starts[number]
            self.reads += 1
            with readable(self.called(number)):
                points = part.points(own)
            if points.shape != (len(own), self.d):
                raise DataError(
                    f"{self.called(number)} must give {len(own)} rows of {self.d} numbers, got {points.shape}"
                )
            with np.errstate(over="ignore"):
                prepared = points if self.preparation is None else self.preparation.apply(points)
                points = np.ascontiguousarray(prepared, dtype=dtype)
            if is_checked:
                self._check_finite(number, own, points)
            yield points
            self.callback(part.name, done, len(touched))

    def _check_finite(self, number: int, rows: NDArray, points: NDArray) -> None:
        is_bad = ~np.isfinite(points)
        if not is_bad.any():
            return
        row, column = np.argwhere(is_bad)[0]
        bad = f"a number that is infinite, or too large for {points.dtype}, and must be corrected,"
        if np.isnan(points[row, column]):
            bad = "NaN, a missing number (train with missing='mean' or `fit --missing mean` to replace it),"
        raise DataError(
            f"{self.called(number)} holds {bad} at its row {rows[row] + 1}, column {self.column(int(column))}"
        )

    def column(self, number: int) -> str:
        """Return a column's name, or its number counted from 1 if it has no name."""
        return str(number + 1) if self.names is None else quoted(self.names[number])

    def called(self, number: int) -> str:
        """Return a part's number, counted from 1, and its name."""
        return f"part {number + 1} of {len(self.parts)} ({self.parts[number].name})"


def is_dask(X: Any) -> bool:
    """Return True if the object is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def _is_arrays(X: Any) -> bool:
    """Return True if the value is a list of arrays of points."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(a, np.ndarray) and a.ndim == 2 for a in X)


def _of_arrays(arrays: Sequence[NDArray]) -> Source:
    d = arrays[0].shape[1]
    for number, X in enumerate(arrays, start=1):
        if X.shape[1] != d:
            raise DataError(f"array {number} must have {d} columns as the first one, got {X.shape[1]}")
    names = [str(getattr(X, "filename", None) or "an array") for X in arrays]
    parts = [Part(name, len(X), partial(_rows_of_array, X)) for name, X in zip(names, arrays, strict=True)]
    return Source(parts, d, np.result_type(*arrays))


def _rows_of_array(X: NDArray, rows: NDArray) -> NDArray:
    return np.asarray(X[rows])


def _of_file(path: Path, label: str | None, features: Sequence[str] | None, drop: Sequence[str]) -> Source:
    """Return the rows of any other file, read as the commands and the app read it."""
    file = File.of_path(path)
    recipe = file.recipe("classes", target=label, features=features, drop=drop)
    frame = file.table(recipe).frame
    if label is None and (guess := recipe.column("label")) is not None:
        recipe = recipe.with_roles({**dict(recipe.roles), guess: feature_role(frame[guess], recipe, LOCAL)})
    prepared = Features(recipe, LOCAL).fit(frame)
    kinds = dict.fromkeys(prepared.names, np.dtype(np.float32))
    left_out = tuple(prepared.left_out_sentences())
    columns = Columns(kinds, prepared.names, tuple(prepared.sentences("all rows")), left_out)
    part = Part(path.name, len(frame), partial(_rows_of_array, prepared.transform(frame)), frame.__getitem__)
    source = Source([part], len(prepared.names), np.dtype(np.float32), columns=columns)
    source.labels = partial(frame.__getitem__, label) if label is not None else None
    return source


def _of_parquet(path: Path, choose: Callable[..., Columns], label: str | None) -> Source:
    """Return the rows of a Parquet file, or of a folder of them; each row group is a part."""
    dataset = dataset_of(path)
    schema = dataset.schema
    kinds = {name: _kind_of_arrow(schema.field(name).type) for name in schema.names}
    columns = choose(kinds, index=pandas_index(schema.metadata), first=partial(_head_of_parquet, dataset))
    wanted = {name: schema.field(name).type for name in (*columns.names, *([label] if label is not None else ()))}
    parts = []
    for fragment in dataset.get_fragments():
        name = Path(fragment.path).name
        with readable(name):
            check_columns(fragment, wanted)
            groups = fragment.split_by_row_group()
        for number, group in enumerate(groups):
            own = f"{name}, row group {number}" if len(groups) > 1 else name
            points = partial(numbers_of, group, {column: wanted[column] for column in columns.names})
            column = partial(_column_of_group, group, schema, own)
            parts.append(Part(own, sum(one.num_rows for one in group.row_groups), points, column))
    source = Source(parts, len(columns.names), columns.dtype, columns=columns)
    source.labels = None if label is None else partial(_labels_of_parquet, source, label)
    return source


def _kind_of_arrow(of: Any) -> np.dtype | str:
    """Return the type of a column's numbers, or a description if it holds something else."""
    types = pyarrow.types
    if types.is_dictionary(of):
        return _kind_of_arrow(of.value_type)
    if types.is_decimal(of):
        return np.dtype(np.float64)
    if types.is_boolean(of) or types.is_integer(of) or types.is_floating(of):
        return np.dtype(of.to_pandas_dtype())
    if types.is_null(of):
        return NOTHING
    if types.is_temporal(of):
        return "dates or durations"
    if types.is_nested(of):
        return "structs" if types.is_struct(of) else "lists or other nested values"
    return "text or bytes"


def _head_of_parquet(dataset: Any, names: list[str]) -> pd.DataFrame:
    """Return the first rows of some columns; no rows of a column with lists or other nested values."""
    flat = {n: kind for n in names if not pyarrow.types.is_nested(kind := dataset.schema.field(n).type)}
    found, n = [], 0
    for fragment in dataset.get_fragments():
        with readable(Path(fragment.path).name):
            table = part_columns(fragment, flat, rows=ROWS - n)
        found.append(table.to_pandas(ignore_metadata=True))
        if (n := n + len(found[-1])) >= ROWS:
            break
    return pd.concat(found, ignore_index=True).reindex(columns=names)


def _column_of_group(group: Any, schema: Any, called: str, name: str) -> Any:
    """Return any column of a row group, as the file holds it; raise `DataError` if there is none."""
    if name not in schema.names:
        raise DataError(f"there is no column {name!r} in {called}: choose other columns to keep")
    return part_columns(group, {name: schema.field(name).type}).column(name)


def _labels_of_parquet(source: Source, label: str) -> pd.Series:
    """Return the label column, read alone in one pass. Whole numbers stay exact if some labels are missing."""
    found: list[Any] = []
    for number, part in enumerate(source.parts):
        assert part.column is not None
        with readable(f"the labels of {source.called(number)}"):
            found.append(part.column(label))
        source.callback(f"labels of {part.name}", number + 1, len(source.parts))
    if pyarrow.types.is_dictionary(found[0].type):
        return exact(pyarrow.chunked_array([chunk for column in found for chunk in column.chunks]))
    labels = pd.concat([exact(column) for column in found], ignore_index=True)
    del found
    pyarrow.default_memory_pool().release_unused()
    return labels


def _of_dask(X: Any, choose: Callable[..., Columns], label: str | None) -> Source:
    """Return the rows of a DataFrame; each partition is a part, and one task reads what is needed of it.

    All is read from one collection: two selections of columns from the same table may have other partitions.
    """
    from dask.base import compute
    from dask.delayed import delayed

    names = {str(name): name for name in X.columns}
    if len(names) < len(X.columns):
        raise DataError(f"each column must have a name of its own, got {listed(map(str, X.columns))}")
    kinds = {str(name): _kind_of_pandas(kind) for name, kind in zip(X.columns, X.dtypes, strict=True)}
    columns = choose(kinds, index=(), first=lambda some: _head_of_dask(X, [names[name] for name in some]))
    own, dtype = [names[name] for name in columns.names], _own_type(columns.dtype)
    tasks = X[[*own, *([names[label]] if label is not None else ())]].to_delayed()
    with readable("a partition"):
        labels = compute(*(delayed(_label_of)(task, None if label is None else names[label]) for task in tasks))
    parts = [
        Part(f"partition {i}", len(one), partial(_points_of_task, task, own, dtype))
        for i, (task, one) in enumerate(zip(tasks, labels, strict=True))
    ]
    return Source(parts, len(own), columns.dtype, partial(_joined, labels), columns)


def _head_of_dask(X: Any, names: list[Any]) -> pd.DataFrame:
    parts = (computed(X[names].get_partition(i)) for i in range(X.npartitions))
    first = next((part for part in parts if len(part)), pd.DataFrame(columns=names))
    return first.set_axis(list(map(str, names)), axis=1)


def _label_of(part: pd.DataFrame, label: Any) -> pd.Series:
    return pd.Series(np.zeros(len(part), dtype=np.int8)) if label is None else part[label]


def _joined(labels: Sequence[pd.Series]) -> pd.Series:
    """Return the partitions' labels as one column. Categories are joined in their order."""
    from dask.dataframe.dispatch import concat

    return concat([own for own in labels if len(own)], ignore_index=True)


def _points_of_task(task: Any, names: list[Any], dtype: np.dtype, rows: NDArray) -> NDArray:
    """Return some rows of a partition. The worker that holds it picks them, and only these are sent."""
    from dask.delayed import delayed

    return delayed(_picked)(task, names, dtype, rows).compute()


def _picked(part: pd.DataFrame, names: list[Any], dtype: np.dtype, rows: NDArray) -> NDArray:
    return part[names].iloc[rows].to_numpy(dtype=dtype, na_value=np.nan)


def _kind_of_pandas(dtype: Any) -> np.dtype | str:
    """Return the type of a column's numbers, or a description if it holds something else."""
    own = getattr(dtype, "numpy_dtype", dtype)
    if isinstance(own, np.dtype) and own.kind in "biuf":
        return own
    return "dates or durations" if getattr(own, "kind", "O") in "mM" else "text or other values"


def _of_dask_array(X: Any) -> Source:
    from dask.base import compute
    from dask.delayed import delayed

    if X.ndim != 2:
        raise DataError(f"a Dask Array of points must have two dimensions, got {X.ndim}")
    blocks = list(X.rechunk({1: -1}).to_delayed()[:, 0])
    sizes = compute(*(delayed(len)(block) for block in blocks)) if np.isnan(X.chunks[0]).any() else X.chunks[0]
    parts = [
        Part(f"block {i}", int(n), partial(_points_of_block, block))
        for i, (block, n) in enumerate(zip(blocks, sizes, strict=True))
    ]
    return Source(parts, X.shape[1], X.dtype)


def _points_of_block(block: Any, rows: NDArray) -> NDArray:
    from dask.delayed import delayed

    return delayed(_rows_of_array)(block, rows).compute()


def computed(lazy: Any) -> Any:
    """Return a collection of Dask in memory."""
    with readable("a partition"):
        return lazy.compute()


def _own_type(dtype: np.dtype) -> np.dtype:
    """Return the type of the points of a source: float32 rounds some whole numbers of four bytes and more."""
    is_wide = dtype == np.float64 or (dtype.kind in "iu" and dtype.itemsize >= 4)
    return np.dtype(np.float64 if is_wide else np.float32)


# --- rows


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
    source = _source(X, label, features, drop)
    source.callback = callback
    if not len(source):
        raise DataError("X must have at least one row, got none")
    own = _own_type(source.dtype)
    source.preparation = _learned(source, own, missing, scaling, sample) if preparation is None else preparation
    if preparation is not None and preparation.d != source.d:
        raise DataError(
            f"the preparation is for {preparation.d} columns, got {source.d}: choose the same columns with features"
        )
    is_scaled = source.preparation is not None and source.preparation.scaling.kind != "none"
    return Rows(source, np.dtype(np.float32) if is_scaled else own), _labels(y, source, missing_words, unlabeled)


def _source(X: Any, label: str | None, features: Sequence[str] | None, drop: Sequence[str]) -> Source:
    choose = partial(chosen_columns, label=label, features=features, drop=drop)
    if _is_arrays(X):
        return _of_arrays(X)
    if is_dask(X):
        return _of_dask(X, choose, label) if hasattr(X, "columns") else _of_dask_array(X)
    path = Path(X)
    if not path.exists():
        raise DataError(f"there is no file or folder {str(path)!r}")
    if is_parquet_data(path):
        return _of_parquet(path, choose, label)
    return _of_file(path, label, features, drop)


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
    source.say(filter(None, [missing_sentence(seen)]))
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
