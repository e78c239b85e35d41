"""Cells that hold a word for a missing value, their counts, and what replaces a missing number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import isfinite

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import mode

from dsgcore.data.reading.names import as_number, listed, printable

# The number of cells that were read as missing, by word and column.
Seen = Counter[tuple[str, str]]
_SENTINEL = re.compile(r"-?(9{1,7}|8{2,7}|7{2,7})(\.0|\.9+)?|-1|-?9{1,7}\.\d*|-200|-1e\+\d+|9?99e\+\d+")
_FEWEST_ASKED, _MOST_ASKED, _MOST_COLUMNS = 10, 6, 1000


def blanked(column: pd.Series, words: Sequence[str], seen: Seen) -> pd.Series:
    """Return a column in which cells with one of the words are missing; count these cells."""
    types = pd.api.types
    if types.is_bool_dtype(column) or types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return column
    if types.is_numeric_dtype(column):
        numbers = [number for word in words if (number := as_number(word)) is not None and isfinite(number)]
        return _blanked(column, column.isin(numbers), seen) if numbers else column
    texts = column.astype(object).map(lambda cell: cell.strip() if isinstance(cell, str) else None, na_action="ignore")
    return _blanked(column, texts.isin(words), seen)


def _blanked(column: pd.Series, is_word: pd.Series, seen: Seen) -> pd.Series:
    if not is_word.any():
        return column
    counts = column[is_word].astype(str).str.strip().value_counts()
    seen.update({(str(word), str(column.name)): int(count) for word, count in counts.items() if count})
    if pd.api.types.is_integer_dtype(column):
        column = column.convert_dtypes()  # not through floats, which cannot hold all whole numbers
    return column.mask(is_word)


def sentence(seen: Seen, what: str = "missing") -> str:
    """Return a sentence with the number of cells that were read as missing, by word; empty if there are none."""
    by_word: dict[str, int] = {}
    for (word, _), count in seen.items():
        by_word[word] = by_word.get(word, 0) + count
    if not by_word:
        return ""
    parts = [_counted(word, count, seen) for word, count in sorted(by_word.items(), key=lambda one: -one[1])]
    return f"Read as {what}: {', '.join(parts)}."


def _counted(word: str, count: int, seen: Seen) -> str:
    if not word:
        return f"{count:,} empty {'cell' if count == 1 else 'cells'}"
    columns = listed(sorted({column for own, column in seen if own == word}))
    return f"{count:,} {'cell' if count == 1 else 'cells'} {listed([word])} (in {columns})"


def suspicions(frame: pd.DataFrame, label: str | None) -> list[str]:
    """Return a question for each column in which one number is frequent and far from all others, such as -999 or 9999."""
    asked: list[str] = []
    if frame.shape[1] > _MOST_COLUMNS:
        return asked
    for name, column in frame.items():
        if name == label or column.dtype.kind not in "if" or (number := _sentinel(column)) is None:
            continue
        n = int((column == number).sum())
        asked.append(
            f"Does {number:g} mean missing in {printable(str(name))!r}? {n:,} cells hold it, far from all other numbers: if so, "
            f"let it mean missing (--missing-words={number:g})."
        )
    return asked[:_MOST_ASKED]


def _sentinel(column: pd.Series) -> float | None:
    """Return the least or the largest number of a column if it looks like a word for missing."""
    values = column.to_numpy(dtype=np.float64)
    values = values[~np.isnan(values)]
    if len(values) < _FEWEST_ASKED:
        return None
    for number in (values.min(), values.max()):
        if not _SENTINEL.fullmatch(f"{number:.10g}"):
            continue
        others = values[values != number]
        n = len(values) - len(others)
        if n < max(2, 0.01 * len(values)) or len(others) < 2:
            continue
        spread = max(float(np.ptp(others)), float(np.abs(others).max()) * 0.05)
        if np.abs(others - number).min() > 2 * spread and spread > 0:
            return float(number)
    return None


def replacement(column: NDArray, missing: str) -> float:
    """Return the mean, the median or the most frequent one of a column's numbers, which replaces NaN; 0 if there is none."""
    present = column[~np.isnan(column)]
    if not len(present):
        return 0.0
    if missing == "mean":
        return float(np.mean(present, dtype=np.float64))
    return float(np.median(present) if missing == "median" else mode(present).mode)
