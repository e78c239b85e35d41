"""Tables as text: the guess of how one is written, and its cells, parsed by pyarrow."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
from pyarrow import compute
from pyarrow import csv as arrow_csv

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import (
    THOUSANDS_POINT,
    Seen,
    as_number,
    column_names,
    has_thousands,
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
_COMMA_NUMBER, _POINT_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?"), re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
# Spreadsheets read a first line such as sep=; as the name of the delimiter.
_NAMES_DELIMITER = re.compile(r'"?sep=([^"\r\n])"?(\r\n|\r|\n)', re.IGNORECASE)
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)"
_PLAIN = re.compile(_NUMBER, re.IGNORECASE)
_MAY_GROUP = re.compile(rf"{THOUSANDS_POINT.pattern}|[+-]?\d{{1,3}}")
_AT_A_TIME = 10_000  # rows that are rewritten at a time
_TRIED = 100  # cells that tell what a column may hold
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")
_UNIT = re.compile(r"[\[(]?[\w°µ%/^²³·*.\s-]{0,14}[\])]?")
_ODD_DELIMITERS = "^~§¤¦¬¶"
_COMMENTS, _MARKED = ("#", "%"), ("# ", "% ")
_MOSTLY = 0.9


# --- how a text is written


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
        return _likely_encoding(source)
    return "utf-8"


def _likely_encoding(source: Source) -> str:
    """Return the encoding of bytes above 127: isolated ones are western letters, runs are Cyrillic, Chinese or Japanese."""
    content = b"\n".join(line for line in source.head(_HEAD).splitlines() if not line.isascii())
    runs = re.findall(rb"[\x80-\xff][\x40-\x7e\x80-\xff]*", content)
    if np.mean([len(run) > 1 and run[1] >= 0x80 for run in runs] or [False]) < 0.5:
        return "cp1252"

    def share(encoding: str, usual: str, among: str) -> float:
        """Return the share of usual letters among a text's letters; 0 if the bytes are not valid."""
        try:
            text = content[: content.rfind(b"\n") + 1 or None].decode(encoding)
        except UnicodeDecodeError:
            return 0.0
        foreign = re.findall(r"[^\x00-\x7f]", text)
        return len(re.findall(usual, text)) / max(len(re.findall(among, text)), 0.8 * len(foreign), 1)

    # The first bytes that common Chinese characters have; Cyrillic letters have others.
    leads = [pair[0] for pair in re.findall(rb"[\x81-\xfe][\x40-\xfe]", content)]
    common = float(np.mean([0xB0 <= lead <= 0xD7 or 0xA1 <= lead <= 0xA3 for lead in leads])) if leads else 0.0
    shares = {
        "cp1251": share("cp1251", r"[а-яё]", r"[А-Яа-яЁё]") * 0.95,
        "shift_jis": share("shift_jis", r"[\u3040-\u30ff\u4e00-\u9fff]", r"[^\x00-\x7f]"),
        "gb18030": share("gb18030", r"[\u4e00-\u9fff]", r"[^\x00-\x7f]") * common,
    }
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] > 0.5 else "cp1252"


def head_text(source: Source, encoding: str, size: int = _HEAD) -> str:
    """Return the text of the first bytes, up to the last whole line if there is more."""
    content = source.head(size)
    try:
        text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(content)
    except UnicodeError:  # utf-16 without its mark
        raise DataError(_not_encoded(1, encoding)) from None
    return text if len(content) < size or "\n" not in text else text[: text.rindex("\n") + 1]


