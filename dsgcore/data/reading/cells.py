"""Cells of a table: names that are safe to show, numbers and dates as people write them, and words that mean missing."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from datetime import date, timedelta
from importlib.resources import files
from itertools import count
from math import isfinite
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import did_you_mean, quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.recipe import DATE, DAY_FIRST, MISSING_WORDS, MONTH_FIRST


def tables(name: str) -> dict[str, Any]:
    """Return a file of words beside this one."""
    return tomllib.loads(files("dsgcore.data.reading").joinpath(name).read_text("utf-8"))


_WORDS = tables("words.toml")
LABEL_NAMES, PAIR_NAMES = tuple(_WORDS["label_names"]), tuple(_WORDS["pair_names"])
PERSONS_AND_THINGS, INDEX_NAMES = ("|".join(_WORDS[name]) for name in ("persons_and_things", "index_names"))
LONGEST = 100
# Bytes that are no UTF-8 are written out, so that different labels stay different.
UNDECODED = "backslashreplace"
_SHOWN, _MOST_HEADERS = 6, 3
# Exceptions that readers of files and cluster workers raise.
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, MemoryError)
# A spreadsheet that opens a CSV reads a cell that begins so as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# From this number on, floats skip whole numbers.
INEXACT = 2.0**53
LARGEST = 1e30  # above this size, differences and means leave float32's range
# A column holds numbers if more than this share of its cells are numbers; the others are mistakes.
MOSTLY, NEARLY_ALL = 0.5, 0.9
# Numbers as people write them, by decimal mark. The other mark, an apostrophe or a space separates thousands.
_SPACES = "'’_ \u00a0\u2009\u202f"
_COMMA_FOR_POINT = str.maketrans(",.", ".x")
_GROUPS = {".": f",{_SPACES}", ",": f".{_SPACES}"}
_INDIAN = {".": r"|[1-9]\d?(?:,\d\d)+,\d{3}", ",": ""}  # 2,00,000
_GROUPED = {
    mark: re.compile(
        rf"[+-]?(?:[1-9]\d{{0,2}}([{between}])\d{{3}}(?:\1\d{{3}})*|\d+{_INDIAN[mark]})(?:{re.escape(mark)}\d+)?"
    )
    for mark, between in _GROUPS.items()
}
# Minus signs and dashes that stand for "-", full-width signs and digits, and Arabic and Persian ones.
_DIGITS_OF = {chr(zero + i): str(i) for zero in (0xFF10, 0x660, 0x6F0) for i in range(10)}
_SIGNS = str.maketrans({**dict(zip("−–‐‑‒﹣－％（）．，٫٬", "-------%().,.,", strict=True)), **_DIGITS_OF})
_FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}
_ADORNED = ("%", ")", "-")
_SIGNS_OF_MONEY = rf"(?:[$€£¥₹₽₩₺]|{_WORDS['money']})"
_FIRST = rf"{_SIGNS_OF_MONEY}(?!(?<=[^\W\d_])-)"  # $-1 and USD -1 are money, USD-1 is a code
_MONEY = re.compile(rf"(?<![\w.,]){_FIRST}\s?(?=[(-]?\s?[\d.,])|(?<=\d)\s?{_SIGNS_OF_MONEY}(?=\)?$)")
_FORTRAN = re.compile(r"([.,]\d*)D(?=[+-]\d\d\d?\Z)|(?<=[\d.])\*\^(?=-?\d)")  # 1.0D+01, 1.*^-6, but 1D-01 is a code
_NO_MONEY = re.compile(rf"{_FIRST}\s*-+|-+\s*{_SIGNS_OF_MONEY}")  # a spreadsheet's account writes 0 so
THOUSANDS_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")  # 1.234 may be either number
_WITH_UNIT = re.compile(r"([^\s\w]?\s?[\d.,]*\d(?:[eE][+-]?\d+)?)\s*([^\W\d_][\w°µ/²³^%]{0,9}|[°µ][\w/]{1,9})")
# Words for truth values, each by its number: a column that holds only those of one language is read as 1 and 0.
_TRUTHS = tuple(
    {word: value for value, words in zip((1.0, 0.0), pair, strict=True) for word in words.split("|")}
    for pair in _WORDS["truths"]
)
_DAY, _EPOCH = pd.Timedelta(days=1), pd.Timestamp(0, tz="UTC")
_HOURS = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?(?:[+-]\d{2}\Z)?)?(?: ?(?:[AP]M|[ap]m))?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?"
_TIME = rf"(?:(?:,? |T){_HOURS})?"
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}})({_TIME})")
# By language, names and their beginnings, of three letters and more, by the English beginning; jui may be two months.
_MONTHS = [
    {
        name[:n]: month
        for month, names in zip(_WORDS["months"][0].split(), language.split(), strict=True)
        for name in names.split("|")
        for n in range(3, len(name) + 1)
        if name[:n] != "jui"
    }
    for language in _WORDS["months"]
]
_MONTH_OF = {name: month[:3] for own in _MONTHS for name, month in own.items()}
_MONTH = rf"({'|'.join(sorted(_MONTH_OF, key=len, reverse=True))})"
_NUMBERED = re.compile(r"([^\W\d_]+)\.?[ -]?\d+")  # as is Jan 2020, but also set-01
_AREA = re.compile(r"\d{4}m[23]")  # or a volume, and no February or March if all cells are such
_BEFORE_YEAR = re.compile(r"\D+(?:19|20)\d\d")
# A day of the week before a date, and a zone after it, of which a number of hours changes the time.
_AROUND_A_DATE = re.compile(
    r"(?i)\A(?:mon|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri|sat(?:urday)?|sun|(?:mon|fri|sun)day)\.?,? "
    r"|\[[\w/+-]+\]\Z|(?<=[+-]\d{4}) \([^()]+\)\Z| (?:utc|gmt)(?:([+-])(\d{1,2}):?(\d\d)?)?\Z"
    rf"|(?<=:\d\d| [ap]m) (?-i:{_WORDS['zones']})\Z"
)
# As pandas and Python write them.
_DURATION = re.compile(r"-?\d{1,5} days?,? [+-]?\d{1,2}:\d\d:\d\d(?:\.\d{1,9})?")
# Times of day and angles: a sign, hours or degrees, minutes, seconds, and what changes them.
_CLOCK = re.compile(r"([+-]?)(\d{1,3}):([0-5]\d)(?::([0-5]\d(?:[.,]\d+)?))?(?: ?([ap])\.?m\.?)?")
_RATIO, _HOURS_A_DAY = re.compile(r"(\d+):\d+"), 24
_ANGLE = re.compile(
    r"([+-]?)(\d{1,3}(?:\.\d+)?) ?[°º](?: ?([0-5]?\d(?:\.\d+)?) ?['’′](?: ?([0-5]?\d(?:\.\d+)?) ?(?:[\"”″]|''|’’))?)? ?([nesw])?"
)
_MINUS_BEHIND = re.compile(r"(\d[\d' ]*[.,][\d.,' ]*\d)-")  # 1- may be a grade, and 1.- or 1,- is a price of 1
_IN_BRACKETS = re.compile(r"\(\s*([^()+\-\s][^()]*)\)")
_ADORNMENT = re.compile(rf"[^\deE.,+\-{_SPACES}]")
_PERCENT, _MONTHS_A_YEAR, _DIGITS, _FEWEST_DAYS, _MOST_SIGNS = 100.0, 12, 3, 3, 4
_SPREADSHEET_ERROR = re.compile(r"#[A-Z/0-9_]+[!?]?|Err:\d+|#+")
# The number of cells that were read as missing, by word and column.
Seen = Counter[tuple[str, str]]
_TOTAL = re.compile(r"(?i)\W*((grand|sub)[ -]?)?(totals?|sum|(zwischen|gesamt)?summe|gesamt)\W*")
_SENTINEL = re.compile(
    r"-?(9{1,7}|8{2,7}|7{2,7})(\.0|\.9+)?|-1|-?9{1,7}\.\d*|-200|-32768|-2147483648|-?1e\+\d+|9?99e\+\d+"
)
_FEWEST_ASKED, _MOST_ASKED, _MOST_COLUMNS, _SHARE_OF_SUMS = 10, 6, 1000, 0.25


# --- names and words


def column_names(raw: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Return distinct printable names of a file's columns, and a sentence for every kind of change."""
    names, unnamed, repeated, sentences = dict[str, None](), list[str](), set[str](), list[str]()
    for number, given in enumerate(raw, start=1):
        if not (name := printable(str(given))):
            name = f"column {number}"
            unnamed.append(name)
        if name in names:
            repeated.add(name)
            name = next(other for i in count(2) if (other := f"{name} ({i})") not in names)
        names[name] = None
    if unnamed:
        n, are = len(unnamed), "columns have no name and are" if len(unnamed) > 1 else "column has no name and is"
        sentences.append(f"{n} {are} called by {'their' if n > 1 else 'its'} number: {listed(unnamed)}.")
    if repeated:
        sentences.append(f"Several columns have the same name and got a number added: {listed(sorted(repeated))}.")
    return list(names), sentences


