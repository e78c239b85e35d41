"""Files in memory or on disk, unpacked, and the kind of file that their first bytes tell."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import hashlib
import io
import lzma
import os
import re
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pyarrow

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import listed, readable, reason_of, tables
from dsgcore.data.reading.recipe import LOCAL, Limits

PIECE = 2**20
# Hive's name for a missing value, and its values that are numbers.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_NUMBERS = ((r"-?\d{1,18}", int), (r"-?\d+(\.\d+)?([eE]-?\d+)?", float))
_ZIP = b"PK\x03\x04"
PARQUET_ENDINGS = (".parquet", ".pq", ".parq")
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_TABLE_ENDINGS = {
    *(".csv", ".tsv", ".tab", ".psv", ".svm", ".libsvm", ".svmlight", ".jsonl", ".ndjson"),
    *(".arff", ".xlsx", ".npz", ".feather", ".arrow", ".orc"),
}
_PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")
_MOST_FOR_NOTHING = 200  # bytes that packing takes for none
_KINDS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow", b"ORC": "orc", b"\xff\xff\xff\xff": "arrow"}
_OF_OFFICE = ("[Content_Types].xml", "content.xml", "Index/Document.iwa")  # files of Office, OpenDocument, Numbers
_LEAST_SHEET = 10  # a sheet with fewer than a tenth of the largest one's cells is not the table
CONTROL = re.compile(rb"[\0-\10\16-\37]")  # not in a text, whose first column may be called PAR1, ORCID or BZh1
_PDF = "a PDF document"  # which may be text
_OTHERS = {magic.encode("latin-1"): what for what, all_magic in tables("kinds.toml").items() for magic in all_magic}
# A name in brackets may begin a table's header: [K+], {a}, <x>.
_OTHER_TEXTS = {
    "a matrix of Matrix Market": re.compile("%%matrixmarket "),
    "a web page or XML": re.compile(r"<[!?]|<html\b|<(?=(?s:.*)\n\s*<[^\n]*\s*\Z)|<[^\n]*>\s*\Z"),
    "JSON, but no records": re.compile(r"\{\s*(?:\"|\}\s*\Z)|\[\s*(?:[\[{\"]|-?\d[\d.e+-]*\s*[,\n])"),
    # A label, a bar, and pairs of a name and a value; a label, and triples of field, index and value, but no times of a day.
    "a text of Vowpal Wabbit": re.compile(
        r"(?![^|\n]*\d\d:\d\d)[+-]?\d[^|\n]*\|(?=[^\n]*:(?!\d\d\b))[\w:.]*(?: +[^\s|:]+:-?\d[\d.e+-]*){2,} *(?=\|\w|\r?\n)"
    ),
    "a text of LIBFFM": re.compile(
        r"[+-]?\d[\d.]*(?=[ \t][^\n]*:\d+:(?!\d\d\b))(?:[ \t]+\d+:\d+:-?[\d.]\S*){2,}[ \t]*\r?\n"
    ),
    "a program in SQL": re.compile(
        r"(?:--.*\n|/\*.*\n|\s)*(?:(?:drop table|set \w+ ?=)[^\n]*;\s*(?:\n|\Z)"
        r"|(?:create table (?:if not exists )?|insert into )\S+\s*(?:\(|values\b|select\b|as\b))"
    ),
}
_ATTRIBUTE = re.compile(
    r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{]+(?=[\s{]))\s*(.+)", re.IGNORECASE | re.ASCII
)
_NUMERIC = re.compile("numeric|real|integer", re.IGNORECASE)
# A cell in double quotes, or what is between single ones.
_QUOTED = re.compile(r"(?<![^\s,{])(?:\"(?:[^\"\\]|\\.|\"\")*\"|'((?:[^'\\]|\\.)*)'(?=\t|\s*(?:[,}]|\Z)))", re.ASCII)
_IN_BRACES = re.compile(r"\{(.*?)\}\s*(?:,\s*\{[^{}]*\})?", re.ASCII)  # and the weight of a row
_PAIR = re.compile(r"\s*(\d{1,9})\s(\s*\"(?:[^\"\\]|\\.)*\"\s*|[^,\"]*)(?:,|\Z)", re.ASCII)
_BLANKS = " \t\r\n\f\v"
_ARFF = re.compile(r"\A\ufeff?(\s*%[^\n]*\n|\s*\n)*\s*@relation\s", re.IGNORECASE)
# A line drawn below the names of a table in Markdown, by MySQL, psql or sqlcmd, or between all rows as in reStructuredText.
_LINE = r"[ \t]*(?:[|+][ \t]*)?(?::?[-=]+:?[ \t]*[|+][ \t]*)+(?::?[-=]+:?[ \t]*)?"
_DRAWN = re.compile(rf"\A\ufeff?(?:[^|\"\t\n]*\n)*?(?:[^|\n]*\|[^\n]*\n)?({_LINE})\r?\n[^|\n]*\|")
_COUNT = re.compile(r"(?=\(?(\d+) )(?:\(\d+ rows?\b|\d+ rows? in set)")  # below a table of psql, sqlcmd or MySQL
READABLE = "CSV and other text, LIBSVM, Parquet, Feather, ORC, JSON lines, ARFF, Excel (.xlsx) and .npz archives"
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)
UNREADABLE = (*_DAMAGED, MemoryError, OverflowError, RuntimeError, SyntaxError, TypeError, ValueError)


@dataclass(frozen=True)
class Source:
    """A file to read: its name without folders, a function that opens it, and its size in bytes."""

    name: str
    open: Callable[[], IO[bytes]]
    size: int
    path: Path | None = None  # a folder of files
    known: Mapping[str, Any] = field(default_factory=dict)  # fields of the recipe that its kind of file decides
    notes: tuple[str, ...] = ()
    keys: Mapping[str, Any] = field(default_factory=dict)  # values in the names of its folders, by the column

    @classmethod
    def of_bytes(cls, content: bytes, name: str) -> Source:
        """Return a source made of a file's bytes."""
        return cls(name, lambda: io.BytesIO(content), len(content))

    @classmethod
    def of_path(cls, path: str | os.PathLike[str]) -> Source:
        """Return a source for a file on disk, which is read in pieces, or for a folder of files."""
        file = Path(path)
        if file.is_dir():
            files = files_of(file)
            return cls(file.name, files[0].open, sum(one.size for one in files), file)
        try:
            with file.open("rb"):
                size = file.stat().st_size
        except (OSError, ValueError) as error:
            reason = "there is no such file" if isinstance(error, FileNotFoundError) else "it is not a readable file"
            raise DataError(f"cannot read {quoted(file.name)}: {reason}") from None
        return cls(file.name, lambda: file.open("rb"), size)

    def head(self, size: int) -> bytes:
        """Return the first bytes."""
        with self.open() as stream:
            return stream.read(size)

    def sha256(self) -> str:
        """Return the digest of the bytes; of a folder, of its files' digests."""
        if self.path is not None:
            return hashlib.sha256("".join(file.sha256() for file in files_of(self.path)).encode()).hexdigest()
        with self.open() as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def files_of(folder: Path) -> list[Source]:
    """Return the files of one kind in a folder; raise `DataError` if there are none."""
    if not (found := data_files(folder)):
        raise DataError(f"the folder {quoted(str(folder))} holds no files of data: give one with Parquet or CSV files")
    values, _ = values_in_names(folder, found)
    return [replace(Source.of_path(file), keys=values[file]) for file in found]


