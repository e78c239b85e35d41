"""The guess of how a text is written: its encoding, delimiter, decimal mark, names, and lines that are no rows."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterable
from functools import partial
from itertools import islice

import numpy as np

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import LABEL_NAMES, THOUSANDS_POINT, as_number, plain_numeral
from dsgcore.data.reading.parse import COMMENTS, SNIFFED_LINES, csv_rows, not_encoded
from dsgcore.data.reading.recipe import DELIMITERS, MISSING_WORDS, Recipe
from dsgcore.data.reading.sources import PIECE, Source, refuse_other_text

_HEAD, _MOST_ABOVE = 2**18, 99
_SECOND_NAMES = 2  # lines below the names that may repeat some, as of a survey's questions
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
    "koi8-r": (r"[а-яё]", r"[А-Яа-яЁё]"),
    "shift_jis": (r"[\u3040-\u30ff\u4e00-\u9fff]", r"[^\x00-\x7f]"),
    "gb18030": (r"[\u4e00-\u9fff]", r"[^\x00-\x7f]"),
}
# Polish letters of cp1250 that are ³, ¹ and ¿ in cp1252, within a word, but not in m³h or ¿que; and letters not in Polish.
_POLISH = re.compile(rb"(?<=[A-Za-z\xc0-\xff])(?!(?<=m)\xb3[^aeouy])[\xb3\xb9\xbf](?=[a-pr-uwyz])")
_NOT_POLISH = re.compile(rb"[\xc0-\xff](?<![\xc6\xca\xd1\xd3\xe6\xea\xf1\xf3])")
_BY_USE = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"  # Russian letters, the most frequent one first
_COMMA_NUMBER, _POINT_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?"), re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
# Spreadsheets read a first line such as sep=; as the name of the delimiter.
_NAMES_DELIMITER = re.compile(r'"?sep=([^"\r\n])"?(\r\n|\r|\n)', re.IGNORECASE)
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")
_UNIT = re.compile(r"[\[(]?[\w°µ%/^²³·*.\s-]{0,14}[\])]?")
_MOST_BELOW, _ID_OF_QUALTRICS = 3, '{"ImportId":'
_BEFORE_NAMES = ("TOA5", "***End_of_Header***")  # of Campbell's loggers and LabVIEW
_FLAGS = {"class", "meta", "ignore", "c", "m", "i"}  # of Orange, below its types or a list of values
_TYPES = re.compile(r"continuous|numeric|discrete|categorical|string|text|time|[cdnst]?|\S+( \S+)+")
_ODD_DELIMITERS = "^~§¤¦¬¶"


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
    as_utf8 = content.decode("utf-8", "replace")
    if len(re.findall(r"[^\x00-\x7f\ufffd]", as_utf8)) > 2 * as_utf8.count("\ufffd"):
        return "utf-8"  # with a few wrong bytes, which the reading refuses
    western = "cp1250" if len(_POLISH.findall(content)) > len(_NOT_POLISH.findall(content)) else "cp1252"
    runs = re.findall(rb"[\x80-\xff][\x40-\x7e\x80-\xff]*", content)
    if np.mean([len(run) > 1 and run[1] >= 0x80 for run in runs] or [False]) < 0.5:
        return western
    shares = dict.fromkeys(_SCRIPTS, 0.0)
    for encoding, (usual, among) in _SCRIPTS.items():
        with contextlib.suppress(UnicodeDecodeError):
            text = content[: content.rfind(b"\n") + 1 or None].decode(encoding)
            n_foreign = len(re.findall(r"[^\x00-\x7f]", text))
            shares[encoding] = len(re.findall(usual, text)) / max(len(re.findall(among, text)), 0.8 * n_foreign, 1)
    # The first bytes that common Chinese characters have; Cyrillic letters have others.
    leads = [pair[0] for pair in re.findall(rb"[\x81-\xfe][\x40-\xfe]", content)]
    shares["gb18030"] *= np.mean([0xB0 <= lead <= 0xD7 or 0xA1 <= lead <= 0xA3 for lead in leads]) if leads else 0.0
    for encoding in ("cp1251", "koi8-r"):
        shares[encoding] *= 0.95
    # Capitals of cp1251 and of western encodings are small letters in KOI8-R, but other ones than Russian has often.
    if _rarity(content, "koi8-r") >= _rarity(content, "cp1251"):
        shares["koi8-r"] = 0.0
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] > 0.5 else western


def _rarity(content: bytes, encoding: str) -> float:
    """Return the mean place of a text's letters among the Russian ones, 0 for the most frequent one."""
    letters = (letter for letter in content.decode(encoding, "replace").lower() if not letter.isascii())
    return float(np.mean([_BY_USE.find(letter) % len(_BY_USE) for letter in letters]))