def sniff_delimited(source: Source, encoding: str | None = None, delimiter: str | None = None) -> Recipe:
    """Return a recipe with the most likely way in which a text is written; roles are not set."""
    encoding = sniffed_encoding(source) if encoding is None else encoding
    text = head_text(source, encoding)
    refuse_other_text(text)
    named = _NAMES_DELIMITER.match(text)
    above = int(named is not None)
    lines = _lines(text)[above:]
    if delimiter is None and named is not None and named[1] in DELIMITERS:
        delimiter = named[1]
    elif delimiter is None:
        some = [line for line in lines if line.strip() and not line.startswith(_COMMENTS)]
        some = (some or [line for line in lines if line.strip()])[:_SNIFFED_LINES]
        found = {one: _agreement(_cells(some, one), one) for one in DELIMITERS}
        delimiter = max(found, key=lambda one: found[one])
        odd = _ODD_DELIMITERS if delimiter in (" ", ":") or found[delimiter][2] < 2 else ""
        if other := next((one for one in odd if _agreement(_cells(some, one), one) > found[delimiter]), None):
            raise DataError(
                f"the cells seem to be separated by {other!r}, and the delimiter must be one of "
                f"{', '.join(DELIMITERS.values())}: replace it in the file, or name another one (--delimiter)"
            )
    comment, named_at = _comment(lines, delimiter)
    if named_at is not None:
        lines, above = lines[named_at:], above + named_at
        lines[0] = lines[0][1:].strip() + "\n"
    kept = [i for i, line in enumerate(lines) if line.strip() and not (comment and line.startswith(comment))]
    sampled = [lines[i] for i in kept[:_SNIFFED_LINES]]
    is_escaped = any('\\"' in line for line in sampled) and _regularity(sampled, delimiter, True) > _regularity(
        sampled, delimiter, False
    )
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


def _lines(text: str) -> list[str]:
    return list(io.StringIO(text.removeprefix("\ufeff"), newline=""))


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


def _agreement(cells: list[list[str]], delimiter: str) -> tuple[float, float, int]:
    """Return how well rows agree on a number of cells above 1, the share of numbers among the cells, and that number.

    Among delimiters whose rows agree equally, the most numbers win: 1,5;2,5 is two numbers, not three cells.
    """
    width, agreeing = _width(cells)
    if width < 2:
        return 0.0, 0.0, 0
    # White space and colons also occur inside cells.
    weight = {" ": 0.9, ":": 0.5}.get(delimiter, 1.0)
    flat = [cell for row in cells for cell in row]
    numeric = sum(_value(cell, ".") is not None or _value(cell, ",") is not None for cell in flat) / len(flat)
    return round(weight * agreeing / len(cells), 2), round(numeric, 2), width


def _width(rows: list[list[str]]) -> tuple[int, int]:
    """Return the most frequent number of cells, and the number of rows that have it."""
    return Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)


def _regularity(lines: list[str], delimiter: str, is_escaped: bool) -> tuple[float, int]:
    rows = _cells(lines, delimiter, is_escaped)
    width, agreeing = _width(rows)
    return (agreeing / len(lines), -sum("\\" in cell for row in rows for cell in row)) if width > 1 else (0.0, 0)


def _comment(lines: list[str], delimiter: str) -> tuple[str, int | None]:
    """Return the sign that begins lines of comments, or "", and the place of one that names the columns, or None."""
    others = islice((line for line in lines if line.strip() and not line.startswith(_COMMENTS)), _SNIFFED_LINES)
    width, _ = _width(_cells(others, delimiter))
    for sign in _COMMENTS:
        marked = [i for i, line in enumerate(lines) if line.startswith(sign)]
        n_wide = sum(len(row) == width for row in _cells([lines[i] for i in marked], delimiter))
        if not marked or not width or width < 2 or n_wide >= len(marked) / 2 + (len(marked) == 1) * 0.5:
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
    if is_shorter and not any(as_number(cell) for cell in rows[first - 1]) and not _has_header(rows[first:], "."):
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


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Return True if the kinds of the first row's cells are not those of the columns below it."""
    if not rows:
        return False
    first, below = rows[0], rows[1:]
    kinds = [_kind(cell, decimal) for cell in first]
    if not below or len(first) == 1 or len(first) == len(below[0]) - 1:
        return "number" not in kinds
    columns = [[row[j] for row in below if j < len(row) and row[j] not in MISSING_WORDS] for j in range(len(first))]
    words = [j for j, kind in enumerate(kinds) if kind == "word"]
    numbers = [j for j, kind in enumerate(kinds) if kind == "number"]
    typed = [_share_of_numbers(columns[j], decimal) for j in range(len(first))]
    if not numbers and any(len(columns[j]) > 1 and typed[j] == 1 for j in words):
        return True
    if any(first[j] in columns[j] for j in words):
        return False
    if not numbers:
        return bool(words) or not any(typed) or any(typed[j] > 0 for j in range(len(first)) if kinds[j] == "")
    are_names = _number_columns([first[j] for j in numbers], [columns[j] for j in numbers], below, decimal)
    over_numbers = [j for j in words if columns[j][1:] and typed[j] == 1]
    has_fraction = any(decimal in first[j] for j in numbers)
    return bool(are_names) or (bool(over_numbers) and not (has_fraction and len(over_numbers) == 1))


