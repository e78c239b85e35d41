"""Edits of a split by hand, as plain data: labels, pairs, painted, moved and erased points; replayed one after another."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from dsgcore.core.parameters import counted, quoted
from dsgcore.core.sampling import UNLABELED
from dsgcore.core.threads import single_threaded_openmp
from dsgcore.data.datasets import DataError, check_whole, keyed_generator
from dsgcore.data.splits import Split

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
        got = f"{len(given):,} edits" if isinstance(given, list | tuple) else quoted(given)
        raise DataError(f"edits must be a list of at most {MOST_EDITS:,} edits, got {got}")
    plain = [edit.to_dict() if isinstance(edit, Edit) else edit for edit in given]
    for number, edit in enumerate(plain, start=1):
        if not isinstance(edit, Mapping) or not set(edit) <= set(Edit.FIELDS) or edit.get("do") not in KINDS:
            allowed = f"an object with do (one of {', '.join(KINDS)}) and its rows, to, at or is_labeled"
            raise DataError(f"edit {number} must be {allowed}, got {quoted(edit)}")
    for field, each, most, said in (
        ("at", 2, MOST_PAINTED, f"edits may paint and move at most {MOST_PAINTED:,} points"),
        ("rows", 1, MOST_ROWS, f"edits may name at most {MOST_ROWS:,} rows"),
    ):
        total = sum(len(edit[field]) for edit in plain if _is_list(edit.get(field)))
        if total > each * most:
            raise DataError(f"{said}, got {math.ceil(total / each):,}; undo some of them")
    return tuple(_edit(edit, f"edit {number}") for number, edit in enumerate(plain, start=1))


def _edit(given: Mapping[str, Any], place: str) -> Edit:
    """Return an edit; raise an error if it lacks the rows or coordinates that it needs, or has others."""

    def refuse(said: str, got: object) -> DataError:
        return DataError(f"{place}{said}, got {quoted(got)}")

    do, rows, to, at = given["do"], given.get("rows", ()), given.get("to"), given.get("at", ())
    is_labeled, is_all = given.get("is_labeled", False), rows == ALL
    if not is_all and (not _is_list(rows) or not all(_is_whole(row, LARGEST_ROW) for row in rows)):
        wrong = [row for row in rows if not _is_whole(row, LARGEST_ROW)] if _is_list(rows) else [rows]
        raise refuse(", rows must be whole numbers from 0 in a list, or 'all'", wrong[0])
    # A whole number larger than all floats has no float.
    wrong = [v for v in at if type(v) not in (int, float) or not abs(v) <= sys.float_info.max] if _is_list(at) else [at]
    if wrong:
        raise refuse(", at must be finite numbers in a list", wrong[0])
    if to is not None and not _is_whole(to, LARGEST_CLASS):
        raise refuse(f", to must be a class, a whole number between 0 and {LARGEST_CLASS}, or null", to)
    if not isinstance(is_labeled, bool) or (is_labeled and (do != PAINT or to is None)):
        raise refuse(", is_labeled must be true or false and goes with paint and a class", given)
    n_rows, wanted = -1 if is_all else len(rows), {PAIR: 2, PAINT: 0, MOVE: 1}.get(do)
    if n_rows == 0 and wanted is None:
        raise DataError(f"{place}, rows must be a list of rows, or 'all', to {do}, got no rows")
    if wanted is not None and (n_rows != wanted or len(set(rows)) != wanted):
        raise refuse(f" must name {('no row', 'one row', 'two rows that differ')[wanted]} to {do}", rows)
    if len(at) % 2 or bool(at) != (do in (PAINT, MOVE)) or (do == MOVE and len(at) != 2):
        named = {PAINT: "an x and a y for each painted point", MOVE: "one x and one y"}.get(do, f"left out to {do}")
        raise DataError(f"{place}, at must be {named}, got {counted(len(at), 'number')}")
    numbers = tuple(float(value) + 0.0 for value in at)  # zero has one sign, so equal edits have equal text
    return Edit(do, ALL if is_all else tuple(rows), None if to is None else int(to), numbers, is_labeled)


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _is_whole(value: object, high: int) -> bool:
    return type(value) is int and 0 <= value <= high


# --- the edited split


PAIRS = "pairs"  # the kind of labels that are pairs
REACH = 1.5  # a point stays within so many widths of the map from its middle


class IncompleteDataError(DataError):
    """Edited data from which nothing can be learned yet. The message says what is missing, and `next_step` what to do first."""

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.next_step = next_step or message


def edited(split: Split, edits: Sequence[Edit], *, labels: str, test_share: float) -> Split:
    """Return a split after edits; without any, the split itself.

    Parameters
    ----------
    split : Split
    edits : sequence of Edit
    labels : str
        The setting's kind of labels; for "pairs", `y_train` holds pair ids.
    test_share : float in (0, 1)
        Share of the painted points of each class, if they are not labeled, that become test points.

    Returns
    -------
    Split
        The points that are left in their order, then the painted ones. `before` is the split without edits.

    Raises
    ------
    DataError
        If an edit names a point or a class that is not there, or does not suit the data.
    """
    if not edits:
        return split
    table = _Table(split, edits, labels, test_share)
    for number, edit in enumerate(edits, start=1):
        table.do(edit, f"edit {number}")
    return table.split()


def check_complete(split: Split, *, labels: str) -> None:
    """Raise `IncompleteDataError` if a class of an edited split has no label or no test point, or if there is no pair."""
    names = split.class_names
    if labels == PAIRS:
        if not len(split.labeled):
            raise IncompleteDataError(
                "at least one similar pair must be there: choose two points for a pair",
                "The run starts when there is a pair. Click two points to make them one.",
            )
        if len(split.labeled) == len(split.y_train):
            raise IncompleteDataError("some points must be in no pair: paint some, or take a pair apart")
    of_test = split.y_test, "test", "paint more points of that class without a label"
    for y, kind, remedy in (*([] if labels == PAIRS else [(split.y_train, "labeled", "label one")]), of_test):
        if missing := [name for code, name in enumerate(names) if not np.any(y == code)]:
            said = f"each class must have at least one {kind} point, got none of {', '.join(map(quoted, missing))}"
            next_step = f"The run starts when each class has a {kind} point. Still missing: {', '.join(missing)}."
            raise IncompleteDataError(f"{said}: {remedy}", next_step)


class _Table:
    """The points of a split and of all its edits, each with its row, its label, and its part of the split."""

    def __init__(self, split: Split, edits: Sequence[Edit], labels: str, test_share: float) -> None:
        n_train, n_test = len(split.X_train), len(split.X_test)
        n_painted = sum(len(edit.at) // 2 for edit in edits if edit.do == PAINT)
        self.before, self.labels, self.test_share = split, labels, test_share
        self.rows = np.concatenate([split.train_rows, split.test_rows, np.zeros(n_painted, dtype=np.int64)])
        first = split.n_rows
        self.rows[n_train + n_test :] = first + np.arange(n_painted)
        self.place = np.full(first + n_painted, -1)
        self.place[self.rows[: n_train + n_test]] = np.arange(n_train + n_test)
        self.X = np.zeros((len(self.rows), split.X_train.shape[1]), dtype=np.float32)
        self.X[: n_train + n_test] = np.concatenate([split.X_train, split.X_test])
        self.seen = np.full(len(self.rows), UNLABELED)
        self.seen[:n_train] = split.y_train
        self.hidden = np.concatenate([split.y_hidden, split.y_test, np.full(n_painted, UNLABELED)])
        self.is_there = np.arange(len(self.rows)) < n_train + n_test
        self.is_test = self.is_there & (np.arange(len(self.rows)) >= n_train)
        self.n = n_train + n_test
        self.n_hidden = np.zeros(len(split.class_names), dtype=np.int64)  # painted points of each class without a label

    def do(self, edit: Edit, place: str) -> None:
        """Carry out one edit."""
        are_pairs = self.labels == PAIRS
        if edit.to is not None and edit.to >= len(self.before.class_names):
            allowed = f"a class from 0 to {len(self.before.class_names) - 1}"
            raise DataError(f"{place}, to must be {allowed}, got {edit.to}")
        if edit.do in (PAINT, MOVE):
            self._check_positions(edit, place)
        if edit.do == PAINT:
            if edit.is_labeled and are_pairs:
                raise DataError(f"{place}, is_labeled must be false, because points have pairs in this setting")
            self._paint(edit)
            return
        points = self._points(edit, place)
        if edit.do == MOVE:
            self.X[points] = edit.at
        elif edit.do == ERASE:
            self.is_there[points] = False
        elif edit.do == PAIR and not are_pairs:
            raise DataError(f"{place} makes a pair, but points have classes in this setting: label them")
        elif are_pairs:
            if edit.do == LABEL and edit.to is not None:
                raise DataError(f"{place}, to must be null, because points have pairs in this setting, got {edit.to}")
            ids = self.seen[points]  # the pairs of these points are taken apart
            self.seen[np.isin(self.seen, ids[ids != UNLABELED])] = UNLABELED
            if edit.do == PAIR:
                self.seen[points] = self.seen.max() + 1
        else:
            self.seen[points] = UNLABELED if edit.to is None else edit.to

    def _points(self, edit: Edit, place: str) -> NDArray[np.intp]:
        """Return the places of the points that an edit names. Only training points have labels."""
        is_one = self.is_there & ~self.is_test if edit.do in (LABEL, PAIR) else self.is_there
        if edit.rows == ALL:
            return np.flatnonzero(is_one)
        rows = np.array(edit.rows, dtype=np.int64)
        known = rows < len(self.place)
        places = np.where(known, self.place[np.where(known, rows, 0)], -1)
        wrong = np.flatnonzero((places < 0) | ~is_one[places])
        if len(wrong):
            kind = "training points" if edit.do in (LABEL, PAIR) else "points"
            raise DataError(f"{place} must name {kind} that are there, got row {rows[wrong[0]]}")
        return places

    def _paint(self, edit: Edit) -> None:
        new = np.arange(self.n, self.n + len(edit.at) // 2)
        self.n += len(new)
        self.place[self.rows[new]] = new
        self.X[new] = np.array(edit.at, dtype=np.float64).reshape(-1, 2)
        self.is_there[new] = True
        if edit.to is None:
            return
        self.hidden[new] = edit.to
        if edit.is_labeled:
            self.seen[new] = edit.to
            return
        # A share becomes test points, evenly among all painted points of their class.
        counts = self.n_hidden[edit.to] + np.arange(len(new) + 1)
        self.is_test[new] = np.diff(np.floor(counts * self.test_share)) > 0
        self.n_hidden[edit.to] += len(new)

    def _check_positions(self, edit: Edit, place: str) -> None:
        X = self.before.X_train
        if X.shape[1] != 2:
            raise DataError(
                f"{place} must label, pair or erase: only data of two columns take new positions, got {X.shape[1]}"
            )
        low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
        middle, reach = (low + high) / 2, REACH * max(float((high - low).max()), 1e-6)
        at = np.array(edit.at).reshape(-1, 2)
        outside = np.flatnonzero((np.abs(at - middle) > reach).any(axis=1))
        if len(outside):
            ends = ", ".join(
                f"{name} between {m - reach:.3g} and {m + reach:.3g}" for name, m in zip("xy", middle, strict=True)
            )
            raise DataError(f"{place}, at must stay near the data, {ends}, got {tuple(at[outside[0]].tolist())}")

    def split(self) -> Split:
        """Return the points that are there now as a split."""
        train = np.flatnonzero(self.is_there & ~self.is_test)
        test = np.flatnonzero(self.is_there & self.is_test)
        seen = self.seen[train]
        if self.labels == PAIRS:  # those of which both points are left, numbered from 0
            ids, counts = np.unique(seen[seen != UNLABELED], return_counts=True)
            whole = ids[counts == 2]
            seen = np.where(np.isin(seen, whole), np.searchsorted(whole, seen), UNLABELED)
        return replace(
            self.before,
            X_train=self.X[train],
            y_train=seen,
            y_hidden=self.hidden[train],
            X_test=self.X[test],
            y_test=self.hidden[test],
            train_rows=self.rows[train],
            test_rows=self.rows[test],
            before=self.before,
        )


# --- edits that a lesson starts with or that reach its goal, for the points of any seed


NO_LABELS = (Edit(LABEL, ALL),)
# Points of each class on the drawn sheet, without and with a label.
N_PAINTED, N_LABELED = 250, 10
MOST_CENTRES = 50  # labels at centres: their search takes time and memory with each


def labels_near(split: Split, places: NDArray) -> tuple[Edit, ...]:
    """Return edits that label the training point nearest to each place, and take all other labels away."""
    return (*NO_LABELS, *_labels(split, np.unique(_nearest(split, places))))


def one_wrong(split: Split, n_labeled: int) -> tuple[Edit, ...]:
    """Return edits that label the centres, with a wrong label in the middle of the group that is farthest from the last one."""
    chosen = _centres(split, n_labeled)
    X = split.X_train[chosen]
    wrong = chosen[int(np.argmax(np.sum((X[:-1] - X[-1]) ** 2, axis=1)))]
    to = (int(split.y_hidden[wrong]) + 1) % len(split.class_names)
    return (*NO_LABELS, *_labels(split, chosen), Edit(LABEL, (int(split.train_rows[wrong]),), to))


def misleading_rows(_split: Split, _n_labeled: int) -> tuple[Edit, ...]:
    """Return edits that draw a sheet: the classes are left and right, but the gap lies between above and below."""
    rng, halves = keyed_generator(0, "edits/rows"), []
    for to, is_labeled in ((0, False), (0, True), (1, False), (1, True)):
        n = N_LABELED if is_labeled else N_PAINTED
        across = 0.5 * (1 - np.sqrt(rng.uniform(size=n)))  # densest at the other class
        x = 0.5 + np.where(to, across, -across) + 0.03 * rng.standard_normal(n)
        y = rng.choice([0.25, 0.75], size=n) + 0.03 * rng.standard_normal(n)
        at = np.stack([x, y], axis=1).round(3).ravel().tolist()
        halves.append(Edit(PAINT, at=tuple(at), to=to, is_labeled=is_labeled))
    return (Edit(ERASE, ALL), *halves)


EDITS = "edits"  # the name in a lesson's values
AS_GENERATED = "as generated"
UNMARKED = "no labels"  # the choice with which a reader places all labels
DRAWN = ("misleading rows",)  # the choices that draw other points
CHOICES: dict[str, Callable[[Split, int], tuple[Edit, ...]]] = {
    AS_GENERATED: lambda _split, _n_labeled: (),
    "empty sheet": lambda _split, _n_labeled: (Edit(ERASE, ALL),),
    UNMARKED: lambda _split, _n_labeled: NO_LABELS,
    "centres": lambda split, n_labeled: (*NO_LABELS, *_labels(split, _centres(split, n_labeled))),
    "one wrong": one_wrong,
    "misleading rows": misleading_rows,
}


def _centres(split: Split, n_labeled: int) -> NDArray[np.intp]:
    """Return the known training points nearest to the centres of all but one group, and the point farthest from them."""
    from sklearn.cluster import KMeans  # slow to import, and only lessons need it

    check_whole("n_labeled", n_labeled, 2, MOST_CENTRES, "where a lesson labels the centres of groups")
    with single_threaded_openmp():
        centres = KMeans(n_labeled - 1, n_init=5, random_state=0).fit(split.X_train).cluster_centers_
    known = np.flatnonzero(split.y_hidden != UNLABELED)
    chosen = _nearest(split, centres)
    distances = cdist(split.X_train[known], split.X_train[chosen], "sqeuclidean")
    return np.append(chosen, known[np.argmax(distances.min(axis=1))])


def _nearest(split: Split, places: NDArray) -> NDArray[np.intp]:
    """Return the training point nearest to each place, of those whose class is known."""
    known = np.flatnonzero(split.y_hidden != UNLABELED)
    return known[np.argmin(cdist(places, split.X_train[known], "sqeuclidean"), axis=1)]


def _labels(split: Split, chosen: NDArray[np.intp]) -> list[Edit]:
    return [Edit(LABEL, (int(split.train_rows[i]),), int(split.y_hidden[i])) for i in chosen]
