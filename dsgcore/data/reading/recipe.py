"""Recipe, as plain data, that turns a file into points and labels, bit-for-bit identical each time; and limits of size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar
from unicodedata import normalize

from dsgcore.core.parameters import (
    Parameter,
    ParameterError,
    Text,
    check_all,
    choice,
    field_of,
    flag,
    integer,
    parameters_of_fields,
    quoted,
)
from dsgcore.data.datasets import DataError

FORMATS = ("delimited", "parquet", "svmlight", "npz", "arrow", "orc", "json")
# Roles of columns whose numbers have another form than the table's own, and the decimal mark of each.
MARKS = {"number 1,234.5": ".", "number 1.234,5": ","}
# Roles of columns of dates: with the year first, with the day first, with the month first.
DATE, DAY_FIRST, MONTH_FIRST = DATES = ("date", "date d/m/y", "date m/d/y")
# Roles of a column. Numbers, dates, "category" and "text" are features.
ROLES = ("number", *MARKS, *DATES, "category", "text", "label", "pair", "index", "ignore")
MISSING = ("mean", "median", "most frequent", "drop")
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", ":": "colon", " ": "white space"}
ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1", "cp1250", "cp1251"),
    *("gb18030", "shift_jis", "euc-jp", "euc-kr", "big5", "koi8-r", "mac-roman"),
)
# Words for a missing value: those of pandas' `read_csv`, "?" of the UCI archive, "." of SAS and Stata, those of MySQL, SPSS,
# Matlab and KEEL, and #N/A in other languages. "-1" and "0" are not such words: they are numbers.
MISSING_WORDS = (
    *("", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan"),
    *("NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "?", ".", r"\N"),
    *("#NULL!", "#NV", "#N/V", "#N/D", "#N/B", "<undefined>", "<missing>", "<null>"),
)
# In front of words that a command is given: these alone mean missing, not the usual ones, too.
ONLY = "only"
MAX_LISTED = 10_000
# Values of `unlabeled` that are not labels: the rule for files, or that every label is a class.
AUTO, NONE = "auto", "none"
_UNITS = ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "KB"))
# What a file itself says; all else is as in the training file.
OF_FILE = ("format", "delimiter", "header", "decimal", "encoding", "above", "below", "comment", "escape")
OF_FORMAT = (*OF_FILE, "missing_words", "first_index", "n_indices")


@dataclass(frozen=True)
class _Roles(Parameter):
    """Columns and their roles."""

    def check(self, value: object) -> tuple[tuple[str, str], ...]:
        given = dict(value) if isinstance(value, Mapping) or value == () else None
        if given is None or len(given) > MAX_LISTED:
            raise ParameterError(f"roles must be an object of at most {MAX_LISTED} columns and their roles")
        for column, role in given.items():
            if not isinstance(column, str) or role not in ROLES:
                raise ParameterError(
                    f"the role of {quoted(column)} must be one of {', '.join(ROLES)}, got {quoted(role)}"
                )
        for single in ("label", "pair"):
            columns = [column for column, role in given.items() if role == single]
            if len(columns) > 1:
                raise ParameterError(f"only one column can be the {single}, got {', '.join(map(quoted, columns[:4]))}")
        return tuple(sorted((column, role) for column, role in given.items() if role != "number"))


@dataclass(frozen=True)
class _Words(Parameter):
    """A list of words."""

    def allowed(self) -> str:
        return f"a list of at most {MAX_LISTED} words"

    def check(self, value: object) -> tuple[str, ...]:
        words = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else None
        if words is None or len(words) > MAX_LISTED or not all(isinstance(word, str) for word in words):
            raise self.refuse(value)
        return words


@dataclass(frozen=True)
class _Label(Text):
    """A label, whose letters have the form that labels of a file get."""

    def _checked(self, value: object) -> str:
        return normalize("NFC", super()._checked(value))


@dataclass(frozen=True)
class _Labels(_Words):
    """A list of labels."""

    def check(self, value: object) -> tuple[str, ...]:
        return tuple(normalize("NFC", word) for word in super().check(value))


@dataclass(frozen=True)
class Recipe:
    """Recipe for reading a file, and the roles of its columns.

    Parameters
    ----------
    format : {"delimited", "parquet", "svmlight", "npz", "arrow", "orc", "json"}
        Kind of file. "delimited" is a table as text, such as CSV. "svmlight" is LIBSVM's sparse text, and "npz" NumPy's
        archive.
    delimiter, header, decimal, encoding : str, bool, str, str
        For delimited text: the delimiter of cells, True if the first line names the columns, the decimal mark and the
        encoding. The delimiter " " means any white space.
    above, below : int, 0 <= above <= 1000, 0 <= below <= 10
        For delimited text: lines above the table, such as a title, and below the names, such as units or a survey's questions.
    escape : bool
        For delimited text: True if a backslash escapes a quote.
    comment : str
        For delimited text: the sign that begins lines of comments. It is empty if there are none.
    first_index, n_indices : int or None
        For LIBSVM text: the first index and the number of columns. None: as the file has them. A model's file has those
        of its training file.
    missing_words : tuple of str
        Cells that mean a missing value.
    roles : tuple of (str, str)
        The role of each column that is not a plain number, by its name:

        - "number 1,234.5" or "number 1.234,5": numbers with separated thousands; the last mark is the decimal mark
        - "date", "date d/m/y" or "date m/d/y": the number of days since 1970
        - "category": one column of the points for each value
        - "text": TF-IDF, then the leading singular directions
        - "label": the classes
        - "pair": the id of a similar pair
        - "index": names or numbers of the rows, which are no features
        - "ignore": no feature
    missing : {"mean", "median", "most frequent", "drop"}
        Treatment of missing numbers. The column's mean, median or most frequent value replaces them, or the row is
        dropped.
    text_dimensions : int, 1 <= text_dimensions <= 1000
        Number of singular directions that describe a column of text.
    unlabeled : str or None
        A label that means "not labeled", besides an empty one. With "auto" it is -1 if there are two or more other
        labels, unless another one is negative or -1 is `positive` or in `order`. With None or "none" every label is a
        class.
    positive : str or None
        The positive label of two classes. All others are negative.
    bins : int or None, 2 <= bins <= 100
        A label that is a number is cut into so many bins that hold equally many rows. With None each value is a class.
    order : tuple of str
        The classes in their order. If it is empty, numbers are ordered by size, words by a known scale such as low,
        medium, high. Other words are ordered alphabetically, if the order does not matter.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()

    format: str = choice("delimited", options=FORMATS)
    delimiter: str = choice(",", options=tuple(DELIMITERS))
    header: bool = flag(True)
    decimal: str = choice(".", options=(".", ","))
    encoding: str = choice("utf-8", options=ENCODINGS)
    above: int = integer(0, low=0, high=1000)
    below: int = integer(0, low=0, high=10)
    comment: str = choice("", options=("", "#", "%"))
    escape: bool = flag(False)
    first_index: int | None = integer(None, low=0, high=1, optional=True)
    n_indices: int | None = integer(None, low=1, high=2**31, optional=True)
    missing_words: tuple[str, ...] = field_of(_Words, MISSING_WORDS)
    roles: tuple[tuple[str, str], ...] = field_of(_Roles, ())
    missing: str = choice("mean", options=MISSING)
    text_dimensions: int = integer(50, low=1, high=1000)
    unlabeled: str | None = field_of(_Label, AUTO, optional=True)
    positive: str | None = field_of(_Label, None, optional=True)
    bins: int | None = integer(None, low=2, high=100, optional=True)
    order: tuple[str, ...] = field_of(_Labels, ())

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Recipe:
        """Return a recipe made from plain data of `to_dict`; missing fields take their defaults. Raise `DataError` if invalid."""
        try:
            values = check_all(cls.parameters, given, "a recipe")
        except ParameterError as error:
            raise DataError(f"the recipe is not valid: {error}") from None
        if "format" not in given:
            raise DataError(f"the recipe must name its format, one of {', '.join(FORMATS)}, got {quoted(dict(given))}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain data."""
        lists = {"missing_words": list(self.missing_words), "order": list(self.order)}
        return asdict(self) | {"roles": dict(self.roles), **lists}

    def with_roles(self, roles: Mapping[str, str]) -> Recipe:
        """Return the recipe with these roles, given by column name."""
        return replace(self, roles=tuple(sorted(own for own in roles.items() if own[1] != "number")))

    def role(self, column: str) -> str:
        """Return the role of a column."""
        return dict(self.roles).get(column, "number")

    def column(self, role: str) -> str | None:
        """Return the column of a role that only one column can have: "label" or "pair"."""
        return next((name for name, own in self.roles if own == role), None)

    def label(self) -> str:
        """Return the label column; raise `DataError` if no column is the label."""
        if (label := self.column("label")) is None:
            raise DataError("one column must have the role label, and another one must be a feature")
        return label

    def of_format(self) -> Recipe:
        """Return the recipe with only the fields that the table depends on: the format's, and columns read as text."""
        return replace(Recipe(), roles=self.marked(), **{field: getattr(self, field) for field in OF_FORMAT})

    def options(self, guess: Recipe) -> list[str]:
        """Return the options, besides the target, with which a command reads a table by this recipe and not by its own guess."""
        known = ("delimiter", "decimal", "encoding", "missing_words", "missing", "unlabeled", "bins", "order")
        roles = {name: self.role(name) for name, _ in (*guess.roles, *self.roles)}
        roles = {name: role for name, role in roles.items() if role not in (guess.role(name), "label")}
        changed: dict[str, Any] = {"drop": tuple(name for name, role in roles.items() if role in ("ignore", "index"))}
        found = [f"--role={name}={role}" for name, role in roles.items() if name not in changed["drop"]]
        changed |= {name: getattr(self, name) for name in known if getattr(self, name) != getattr(guess, name)}
        if words := changed.get("missing_words"):
            more = tuple(word for word in words if word not in MISSING_WORDS)
            changed["missing_words"] = more if {*MISSING_WORDS} <= {*words} else (ONLY, *words)
        for name, value in changed.items():
            if isinstance(value, tuple):
                value = ",".join(f'"{word}"' if "," in word else word for word in value if word)
            found += [f"--{name.replace('_', '-')}={value}"] * (value is not None and (name, value) != ("drop", ""))
        found += [f"--below={self.below}"] * (self.below != guess.below)
        return [*found, *["--header" if self.header else "--no-header"] * (self.header != guess.header)]

    def marked(self) -> tuple[tuple[str, str], ...]:
        """Return the columns with their own decimal mark, and their roles. They are read as text."""
        return tuple((name, role) for name, role in self.roles if role in MARKS)


@dataclass(frozen=True)
class RecipeField(Parameter):
    """Field for a recipe for reading a file, also as plain data."""

    def _words(self) -> str:
        return "a recipe"

    def _checked(self, value: object) -> Recipe:
        if not isinstance(value, Mapping | Recipe):
            raise self.refuse(value)
        return value if isinstance(value, Recipe) else Recipe.from_dict(value)


@dataclass(frozen=True)
class Limits:
    """Largest sizes that are read. A larger file is refused before its memory is taken."""

    size: int = 50 * 2**20  # bytes of the file
    unpacked: int = 256 * 2**20  # bytes once unpacked: gzip, bzip2, xz; an archive's arrays; a Parquet file's pages
    rows: int = 1_000_000
    columns: int = 5000  # columns of the table, and of the points made from it
    points: int = 240 * 2**20  # bytes of the points: 4 for each row and column; the app could not run on more
    categories: int = 50  # different values of a column of categories; each becomes a column of the points
    words: int = 10_000  # different words that describe a column of text

    def sentence(self) -> str:
        """Return the limits as a sentence, to show beside the file upload."""
        return (
            f"At most {shown_size(self.size)} ({shown_size(self.unpacked)} unpacked), {self.rows:,} rows, {self.columns:,} "
            f"columns, {shown_size(self.points)} as numbers."
        )

    def check_size(self, size: int) -> None:
        """Raise an error if a file has too many bytes."""
        if size > self.size:
            raise DataError(f"the file must have at most {shown_size(self.size)}, got {size:,} bytes")

    def check_unpacked(self, size: int, what: str = "the file") -> None:
        """Raise an error if the contents unpack to too many bytes."""
        if size > self.unpacked:
            raise DataError(f"{what} must unpack to at most {shown_size(self.unpacked)}, and it claims or holds more")

    def check_rows(self, n: int) -> None:
        """Raise an error if a table has too many rows."""
        if n > self.rows:
            raise DataError(f"the table must have at most {self.rows:,} rows, got {n:,} or more")

    def check_columns(self, d: int, what: str = "the table") -> None:
        """Raise an error if there are too many columns."""
        if d > self.columns:
            raise DataError(f"{what} must have at most {self.columns:,} columns, got {d:,}")

    def check_points(self, n: int, d: int) -> None:
        """Raise an error if points would take too much memory."""
        self.check_columns(d, "the points")
        if 4 * n * d > self.points:
            raise DataError(
                f"the points must take at most {shown_size(self.points)} as numbers of 4 bytes, and {n:,} rows of {d:,} "
                f"columns take {shown_size(4 * n * d)}"
            )


UPLOADED = Limits()
# For files on the user's own machine: read whole, and in pieces. The limits that shape the points (categories, words)
# are the same everywhere, so that a recipe gives bit-for-bit identical points.
LOCAL = Limits(size=2**32, unpacked=2**33, rows=2**27, columns=100_000, points=2**33)
IN_PIECES = Limits(size=2**44, unpacked=2**44, rows=2**40, columns=100_000, points=2**44)


def shown_size(size: int) -> str:
    """Return a number of bytes in the largest unit that leaves at least 1."""
    for factor, unit in _UNITS:
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"
