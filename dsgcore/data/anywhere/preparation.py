"""What is done to every row that is read: missing numbers replaced, features scaled, as a sample of the rows has taught it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import Choice
from dsgcore.data.datasets import DataError
from dsgcore.data.options import SCALING, checked
from dsgcore.data.scaling import Scaling, fit_scaling

MISSING = Choice("missing", None, options=("mean", "median", "most frequent"), optional=True)


def _most_frequent(column: NDArray) -> float:
    values, counts = np.unique(column, return_counts=True)
    return float(values[np.argmax(counts)])


_FILLS: dict[str, Callable[[NDArray], float]] = {
    "mean": lambda column: float(np.mean(column, dtype=np.float64)),
    "median": lambda column: float(np.median(column)),
    "most frequent": _most_frequent,
}


@dataclass(frozen=True)
class Preparation:
    """Missing numbers are replaced, then features scaled.

    Attributes
    ----------
    fill : ndarray of shape (d,) or None
        What replaces a missing number; None: a missing number is an error.
    scaling : Scaling
    """

    fill: NDArray | None
    scaling: Scaling

    @classmethod
    def learned(cls, sample: NDArray, missing: str | None, scaling: str) -> Preparation | None:
        """Learn it from a sample of the rows, of shape (n, d), with NaN for a missing number; None: nothing is to be done."""
        MISSING.check(missing)
        checked(SCALING, scaling)
        if missing is None and scaling == "none":
            return None
        fill = None if missing is None else np.array([_fill(column, missing) for column in sample.T])
        full = _filled(sample, fill)
        if not np.isfinite(full).all():
            raise DataError("numbers are missing, or infinite: say what replaces missing ones (missing='mean')")
        return cls(fill, fit_scaling(full.astype(np.float32), np.arange(len(full)), scaling))

    def apply(self, points: NDArray) -> NDArray:
        """Return prepared points; where they are scaled, in single precision, as a data set's are."""
        full = _filled(points, self.fill)
        return full if self.scaling.kind == "none" else self.scaling.apply(full)


def _fill(column: NDArray, missing: str) -> float:
    present = column[~np.isnan(column)]
    return _FILLS[missing](present) if len(present) else 0.0


def _filled(points: NDArray, fill: NDArray | None) -> NDArray:
    return points if fill is None else np.where(np.isnan(points), fill.astype(points.dtype), points)
