"""Resident memory, measured in separate processes: for training in memory, and from a file larger than memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dsgcore.jobs.memory import MEGABYTE
from performance.machine import Row
from performance.measuring import Sizes, in_new_process

TRAINING = """
import json, sys
from dsgcore.jobs.memory import forget_peak, peak
from performance.runs import paper_task, train
n, d, m, n_iter, batch_size = map(int, sys.argv[1:])
train(paper_task(100, d, m, 2, 8))
task = paper_task(n, d, m, n_iter, batch_size)
before = forget_peak()
train(task)
print(json.dumps(peak() - before))
"""
COLUMNS = 22
ROWS_WRITTEN_AT_ONCE = 100_000
# Training's own memory. The row numbers of the two sources, 4 bytes per point, are there before.
TRAINING_FROM_FILE = """
import json, sys, time
from dataclasses import replace
import numpy as np
from dsgcore.jobs.memory import forget_peak, peak
from performance.runs import paper_task, train
file, m, n_iter, batch_size = sys.argv[1], *map(int, sys.argv[2:])
X = np.load(file, mmap_mode="r")
small = paper_task(100, X.shape[1], m, n_iter, batch_size)
train(replace(small, plan=replace(small.plan, n_iter=2)))
half = len(X) // 2
rows = {"similar": np.arange(half, dtype=np.int32), "unlabeled": np.arange(half, len(X), dtype=np.int32)}
task = replace(small, X=X, rows=rows)
before, start = forget_peak(), time.perf_counter()
train(task)
print(json.dumps([peak() - before, time.perf_counter() - start]))
"""


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the memory that training takes besides its data."""
    s = sizes
    used = in_new_process(TRAINING, s.n, s.d, s.m, s.n_iter, s.batch_size) / MEGABYTE
    alpha = s.n_iter * s.m * 2 * 4 / MEGABYTE
    yield Row(
        f"memory: paper 1's setting, peak over the data ({s.n * s.d * 4 / MEGABYTE:.1f} MB) and alpha ({alpha:.1f} MB)",
        used - alpha,
        "MB",
        60,
        is_most=True,
    )


def measure_out_of_core(sizes: Sizes) -> Iterator[Row]:
    """Measure the papers' setting on a temporary file."""
    s = sizes
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.npy"
        write_points(file, s.stored)
        size = file.stat().st_size / MEGABYTE
        used, time = in_new_process(TRAINING_FROM_FILE, file, s.m, s.n_iter, s.batch_size)
    name = f"out of core: {s.stored} points in a file of {size:.0f} MB, T = {s.n_iter}"
    yield Row(f"{name}: resident memory", used / MEGABYTE, "MB", 250, is_most=True)
    yield Row(f"{name}: time", time, "s")


def write_points(file: Path, n: int) -> None:
    """Write n normal points to a NumPy file, a piece at a time."""
    points = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(n, COLUMNS))
    rng = np.random.default_rng(0)
    for start in range(0, n, ROWS_WRITTEN_AT_ONCE):
        piece = points[start : start + ROWS_WRITTEN_AT_ONCE]
        rng.standard_normal(dtype=np.float32, out=piece)
    points.flush()
