"""Tables as text: the guess of how one is written, and its cells, parsed by pyarrow."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, zip_longest
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
from pyarrow import compute
from pyarrow import csv as arrow_csv

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import (
    INEXACT,
    THOUSANDS_POINT,
    Seen,
    as_number,
    column_names,
    has_thousands,
    numbers_among,
    plain_numeral,
    reason_of,
)
from dsgcore.data.reading.recipe import DELIMITERS, MISSING_WORDS, Limits, Recipe
from dsgcore.data.reading.sources import PIECE, Source, refuse_other_text, stream_of

LONGEST_LINE = 4_000_000
_WHOLE = 2**25  # bytes of a text that is parsed as a whole
_HEAD, _SNIFFED_LINES, _MOST_ABOVE = 2**18, 200, 30
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Encodings of other scripts: the usual letters, and the letters among which their share is taken.
_SCRIPTS = {
    "cp1251": (r"[а-яё]", r"[А-Яа-яЁё]"),
    "shift_jis": (r"[\u3040-\u30ff\u4e00-\u9fff]", r"[^\x00-\x7f]"),
    "gb18030": (r"[\u4e00-\u9fff]", r"[^\x00-\x7f]"),
}
_COMMA_NUMBER, _POINT_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?"), re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
# Spreadsheets read a first line such as sep=; as the name of the delimiter.
_NAMES_DELIMITER = re.compile(r'"?sep=([^"\r\n])"?(\r\n|\r|\n)', re.IGNORECASE)
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)"
_PLAIN = re.compile(_NUMBER, re.IGNORECASE)
_MAY_GROUP = re.compile(rf"{THOUSANDS_POINT.pattern}|[+-]?\d{{1,3}}")
_AT_A_TIME = 10_000  # rows that Python splits into cells at a time
_TRIED = 100  # cells that tell what a column may hold
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")
_UNIT = re.compile(r"[\[(]?[\w°µ%/^²³·*.\s-]{0,14}[\])]?")
_ODD_DELIMITERS = "^~§¤¦¬¶"
_COMMENTS, _MARKED = ("#", "%"), ("# ", "% ")
_TEXT, _REAL = pyarrow.large_string(), pyarrow.float64()


# --- how a text is written


def sniffed_encoding(source: Source) -> str:
    """Return the most likely encoding of the bytes: from a byte order mark, else UTF-8 if they are valid in it.

    Of other bytes above 127, isolated ones are western letters, and runs are Cyrillic, Chinese or Japanese.
    """
    head = source.head(4096)
    for mark, encoding in _BOMS.items():
        if head.startswith(mark):
            return encoding
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) > 0.4 * len(head) / 2 and min(even, odd) < 0.1 * len(head) / 2:
        return "utf-16-be" if even > odd else "utf-16-le"
    with contextlib.suppress(UnicodeDecodeError), source.open() as stream:
        deque(codecs.iterdecode(iter(partial(stream.read, PIECE), b""), "utf-8"), maxlen=0)
        return "utf-8"
    content = b"\n".join(line for line in source.head(_HEAD).splitlines() if not line.isascii())
    runs = re.findall(rb"[\x80-\xff][\x40-\x7e\x80-\xff]*", content)
    if np.mean([len(run) > 1 and run[1] >= 0x80 for run in runs] or [False]) < 0.5:
        return "cp1252"
    shares = dict.fromkeys(_SCRIPTS, 0.0)
    for encoding, (usual, among) in _SCRIPTS.items():
        with contextlib.suppress(UnicodeDecodeError):
            text = content[: content.rfind(b"\n") + 1 or None].decode(encoding)
            n_foreign = len(re.findall(r"[^\x00-\x7f]", text))
            shares[encoding] = len(re.findall(usual, text)) / max(len(re.findall(among, text)), 0.8 * n_foreign, 1)
    # The first bytes that common Chinese characters have; Cyrillic letters have others.
    leads = [pair[0] for pair in re.findall(rb"[\x81-\xfe][\x40-\xfe]", content)]
    shares["gb18030"] *= np.mean([0xB0 <= lead <= 0xD7 or 0xA1 <= lead <= 0xA3 for lead in leads]) if leads else 0.0
    shares["cp1251"] *= 0.95
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] > 0.5 else "cp1252"


def head_text(source: Source, encoding: str) -> str:
    """Return the text of the first bytes, up to the last whole line if there is more."""
    content = source.head(_HEAD)
    try:
        text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(content)
    except UnicodeError:  # utf-16 without its mark
        raise _not_encoded(1, encoding) from None
    return text if len(content) < _HEAD or "\n" not in text else text[: text.rindex("\n") + 1]


def sniff_delimited(source: Source, encoding: str, delimiter: str | None = None) -> Recipe:
    """Return a recipe with the most likely way in which a text is written; roles are not set."""
    text = head_text(source, encoding)
    refuse_other_text(text)
    named = _NAMES_DELIMITER.match(text)
    above = int(named is not None)
    lines = list(io.StringIO(text.removeprefix("\ufeff"), newline=""))[above:]
    if delimiter is None and named is not None and named[1] in DELIMITERS:
        delimiter = named[1]
    delimiter = delimiter or _likely_delimiter(lines)
    comment, named_at = _comment(lines, delimiter)
    if named_at is not None:
        lines, above = lines[named_at:], above + named_at
        lines[0] = lines[0][1:].strip() + "\n"
    kept = [i for i, line in enumerate(lines) if line.strip() and not (comment and line.startswith(comment))]
    sampled = [lines[i] for i in kept[:_SNIFFED_LINES]]

    def regularity(is_escaped: bool) -> tuple[float, int]:
        rows = _cells(sampled, delimiter, is_escaped)
        width, agreeing = _width(rows)
        return (agreeing, -sum("\\" in cell for row in rows for cell in row)) if width > 1 else (0, 0)

    is_escaped = any('\\"' in line for line in sampled) and regularity(True) > regularity(False)
    rows = _cells(sampled, delimiter, is_escaped)
    titles = _titles(rows)
    if titles and len(_cells(sampled[:titles], delimiter, is_escaped)) == titles:  # a line each
        rows, above = rows[titles:], above + kept[titles]
    flat = [cell for row in rows[1:] for cell in row]
    n_comma = sum(bool(_COMMA_NUMBER.fullmatch(cell)) for cell in flat)
    n_point = sum(bool(_POINT_NUMBER.fullmatch(cell)) and not THOUSANDS_POINT.fullmatch(cell) for cell in flat)
    decimal = "," if delimiter != "," and n_comma > n_point else "."
    header = _has_header(rows, decimal)
    return Recipe(
        format="delimited",
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        header=header,
        above=above,
        units=header and _has_units(rows, decimal),
        comment=comment,
        escape=is_escaped,
    )


def _cells(lines: Iterable[str], delimiter: str, is_escaped: bool = False) -> list[list[str]]:
    """Return the cells of the first lines, which may be malformed."""
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):  # the full reading reports faults and their place
        rows.extend([cell.strip() for cell in row] for row in _rows(lines, delimiter, is_escaped, strict=False))
    return [row for row in rows if row]


def _rows(lines: Iterable[str], delimiter: str, is_escaped: bool = False, *, strict: bool = True) -> Any:
    given = (line.replace("\t", " ").strip() + "\n" for line in lines) if delimiter == " " else lines
    escape = "\\" if is_escaped else None
    return csv.reader(given, delimiter=delimiter, skipinitialspace=True, strict=strict, escapechar=escape)


def _width(rows: list[list[str]]) -> tuple[int, int]:
    """Return the most frequent number of cells, and the number of rows that have it."""
    return Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)


def _likely_delimiter(lines: list[str]) -> str:
    """Return the delimiter for which the rows agree best on a number of cells above 1, and then have most numbers.

    1,5;2,5 is two numbers, not three cells. Raises `DataError` if a sign that is not read agrees better.
    """
    full = [line for line in lines if line.strip()]
    some = ([line for line in full if not line.startswith(_COMMENTS)] or full)[:_SNIFFED_LINES]

    def agreement(delimiter: str) -> tuple[float, float, int]:
        rows = _cells(some, delimiter)
        width, agreeing = _width(rows)
        if width < 2:
            return 0.0, 0.0, 0
        # White space and colons also occur inside cells.
        weight = {" ": 0.9, ":": 0.5}.get(delimiter, 1.0)
        flat = [cell for row in rows for cell in row]
        numeric = sum(_value(cell, ".") is not None or _value(cell, ",") is not None for cell in flat) / len(flat)
        return round(weight * agreeing / len(rows), 2), round(numeric, 2), width

    found = {one: agreement(one) for one in DELIMITERS}
    best = max(found, key=found.__getitem__)
    odd = _ODD_DELIMITERS if best in (" ", ":") or found[best][2] < 2 else ""
    if other := next((one for one in odd if agreement(one) > found[best]), None):
        raise DataError(
            f"the cells seem to be separated by {other!r}, and the delimiter must be one of "
            f"{', '.join(DELIMITERS.values())}: replace it in the file, or name another one (--delimiter)"
        )
    return best


def _comment(lines: list[str], delimiter: str) -> tuple[str, int | None]:
    """Return the sign that begins lines of comments, or "", and the place of one that names the columns, or None."""
    others = islice((line for line in lines if line.strip() and not line.startswith(_COMMENTS)), _SNIFFED_LINES)
    width, _ = _width(_cells(others, delimiter))
    for sign in _COMMENTS:
        marked = [i for i, line in enumerate(lines) if line.startswith(sign)]
        n_wide = sum(len(row) == width for row in _cells([lines[i] for i in marked], delimiter))
        if not marked or width < 2 or n_wide >= len(marked) / 2 + (len(marked) == 1) * 0.5:
            continue
        last = marked[-1]
        names = next(iter(_cells([lines[last][1:].strip()], delimiter)), [])
        is_above = not any(line.strip() for line in lines[:last] if not line.startswith(sign))
        if is_above and len(names) == width and all(_kind(name, ".") == "word" for name in names):
            return "", last
        return sign, None
    return "", None


def _titles(rows: list[list[str]]) -> int:
    """Return the number of lines above the table: they have fewer cells than its rows, or one word beside empty ones."""
    width, agreeing = _width(rows)
    if width < 2 or agreeing < len(rows) / 2:
        return 0
    filled = [[cell for cell in row if cell] for row in rows]
    alone = [width > 2 and len(cells) < 2 and not any(map(as_number, cells)) for cells in filled]
    first = next((i for i, row in enumerate(rows) if len(row) == width and not alone[i]), 0)
    is_shorter = first > 0 and len(rows[first - 1]) == width - 1
    if is_shorter and not any(map(as_number, rows[first - 1])) and not _has_header(rows[first:], "."):
        first -= 1  # R's write.table, or rows that end with a delimiter: the header has one name less
    return first if first <= _MOST_ABOVE else 0


def _value(cell: str, decimal: str) -> float | None:
    plain = as_number(cell.replace(decimal, "."))
    return as_number(plain_numeral(cell)[0].replace(decimal, ".")) if plain is None else plain


def _kind(cell: str, decimal: str) -> str:
    """Return the kind of a cell: "" for a missing one, "number", "date" or "word"."""
    if cell in MISSING_WORDS:
        return ""
    return "number" if _value(cell, decimal) is not None else "date" if _DATE.fullmatch(cell) else "word"


def _columns(rows: list[list[str]], n: int, decimal: str) -> tuple[list[list[str]], list[float]]:
    """Return the cells of n columns that are not missing, and their share that are numbers or dates."""
    columns = [[row[j] for row in rows if j < len(row) and row[j] not in MISSING_WORDS] for j in range(n)]
    return columns, [
        sum(_kind(cell, decimal) != "word" for cell in cells) / len(cells) if cells else 0.0 for cells in columns
    ]


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Return True if the kinds of the first row's cells are not those of the columns below it."""
    if not rows:
        return False
    first, below = rows[0], rows[1:]
    kinds = [_kind(cell, decimal) for cell in first]
    if not below or len(first) == 1 or len(first) == len(below[0]) - 1:
        return "number" not in kinds
    columns, typed = _columns(below, len(first), decimal)
    words = [j for j, kind in enumerate(kinds) if kind == "word"]
    numbers = [j for j, kind in enumerate(kinds) if kind == "number"]
    if not numbers and any(len(columns[j]) > 1 and typed[j] == 1 for j in words):
        return True
    if any(first[j] in columns[j] for j in words):
        return False
    if not numbers:
        return bool(words) or not any(typed) or any(typed[j] > 0 for j in range(len(first)) if kinds[j] == "")
    if _number_columns([first[j] for j in numbers], [columns[j] for j in numbers], below, decimal):
        return True
    over_numbers = [j for j in words if columns[j][1:] and typed[j] == 1]
    return bool(over_numbers) and not (len(over_numbers) == 1 and any(decimal in first[j] for j in numbers))