def telling(texts: Iterable[Source]) -> Source:
    """Return the first text with more than a line of names, which tells how all of a folder are written; else the first."""
    first: Source | None = None
    for one in texts:
        if len(one.head(PIECE).strip().splitlines()) > 1:
            return one
        first = first or one
    assert first is not None
    return first


def values_in_names(
    folder: Path, files: Sequence[Path]
) -> tuple[dict[Path, dict[str, Any]], dict[str, type[int] | type[float] | type[str]]]:
    """Return the values in the names of each file's folders, such as year=2020, and each column's type: a number if all are."""
    found = dict[Path, dict[str, Any]]()
    for file in files:
        parts = file.relative_to(folder).parts[:-1] if folder.is_dir() else ()
        pairs = [part.partition("=") for part in parts if "=" in part]
        found[file] = {unquote(name): None if one == _NO_VALUE else unquote(one) for name, _, one in pairs}
    kinds = dict[str, Any]()
    for name in dict.fromkeys(name for own in found.values() for name in own):
        values = [own[name] for own in found.values() if own.get(name)]
        fits = (kind for form, kind in _NUMBERS if all(re.fullmatch(form, value) for value in values))
        kinds[name] = kind = next(fits, str)
        for own in found.values():
            if own.get(name):
                own[name] = kind(own[name])
    return found, kinds