def check_column(name: str, known: Sequence[str]) -> None:
    """Raise an error if a table has no column of that name; the message lists similar names, or all."""
    if name in known:
        return
    close = did_you_mean(name, [printable(str(one)) for one in known])
    raise DataError(f"there is no column {quoted(name)}{close}: the table has {listed(known)}")


def printable(text: str) -> str:
    """Return text with white space and control characters as single spaces, cut to a printable length."""
    cleaned = _cleaned(text)
    return cleaned if len(cleaned) <= LONGEST else cleaned[: LONGEST - 1] + "…"


def _cleaned(text: str) -> str:
    return " ".join((text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)).split())


def as_number(text: str | bytes) -> float | None:
    """Return the number that a text holds, or None. Infinity and NaN are numbers, too."""
    try:
        return float(text)
    except ValueError:
        return None


def as_cell(text: str) -> str:
    """Return text for a CSV cell: text that a spreadsheet would read as a formula gets an apostrophe in front."""
    return "'" + text if text.startswith(_FORMULA) and as_number(text) is None else text


def as_label(text: str) -> str:
    """Return the text of a cell without the apostrophe that `as_cell` has put in front."""
    return text[1:] if text.startswith("'") and as_cell(text[1:]) == text else text


def written(value: Any) -> str:
    """Return a value of a table as label text: 3.0 as 3, true as True."""
    if isinstance(value, bytes):
        return written(value.decode("utf-8", UNDECODED))
    if isinstance(value, float | np.floating) and value.is_integer() and abs(float(value)) < 2**53:
        return str(int(value))
    try:
        text = str(value)  # of a letter's two forms, which look the same, one
        return _cleaned(text if text.isascii() else normalize("NFC", text))
    except ValueError:  # a whole number of more digits than Python writes
        return "a number of too many digits"


