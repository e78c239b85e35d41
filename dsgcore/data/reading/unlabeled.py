"""Labels in memory, and the rules for unlabeled rows: one for estimators, and one for files, where -1 may be a class."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from dsgcore.core.parameters import ParameterError, quoted
from dsgcore.core.sampling import UNLABELED
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.binary import exact
from dsgcore.data.reading.cells import INEXACT, UNDECODED, as_number, listed, written
from dsgcore.data.reading.recipe import AUTO, NONE

MEANING = "“not labeled”"  # its name in messages
# The replacement for missing labels in an array of text.
_MISSING = ("", "nan", "NaN", "NaT", "<NA>")
# A label that says by itself that it is none.
_WORD = re.compile(r"(un|not[ _-]?|no[ _-]?)label(l?ed)?")
# Codes of questionnaires and of genetics for no answer.
_CODE = re.compile(r"-[789]|-?(9{2,7}|88|77)")
# A label that may be none, or a class of its own. "none" is left out, because it is often the lowest class.
_DOUBTFUL = re.compile(
    r"unknown|undefined|unspecified|missing|pending|todo|tb[ad]|n/?[ad]|not (known|available|assigned)|[?.*-]{1,9}|\.[a-z]"
)


def unlabeled_among(names: Iterable[str], said: str | None = AUTO, *, classes: Collection[str] = ()) -> frozenset[str]:
    """Return the labels of a file, as text, that mean "not labeled"; none of `classes` does.

    If `said` is a label, it does. `AUTO` takes -1 if there are two or more other labels, unless one of them is negative, too;
    and words such as "unlabeled". If it is None or `NONE`, every label is a class.
    """
    known = frozenset(names)
    if said is None or said == NONE:
        return frozenset()
    if said != AUTO:
        number = number_of_label(said)
        return frozenset(
            name for name in known if name == said or (number is not None and number_of_label(name) == number)
        )
    words = {name for name in known if _WORD.fullmatch(name.strip().lower())} - set(classes)
    rest = known - words
    minus = {name for name in rest if number_of_label(name) == UNLABELED}
    others = rest - minus
    is_class = (
        len(others) < 2 or not minus.isdisjoint(classes) or any((number_of_label(name) or 0.0) < 0 for name in others)
    )
    return frozenset(() if is_class else minus) | frozenset(words if len(rest) > 1 else ())


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


def about_doubtful(names: Collection[str], said: object = AUTO, *, classes: Collection[str] = ()) -> tuple[str, ...]:
    """Return a sentence about each class, of three or more, that may mean "not labeled"; none of `classes` does."""
    codes = {name for name in names if _CODE.fullmatch(name)}
    others = {*names} - codes
    numbers = sorted(number for name in others if (number := number_of_label(name)) is not None)
    step = max(np.diff(numbers), default=np.inf)  # of 0 to 99, and of 11, 22, .., the label 99 is one more
    if not others or any(abs(int(code) - number) <= step for code in codes for number in numbers):
        codes = set()
    doubtful = [name for name in names if (is_doubtful(name) or name in codes) and name not in classes]
    return tuple(
        f"The label {quoted(name)} is taken for a class: unlabeled={name} makes its rows {MEANING}."
        for name in doubtful * (said == AUTO and len(names) > 2)
    )


def is_doubtful(name: str) -> bool:
    """Return True for a label that may mean "not labeled", or a class of its own."""
    return _DOUBTFUL.fullmatch(name.strip().lower()) is not None


def number_of_label(text: str) -> float | None:
    """Return the number that a label is, or None: with blanks around it, or the minus sign of typesetters."""
    return as_number(text.strip().replace("\N{MINUS SIGN}", "-"))


class Labels(NamedTuple):
    """Labels of the labeled rows; a mask of all n rows; and the classes in their order, if that was declared."""

    values: NDArray
    is_labeled: NDArray[np.bool_]
    order: NDArray | None = None


def labels_given(y: Any, *, has_minus_one: bool = False) -> Labels:
    """Return labels by the rule of estimators: missing labels and -1 (as a number or as text) are unlabeled.

    Missing labels are None, NaN, NaT, pandas.NA and empty text. In a masked array only the mask marks unlabeled rows:
    -1 is a class there, as with `has_minus_one`. Raises `DataError` for values that cannot be labels of classes.
    """
    if isinstance(y, str):
        raise ParameterError(
            f"y must hold a label for each row, got the text {quoted(y)}: give the column itself, and X without it "
            "(a column's name is for the path of a file and for Dask)"
        )
    found = numbers_given(y, has_minus_one=has_minus_one or isinstance(y, np.ma.MaskedArray))
    values, kind, wrong = found.values, "", None
    if values.dtype.kind == "f":
        for name, is_wrong in (("infinite", ~np.isfinite(values)), ("continuous", values != np.floor(values))):
            if not kind and is_wrong.any():
                kind, wrong = name, values[int(np.argmax(is_wrong))].item()
    elif values.dtype.kind in "cV" or (values.dtype.kind == "O" and not all(isinstance(v, int) for v in values)):
        kind = "unknown"
        wrong = next((value for value in values if not isinstance(value, _TEXT_OR_NUMBER)), values.dtype.name)
    if kind:
        raise DataError(
            f"Unknown label type: {kind}. y must hold classes (whole numbers, text, or True and False), and -1 for unlabeled "
            f"points, got {quoted(wrong)}"
        )
    check_exact(values, "y")
    return found


def is_minus_one(values: NDArray) -> NDArray[np.bool_]:
    """Mark the labels that are -1, as a number or as text."""
    if values.dtype.kind in "if":
        return values == UNLABELED
    if values.dtype.kind == "U":
        return np.isin(values, [name for name in np.unique(values) if number_of_label(str(name)) == UNLABELED])
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    are_minus_one = (isinstance(v, _TEXT_OR_NUMBER) and number_of_label(written(v)) == UNLABELED for v in values)
    return np.fromiter(are_minus_one, dtype=bool, count=len(values))


# --- kinds of labels


def numbers_given(y: Any, *, has_minus_one: bool = False) -> Labels:
    """Return the result of `labels_given` for values that need not be labels of classes.

    Every -1 is unlabeled unless `has_minus_one`. pandas' ordered categories are in their order.
    """
    if y is None:
        raise DataError("fit requires y to be passed, but the target y is None: give labels, and -1 for unlabeled rows")
    categories = None
    if hasattr(y, "to_list") and hasattr(y, "to_arrow"):
        with suppress(ImportError):  # Polars works without Arrow's package
            y = exact(y.to_arrow())
    elif hasattr(y, "to_pylist") and hasattr(y, "type"):
        y = exact(y)
    if isinstance(y, pd.DataFrame):
        column_or_1d(np.empty(y.shape, dtype=np.int8), warn=True)  # refuses several columns, and warns about one
        y = y.iloc[:, 0]
    if isinstance(y, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        column = pd.Series(y).reset_index(drop=True)
        is_labeled = column.notna().to_numpy(dtype=bool, copy=True)
        values = column[is_labeled].to_numpy()
        if getattr(column.dtype, "ordered", False):
            categories = column.dtype.categories
    else:
        given = y.to_list() if hasattr(y, "to_list") else y
        # Whole numbers do not become floats, and missing labels do not become text.
        array = np.asarray(given, dtype=object) if isinstance(given, list | tuple) else np.asarray(given)
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8", UNDECODED)
        array = column_or_1d(array.astype(object) if array.dtype.kind == "T" else array, warn=True)
        is_labeled = ~np.ravel(np.ma.getmaskarray(y)) if isinstance(y, np.ma.MaskedArray) else np.ones(len(array), bool)
        values = array[is_labeled]
    is_missing = _is_missing(values)  # also as text
    is_labeled[is_labeled] = ~is_missing
    values = values[~is_missing]
    # Whole numbers that pandas stored as floats because others are missing.
    is_whole = len(values) < len(is_labeled) and values.dtype.kind == "f" and _are_exact(values)
    values = values.astype(np.int64) if is_whole else values
    if not has_minus_one:
        is_labeled[is_labeled] = is_kept = ~is_minus_one(values)
        values = values[is_kept]
    used = set() if categories is None else set(values)
    order = None if categories is None else plain(np.array([one for one in categories if one in used], dtype=object))
    return Labels(plain(values), is_labeled, order)


def _are_exact(floats: NDArray) -> bool:
    """Return True if floats are whole numbers that no other whole number can round to."""
    return bool(((np.abs(floats.astype(float)) < _inexact(floats.dtype)) & (floats == np.floor(floats))).all())


def _inexact(dtype: np.dtype) -> float:
    """Return the number from which on floats of this type, or of double precision, skip whole numbers."""
    return min(2.0 ** (np.finfo(dtype).nmant + 1), INEXACT)


def _is_missing(array: NDArray) -> NDArray[np.bool_]:
    if array.dtype.kind == "U":
        return np.isin(np.char.strip(array), _MISSING)
    is_missing = np.asarray(pd.isna(array))
    if array.dtype.kind != "O":
        return is_missing
    return is_missing | np.array([isinstance(one, str) and one.strip() in _MISSING for one in array], dtype=bool)


def plain(values: NDArray) -> NDArray:
    """Return labels of an object array as truth values, numbers, dates or text."""
    if values.dtype.kind != "O":
        return values
    make = next((make for kinds, make in _KINDS if all(isinstance(value, kinds) for value in values)), None)
    return values if make is None else make(values)


def check_exact(values: NDArray, what: str) -> None:
    """Raise an error for floats among labels that are infinite, or so large that different whole numbers may be equal."""
    if values.dtype.kind != "f":
        return
    is_large = np.abs(values.astype(float)) >= (bound := _inexact(values.dtype))
    if not is_large.any():
        return
    first = float(values[int(np.argmax(is_large))])
    if not np.isfinite(first):
        raise DataError(f"{what} must hold finite numbers, got {first}: correct it, or leave the cell empty")
    raise DataError(
        f"{what} must hold exact labels, got the float {int(first)}: {values.dtype} skips whole numbers from {bound:.0f} on; "
        "give integers (pandas' Int64 where some are missing)"
    )


def _numbers(values: NDArray) -> NDArray:
    """Return numbers as integers if all are whole, else as floats. Integers of any size stay exact."""
    is_whole = [isinstance(v, Integral) or (isinstance(v, Decimal) and v == v.to_integral_value()) for v in values]
    if not _are_exact(values[~np.array(is_whole, dtype=bool)].astype(float)):
        return values.astype(float)
    whole = [int(value) for value in values]
    for dtype in (np.int64, np.uint64):
        with suppress(OverflowError):
            return np.array(whole, dtype=dtype)
    return np.array(whole, dtype=object)


_TEXT_OR_NUMBER = (bool, np.bool_, Real, Decimal, str, bytes)
_KINDS: tuple[tuple[Any, Callable[[NDArray], NDArray]], ...] = (
    ((bool, np.bool_), lambda values: values.astype(bool)),
    ((bool, np.bool_, Real, Decimal), _numbers),
    (_TEXT_OR_NUMBER, lambda values: np.array([v if isinstance(v, str) else written(v) for v in values], dtype=str)),
    ((date, np.datetime64), lambda values: pd.to_datetime(values).to_numpy()),
)