def _number_columns(names: list[str], columns: list[list[str]], below: list[list[str]], decimal: str) -> bool:
    """Return True if numbers name columns, such as wavelengths, years or a count: they are unlike the numbers below."""
    given = [float(plain_numeral(name)[0].replace(decimal, ".")) for name in names]
    cells = [[number for cell in column if (number := _value(cell, decimal)) is not None] for column in columns]
    is_count = given in (list(range(len(given))), list(range(1, len(given) + 1)))
    # A count also names columns of words: so pandas writes a table whose columns have no names.
    needed = max if is_count else min
    if not needed(map(len, cells)) or len(set(given)) < len(given) or not np.isfinite(given).all():
        return False
    outside = []  # farther from a column's numbers than these are from each other
    for value, column in ((value, column) for value, column in zip(given, cells, strict=True) if column):
        low, high = min(column), max(column)
        outside.append(value > high + 3 * (high - low) + abs(high) or value < low - 3 * (high - low) - abs(low))
    is_whole = all(value.is_integer() for value in given)
    is_fraction = any(decimal in cell for column in columns for cell in column)
    steps = np.diff(given)
    is_series = len(given) > 2 and bool((steps > 0).all()) and np.ptp(steps) <= 1e-9 * abs(steps[0])
    if is_whole and is_fraction and (is_series or is_count or all(outside)):
        return is_count or is_series or len(given) > 1 or abs(given[0]) >= 100
    if is_series and not is_count:
        first = [number for cell in below[0] if (number := _value(cell, decimal)) is not None]
        return any(outside) or (abs(given[0]) >= 1000 and bool(len(first) < 3 or np.ptp(np.diff(first)) != 0))
    return len(given) > 1 and bool((steps > 0).all()) and all(outside)