@contextmanager
def readable(what: str, wrong: str = "cannot be read", *, also: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Raise `DataError` for errors of another package, of its classes in `also` too; the message gives the reason."""
    unreadable: tuple[type[Exception], ...] = (*_UNREADABLE, *also)
    try:
        yield
    except DataError:
        raise
    except unreadable as error:
        raise DataError(f"{what} {wrong}: {reason_of(error)}") from None


@contextmanager
def named(file: str) -> Iterator[None]:
    """Name the file, if there is a name, in a `DataError` about it."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{file}: {error}" if file else str(error)) from None


def reason_of(error: BaseException) -> str:
    """Return the first line of another package's error, to be part of a sentence."""
    return printable((str(error).splitlines() or [type(error).__name__])[0])


def listed(names: Iterable[str], reasons: Mapping[str, str] | None = None) -> str:
    """Return a few names as a list in words, each with its reason if it has one."""
    known = reasons or {}
    shown = [repr(printable(name)) + (f" ({known[name]})" if known.get(name) else "") for name in names]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more


# --- numbers and dates


def is_numeric(column: pd.Series) -> bool:
    """Return True if a column's type is numeric or Boolean."""
    return pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column)


def is_duration(column: pd.Series) -> bool:
    """Return True for a column of durations, or of text whose first cell is one."""
    first = column.dropna().head(1)
    return pd.api.types.is_timedelta64_dtype(column) or any(_DURATION.fullmatch(written(one)) for one in first)


def is_time(column: pd.Series) -> bool:
    """Return True if a column's type is a date or a duration."""
    return pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column)


def plain_numeral(text: str) -> tuple[str, float]:
    """Return a numeral without brackets, per cent sign and Unicode minus, and the divisor of its number.

    (1.5) and 1.5- are -1.5, as in accounts, and $ - is 0; 12 % is 0.12.
    """
    if _NO_MONEY.fullmatch(text := text.strip().translate(_SIGNS)):
        return "0", 1.0
    text, divisor = _MONEY.sub("", text), 1.0
    text = _FORTRAN.sub(r"\1E", text) if "D" in text or "^" in text else text
    for _ in range(2 if text.endswith(_ADORNED) else 0):  # the sign may be inside the brackets or after them
        if text.endswith("%"):
            text, divisor = text[:-1].rstrip(), divisor * _PERCENT
        if bare := _IN_BRACKETS.fullmatch(text) or _MINUS_BEHIND.fullmatch(text):
            text = f"-{bare[1].rstrip()}"
    return text, divisor


