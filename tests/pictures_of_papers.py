"""Small drawings of the papers' figures from the numbers measured for DSG Lab. No figure of a paper is copied.

The numbers are in `tests/benchmarks/papers.md`. `python tests/pictures_of_papers.py` draws them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from math import ceil, floor, log10
from pathlib import Path

from pages.charts.figures import COLORS, DASHES
from pages.pictures.kept import CURRENT_COLOR, file_of

NOTE = Path(__file__).parent / "benchmarks" / "papers.md"
FIELDS = ("setting", "figure", "set", "method", "x", "y", "deviation")
SETTINGS = {
    "TSGSU": "similar_unlabeled",
    "QSG-S2AUC": "auc",
    "TSGS3VM": "s3vm",
    "QS3ORAO": "ordinal",
    "PS3VT": "multiclass",
}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, ROW = 340, 190, 44, 10, 10, 34, 16
SECONDS, POINTS, STEPS, SHARE = "seconds of training", "points", "iterations", "labels, %"
ACCURACY, ERROR, AUC = "accuracy, %", "test error, %", "AUC, %"


@dataclass(frozen=True)
class Axes:
    """The two axes of a drawing. Without `x` the sets stand side by side."""

    x: str
    y: str
    is_log_x: bool = True
    is_log_y: bool = False


AXES = {
    ("similar_unlabeled", "fig1"): Axes(SECONDS, ACCURACY),
    ("similar_unlabeled", "fig2"): Axes(SECONDS, ACCURACY),
    ("similar_unlabeled", "fig3"): Axes(STEPS, ACCURACY),
    ("similar_unlabeled", "fig4"): Axes(SECONDS, ACCURACY),
    ("auc", "fig1"): Axes(POINTS, SECONDS, is_log_y=True),
    ("auc", "fig2"): Axes("", AUC),
    ("s3vm", "fig2"): Axes(POINTS, SECONDS, is_log_y=True),
    ("s3vm", "fig3"): Axes("", ERROR),
    ("ordinal", "fig1"): Axes(POINTS, SECONDS, is_log_y=True),
    ("ordinal", "fig2"): Axes("", AUC),
    ("multiclass", "fig1-left"): Axes(STEPS, ERROR),
    ("multiclass", "fig1-right"): Axes(SHARE, ERROR),
}


@dataclass(frozen=True)
class Point:
    """A measured number: its set and method, its place on the axes, and its standard deviation (0 if unknown)."""

    set: str
    method: str
    x: float
    y: float
    deviation: float


@cache
def _numbers() -> tuple[dict[str, str], ...]:
    return tuple(read_note(NOTE.read_text(encoding="utf-8")))


def points_of(setting: str, figure: str) -> tuple[Point, ...]:
    """Return the measured numbers of a figure; nothing if it was not drawn here."""
    rows = (row for row in _numbers() if (row["setting"], row["figure"]) == (setting, figure))
    return tuple(
        Point(row["set"], row["method"], float(row["x"] or "nan"), float(row["y"]), float(row["deviation"] or 0))
        for row in rows
    )


def drawn(setting: str, figure: str) -> str:
    """Draw a figure as SVG, with a text for screen readers."""
    points = points_of(setting, figure)
    axes, names = AXES[setting, figure], list(dict.fromkeys(_name(point) for point in points))
    columns = 3 if max(map(len, names)) < 14 else 1
    rows = ceil(len(names) / columns)
    ends = {name: [p for p in points if _name(p) == name][-1] for name in names}
    alt = f"{axes.y} against {axes.x or 'the set'}. " + "; ".join(f"{n} ends at {p.y:g}" for n, p in ends.items())
    size = f'viewBox="0 0 {WIDTH} {HEIGHT + rows * ROW}" width="{WIDTH}" height="{HEIGHT + rows * ROW}"'
    parts = _sets(points, names, axes) if not axes.x else _lines(points, names, axes)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(alt)}"'
    head += ' font-family="sans-serif" font-size="11">'
    return "\n".join([head, *parts, *_legend(names, columns), "</svg>"]) + "\n"


def _name(point: Point) -> str:
    """Return the name of a point's curve; a second set of data has its own."""
    return f"{point.method}, {point.set}" if "pairs" in point.set else point.method


@dataclass(frozen=True)
class _Scale:
    """The places of numbers along one axis, from `low` to `high`."""

    low: float
    high: float
    start: float
    length: float
    is_log: bool

    @classmethod
    def of(cls, values: Sequence[float], start: float, length: float, *, is_log: bool) -> _Scale:
        low, high = min(values), max(values)
        if is_log:
            return cls(low / 1.15, high * 1.15, start, length, is_log)
        room = 0.06 * ((high - low) or 1.0)
        return cls(low - room, high + room, start, length, is_log)

    def at(self, value: float) -> float:
        a, b, v = (log10(n) for n in (self.low, self.high, value)) if self.is_log else (self.low, self.high, value)
        return self.start + (v - a) / (b - a) * self.length

    def ticks(self) -> list[float]:
        if self.is_log:
            digits = (1,) if self.high / self.low > 200 else (1, 3) if self.high / self.low > 20 else (1, 2, 5)
            found = [d * 10.0**k for k in range(floor(log10(self.low)), ceil(log10(self.high)) + 1) for d in digits]
            return [tick for tick in found if self.low <= tick <= self.high]
        size = 10.0 ** floor(log10((self.high - self.low) / 5))
        step = next(d * size for d in (1, 2, 5, 10) if d * size * 5 >= self.high - self.low)
        return [step * i for i in range(ceil(self.low / step), floor(self.high / step) + 1)]


