"""Description of a file, and its conversion to a folder of Parquet files, which need not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from dsgcore.core.files import whole_files
from dsgcore.core.parameters import counted, quoted
from dsgcore.data.datasets import LABELS, DataError
from dsgcore.data.reading.cells import Seen, listed, printable
from dsgcore.data.reading.columns import is_index
from dsgcore.data.reading.features import Features
from dsgcore.data.reading.file import OTHER_COLUMNS, File, suit
from dsgcore.data.reading.labels import FEWEST_ORDERED, class_codes
from dsgcore.data.reading.parse import batches_below, rows_below, typed
from dsgcore.data.reading.recipe import IN_PIECES, Recipe
from dsgcore.data.reading.sources import Source, files_of, streamed
from dsgcore.data.reading.svmlight import TARGET, Ends, pieces_of_all
from dsgcore.data.reading.unlabeled import check_exact

_SHOWN = 12
PART = "part-{:06}.parquet"
Progress = Callable[[str, int], None]
_TEXT = pyarrow.large_string()


@dataclass(frozen=True, eq=False)
class Description:
    """Contents of a file, as its recipe reads them."""

    recipe: Recipe
    features: Features
    n: int
    missing: dict[str, int]  # number of missing values in each column
    notes: tuple[str, ...]  # on words that were read as missing, and on columns that give the label away
    class_sizes: dict[str, int]  # labeled rows of each class
    # for each kind of `LABELS` the reason why it cannot be learned from; "" if it can
    refusals: dict[str, str]

    def sentences(self) -> Iterator[str]:
        """Return sentences that describe the file's contents."""
        features, sizes = self.features, self.class_sizes
        columns = f"{counted(self.n, 'row')}, {counted(len(self.missing), 'column')}: {counted(len(features.names), 'feature')}"
        left_out = f", {len(features.left_out)} left out ({listed(features.left_out)})" if features.left_out else ""
        yield f"{columns}, the label {self.recipe.column('label')!r}{left_out}."
        shown = ", ".join(f"{printable(name)!r} {size:,}" for name, size in list(sizes.items())[:_SHOWN])
        more = f" and {len(sizes) - _SHOWN} more" if len(sizes) > _SHOWN else ""
        without = self.n - sum(sizes.values())
        yield f"{len(sizes)} {'bins' if self.recipe.bins else 'classes'}: {shown}{more}; {counted(without, 'row')} without a label."
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
    sizes: dict[str, dict[str, int]] = {}
    refusals = dict.fromkeys(LABELS, "")
    for kind in LABELS:
        try:
            y, names, _ = class_codes(frame[recipe.label()], suit(recipe, frame, kind), kind)
        except DataError as error:
            refusals[kind] = str(error)
            continue
        sizes[kind] = dict(zip(names, np.bincount(y[y >= 0], minlength=len(names)).tolist(), strict=True))
        few = min(names, key=sizes[kind].__getitem__)
        if (n := sizes[kind][few]) < 2:
            refusals[kind] = (
                f"each class must have at least 2 rows, one of them for testing, got {n} of {quoted(few)}: give it more, "
                "or name another column (--target)"
            )
        elif kind == "ordinal" and len(names) < FEWEST_ORDERED:
            refusals[kind] = "two classes have no order to learn; use the setting auc (the page Ranking)"
    if all(refusals.values()):
        raise DataError(refusals[labels])
    kind = labels if not refusals[labels] else next(kind for kind, reason in refusals.items() if not reason)
    data, features = file.prepared(suit(recipe, frame, kind), kind)
    missing = {str(name): int(count) for name, count in frame.isna().sum().items()}
    notes = (*table.notes[1:], *data.report[len(table.notes) :])
    return Description(recipe, features, len(frame), missing, notes, sizes.get(labels, sizes[kind]), refusals)