def decimal_mark(column: pd.Series, usual: str = ".") -> str | None:
    """Return the decimal mark of a text column that holds mostly numbers with another mark than the table's.

    Examples are 1.234,5 and 1,234.5, or 1.234 alone if the table's `usual` mark is the comma. Return None for any other
    column, and for plain numbers.
    """
    if is_numeric(column):
        return None
    counts = column.dropna().value_counts(sort=False)
    values, weights = [written(value) for value in counts.index], counts.to_numpy()
    texts = [text for text, _ in _bare(values)]
    found = {mark: weights[[bool(form.fullmatch(text)) for text in texts]].sum() for mark, form in _GROUPED.items()}
    best = max(found, key=lambda mark: (found[mark], mark == usual))
    if texts and all("_" in text for text in texts):
        return None  # ids of two parts, such as 12_345
    # If the table's mark is the comma, 1.5 is not a number in it.
    others = values if usual == "." else [text.translate(_COMMA_FOR_POINT) for text in texts]
    plain = numeric(pd.Series(others, dtype=object))
    if has_thousands(texts if usual == "." else others):
        return "," if usual == "." else "."
    is_needed = found[best] > weights[plain.notna()].sum() or usual == ","
    return best if is_needed and found[best] > MOSTLY * weights.sum() else None


def numeric(column: pd.Series, mark: str | None = None) -> pd.Series:
    """Return a column as numbers, with NaN for other cells. Text is read with this decimal mark."""
    if is_numeric(column):
        return pd.to_numeric(column, errors="coerce")
    codes, values = pd.factorize(column)  # words are read once, however many cells hold them
    texts = [written(value) for value in values]
    truths = truths_of({text.lower() for text in texts})
    found = [truths.get(text.lower(), _number(text, mark)) for text in texts]
    others = [i for i, number in enumerate(found) if number != number]
    hours = sixtieths(texts) if len(others) == len(texts) else {}
    for i, (text, divisor) in zip(others, _bare([texts[i] for i in others]), strict=True):
        found[i] = hours.get(texts[i], _number(text, mark) / divisor)
    return pd.Series(np.append(found, np.nan)[codes], column.index)


def sixtieths(texts: Sequence[str]) -> dict[str, float]:
    """Return the hours or degrees of texts such as 10:30, 9:15 pm, 52°31'N; none if only some have seconds: 5:30 may have, too."""
    found = dict[str, re.Match[str]]()
    for n, text in enumerate(texts, start=1):
        if one := _CLOCK.fullmatch(text.lower()) or _ANGLE.fullmatch(text.lower()):
            found[text] = one
        if n >= _FEWEST_ASKED and not found:  # most words are none
            return {}
    if len({one[4] is None for one in found.values()}) > 1 or len(found) < NEARLY_ALL * len(texts):
        return {}
    values = dict[str, float]()
    for text, one in found.items():
        whole, *parts = (float((part or "0").replace(",", ".")) for part in one.group(2, 3, 4))
        whole = whole % 12 + 12 * (one[5] == "p") if one[5] in ("a", "p") else whole
        sign = -1 if one[1] == "-" or one[5] in ("s", "w") else 1
        values[text] = sign * (whole + parts[0] / 60 + parts[1] / 3600)
    return values


def are_ratios(present: pd.Series) -> bool:
    """Return True for a few ratios or ids such as 50:50, which are beyond the times of a day."""
    if ":" not in written(present.iloc[0]):
        return False
    pairs = [one for text in present.unique()[:_FEWEST_ASKED] if (one := _RATIO.fullmatch(written(text)))]
    return len(pairs) < _FEWEST_ASKED and any(int(one[1]) >= _HOURS_A_DAY for one in pairs)


def truths_of(words: Set[str]) -> dict[str, float]:
    """Return the numbers of words for true and false, in the first language that has all these words; none if none has."""
    return next((own for own in _TRUTHS if words <= own.keys()), {})


def is_one_truth(present: pd.Series) -> bool:
    """Return True if all cells of a column are words for true, or all for false."""
    words = {written(value).lower() for value in present.unique()}
    return len({truths_of(words).get(word) for word in words} - {None}) == 1


def _number(text: str, mark: str | None) -> float:
    """Return the number that a text holds, NaN if none; with a decimal mark of its own its thousands may be separated."""
    if mark is not None and _GROUPED[mark].fullmatch(text):
        text = text.translate(str.maketrans("", "", _GROUPS[mark])).replace(mark, ".")
    elif mark == ",":
        text = text.translate(_COMMA_FOR_POINT)  # 1,5e3 and ,5, and no 1.5
    number = as_number(text) if "_" not in text and text.isascii() else None
    return float("nan") if number is None else number


