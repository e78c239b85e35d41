"""Labels in memory: which ones are missing, and the others as truth values, numbers, dates or text."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import date
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.binary import exact
from dsgcore.data.reading.names import UNDECODED, written

# From this number on, floats skip whole numbers.
INEXACT = 2.0**53
# The replacement for missing labels in an array of text.
_MISSING = ("", "nan", "NaN", "NaT", "<NA>")
# The labels that are not missing, their rows, and ordered categories in their order.
Present = tuple[NDArray, NDArray[np.bool_], NDArray | None]


def present(y: Any) -> Present:
    """Return the labels that are not missing, their rows, and pandas' ordered categories in their order."""
    if y is None:
        raise DataError(
            "fit requires y to be passed, but the target y is None: give labels, and -1 for unlabeled points"
        )
    if isinstance(y, pd.Series | pd.DataFrame | pd.Index | pd.api.extensions.ExtensionArray):
        return _of_pandas(y)
    if (column := _of_arrow(y)) is not None:
        return _of_pandas(column)
    array = column_or_1d(_as_array(y), warn=True)
    is_missing = _is_missing(array)
    if isinstance(y, np.ma.MaskedArray):
        is_missing = is_missing | np.ravel(np.ma.getmaskarray(y))
    return _beside_missing(array[~is_missing], ~is_missing), ~is_missing, None


def _of_arrow(y: Any) -> pd.Series | None:
    """Return Arrow's and Polars' labels as pandas' own, of the same type; None for anything else."""
    if hasattr(y, "to_list") and hasattr(y, "to_arrow"):
        with suppress(ImportError):  # Polars works without Arrow's package
            return exact(y.to_arrow())
    return exact(y) if hasattr(y, "to_pylist") and hasattr(y, "type") else None


def _of_pandas(y: Any) -> Present:
    if isinstance(y, pd.DataFrame):
        column_or_1d(np.empty(y.shape, dtype=np.int8), warn=True)  # refuses several columns, and warns about one
        y = y.iloc[:, 0]
    column = pd.Series(y).reset_index(drop=True)
    is_labeled = column.notna().to_numpy(dtype=bool, copy=True)
    there = column[is_labeled]
    values = there.to_numpy()
    is_missing = _is_missing(values)  # as text
    is_labeled[is_labeled] = ~is_missing
    return _beside_missing(values[~is_missing], is_labeled), is_labeled, _order(there[~is_missing])


def _order(there: pd.Series) -> NDArray | None:
    if not getattr(there.dtype, "ordered", False):
        return None
    return plain(there.cat.remove_unused_categories().cat.categories.to_numpy())


def _beside_missing(values: NDArray, is_labeled: NDArray) -> NDArray:
    """Return whole numbers as integers if pandas stored them as floats because others are missing."""
    is_whole = len(values) < len(is_labeled) and values.dtype.kind == "f" and _are_exact(values)
    return values.astype(np.int64) if is_whole else values


def _are_exact(floats: NDArray) -> bool:
    """Return True if floats are whole numbers that no other whole number can round to."""
    return bool(((np.abs(floats.astype(float)) < _inexact(floats.dtype)) & (floats == np.floor(floats))).all())


def _inexact(dtype: np.dtype) -> float:
    """Return the number from which on floats of this type, or of double precision, skip whole numbers."""
    return min(2.0 ** (np.finfo(dtype).nmant + 1), INEXACT)


def _as_array(y: Any) -> NDArray:
    """Return labels as an array; whole numbers do not become floats, and missing labels do not become text."""
    y = y.to_list() if hasattr(y, "to_list") else y
    array = _of_list(y) if isinstance(y, list | tuple) else np.asarray(y)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", UNDECODED)
    return array.astype(object) if array.dtype.kind == "T" else array


