"""Tables as text: their rows and the types of their columns, parsed by pyarrow, or by Python what it cannot read."""

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
    column_names,
    has_thousands,
    is_numeric,
    listed,
    numbers_among,
    reason_of,
)
from dsgcore.data.reading.recipe import DELIMITERS, Limits, Recipe
from dsgcore.data.reading.sources import PIECE, Source, stream_of

LONGEST_LINE = 4_000_000
_WHOLE = 2**25  # bytes of a text that is parsed as a whole
SNIFFED_LINES = 200
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)"
_PLAIN = re.compile(_NUMBER, re.IGNORECASE)
_MAY_GROUP = re.compile(rf"{THOUSANDS_POINT.pattern}|[+-]?\d{{1,3}}")
_CODE = re.compile(r"\s*0\d{2,17}\s*")  # such as the post code 01067
_AT_A_TIME = 10_000  # rows that Python splits into cells at a time
_TRIED = 100  # cells that tell what a column may hold
COMMENTS, _MARKED = ("#", "%"), ("# ", "% ")
_TEXT, _REAL = pyarrow.large_string(), pyarrow.float64()


class NoRowsError(DataError):
    """A text with nothing below the columns' names."""

    def __init__(self, message: str, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.names = list(names)


def read_delimited(source: Source, recipe: Recipe, limits: Limits, seen: Seen) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with typed columns, and notes; count the cells that are read as missing in `seen`."""
    names, notes, skipped, head = rows_below(source, recipe, limits)
    if not head:
        raise NoRowsError(
            "the table has no rows" + " below its header (--no-header: it is a row)" * recipe.header, names
        )
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
    table = pyarrow.Table.from_batches(batches).rename_columns(names)
    columns = {name: typed(table.column(j), recipe, name, seen, name in marked) for j, name in enumerate(names)}
    heads = dict(zip(names, zip_longest(*head, fillvalue=""), strict=False))
    words = (cell for cell in chain(names, *head) if not cell.isascii())
    if not recipe.encoding.startswith("utf") and (word := next(words, "")):
        how = "if they look wrong, choose another encoding (--encoding)"
        notes.append(f"The text is read as {recipe.encoding}, with words such as {listed([word])}: {how}.")
    notes += [*_about_quotes(table, recipe.delimiter), *_about_numbers(columns, heads, recipe.decimal)]
    return pd.DataFrame(columns, copy=False), notes


def _about_quotes(table: Any, delimiter: str) -> Iterator[str]:
    """Return a sentence about a column's first cell that has the line ends and delimiters of whole rows."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        cells = column.filter(compute.match_substring(column, "\n")).to_pylist() if column.type == _TEXT else ()
        counts = [(cell.count("\n"), cell.count(delimiter)) for cell in cells]
        if n := next((n for n, more in counts if more == n * (table.num_columns - 1) > 0), 0):
            yield f"A cell of {name!r} holds {n + 1} lines in quotes: if two stray quotes join these rows, delete both."


def _about_numbers(columns: dict[str, pd.Series], heads: dict[str, tuple[str, ...]], decimal: str) -> Iterator[str]:
    """Return a sentence if numbers may be codes, or all with a decimal comma look like 45,123, so that thousands may be meant."""
    for name, own in heads.items():
        code = next(filter(_CODE.fullmatch, own[:_TRIED]), "").strip() if is_numeric(columns[name]) else ""
        if code and len({*own}) < len(own):  # others number the rows
            yield f"{listed([name])}: {code} is read as {int(code)}. If it is a code, make it a category (--category)."
    cells = {name: [cell.strip() for cell in own if "," in cell] for name, own in heads.items()}
    some = {name: own for name, own in cells.items() if own and is_numeric(columns[name])}
    flat = [cell for own in some.values() for cell in own]
    if decimal == "," and flat and all(THOUSANDS_POINT.fullmatch(cell.replace(",", ".", 1)) for cell in flat):
        yield (
            f"{listed(some)}: {flat[0]} and others are read as fractions. If the comma sets thousands apart, the decimal mark "
            "is the point (--decimal .)."
        )


def rows_below(source: Source, recipe: Recipe, limits: Limits) -> tuple[list[str], list[str], int, list[list[str]]]:
    """Return the columns' names, notes, the number of lines above the rows, and the first rows."""
    rows, skipped, header = _rows_of(source, recipe), recipe.above, list[str]()
    if recipe.header:
        skipped, cells = next(rows, (0, [""]))
        header = [cell.strip() for cell in cells]
        if header[0].startswith(_MARKED):  # the sign of a comment
            header[0] = header[0][1:].strip() or header[0]
        if header[0] in COMMENTS and recipe.delimiter == " ":  # by NumPy's savetxt
            del header[0]
    below = [*islice(rows, recipe.below * recipe.header)]
    skipped = below[-1][0] if below else skipped
    head = [row for _, row in islice(rows, 1)]
    if not head and not any(header):
        raise DataError("the file holds no text but blank lines")
    with contextlib.suppress(DataError):  # which the reading of all rows raises
        for _, row in islice(rows, SNIFFED_LINES):
            limits.check_columns(max(len(row), len(head[0])))
            head.append(row)
    n_cells = len(head[0]) if head else len(header)
    if not header:
        header = [f"x{j + 1}" for j in range(n_cells)]
    elif len(header) == n_cells - 1:  # R's write.table names one column less, unless each row ends with a delimiter
        is_last = not any(row[-1] for row in head[1:] or head if len(row) == n_cells)
        header = [*header, ""] if is_last else ["", *header]
    n, words = len(below), [cell for _, row in below for cell in row if cell]
    lines = f"{n} rows below the names are" if n > 1 else "The row below the names is"
    said = [f"{lines} left out (--below 0 if it is data): {listed(words)}."] * bool(n)
    for _, row in below:  # names of several levels
        if len(row) == len(header) and (len(counts := Counter(header)) < len(row) or said[1:]):
            header = [f"{a} {b}".strip() if not a or counts[a] > 1 else a for a, b in zip(header, row, strict=True)]
            said[1:] = [f"Its words are added to names that repeat or are missing: {listed(header)}."]
    names, notes = column_names(header)
    limits.check_columns(len(names))
    return names, [*said, *notes], skipped, head


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
    opened = rf"""(?<=[{edge[:-1]}]")[^{edge}][^"]*\""""
    odd = re.compile(rf"""\"(?:(?<=[^{edge}]")|"(?<=[{edge[:-1]}]"")|{opened})(?=[^{edge}])""".encode())
    spaced = re.compile(rf'(?m)(?:{re.escape(recipe.delimiter)}|^) +"'.encode())
    n_quotes = 0  # Arrow reads one that is never closed
    for piece in utf8_pieces(source, recipe.encoding):
        if n := piece.count(b'"'):
            n_quotes += n
            if odd.search(piece) or (b' "' in piece and spaced.search(piece)):
                return False
    return n_quotes % 2 == 0


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
                must = f"all lines must have as many, separated by {DELIMITERS[recipe.delimiter]}, so delete what is no row"
                raise DataError(
                    f"line {number} has {len(row)} cell{'s' * (len(row) != 1)}, and the first has {width}: {must}"
                )
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
        for row in csv_rows(lines(), recipe.delimiter, recipe.escape):
            if len(row) > 1 or (row and row[0].strip()):
                yield number, row
    except csv.Error as error:
        fault = str(error)
        if "field larger" in fault:
            fault = f"a cell has more than {csv.field_size_limit()} characters (is a closing quote missing?)"
        elif "unexpected end" in fault:
            fault = "a quote is opened and never closed"
        raise DataError(f"line {number} cannot be read: {fault}") from None


def csv_rows(lines: Iterable[str], delimiter: str, is_escaped: bool = False, *, strict: bool = True) -> Any:
    """Return the cells of each row of CSV, as Python's reader splits them."""
    given = (line.replace("\t", " ").strip() + "\n" for line in lines) if delimiter == " " else lines
    escape = "\\" if is_escaped else None
    return csv.reader(given, delimiter=delimiter, skipinitialspace=True, strict=strict, escapechar=escape)


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
                raise not_encoded(line, encoding) from None
            if "\0" in text:
                line += text[: text.index("\0")].count("\n")
                raise DataError(
                    f"line {line} holds a NUL byte: remove it if the file is a text, and save the table as text if it is none"
                )
            yield (text.removeprefix("\ufeff") if line == 1 else text).encode()
            line += text.count("\n")


def not_encoded(line: int, encoding: str) -> DataError:
    """Return the error for bytes of another encoding."""
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
    return _TEXT if all(_MAY_GROUP.fullmatch(cell) for cell in plain) else _REAL


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
    may_group = all(_MAY_GROUP.fullmatch(cell) for cell in head)
    if may_group and _all_match(text, _MAY_GROUP.pattern) and has_thousands(text.drop_null().unique().to_pylist()):
        return None  # numbers such as 1.850 or 1,850 are beside small whole numbers such as 986
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