def has_thousands(texts: Sequence[str]) -> bool:
    """Return True if numbers such as 1.850 are beside small whole numbers such as 986, and no other fraction.

    In a table of decimal commas these are 1,850 and 986, given with a point for the comma.
    """
    dotted = [text for text in texts if "." in text]
    small = [text for text in texts if "." not in text]
    is_grouped = bool(dotted) and all(THOUSANDS_POINT.fullmatch(text) for text in dotted)
    return is_grouped and any(len(text) == _DIGITS for text in small) and all(len(t) <= _DIGITS for t in small)


def has_suffixes(texts: Iterable[str]) -> bool:
    """Return True if K, M or B ends some whole numbers that are no money, and others are plain: 12B beside 12 may be a house."""
    ended = [text for text in texts if text[-1:] in _FACTORS]
    is_whole = len({text[-1].upper() for text in ended}) == 1 and all(text[:-1].isdigit() for text in ended)
    return is_whole and any(as_number(text) is not None for text in texts)


def _bare(texts: Sequence[str]) -> list[tuple[str, float]]:
    """Return numerals without a unit that all have, as in 12 kg, or thousands and millions, as in 5K; and their divisors.

    5K is 5,000 whatever is beside it: a piece of a table, or a new one, may have other cells.
    """
    ends = [text[-1] if text[-1:] in _FACTORS and text[-2:-1].isdigit() else "" for text in texts]
    cut = [plain_numeral(text.removesuffix(end)) for text, end in zip(texts, ends, strict=True)] if any(ends) else []
    if cut and all(as_number(text.replace(",", ".")) is not None for text, _ in cut):
        return [(text, divisor / _FACTORS.get(end, 1.0)) for (text, divisor), end in zip(cut, ends, strict=True)]
    found = [_WITH_UNIT.fullmatch(text) for text in texts]
    units = {one[2] for one in found if one}
    unit = units.pop() if len(units) == 1 and all(found) else ""
    return [plain_numeral(text.removesuffix(unit).rstrip() if unit else text) for text in texts]


def dates(column: pd.Series, role: str = DATE) -> NDArray[np.float64]:
    """Return dates as days since 1970, and durations as days; NaN if missing. `role` tells the order of day and month.

    Raises `DataError` with the row of a cell that is no date.
    """
    if pd.api.types.is_timedelta64_dtype(column):
        days: NDArray[np.float64] = (column / _DAY).to_numpy(dtype=np.float64)
        return days
    if pd.api.types.is_datetime64_any_dtype(column):
        with readable(f"column {str(column.name)!r}", "holds dates that are too far"):
            return ((pd.to_datetime(column, utc=True) - _EPOCH) / _DAY).to_numpy(dtype=np.float64)
    codes, values = pd.factorize(column)
    texts = [_in_pandas_form(text) or _in_order(text, role) for text in map(written, values)]
    parsed = pd.to_datetime(pd.Series(texts, dtype=object), format="mixed", utc=True, errors="coerce")
    if parsed.isna().any():
        i = int(np.argmax(codes == int(np.argmax(parsed.isna()))))
        advice = (
            ": correct it, let it mean missing (--missing-words), name another role (--role), or leave it out (--drop)"
        )
        raise _wrong(column, i, f"dates (role {role!r})", advice=advice)
    since = _EPOCH.as_unit("s")  # nanoseconds would end in 2262
    of_value: NDArray[np.float64] = ((parsed - since) / _DAY).to_numpy(dtype=np.float64)
    return np.append(of_value, np.nan)[codes]


def _in_english(one: re.Match[str]) -> str:
    text = re.sub(_MONTH, lambda month: _MONTH_OF[month[0].lower()], one[0], flags=re.IGNORECASE)
    text = re.sub(r"(?<=:\d\d )([A-Za-z]+|\+0000) ", "", text)  # a zone before the year, which changes nothing
    return re.sub(r"(?<=\d{4}):", " ", text).replace(" de ", " ").replace("/", "-")


def _of_week(one: re.Match[str]) -> str:
    return str(date.fromisocalendar(int(one[1]), 1, int(one[3] or 1)) + timedelta(weeks=int(one[2]) - 1))