def convert_file(
    path: str | os.PathLike[str], folder: str | os.PathLike[str], recipe: Recipe, progress: Progress | None = None
) -> int:
    """Write a file, or a folder of files, as a folder of Parquet files; return the number of rows. Text is read in pieces, twice.

    The first pass finds the type of each column, the second one writes them, so the file need not fit in memory. Columns
    and cells are those of the file: no column is left out, and nothing is replaced.

    Parameters
    ----------
    path : path
    folder : path
        Created if it does not exist; it must be empty.
    recipe : Recipe
        For instance from `File.recipe`.
    progress : callable, optional
        Called with the name of the current step and the number of rows done.
    """
    to, progress = Path(folder), progress or (lambda doing, n: None)
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise DataError(f"{quoted(str(to))} must be a new or empty folder, and it is not: name another one")
    if recipe.format not in ("svmlight", "delimited"):
        file = File.of_path(path)
        frame = file.table(recipe).frame
        index = [name for name, role in file.sniff().roles if role == "index"]  # that the file declares
        frame = frame.set_index(index) if index else frame
        tables = iter([pyarrow.Table.from_pandas(frame, preserve_index=bool(index))])
    else:
        found = files_of(Path(path)) if Path(path).is_dir() else [Source.of_path(path)]
        sources = [streamed(one, IN_PIECES) for one in found]
        tables = (_sparse_tables if recipe.format == "svmlight" else _text_tables)(sources, recipe, progress)
    n = 0
    with whole_files(to, (PART.format(0),)) as part:
        writer = None
        for table in tables:
            writer = writer or parquet.ParquetWriter(part / PART.format(0), table.schema)
            writer.write_table(table)
            n += table.num_rows
            progress("writing", n)
        if writer is None:
            raise DataError("the table has no rows")
        writer.close()
    return n


def _sparse_tables(sources: Sequence[Source], recipe: Recipe, progress: Progress) -> Iterator[pyarrow.Table]:
    """Yield the rows of LIBSVM text in pieces. The first pass finds its indices and types."""
    ends, n = Ends(), 0
    for piece in pieces_of_all(sources):
        ends.add(piece)
        check_exact(piece.labels, "LIBSVM text")
        n += len(piece.labels)
        progress("looking", n)
    base, width = ends.checked(IN_PIECES)
    for piece in pieces_of_all(sources):
        frame = piece.frame(base, width, ends.dtype)
        if recipe.unlabeled == "0":  # as the signs of all labels say, which a table does not have
            frame[TARGET] = frame[TARGET].mask(frame[TARGET] == 0)
        yield pyarrow.Table.from_pandas(frame, preserve_index=False)


def _text_tables(sources: Sequence[Source], recipe: Recipe, progress: Progress) -> Iterator[pyarrow.Table]:
    """Yield the rows of a text in pieces. The first pass finds the type of each column."""
    first: list[str] = []

    def pieces(source: Source, schema: Any = None) -> Iterator[pyarrow.Table]:
        names, _, skipped, head = rows_below(source, recipe, IN_PIECES)
        column = pyarrow.chunked_array([[row[0] for row in head]], _TEXT)
        if not recipe.header and (first[0] == "row" if first else is_index("row", typed(column, recipe, "", Seen()))):
            names = ["row", *names[1:]]  # a number of the row has no name that would tell
        keys = {name: value for name, value in source.keys.items() if name not in names}
        first.extend(() if first else [*names, *keys])
        if [*names, *keys] != first:
            raise DataError(OTHER_COLUMNS)
        for batch in batches_below(source, recipe, IN_PIECES, skipped, [_TEXT] * len(names)):
            columns = dict[str, pyarrow.Array]()
            for name, cells in zip(names, batch.columns, strict=True):
                is_text = schema is not None and schema.field(name).type == _TEXT
                column = typed(pyarrow.chunked_array([cells]), recipe, name, Seen(), is_text)
                array = pyarrow.array(column, from_pandas=True)
                array = array.cast(_TEXT) if pyarrow.types.is_string(array.type) else array
                columns[name] = pyarrow.nulls(len(array)) if array.null_count == len(array) else array
            for name, value in keys.items():
                column = pyarrow.repeat(pyarrow.scalar(value), len(batch))
                columns[name] = column.cast(_TEXT) if isinstance(value, str) else column
            yield pyarrow.table(columns) if schema is None else pyarrow.table(columns).cast(schema)

    kinds, n = dict[str, pyarrow.DataType](), 0
    for table in pieces_of_all(sources, pieces):
        for name, kind in zip(table.column_names, table.schema.types, strict=True):
            before = kinds.get(name, pyarrow.null())
            if pyarrow.types.is_null(before) or before == kind or pyarrow.types.is_null(kind):
                kinds[name] = kind if pyarrow.types.is_null(before) else before
            else:
                kinds[name] = _TEXT if _TEXT in (before, kind) else pyarrow.float64()
        n += table.num_rows
        progress("looking", n)
    if not n:
        raise DataError("the table has no rows")
    yield from pieces_of_all(sources, partial(pieces, schema=pyarrow.schema(list(kinds.items()))))