def data_files(path: Path) -> list[Path]:
    """Return a file itself, or the Parquet files of a folder, or those with the ending that most bytes of its tables have.

    Files without a byte, as of Spark's empty parts, are left out.
    """
    if found := parquet_files(path):
        return found
    shown = [file for file in shown_files(path) if not _is_empty(file)]
    found = [file for file in shown if _ending(file) in _TABLE_ENDINGS] or shown
    sizes = Counter[str]()
    for file in found:
        sizes[_ending(file)] += file.stat().st_size
    return [file for file in found if _ending(file) == sizes.most_common(1)[0][0]]


def _is_empty(file: Path) -> bool:
    """Return True for a file without a byte, which may be packed."""
    if 0 < (size := file.stat().st_size) < _MOST_FOR_NOTHING and file.suffix.lower() in _PACKED_ENDINGS:
        with suppress(DataError):  # as of a damaged one, which its reading names
            return not streamed(Source.of_path(file), LOCAL).head(1)
    return not size


def _ending(file: Path) -> str:
    """Return the ending of a file's name, without that of its packing, or the number of a part."""
    endings = [one.lower() for one in file.suffixes if one.lower() not in _PACKED_ENDINGS and not one[1:].isdigit()]
    return endings[-1] if endings else ""


def about_others(path: Path) -> list[str]:
    """Return sentences about the files of a folder that are not read, and about names of folders that make no column."""
    if path.is_file():
        return []
    files = data_files(path)
    others = sorted(file.name for file in {*shown_files(path)} - {*files})
    said = [f"Other files of the folder are left out: {listed(others)}."] * bool(others)
    names = sorted({part for file in files for part in file.relative_to(path).parts[:-1] if "=" not in part})
    how = f"to use them, name them as in kind={names[-1]}" if names else ""
    return [*said, *[f"The names of folders, {listed(names)}, are no column: {how}."] * (len(names) > 1)]


def shown_files(folder: Path) -> list[Path]:
    """Return the files of a folder and its folders, by their names; hidden ones are left out."""
    found = ((file, file.relative_to(folder).parts) for file in sorted(folder.rglob("*")) if file.is_file())
    return [file for file, parts in found if not any(part.startswith((".", "_", "~$")) for part in parts)]


def parquet_files(path: Path) -> list[Path]:
    """Return a file itself, or the Parquet files of a folder, by their endings."""
    return [path] if path.is_file() else [file for file in shown_files(path) if file.suffix.lower() in PARQUET_ENDINGS]


def unpacked(source: Source, limits: Limits) -> Source:
    """Return the source without gzip, bzip2, xz, zstd or zip; raise `DataError` before a large content fills memory."""
    opened = source if source.path is not None else streamed(source, limits)
    return source if opened is source else _in_memory(opened, limits)


def _in_memory(source: Source, limits: Limits) -> Source:
    pieces, size = [], 0
    with source.open() as stream:
        for piece in iter(partial(stream.read, PIECE), b""):
            size += len(piece)
            limits.check_unpacked(size)
            pieces.append(piece)
    if not size:
        raise DataError("the file is packed and empty")
    content = b"".join(pieces)
    return replace(source, open=lambda: io.BytesIO(content), size=size)


