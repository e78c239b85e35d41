"""Panels of lines or boxes side by side, as SVG: plain text that a diff can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

import numpy as np

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
WIDTH, HEIGHT, LEFT, TOP, GAP, BELOW = 260, 210, 60, 62, 70, 56
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "10 4", "")


@dataclass(frozen=True)
class Line:
    """A method's points: x, y, and the lowest and highest y where there are some seeds."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Panel:
    """One pair of axes; boxes where there are samples, by name, and lines otherwise."""

    title: str
    x_title: str
    y_title: str
    lines: tuple[Line, ...] = ()
    samples: dict[str, Sequence[float]] = field(default_factory=dict)
    is_log_x: bool = True
    is_log_y: bool = False


def drawing(panels: Sequence[Panel], names: Sequence[str]) -> str:
    """Return the panels side by side; each method has its colour and its dash."""
    width = LEFT + len(panels) * (WIDTH + GAP)
    words = [
        f'<text x="{LEFT + 150 * (i % 6)}" y="{18 + 16 * (i // 6)}" fill="{COLORS[i]}">▬ {escape(name)}</text>'
        for i, name in enumerate(names)
    ]
    body = [part for i, panel in enumerate(panels) for part in _panel(panel, LEFT + i * (WIDTH + GAP), list(names))]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {max(width, LEFT + 150 * min(len(names), 6))} '
        f'{TOP + HEIGHT + BELOW}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
    )
    return "\n".join([head, *words, *body, "</svg>"]) + "\n"


def _panel(panel: Panel, left: int, names: list[str]) -> list[str]:
    drawn = [f'<text x="{left}" y="{TOP - 8}" font-weight="bold">{escape(panel.title)}</text>']
    drawn.append(f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
    drawn += _text(left + WIDTH / 2, TOP + HEIGHT + 40, panel.x_title, "middle")
    drawn.append(
        f'<text transform="translate({left - 44},{TOP + HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(panel.y_title)}</text>"
    )
    values = np.concatenate(
        [np.asarray(v, float) for line in panel.lines for v in (line.y, line.low, line.high)]
        + [np.asarray(v, float) for v in panel.samples.values()]
    )
    scale_y = _Scale(values, panel.is_log_y, TOP + HEIGHT, -HEIGHT)
    for value, text in scale_y.ticks():
        drawn.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{value:.1f}" y2="{value:.1f}" stroke="#ddd"/>')
        drawn += _text(left - 5, value + 4, text, "end")
    if panel.samples:
        return drawn + _boxes(panel, left, scale_y, names)
    scale_x = _Scale(np.concatenate([np.asarray(line.x, float) for line in panel.lines]), panel.is_log_x, left, WIDTH)
    for value, text in scale_x.ticks():
        drawn += _text(value, TOP + HEIGHT + 18, text, "middle")
    for line in panel.lines:
        drawn += _line(line, scale_x, scale_y, names.index(line.name))
    return drawn


def _text(x: float, y: float, text: str, anchor: str) -> list[str]:
    return [f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>']


@dataclass(frozen=True)
class _Scale:
    """Map from numbers to places: linear or logarithmic, with a twentieth free at both ends."""

    values: np.ndarray
    is_log: bool
    start: float
    length: float

    def _ends(self) -> tuple[float, float]:
        known = self.values[np.isfinite(self.values)]
        if not self.is_log:
            room = 0.05 * (np.ptp(known) or 1.0)
            return float(known.min() - room), float(known.max() + room)
        low, high = np.log10([known[known > 0].min(), known.max()])
        room = 0.05 * ((high - low) or 1.0)
        return float(low - room), float(high + room)

    def place(self, value: float) -> float:
        """Return where a number stands."""
        low, high = self._ends()
        at = np.log10(value) if self.is_log else value
        return float(self.start + (at - low) / (high - low) * self.length)

    def ticks(self) -> list[tuple[float, str]]:
        """Return places and texts of some round numbers."""
        low, high = self._ends()
        if self.is_log:
            steps = (1, 2, 5) if high - low < 2.5 else (1,)
            found = [m * 10.0**k for k in range(int(np.floor(low)), int(high) + 1) for m in steps]
            return [(self.place(v), f"{v:,g}") for v in found if low <= np.log10(v) <= high]
        raw = (high - low) / 5
        step = min((m * 10 ** np.floor(np.log10(raw)) for m in (1, 2, 5, 10)), key=lambda s: abs(s - raw))
        return [(self.place(v), f"{v:.4g}") for v in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step]


def _line(line: Line, scale_x: _Scale, scale_y: _Scale, number: int) -> list[str]:
    points = [(scale_x.place(x), scale_y.place(y)) for x, y in zip(line.x, line.y, strict=True)]
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    color, dash = COLORS[number], DASHES[number]
    drawn = [
        f'<polyline points="{text}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points),
    ]
    for (x, _), low, high in zip(points, line.low, line.high, strict=False):
        ends = scale_y.place(low), scale_y.place(high)
        drawn.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" stroke="{color}"/>')
    return drawn


def _boxes(panel: Panel, left: int, scale: _Scale, names: list[str]) -> list[str]:
    """Return a box from quartile to quartile for each sample, its median, and whiskers to the least and the most."""
    drawn, each = [], WIDTH / len(panel.samples)
    for place, (name, values) in enumerate(panel.samples.items()):
        low, first, middle, third, high = (scale.place(v) for v in np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))
        x, color = left + (place + 0.5) * each, COLORS[names.index(name)]
        drawn.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{color}"/>')
        drawn.append(
            f'<rect x="{x - 0.3 * each:.1f}" y="{third:.1f}" width="{0.6 * each:.1f}" height="{max(first - third, 1):.1f}" '
            f'fill="white" stroke="{color}" stroke-width="2"/>'
        )
        ends = f'x1="{x - 0.3 * each:.1f}" x2="{x + 0.3 * each:.1f}"'
        drawn.append(f'<line {ends} y1="{middle:.1f}" y2="{middle:.1f}" stroke="{color}" stroke-width="3"/>')
    return drawn
