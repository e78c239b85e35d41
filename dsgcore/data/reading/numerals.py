"""Cells as numbers: by type, or as people and spreadsheets write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.names import printable, written
from dsgcore.data.reading.recipe import DATE, DAY_FIRST, MONTH_FIRST

LARGEST = 1e30  # above this size, differences and means leave float32's range
# A column holds numbers if more than this share of its cells are numbers; the others are mistakes.
MOSTLY = 0.5
# Numbers as people write them, by decimal mark. The other mark, an apostrophe or a space separates thousands.
_SPACES = "'’ \u00a0\u2009\u202f"
_GROUPS = {".": f",{_SPACES}", ",": f".{_SPACES}"}
_GROUPED = {
    mark: re.compile(rf"[+-]?(?:[1-9]\d{{0,2}}([{between}])\d{{3}}(?:\1\d{{3}})*|\d+)(?:{re.escape(mark)}\d+)?")
    for mark, between in _GROUPS.items()
}
# Minus signs and dashes that stand for "-", and full-width signs.
_SIGNS = str.maketrans({**dict.fromkeys("−–‐‑‒﹣－", "-"), "％": "%", "（": "(", "）": ")"})
_ADORNED = ("%", ")")
_MONEY = re.compile(r"(?<![\w.,])[$€£¥₹₽₩]\s?(?=[\d.,])|(?<=\d)\s?[$€£¥₹₽₩](?=\)?$)")
THOUSANDS_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")  # 1.234 may be either number
_WITH_UNIT = re.compile(r"([^\s\w]?\s?[\d.,]*\d(?:[eE][+-]?\d+)?)\s*([^\W\d_][\w°µ/²³^%]{0,9}|[°µ][\w/]{1,9})")
# Words for truth values: a column that holds only those of one language is read as 1 and 0.
TRUTHS = ({"true": 1.0, "t": 1.0, "false": 0.0, "f": 0.0}, {"yes": 1.0, "y": 1.0, "no": 0.0, "n": 0.0})
_DAY = pd.Timedelta(days=1)
_TIME = r"(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?"
_YEAR_FIRST = re.compile(rf"\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}{_TIME}")
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}})({_TIME})")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTH_NAMED = re.compile(
    rf"\d{{1,2}}[ -](?:{_MONTHS})[a-z]*[ .,-]+\d{{4}}|(?:{_MONTHS})[a-z]*\.? \d{{1,2}},? \d{{4}}", re.IGNORECASE
)
_IN_BRACKETS = re.compile(r"\(\s*([^()+\-\s][^()]*)\)")
_ADORNMENT = re.compile(rf"[^\deE.,+\-{_SPACES}]")
_PERCENT, _MONTHS_A_YEAR, _DIGITS = 100.0, 12, 3
_SPREADSHEET_ERROR = re.compile(r"#[A-Z/0-9_]+[!?]?|Err:\d+|#+")


def is_numeric(column: pd.Series) -> bool:
    """Return True if a column's type is numeric or Boolean."""
    return pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column)


def is_time(column: pd.Series) -> bool:
    """Return True if a column's type is a date or a duration."""
    return pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column)


def plain_numeral(text: str) -> tuple[str, float]:
    """Return a numeral without brackets, per cent sign and Unicode minus, and the divisor of its number.

    (1.5) is -1.5, as in accounts; 12 % is 0.12.
    """
    text, divisor = _MONEY.sub("", text.strip().translate(_SIGNS)), 1.0
    for _ in range(2 if text.endswith(_ADORNED) else 0):  # the sign may be inside the brackets or after them
        if text.endswith("%"):
            text, divisor = text[:-1].rstrip(), divisor * _PERCENT
        if bare := _IN_BRACKETS.fullmatch(text):
            text = f"-{bare[1].rstrip()}"
    return text, divisor


def decimal_mark(column: pd.Series, usual: str = ".") -> str | None:
    """Return the decimal mark of a text column that holds mostly numbers with another mark than the table's.

    Examples are 1.234,5 and 1,234.5, or 1.234 alone if the table's `usual` mark is the comma. Return None for any other
    column, and for plain numbers.
    """
    if is_numeric(column):
        return None
    texts = [text for text, _ in _bare(column.dropna())]
    found = {mark: sum(bool(form.fullmatch(text)) for text in texts) for mark, form in _GROUPED.items()}
    best = max(found, key=lambda mark: (found[mark], mark == usual))
    # If the table's mark is the comma, 1.5 is not a number in it.
    plain = numeric(column if usual == "." else pd.Series([t.replace(".", "x").replace(",", ".") for t in texts]))
    if usual == "." and has_thousands(texts):
        return ","
    is_needed = found[best] > plain.notna().sum() or usual == ","
    return best if is_needed and found[best] > MOSTLY * len(texts) else None


