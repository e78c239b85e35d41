"""Names of columns and labels, and their forms that are safe to show and to write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import count
from typing import Any

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError

LONGEST = 100
# Bytes that are no UTF-8 are written out, so that different labels stay different.
UNDECODED = "backslashreplace"
_SHOWN = 6
# Exceptions that readers of files and cluster workers raise.
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, MemoryError)
# A spreadsheet that opens a CSV reads a cell that begins so as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def column_names(raw: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Return distinct printable names of a file's columns, and a sentence for every kind of change."""
    names: list[str] = []
    taken: set[str] = set()
    unnamed, repeated = [], []
    for number, given in enumerate(raw, start=1):
        name = printable(str(given))
        if not name:
            name = f"column {number}"
            unnamed.append(name)
        if name in taken:
            repeated.append(name)
            name = next(other for i in count(2) if (other := f"{name} ({i})") not in taken)
        taken.add(name)
        names.append(name)
    sentences = []
    if unnamed:
        sentences.append(f"{len(unnamed)} columns have no name and are called by their number: {listed(unnamed)}.")
    if repeated:
        sentences.append(f"Several columns have the same name and got a number added: {listed(sorted(set(repeated)))}.")
    return names, sentences


def check_column(name: str, known: Sequence[str]) -> None:
    """Raise an error if a table has no column of that name; the message lists similar names, or all."""
    if name in known:
        return
    by_lower = {str(one).lower(): str(one) for one in reversed(known)}
    close = [by_lower[one] for one in get_close_matches(name.lower(), by_lower, n=3, cutoff=0.7)]
    did_you_mean = f" (did you mean {' or '.join(repr(printable(one)) for one in close)}?)" if close else ""
    raise DataError(f"there is no column {quoted(name)}{did_you_mean}: the table has {listed(known)}")


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


def written(value: Any) -> str:
    """Return a value of a table as label text: 3.0 as 3, true as True."""
    if isinstance(value, bytes):
        return _cleaned(value.decode("utf-8", UNDECODED))
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    try:
        return _cleaned(str(value))
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


def reason_of(error: BaseException) -> str:
    """Return the first line of another package's error, to be part of a sentence."""
    return printable((str(error).splitlines() or [type(error).__name__])[0])


def listed(names: Iterable[str]) -> str:
    """Return a few names as a list in words."""
    shown = [repr(printable(name)) for name in names]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more


def listed_names(given: str | None) -> list[str] | None:
    """Return the names in a comma-separated list; None if nothing is given."""
    return None if given is None else [name for one in given.split(",") if (name := one.strip())]