def _of_list(y: Collection[Any]) -> NDArray:
    array = np.asarray(y)
    usual = {"f": float, "U": str, "S": bytes, "i": int}.get(array.dtype.kind)
    if array.ndim != 1 or usual is None or all(isinstance(value, usual) and not isinstance(value, bool) for value in y):
        return array
    exact = np.empty(len(y), dtype=object)
    exact[:] = list(y)
    return exact


def _is_missing(array: NDArray) -> NDArray[np.bool_]:
    if array.dtype.kind == "U":
        return np.isin(np.char.strip(array), _MISSING)
    is_missing = np.asarray(pd.isna(array))
    if array.dtype.kind == "O":
        is_text = [isinstance(value, str) and value.strip() in _MISSING for value in array]
        return is_missing | np.array(is_text, dtype=bool)
    return is_missing


def as_text(column: pd.Series) -> pd.Series:
    """Return a file's labels with text, dates and durations as `written` writes them; numbers stay."""
    if getattr(column.dtype, "kind", "O") in "biuf":
        return column
    is_ordered = bool(getattr(column.dtype, "ordered", False))
    codes, values = (column.cat.codes, column.cat.categories) if is_ordered else pd.factorize(column)
    if all(isinstance(value, Real | Decimal | np.bool_) for value in values):
        return column
    names = np.array([*map(written, values), None], dtype=object)
    text = pd.Series(names[np.asarray(codes)], name=column.name)
    return text if not is_ordered else text.astype(pd.CategoricalDtype([*dict.fromkeys(names[:-1])], ordered=True))


def plain(values: NDArray) -> NDArray:
    """Return labels of an object array as truth values, numbers, dates or text."""
    if values.dtype.kind != "O":
        return values
    make = next((make for kinds, make in _KINDS if all(isinstance(value, kinds) for value in values)), None)
    return values if make is None else make(values)


def checked(values: NDArray) -> NDArray:
    """Return plain labels; raise an error if they cannot be labels of classes."""
    if values.dtype.kind == "f":
        _check_floats(values)
    elif values.dtype.kind in "cV" or (values.dtype.kind == "O" and not all(isinstance(v, int) for v in values)):
        wrong = next((value for value in values if not isinstance(value, _TEXT_OR_NUMBER)), values.dtype.name)
        raise _no_labels("unknown", wrong)
    return values


def _check_floats(values: NDArray) -> None:
    """Raise an error if floats are not whole numbers, or are too large to be exact."""
    for is_wrong, kind in ((~np.isfinite(values), "infinite"), (values != np.floor(values), "continuous")):
        if is_wrong.any():
            raise _no_labels(kind, values[int(np.argmax(is_wrong))].item())
    check_exact(values, "y")


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


def _no_labels(kind: str, value: object) -> DataError:
    return DataError(
        f"Unknown label type: {kind}. y must hold classes (whole numbers, text, or True and False), and -1 for unlabeled points, "
        f"got {quoted(value)}"
    )


def _numbers(values: NDArray) -> NDArray:
    """Return numbers as integers if all are whole, else as floats. Integers of any size stay exact."""
    floats = np.array([value for value in values if not _is_whole(value)], dtype=float)
    if not _are_exact(floats):
        return values.astype(float)
    whole = [int(value) for value in values]
    for dtype in (np.int64, np.uint64):
        with suppress(OverflowError):
            return np.array(whole, dtype=dtype)
    return np.array(whole, dtype=object)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) or (isinstance(value, Decimal) and value == value.to_integral_value())


def _texts(values: NDArray) -> NDArray:
    return np.array([value if isinstance(value, str) else written(value) for value in values], dtype=str)


_TEXT_OR_NUMBER = (bool, np.bool_, Real, Decimal, str, bytes)
_KINDS: tuple[tuple[Any, Callable[[NDArray], NDArray]], ...] = (
    ((bool, np.bool_), lambda values: values.astype(bool)),
    ((bool, np.bool_, Real, Decimal), _numbers),
    (_TEXT_OR_NUMBER, _texts),
    ((date, np.datetime64), lambda values: pd.to_datetime(values).to_numpy()),
)
