"""Choice of a table's feature columns: all but the label, the index and the columns that the user leaves out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import pandas as pd

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.indexes import is_index, may_be_index, sentence
from dsgcore.data.reading.names import check_column, listed

_SHOWN = 6


@dataclass(frozen=True)
class Asked:
    """The columns that the user names."""

    label: str | None = None
    features: tuple[str, ...] | None = None  # None: all other columns
    drop: tuple[str, ...] = ()

    @classmethod
    def of(cls, label: str | None, features: Sequence[str] | None, drop: Sequence[str]) -> Asked:
        """Return the names that the user gives as an `Asked`."""
        return cls(label, None if features is None else tuple(features), tuple(drop))


@dataclass(frozen=True)
class Features:
    """The feature columns in their order, and sentences about the columns that are left out."""

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()  # the notes that record a guess: the table itself does not state them


def features_of(
    known: Sequence[str],
    asked: Asked,
    index: Collection[str],
    values: Callable[[list[str]], pd.DataFrame],
    empty: Collection[str] = (),
) -> Features:
    """Choose the features among a table's columns; refuse names that the table does not have.

    Parameters
    ----------
    known : sequence of str
    asked : Asked
    index : collection of str
        The columns that the table itself declares as its index.
    values : callable
        Returns the first rows of some columns. They show if a column is an index.
    empty : collection of str
        Columns that hold no value.
    """
    for name in (*([asked.label] if asked.label is not None else ()), *(asked.features or ()), *asked.drop):
        check_column(name, known)
    if asked.label in (*(asked.features or ()), *asked.drop):
        raise DataError(f"column {quoted(asked.label)} is the label: it can be neither a feature nor left out")
    if asked.features is not None:
        names = tuple(name for name in asked.features if name not in asked.drop)
        return Features(_some(names, "all are left out"))
    names = tuple(name for name in known if name != asked.label and name not in asked.drop)
    maybe = [name for name in names if name not in index and may_be_index(name)]
    first = values(maybe) if maybe else pd.DataFrame()
    said, guessed = [name for name in names if name in index], [name for name in maybe if is_index(name, first[name])]
    left = [name for name in names if name in empty]
    notes = [sentence(own) for own in (said, guessed) if own]
    notes += [f"{listed(left)}: no value, so it is left out."] if left else []
    kept = tuple(name for name in names if name not in (*said, *guessed, *left))
    guesses = (sentence(guessed),) if guessed else ()
    return Features(
        _some(kept, " ".join(notes) or "there is none besides the label and those left out"), tuple(notes), guesses
    )


def _some(names: tuple[str, ...], reason: str) -> tuple[str, ...]:
    if not names:
        raise DataError(f"no column of features is left: {reason.rstrip('.')}")
    return names


def check_numbers(held: dict[str, str]) -> None:
    """Raise `DataError` if a chosen column holds no numbers; name what it holds."""
    if not held:
        return
    if len(held) == 1:
        ((name, kind),) = held.items()
        what, them = f"column {quoted(name)} holds no numbers but {kind}", "it"
    else:
        shown = ", ".join(f"{quoted(name)} ({kind})" for name, kind in list(held.items())[:_SHOWN])
        more = f" and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
        what, them = f"{len(held)} columns hold no numbers, {shown}{more}", "them"
    raise DataError(
        f"{what}: make {them} numbers, leave {them} out (drop, --drop), or name the features instead (features, --features)"
    )
