"""The parser of the command line, made of `commands.toml`, and what the options of a table mean."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import textwrap
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from dsgcore.core.errors import DSGError

PROGRAM, HOST, PORT = "dsg-lab", "127.0.0.1", 8501
# What a Dask scheduler is given to answer in.
SECONDS_TO_ANSWER = 10
_OF_PYTHON = {"None": None, "True": True, "False": False}
DELIMITER_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "colon": ":", "space": " ", "\\t": "\t"}


class Parser(argparse.ArgumentParser):
    """Parser of a command line that reports a mistake in one sentence."""

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
        "missing_words": None if given.missing_words is None else tuple(given.missing_words),
        **text_of(given),
    }


def text_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a recipe that a command line gives about a text."""
    return {
        "header": given.header,
        "delimiter": DELIMITER_WORDS.get(given.delimiter, given.delimiter),
        "decimal": given.decimal,
        "encoding": given.encoding,
    }
