"""Columns of a table that are not features, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, time

import pandas as pd

from dsgcore.data.reading.indexes import sentence
from dsgcore.data.reading.names import printable, written
from dsgcore.data.reading.numerals import is_numeric, is_time
from dsgcore.data.reading.parquet import NESTED

_SHOWN = 6


class LeftOut:
    """Columns that name or number the rows, and columns that are ignored."""

    def __init__(self) -> None:
        self._index: list[str] = []
        self._ignored: dict[str, str] = {}  # with the contents that rule them out as features

    def add(self, column: pd.Series, role: str) -> None:
        """Leave out a column of this role: "index" or "ignore"."""
        if role == "index":
            self._index.append(str(column.name))
        else:
            self._ignored[str(column.name)] = _held(column)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return (*self._index, *self._ignored)

    def sentences(self) -> Iterator[str]:
        """Return sentences about the columns that are left out, with reasons."""
        if self._index:
            yield sentence(self._index)
        if self._ignored:
            yield f"{counted(len(self._ignored), 'column is', 'columns are')} ignored: {_listed(self._ignored)}."

    def nothing_left(self, empty: Sequence[str]) -> str:
        """Return the message that no column is a feature; those in `empty` hold no value."""
        reasons = dict.fromkeys(empty, "no value") | dict.fromkeys(self._index, "names or numbers the rows")
        reasons |= {name: held or "ignored" for name, held in self._ignored.items()}
        found = f"besides the label, the table has {_listed(reasons)}" if reasons else "the label is the only column"
        return f"no column of features is left: {found}"


def _listed(reasons: dict[str, str]) -> str:
    shown = [f"{printable(name)!r}{f' ({reason})' if reason else ''}" for name, reason in reasons.items()]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more


def _held(column: pd.Series) -> str:
    """Return a description of contents that cannot be a feature; empty if they can."""
    present = column.dropna()
    first = present.iloc[0] if len(present) else None
    if is_time(column) or isinstance(first, date | time):
        return "dates or durations"
    if first == NESTED:
        return "lists or other nested values"
    if isinstance(first, bytes):
        return "bytes"
    return "" if first is None or is_numeric(column) else f"text, such as {printable(written(first))!r}"


def counted(n: int, one: str, several: str) -> str:
    """Return a number with its noun, singular or plural."""
    return f"{n} {one if n == 1 else several}"
