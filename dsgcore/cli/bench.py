"""The command ``dsg-lab bench``, and the table and the JSON of its measurements."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any

from dsgcore.core._threads import n_workers
from dsgcore.core.text_files import check_place
from dsgcore.kernels.speed import DIMENSIONS, Row, measure_kernel, measure_machine

NAME_WIDTH = 78
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "torch")


def bench(given: argparse.Namespace) -> int:
    """Measure the kernel's loop in each number of columns, and print each row as it comes."""
    if given.json is not None:
        check_place(given.json, "--json")
    print(_processor())
    report(chain(measure_machine(), *map(measure_kernel, DIMENSIONS)), given.json)
    return 0


def report(rows: Iterable[Row], file: Path | None = None) -> list[Row]:
    """Print each row as it comes, and a summary; write them to a JSON file if there is one. Return the rows."""
    print(heading())
    shown: list[Row] = []
    for row in rows:
        shown.append(row)
        print(line(row), flush=True)
    print(summary(shown))
    if file is not None:
        results = {"machine": description(), "results": [row.to_dict() for row in shown]}
        file.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return shown


def heading() -> str:
    """Return the table's first line."""
    return f"{'':{NAME_WIDTH}}{'measured':>12} {'unit':8}{'target':>12}  met"


def line(row: Row) -> str:
    """Return a row as a line of the table; a missed target has the part that is missing."""
    if row.target is None:
        return f"{row.name:{NAME_WIDTH}}{row.value:>12.4g} {row.unit}".rstrip()
    sign, side = ("<=", "above") if row.is_most else (">=", "below")
    met = "yes" if row.met else f"NO, {abs(row.value / row.target - 1):.1%} {side}"
    return f"{row.name:{NAME_WIDTH}}{row.value:>12.4g} {row.unit:8}{f'{sign} {row.target:g}':>12}  {met}"


def summary(rows: Sequence[Row]) -> str:
    """Return the table's last line."""
    promised = [row for row in rows if row.target is not None]
    return f"{sum(bool(row.met) for row in promised)} of {len(promised)} targets are met."


def description() -> dict[str, Any]:
    """Return the machine and the versions of programs, for the JSON file."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "workers": n_workers(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: _version(name) for name in LIBRARIES},
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
