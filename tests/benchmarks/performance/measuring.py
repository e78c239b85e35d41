"""Parts of measurements: sizes, times that other work on the machine disturbs little, and rows of a table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dsgcore.core._threads import n_workers, set_workers

NAME_WIDTH = 78


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
    dimensions: tuple[int, ...] = (3, 22, 54, 128, 784)
    rows: int = 9600
    demo_iter: int = 300
    # Points for prediction, for the file that does not fit in memory, and for the run on worker processes.
    predicted: int = 32_768
    stored: int = 20_000_000
    shared: int = 1_000_000
    # Points and columns of the estimators' fits.
    fitted: int = 10_000
    fitted_d: int = 100


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes
    ----------
    name : str
        The measured quantity, and its extrapolated part.
    target : float or None
        The promised minimum, or maximum if `is_most`; None without a promise.
    """

    name: str
    value: float
    unit: str
    target: float | None = None
    is_most: bool = False

    @property
    def met(self) -> bool | None:
        """True if the target is met; None without one."""
        if self.target is None:
            return None
        return bool(self.value <= self.target if self.is_most else self.value >= self.target)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as the JSON file has it."""
        return {"name": self.name, "value": self.value, "unit": self.unit, "target": self.target, "met": self.met}


def heading() -> str:
    """Return the table's first line."""
    return f"{'':{NAME_WIDTH}}{'measured':>12} {'unit':8}{'target':>12}  met"


def line(row: Row) -> str:
    """Return a row as a line of the table."""
    target = "" if row.target is None else f"{'<=' if row.is_most else '>='} {row.target:g}"
    met = {None: "", True: "yes", False: "NO"}[row.met]
    return f"{row.name:{NAME_WIDTH}}{row.value:>12.4g} {row.unit:8}{target:>12}  {met}".rstrip()


def summary(rows: Sequence[Row]) -> str:
    """Return the table's last line."""
    promised = [row for row in rows if row.target is not None]
    return f"{sum(bool(row.met) for row in promised)} of {len(promised)} targets are met."


def seconds(call: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(repeats: int, calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the shortest time of each call. The calls take turns, after one round that does not count."""
    rounds = [{name: seconds(call) for name, call in calls.items()} for _ in range(repeats + 1)]
    return {name: min(times[name] for times in rounds[1:]) for name in calls}


def repeated(call: Callable[[], object], times: int) -> Callable[[], None]:
    """Return several calls as one, so that short and long measurements suffer equally from other work."""

    def calls() -> None:
        for _ in range(times):
            call()

    return calls


@contextmanager
def workers(count: int) -> Iterator[None]:
    """Give the core so many worker threads in the block."""
    before = n_workers()
    set_workers(count)
    try:
        yield
    finally:
        set_workers(before)


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