def _has_units(rows: list[list[str]], decimal: str) -> bool:
    """Return True if the row below the names holds units: words over each column of numbers."""
    if len(rows) < 4:
        return False
    _, typed = _columns(rows[2:], len(rows[1]), decimal)
    given = [unit for unit, share in zip(rows[1], typed, strict=True) if share >= 0.9]
    if any(_value(one, decimal) is not None or not _UNIT.fullmatch(one) or _DATE.fullmatch(one) for one in given):
        return False
    n_named = sum(cell not in MISSING_WORDS for cell in given)
    in_brackets = any(cell[:1] in "[(" and cell[-1:] in "])" and cell for cell in given)
    return n_named > 1 or (n_named == 1 and in_brackets)


# --- the cells


def read_delimited(source: Source, recipe: Recipe, limits: Limits, seen: Seen) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with typed columns, and notes; count the cells that are read as missing in `seen`."""
    names, notes, skipped, head = rows_below(source, recipe, limits)
    if not head:
        raise DataError("the table has no rows" + (" below its header" if recipe.header else ""))
    marked, texts = {name for name, _ in recipe.marked()}, [_TEXT] * len(names)
    cells = zip_longest(*head[:_TRIED], fillvalue="")
    kinds = [_TEXT if name in marked else _usual_type(some, recipe) for name, some in zip(names, cells, strict=False)]
    kinds += [_TEXT] * (len(names) - len(kinds))  # no row has these cells: the reading says so
    try:
        batches = list(batches_below(source, recipe, limits, skipped, kinds))
        if any(compute.any(compute.is_nan(one)).as_py() for b in batches for one in b.columns if one.type == _REAL):
            raise pyarrow.ArrowInvalid("a word for missing")
    except pyarrow.ArrowInvalid:  # a cell that is no number, which the text tells
        batches = list(batches_below(source, recipe, limits, skipped, texts))
    table = pyarrow.Table.from_batches(batches)
    columns = {name: typed(table.column(j), recipe, name, seen, name in marked) for j, name in enumerate(names)}
    return pd.DataFrame(columns, copy=False), notes


def rows_below(source: Source, recipe: Recipe, limits: Limits) -> tuple[list[str], list[str], int, list[list[str]]]:
    """Return the columns' names, notes, the number of lines above the rows, and the first rows."""
    rows, skipped, header = _rows_of(source, recipe), recipe.above, list[str]()
    if recipe.header:
        skipped, cells = next(rows, (0, [""]))
        header = [cell.strip() for cell in cells]
        if header[0].startswith(_MARKED):  # the sign of a comment
            header[0] = header[0][1:].strip() or header[0]
        if header[0] in _COMMENTS and recipe.delimiter == " ":  # by NumPy's savetxt
            del header[0]
    if recipe.units:
        skipped, _ = next(rows, (skipped, []))
    head = [row for _, row in islice(rows, 1)]
    if not head and not any(header):
        raise DataError("the file holds no text but blank lines")
    with contextlib.suppress(DataError):  # which the reading of all rows raises
        for _, row in islice(rows, _SNIFFED_LINES):
            limits.check_columns(max(len(row), len(head[0])))
            head.append(row)
    n_cells = len(head[0]) if head else len(header)
    if not header:
        header = [f"x{j + 1}" for j in range(n_cells)]
    elif len(header) == n_cells - 1:  # R's write.table names one column less, unless each row ends with a delimiter
        is_last = not any(row[-1] for row in head[1:] if len(row) == n_cells)
        header = [*header, ""] if is_last else ["", *header]
    names, notes = column_names(header)
    limits.check_columns(len(names))
    return names, notes, skipped, head


