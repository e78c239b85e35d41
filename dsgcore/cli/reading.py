"""Options of all commands that read a table: what its cells mean, and what each column is."""

from __future__ import annotations

import argparse
from typing import Any

from dsgcore.cli.help_page import columns
from dsgcore.core.errors import DSGError

UNLABELED_HELP = (
    "label that means “not labeled”, or the word none if no label means that "
    "(default: -1 if there are two or more other labels)"
)
MISSING_WORDS_HELP = (
    "words and numbers that mean missing, besides an empty cell (default: those of pandas' read_csv, and ?)"
)
DELIMITER_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "colon": ":", "space": " ", "\\t": "\t"}


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that make points and labels of a table."""
    _add_columns(parser)
    add_text_options(parser)


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a text is written."""
    group = parser.add_argument_group("how a text is written (default: it is guessed)")
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the first line names the columns, or it does not",
    )
    group.add_argument(
        "--delimiter", metavar="MARK", help="comma, semicolon, tab, bar, colon, space, or the mark itself"
    )
    group.add_argument("--decimal", metavar="MARK", help="decimal mark, . or ,")
    group.add_argument("--encoding", metavar="NAME", help="encoding, such as utf-8, cp1252 or shift_jis")


def _add_columns(parser: argparse.ArgumentParser) -> None:
    many: dict[str, Any] = {"action": "extend", "type": columns, "default": [], "metavar": "A,B,.."}
    parser.add_argument("--target", metavar="COLUMN", help="label column (default: it is guessed)")
    parser.add_argument(
        "--features", metavar="A,B,..", help="feature columns (default: all except an index and the like)"
    )
    parser.add_argument("--drop", **many, help="leave out these columns; can be repeated")
    parser.add_argument("--category", **many, help="columns of categories; can be repeated")
    parser.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="COLUMN=ROLE",
        help="number, 'number 1,234.5', 'number 1.234,5', date, 'date d/m/y', 'date m/d/y', category or text; can be repeated",
    )
    parser.add_argument("--positive", metavar="LABEL", help="positive class; all others are negative")
    parser.add_argument("--bins", type=int, metavar="K", help="cut a numeric label into this many bins")
    parser.add_argument("--order", metavar="A,B,..", help="the classes from the lowest to the highest")
    parser.add_argument("--unlabeled", default="auto", metavar="LABEL", help=UNLABELED_HELP)
    parser.add_argument("--missing-words", metavar="A,B,..", help=MISSING_WORDS_HELP)
    parser.add_argument(
        "--missing",
        choices=("mean", "median", "most frequent", "drop"),
        help="treatment of missing numbers (default: mean)",
    )


def reading_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `File.recipe` that a command line gives."""
    return _columns_of(given) | text_of(given)


def _columns_of(given: argparse.Namespace) -> dict[str, Any]:
    from dsgcore.data.reading.names import listed_names  # on use: --help must answer at once

    words, order = listed_names(given.missing_words), listed_names(given.order)
    return {
        "target": given.target,
        "features": listed_names(given.features),
        "drop": given.drop,
        "roles": dict.fromkeys(given.category, "category") | dict(map(_role, given.role)),
        "positive": given.positive,
        "bins": given.bins,
        "order": None if order is None else tuple(order),
        "unlabeled": None if given.unlabeled == "auto" else given.unlabeled,
        "missing": given.missing,
        "missing_words": None if words is None else tuple(words),
    }


def text_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a recipe that a command line gives about a text."""
    return {
        "header": given.header,
        "delimiter": DELIMITER_WORDS.get(given.delimiter, given.delimiter),
        "decimal": given.decimal,
        "encoding": given.encoding,
    }


def _role(text: str) -> tuple[str, str]:
    column, mark, role = text.rpartition("=")
    if not mark or not column:
        raise DSGError(f"--role must be COLUMN=ROLE, such as price='number 1,234.5', got {text!r}")
    return column, role
