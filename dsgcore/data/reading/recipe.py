"""How a file becomes points and labels, as plain data: with the file's bytes, the same recipe gives the same bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from dsgcore.core.parameters import Choice, Flag, Integer, Parameter, ParameterError, Text, quoted
from dsgcore.data.datasets import DataError

FORMATS = ("delimited", "parquet", "svmlight", "npz")
# Roles of columns whose numbers are written in another form than the table's own, and the decimal mark of each.
MARKS = {"number 1,234.5": ".", "number 1.234,5": ","}
# What a column can be; numbers, "category" and "text" are features.
ROLES = ("number", *MARKS, "category", "text", "label", "pair", "ignore")
MISSING = ("mean", "median", "most frequent", "drop")
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", ":": "colon", " ": "white space"}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1")
# What stands for a value that is not there. "-1" and "0" are no such words: they are numbers.
MISSING_WORDS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?")
MAX_LISTED = 10_000

_PARAMETERS: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Choice("format", "delimited", options=FORMATS),
        Choice("delimiter", ",", options=tuple(DELIMITERS)),
        Flag("header", True),
        Choice("decimal", ".", options=(".", ",")),
        Choice("encoding", "utf-8", options=ENCODINGS),
        Choice("missing", "mean", options=MISSING),
        Integer("text_dimensions", 50, low=1, high=1000),
        Text("unlabeled", None, optional=True),
        Text("positive", None, optional=True),
        Integer("bins", None, low=2, high=100, optional=True),
    )
}


@dataclass(frozen=True)
class Recipe:
    """How a file is read and what its columns are.

    Parameters
    ----------
    format : {"delimited", "parquet", "svmlight", "npz"}
        "delimited": a table as text, such as CSV; "svmlight": LIBSVM's sparse text; "npz": NumPy's archive.
    delimiter, header, decimal, encoding : str, bool, str, str
        Of delimited text: what separates cells, whether the first line names the columns, the decimal mark, the
        encoding. The delimiter " " stands for any white space.
    missing_words : tuple of str
        Cells that stand for a value that is not there.
    roles : tuple of (str, str)
        The role of each column that is not a plain number, by its name: "number 1,234.5" or "number 1.234,5" (thousands
        may be set apart, and the decimal mark is the last one), "category" (a column of the points for each value),
        "text" (TF-IDF, then the leading singular directions), "label", "pair" (id of a similar pair) or "ignore".
    missing : {"mean", "median", "most frequent", "drop"}
        What is done about missing numbers: replaced by the column's mean, median or most frequent value, or the row
        is dropped.
    text_dimensions : int, 1 <= text_dimensions <= 1000
        How many singular directions describe a column of text.
    unlabeled : str or None
        A label that stands for "not labeled", as an empty one does anyway.
    positive : str or None
        The label that is positive in a binary task; the others are negative.
    bins : int or None, 2 <= bins <= 100
        Cut a label that is a number into so many bins that hold equally many rows. None: each value is a class.
    order : tuple of str
        The classes in their order; empty: by size (numbers) or alphabetically.
    """

    format: str = "delimited"
    delimiter: str = ","
    header: bool = True
    decimal: str = "."
    encoding: str = "utf-8"
    missing_words: tuple[str, ...] = MISSING_WORDS
    roles: tuple[tuple[str, str], ...] = ()
    missing: str = "mean"
    text_dimensions: int = 50
    unlabeled: str | None = None
    positive: str | None = None
    bins: int | None = None
    order: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Recipe:
        """Make a recipe from plain data (as of `to_dict`); fields left out have their defaults.

        Raises
        ------
        DataError
            With one sentence: the field, what was given, what is allowed.
        """
        if not isinstance(given, Mapping):
            raise DataError(f"the recipe must be an object with named fields, got {quoted(given)}")
        if "format" not in given:
            raise DataError(f"the recipe must name its format, one of {', '.join(FORMATS)}, got {quoted(dict(given))}")
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise DataError(f"the recipe has no field {quoted(name)}; it has {', '.join(known)}")
        try:
            values = {name: p.check(given[name]) for name, p in _PARAMETERS.items() if name in given}
        except ParameterError as error:
            raise DataError(f"in the recipe, {error}") from None
        if "roles" in given:
            values["roles"] = _roles(given["roles"])
        for name in ("missing_words", "order"):
            if name in given:
                values[name] = _words(name, given[name])
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain data."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {
            "roles": dict(self.roles),
            "missing_words": list(self.missing_words),
            "order": list(self.order),
        }

    def role(self, column: str) -> str:
        """Return the role of a column."""
        return dict(self.roles).get(column, "number")

    def column(self, role: str) -> str | None:
        """Return the column of a role that only one has: "label" or "pair"."""
        return next((name for name, own in self.roles if own == role), None)

    def marked(self) -> tuple[tuple[str, str], ...]:
        """Return the columns that have a decimal mark of their own, with their roles: they are read as text."""
        return tuple((name, role) for name, role in self.roles if role in MARKS)


def _roles(given: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(given, Mapping) or len(given) > MAX_LISTED:
        raise DataError(f"in the recipe, roles must be an object of at most {MAX_LISTED} columns and their roles")
    for column, role in given.items():
        if not isinstance(column, str) or role not in ROLES:
            raise DataError(
                f"in the recipe, the role of {quoted(column)} must be one of {', '.join(ROLES)}, got {quoted(role)}"
            )
    for single in ("label", "pair"):
        columns = [str(column) for column, role in given.items() if role == single]
        if len(columns) > 1:
            raise DataError(f"only one column can be the {single}, got {', '.join(map(repr, columns[:4]))}")
    return tuple(sorted((column, role) for column, role in given.items() if role != "number"))


def _words(name: str, given: object) -> tuple[str, ...]:
    is_list = isinstance(given, Sequence) and not isinstance(given, str)
    words = tuple(word for word in given if isinstance(word, str)) if isinstance(given, Sequence) else ()
    if not is_list or len(words) != len(given) or len(words) > MAX_LISTED:  # type: ignore[arg-type]
        raise DataError(f"in the recipe, {name} must be a list of at most {MAX_LISTED} words, got {quoted(given)}")
    return words
