"""The machine's speed, and the lower limit (floor) for the time of one evaluation."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy.linalg import blas

from dsgcore.core._threads import n_workers, single_threaded_blas
from dsgcore.kernels import _loops
from performance.measuring import Row, Sizes, interleaved

_SIZE = 1024
_COLUMNS = 512
_CALLS = 40


def description() -> dict[str, Any]:
    """Return the machine and the versions of programs, for the JSON file."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "workers": n_workers(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "scipy", "numba", "scikit-learn", "torch")},
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


def floor_calls() -> dict[str, Callable[[], object]]:
    """Return the timed calls for the floor, on one thread: a large matrix product, and cosines in the first-level cache."""
    rng = np.random.default_rng(0)
    A = np.asfortranarray(rng.standard_normal((_SIZE, _SIZE), dtype=np.float32))
    C = np.empty_like(A)
    turns = rng.standard_normal((_loops.TILE_ROWS, _COLUMNS), dtype=np.float32)
    wave, out = rng.standard_normal(_COLUMNS, dtype=np.float32), np.zeros(_loops.TILE_ROWS, dtype=np.float32)

    def cosines() -> None:
        for _ in range(_CALLS):
            _loops.add_cosines(turns, wave, wave, out)

    return {"product": lambda: blas.sgemm(1.0, A, A, 0.0, C, overwrite_c=1), "cosines": cosines}


def floor(times: dict[str, float], d: int) -> float:
    """Return the least seconds of one evaluation, from the times of `floor_calls`: d multiply-adds and a cosine."""
    return d * times["product"] / _SIZE**3 + times["cosines"] / (_CALLS * _loops.TILE_ROWS * _COLUMNS)


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the machine's rates, on one thread."""
    with single_threaded_blas():
        times = interleaved(sizes.repeats, floor_calls())
    yield Row("machine: matrix product, one thread", 2e-9 * _SIZE**3 / times["product"], "GFlop/s")
    yield Row("machine: cosine, one thread", 1e9 * floor(times, 0), "ns")