def head_text(source: Source, encoding: str) -> str:
    """Return the text of the first bytes, up to the last whole line if there is more."""
    content = source.head(_HEAD)
    try:
        text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(content)
    except UnicodeError:  # utf-16 without its mark
        raise not_encoded(1, encoding) from None
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
    sampled = [lines[i] for i in kept[:SNIFFED_LINES]]

    def regularity(is_escaped: bool) -> tuple[float, int]:
        rows = _cells(sampled, delimiter, is_escaped)
        width, agreeing = _width(rows)
        return (agreeing, -sum("\\" in cell for row in rows for cell in row)) if width > 1 else (0, 0)

    is_escaped = any('\\"' in line for line in sampled) and regularity(True) > regularity(False)
    rows = _cells(sampled, delimiter, is_escaped)
    single = re.compile(
        rf"(?:^|{re.escape(delimiter)}) *'[^'{delimiter}]*{re.escape(delimiter)}[^']*' *(?:{re.escape(delimiter)}|$)"
    )
    bare = (re.sub(r'"[^"]*"', "", line) for line in sampled)  # lists of words may be in double quotes
    if sum(single.search(line) is not None for line in bare) > len(sampled) / 2:
        raise DataError(
            "cells in single quotes hold the delimiter: write double quotes around them, or another delimiter"
        )
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
        below=_below(rows, decimal) * header,
        comment=comment,
        escape=is_escaped,
    )


def _cells(lines: Iterable[str], delimiter: str, is_escaped: bool = False) -> list[list[str]]:
    """Return the cells of the first lines, which may be malformed."""
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):  # the full reading reports faults and their place
        rows.extend([cell.strip() for cell in row] for row in csv_rows(lines, delimiter, is_escaped, strict=False))
    return [row for row in rows if row]


def _width(rows: list[list[str]]) -> tuple[int, int]:
    """Return the most frequent number of cells, and the number of rows that have it."""
    return Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)


def _likely_delimiter(lines: list[str]) -> str:
    """Return the delimiter for which the rows agree best on a number of cells above 1, and then have most numbers.

    1,5;2,5 is two numbers, not three cells. Raises `DataError` if a sign that is not read agrees better.
    """
    full = [line for line in lines if line.strip()]
    some = ([line for line in full if not line.startswith(COMMENTS)] or full)[:SNIFFED_LINES]

    def agreement(delimiter: str, of_blank: float = 0.9) -> tuple[float, float, int]:
        rows = _cells(some, delimiter)
        width, agreeing = _width(rows)
        if width < 2:
            return 0.0, 0.0, 0
        # White space and colons also occur inside cells, but names show what separates them.
        is_named = delimiter == ":" and len(rows[0]) == width and all(cell.isidentifier() for cell in rows[0])
        weight = 1.0 if is_named else {" ": of_blank, ":": 0.5}.get(delimiter, 1.0)
        flat = [cell for row in rows for cell in row]
        numeric = sum(_value(cell, ".") is not None or _value(cell, ",") is not None for cell in flat) / len(flat)
        return round(weight * agreeing / len(rows), 2), round(numeric, 2), width

    found = {one: agreement(one) for one in DELIMITERS}
    # 0,5;a is a number and a word, rather than 0 and a word: of two that agree as well, the other one.
    best = max(found, key=lambda one: (found[one], (one == ",") == (found[one][2] < 2)))
    is_wider = agreement(" ", 1.0)[0] == 1.0 and found[" "][1] > max(0.5, found[best][1])
    if is_wider and ((best == "\t" and found[best][2] == 2) or (best == "," and _are_decimal(some))):
        best = " "  # decimal commas alone, or a tab before the last column alone, as in UCI's auto-mpg.data
    odd = _ODD_DELIMITERS if best in (" ", ":") or found[best][2] < 2 else ""
    if other := next((one for one in odd if agreement(one) > found[best]), None):
        raise DataError(
            f"the cells seem to be separated by {other!r}, and the delimiter must be one of "
            f"{', '.join(DELIMITERS.values())}: replace it in the file, or name another one (--delimiter)"
        )
    return best


def _are_decimal(lines: list[str]) -> bool:
    """Return True if all commas are decimal ones between white space, which does not set thousands apart, as in 1 500,2 300."""
    with_comma = (cell for row in _cells(lines, " ") for cell in row if "," in cell)
    return all(map(_COMMA_NUMBER.fullmatch, with_comma)) and any(
        re.search(r"\s(?!\d{3}\b)", line.strip()) for line in lines
    )