def batches_below(
    source: Source, recipe: Recipe, limits: Limits, skipped: int, types: Sequence[Any]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows below some lines in batches of these types. Arrow parses what it can read as it is, else Python.

    Raises `DataError` for a row of another width, and ArrowInvalid for a cell of another type.
    """
    schema, n = pyarrow.schema([(str(j), kind) for j, kind in enumerate(types)]), 0
    try:
        for batch in (_parsed if _is_plain(source, recipe) else _split)(source, recipe, skipped, schema):
            n += batch.num_rows
            limits.check_rows(n)
            yield batch
    except pyarrow.ArrowInvalid as error:
        if any(kind != _TEXT for kind in types):
            raise
        deque(_split(source, recipe, skipped, schema), maxlen=0)  # raises an error for the first line that is wrong
        raise DataError(f"the table cannot be read as text: {reason_of(error)}") from None


def _is_plain(source: Source, recipe: Recipe) -> bool:
    """Return True if Arrow reads the rows as they are: no runs of blanks, backslashes, comments, and odd places of quotes."""
    if recipe.escape or recipe.comment or recipe.delimiter == " ":
        return False
    edge = rf'{re.escape(recipe.delimiter)}\r\n"'  # a quote has one of these beside it, or the end
    odd = re.compile(rf"""\"(?:(?<=[^{edge}]")|"(?<=[{edge[:-1]}]""))(?=[^{edge}])""".encode())
    spaced = re.compile(rf'(?m)(?:{re.escape(recipe.delimiter)}|^) +"'.encode())
    pieces = utf8_pieces(source, recipe.encoding)
    return not any(odd.search(piece) or (b' "' in piece and spaced.search(piece)) for piece in pieces if b'"' in piece)