# Forms of dates that tell the order of day and month, each with how pandas reads it; the first one is by far the most frequent.
_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(rf"\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}{_TIME}"),
        lambda one: one[0].replace("/", "-").replace(", ", " "),
    ),
    (re.compile(r"(?:1[89]|20)\d\d-(?:0[1-9]|1[0-2])|(?:19|20)\d{6}T\d{4}(?:\d\d)?Z?"), lambda one: one[0]),
    (
        re.compile(
            rf"(?i)(?:\d{{1,2}}\.?(?: |-|/| de ){_MONTH}(?:[ .,/-]+| de )\d{{4}}|{_MONTH}\.? \d{{1,2}},? \d{{4}})"
            rf"(?:[ ,:]+{_HOURS})?|{_MONTH} \d{{1,2}} \d\d:\d\d:\d\d (?:(?:[A-Z]{{3,4}}|\+0000) )?\d{{4}}"
        ),
        _in_english,
    ),
    (re.compile(r"(\d{4})[ -]?[qQ]([1-4])"), lambda one: f"{one[1]}-{3 * int(one[2]) - 2:02}-01"),
    (re.compile(r"((?:1[89]|20)\d\d)[mM](0?[1-9]|1[0-2])"), lambda one: f"{one[1]}-{one[2]:0>2}-01"),
    (  # 01JAN2020, 1-Jan-20, Jan 2020, Jan-20, 01JAN2020:10:30:00
        re.compile(rf"(?i)(?:(\d\d?)[ -]?)?{_MONTH}(?:\.?[ -])?([12]\d{{3}}|(?<=-)\d\d)(?:[: ]({_HOURS}))?"),
        lambda one: f"{one[1] or 1} {_MONTH_OF[one[2].lower()]} {_year(one[3])} {one[4] or ''}",
    ),
    (
        re.compile(rf"(\d{{4}})[年년] ?(\d{{1,2}})[月월] ?(\d{{1,2}})[日일]({_TIME})"),
        lambda one: f"{one[1]}-{one[2]:0>2}-{one[3]:0>2}{one[4].removeprefix(',')}",
    ),
    (_DURATION, lambda one: str(pd.Timestamp(0) + pd.Timedelta(one[0].replace(",", "")))),
    (re.compile(r"((?:1[89]|20)\d\d)-?W([0-4]\d|5[0-3])(?:-?([1-7]))?"), _of_week),
)


def _in_pandas_form(text: str) -> str | None:
    """Return a date whose order is known as pandas reads it; None for other texts."""
    for form, rewritten in _FORMS:
        if one := form.fullmatch(text):
            return rewritten(one)
    bare = _AROUND_A_DATE.sub(lambda one: f"{one[1]}{one[2]:0>2}:{one[3] or '00'}" if one[1] else "", text)
    return _in_pandas_form(bare) if bare != text else None


def _in_order(text: str, role: str) -> str:
    """Return a date that begins with the day or the month as pandas reads it, in the role's order."""
    if one := _YEAR_LAST.fullmatch(text):
        day, month = one.group(1, 3) if role == DAY_FIRST else one.group(3, 1)
        return f"{_year(one[4])}-{month:0>2}-{day:0>2}{one[5].removeprefix(',')}" if role != DATE else ""
    return text.replace("/", "-")


def _year(text: str) -> str:
    return f"{19 if int(text) >= 70 else 20}{text}"[-4:]


def date_role(present: pd.Series) -> str | None:
    """Return the role of a column of dates without missing cells: "date", or the order of day and month; None for others."""
    if is_time(present) or isinstance(present.iloc[0], date):
        return DATE
    texts = [written(value) for value in present.unique()]
    if all(map(_in_pandas_form, texts)):
        return None if _are_numbered_names(texts) or all(map(_AREA.fullmatch, texts)) else DATE
    if not all(map(_YEAR_LAST.fullmatch, texts)):
        return None
    pairs = [re.split("[-/.]", text)[:2] for text in texts]
    day_first, month_first = (all(0 < int(pair[place]) <= _MONTHS_A_YEAR for pair in pairs) for place in (1, 0))
    if day_first and month_first:
        return MONTH_FIRST if "/" in texts[0] else DAY_FIRST
    return DAY_FIRST if day_first else MONTH_FIRST if month_first else None


def _are_numbered_names(texts: Sequence[str]) -> bool:
    """Return True for names such as set-01 or mag-10: their words are months of no one language, or one in small letters.

    One word before years, as in may 2001, is a month in English, whatever its letters.
    """
    found = [_NUMBERED.fullmatch(text) for text in texts]
    words = {one[1] for one in found if one}
    is_small = len(words) == 1 and min(words).islower() and not all(map(_BEFORE_YEAR.fullmatch, texts))
    languages = _MONTHS[: 1 - is_small] if len(words) == 1 else _MONTHS  # of may-01, may-02 none
    return all(found) and not any({word.lower() for word in words} <= own.keys() for own in languages)


