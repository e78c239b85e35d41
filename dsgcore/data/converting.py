"""Description of a file, and its conversion to a folder of Parquet files, which need not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
from pyarrow import parquet

from dsgcore.core.files import whole_files
from dsgcore.core.parameters import quoted
from dsgcore.data import conversions
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.binary import Source, streamed
from dsgcore.data.reading.features import Features
from dsgcore.data.reading.file import File, suit
from dsgcore.data.reading.labels import FEWEST_ORDERED, class_codes
from dsgcore.data.reading.limits import IN_PIECES
from dsgcore.data.reading.missing import Seen
from dsgcore.data.reading.names import listed, printable
from dsgcore.data.reading.parse import text_batches, typed
from dsgcore.data.reading.recipe import Recipe

_SHOWN = 12
PART = "part-{:06}.parquet"
Progress = Callable[[str, int], None]


def sniff_file(
    path: str | os.PathLike[str], labels: str = "classes", target: str | None = None, **given: Any
) -> Recipe:
    """Guess the recipe of a file on disk, or of a folder of files. `given` are arguments of `File.recipe`."""
    return File.of_path(path).recipe(labels, target=target, **given)


@dataclass(frozen=True, eq=False)
class Description:
    """Contents of a file, as its recipe reads them."""

    recipe: Recipe
    features: Features
    n: int
    missing: dict[str, int]  # number of missing values in each column
    notes: tuple[str, ...]  # on words that were read as missing, and on columns that give the label away
    class_sizes: dict[str, int]  # labeled rows of each class
    # for each kind of `conversions.LABELS` the reason why it cannot be learned from; "" if it can
    refusals: dict[str, str]

    def sentences(self) -> Iterator[str]:
        """Return sentences that describe the file's contents."""
        features, sizes = self.features, self.class_sizes
        columns = f"{self.n:,} rows, {len(self.missing):,} columns: {len(features.names):,} features"
        left_out = f", {len(features.left_out)} left out ({listed(features.left_out)})" if features.left_out else ""
        yield f"{columns}, the label {self.recipe.column('label')!r}{left_out}."
        shown = ", ".join(f"{printable(name)!r} {size:,}" for name, size in list(sizes.items())[:_SHOWN])
        more = f" and {len(sizes) - _SHOWN} more" if len(sizes) > _SHOWN else ""
        without = self.n - sum(sizes.values())
        yield f"{len(sizes)} {'bins' if self.recipe.bins else 'classes'}: {shown}{more}; {without:,} rows without a label."
        gaps = {name: count for name, count in self.missing.items() if count and self.recipe.role(name) != "label"}
        few = ", ".join(f"{count:,} in {name!r}" for name, count in list(gaps.items())[:_SHOWN]) or "none"
        yield f"Missing values: {few}{f' and in {len(gaps) - _SHOWN} more' if len(gaps) > _SHOWN else ''}."
        yield from self.notes


def describe_file(
    what: File | str | os.PathLike[str], recipe: Recipe | None = None, labels: str = "classes"
) -> Description:
    """Describe the contents of a file, by default as it is guessed. `labels` is the kind of labels whose classes are counted.

    Raises
    ------
    DataError
        If nothing can be learned from the file.
    """
    file = what if isinstance(what, File) else File.of_path(what)
    recipe = file.recipe(labels) if recipe is None else recipe
    table = file.table(recipe)
    frame = table.frame
    if len(frame) < 2:
        raise DataError(f"the table must have at least 2 rows, got {len(frame)}")
    features = Features(recipe, file.limits).fit(frame)
    refusals = {kind: _refusal(frame, recipe, kind) for kind in conversions.LABELS}
    if all(refusals.values()):
        raise DataError(refusals[labels])
    kind = labels if not refusals[labels] else next(kind for kind, reason in refusals.items() if not reason)
    told = file.points(suit(recipe, frame, kind), kind).report[len(table.notes) :]
    missing = {str(name): int(count) for name, count in frame.isna().sum().items()}
    sizes = _class_sizes(frame, recipe, labels) if not refusals[labels] else {}
    return Description(recipe, features, len(frame), missing, (*table.notes[1:], *told), sizes, refusals)


