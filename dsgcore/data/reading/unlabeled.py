"""Rules for unlabeled rows: one for estimators, and one for files, where -1 may be a class."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import ParameterError, quoted
from dsgcore.data.reading.label_kinds import check_exact, checked, plain, present
from dsgcore.data.reading.names import as_number, listed, written
from dsgcore.solver.problem import UNLABELED

# Values of `unlabeled` that are not labels: the rule for files, or that every label is a class.
AUTO, NONE = "auto", "none"
MEANING = "“not labeled”"  # its name in messages


class UnlabeledWarning(UserWarning):
    """Warning that a label was read as -1, perhaps by mistake."""


def unlabeled_among(
    names: Iterable[str], said: str | None = AUTO, *, classes: Collection[str] = (), top: int | None = None
) -> frozenset[str]:
    """Return the labels of a file that mean "not labeled".

    Parameters
    ----------
    names : iterable of str
        The different labels, as text.
    said : str or None
        A label, `AUTO`, or None or `NONE` if every label is a class. `AUTO` takes -1 if there are two or more other
        labels, unless one of them is negative, too.
    classes : collection of str
        Labels that are classes in any case.
    top : int, optional
        The largest number of the column's unsigned type: -1 becomes this number in it. It counts as -1, unless the
        number before it is a label, too.

    Returns
    -------
    frozenset of str
    """
    known = frozenset(names)
    if said is None or said == NONE:
        return frozenset()
    if said != AUTO:
        number = _number(said)
        return frozenset(name for name in known if name == said or (number is not None and _number(name) == number))
    wrapped = known & {str(top)} if top is not None and str(top - 1) not in known else frozenset()
    minus = wrapped | {name for name in known if _number(name) == UNLABELED}
    others = known - minus
    is_class = len(others) < 2 or not minus.isdisjoint(classes) or any((_number(name) or 0.0) < 0 for name in others)
    return frozenset() if is_class else minus


def about_unlabeled(hidden: Collection[str], said: object = AUTO) -> tuple[str, ...]:
    """Return sentences that say which labels mean "not labeled", and how to change that."""
    if not hidden:
        is_sought = said not in (AUTO, NONE, None)
        return (f"No row has the label {quoted(said)}, which would mean {MEANING}.",) if is_sought else ()
    if said != AUTO:
        return (f"The label {listed(sorted(hidden))} means {MEANING}.",)
    return (
        f"The label {listed(sorted(hidden))} beside other labels is taken for {MEANING}: unlabeled=none makes it a class.",
    )


def _number(text: str) -> float | None:
    return as_number(text.strip().replace("\N{MINUS SIGN}", "-"))


def top_of(column: Any) -> int | None:
    """Return the largest number of an unsigned column or array type; None for other types."""
    dtype = getattr(column.dtype, "numpy_dtype", column.dtype)  # pandas' own types for numbers that may be missing
    return int(np.iinfo(dtype).max) if isinstance(dtype, np.dtype) and dtype.kind == "u" else None


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of n rows, some of which are unlabeled.

    Attributes
    ----------
    values : ndarray of shape (n_labeled,)
        The labels of the labeled rows.
    is_labeled : ndarray of shape (n,), bool
    order : ndarray or None
        The classes in their order, if the labels were pandas' ordered categories.
    """

    values: NDArray
    is_labeled: NDArray[np.bool_]
    order: NDArray | None = None

    def __len__(self) -> int:
        return len(self.is_labeled)

    def without(self, is_unlabeled: NDArray[np.bool_]) -> Labels:
        """Return the labels without those that the mask, of shape (n_labeled,), marks."""
        if not is_unlabeled.any():
            return self
        is_labeled = self.is_labeled.copy()
        is_labeled[is_labeled] = ~is_unlabeled
        values = self.values[~is_unlabeled]
        order = None if self.order is None else self.order[np.isin(self.order, plain(values))]
        return Labels(values, is_labeled, order)

    def plain(self) -> Labels:
        """Return the same labels as truth values, numbers, dates or text."""
        return Labels(plain(self.values), self.is_labeled, self.order)

    def checked(self) -> Labels:
        """Return the same labels; raise an error if they cannot be labels of classes."""
        return Labels(checked(self.values), self.is_labeled, self.order)

    def array(self) -> NDArray:
        """Return the labels as an array of shape (n,), -1 for unlabeled rows; a masked array if -1 is a class."""
        own = plain(self.values)
        has_minus_one = bool(is_minus_one(own).any())
        if len(own) == len(self) and not has_minus_one:
            return own
        fits = own.dtype.kind in "if" or (own.dtype.kind == "u" and (not len(own) or own.max() < 2**63))
        found = np.full(
            len(self), UNLABELED, dtype=(own.dtype if own.dtype.kind != "u" else np.int64) if fits else object
        )
        found[self.is_labeled] = own
        return np.ma.MaskedArray(found, ~self.is_labeled) if has_minus_one else found