def _parsed(source: Source, recipe: Recipe, skipped: int, schema: Any) -> Iterator[pyarrow.RecordBatch]:
    pieces, whole, size = utf8_pieces(source, recipe.encoding), list[bytes](), 0
    while size < _WHOLE and (piece := next(pieces, None)) is not None:
        whole.append(piece)
        size += len(piece)
    # Arrow reads a stream of Python's in a thread, which an error may leave behind: only for large texts.
    is_whole = size < _WHOLE
    stream = pyarrow.BufferReader(b"".join(whole)) if is_whole else stream_of(one for one in chain(whole, pieces))
    types, is_wide = dict(zip(schema.names, schema.types, strict=True)), len(schema) > 1
    try:
        yield from arrow_csv.open_csv(
            stream,
            arrow_csv.ReadOptions(
                use_threads=False, block_size=LONGEST_LINE, column_names=schema.names, skip_rows=skipped
            ),
            arrow_csv.ParseOptions(
                delimiter=recipe.delimiter,
                newlines_in_values=True,
                invalid_row_handler=lambda row: "error" if row.text.strip(" \t\r\n") else "skip",
                ignore_empty_lines=is_wide,
            ),
            arrow_csv.ConvertOptions(
                column_types=types, strings_can_be_null=False, null_values=[""], decimal_point=recipe.decimal
            ),
        )
    except pyarrow.ArrowInvalid as error:
        if "Empty CSV" not in str(error):
            raise