def _share_of_numbers(cells: list[str], decimal: str) -> float:
    return sum(_kind(cell, decimal) != "word" for cell in cells) / len(cells) if cells else 0.0


def _number_columns(names: list[str], columns: list[list[str]], below: list[list[str]], decimal: str) -> bool:
    """Return True if numbers name columns, such as wavelengths, years or a count: they are unlike the numbers below."""
    given = [float(plain_numeral(name)[0].replace(decimal, ".")) for name in names]
    cells = [[number for cell in column if (number := _value(cell, decimal)) is not None] for column in columns]
    if any(not column for column in cells) or len(set(given)) < len(given) or not np.isfinite(given).all():
        return False
    is_whole = all(value.is_integer() for value in given)
    is_fraction = any(decimal in cell for column in columns for cell in column)
    is_count = given in (list(range(len(given))), list(range(1, len(given) + 1)))
    steps = np.diff(given)
    is_series = len(given) > 2 and bool((steps > 0).all()) and np.ptp(steps) <= 1e-9 * abs(steps[0])
    if is_whole and is_fraction and (is_series or is_count or all(map(_is_outside, given, cells))):
        return is_count or is_series or len(given) > 1 or abs(given[0]) >= 100
    if is_series and not is_count:
        first = [number for cell in below[0] if (number := _value(cell, decimal)) is not None]
        is_other = len(first) < 3 or np.ptp(np.diff(first)) != 0
        return any(map(_is_outside, given, cells)) or (abs(given[0]) >= 1000 and bool(is_other))
    return len(given) > 1 and bool((steps > 0).all()) and all(map(_is_outside, given, cells))


def _is_outside(value: float, column: list[float]) -> bool:
    """Return True if a number is farther from a column's numbers than these are from each other."""
    low, high = min(column), max(column)
    return value > high + 3 * (high - low) + abs(high) or value < low - 3 * (high - low) - abs(low)


def _has_units(rows: list[list[str]], decimal: str) -> bool:
    """Return True if the row below the names holds units: words over each column of numbers."""
    if len(rows) < 4:
        return False
    units, below = rows[1], rows[2:]
    numeric = [
        j
        for j in range(len(units))
        if (cells := [row[j] for row in below if j < len(row) and row[j] not in MISSING_WORDS])
        and _share_of_numbers(cells, decimal) >= _MOSTLY
    ]
    given = [units[j] for j in numeric]
    are_words = all(
        _value(cell, decimal) is None and _UNIT.fullmatch(cell) and not _DATE.fullmatch(cell) for cell in given
    )
    n_named = sum(cell not in MISSING_WORDS for cell in given)
    in_brackets = any(cell[:1] in "[(" and cell[-1:] in "])" and cell for cell in given)
    return bool(numeric) and are_words and (n_named > 1 or (n_named == 1 and in_brackets))


# --- the cells


