"""The figure of the benchmarks' page: ``python tests/benchmarks/performance/figure.py SPEED.json FIGURE.svg``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

MEASURE = " / ours"
WIDTH, TEXT_WIDTH, BAR_WIDTH, ROW_HEIGHT = 860, 470, 330, 26


def figure(report: Mapping[str, Any]) -> str:
    """Return an SVG of bars with the relative times of the other methods."""
    rows = [row for row in report["results"] if MEASURE in row["name"]]
    height = ROW_HEIGHT * (len(rows) + 2)
    machine = f"{report['machine']['processor']}, {report['machine']['workers']} threads"
    largest = max((row["value"] for row in rows), default=1.0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="10" y="18" font-weight="bold">Time of others / time of dsgcore ({escape(machine)})</text>',
    ]
    for i, row in enumerate(rows, start=1):
        y, length = ROW_HEIGHT * i + 10, max(1.0, BAR_WIDTH * row["value"] / largest)
        name = escape(row["name"].replace(MEASURE, "").strip())
        lines += [
            f'<text x="10" y="{y + 14}">{name}</text>',
            f'<rect x="{TEXT_WIDTH}" y="{y + 2}" width="{length:.1f}" height="{ROW_HEIGHT - 10}" fill="#2a78b5"/>',
            f'<text x="{TEXT_WIDTH + length + 6:.1f}" y="{y + 14}">{row["value"]:.3g}×</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    report_file, figure_file = map(Path, sys.argv[1:])
    figure_file.write_text(figure(json.loads(report_file.read_text(encoding="utf-8"))), encoding="utf-8")
