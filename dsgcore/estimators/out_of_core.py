"""Access to the estimators' points: in an array, in out-of-core `Rows`, or in Dask collections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from dsgcore.core.sampling import evenly_spread
from dsgcore.data import DataError
from dsgcore.data.rows import SAMPLE, Rows, is_dask
from dsgcore.estimators.inputs import float_types, threshold_rows
from dsgcore.estimators.stopping import POINTS
from dsgcore.kernels import features
from dsgcore.solver.model import FEW_POINTS, Expansion, points_at_a_time
from dsgcore.solver.problem import UNLABELED

# Up to this many labeled rows are read along with the visited ones. If there are more, they are read in a separate
# pass.
MOST_LABELED = 1_000_000


def validated(estimator: Any, X: Any, y: NDArray, *, reset: bool = True, dtype: Any = None) -> tuple[Any, NDArray]:
    """Return points and codes of labels as scikit-learn's `validate_data` does. It reads no point of `Rows`."""
    if not isinstance(X, Rows):
        return validate_data(estimator, X, y, reset=reset, dtype=dtype or float_types(X))
    if len(y) != len(X):
        raise DataError(f"y must have a label for each of {len(X)} rows (-1: unlabeled), got {len(y)}")
    _remember(estimator, X, reset=reset)
    return X, y


def validated_points(estimator: Any, X: Any, dtype: Any = None) -> NDArray:
    """Return the points (n, d) at which a fitted estimator is asked. Their columns must be those of its fit."""
    return validate_data(estimator, in_memory(X), reset=False, dtype=dtype or float_types(X))


def in_memory(X: Any) -> Any:
    """Return `Rows` as an array, or as a table if its columns have names; anything else as it is. Refuse a path."""
    if isinstance(X, str | PathLike):
        raise DataError(f"X must hold points, got the path {str(X)!r}: give dsgcore.data.rows_of(path, ...)[0]")
    return _as_table(X[:], X.names) if isinstance(X, Rows) else X


def _as_table(points: NDArray, names: tuple[str, ...] | None) -> Any:
    """Return points as a table if their columns have names: scikit-learn then compares the names with those of the fit."""
    return points if names is None else pd.DataFrame(points, columns=list(names), copy=False)


def _remember(estimator: Any, X: Rows, *, reset: bool) -> None:
    """Set the number and names of coordinates that an estimator has learned from, or check that they are the same."""
    if not reset and estimator.n_features_in_ != X.shape[1]:
        raise DataError(f"X must have {estimator.n_features_in_} columns as at the first call, got {X.shape[1]}")
    if not reset:
        validate_data(estimator, _as_table(np.zeros((1, X.shape[1])), X.names), reset=False)
        return
    estimator.n_features_in_ = X.shape[1]
    if X.names is not None:
        estimator.feature_names_in_ = np.array(X.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def some_of(X: Any) -> NDArray:
    """Return points for statistics of the whole set: all points of an array, a sample of `Rows`."""
    return X.sample() if isinstance(X, Rows) else X


def taken(X: Any, rows: NDArray) -> Any:
    """Return the given rows as an array, or as `Rows` without reading a point."""
    return X.taken(rows) if isinstance(X, Rows) else X[rows]


def in_precision(X: Any, dtype: np.dtype) -> Any:
    """Return the points in another precision; raise DSGError if a number is too large for it."""
    return X.astype(dtype) if isinstance(X, Rows) else features.in_precision(X, dtype)


def read_ahead(
    X: Any, labels: NDArray, batch: Callable[[int], Mapping[str, NDArray]], iterations: Iterable[int]
) -> None:
    """Read in one pass all rows that a run needs: visited rows, labeled rows, and samples for its checks."""
    if not isinstance(X, Rows):
        return
    visited = [np.concatenate(list(batch(t).values())) for t in iterations]
    labeled = np.flatnonzero(labels != UNLABELED)
    seen = [
        np.arange(min(len(X), FEW_POINTS)),
        threshold_rows(len(X)),
        *(evenly_spread(len(X), n) for n in (POINTS, SAMPLE)),
    ]
    X.read_ahead(np.concatenate([*visited, *seen, labeled[: MOST_LABELED * (len(labeled) <= MOST_LABELED)]]))


def values_of(model: Expansion, X: Any, rows: NDArray) -> NDArray:
    """Return the model's values at ascending `rows`, of shape (len(rows),). Evaluates in blocks of bounded size."""
    if not isinstance(X, Rows):
        return model.evaluate(X[rows])
    values = [model.evaluate(piece) for piece in X.pieces(rows, points_at_a_time(model.d))]
    return np.concatenate([np.empty(0, dtype=model.dtype), *values])


class TrainingValues:
    """Values of a function of rows at training points, each computed once; those at some rows may be known."""

    def __init__(self, evaluate: Callable[[NDArray], NDArray], rows: NDArray | None = None, values: Any = None) -> None:
        self._evaluate = evaluate
        self._rows, self._values = np.empty(0, dtype=np.intp) if rows is None else rows, values

    def at(self, rows: NDArray) -> NDArray:
        """Return the values at ascending, different `rows`, of shape (len(rows),) or (len(rows), K)."""
        new = np.setdiff1d(rows, self._rows, assume_unique=True)
        if self._values is None:
            self._rows, self._values = rows, self._evaluate(rows)
        elif len(new):
            known = np.concatenate([self._rows, new])
            order = np.argsort(known, kind="stable")
            self._rows, self._values = known[order], np.concatenate([self._values, self._evaluate(new)])[order]
        return self._values[np.searchsorted(self._rows, rows)]


def over_partitions(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make a method of (self, X), which returns values for each row, one of many rows: pieces of `Rows`, parts of Dask.

    It stays lazy on a Dask collection. For a Dask Array it returns a Dask Array. For a DataFrame it returns a Series, or a
    DataFrame if there are several values per row.
    """

    @wraps(method)
    def mapped(self: Any, X: Any) -> Any:
        if isinstance(X, Rows):
            pieces = X.pieces(np.arange(len(X)), points_at_a_time(X.shape[1]))
            return np.concatenate([method(self, _as_table(piece, X.names)) for piece in pieces])
        if not is_dask(X):
            return method(self, X)
        return (_of_table if hasattr(X, "columns") else _of_array)(partial(method, self), X)

    return mapped


def _of_array(one: Callable[[Any], Any], X: Any) -> Any:
    like = one(np.zeros((1, X.shape[1]), dtype=X.dtype))
    rows = X.rechunk({1: -1})
    if like.ndim == 1:
        return rows.map_blocks(one, drop_axis=1, dtype=like.dtype, meta=like[:0])
    return rows.map_blocks(one, chunks=(rows.chunks[0], like.shape[1:]), dtype=like.dtype, meta=like[:0])


def _of_table(one: Callable[[Any], Any], X: Any) -> Any:
    return X.map_partitions(_with_index, one, meta=_with_index(X._meta, one))


def _with_index(part: Any, one: Callable[[Any], Any]) -> Any:
    """Return a partition's values as a table; those of no row have the type of a row of zeros."""
    points = part if len(part) else pd.DataFrame(np.zeros((1, part.shape[1])), columns=part.columns)
    values = one(points)[: len(part)]
    return (pd.Series if values.ndim == 1 else pd.DataFrame)(values, index=part.index)