def streamed(source: Source, limits: Limits) -> Source:
    """Return the source without its packing, unpacked while it is read. A workbook and ARFF become CSV, in memory."""
    limits.check_size(source.size)
    if not source.size:
        raise DataError("the file is empty")
    head = source.head(4096)
    kind = next((kind for magic, kind in _PACKED.items() if head.startswith(magic) and CONTROL.search(head)), None)
    if head.startswith(_ZIP) and (member := _zip_member(source)):
        kind, others = "zip", [name for name in _zip_names(source) if name != member]
        source = replace(source, notes=(f"Other files of the archive are left out: {listed(others)}.",) * bool(others))
    opened = source if kind is None else replace(source, open=lambda: stream_of(_unpacked_pieces(source, kind)))
    head = opened.head(4096)
    if kind is not None and head.startswith(_ZIP):  # whose table of contents is at its end
        opened = _in_memory(opened, limits)
    if _ARFF.match(head.decode("utf-8", "replace")):
        return _arff_as_csv(opened if kind is None else _in_memory(opened, limits), limits)
    if _DRAWN.match(head.decode("utf-8", "replace")):
        return _without_lines(opened if kind is None else _in_memory(opened, limits))
    names = _zip_names(opened) if head.startswith(_ZIP) else []
    is_workbook = any(name.startswith("xl/") for name in names) and "xl/workbook.bin" not in names  # which is no XML
    return _sheet_as_csv(opened, limits) if is_workbook else opened


def _unpacked_pieces(source: Source, kind: str) -> Iterator[bytes]:
    openers: dict[str, Callable[[IO[bytes]], Any]] = {
        "gzip": lambda f: gzip.GzipFile(fileobj=f),
        "bzip2": bz2.BZ2File,
        "xz": lzma.LZMAFile,
        "zstd": lambda f: pyarrow.CompressedInputStream(pyarrow.PythonFile(f, mode="r"), "zstd"),
        "zip": lambda f: zipfile.ZipFile(f).open(str(_zip_member(source))),  # noqa: SIM115
    }
    try:
        with source.open() as stream, openers[kind](stream) as packed:
            while piece := packed.read(PIECE):
                yield piece
    except UNREADABLE as error:
        raise DataError(f"the file is packed by {kind} and damaged or cut off: {reason_of(error)}") from None


def stream_of(pieces: Iterator[bytes]) -> io.BufferedReader:
    """Return pieces of bytes as a stream."""
    return io.BufferedReader(_Pieces(pieces), PIECE)


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a raw stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._left and (piece := next(self._pieces, None)) is not None:
            self._left = piece
        given, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)

    def close(self) -> None:
        self._pieces.close()  # type: ignore[attr-defined]
        super().close()


# --- workbooks and ARFF, as CSV


