"""A small picture of a run as SVG: its points, its labels, and the learned regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.experiments import Plane, Run, Surface
from pages.charts import figures as charts
from pages.charts import run_map

MAX_UNLABELED, MAX_LABELED, MAX_PAIRS = 260, 60, 16
SHADES = 5  # on each side of a boundary
DEEPEST = 0.55
GRID = 96


@dataclass(frozen=True)
class Sheet:
    """The size of a picture and of its cells, in pixels."""

    width: int
    height: int
    cell: int = 3  # side of a cell of the learned regions


def picture_of(run: Run, sheet: Sheet, *, has_learned: bool = True, alt: str = "") -> str:
    """Draw a run's points with the labels that the method sees, and the learned regions if `has_learned` is true."""
    plane = Plane.through(run.split.X_train)
    return svg([*(learned(run, plane, sheet) if has_learned else []), *points(run, plane, sheet)], sheet, alt)


def svg(parts: Sequence[str], sheet: Sheet, alt: str = "") -> str:
    """Return a picture of these parts, with a text for screen readers."""
    size = f'width="{sheet.width}" height="{sheet.height}" viewBox="0 0 {sheet.width} {sheet.height}"'
    said = f' role="img" aria-label="{escape(alt)}"' if alt else ""
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}{said}>\n' + "\n".join(parts) + "\n</svg>\n"


def learned(run: Run, plane: Plane, sheet: Sheet) -> list[str]:
    """Return the learned regions: a path for each shade, with its cells row by row."""
    cells, shades = _shades(run, plane, sheet)
    paths, side = [""] * len(shades), sheet.cell
    for row, values in enumerate(cells):
        x = 0
        for shade, same in groupby(values.tolist()):
            width = side * len(list(same))
            paths[shade] += f"M{x} {side * row}h{width}v{side}h-{width}z"
            x += width
    drawn = zip(paths, shades, strict=True)
    return [f'<path d="{path}" fill="{color}" opacity="{depth:.2f}"/>' for path, (color, depth) in drawn if path]


def _shades(run: Run, plane: Plane, sheet: Sheet) -> tuple[NDArray, list[tuple[str, float]]]:
    """Return the number of each cell's shade, from the upper left, and each shade's colour and opacity."""
    labels, k = run.problem.labels, len(run.split.class_names)
    if labels == "classes":
        winner = run.model.evaluate(plane.grid(GRID)).argmax(axis=-1)
        return _cells(winner, sheet), [(run_map.class_color(label, k), 0.35) for label in range(k)]
    f = Surface(plane.grid(GRID), run.model).values(run.model).astype(float)
    if labels == "ordinal":
        shares = np.cumsum(np.bincount(run.split.y_hidden, minlength=k))[:-1] / len(run.split.y_hidden)
        cuts = np.quantile(run.test_values, shares)
        return _cells(np.searchsorted(cuts, f), sheet), [(color, 0.4) for color in charts.ordered_colors(k)]
    f -= 0.0 if run.problem.decision == "sign" else float(np.median(run.test_values))
    steps = np.clip(np.floor(f / np.quantile(np.abs(f), 0.9) * SHADES), -SHADES, SHADES - 1).astype(int)
    depth = [DEEPEST * (i + 1) / SHADES for i in range(SHADES)]
    shades = [(charts.NEGATIVE, d) for d in reversed(depth)] + [(charts.POSITIVE, d) for d in depth]
    return _cells(steps + SHADES, sheet), shades


def _cells(values: NDArray, sheet: Sheet) -> NDArray:
    """Return the values of a square grid at the picture's cells, row by row from the top."""
    rows, columns = sheet.height // sheet.cell, sheet.width // sheet.cell
    grid = values.reshape(GRID, GRID)[::-1]
    return grid[np.linspace(0, GRID - 1, rows).round().astype(int)][
        :, np.linspace(0, GRID - 1, columns).round().astype(int)
    ]


def points(run: Run, plane: Plane, sheet: Sheet) -> list[str]:
    """Return the unlabeled points as small grey dots, and the labels: classes, or pairs joined by a line."""
    xy, y = plane.project(run.split.X_train), run.split.y_train
    placed = (xy - plane.low) / (plane.high - plane.low) * [sheet.width, -sheet.height] + [0, sheet.height]
    grey = placed[y < 0][:MAX_UNLABELED]
    path = "".join(f"M{a:.0f} {b:.0f}h0" for a, b in grey)
    dots = f'<path d="{path}" stroke="{charts.UNLABELED}" stroke-width="3" stroke-linecap="round" opacity="0.75"/>'
    told: list[str] = (_pairs if run.problem.labels == "pairs" else _classes)(run, placed, y)
    return [dots, *told]


def _pairs(run: Run, xy: NDArray, y: NDArray) -> list[str]:
    members = np.flatnonzero(y >= 0)
    pairs = members[np.argsort(y[members], kind="stable")].reshape(-1, 2)
    pairs = pairs[:: -(-len(pairs) // MAX_PAIRS)]
    path = "".join(f"M{a:.0f} {b:.0f}L{c:.0f} {d:.0f}" for a, b, c, d in xy[pairs].reshape(-1, 4))
    line = f'<path d="{path}" stroke="{charts.PREDICTED}" stroke-width="1.2"/>'
    return [line, *(_mark("diamond", a, b, charts.PREDICTED) for a, b in xy[pairs.ravel()])]


def _classes(run: Run, xy: NDArray, y: NDArray) -> list[str]:
    k = len(run.split.class_names)
    ranks: Any = charts.ordered_colors(k) if run.problem.labels == "ordinal" else None
    labeled = np.flatnonzero(y >= 0)[:MAX_LABELED]
    return [
        _mark(run_map.class_symbol(label, k), a, b, ranks[label] if ranks else run_map.class_color(label, k))
        for (a, b), label in zip(xy[labeled], y[labeled].tolist(), strict=True)
    ]


_OUTLINES = {
    "circle": "M{x} {y}m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
    "triangle-up": "M{x} {y}m0 -5.5l5 9h-10z",
    "square": "M{x} {y}m-4 -4h8v8h-8z",
    "diamond": "M{x} {y}m0 -5l5 5l-5 5l-5 -5z",
}


def _mark(symbol: str, x: float, y: float, color: str) -> str:
    outline = _OUTLINES.get(symbol, _OUTLINES["circle"]).format(x=f"{x:.0f}", y=f"{y:.0f}")
    return f'<path d="{outline}" fill="{color}" stroke="#FFFFFF" stroke-width="1"/>'
