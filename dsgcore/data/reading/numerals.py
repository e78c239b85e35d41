"""Cells as numbers: by type, or as people and spreadsheets write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.data.datasets import DataError
from dsgcore.data.reading.names import printable, written

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
_IN_BRACKETS = re.compile(r"\(\s*([^()+\-\s][^()]*)\)")
_PERCENT = 100.0
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
    text, divisor = text.strip().translate(_SIGNS), 1.0
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
    texts = [plain_numeral(written(value))[0] for value in column.dropna()]
    found = {mark: sum(bool(form.fullmatch(text)) for text in texts) for mark, form in _GROUPED.items()}
    best = max(found, key=lambda mark: (found[mark], mark == usual))
    # If the table's mark is the comma, 1.5 is not a number in it.
    plain = numeric(column if usual == "." else pd.Series([t.replace(".", "x").replace(",", ".") for t in texts]))
    is_needed = found[best] > plain.notna().sum() or usual == ","
    return best if is_needed and found[best] > MOSTLY * len(texts) else None


def numeric(column: pd.Series, mark: str | None = None) -> pd.Series:
    """Return a column as numbers, with NaN for other cells. Text is read with this decimal mark."""
    if is_numeric(column):
        return pd.to_numeric(column, errors="coerce")
    plain = column if mark is None else pd.Series(_marked(column, mark), column.index, dtype=object)
    values = _to_numeric(plain.where(column.notna()))
    others = np.flatnonzero((values.isna() & column.notna()).to_numpy())
    if not len(others):
        return values
    rewritten = [plain_numeral(written(value)) for value in column.iloc[others]]
    texts = pd.Series([text for text, _ in rewritten], dtype=object)
    numbers = _to_numeric(texts if mark is None else pd.Series(_marked(texts, mark), dtype=object))
    found = values.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    found[others] = numbers.to_numpy(dtype=np.float64) / np.array([divisor for _, divisor in rewritten])
    return pd.Series(found, column.index)


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


def reading_of_adorned(column: pd.Series, values: NDArray[np.float64]) -> str:
    """Return how the first cell with brackets or a per cent sign is read; empty if there is none."""
    if is_numeric(column):
        return ""
    texts = column.astype(object).where(column.notna(), "").map(written)
    found = np.flatnonzero(texts.str.endswith((*_ADORNED, "％", "）")).to_numpy() & ~np.isnan(values))
    return f"{printable(texts.iloc[found[0]])!r} is read as {values[found[0]]:g}" if len(found) else ""


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