def read_delimited(
    source: Source, recipe: Recipe, limits: Limits, seen: Seen | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with typed columns, and notes; count the cells that are read as missing in `seen`."""
    names, notes, batches = text_batches(source, recipe, limits)
    found = [batch for batch in batches if batch.num_rows]
    if not found:
        raise DataError("the table has no rows" + (" below its header" if recipe.header else ""))
    table, marked = pyarrow.Table.from_batches(found), {name for name, _ in recipe.marked()}
    columns = {
        name: typed(table.column(j), recipe, name, Counter() if seen is None else seen, is_text=name in marked)
        for j, name in enumerate(names)
    }
    return pd.DataFrame(columns, copy=False), notes


def text_batches(
    source: Source, recipe: Recipe, limits: Limits
) -> tuple[list[str], list[str], Iterator[pyarrow.RecordBatch]]:
    """Return the columns' names, notes, and the rows below them in batches of text; each must have as many cells."""
    rows, skipped, header = _rows_of(source, recipe), recipe.above, list[str]()
    if recipe.header:
        skipped, cells = next(rows, (0, [""]))
        header = _names_in(cells, recipe)
    if recipe.units:
        skipped, _ = next(rows, (skipped, []))
    first = next(rows, None)
    if first is None and not any(header):
        raise DataError("the file holds no text but blank lines")
    n_cells = len(header) if first is None else len(first[1])
    if not header:
        header = [f"x{j + 1}" for j in range(n_cells)]
    elif len(header) == n_cells - 1:  # R's write.table names one column less, unless each row ends with a delimiter
        ends = (row[-1] for _, row in islice(rows, _SNIFFED_LINES) if len(row) == n_cells)
        header = [*header, ""] if not any(ends) else ["", *header]
    names, notes = column_names(header)
    limits.check_columns(len(names))
    if first is None:
        return names, notes, iter(())
    below = partial(_below, source, recipe, skipped, len(names))
    return names, notes, _batches(source, recipe, skipped, len(names), limits, below)


def _batches(
    source: Source, recipe: Recipe, skipped: int, width: int, limits: Limits, below: Callable[[], Iterator[list[str]]]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows below some lines in batches of text. Arrow parses what it can read as it is, else plain CSV."""
    is_plain, n = _is_plain(source, recipe), 0
    pieces = utf8_pieces(source, recipe.encoding) if is_plain else _rewritten(below())
    schema = pyarrow.schema([(str(j), pyarrow.large_string()) for j in range(width)])
    try:
        for batch in arrow_csv.open_csv(
            _stream(pieces),
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=LONGEST_LINE,
                column_names=schema.names,
                skip_rows=skipped if is_plain else 0,
            ),
            arrow_csv.ParseOptions(
                delimiter=recipe.delimiter if is_plain else ",",
                newlines_in_values=True,
                invalid_row_handler=lambda row: "error" if row.text.strip(" \t\r\n") else "skip",
                ignore_empty_lines=width > 1,
            ),
            arrow_csv.ConvertOptions(column_types=schema, strings_can_be_null=False),
        ):
            n += batch.num_rows
            limits.check_rows(n)
            yield batch
    except pyarrow.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            return
        deque(below(), maxlen=0)  # raises an error for the first line that is wrong
        raise DataError(f"the table cannot be read as text: {reason_of(error)}") from None


def _stream(pieces: Iterator[bytes]) -> Any:
    """Return pieces as a stream. Arrow reads one of Python's in a thread, which an error may leave behind: for large texts."""
    held, size = list[bytes](), 0
    while size < _WHOLE and (piece := next(pieces, None)) is not None:
        held.append(piece)
        size += len(piece)
    return pyarrow.BufferReader(b"".join(held)) if size < _WHOLE else stream_of(piece for piece in chain(held, pieces))


def _names_in(cells: list[str], recipe: Recipe) -> list[str]:
    """Return the cells of a header without the sign of a comment in front."""
    header = [cell.strip() for cell in cells]
    if header[0].startswith(_MARKED):
        header[0] = header[0][1:].strip() or header[0]
    is_by_numpy = header[0] in _COMMENTS and recipe.delimiter == " "  # its savetxt
    return header[1:] if is_by_numpy else header


def _is_plain(source: Source, recipe: Recipe) -> bool:
    """Return True if Arrow reads the rows as they are: no runs of blanks, backslashes, comments, and odd places of quotes."""
    if recipe.escape or recipe.comment or recipe.delimiter == " ":
        return False
    edge = rf'{re.escape(recipe.delimiter)}\r\n"'  # a quote has one of these beside it, or the end
    odd = re.compile(rf"""\"(?:(?<=[^{edge}]")|"(?<=[{edge[:-1]}]""))(?=[^{edge}])""".encode())
    spaced = re.compile(rf'(?m)(?:{re.escape(recipe.delimiter)}|^) +"'.encode())
    pieces = utf8_pieces(source, recipe.encoding)
    return not any(odd.search(piece) or (b' "' in piece and spaced.search(piece)) for piece in pieces if b'"' in piece)


def _below(source: Source, recipe: Recipe, skipped: int, width: int) -> Iterator[list[str]]:
    """Yield the rows below a number of lines; raise `DataError` for one of another width."""
    for number, row in _rows_of(source, recipe):
        if number <= skipped:
            continue
        if len(row) != width:
            must = f"all lines must have as many, separated by {DELIMITERS[recipe.delimiter]}"
            raise DataError(f"line {number} has {len(row)} cells, and the first has {width}: {must}")
        yield row


def _rewritten(rows: Iterator[list[str]]) -> Iterator[bytes]:
    """Yield rows as plain CSV, in pieces."""
    while some := list(islice(rows, _AT_A_TIME)):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(some)
        yield text.getvalue().encode()


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
    for number, line in enumerate(
        io.TextIOWrapper(stream_of(utf8_pieces(source, encoding)), encoding="utf-8", newline=""), start=1
    ):
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
                raise DataError(_not_encoded(line, encoding)) from None
            if "\0" in text:
                line += text[: text.index("\0")].count("\n")
                raise DataError(f"line {line} holds a NUL byte: the file is no plain text")
            yield (text.removeprefix("\ufeff") if line == 1 else text).encode()
            line += text.count("\n")


def _not_encoded(line: int, encoding: str) -> str:
    where = f"line {line} or one soon after holds bytes that are not {encoding}"
    others = [name for name in ("cp1252", "utf-8", "utf-16") if name != encoding.removesuffix("-sig")]
    return f"{where}: choose another encoding, such as {' or '.join(others[:2])} (--encoding), if it is a text at all"


def typed(column: Any, recipe: Recipe, name: str, seen: Seen, *, is_text: bool = False) -> pd.Series:
    """Return a column of text as whole numbers, numbers or text, without the words that mean missing."""
    text = compute.utf8_trim_whitespace(column)
    is_missing = compute.is_in(text, value_set=pyarrow.array(recipe.missing_words, pyarrow.large_string()))
    if compute.any(is_missing).as_py():
        words = compute.value_counts(text.filter(is_missing))
        seen.update({(one["values"], name): one["counts"] for one in words.to_pylist()})
        text = compute.if_else(is_missing, pyarrow.scalar(None, pyarrow.large_string()), text)
    head = text.slice(0, _TRIED).drop_null().to_pylist()
    may_be_truths = not is_text and bool(head) and all(cell.lower() in ("true", "false") for cell in head)
    if may_be_truths and _all_match(text, "true|false"):
        return compute.equal(compute.utf8_lower(text), "true").to_pandas()
    numbers = None if is_text else _numbers(text, recipe.decimal)
    found = text.to_pandas() if numbers is None else numbers
    return found.astype(object) if numbers is None else found


def _numbers(text: Any, decimal: str) -> pd.Series | None:
    """Return a column as numbers; None if a cell is not a plain number, or has dots as thousands beside small numbers.

    The first cells tell what is worth trying: a conversion that fails takes as long as one that does not.
    """
    if text.null_count == len(text):
        return pd.Series(np.full(len(text), np.nan))
    head = [cell.replace(decimal, ".", 1) for cell in text.slice(0, _TRIED).drop_null().to_pylist()]
    if not all(_PLAIN.fullmatch(cell) for cell in head):
        return None
    plain = text
    if decimal != ".":
        if compute.any(compute.match_substring(text, ".")).as_py():
            return None
        plain = compute.replace_substring(text, decimal, ".", max_replacements=1)
    if compute.any(compute.starts_with(plain, "+")).as_py():
        plain = compute.replace_substring_regex(plain, r"^\+([\d.])", r"\1")
    is_whole = all(cell.lstrip("+-").isdigit() for cell in head)
    for kind in (pyarrow.int64(), pyarrow.uint64()) if is_whole else ():
        with contextlib.suppress(pyarrow.ArrowInvalid):
            whole = compute.cast(plain, kind)
            if not whole.null_count:
                return whole.to_pandas()
            if max(abs(value.as_py() or 0) for value in compute.min_max(whole).values()) < 2**53:
                return compute.cast(whole, pyarrow.float64()).to_pandas()
            return whole.to_pandas(
                types_mapper={kind: pd.Int64Dtype() if kind == pyarrow.int64() else pd.UInt64Dtype()}.get
            )
    if is_whole and _all_match(plain, r"[+-]?\d+"):
        return None  # whole numbers too large for 64 bits stay text
    may_group = decimal == "." and all(_MAY_GROUP.fullmatch(cell) for cell in head)
    if may_group and _all_match(plain, _MAY_GROUP.pattern) and has_thousands(plain.drop_null().unique().to_pylist()):
        return None  # numbers such as 1.850 are beside small whole numbers such as 986
    try:
        return compute.cast(plain, pyarrow.float64()).to_pandas()
    except pyarrow.ArrowInvalid:  # a word, or such as -inf and a number of too many digits
        if not _all_match(plain, _NUMBER):
            return None
        return pd.Series([np.nan if cell is None else float(cell) for cell in plain.to_pylist()])


def _all_match(text: Any, form: str) -> bool:
    return bool(compute.all(compute.match_substring_regex(text, rf"^({form})$", ignore_case=True)).as_py())