def _frame(axes: Axes, y: _Scale) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="{CURRENT_COLOR}" stroke-opacity="0.6"/>']
    for tick in y.ticks():
        parts.append(f'<path d="M{LEFT} {y.at(tick):.1f}H{right}" stroke="{CURRENT_COLOR}" stroke-opacity="0.15"/>')
        parts.append(_text(LEFT - 4, y.at(tick) + 4, f"{tick:,g}", "end"))
    middle = (TOP + bottom) / 2
    parts.append(f'<g transform="translate(10,{middle:.0f}) rotate(-90)">{_text(0, 0, axes.y, "middle")}</g>')
    return [*parts, *([_text((LEFT + right) / 2, HEIGHT - 4, axes.x, "middle")] if axes.x else [])]


def _text(x: float, y: float, said: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{CURRENT_COLOR}">{escape(said)}</text>'


def _scale_y(points: Sequence[Point], axes: Axes) -> _Scale:
    values = [p.y + sign * (0.0 if axes.x else p.deviation) for p in points for sign in (-1, 1)]
    return _Scale.of(values, HEIGHT - BOTTOM, -(HEIGHT - BOTTOM - TOP), is_log=axes.is_log_y)


def _lines(points: Sequence[Point], names: Sequence[str], axes: Axes) -> list[str]:
    """Return a curve for each method, over a number."""
    y = _scale_y(points, axes)
    x = _Scale.of([p.x for p in points], LEFT, WIDTH - LEFT - RIGHT, is_log=axes.is_log_x)
    parts = _frame(axes, y)
    parts += [_text(x.at(tick), HEIGHT - BOTTOM + 14, f"{tick:,g}", "middle") for tick in x.ticks()]
    for number, name in enumerate(names):
        places = [(x.at(p.x), y.at(p.y)) for p in points if _name(p) == name]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        parts.append(f'<polyline points="{line}" fill="none" {_stroke(number)}/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{COLORS[number]}"/>' for a, b in places]
    return parts


def _sets(points: Sequence[Point], names: Sequence[str], axes: Axes) -> list[str]:
    """Return the mean and the standard deviation of each method, the sets side by side."""
    y, sets = _scale_y(points, axes), list(dict.fromkeys(p.set for p in points))
    parts, width = _frame(axes, y), (WIDTH - LEFT - RIGHT) / len(sets)
    parts += [_text(LEFT + width * (i + 0.5), HEIGHT - BOTTOM + 14, name, "middle") for i, name in enumerate(sets)]
    for p in points:
        number = names.index(p.method)
        x = LEFT + width * (sets.index(p.set) + (number + 1) / (len(names) + 1))
        low, high = y.at(p.y - p.deviation), y.at(p.y + p.deviation)
        parts.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{COLORS[number]}" stroke-width="2"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y.at(p.y):.1f}" r="3.5" fill="{COLORS[number]}"/>')
    return parts


def _stroke(number: int) -> str:
    dash = {"dash": "6 3", "dot": "1.5 3", "dashdot": "6 3 1.5 3", "longdash": "10 4"}.get(DASHES[number], "none")
    return f'stroke="{COLORS[number]}" stroke-width="2" stroke-dasharray="{dash}"'


def _legend(names: Sequence[str], columns: int) -> list[str]:
    parts = []
    for number, name in enumerate(names):
        x, y = 8 + number % columns * (WIDTH - 8) / columns, HEIGHT + 10 + number // columns * ROW
        parts.append(f'<path d="M{x:.0f} {y - 4}h18" {_stroke(number)}/>')
        parts.append(_text(x + 23, y, name, "start"))
    return parts


def read_note(text: str) -> Iterator[dict[str, str]]:
    """Yield the numbers in the tables of the benchmark note, by the names in `FIELDS`."""
    setting = figure = ""
    sizes: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if heading := re.match(r"## (\S+), (?:Fig\. (\w+)(?: (left|right))?|Table \d+):", line):
            setting = SETTINGS[heading[1]]
            figure = f"fig{heading[2]}" + (f"-{heading[3]}" if heading[3] else "") if heading[2] else ""
        elif line.startswith("| method"):
            sizes = [cell.removeprefix("n = ").replace(",", "") for cell in cells[1:]]
        elif line.startswith("|") and figure and len(cells) == 5 and " ± " in cells[3] and cells[0] != "set":
            yield _measured(setting, figure, cells)
        elif line.startswith("|") and figure and len(cells) == len(sizes) + 1 and not line.startswith("|-"):
            for size, cell in zip(sizes, cells[1:], strict=True):
                if found := re.match(r"([\d.]+) s", cell):  # others took too long
                    yield dict(zip(FIELDS, (setting, figure, "", cells[0], size, found[1], ""), strict=True))


def _measured(setting: str, figure: str, cells: Sequence[str]) -> dict[str, str]:
    data, method, at, score, seconds = cells
    mean, deviation = score.split(" ± ")
    x = {SECONDS: seconds, "": ""}.get(AXES[setting, figure].x, at)
    name = data.partition(", ")[2] if "pairs" in data else data
    return dict(zip(FIELDS, (setting, figure, name, method, x, mean, deviation), strict=True))


if __name__ == "__main__":
    for setting, figure in AXES:
        file_of(f"paper-{setting}-{figure}").write_text(drawn(setting, figure), encoding="utf-8")
