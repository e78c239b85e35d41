"""Curves as small drawings for paper: SVG on white, distinguished by their dashes, without a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from pages.charts.figures import INK, Curve, thinned

WIDTH, HEIGHT = 250, 180
LEFT, RIGHT, TOP, BOTTOM, LINE = 44, 8, 24, 34, 12
DASHES = {"dot": "1 3", "dash": "6 3"}
MOST_POINTS = 160


@dataclass(frozen=True)
class Scale:
    """The axes of a drawing: values from `low` to `high`, iterations up to `end`."""

    low: float
    high: float
    end: float
    is_log: bool = False

    def across(self, t: NDArray) -> NDArray:
        """Return the distances from the left."""
        return LEFT + t / self.end * (WIDTH - LEFT - RIGHT)

    def down(self, values: NDArray) -> NDArray:
        """Return the distances from the top; values outside are drawn at the edge."""
        low, high, inside = self._as_drawn(self.low), self._as_drawn(self.high), np.clip(values, self.low, self.high)
        return TOP + (high - self._as_drawn(inside)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def _as_drawn(self, values: NDArray | float) -> NDArray:
        return np.log10(values) if self.is_log else np.asarray(values, dtype=float)


def scale_of(curves: Sequence[Curve], end: float, always: tuple[float, float], *, is_log: bool = False) -> Scale:
    """Return a scale for all finite values of the curves and the two given ones; a logarithmic scale ignores values below
    zero."""
    values = np.concatenate([always, *(curve.y for curve in curves)])
    values = values[np.isfinite(values) & ((values > 0) | (not is_log))]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return Scale(low, high if high > low else low + 1.0, end, is_log)


def drawing(title: str, curves: Sequence[Curve], scale: Scale) -> str:
    """Return the curves as a drawing; without curves, return axes to draw on."""
    ends = "; ".join(f"{curve.name} ends at {curve.y[-1]:.3g}" for curve in curves if len(curve.y))
    said = escape(f"{title}: {ends or 'axes to draw on'}")
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{said}">'
    lines = [_line(curve, scale) for curve in curves]
    return "\n".join([head, *_frame(title, scale), *lines, *_legend(curves), "</svg>"])


def _frame(title: str, scale: Scale) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    return [
        _text(2, 13, title, "start", weight="bold"),
        f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="{INK["light"]}"/>',
        _text(LEFT - 4, TOP + 8, f"{scale.high:.2g}", "end"),
        _text(LEFT - 4, bottom, f"{scale.low:.2g}", "end"),
        _text(LEFT, bottom + LINE, "0", "middle"),
        _text(right, bottom + LINE, f"{scale.end:g} iterations", "end"),
    ]


def _text(x: float, y: float, said: str, anchor: str, *, weight: str = "normal") -> str:
    place = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text {place} font-size="11" fill="{INK["light"]}">{escape(said)}</text>'


def _line(curve: Curve, scale: Scale) -> str:
    is_there = np.isfinite(curve.y) & ((curve.y > 0) | (not scale.is_log))
    t, values = thinned(curve.x[is_there], curve.y[is_there], MOST_POINTS)
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(scale.across(t), scale.down(values), strict=True))
    return f'<polyline points="{places}" fill="none" {_stroke(curve)}/>'


def _stroke(curve: Curve) -> str:
    dash = f' stroke-dasharray="{DASHES[curve.dash]}"' if curve.dash in DASHES else ""
    return f'stroke="{curve.color}" stroke-width="{curve.width:g}"{dash}'


def _legend(curves: Sequence[Curve]) -> list[str]:
    """Name the curves below the axis, each beside a piece of its line, if there are several."""
    if len(curves) < 2:
        return []
    lines, x, y = [], LEFT, HEIGHT - 6
    for curve in curves:
        lines.append(f'<path d="M{x} {y - 4}h18" {_stroke(curve)}/>')
        lines.append(_text(x + 22, y, curve.name, "start"))
        x += 34 + 6 * len(curve.name)
    return lines
