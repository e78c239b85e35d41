"""Means that are subtracted from columns of large numbers, so that float32 keeps the differences between rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.kernels.far_points import SHARE_OF_WIDTH

STEP = float(np.finfo(np.float32).eps)


@dataclass
class Spread:
    """Running mean, spread and largest size of a column that is seen in pieces."""

    first: float = np.nan
    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    largest: float = 0.0

    def look(self, values: NDArray[np.float64]) -> None:
        """Add the values of a piece; NaN stands for a missing one."""
        present = values[np.isfinite(values)]
        if not len(present):
            return
        if not self.count:
            self.first = float(present[0])
        with np.errstate(over="ignore", invalid="ignore"):
            off = present - self.first  # differences, because sums of squares of large numbers would lose them
            self.count += len(present)
            self.total += float(off.sum())
            self.squares += float(np.dot(off, off))
            self.largest = max(self.largest, float(np.abs(present).max()))

    @property
    def centre(self) -> float:
        """The mean, if float32 rounds the values to steps near their own spread; else 0."""
        if not self.count:
            return 0.0
        mean = self.total / self.count
        spread = max(self.squares / self.count - mean * mean, 0.0) ** 0.5
        is_lost = 0.0 < SHARE_OF_WIDTH * spread < STEP * self.largest
        return self.first + mean if is_lost else 0.0

    def sentence(self, name: str) -> str:
        """Return the sentence that the mean is subtracted; empty if it is not."""
        if not self.centre:
            return ""
        return (
            f"{name}: its mean, {self.centre:.10g}, is subtracted from every row. Without that, float32 would round the "
            f"numbers to steps of {STEP * self.largest:.2g}."
        )
