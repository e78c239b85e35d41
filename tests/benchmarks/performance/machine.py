"""Speed of the evaluation loop on this machine, beside the least time that the machine needs and other programs; the report.

The least time (floor) of one evaluation in d columns is that of d multiply-adds in a large matrix product, and of one
cosine in the first-level cache.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from dsgcore.core.threads import n_workers, set_workers, single_threaded_blas
from dsgcore.kernels import features, loops
from dsgcore.kernels.kernels import Gaussian

# Numbers of columns of the measurements, and the least ratio of the floor to the measured time.
DIMENSIONS = (1, 3, 8, 22, 54, 128, 784)
OF_FLOOR = 0.95
_SIZE, _COLUMNS, _CALLS = 1024, 512, 40
NAME_WIDTH = 78
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "torch")


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


@dataclass(frozen=True)
class Peer:
    """The same evaluation by another program.

    Attributes
    ----------
    evaluation : callable
        Returns the timed call for the points, the frequencies and the phases.
    n_most : int
        Number of points at most; the time of one evaluation counts.
    targets : mapping
        The least ratio of its time to ours, by number of columns.
    """

    name: str
    evaluation: Callable[[NDArray, NDArray, NDArray], Callable[[], object]]
    n_most: int
    targets: Mapping[int, float] = field(default_factory=dict)


NUMPY = Peer("numpy", lambda X, W, r: lambda: np.cos(2 * np.pi * (X @ W - r)) @ r, n_most=960, targets={784: 1.0})


def seconds(call: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(repeats: int, calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the shortest time of each call. The calls take turns, after one round that does not count."""
    rounds = [{name: seconds(call) for name, call in calls.items()} for _ in range(repeats + 1)]
    return {name: min(times[name] for times in rounds[1:]) for name in calls}


@contextmanager
def workers(count: int) -> Iterator[None]:
    """Give the core so many worker threads in the block."""
    before = n_workers()
    set_workers(count)
    try:
        yield
    finally:
        set_workers(before)


def measure_machine(repeats: int = 9) -> Iterator[Row]:
    """Measure the machine's rates, on one thread."""
    with single_threaded_blas():
        times = interleaved(repeats, _floor_calls())
    yield Row("machine: matrix product, one thread", 2e-9 * _SIZE**3 / times["product"], "GFlop/s")
    yield Row("machine: cosine, one thread", 1e9 * _floor(times, 0), "ns")


def measure_kernel(
    d: int, *, n: int = 9600, m: int = 1000, repeats: int = 9, peers: Sequence[Peer] = (NUMPY,)
) -> Iterator[Row]:
    """Measure the loop in `d` columns, for `n` points and `m` features, on one thread."""
    rng = np.random.default_rng(d)
    X, r = rng.standard_normal((n, d), dtype=np.float32), rng.random(m, dtype=np.float32)
    W, block, out = Gaussian(1 / d).frequencies(rng, d, m), np.stack([r, r]), np.zeros(n, dtype=np.float32)
    calls = {**_floor_calls(), "ours": lambda: features.evaluate(X, W, block, 1.0, out)}
    with workers(1), single_threaded_blas():
        times = interleaved(repeats, calls | {peer.name: peer.evaluation(X[: peer.n_most], W, r) for peer in peers})
    ours, floor = times["ours"] / (n * m), _floor(times, d)
    yield Row(f"kernel, d = {d}: one evaluation, one thread", 1e9 * ours, "ns")
    yield Row(f"kernel, d = {d}: the machine's floor", 1e9 * floor, "ns")
    yield Row(f"kernel, d = {d}: floor / measured", floor / ours, "", OF_FLOOR)
    for peer in peers:
        theirs = times[peer.name] / (min(n, peer.n_most) * m)
        yield Row(f"kernel, d = {d}: {peer.name} / ours, one thread", theirs / ours, "x", peer.targets.get(d))


def _floor_calls() -> dict[str, Callable[[], object]]:
    """Return the timed calls for the floor: a large matrix product, and cosines in the first-level cache."""
    rng = np.random.default_rng(0)
    A = np.asfortranarray(rng.standard_normal((_SIZE, _SIZE), dtype=np.float32))
    C = np.empty_like(A)
    turns = rng.standard_normal((loops.TILE_ROWS, _COLUMNS), dtype=np.float32)
    wave, out = rng.standard_normal(_COLUMNS, dtype=np.float32), np.zeros(loops.TILE_ROWS, dtype=np.float32)

    def cosines() -> None:
        for _ in range(_CALLS):
            loops.add_cosines(turns, wave, wave, out, None)

    return {"product": lambda: blas.sgemm(1.0, A, A, 0.0, C, overwrite_c=1), "cosines": cosines}


def _floor(times: Mapping[str, float], d: int) -> float:
    """Return the least seconds of one evaluation, from the times of `_floor_calls`."""
    return d * times["product"] / _SIZE**3 + times["cosines"] / (_CALLS * loops.TILE_ROWS * _COLUMNS)


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