def numeric(column: pd.Series, mark: str | None = None) -> pd.Series:
    """Return a column as numbers, with NaN for other cells. Text is read with this decimal mark."""
    if is_numeric(column):
        return pd.to_numeric(column, errors="coerce")
    if (truths := truths_of(column)) is not None:
        return column.map(lambda cell: truths.get(written(cell).lower(), np.nan), na_action="ignore").astype(np.float64)
    plain = column if mark is None else pd.Series(_marked(column, mark), column.index, dtype=object)
    values = _to_numeric(plain.where(column.notna()))
    others = np.flatnonzero((values.isna() & column.notna()).to_numpy())
    if not len(others):
        return values
    rewritten = _bare(column.iloc[others])
    texts = pd.Series([text for text, _ in rewritten], dtype=object)
    numbers = _to_numeric(texts if mark is None else pd.Series(_marked(texts, mark), dtype=object))
    found = values.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    found[others] = numbers.to_numpy(dtype=np.float64) / np.array([divisor for _, divisor in rewritten])
    return pd.Series(found, column.index)


def truths_of(column: pd.Series) -> dict[str, float] | None:
    """Return the numbers of a text column's words for truth values; None if it holds anything else."""
    first = next((cell for cell in column.head(100) if isinstance(cell, str)), None)
    truths = next((own for own in TRUTHS if first is not None and first.strip().lower() in own), None)
    is_one = truths is not None and {written(cell).lower() for cell in column.dropna().unique()} <= truths.keys()
    return truths if is_one else None


def has_thousands(texts: Sequence[str]) -> bool:
    """Return True if numbers such as 1.850 are beside small whole numbers such as 986, and no other fraction."""
    dotted = [text for text in texts if "." in text]
    small = [text for text in texts if "." not in text]
    is_grouped = bool(dotted) and all(THOUSANDS_POINT.fullmatch(text) for text in dotted)
    return is_grouped and any(len(text) == _DIGITS for text in small) and all(len(t) <= _DIGITS for t in small)


def unit_of(texts: Sequence[str]) -> str | None:
    """Return the unit that all numbers have, as in 12 kg; None if they have none or several."""
    found = [_WITH_UNIT.fullmatch(text) for text in texts]
    units = {one[2] for one in found if one}
    return units.pop() if len(units) == 1 and all(found) else None


def _bare(column: pd.Series) -> list[tuple[str, float]]:
    """Return the numerals of text cells without a unit that all of them have; and the divisors of their numbers."""
    texts = [written(value) for value in column]
    if texts and (unit := unit_of(texts)) is not None:
        texts = [text.removesuffix(unit).rstrip() for text in texts]
    return [plain_numeral(text) for text in texts]


def dates(column: pd.Series, role: str = DATE) -> NDArray[np.float64]:
    """Return dates as days since 1970, and durations as days; NaN if missing. `role` tells the order of day and month.

    Raises `DataError` with the row of a cell that is no date.
    """
    if pd.api.types.is_timedelta64_dtype(column):
        days: NDArray[np.float64] = (column / _DAY).to_numpy(dtype=np.float64)
        return days
    if pd.api.types.is_datetime64_any_dtype(column):
        found = pd.to_datetime(column, utc=True)
    else:
        codes, values = pd.factorize(column)
        texts = [_year_first(written(value), role) for value in values]
        parsed = pd.to_datetime(pd.Series(texts, dtype=object), format="mixed", utc=True, errors="coerce")
        if parsed.isna().any():
            i = int(np.argmax(codes == int(np.argmax(parsed.isna()))))
            raise DataError(
                f"column {str(column.name)!r} must hold dates, got {printable(written(column.iloc[i]))!r} in row "
                f"{row_number(column, i)}: correct it, or leave the column out (--drop)"
            )
        found = pd.Series([*parsed, pd.NaT], dtype=parsed.dtype).iloc[codes]
    return ((found - pd.Timestamp(0, tz="UTC")) / _DAY).to_numpy(dtype=np.float64)


def date_role(present: pd.Series) -> str | None:
    """Return the role of a column of dates without missing cells: "date", or the order of day and month; None for others."""
    if is_time(present) or isinstance(present.iloc[0], date):
        return DATE
    texts = [written(value) for value in present.unique()]
    if all(_YEAR_FIRST.fullmatch(text) or _MONTH_NAMED.fullmatch(text) for text in texts):
        return DATE
    found = [_YEAR_LAST.fullmatch(text) for text in texts[:20]]
    if not all(found) or not all(_YEAR_LAST.fullmatch(text) for text in texts):
        return None
    pairs = [one.group(1, 3) for text in texts if (one := _YEAR_LAST.fullmatch(text))]
    day_first, month_first = (all(0 < int(pair[place]) <= _MONTHS_A_YEAR for pair in pairs) for place in (1, 0))
    if day_first and month_first:
        return MONTH_FIRST if found[0] is not None and found[0][2] == "/" else DAY_FIRST
    return DAY_FIRST if day_first else MONTH_FIRST if month_first else None