def are_days(column: pd.Series) -> bool:
    """Return True if a column of numbers holds days such as 20240105 alone."""
    for some in (column.head(_FEWEST_DAYS), column):  # all of them take long
        values = some.dropna().unique()
        if not all(1900 < float(value) // 10_000 < 2100 and value % 1 == 0 for value in values):
            return False
    texts = pd.Series([str(int(value)) for value in values])
    are_valid = pd.to_datetime(texts, format="%Y%m%d", errors="coerce").notna().all()
    return len(values) >= _FEWEST_DAYS and bool(are_valid)


def reading_of_adorned(column: pd.Series, mark: str | None = None) -> tuple[str, str]:
    """Return how the first cells with different signs, units or words for true are read, and the first sign (brackets: none)."""
    if is_numeric(column):
        return "", ""
    cells, found, plain = column.dropna().drop_duplicates(), dict[str, tuple[str, float]](), list[tuple[str, float]]()
    for text, value in zip(map(written, cells), numeric(cells, mark), strict=True):
        if as_number(text) is not None or value != value:
            plain = plain or [(text, value)] * bool(abs(value) > 0)
        elif signs := _ADORNMENT.findall(text.translate(_SIGNS)) or ["-"] * text.endswith("-"):
            words = "words" * bool(truths_of({text.lower()})) or (":" if ":" in text else "°") * bool(sixtieths([text]))
            sign = (words or "".join(signs).strip("()-")) + "0" * bool(_NO_MONEY.fullmatch(text))
            found.setdefault(sign, (text, value))
        if len(found) == _MOST_SIGNS:
            break
    few = [*found.values(), *plain * ("%" in "".join(found))]
    read = (f"{printable(text)!r} {'as' if i else 'is read as'} {value:g}" for i, (text, value) in enumerate(few))
    return ", and ".join(read), next(iter(found), "").removesuffix("0")


def row_number(column: pd.Series, i: int) -> int:
    """Return a row's number, counted from 1 below the header."""
    return int(column.index[i]) + 1


def _wrong(column: pd.Series, i: int, must: str, got: str = "", advice: str = "") -> DataError:
    """Return the error for a cell; by default the advice is to correct it or to leave the column out."""
    got, advice = got or repr(printable(written(column.iloc[i]))), advice or ": correct it, or leave it out (--drop)"
    return DataError(f"column {str(column.name)!r} must hold {must}, got {got} in row {row_number(column, i)}{advice}")


def numbers(column: pd.Series, mark: str | None = None) -> NDArray[np.float64]:
    """Return a column as numbers, NaN if missing; raise `DataError` with the row if a cell is not a number or too large.

    For text, `mark` is the decimal mark of numbers with thousands separators.
    """
    name = str(column.name)
    if is_time(column):
        raise DataError(
            f"column {name!r} holds dates, which are no numbers: make it dates (--role), or ignore it (--drop)"
        )
    if np.iscomplexobj(column):
        raise DataError(f"column {name!r} holds complex numbers, and only real ones can be used: ignore it (--drop)")
    values = numeric(column, mark).to_numpy(dtype=np.float64, na_value=np.nan)
    if len(values) and np.fmax.reduce(np.abs(values)) > LARGEST:  # one pass in the usual case: fmax ignores NaN
        i = int(np.flatnonzero(np.abs(values) > LARGEST)[0])
        advice = ": correct it, let it mean missing (--missing-words), or leave the column out (--drop)"
        raise _wrong(column, i, f"finite numbers of at most {LARGEST:g} in size", f"{values[i]:g}", advice)
    is_wrong = np.isnan(values) & column.notna().to_numpy()
    if mark is None and not is_numeric(column) and has_thousands([*map(written, column.dropna().unique())]):
        is_wrong = column.map(lambda cell: "." in written(cell)).to_numpy()  # beside small whole numbers
    if n := int(is_wrong.sum()):
        i = int(np.argmax(is_wrong))
        first = printable(written(column.iloc[i]))
        bare = _bare([*map(written, column[is_wrong].unique())])[0][0]  # 1,5 of '1,5 %'
        if numbers_among((bare, bare.translate(_COMMA_FOR_POINT))):
            mark = "." if mark == "," else ","
            raise _wrong(
                column,
                i,
                "numbers",
                advice=f": correct it, or say the decimal mark (--decimal {mark}), or the column's role (--role)",
            )
        kind = " (a spreadsheet's error)" if _SPREADSHEET_ERROR.fullmatch(first) else ""
        is_more = 1 < n <= _MOST_HEADERS and is_wrong[:n].all()
        if is_more or first == name:
            kind = f" ({f'rows 1 to {n} are' if is_more else 'its name: the line of'} names again, to be "
            kind += "deleted)" if i else "left out: --below)"
        kind = " (a row that sums others, to be deleted)" if _TOTAL.fullmatch(first) else kind
        few = f" ({listed(words)})" if 1 < len(words := column[is_wrong].map(written).unique()) <= _SHOWN else ""
        several = "" if n == 1 else f", the first of {n:,} cells that are no numbers{few}"
        it, its = ("it", "its word") if n == 1 else ("them", "their words")
        advice = f"let {its} mean missing (--missing-words), make the column a category (--category), or leave it out (--drop)"
        if n == 1 and i == 0 and not kind:
            advice = f"leave row 1 out if it is a second line of names (--below), {advice}"
        raise _wrong(column, i, "numbers", f"{first!r}{kind}", f"{several}: correct {it}, {advice}")
    return values


# --- missing


def numbers_among(words: Iterable[str]) -> list[float]:
    """Return the words that are numbers, such as -999."""
    return [number for word in words if (number := as_number(word)) is not None and isfinite(number)]


def blanked(column: pd.Series, words: Sequence[str], seen: Seen) -> pd.Series:
    """Return a column in which cells with one of the words are missing; count these cells."""
    if pd.api.types.is_bool_dtype(column) or is_time(column):
        return column
    if pd.api.types.is_numeric_dtype(column):
        if not (given := numbers_among(words)):
            return column
        is_word = column.isin(given)
    else:
        texts = (cell.decode("utf-8", UNDECODED) if isinstance(cell, bytes) else cell for cell in column)
        bare = [text.strip() if isinstance(text, str) else None for text in texts]
        is_word = pd.Series(bare, column.index, dtype=object).isin(words)
    if not is_word.any():
        return column
    counts = column[is_word].map(written).value_counts()
    seen.update({(str(word), str(column.name)): int(n) for word, n in counts.items() if n})
    if pd.api.types.is_integer_dtype(column):
        column = column.convert_dtypes()  # not through floats, which cannot hold all whole numbers
    return column.mask(is_word)


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table with columns in place of those of their names; pandas' `assign` takes none that is called self."""
    changed = frame.copy(deep=False)
    for name, column in columns.items():
        changed[name] = column
    return changed


def about_missing(seen: Seen, what: str = "missing") -> str:
    """Return a sentence with the number of cells that were read as missing, by word; empty if there are none."""
    by_word = Counter[str]()
    for (word, _), n in seen.items():
        by_word[word] += n
    parts = []
    for word, n in by_word.most_common():
        cells = "cell" if n == 1 else "cells"
        where = f"{listed([word])} (in {listed(sorted({column for own, column in seen if own == word}))})"
        parts.append(f"{n:,} {cells} {where}" if word else f"{n:,} empty {cells}")
    return f"Read as {what}: {', '.join(parts)}." if parts else ""


def suspicions(frame: pd.DataFrame, label: str | None, seen: Seen) -> list[str]:
    """Return a question for each column with a number that is frequent and far from all others (-999), or with a sum's row.

    The option that it names keeps the words in `seen`.
    """
    asked, known = list[str](), dict.fromkeys(word for word, _ in seen if word not in MISSING_WORDS)
    for name, column in frame.items() if frame.shape[1] <= _MOST_COLUMNS else ():
        words = [] if is_numeric(column) else [one for one in column.unique() if _TOTAL.fullmatch(str(one))]
        rows = np.flatnonzero(column.isin(words)) if words else np.empty(0, dtype=np.int64)
        if 0 < len(rows) < _SHARE_OF_SUMS * len(column):
            what, more = printable(written(column.iloc[rows[0]])), f" (as do {len(rows) - 1} more)" * (len(rows) > 1)
            asked.append(
                f"Row {row_number(column, rows[0])} holds {what!r} in {printable(str(name))!r}{more}: delete rows that sum others."
            )
        if name == label or column.dtype.kind not in "if":
            continue
        values = column.to_numpy(dtype=np.float64)
        values = values[~np.isnan(values)]
        for number in (values.min(), values.max()) if len(values) >= _FEWEST_ASKED else ():
            if not _SENTINEL.fullmatch(f"{number:.10g}"):
                continue
            others = values[values != number]
            if (n := len(values) - len(others)) < max(2, 0.01 * len(values)) or len(others) < 2:
                continue
            spread = max(float(np.ptp(others)), float(np.abs(others).max()) * 0.05)
            if np.abs(others - number).min() > 2 * spread > 0:
                asked.append(
                    f"Does {number:.10g} mean missing in {printable(str(name))!r}? {n:,} cells hold it, far from all other "
                    f"numbers: if so, let it mean missing (--missing-words={','.join([*known, f'{number:.10g}'])})."
                )
                break
    return asked[:_MOST_ASKED]
