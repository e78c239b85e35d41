"""Methods of fitted estimators that stay lazy on Dask's collections: mapped over partitions, nothing computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from dsgcore.data.anywhere.dask_parts import is_dask

Method = Callable[[Any, Any], Any]


def over_partitions(method: Method) -> Method:
    """Make a method of (self, X), that gives a value or some for each row, lazy where X is Dask's.

    A Dask Array of it comes of an Array, a Series (or DataFrame, of several values a row) of a DataFrame.
    """

    @wraps(method)
    def mapped(self: Any, X: Any) -> Any:
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
    return X.map_partitions(_with_index, one, meta=_with_index(X._meta_nonempty, one).iloc[:0])


def _with_index(part: Any, one: Callable[[Any], Any]) -> Any:
    import pandas as pd

    values = one(part) if len(part) else one(pd.DataFrame(np.zeros((1, part.shape[1])), columns=part.columns))[:0]
    return (pd.Series if values.ndim == 1 else pd.DataFrame)(values, index=part.index)