def _year_first(text: str, role: str) -> str:
    """Return a date with the year first; two digits from 70 on are years of the last century."""
    if (one := _YEAR_LAST.fullmatch(text)) is None:
        return text.replace("/", "-")
    day, month = one.group(1, 3) if role != MONTH_FIRST else one.group(3, 1)
    year = one[4] if len(one[4]) > 2 else f"{19 if int(one[4]) >= 70 else 20}{one[4]}"
    return f"{year}-{month:0>2}-{day:0>2}{one[5]}"


def _marked(column: pd.Series, mark: str) -> list[str]:
    """Return numerals with their own decimal mark as Python writes them; other text is unchanged."""
    form, between = _GROUPED[mark], str.maketrans("", "", _GROUPS[mark])
    texts = [written(value) for value in column]
    others = str.maketrans(",", ".") if mark == "," else {}  # 1,5e3 and ,5
    return [t.translate(between).replace(mark, ".") if form.fullmatch(t) else _without_point(t, others) for t in texts]


def _without_point(text: str, others: dict[int, int]) -> str:
    return text if "." in text else text.translate(others)


def _to_numeric(column: pd.Series) -> pd.Series:
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:  # a whole number larger than all floats
        return pd.to_numeric(column.map(written, na_action="ignore"), errors="coerce")


def reading_of_adorned(column: pd.Series, mark: str | None = None) -> str:
    """Return how the first cell is read that has brackets, a sign of per cent or money, a unit, or a word for true."""
    if is_numeric(column):
        return ""
    values = numeric(column, mark).to_numpy(dtype=np.float64, na_value=np.nan)
    plain = pd.to_numeric(column, errors="coerce").isna().to_numpy()
    for i in np.flatnonzero(plain & ~np.isnan(values)):
        text = written(column.iloc[i])
        if _ADORNMENT.search(text.translate(_SIGNS)):
            return f"{printable(text)!r} is read as {values[i]:g}"
    return ""


@dataclass
class Mistakes:
    """Count of cells that should be numbers and are not, and the first one."""

    n: int = 0
    first: str = ""
    row: int = 0

    def add(self, column: pd.Series, is_wrong: NDArray[np.bool_]) -> None:
        """Count the cells that are marked."""
        if not is_wrong.any():
            return
        if not self.n:
            i = int(np.argmax(is_wrong))
            self.first, self.row = printable(written(column.iloc[i])), row_number(column, i)
        self.n += int(is_wrong.sum())

    def check(self, name: str) -> None:
        """Raise `DataError` if there are mistakes in the column."""
        if not self.n:
            return
        kind = " (a spreadsheet's error)" if _SPREADSHEET_ERROR.fullmatch(self.first) else ""
        several = "" if self.n == 1 else f", the first of {self.n:,} cells that are no numbers"
        it, its = ("it", "its word") if self.n == 1 else ("them", "their words")
        raise DataError(
            f"column {name!r} must hold numbers, got {self.first!r}{kind} in row {self.row}{several}: correct {it}, let "
            f"{its} mean missing (--missing-words), make the column a category (--category), or leave it out (--drop)"
        )


def row_number(column: pd.Series, i: int) -> int:
    """Return a row's number, counted from 1 below the header."""
    return int(column.index[i]) + 1


def numbers(column: pd.Series, mark: str | None = None) -> NDArray[np.float64]:
    """Return a column as numbers, NaN if missing; raise `DataError` with the row if a cell is not a number or too large.

    For text, `mark` is the decimal mark of numbers with thousands separators.
    """
    mistakes = Mistakes()
    values = numbers_and(mistakes, column, mark)
    mistakes.check(str(column.name))
    return values


def numbers_and(mistakes: Mistakes, column: pd.Series, mark: str | None = None) -> NDArray[np.float64]:
    """Return a column as numbers, NaN if missing or not a number; the latter are counted as mistakes."""
    name = str(column.name)
    if is_time(column):
        raise DataError(f"column {name!r} holds dates, which are no numbers: ignore it (--drop)")
    if np.iscomplexobj(column):
        raise DataError(f"column {name!r} holds complex numbers, and only real ones can be used: ignore it (--drop)")
    values = numeric(column, mark).to_numpy(dtype=np.float64, na_value=np.nan)
    mistakes.add(column, np.isnan(values) & column.notna().to_numpy())
    # One pass in the usual case: fmax ignores NaN.
    if len(values) and np.fmax.reduce(np.abs(values)) > LARGEST:
        i = int(np.flatnonzero(np.abs(values) > LARGEST)[0])
        raise DataError(
            f"column {name!r} must hold finite numbers of at most {LARGEST:g} in size, got {values[i]:g} in row "
            f"{row_number(column, i)}: correct it, or leave the column out (--drop)"
        )
    return values