def _comment(lines: list[str], delimiter: str) -> tuple[str, int | None]:
    """Return the sign that begins lines of comments, or "", and the place of one that names the columns, or None."""
    others = islice((line for line in lines if line.strip() and not line.startswith(COMMENTS)), SNIFFED_LINES)
    width, _ = _width(_cells(others, delimiter))
    for sign in COMMENTS:
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
    """Return the number of lines above the table: they have fewer cells than its rows, or fewer are filled than of the names."""
    width, agreeing = _width(rows)
    if width < 2 or agreeing < len(rows) / 2:
        return 0
    filled = [[cell for cell in row if cell] for row in rows]
    alone = [width > 2 and len(cells) < 2 and not any(map(as_number, cells)) for cells in filled]
    begin = 1 + max((i for i, row in enumerate(rows) if row[0] in _BEFORE_NAMES), default=-1)
    wide = [i for i in range(begin, len(rows)) if len(rows[i]) == width and not alone[i]]
    full = (next((i for i in wide if len(filled[i]) >= share * width), 0) for share in (1, 0.5))
    # Below such as "Operator,Jane,,,", but not below names of which an index, or a column between others, has none.
    named = (i for i in full if i > wide[0] and not rows[wide[0]][-1] and _has_header(rows[i:], "."))
    first = next(named, wide[0]) if wide else 0
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
    return columns, [_typed(cells, decimal) for cells in columns]


def _typed(cells: list[str], decimal: str) -> float:
    return sum(_kind(cell, decimal) != "word" for cell in cells) / len(cells) if cells else 0.0


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Return True if the kinds of the first row's cells are not those of the columns below it."""
    if not rows:
        return False
    first, below = rows[0], [row for row in rows[1:] if row != rows[0]]  # names may come again
    kinds = [_kind(cell, decimal) for cell in first]
    if not below or len(first) == 1 or len(first) == len(below[0]) - 1:
        return "number" not in kinds
    columns, typed = _columns(below, len(first), decimal)
    words = [j for j, kind in enumerate(kinds) if kind == "word"]
    numbers = [j for j, kind in enumerate(kinds) if kind == "number"]
    if not numbers and any(len(columns[j]) > 1 and typed[j] == 1 for j in words):
        return True
    # Names may come again as a survey's questions, above numbers or dates.
    is_second = not numbers and any(_typed(columns[j][_SECOND_NAMES:], decimal) == 1 for j in words)
    if any(first[j] in columns[j][_SECOND_NAMES * is_second :] for j in words):
        return False
    if any(first[j].lower() in LABEL_NAMES and len(first[j]) > 1 for j in words):
        return True
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
    steps = np.diff(given)
    is_series = len(given) > 2 and bool((steps > 0).all()) and np.ptp(steps) <= 1e-9 * abs(steps[0])
    # A count also names columns of words: so pandas writes a table without names; years name some with remarks.
    needed = max if is_count or is_series else min
    if not needed(map(len, cells)) or len(set(given)) < len(given) or not np.isfinite(given).all():
        return False
    outside = []  # farther from a column's numbers than these are from each other
    for value, column in ((value, column) for value, column in zip(given, cells, strict=True) if column):
        low, high = min(column), max(column)
        outside.append(value > high + 3 * (high - low) + abs(high) or value < low - 3 * (high - low) - abs(low))
    is_whole = all(value.is_integer() for value in given)
    is_fraction = any(decimal in cell for column in columns for cell in column)
    if is_whole and is_fraction and (is_series or is_count or all(outside)):
        return is_count or is_series or len(given) > 1 or abs(given[0]) >= 100
    if is_series and not is_count:
        first = [number for cell in below[0] if (number := _value(cell, decimal)) is not None]
        return any(outside) or (abs(given[0]) >= 1000 and bool(len(first) < 3 or np.ptp(np.diff(first)) != 0))
    return len(given) > 1 and bool((steps > 0).all()) and all(outside)


def _below(rows: list[list[str]], decimal: str) -> int:
    """Return the number of lines below the names that are no rows: up to Qualtrics' ids, or units and what follows them.

    These are the ways of measuring of Campbell's loggers, the flags of Orange, and the name of an index of pandas.
    """
    first = rows[1 : 1 + _MOST_BELOW]
    if found := next((n for n, row in enumerate(first, start=1) if all(_ID_OF_QUALTRICS in cell for cell in row)), 0):
        return found
    if len(first) > 1 and "class" in {*first[1]} - {""} <= _FLAGS and all(map(_TYPES.fullmatch, first[0])):
        return 2
    n = next((n for n in range(len(first)) if not _has_units(rows[n:], decimal)), len(first))
    after = rows[n + 1] if n + 1 < len(rows) else []
    words = {*after} - {""}
    is_name = len(words) == 1 and after[0] in words and _kind(after[0], decimal) == "word"
    return n + (n > 0 and is_name and len({*rows[0]} - {""}) < len(rows[0]))  # names of levels repeat


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
