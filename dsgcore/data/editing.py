"""Edits of a split by hand, replayed one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.edits import ALL, LABEL, MOVE, PAINT, PAIR, Edit
from dsgcore.data.splits import Split
from dsgcore.solver.problem import UNLABELED

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
    else:
        _check_classes(split.y_train, names, "labeled", "label one")
    _check_classes(split.y_test, names, "test", "paint more points of that class without a label")


def _check_classes(y: NDArray[np.int64], names: Sequence[str], kind: str, remedy: str) -> None:
    missing = [name for code, name in enumerate(names) if not np.any(y == code)]
    if missing:
        message = (
            f"each class must have at least one {kind} point, got none of {', '.join(map(quoted, missing))}: {remedy}"
        )
        next_step = f"The run starts when each class has a {kind} point. Still missing: {', '.join(missing)}."
        raise IncompleteDataError(message, next_step)


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
        if edit.to is not None and edit.to >= len(self.before.class_names):
            allowed = f"a class from 0 to {len(self.before.class_names) - 1}"
            raise DataError(f"{place}, to must be {allowed}, got {edit.to}")
        if edit.do in (PAINT, MOVE):
            self._check_positions(edit, place)
        if edit.do == PAINT:
            self._paint(edit, place)
        elif edit.do == PAIR:
            self._pair(self._points(edit, place), place)
        elif edit.do == LABEL:
            self._label(self._points(edit, place), edit.to, place)
        elif edit.do == MOVE:
            self.X[self._points(edit, place)] = edit.at
        else:
            self.is_there[self._points(edit, place)] = False

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

    def _label(self, places: NDArray[np.intp], to: int | None, place: str) -> None:
        if self.labels == PAIRS:
            if to is not None:
                raise DataError(f"{place}, to must be null, because points have pairs in this setting, got {to}")
            self._dissolve(places)
        else:
            self.seen[places] = UNLABELED if to is None else to

    def _dissolve(self, places: NDArray[np.intp]) -> None:
        """Take the pairs of these points apart."""
        ids = self.seen[places]
        self.seen[np.isin(self.seen, ids[ids != UNLABELED])] = UNLABELED

    def _pair(self, places: NDArray[np.intp], place: str) -> None:
        if self.labels != PAIRS:
            raise DataError(f"{place} makes a pair, but points have classes in this setting: label them")
        self._dissolve(places)
        self.seen[places] = self.seen.max() + 1

    def _paint(self, edit: Edit, place: str) -> None:
        if edit.is_labeled and self.labels == PAIRS:
            raise DataError(f"{place}, is_labeled must be false, because points have pairs in this setting")
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
        else:
            self._hold_out(new, edit.to)

    def _hold_out(self, new: NDArray[np.intp], to: int) -> None:
        """Make test points of a share of painted points, evenly among all painted points of their class."""
        counts = self.n_hidden[to] + np.arange(len(new) + 1)
        self.is_test[new] = np.diff(np.floor(counts * self.test_share)) > 0
        self.n_hidden[to] += len(new)

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
        seen = self._numbered(train) if self.labels == PAIRS else self.seen[train]
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

    def _numbered(self, train: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the pairs of which both points are left, numbered from 0."""
        seen = self.seen[train]
        ids, counts = np.unique(seen[seen != UNLABELED], return_counts=True)
        whole = ids[counts == 2]
        return np.where(np.isin(seen, whole), np.searchsorted(whole, seen), UNLABELED)