def _sheet_as_csv(source: Source, limits: Limits) -> Source:
    """Return the first sheet of a workbook that has a table, without the rows above it, such as a title."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise DataError(
            "Excel workbooks need the package openpyxl (pip install dsg-lab[excel]): install it, or save the sheet as CSV"
        ) from None
    with readable("the Excel file", "is damaged, cut off or of an unknown kind", also=UNREADABLE):
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            limits.check_unpacked(sum(info.file_size for info in archive.infolist()), "the workbook")
            is_merged = any(b"<mergeCell " in archive.read(name) for name in archive.namelist() if "/sheet" in name)
        with source.open() as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of styles that it does not know
            content = io.BytesIO(stream.read())
            sheets = pd.read_excel(content, sheet_name=None, header=None, dtype=object, na_filter=False)
    full = dict[str, pd.DataFrame]()
    for name, sheet in sheets.items():  # from the first row on that fills half of the table's columns
        is_filled = (sheet != "") & sheet.notna()
        widths = is_filled.sum(axis=1).to_numpy()
        begins = np.flatnonzero(2 * widths >= widths.max(initial=1))
        if len(begins) and len(rows := sheet.loc[begins[0] :, is_filled.any()]) > 1:
            full[str(name)] = rows
    if not full:
        raise DataError("the workbook holds no table: its sheets have no rows below a header")
    sizes = {name: rows.size * (rows.shape[1] > 1) for name, rows in full.items()}
    name = next(name for name in full if sizes[name] * _LEAST_SHEET >= max(sizes.values()))
    others = [one for one in full if one != name]
    is_error = full[name].isna()
    notes = [f"The sheet {name!r} of the workbook is read" + (f", and {listed(others)} left out." if others else ".")]
    notes += ["Cells of the workbook are merged: only the first cell of each has a value. Fill the others."] * is_merged
    if n := int(is_error.to_numpy().sum()):
        notes.append(f"Errors such as #DIV/0! count as empty cells: there {'is 1' if n == 1 else f'are {n:,}'}.")
    if above := int(full[name].index[0]):
        notes.append(f"{above} row{'s' * (above > 1)} above its table {'are' if above > 1 else 'is'} left out.")
    cells = full[name].mask(is_error, "").to_numpy().tolist()
    return _as_csv(source, cells, known={"encoding": "utf-8"}, notes=tuple(notes))


def _arff_as_csv(source: Source, limits: Limits) -> Source:
    """Return the attributes' names, then the data without comments. Rows in braces name those that are not 0, or not the first.

    The text is taken for Latin-1, which keeps its bytes: the reading finds the encoding.
    """
    with source.open() as stream:
        text = stream.read().removeprefix(codecs.BOM_UTF8).decode("latin-1")
    names, kinds, lines, is_data = list[str](), list[str](), list[str](), False
    for line in re.split(r"\r\n|\r|\n", text):
        bare = line.strip(_BLANKS)
        if not bare or bare.startswith("%"):
            continue
        if is_data:
            lines.append(bare if bare.startswith("{") else line)
        elif found := _ATTRIBUTE.match(bare):
            names.append(found[1].strip("'\"").replace("\\'", "'"))
            kinds.append(found[2])
        is_data = is_data or bare.lower().startswith("@data")
    limits.check_columns(len(names))
    if is_sparse := any(line.startswith("{") for line in lines[:1]):
        limits.check_unpacked(2 * len(lines) * len(names), "the sparse ARFF file")  # a sign and a comma a cell
        rows: Iterable[list[str]] = _filled(lines, kinds)
    else:
        cells = _cells_of_arff(lines, "\t" if lines and "," not in lines[0] and "\t" in lines[0] else ",")
        rows = (row[:-1] if len(row) > len(names) and row[-1].startswith("{") else row for row in cells)
    said = f"The file is ARFF{', with 0 or the first value where a row names none' * is_sparse}."
    with readable("the ARFF file", also=(csv.Error,)):
        return _as_csv(source, chain([names], rows), "latin-1", known={"header": True, "below": 0}, notes=(said,))


def _cells_of_arff(lines: Iterable[str], mark: str = ",") -> Iterator[list[str]]:
    """Yield the cells of rows, in quotes of either kind."""
    plain = (_QUOTED.sub(_in_double_quotes, line) if "'" in line else line for line in lines)
    return csv.reader(plain, delimiter=mark, escapechar="\\", skipinitialspace=True)


def _in_double_quotes(one: re.Match[str]) -> str:
    return one[0] if one[1] is None else '"' + re.sub(r'(\\.)|"', lambda sign: sign[1] or r"\"", one[1]) + '"'


def _filled(lines: Iterable[str], kinds: Iterable[str]) -> Iterator[list[str]]:
    """Yield the cells of rows such as {0 1.5, 3 yes}; raise `DataError` at a row that is none."""
    lists = [(kind, next(_cells_of_arff([kind.strip("{}")])) if kind.startswith("{") else []) for kind in kinds]
    blank = ["0" if _NUMERIC.match(kind) else own[0].strip(_BLANKS) if own else "" for kind, own in lists]
    for number, line in enumerate(lines, start=1):
        row, found = list(blank), _IN_BRACES.fullmatch(_QUOTED.sub(_in_double_quotes, line))
        body, place = found[1].strip(_BLANKS) if found else line, 0
        while place < len(body):
            pair = _PAIR.match(body, place) if found else None
            if pair is None or int(pair[1]) >= len(row):
                raise DataError(
                    f"row {number} of the ARFF file must hold numbers of attributes, 0 to {len(row) - 1}, each with its value, "
                    f"between braces, got {quoted(body[place:])}"
                )
            row[int(pair[1])] = next(csv.reader([pair[2].strip(_BLANKS)], escapechar="\\"), [""])[0]
            place = pair.end()
        yield row


def _without_lines(source: Source) -> Source:
    """Return the rows of a table that is drawn with bars, without its lines and what is above and below it."""
    with source.open() as stream:
        lines = re.split(r"\r?\n", stream.read().decode("latin-1"))  # which keeps its bytes
    drawn = [i for i, line in enumerate(lines) if re.fullmatch(_LINE, line)]
    numbers = sorted({i for i, line in enumerate(lines) if "|" in line}.difference(drawn))
    bar = "|" * (lines[drawn[0]].lstrip()[0] in "|+")
    rows = [lines[i].strip(_BLANKS).removeprefix(bar).removesuffix(bar) for i in numbers]
    is_alone = len(drawn) <= (1 if drawn[0] > numbers[0] else 3) or len(drawn) == len(rows) + 1
    counts = {int(one[1]) for line in lines if (one := _COUNT.match(line))}
    if not is_alone or not counts <= {len(rows) - 1} or len({row.count("|") for row in rows}) > 1:
        raise DataError(
            "a table that is drawn must be alone in its file, with one line of text for each row, and no bar in a cell"
        )
    return replace(Source.of_bytes("\n".join(rows).encode("latin-1"), source.name), notes=source.notes)


def _as_csv(source: Source, rows: Iterable[list[Any]], encoding: str = "utf-8", **more: Any) -> Source:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    made = Source.of_bytes(text.getvalue().encode(encoding), source.name)
    known = {"delimiter": ",", "decimal": ".", **more.pop("known", {})}
    return replace(made, known=known, **more)


# --- kinds of files


def binary_format(source: Source) -> str | None:
    """Return the format of a file that is no delimited or LIBSVM text, else None; raise `DataError` for other kinds."""
    head = source.head(4096)
    is_binary = CONTROL.search(head) is not None
    if is_binary and (found := next((kind for magic, kind in _KINDS.items() if head.startswith(magic)), None)):
        return found
    if head.startswith((_ZIP, b"PK\x05\x06")):
        names = _zip_names(source)
        if any(name.endswith(".npy") for name in names):
            return "npz"
        if not {*_OF_OFFICE}.isdisjoint(names):
            raise DataError("the file is an Office document: save its table as CSV")
        raise DataError(f"the file is a zip archive of {len(names)} files, {listed(names)}: give the table inside")
    if is_binary and head[257:262] == b"ustar":
        raise DataError("the file is a tar archive: give the table inside")
    if is_binary and (twice := next((kind for magic, kind in _PACKED.items() if head.startswith(magic)), None)):
        raise DataError(f"the file is packed twice, the second time by {twice}: unpack it once")
    for magic, what in _OTHERS.items():
        if head.startswith(magic) and (is_binary or what == _PDF):
            raise DataError(f"the file is {what}; those that can be read are {READABLE}")
    if head[:1] == b"\x80" and head[1:2] <= b"\x05":
        raise DataError("the file is a pickle of Python objects, which is never loaded: save it as CSV or Parquet")
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    return "json" if re.match(r"\{\s*\"|\[\s*\{\s*\"", text) else None


def _zip_names(source: Source) -> list[str]:
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError):
        raise DataError("the archive is damaged: its table of contents cannot be read") from None
    return [name for name in names if not name.endswith("/") and not re.search(r"^__MACOSX/|(^|/)\.", name)]


def _zip_member(source: Source) -> str | None:
    """Return the only file, or the only table, in a zip archive of no other kind; None if there are several, or arrays."""
    names = _zip_names(source)
    if any(name == "[Content_Types].xml" or name.endswith(".npy") for name in names):
        return None
    found = [name for name in names if _ending(Path(name)) in {*_TABLE_ENDINGS, *PARQUET_ENDINGS}] or names
    return found[0] if len(found) == 1 else None


def refuse_other_text(text: str) -> None:
    """Raise `DataError` if text is not a table, judged by its beginning."""
    start = text.lstrip("\ufeff \t\r\n").lower()
    for what, form in _OTHER_TEXTS.items():
        if form.match(start):
            raise DataError(f"the file is {what}; those that can be read are {READABLE}")
