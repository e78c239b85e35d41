"""Parts of measurements: sizes, calls that belong together, and processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from performance.machine import DIMENSIONS


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measurements; tests use tiny ones."""

    # Rounds of the short measurements; the shortest time counts.
    repeats: int = 9
    # The papers' usual run: points, coordinates, features, iterations, points drawn from each of two sources.
    n: int = 20_000
    d: int = 54
    m: int = 1000
    n_iter: int = 100
    batch_size: int = 1000
    # Iterations of the papers' own algorithm, which is extrapolated.
    plain_iter: int = 10
    # Factor for the run's length in growth measurements; it is 2 for the other sizes.
    growth: int = 4
    # Numbers of coordinates at which the evaluation loop is measured, and number of points.
    dimensions: tuple[int, ...] = DIMENSIONS
    rows: int = 9600
    # Points of the file that does not fit in memory.
    stored: int = 20_000_000
    # Points and columns of the estimators' fits.
    fitted: int = 10_000
    fitted_d: int = 100


def repeated(call: Callable[[], object], times: int) -> Callable[[], None]:
    """Return several calls as one, so that short and long measurements suffer equally from other work."""

    def calls() -> None:
        for _ in range(times):
            call()

    return calls


def in_new_process(program: str, *arguments: object, **environment: str) -> Any:
    """Return the JSON that a program, given as text, prints."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)
