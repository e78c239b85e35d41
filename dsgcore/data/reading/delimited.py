"""Tables as text: detection of their format, and reading in one piece or in several."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pandas as pd

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.missing import Seen
from dsgcore.data.reading.names import as_number, column_names, reason_of
from dsgcore.data.reading.numerals import plain_numeral
from dsgcore.data.reading.recipe import DELIMITERS, MISSING_WORDS, Recipe
from dsgcore.data.reading.sources import PIECE, Piece, Source, refuse_other_text

_HEAD = 2**18
_SNIFFED_LINES = 200
LONGEST_LINE = 4_000_000
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_COMMA_NUMBER, _POINT_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?"), re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
# Whole numbers with this many digits may have no exact float; a 64-bit number has at most 20.
LONG, _WHOLE = 16, re.compile(r"\s*[+-]?\d{1,20}\s*")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")  # 1.234 may be either number
_UNREADABLE = (ValueError, UnicodeError, OverflowError, MemoryError, csv.Error)
# Spreadsheets read a first line such as sep=; as the name of the delimiter.
_NAMES_DELIMITER = re.compile(r'"?sep=([^"\r\n])"?(\r\n|\r|\n)', re.IGNORECASE)


def sniffed_encoding(source: Source) -> str:
    """Return the most likely encoding of the bytes: from a byte order mark, else UTF-8 if they are valid in it."""
    head = source.head(4096)
    for mark, encoding in _BOMS.items():
        if head.startswith(mark):
            return encoding
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) > 0.4 * len(head) / 2 and min(even, odd) < 0.1 * len(head) / 2:
        return "utf-16-be" if even > odd else "utf-16-le"
    try:
        with source.open() as stream:
            deque(codecs.iterdecode(iter(partial(stream.read, PIECE), b""), "utf-8"), maxlen=0)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def head_text(source: Source, encoding: str, size: int = _HEAD) -> str:
    """Return the text of the first bytes, up to the last whole line if there is more."""
    content = source.head(size)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(content)
    return text if len(content) < size or "\n" not in text else text[: text.rindex("\n") + 1]


def sniff_delimited(source: Source) -> Recipe:
    """Return a recipe with the most likely delimiter, header, decimal mark and encoding of a text; roles are not set."""
    encoding = sniffed_encoding(source)
    text = head_text(source, encoding)
    refuse_other_text(text)
    said = _NAMES_DELIMITER.match(text)
    text = text[said.end() :] if said else text
    delimiter = said[1] if said and said[1] in DELIMITERS else _likely_delimiter(text)
    cells = _cells(text, delimiter)
    flat = [cell for row in cells[1:] for cell in row]
    n_comma = sum(bool(_COMMA_NUMBER.fullmatch(cell)) for cell in flat)
    n_point = sum(bool(_POINT_NUMBER.fullmatch(cell)) and not _THOUSANDS.fullmatch(cell) for cell in flat)
    decimal = "," if delimiter != "," and n_comma > n_point else "."
    header = _has_header(cells, decimal)
    return Recipe(format="delimited", delimiter=delimiter, decimal=decimal, encoding=encoding, header=header)


def _likely_delimiter(text: str) -> str:
    # Among the delimiters whose rows agree equally, take the one with the most numbers between them: 1,5;2,5 is two
    # numbers, not three cells. Take the comma if no delimiter gives numbers.
    return max(DELIMITERS, key=lambda delimiter: _agreement(_cells(text, delimiter), delimiter))


def _cells(text: str, delimiter: str) -> list[list[str]]:
    """Return the cells of the first lines, which may be malformed."""
    lines = [line for line in text.splitlines()[:_SNIFFED_LINES] if line.strip()]
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):  # the full reading reports faults and their place
        rows.extend([cell.strip() for cell in row] for row in _rows(lines, delimiter, strict=False))
    return rows


def _agreement(cells: list[list[str]], delimiter: str) -> tuple[float, float, int]:
    """Return how well rows agree on a number of cells above 1, the share of numbers among the cells, and that number."""
    width, agreeing = Counter(map(len, cells)).most_common(1)[0] if cells else (0, 0)
    if width < 2:
        return 0.0, 0.0, 0
    # White space and colons also occur inside cells.
    weight = {" ": 0.9, ":": 0.5}.get(delimiter, 1.0)
    flat = [cell for row in cells for cell in row]
    numeric = sum(_is_number(cell, ".") or _is_number(cell, ",") for cell in flat) / len(flat)
    return round(weight * agreeing / len(cells), 2), round(numeric, 2), width


def _is_number(cell: str, decimal: str) -> bool:
    return as_number(plain_numeral(cell)[0].replace(decimal, ".")) is not None


def _has_header(cells: list[list[str]], decimal: str) -> bool:
    """Return True if the first row names the columns: its numbers are not data, and it does not look like the rows below."""
    if not cells:
        return False
    if any(_is_number(cell, decimal) and cell.lower() != "nan" for cell in cells[0]):
        return _names_a_number(cells, decimal) or _numbers_columns(cells, decimal)
    if len(cells) == 1 or any(_is_number(cell, decimal) for row in cells[1:] for cell in row):
        return True
    return not any(cell and cell == row[j] for row in cells[1:] for j, cell in enumerate(cells[0]) if j < len(row))


def _names_a_number(cells: list[list[str]], decimal: str) -> bool:
    """Return True if the first row has a word above a column of numbers, as pandas writes 0,1,label."""
    words = [j for j, cell in enumerate(cells[0]) if cell[:1].isalpha() and cell not in MISSING_WORDS]
    below = [[row[j] for row in cells[1:] if j < len(row) and row[j] not in MISSING_WORDS] for j in words]
    return any(len(column) > 1 and all(_is_number(cell, decimal) for cell in column) for column in below)


def _numbers_columns(cells: list[list[str]], decimal: str) -> bool:
    """Return True if the first row counts the columns, as pandas writes 0,1,2, and there are fractions below."""
    counts = [cell for cell in cells[0] if cell]
    is_count = counts in ([str(i + start) for i in range(len(counts))] for start in (0, 1))
    return len(counts) > 2 and is_count and any(decimal in cell for row in cells[1:] for cell in row)


def read_delimited(
    source: Source, recipe: Recipe, limits: Limits, seen: Seen, rows: int | None = None
) -> Iterator[Piece]:
    """Yield the table in pieces of so many rows (None: in one); count cells that are read as missing in `seen`.

    Every line is checked first: all must have the same number of cells, and no line may hold a NUL. pandas would fill
    up short lines, and would read an unclosed quote as one huge cell.
    """
    raw, n_rows, missing, long = _checked_lines(source, recipe, limits)
    names, notes = column_names(raw)
    seen.update({(word, names[column]): count for (word, column), count in missing.items()})
    if not n_rows:
        raise DataError("the table has no rows" + (" below its header" if recipe.header else ""))
    done = 0
    with _text(source, recipe) as lines:
        if recipe.header:
            next(row for row in _rows(lines, recipe.delimiter) if not _is_blank(row))
        for frame in _frames(lines, recipe, names, rows or n_rows, long):
            frame.columns = pd.Index(names)
            done += len(frame)
            yield frame, notes
    if done != n_rows:
        raise DataError(
            f"the table's quotes are ambiguous: it has {n_rows} rows or {done}, depending on how they are read"
        )


def _frames(
    lines: io.TextIOWrapper, recipe: Recipe, names: list[str], rows: int, long: set[int]
) -> Iterator[pd.DataFrame]:
    """Parse the rest of a text with pandas, except the columns that hold long whole numbers."""
    marked = {names.index(name) for name, _ in recipe.marked() if name in names}
    try:
        with pd.read_csv(
            lines,
            chunksize=rows,
            sep=r"\s+" if recipe.delimiter == " " else recipe.delimiter,
            header=None,
            names=range(len(names)),
            dtype=dict.fromkeys(marked | long, str),
            index_col=False,
            decimal=recipe.decimal,
            na_values=list(recipe.missing_words),
            keep_default_na=False,
            skipinitialspace=True,
            low_memory=False,
            engine="c",
        ) as reader:
            for frame in reader:
                for j in long - marked:
                    frame[j] = _exact(frame[j], recipe.decimal)
                yield frame
    except (pd.errors.ParserError, *_UNREADABLE) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"the table cannot be read as text: {reason_of(error)}") from None


def _exact(column: pd.Series, decimal: str) -> pd.Series:
    """Return a column of text as whole numbers if all cells are, else as pandas reads it. Too large numbers stay text."""
    cells = column.dropna()
    if cells.str.fullmatch(_WHOLE.pattern).all():
        for dtype in ("Int64", "UInt64") if len(cells) < len(column) else ("int64", "uint64"):
            with contextlib.suppress(OverflowError, TypeError):
                return pd.Series([int(cell) for cell in cells], cells.index, dtype).reindex(column.index)
    with contextlib.suppress(OverflowError):  # more digits than any float has
        numbers = pd.to_numeric(column.str.replace(decimal, ".", regex=False), errors="coerce")
        return numbers if numbers.notna().sum() == len(cells) else column
    return column


def _text(source: Source, recipe: Recipe) -> io.TextIOWrapper:
    lines = io.TextIOWrapper(source.open(), encoding=recipe.encoding, newline="")
    for _ in range(_lines_above(source, recipe)):
        lines.readline()
    return lines


def _lines_above(source: Source, recipe: Recipe) -> int:
    """Return 1 if the first line names the delimiter, else 0."""
    return int(_NAMES_DELIMITER.match(head_text(source, recipe.encoding, 64)) is not None)


def _bounded(lines: io.TextIOWrapper, above: int) -> Iterator[str]:
    """Yield the lines; raise `DataError` if a line without an end would fill memory."""
    for number, line in enumerate(iter(partial(lines.readline, LONGEST_LINE), ""), start=above + 1):
        if len(line) == LONGEST_LINE:
            raise DataError(f"line {number} must have fewer than {LONGEST_LINE:,} characters, and it has more")
        yield line


def _rows(lines: Iterable[str], delimiter: str, *, strict: bool = True) -> Any:
    given = map(str.strip, lines) if delimiter == " " else lines
    return csv.reader(given, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _is_blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


def _checked_lines(
    source: Source, recipe: Recipe, limits: Limits
) -> tuple[list[str], int, Counter[tuple[str, int]], set[int]]:
    """Return the columns' names, the number of rows, each column's count of each missing word, and the long columns.

    A column is long if it holds whole numbers with many digits. Lines with more or fewer cells than the first are
    refused, and so are NULs.
    """
    first: list[str] = []
    long: set[int] = set()
    missing, words = Counter[tuple[str, int]](), frozenset(recipe.missing_words)
    n_rows, above = -int(recipe.header), _lines_above(source, recipe)
    with _text(source, recipe) as lines:
        reader = _rows(_bounded(lines, above), recipe.delimiter)
        try:
            for row in reader:
                if _is_blank(row):
                    continue
                if not first:
                    first = row
                    limits.check_columns(len(row))
                n_rows += 1
                limits.check_rows(n_rows)
                if len(row) != len(first) or "\0" in "".join(row):
                    raise DataError(f"line {above + reader.line_num}{_wrong(row, first, recipe)}")
                if max(map(len, row)) >= LONG:
                    long.update(j for j, cell in enumerate(row) if len(cell) >= LONG and _WHOLE.fullmatch(cell))
                if n_rows and not words.isdisjoint(row):
                    missing.update((cell, column) for column, cell in enumerate(row) if cell in words)
        except UnicodeError:
            wrong = f"line {above + reader.line_num + 1} or one soon after holds bytes that are not {recipe.encoding}"
            raise DataError(f"{wrong}: choose another encoding, such as cp1252 or utf-8") from None
        except csv.Error as error:
            raise DataError(f"line {above + reader.line_num} cannot be read: {_plainly(error)}") from None
    if not first:
        raise DataError("the file holds no text but blank lines")
    return first if recipe.header else [f"x{j + 1}" for j in range(len(first))], n_rows, missing, long


def _wrong(row: list[str], first: list[str], recipe: Recipe) -> str:
    """Return the fault of a line, to follow its number in a message."""
    if len(row) == len(first):
        column = next(j for j, cell in enumerate(row, start=1) if "\0" in cell)
        return f", column {column} holds a NUL byte: the file is no plain text"
    must = f"all lines must have as many, separated by {DELIMITERS[recipe.delimiter]}"
    return f" has {len(row)} cells, and the first has {len(first)}: {must}"


def _plainly(error: csv.Error) -> str:
    """Return the fault of a line in plain words, instead of those of the csv module."""
    text = str(error)
    if "field larger" in text:
        return f"a cell has more than {csv.field_size_limit()} characters (is a closing quote missing?)"
    if "unexpected end" in text:
        return "a quote is opened and never closed"
    return text
