"""Preparation of every row: missing numbers are replaced and features are scaled, as learned from a sample of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import Choice
from dsgcore.data.datasets import DataError
from dsgcore.data.options import SCALING
from dsgcore.data.reading.missing import replacement
from dsgcore.data.scaling import Scaling, fit_scaling
from dsgcore.kernels.far_points import warn_of_lost_differences

MISSING = Choice("missing", None, options=("mean", "median", "most frequent"), optional=True)


@dataclass(frozen=True)
class Preparation:
    """Replacement of missing numbers, then scaling of features."""

    fill: NDArray | None  # shape (d,): replacements for missing numbers; None: a missing number is an error
    scaling: Scaling

    @classmethod
    def learned(cls, sample: NDArray, missing: str | None, scaling: str) -> Self:
        """Learn the preparation from a sample of the rows, of shape (n, d), with NaN for a missing number."""
        fill = None if missing is None else np.array([replacement(column, missing) for column in sample.T])
        full = _filled(sample, fill)
        if scaling != "none":
            warn_of_lost_differences(full)
        return cls(fill, fit_scaling(full.astype(np.float32), np.arange(len(full)), scaling))

    @property
    def d(self) -> int:
        """The number of features."""
        return len(self.scaling.offset)

    def to_dict(self) -> dict[str, Any]:
        """Return the preparation as plain data."""
        scaling = self.scaling
        return {
            "fill": None if self.fill is None else self.fill.tolist(),
            "scaling": scaling.kind,
            "offset": scaling.offset.tolist(),
            "width": scaling.width.tolist(),
        }

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        """Return the preparation that plain data from `to_dict` describe; raise `DataError` if they are malformed."""
        try:
            offset, width = (np.array(said[name], dtype=np.float32) for name in ("offset", "width"))
            fill = None if said["fill"] is None else np.array(said["fill"], dtype=np.float64)
            kind = SCALING.check(said["scaling"])
        except (KeyError, TypeError, ValueError):
            raise DataError(
                "a preparation must have fill, scaling, offset and width, a number for each column"
            ) from None
        each: list[NDArray[Any]] = [offset, width] if fill is None else [offset, width, fill]
        if any(one.shape != (len(offset),) or not np.isfinite(one).all() for one in each):
            raise DataError("a preparation's fill, offset and width must be finite, a number for each column")
        return cls(fill, Scaling(kind, offset, width))

    def apply(self, points: NDArray) -> NDArray:
        """Return prepared points. Scaled points have single precision, like those of a data set."""
        full = _filled(points, self.fill)
        return full if self.scaling.kind == "none" else self.scaling.apply(full)


def _filled(points: NDArray, fill: NDArray | None) -> NDArray:
    return points if fill is None else np.where(np.isnan(points), fill.astype(points.dtype), points)
