"""A file as a table, before its columns become points and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.archives import read_archive
from dsgcore.data.reading.delimited import read_delimited
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.missing import Seen, blanked
from dsgcore.data.reading.missing import sentence as missing_sentence
from dsgcore.data.reading.names import as_cell, printable, written
from dsgcore.data.reading.parquet import read_parquet
from dsgcore.data.reading.recipe import DELIMITERS, Recipe
from dsgcore.data.reading.sources import Piece, Source, binary_format
from dsgcore.data.reading.svmlight import read_svmlight


@dataclass(frozen=True, eq=False)
class Table:
    """A table, and notes on its reading."""

    frame: pd.DataFrame  # its columns have the names that roles refer to; its index counts the rows from 0
    notes: tuple[str, ...]  # the steps of the reading, one sentence each
    missing: str = ""  # words that were read as missing, and the number of cells

    def head(self, rows: int = 50) -> pd.DataFrame:
        """Return the first rows as text that is safe to show and to save, counted from 1."""
        first = self.frame.head(rows)
        cells = {as_cell(str(name)): _as_text(column) for name, column in first.items()}
        return pd.DataFrame(cells, index=first.index + 1)


def _as_text(column: pd.Series) -> list[str]:
    missing = column.isna()
    return ["" if gone else as_cell(printable(written(value))) for value, gone in zip(column, missing, strict=True)]


def read_table(source: Source, recipe: Recipe, limits: Limits) -> Table:
    """Read a whole unpacked table into memory; raise `DataError` with the row and column if possible."""
    seen = Seen()
    frame, notes = next(pieces(source, recipe, limits, seen=seen))
    missing = missing_sentence(seen)
    return Table(frame, (_sentence(frame, recipe), *notes, *([missing] if missing else [])), missing)


def pieces(
    source: Source, recipe: Recipe, limits: Limits, rows: int | None = None, seen: Seen | None = None
) -> Iterator[Piece]:
    """Yield the table in pieces of so many rows (None: in one), numbered from 0. An archive is always one piece.

    Cells that are read as missing are counted in `seen`.
    """
    seen = Seen() if seen is None else seen
    found = binary_format(source)
    is_binary = recipe.format in ("parquet", "npz")
    if (found or "text") != (recipe.format if is_binary else "text"):
        raise DataError(f"the recipe is for the format {recipe.format}, and the file is {found or 'text'}")
    readers: dict[str, Callable[[], Iterator[Piece]]] = {
        "parquet": lambda: read_parquet(source, limits, rows),
        "npz": lambda: read_archive(source, limits),
        "svmlight": lambda: read_svmlight(source, limits, rows),
        "delimited": lambda: read_delimited(source, recipe, limits, seen, rows),
    }
    done = 0
    for frame, notes in readers[recipe.format]():
        frame.index = pd.RangeIndex(done, done + len(frame))
        for name, column in frame.items() if recipe.format != "svmlight" else ():
            if (known := blanked(column, recipe.missing_words, seen)) is not column:
                frame[name] = known
        done += len(frame)
        yield frame, notes


def _sentence(frame: pd.DataFrame, recipe: Recipe) -> str:
    size = f"{len(frame):,} rows and {frame.shape[1]:,} columns"
    if recipe.format == "delimited":
        header = "names in the first line" if recipe.header else "no names"
        mark = {".": "point", ",": "comma"}[recipe.decimal]
        how = f"cells separated by {DELIMITERS[recipe.delimiter]}, {header}, decimal {mark}, {recipe.encoding}"
        return f"Read as text: {size}; {how}."
    names = {"parquet": "Parquet", "svmlight": "LIBSVM text, made dense", "npz": "a NumPy archive"}
    return f"Read as {names[recipe.format]}: {size}."


def labels_of(column: pd.Series, missing_words: tuple[str, ...] = ()) -> NDArray[np.object_]:
    """Return a column as label text, None for a missing label."""
    codes, values = pd.factorize(column, use_na_sentinel=True)
    names = np.array([written(value) for value in values] + [None], dtype=object)
    names[[name in ("", *missing_words) for name in names]] = None
    return names[codes]