def _split(source: Source, recipe: Recipe, skipped: int, schema: Any) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows that Python splits into cells; raise `DataError` for one of another width."""
    width = len(schema)

    def below() -> Iterator[list[str]]:
        for number, row in _rows_of(source, recipe):
            if number > skipped and len(row) != width:
                must = f"all lines must have as many, separated by {DELIMITERS[recipe.delimiter]}"
                raise DataError(f"line {number} has {len(row)} cells, and the first has {width}: {must}")
            if number > skipped:
                yield row

    rows = below()
    while some := list(islice(rows, _AT_A_TIME)):
        yield pyarrow.record_batch([pyarrow.array(column, _TEXT) for column in zip(*some, strict=True)], schema.names)


def _rows_of(source: Source, recipe: Recipe) -> Iterator[tuple[int, list[str]]]:
    """Yield the last line and the cells of each row, without blank ones and comments; raise `DataError` with the line."""
    number, above = 0, recipe.above

    def lines() -> Iterator[str]:
        nonlocal number
        for number, line in enumerate(lines_of(source, recipe.encoding), start=1):
            if number > above and not (recipe.comment and line.startswith(recipe.comment)):
                yield line

    try:
        for row in _rows(lines(), recipe.delimiter, recipe.escape):
            if len(row) > 1 or (row and row[0].strip()):
                yield number, row
    except csv.Error as error:
        fault = str(error)
        if "field larger" in fault:
            fault = f"a cell has more than {csv.field_size_limit()} characters (is a closing quote missing?)"
        elif "unexpected end" in fault:
            fault = "a quote is opened and never closed"
        raise DataError(f"line {number} cannot be read: {fault}") from None


def lines_of(source: Source, encoding: str) -> Iterator[str]:
    """Yield the lines of a text with their ends; raise `DataError` for one that is too long."""
    stream = stream_of(utf8_pieces(source, encoding))
    for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8", newline=""), start=1):
        if len(line) > LONGEST_LINE:
            raise DataError(f"line {number} must have fewer than {LONGEST_LINE:,} characters, and it has more")
        yield line


def utf8_pieces(source: Source, encoding: str) -> Iterator[bytes]:
    """Yield a text in UTF-8, in pieces; raise `DataError` for bytes of another encoding, and for NUL."""
    decoder, line = codecs.getincrementaldecoder(encoding)(), 1
    with source.open() as stream:
        for piece in chain(iter(partial(stream.read, PIECE), b""), [b""]):
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeError:
                raise _not_encoded(line, encoding) from None
            if "\0" in text:
                line += text[: text.index("\0")].count("\n")
                raise DataError(f"line {line} holds a NUL byte: the file is no plain text")
            yield (text.removeprefix("\ufeff") if line == 1 else text).encode()
            line += text.count("\n")


def _not_encoded(line: int, encoding: str) -> DataError:
    others = [name for name in ("cp1252", "utf-8", "utf-16") if name != encoding.removesuffix("-sig")]
    return DataError(
        f"line {line} or one soon after holds bytes that are not {encoding}: choose another encoding, such as "
        f"{' or '.join(others[:2])} (--encoding), if it is a text at all"
    )


# --- their types


def _usual_type(cells: Sequence[str], recipe: Recipe) -> Any:
    """Return the type as which Arrow may read a column at once, by its first cells: whole numbers, fractions or text."""
    if "" not in recipe.missing_words or numbers_among(recipe.missing_words):
        return _TEXT  # a number that means missing
    plain = [cell.replace(recipe.decimal, ".", 1) for cell in map(str.strip, cells) if cell]
    if not plain or not all(_PLAIN.fullmatch(cell) and cell[0] != "+" for cell in plain):
        return _TEXT
    if all(cell.lstrip("-").isdigit() for cell in plain):
        return pyarrow.int64()
    return _TEXT if recipe.decimal == "." and all(_MAY_GROUP.fullmatch(cell) for cell in plain) else _REAL


def typed(column: Any, recipe: Recipe, name: str, seen: Seen, is_text: bool = False) -> pd.Series:
    """Return a column of text as whole numbers, numbers or text, without the words that mean missing."""
    if column.type != _TEXT:
        seen["", name] += column.null_count
        return _in_pandas(column)
    text = compute.utf8_trim_whitespace(column)
    is_missing = compute.is_in(text, value_set=pyarrow.array(recipe.missing_words, _TEXT))
    if compute.any(is_missing).as_py():
        words = compute.value_counts(text.filter(is_missing))
        seen.update({(one["values"], name): one["counts"] for one in words.to_pylist()})
        text = compute.if_else(is_missing, pyarrow.scalar(None, _TEXT), text)
    numbers = None if is_text else _numbers(text, recipe.decimal)
    return text.to_pandas().astype(object) if numbers is None else numbers


def _numbers(text: Any, decimal: str) -> pd.Series | None:
    """Return a column as numbers or truth values; None if a cell is neither, or if dots set thousands apart.

    The first cells tell what is worth trying: a conversion that fails takes as long as one that does not.
    """
    if text.null_count == len(text):
        return pd.Series(np.full(len(text), np.nan))
    first = text.slice(0, _TRIED).drop_null().to_pylist()
    if first and all(cell.lower() in ("true", "false") for cell in first) and _all_match(text, "true|false"):
        return compute.equal(compute.utf8_lower(text), "true").to_pandas()
    head = [cell.replace(decimal, ".", 1) for cell in first]
    if not all(_PLAIN.fullmatch(cell) for cell in head):
        return None
    if decimal != ".":
        if compute.any(compute.match_substring(text, ".")).as_py():
            return None
        text = compute.replace_substring(text, decimal, ".", max_replacements=1)
    if compute.any(compute.starts_with(text, "+")).as_py():
        text = compute.replace_substring_regex(text, r"^\+([\d.])", r"\1")
    is_whole = all(cell.lstrip("+-").isdigit() for cell in head)
    for kind in (pyarrow.int64(), pyarrow.uint64()) if is_whole else ():
        with contextlib.suppress(pyarrow.ArrowInvalid):
            return _in_pandas(compute.cast(text, kind))
    if is_whole and _all_match(text, r"[+-]?\d+"):
        return None  # whole numbers too large for 64 bits stay text
    may_group = decimal == "." and all(_MAY_GROUP.fullmatch(cell) for cell in head)
    if may_group and _all_match(text, _MAY_GROUP.pattern) and has_thousands(text.drop_null().unique().to_pylist()):
        return None  # numbers such as 1.850 are beside small whole numbers such as 986
    try:
        return compute.cast(text, _REAL).to_pandas()
    except pyarrow.ArrowInvalid:  # a word, or such as -inf and a number of too many digits
        if not _all_match(text, _NUMBER):
            return None
        return pd.Series([np.nan if cell is None else float(cell) for cell in text.to_pylist()])


def _in_pandas(numbers: Any) -> pd.Series:
    """Return a column of Arrow's numbers; whole ones beside missing ones become floats only if these hold them."""
    if numbers.null_count and numbers.type != _REAL:
        if max(abs(value.as_py() or 0) for value in compute.min_max(numbers).values()) < INEXACT:
            return compute.cast(numbers, _REAL).to_pandas()
        kind = pd.Int64Dtype() if numbers.type == pyarrow.int64() else pd.UInt64Dtype()
        return numbers.to_pandas(types_mapper={numbers.type: kind}.get)
    return numbers.to_pandas()


def _all_match(text: Any, form: str) -> bool:
    return bool(compute.all(compute.match_substring_regex(text, rf"^({form})$", ignore_case=True)).as_py())
