"""Resident memory, measured in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress

from dsgcore.benchmark.rows import Row
from dsgcore.benchmark.settings import Sizes
from dsgcore.benchmark.timing import in_new_process

MEGABYTE = 2**20
TRAINING = """
import json, sys
from dsgcore.benchmark.memory import forget_peak, peak
from dsgcore.benchmark.runs import paper_task, train
n, d, m, n_iter, batch_size = map(int, sys.argv[1:])
train(paper_task(100, d, m, 2, 8))
task = paper_task(n, d, m, n_iter, batch_size)
before = forget_peak()
train(task)
print(json.dumps(peak() - before))
"""


def forget_peak() -> int:
    """Let the peak of resident memory be what is resident now, where the system can; return the peak, in bytes."""
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return peak()


def peak() -> int:
    """Return the most memory that has been resident in this process, in bytes."""
    with suppress(OSError, StopIteration), open("/proc/self/status", encoding="ascii") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    import resource  # not on Windows; may count what the process had before it was this program

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


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
