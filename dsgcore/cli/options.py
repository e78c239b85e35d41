"""The parser of the command line, made of `commands.toml`, what the options of a table mean, and the places of results."""

from __future__ import annotations

import argparse
import csv
import json
import os
import shlex
import struct
import sys
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from dsgcore.core.errors import DSGError
from dsgcore.core.files import TextFileError, check_place
from dsgcore.core.parameters import quoted

PROGRAM, HOST, PORT = "dsg-lab", "127.0.0.1", 8501
# What a Dask scheduler is given to answer in.
SECONDS_TO_ANSWER = 10
_OF_PYTHON = {"None": None, "True": True, "False": False}
DELIMITER_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "colon": ":", "space": " ", "\\t": "\t"}


class Parser(argparse.ArgumentParser):
    """Parser of a command line that reports a mistake in one sentence."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return what a command line says; words that no option takes are quoted if they have blanks."""
        found, others = self.parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {shlex.join(others)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Raise DSGError with the parser's message."""
        sentence = message.removeprefix("argument ").replace(": must", " must", 1)
        raise DSGError(f"{sentence} (see: {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a text; argparse would hide that it cannot be written."""
        if message:
            print(message, end="", file=file or sys.stderr)


def place(text: str) -> Path:
    """Return the path of a file or folder on the command line; an empty text is refused."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must name a file or a folder, got an empty text")
    return Path(text)


def names(text: str) -> list[str]:
    """Return the names in a comma-separated list; one that holds a comma is in quotes, as in CSV."""
    rows = csv.reader(text.splitlines(), skipinitialspace=True)
    return [name for row in rows for one in row if (name := one.strip())]


def some_names(text: str) -> list[str]:
    """Return the names in a comma-separated list of at least one."""
    found = names(text)
    if not found:
        raise argparse.ArgumentTypeError(f"must be a list such as A,B, got {text!r}")
    return found


def sizes(text: str) -> list[int]:
    """Return the whole numbers above 0 in a comma-separated list of at least one."""
    found = names(text)
    if not found or not all(one.isdecimal() and int(one) > 0 for one in found):
        raise argparse.ArgumentTypeError(f"must be whole numbers of points, such as 500,5000, got {text!r}")
    return [int(one) for one in found]


# What the words of `commands.toml` stand for.
_WORDS: Mapping[str, Any] = {
    "place": place,
    "names": names,
    "some names": some_names,
    "sizes": sizes,
    "int": int,
    "float": float,
    "yes or no": argparse.BooleanOptionalAction,
}


def command_parser(version: str = "") -> Parser:
    """Return the parser of all commands."""
    table = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
    parser = Parser(prog=PROGRAM)
    _explain(parser, table["about"], "")
    parser.add_argument("--version", action="version", version=version)
    _add_commands(parser, table["command"], table["shared"], dest="command")
    return parser


def _add_commands(parser: argparse.ArgumentParser, commands: Mapping, shared: Mapping, **options: Any) -> None:
    parsers = parser.add_subparsers(required=True, **options)
    for name, said in commands.items():
        own = parsers.add_parser(name, help=said["sentence"])
        _explain(own, said["about"], said["example"])
        files: dict[str, dict[str, Any]] = {"reads": {}, "writes": {}}
        for group in (said, *(shared[which] for which in said.get("shared", ()))):
            into = own.add_argument_group(group["title"]) if "title" in group else own
            for argument in group.get("arguments", ()):
                options = dict(argument)
                kinds = {kind: options.pop(kind) for kind in files if kind in options}
                options |= {key: _WORDS.get(options[key], options[key]) for key in ("type", "action") if key in options}
                action = into.add_argument(*options.pop("name").split(), **options)
                for kind, what in kinds.items():
                    files[kind][action.dest] = what
        own.set_defaults(**files)
        if "command" in said:
            _add_commands(own, said["command"], shared, dest="subcommand", metavar="COMMAND")


def _explain(parser: argparse.ArgumentParser, about: str, example: str) -> None:
    parser.description, parser.epilog = textwrap.fill(about, 78), f"example:\n  {PROGRAM} {example}".rstrip()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def typed_value(word: str) -> Any:
    """Return a value of the command line: JSON, a value as Python writes it, or text otherwise.

    Examples
    --------
    >>> typed_value("1e3"), typed_value("0.5"), typed_value("None"), typed_value("auto")
    (1000, 0.5, None, 'auto')
    """
    try:
        value: Any = _OF_PYTHON[word] if word in _OF_PYTHON else json.loads(word)
    except (ValueError, RecursionError):
        return word
    is_whole = isinstance(value, float) and "e" in word.lower() and abs(value) < 2**53 and value.is_integer()
    return int(value) if is_whole else value


def client_of(address: str) -> Any:
    """Return a client of the Dask scheduler at this address; a ``with`` statement closes it."""
    try:
        from distributed import Client
    except ImportError:
        raise DSGError("--dask needs the package distributed: install dsg-lab[dask]") from None
    try:
        return Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except ValueError as error:  # no address at all
        raise DSGError(f"--dask must be an address such as tcp://127.0.0.1:8786, got {address!r}: {error}") from None


def reading_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `File.recipe` that a command line gives."""
    own = {name: getattr(given, name) for name in ("target", "features", "drop", "positive", "bins", "missing")}
    roles = dict.fromkeys(given.category, "category")
    for text in given.role:
        column, _, role = text.rpartition("=")
        if not column:
            raise DSGError(f"--role must be COLUMN=ROLE, such as price='number 1,234.5', got {text!r}")
        roles[column] = role
    return own | {
        "roles": roles,
        "order": None if given.order is None else tuple(given.order),
        "unlabeled": None if given.unlabeled == "auto" else given.unlabeled,
        "missing_words": missing_words(given.missing_words),
        **text_of(given),
    }


def options_given(given: argparse.Namespace, besides: Sequence[str] = ()) -> list[str]:
    """Return the options of a table that a command line gives, each by the name that it has there."""
    own = {**reading_of(given), "category": given.category, "role": given.role}
    own = {name: value for name, value in own.items() if name not in ("roles", *besides) and value not in (None, [])}
    return [f"--{'no-' * (value is False)}{name.replace('_', '-')}" for name, value in own.items()]


def missing_words(given: Sequence[str] | None, usual: Sequence[str] = ()) -> tuple[str, ...] | None:
    """Return the words that mean missing: the usual ones (default: the reader's) and those given, or only those."""
    from dsgcore.data.reading.recipe import MISSING_WORDS, ONLY  # here, as --help needs no tables

    if given is None:
        return None
    return tuple(given[1:]) if given[:1] == [ONLY] else (*(usual or MISSING_WORDS), *given)


def text_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a recipe that a command line gives about a text."""
    return {
        "header": given.header,
        "below": given.below,
        "delimiter": DELIMITER_WORDS.get(given.delimiter, given.delimiter),
        "decimal": given.decimal,
        "encoding": given.encoding,
    }


# --- places of results: apart from everything that the command reads, and never on files that it has not written itself


# The mark of a file of finished runs and fits, to which a command adds.
STORED = "SQLite format"
# Bytes of an earlier result's head, and of its end, in which the text is that tells it.
_SEARCHED = 65_536
# The last bytes of a Parquet file: the size of what describes its columns, which is before them, and its kind.
_FOOTER = struct.Struct("<I4s")
# Files that systems and tools put into folders; a folder with nothing else is empty.
_UNSEEN = ("Thumbs.db", "desktop.ini")


def check_given_places(given: argparse.Namespace) -> list[Path]:
    """Return the files of earlier results that a command will replace, as `commands.toml` marks the places of its options.

    Raise `TextFileError` unless it may write all of its files and folders. A store is not replaced.
    """
    read = {name: places_read(Path(getattr(given, name)), kind) for name, kind in given.reads.items()}
    written = dict[str, Path]()
    for name, mark in given.writes.items():
        place = getattr(given, name)
        if place is None or (name, str(place)) == ("json", "-"):
            continue
        inputs = [one for other, places in read.items() if other != name for one in places]
        if not isinstance(mark, str):
            check_folder(place, mark, inputs)
            continue
        check_file(place, f"--{name}", mark, inputs)
        if twin := next((other for other, file in written.items() if _is_same(file, place)), None):
            raise TextFileError(f"--{twin} and --{name} must name two files, got {place} for both")
        written[name] = place
    return [file for name, file in written.items() if given.writes[name] != STORED and _is_full(file)]


def _is_full(file: Path) -> bool:
    """Return True for a file with something in it; a pipe or a device has nothing that could be replaced."""
    return file.is_file() and file.stat().st_size > 0


def places_read(place: Path, kind: str) -> list[Path]:
    """Return what a command reads: a place, the files of a folder, or a spec's or study's file with the spec's data."""
    if kind == "files" and place.is_dir():
        return [*place.glob("*")]
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        if kind == "spec" and place.is_file():  # a pipe can be read once
            plain = json.loads(place.read_bytes())
            own = plain.get("spec", plain)["data"]["path"]
            return [place, Path(own), place.parent / own]
    return [place]


def check_file(file: Path, option: str, mark: str, inputs: Sequence[Path]) -> None:
    """Raise `TextFileError` unless a command may write a file; the mark is a text in each that it writes there."""
    check_place(file, option)
    _check_apart(file, option, inputs)
    if file.exists() and file.stat().st_size and not _holds(file, mark):
        raise TextFileError(
            f"{option} names the file {file}, which is there already and is no earlier result of this command: "
            "name another file"
        )


def check_folder(folder: Path, marks: Mapping[str, Sequence[str]], inputs: Sequence[Path]) -> None:
    """Raise `TextFileError` unless the folder of --out is new, empty, or one that the command has written before.

    `marks` has the names of the files that the command writes there, and texts that are in each, or none if it does not tell
    the command. Without names, the files are new in any folder.
    """
    taken = next((place for place in (folder, *folder.parents) if place.is_file()), None)
    if taken is not None:
        raise TextFileError(f"--out must name a folder, but {taken} is a file: name another folder")
    _check_apart(folder, "--out", inputs)
    for name in marks:
        _check_apart(folder / name, "--out", inputs)
        if (folder / name).is_dir():
            raise TextFileError(f"{folder / name} must be a file path, but it is a folder: name another folder")
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    seen = [one for one in there if not one.name.startswith(".") and one.name not in _UNSEEN]
    own = (
        all(_holds(file, text) for text in texts)
        for name, texts in marks.items()
        for file in folder.glob(name)
        if texts
    )
    if marks and seen and not any(own):
        raise TextFileError(
            f"--out must name a new or empty folder, or one that this command has written, but {folder} holds "
            f"{quoted(seen[0].name)}: name another folder"
        )


def _holds(file: Path, mark: str) -> bool:
    """Return True if the head or the end of a file has a text; the end of a Parquet file is all that describes its columns."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        ends = opened.read(_SEARCHED)
        opened.seek(max(0, size - _FOOTER.size))
        length, kind = _FOOTER.unpack(opened.read().rjust(_FOOTER.size))
        opened.seek(max(0, size - max(_SEARCHED, length if kind == b"PAR1" else 0)))
        return mark.encode() in ends + opened.read()


def _check_apart(place: Path, option: str, inputs: Sequence[Path]) -> None:
    real = Path(os.path.realpath(place))
    for read in inputs:
        if _is_same(real, read):
            raise TextFileError(f"{option} would write to {place}, which the command reads: name another place")
        if read.is_dir() and any(_is_same(above, read) for above in real.parents):
            raise TextFileError(f"{option} would write to {place}, in the folder {read} of the data: name another")


def _is_same(one: Path, other: Path) -> bool:
    """Return True if two paths lead to one file or folder, by whatever way."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return os.path.realpath(one) == os.path.realpath(other)
