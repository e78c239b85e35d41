"""Edits of a data set by hand, as plain data: labels, pairs, painted, moved and erased points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError

LABEL, PAIR, PAINT, MOVE, ERASE = "label", "pair", "paint", "move", "erase"
KINDS = (LABEL, PAIR, PAINT, MOVE, ERASE)
ALL = "all"  # stands for every row
MOST_EDITS, MOST_PAINTED, MOST_ROWS = 5_000, 5_000, 50_000
LARGEST_ROW, LARGEST_CLASS = 2**31 - 1, 999


@dataclass(frozen=True)
class Edit:
    """One edit. An edit names points by their row of the data set; painted points continue the numbers of its rows.

    Attributes
    ----------
    do : {"label", "pair", "paint", "move", "erase"}
        "label" gives training points the label `to`, or takes their label or pair away if `to` is None. "pair" makes
        two points a similar pair. "paint" adds points, "move" moves one point, and "erase" removes points.
    rows : tuple of int, or "all"
        The points. Painting names none.
    to : int or None
        The class of labeled or painted points.
    at : tuple of float
        Coordinates x, y, x, y, .. of painted points, or of the place to which a point moves, after the scaling.
    is_labeled : bool
        True if the method sees the class of painted points. If not, a share of them become test points.
    """

    FIELDS: ClassVar[tuple[str, ...]] = ("do", "rows", "to", "at", "is_labeled")

    do: str
    rows: tuple[int, ...] | str = ()
    to: int | None = None
    at: tuple[float, ...] = ()
    is_labeled: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the edit as plain data, without the fields that have their default."""
        said: dict[str, Any] = {"do": self.do}
        if self.rows:
            said["rows"] = self.rows if isinstance(self.rows, str) else list(self.rows)
        if self.to is not None:
            said["to"] = self.to
        if self.at:
            said["at"] = list(self.at)
        return said | ({"is_labeled": True} if self.is_labeled else {})


def fit_any_seed(edits: Sequence[Edit]) -> bool:
    """Return True if edits name only points that they paint: there are none, or they begin with an empty sheet."""
    return not edits or edits[0] == Edit(ERASE, ALL)


def read_edits(given: object) -> tuple[Edit, ...]:
    """Return edits from plain data; raise `DataError` if one is not valid, or if there are too many.

    The numbers of edits, rows and painted points are checked before any of them is converted.
    """
    if isinstance(given, tuple) and all(type(edit) is Edit for edit in given):
        return given
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) > MOST_EDITS:
        raise DataError(f"edits must be a list of at most {MOST_EDITS:,} edits, got {_counted(given)}")
    plain = [edit.to_dict() if isinstance(edit, Edit) else edit for edit in given]
    for number, edit in enumerate(plain, start=1):
        if not isinstance(edit, Mapping) or not set(edit) <= set(Edit.FIELDS) or edit.get("do") not in KINDS:
            allowed = f"an object with do (one of {', '.join(KINDS)}) and its rows, to, at or is_labeled"
            raise DataError(f"edit {number} must be {allowed}, got {quoted(edit)}")
    _check_total(plain, "at", 2 * MOST_PAINTED, f"edits may paint and move at most {MOST_PAINTED:,} points", 2)
    _check_total(plain, "rows", MOST_ROWS, f"edits may name at most {MOST_ROWS:,} rows", 1)
    return tuple(_edit(edit, f"edit {number}") for number, edit in enumerate(plain, start=1))


def _counted(given: object) -> str:
    return f"{len(given):,} edits" if isinstance(given, list | tuple) else quoted(given)


def _check_total(plain: Sequence[Mapping[str, Any]], field: str, most: int, said: str, each: int) -> None:
    total = sum(len(edit[field]) for edit in plain if isinstance(edit.get(field), list | tuple))
    if total > most:
        raise DataError(f"{said}, got {math.ceil(total / each):,}; undo some of them")


def _edit(given: Mapping[str, Any], place: str) -> Edit:
    do, to, at = given["do"], given.get("to"), _coordinates(given.get("at", ()), place)
    rows, is_labeled = _rows(given.get("rows", ()), place), given.get("is_labeled", False)
    if to is not None and not _is_whole(to, LARGEST_CLASS):
        raise DataError(
            f"{place}, to must be a class, a whole number between 0 and {LARGEST_CLASS}, or null, got {quoted(to)}"
        )
    if not isinstance(is_labeled, bool) or (is_labeled and (do != PAINT or to is None)):
        raise DataError(
            f"{place}, is_labeled must be true or false and goes with paint and a class, got {quoted(given)}"
        )
    _check_parts(do, rows, at, place)
    return Edit(do, rows, None if to is None else int(to), at, is_labeled)


def _check_parts(do: str, rows: tuple[int, ...] | str, at: tuple[float, ...], place: str) -> None:
    """Raise an error if an edit lacks the rows or coordinates that it needs, or has others."""
    n_rows, wanted = -1 if isinstance(rows, str) else len(rows), {PAIR: 2, PAINT: 0, MOVE: 1}.get(do)
    if n_rows == 0 and wanted is None:
        raise DataError(f"{place}, rows must be a list of rows, or 'all', to {do}, got no rows")
    if wanted is not None and (n_rows != wanted or len(set(rows)) != wanted):
        named = {0: "no row", 1: "one row", 2: "two rows that differ"}[wanted]
        raise DataError(f"{place} must name {named} to {do}, got {quoted(rows)}")
    if len(at) % 2 or bool(at) != (do in (PAINT, MOVE)) or (do == MOVE and len(at) != 2):
        named = {PAINT: "an x and a y for each painted point", MOVE: "one x and one y"}.get(do, f"left out to {do}")
        raise DataError(f"{place}, at must be {named}, got {len(at)} numbers")


def _rows(given: object, place: str) -> tuple[int, ...] | str:
    if given == ALL:
        return ALL
    if isinstance(given, list | tuple):
        if all(_is_whole(row, LARGEST_ROW) for row in given):
            return tuple(given)
        given = next(row for row in given if not _is_whole(row, LARGEST_ROW))
    raise DataError(f"{place}, rows must be whole numbers from 0 in a list, or 'all', got {quoted(given)}")


def _coordinates(given: object, place: str) -> tuple[float, ...]:
    if isinstance(given, list | tuple):
        wrong = [value for value in given if type(value) not in (int, float) or not _is_finite(value)]
        if not wrong:
            return tuple(float(value) + 0.0 for value in given)  # zero has one sign, so equal edits have equal text
        given = wrong[0]
    raise DataError(f"{place}, at must be finite numbers in a list, got {quoted(given)}")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number larger than all floats
        return False


def _is_whole(value: object, high: int) -> bool:
    return type(value) is int and 0 <= value <= high
