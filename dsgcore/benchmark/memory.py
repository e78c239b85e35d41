"""Resident memory, measured in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

from dsgcore._memory import MEGABYTE, forget_peak, peak
from dsgcore.benchmark.rows import Row
from dsgcore.benchmark.settings import Sizes
from dsgcore.benchmark.timing import in_new_process

__all__ = ["MEGABYTE", "forget_peak", "measure", "peak"]

TRAINING = """
import json, sys
from dsgcore._memory import forget_peak, peak
from dsgcore.benchmark.runs import paper_task, train
n, d, m, n_iter, batch_size = map(int, sys.argv[1:])
train(paper_task(100, d, m, 2, 8))
task = paper_task(n, d, m, n_iter, batch_size)
before = forget_peak()
train(task)
print(json.dumps(peak() - before))
"""


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure what training takes over its data."""
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
