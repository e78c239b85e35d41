"""Axis of a study as a chart shows it: its values, their places, and their texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


def short_number(value: float) -> str:
    """Return a number as text for a tick or a table."""
    return f"{value:.3g}"


@dataclass(frozen=True)
class AxisView:
    """The view of one axis of a study: its name, its values in order, and True for a logarithmic scale."""

    label: str
    values: tuple[Any, ...]
    is_log: bool

    @property
    def is_words(self) -> bool:
        """True if the values are words."""
        return any(isinstance(value, str) for value in self.values)

    def places(self, column: Sequence[Any]) -> NDArray[np.float64]:
        """Return the places of values between the axis' ends, 0 and 1."""
        if self.is_words:
            at = np.array([self.values.index(value) for value in column], dtype=float)
            return at / max(len(self.values) - 1, 1)
        scale = np.log if self.is_log else np.asarray
        low, high = scale(float(min(self.values))), scale(float(max(self.values)))
        return (scale(np.array(column, dtype=float)) - low) / ((high - low) or 1.0)

    def text(self, value: Any) -> str:
        """Return a value as text for a tick."""
        return value if isinstance(value, str) else short_number(float(value))


def axis_of(label: str, values: tuple[Any, ...], *, is_log: bool) -> AxisView:
    """Return the view of an axis; numbers are sorted."""
    is_words = any(isinstance(value, str) for value in values)
    return AxisView(label, values if is_words else tuple(sorted(values)), is_log and not is_words)
