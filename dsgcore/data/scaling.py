"""Scaling of features to one range or one spread, fitted on the training rows alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_COLUMNS = 32  # number of columns that are copied to float64 at one time


@dataclass(frozen=True, eq=False)
class Scaling:
    """Fitted scaling of features: (x - offset) / width, or 0 if the training rows are constant.

    Parameters
    ----------
    kind : {"unit", "standard", "none"}
    offset : ndarray of shape (d,), float32
        "unit": minimum of the training rows; "standard": their mean; "none": 0.
    width : ndarray of shape (d,), float32
        "unit": range of the training rows; "standard": their standard deviation; "none": 1.
        0 for constant features.
    """

    kind: str
    offset: NDArray[np.float32]
    width: NDArray[np.float32]

    def apply(self, X: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return scaled points, in a new array of shape (n, d); nothing is clipped."""
        scaled = np.array(X, dtype=np.float32, order="C")
        if self.kind != "none":
            scaled -= self.offset
            scaled /= np.where(self.width > 0, self.width, np.float32(np.inf))  # constant features become 0
        return scaled


def fit_scaling(X: NDArray[np.float32], rows: NDArray[np.int64], kind: str) -> Scaling:
    """Fit the scaling. It works on a few columns at a time, so that no float64 copy of all points is needed."""
    d = X.shape[1]
    offset, width = np.zeros(d, dtype=np.float32), np.ones(d, dtype=np.float32)
    if kind != "none":
        for start in range(0, d, _COLUMNS):
            block = slice(start, start + _COLUMNS)
            columns = X[rows, block]
            low, high = columns.min(axis=0), columns.max(axis=0)
            if kind == "unit":
                offset[block], width[block] = low, high - low
            else:
                offset[block] = columns.mean(axis=0, dtype=np.float64)
                # Exactly 0 for a constant column, whatever the rounding of its mean.
                width[block] = np.where(low < high, columns.std(axis=0, dtype=np.float64), 0)
    return Scaling(kind, offset, width)
