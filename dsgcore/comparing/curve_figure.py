"""Learning curves as an SVG: score over the number of labels, with bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

import pandas as pd

# Colours that colour-blind readers can tell apart (Okabe and Ito), and a dash for each line.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 380, 64, 220, 16, 46


def curve_figure(curves: pd.DataFrame, score: str, most: float = math.inf) -> str:
    """Return the figure of the methods that have scores at several numbers of labels; an empty text without such methods.

    Parameters
    ----------
    curves : DataFrame
        `Comparison.curves`.
    score : str
        Title of the vertical axis.
    most : float, optional
        Highest possible score; the lowest is 0. The axis ends there.
    """
    counts = curves.groupby("method")["labels"].count()
    shown = [name for name in dict.fromkeys(curves["method"]) if counts[name] > 1][: len(COLOURS)]
    data = curves[curves["method"].isin(shown)]
    if data.empty:
        return ""
    across, up = _scale(data["labels"].map(math.log), LEFT, WIDTH - RIGHT), _vertical(data, most)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" '
        f'role="img" aria-label="{escape(score)} over the number of labels">',
        *_axes(data, across, up, score),
    ]
    for i, name in enumerate(shown):
        lines += _line(data[data["method"] == name], across, up, i)
        y = TOP + 12 + 22 * i
        style = f'stroke="{COLOURS[i]}" stroke-width="2" stroke-dasharray="{DASHES[i]}"'
        lines.append(f'<line x1="{WIDTH - RIGHT + 14}" y1="{y}" x2="{WIDTH - RIGHT + 44}" y2="{y}" {style}/>')
        lines.append(f'<text x="{WIDTH - RIGHT + 50}" y="{y + 4}">{escape(name)}</text>')
    return "\n".join([*lines, "</svg>"])


class _Scale:
    """Linear map from values to places."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self.start, self.end = low, high if high > low else low + 1.0, start, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def _scale(values: pd.Series, start: float, end: float) -> _Scale:
    return _Scale(float(values.min()), float(values.max()), start, end)


def _vertical(data: pd.DataFrame, most: float) -> _Scale:
    # Wide bands of few seeds would flatten the curves, so the bands may leave the frame.
    low, high = float(data["score"].min()), float(data["score"].max())
    margin = 0.15 * (high - low) or 1.0
    return _Scale(max(low - margin, 0.0), min(high + margin, most), HEIGHT - BOTTOM, TOP)


def _axes(data: pd.DataFrame, across: _Scale, up: _Scale, score: str) -> list[str]:
    lines = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for n in sorted(set(data["labels"])):
        x = across(math.log(n))
        lines.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{n:,}</text>')
    for value in _ticks(up.low, up.high):
        y = up(value)
        lines.append(f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{value:g}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    lines.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">labels</text>')
    centre = (TOP + HEIGHT - BOTTOM) / 2
    lines.append(f'<text transform="translate(14 {centre}) rotate(-90)" text-anchor="middle">{escape(score)}</text>')
    return lines


def _ticks(low: float, high: float) -> Sequence[float]:
    """Return about five round numbers between two values."""
    step = 10.0 ** math.floor(math.log10((high - low) / 2.0))
    step *= next(times for times in (5.0, 2.0, 1.0) if (high - low) / (step * times) >= 3.0 or times == 1.0)
    first = math.ceil(low / step)
    return [round((first + i) * step, 10) for i in range(int(math.floor(high / step) - first) + 1)]


def _line(rows: pd.DataFrame, across: _Scale, up: _Scale, number: int) -> list[str]:
    places = [across(math.log(n)) for n in rows["labels"]]
    path = " ".join(f"{x},{up(y)}" for x, y in zip(places, rows["score"], strict=True))
    style = f'stroke="{COLOURS[number]}" stroke-width="2" stroke-dasharray="{DASHES[number]}"'
    lines = [f'<polyline points="{path}" fill="none" {style}/>']
    band = [(x, low, high) for x, low, high in zip(places, rows["low"], rows["high"], strict=True) if low == low]
    if len(band) > 1:
        inside = [(x, _within(up(y))) for x, _, y in band] + [(x, _within(up(y))) for x, y, _ in band[::-1]]
        corners = " ".join(f"{x},{y}" for x, y in inside)
        lines.insert(0, f'<polygon points="{corners}" fill="{COLOURS[number]}" opacity="0.12"/>')
    return lines


def _within(y: float) -> float:
    return min(max(y, TOP), HEIGHT - BOTTOM)
