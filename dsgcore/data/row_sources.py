"""Sources of rows: arrays and memory maps, folders of Parquet files, collections of Dask, other files of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.binary import (
    check_columns,
    dataset_of,
    exact,
    is_parquet_data,
    numbers_of,
    pandas_index,
    part_columns,
)
from dsgcore.data.reading.cells import listed, readable
from dsgcore.data.reading.columns import ROWS, about_index, check_chosen, feature_role, is_index, may_be_index
from dsgcore.data.reading.features import Features, Preparation
from dsgcore.data.reading.file import File
from dsgcore.data.reading.recipe import LOCAL

# Progress callback: called after each part with its name, the number of parts read, and the number of all parts.
Callback = Callable[[str, int, int], object]
# What a column holds that has no value at all.
NOTHING = "no value"
_SHOWN = 6


# --- a table's columns


class Columns(NamedTuple):
    """The features of a table, in their order, and sentences about columns that are left out."""

    names: tuple[str, ...]
    dtype: np.dtype  # of all features together
    notes: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()  # the notes that record a guess: the table itself does not state them


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
    check_chosen(known, label, features, drop)
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
    return Columns(tuple(names), np.result_type(*(kinds[name] for name in names)), notes, guesses)


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
            is_bad = ~np.isfinite(points) if is_checked else np.zeros(0, dtype=bool)
            if is_bad.any():
                row, column = np.argwhere(is_bad)[0]
                bad = f"a number that is infinite, or too large for {points.dtype}, and must be corrected,"
                if np.isnan(points[row, column]):
                    bad = "NaN, a missing number (train with missing='mean' or `fit --missing mean` to replace it),"
                place = f"at its row {own[row] + 1}, column {self.column(int(column))}"
                raise DataError(f"{self.called(number)} holds {bad} {place}")
            yield points
            self.callback(part.name, done, len(touched))

    def column(self, number: int) -> str:
        """Return a column's name, or its number counted from 1 if it has no name."""
        return str(number + 1) if self.names is None else quoted(self.names[number])

    def called(self, number: int) -> str:
        """Return a part's number, counted from 1, and its name."""
        return f"part {number + 1} of {len(self.parts)} ({self.parts[number].name})"


def is_dask(X: Any) -> bool:
    """Return True if the object is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def is_arrays(X: Any) -> bool:
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
    notes, left_out = tuple(prepared.sentences("all rows")), tuple(prepared.left_out_sentences())
    columns = Columns(prepared.names, np.dtype(np.float32), notes, left_out)
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
    own, dtype = [names[name] for name in columns.names], own_type(columns.dtype)
    tasks = X[[*own, *([names[label]] if label is not None else ())]].to_delayed()
    with readable("a partition"):
        labels = compute(*(delayed(_label_of)(task, None if label is None else names[label]) for task in tasks))
    parts = [
        Part(f"partition {i}", len(one), partial(_on_worker, _picked, task, own, dtype))
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


def _on_worker(pick: Callable[..., NDArray], part: Any, *given: Any) -> NDArray:
    """Return some rows of a part. The worker that holds it picks them, and only these are sent."""
    from dask.delayed import delayed

    points: NDArray = delayed(pick)(part, *given).compute()
    return points


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
        Part(f"block {i}", int(n), partial(_on_worker, _rows_of_array, block))
        for i, (block, n) in enumerate(zip(blocks, sizes, strict=True))
    ]
    return Source(parts, X.shape[1], X.dtype)


def computed(lazy: Any) -> Any:
    """Return a collection of Dask in memory."""
    with readable("a partition"):
        return lazy.compute()


def own_type(dtype: np.dtype) -> np.dtype:
    """Return the type of the points of a source: float32 rounds some whole numbers of four bytes and more."""
    is_wide = dtype == np.float64 or (dtype.kind in "iu" and dtype.itemsize >= 4)
    return np.dtype(np.float64 if is_wide else np.float32)


def source_of(X: Any, label: str | None, features: Sequence[str] | None, drop: Sequence[str]) -> Source:
    """Return the rows of arrays, of a Dask collection or of a file; the label column and chosen features by their names."""
    choose = partial(chosen_columns, label=label, features=features, drop=drop)
    if is_arrays(X):
        return _of_arrays(X)
    if is_dask(X):
        return _of_dask(X, choose, label) if hasattr(X, "columns") else _of_dask_array(X)
    path = Path(X)
    if not path.exists():
        raise DataError(f"there is no file or folder {str(path)!r}")
    if is_parquet_data(path):
        return _of_parquet(path, choose, label)
    return _of_file(path, label, features, drop)
