"""A file as a table: its columns as they were read, before they become points and labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.archives import read_archive
from dsgcore.data.reading.delimited import read_delimited
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import as_cell, printable, written
from dsgcore.data.reading.parquet import read_parquet
from dsgcore.data.reading.recipe import DELIMITERS, Recipe
from dsgcore.data.reading.sources import Piece, Source, binary_format
from dsgcore.data.reading.svmlight import read_svmlight

LARGEST = 1e30  # beyond it, differences and means leave float32's range
# Of a column: up to this share of cells that are no numbers, they are taken for mistakes, and told about.
MOSTLY = 0.9
# Numbers as people write them, by their decimal mark: thousands are set apart by the other mark, an apostrophe or a space.
_SPACES = "'’ \u00a0\u2009\u202f"
_GROUPS = {".": f",{_SPACES}", ",": f".{_SPACES}"}
_GROUPED = {
    mark: re.compile(rf"[+-]?(?:[1-9]\d{{0,2}}([{between}])\d{{3}}(?:\1\d{{3}})*|\d+)(?:{re.escape(mark)}\d+)?")
    for mark, between in _GROUPS.items()
}


@dataclass(frozen=True, eq=False)
class Table:
    """A table as it was read."""

    frame: pd.DataFrame  # its columns have the names that roles refer to; its index counts the rows from 0
    notes: tuple[str, ...]  # what was done to read it, a sentence each

    def head(self, rows: int = 50) -> pd.DataFrame:
        """Return the first rows as text that is safe to show and to save, counted from 1."""
        first = self.frame.head(rows)
        cells = {as_cell(str(name)): _as_text(column) for name, column in first.items()}
        return pd.DataFrame(cells, index=first.index + 1)


def _as_text(column: pd.Series) -> list[str]:
    missing = column.isna()
    return ["" if gone else as_cell(printable(written(value))) for value, gone in zip(column, missing, strict=True)]


def read_table(source: Source, recipe: Recipe, limits: Limits) -> Table:
    """Read the whole table, not packed, into memory; raises `DataError` with, where possible, the row and column."""
    frame, notes = next(pieces(source, recipe, limits))
    return Table(frame, (_sentence(frame, recipe), *notes))


def pieces(source: Source, recipe: Recipe, limits: Limits, rows: int | None = None) -> Iterator[Piece]:
    """Yield the table in pieces of so many rows (None: in one), numbered from 0; an archive in one."""
    found = binary_format(source)
    is_binary = recipe.format in ("parquet", "npz")
    if (found or "text") != (recipe.format if is_binary else "text"):
        raise DataError(f"the recipe is for the format {recipe.format}, and the file is {found or 'text'}")
    readers: dict[str, Callable[[], Iterator[Piece]]] = {
        "parquet": lambda: read_parquet(source, limits, rows),
        "npz": lambda: read_archive(source, limits),
        "svmlight": lambda: read_svmlight(source, limits, rows),
        "delimited": lambda: read_delimited(source, recipe, limits, rows),
    }
    done = 0
    for frame, notes in readers[recipe.format]():
        frame.index = pd.RangeIndex(done, done + len(frame))
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


def is_numeric(column: pd.Series) -> bool:
    """Whether a column holds numbers, or true and false, by its type."""
    return pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column)


def is_time(column: pd.Series) -> bool:
    """Whether a column holds dates or durations, by its type."""
    return pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column)


def decimal_mark(column: pd.Series, usual: str = ".") -> str | None:
    """Return the decimal mark of a column of text that is mostly numbers in another form than the table's own.

    So 1.234,5 and 1,234.5, or 1.234 alone where the mark that is `usual` in the table is the comma. None for any other
    column, of plain numbers too.
    """
    if is_numeric(column):
        return None
    texts = [written(value) for value in column.dropna()]
    found = {mark: sum(bool(form.fullmatch(text)) for text in texts) for mark, form in _GROUPED.items()}
    best = max(found, key=lambda mark: (found[mark], mark == usual))
    # To this table, 1.5 is no number where its mark is the comma.
    plain = numeric(column if usual == "." else pd.Series([t.replace(".", "x").replace(",", ".") for t in texts]))
    n_plain = plain.notna().sum()
    return best if found[best] > n_plain and found[best] >= MOSTLY * len(texts) else None


def numeric(column: pd.Series, mark: str | None = None) -> pd.Series:
    """Return a column as numbers, NaN where there is none; of text, written with this decimal mark."""
    if mark is not None and not is_numeric(column):
        form, between = _GROUPED[mark], str.maketrans("", "", _GROUPS[mark])
        texts = [written(value) for value in column]
        plain = [t.translate(between).replace(mark, ".") if form.fullmatch(t) else t for t in texts]
        column = pd.Series(plain, index=column.index, dtype=object).where(column.notna())
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:  # a whole number beyond all floats
        return pd.to_numeric(column.map(written, na_action="ignore"), errors="coerce")


def numbers(column: pd.Series, mark: str | None = None) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where they are missing; refuse what is no number or too large, with its place.

    Of text, `mark` is the decimal mark of numbers with thousands set apart.
    """
    name = str(column.name)
    if is_time(column):
        raise DataError(f"column {name!r} holds dates, which are no numbers: ignore it")
    if np.iscomplexobj(column):
        raise DataError(f"column {name!r} holds complex numbers, and only real ones can be used: ignore it")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan) if is_numeric(column) else _parsed(column, name, mark)
    # One pass in the usual case: NaN is passed over by fmax.
    if len(values) and np.fmax.reduce(np.abs(values)) > LARGEST:
        i = int(np.flatnonzero(np.abs(values) > LARGEST)[0])
        raise DataError(
            f"column {name!r} must hold finite numbers of at most {LARGEST:g} in size, got {values[i]:g} in {_place(column, i)}"
        )
    return values


def _parsed(column: pd.Series, name: str, mark: str | None) -> NDArray[np.float64]:
    values = numeric(column, mark).to_numpy(dtype=np.float64, na_value=np.nan)
    is_wrong = np.isnan(values) & column.notna().to_numpy()
    if is_wrong.any():
        i = int(np.argmax(is_wrong))
        given = printable(written(column.iloc[i]))
        raise DataError(
            f"column {name!r} must hold numbers, got {given!r} in {_place(column, i)}: make it a category or text, ignore "
            "it, or add the word to those that mean missing"
        )
    return values


def _place(column: pd.Series, i: int) -> str:
    return f"row {int(column.index[i]) + 1} (the header not counted)"


def labels_of(column: pd.Series, missing_words: tuple[str, ...] = ()) -> NDArray[np.object_]:
    """Return a column as written labels, None where there is none."""
    codes, values = pd.factorize(column, use_na_sentinel=True)
    names = np.array([written(value) for value in values] + [None], dtype=object)
    names[[name in ("", *missing_words) for name in names]] = None
    return names[codes]
