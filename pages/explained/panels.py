"""Panels of the screens as plain data for the browser: maps of the data's plane, and charts of curves."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.explained import Example
from pages.charts.figures import four_digits

Panel = dict[str, Any]
# Values are sent as whole numbers between these ends, one byte each.
LARGEST = 127
KINDS = {0: "negative", 1: "positive"}


@dataclass(frozen=True)
class Axis:
    """An axis of a chart, with ticks from its low to its high end."""

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False


@dataclass(frozen=True)
class Curve:
    """A curve, or dots, of a chart. A named one is in the legend."""

    x: ArrayLike
    y: ArrayLike
    style: str = "strong"  # strong, faint, ink, guide (dashed) or dots
    name: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the curve as plain data, with gaps for values that are not finite."""
        x, y = (four_digits(np.asarray(values, dtype=float)) for values in (self.x, self.y))
        return {"x": x, "y": y, "style": self.style, "name": self.name}


def chart(title: str, x: Axis, y: Axis, moving: Sequence[Sequence[Curve]], still: Sequence[Curve] = ()) -> Panel:
    """Return a chart: curves that stay, and curves for each frame."""
    frames = [[curve.plain() for curve in curves] for curves in moving]
    return {
        "kind": "chart",
        "title": title,
        "x": vars(x),
        "y": vars(y),
        "still": [c.plain() for c in still],
        "moving": frames,
    }


def map_of(
    title: str,
    shown: Example,
    *,
    field: ArrayLike | None = None,
    values: ArrayLike | None = None,
    reach: float | None = None,
    picked: Sequence[NDArray] = (),
    cross: NDArray | None = None,
) -> Panel:
    """Return a map of the training points.

    `field` (frames, GRID^2) is drawn below them. `values` (frames, n) colour them, up to the size `reach`. `picked` holds
    the highlighted rows of each stop, and `cross` a marked place.
    """
    plane, split = shown.plane, shown.split
    places = (plane.project(split.X_train) - plane.low) / (plane.high - plane.low)
    marks = [
        [*xy, KINDS.get(y, "unlabeled")] for xy, y in zip(four_digits(places), split.y_train.tolist(), strict=True)
    ]
    at = None if cross is None else four_digits((plane.project(cross)[0] - plane.low) / (plane.high - plane.low))
    return {
        "kind": "map",
        "title": title,
        "marks": marks,
        "cross": at,
        "picked": [np.unique(rows).tolist() for rows in picked],
        "field": None if field is None else packed(field),
        "values": None if values is None else packed(values, reach),
    }


def packed(values: ArrayLike, reach: float | None = None) -> str:
    """Return values as signed bytes in base 64, as shares of `reach`, by default of their sizes' 99.5 % quantile."""
    values = np.asarray(values, dtype=float)
    reach = reach or float(np.quantile(np.abs(values), 0.995)) or 1.0
    whole = np.clip(np.rint(values / reach * LARGEST), -LARGEST, LARGEST).astype(np.int8)
    return base64.b64encode(whole.tobytes()).decode()