def labels_given(y: Any, *, has_minus_one: bool = False) -> Labels:
    """Return labels by the rule of estimators: missing labels and -1 (as a number or as text) are unlabeled.

    Missing labels are None, NaN, NaT, pandas.NA and empty text. In a masked array only the mask marks unlabeled rows:
    -1 is a class there, as with `has_minus_one`. In an unsigned type -1 becomes the largest number. `unlabeled_among`
    says when that number counts as -1, with a warning. Raises `DataError` for values that cannot be labels of classes.
    """
    if isinstance(y, Labels):
        return y
    if isinstance(y, str):
        raise ParameterError(
            f"y must hold a label for each row, got the text {quoted(y)}: give the column itself, and X without it "
            "(a column's name is for the path of a file and for Dask)"
        )
    if has_minus_one or isinstance(y, np.ma.MaskedArray):
        return Labels(*present(y)).plain().checked()
    return numbers_given(y).checked()


def numbers_given(y: Any) -> Labels:
    """Return the result of `labels_given` for values that need not be labels of classes: every -1 is unlabeled."""
    found = Labels(*present(y))
    return found.without(is_minus_one(found.values) | _wrapped(found.values)).plain()


def labels_of_column(y: Any, unlabeled: object = AUTO) -> tuple[Labels, frozenset[str]]:
    """Return a column's labels by the rule for files, and the labels that mean "not labeled" (`unlabeled_among`)."""
    found = Labels(*present(y))
    values = pd.unique(found.values)  # not their codes, which would take eight bytes a row
    if all(number.is_integer() for number in values if isinstance(number, float)):
        check_exact(np.asarray(values), "the labels")
    names = [written(value) for value in values]
    hidden = unlabeled_among(names, None if unlabeled is None else written(unlabeled), top=top_of(found.values))
    is_hidden = np.zeros(len(found.values), dtype=bool)
    for value, name in zip(values, names, strict=True):
        if name in hidden:
            is_hidden |= np.asarray(found.values == value)
    return found.without(is_hidden), hidden


def is_minus_one(values: NDArray) -> NDArray[np.bool_]:
    """Mark the labels that are -1, as a number or as text."""
    if values.dtype.kind in "if":
        return values == UNLABELED
    if values.dtype.kind == "U":
        names = np.unique(values)
        return np.isin(values, [name for name in names if _number(str(name)) == UNLABELED])
    if values.dtype.kind == "O":
        return np.array([_is_minus_one(value) for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _is_minus_one(value: object) -> bool:
    if isinstance(value, str | bytes):
        return _number(written(value)) == UNLABELED
    return isinstance(value, Real | Decimal) and value == UNLABELED


def _wrapped(values: NDArray) -> NDArray[np.bool_]:
    """Mark the number that -1 becomes in an unsigned type, and warn if it occurs."""
    top = top_of(values)
    is_top = np.zeros(len(values), dtype=bool) if top is None else values == top
    if not is_top.any() or not unlabeled_among(map(str, np.unique(values)), top=top):
        return np.zeros(len(values), dtype=bool)
    warnings.warn(
        f"y is of the type {values.dtype} and holds {top}, which -1 becomes in that type: these points are taken for unlabeled. "
        f"If {top} is a class, give y.astype(object)",
        UnlabeledWarning,
        stacklevel=3,
    )
    return is_top