def _class_sizes(frame: pd.DataFrame, recipe: Recipe, labels: str) -> dict[str, int]:
    y, names, _ = class_codes(frame[recipe.label()], recipe, labels)
    return dict(zip(names, np.bincount(y[y >= 0], minlength=len(names)).tolist(), strict=True))


def _refusal(frame: pd.DataFrame, recipe: Recipe, labels: str) -> str:
    """Return the reason why labels of a kind cannot be learned from; empty if they can."""
    try:
        sizes = _class_sizes(frame, suit(recipe, frame, labels), labels)
    except DataError as error:
        return str(error)
    few = min(sizes, key=lambda name: sizes[name])
    if sizes[few] < 2:
        return f"each class must have at least 2 rows, one of them for testing, got {sizes[few]} of {quoted(few)}"
    if labels == "ordinal" and len(sizes) < FEWEST_ORDERED:
        return "two classes have no order to learn; use the setting auc (the page Ranking)"
    return ""


def convert_file(
    path: str | os.PathLike[str], folder: str | os.PathLike[str], recipe: Recipe, progress: Progress | None = None
) -> int:
    """Write a file as a folder of Parquet files, and return the number of rows. Text is read in pieces, twice.

    The first pass finds the type of each column, the second one writes them, so the file need not fit in memory. Columns
    and cells are those of the file: no column is left out, and nothing is replaced.

    Parameters
    ----------
    path : path
    folder : path
        Created if it does not exist; it must be empty.
    recipe : Recipe
        For instance from `sniff_file`.
    progress : callable, optional
        Called with the name of the current step and the number of rows done.
    """
    to = Path(folder)
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise DataError(f"{quoted(str(to))} must be a new or empty folder, and it is not: name another one")
    if recipe.format != "delimited":
        frame = File.of_path(path).table(recipe).frame
        tables = iter([pyarrow.Table.from_pandas(frame, preserve_index=False)])
    else:
        kinds: dict[str, pyarrow.DataType] = {}
        for table in _tables(path, recipe, "looking", progress):
            for name, kind in zip(table.column_names, table.schema.types, strict=True):
                kinds[name] = _wider(kinds.get(name, pyarrow.null()), kind)
        schema = pyarrow.schema(list(kinds.items()))
        tables = (_cast(table, schema) for table in _tables(path, recipe, "writing", progress, as_text=schema))
    n = 0
    with whole_files(to, (PART.format(0),)) as part:
        writer = None
        for table in tables:
            writer = writer or parquet.ParquetWriter(part / PART.format(0), table.schema)
            writer.write_table(table)
            n += table.num_rows
        if writer is None:
            raise DataError("the table has no rows")
        writer.close()
    return n


def _tables(
    path: str | os.PathLike[str], recipe: Recipe, doing: str, progress: Progress | None, as_text: Any = None
) -> Iterator[pyarrow.Table]:
    """Yield the rows of a text in pieces, each column with the type that suits the piece."""
    source = streamed(Source.of_path(path), IN_PIECES)
    names, _, batches = text_batches(source, recipe, IN_PIECES)
    done = 0
    for batch in batches:
        columns = {
            name: typed(
                pyarrow.chunked_array([batch.column(j)]),
                recipe,
                name,
                Seen(),
                is_text=as_text is not None and pyarrow.types.is_large_string(as_text.field(name).type),
            )
            for j, name in enumerate(names)
        }
        done += batch.num_rows
        if progress is not None:
            progress(doing, done)
        yield pyarrow.table({name: _array(column) for name, column in columns.items()})


def _array(column: pd.Series) -> pyarrow.Array:
    array = pyarrow.array(column, from_pandas=True)
    if pyarrow.types.is_string(array.type):
        return array.cast(pyarrow.large_string())
    return array.cast(pyarrow.null()) if array.null_count == len(array) else array


def _wider(one: pyarrow.DataType, other: pyarrow.DataType) -> pyarrow.DataType:
    """Return the type that holds the values of two types."""
    if one == other or pyarrow.types.is_null(other):
        return one
    if pyarrow.types.is_null(one):
        return other
    text = pyarrow.large_string()
    return text if text in (one, other) else pyarrow.float64()


def _cast(table: pyarrow.Table, schema: pyarrow.Schema) -> pyarrow.Table:
    return pyarrow.table([table.column(field.name).cast(field.type) for field in schema], schema=schema)
