"""What a newcomer waits for: imports, and compilation."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from dsgcore.benchmark.rows import Row
from dsgcore.benchmark.settings import Sizes
from dsgcore.benchmark.timing import in_new_process

ROUNDS = 3
IMPORT = """
import time
start = time.perf_counter()
{}
print(time.perf_counter() - start)
"""
FIRST_CALL = """
import time
from dsgcore.core.features import warm_up
start = time.perf_counter()
warm_up()
print(time.perf_counter() - start)
"""


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure imports, and the loops' first call without and with a filled cache; each in a process of its own."""
    rounds = range(min(sizes.repeats, ROUNDS))
    for what, target in (("import dsgcore", 1.0), ("from dsgcore import Run", None)):
        value = min(in_new_process(IMPORT.format(what)) for _ in rounds)
        yield Row(f"start: {what}", value, "s", target, is_most=True)
    with tempfile.TemporaryDirectory() as folder:
        cold = in_new_process(FIRST_CALL, NUMBA_CACHE_DIR=folder)
        yield Row("start: compiling all loops from nothing", cold, "s", 20, is_most=True)
        cached = min(in_new_process(FIRST_CALL, NUMBA_CACHE_DIR=folder) for _ in rounds)
        yield Row("start: loading all loops from the cache", cached, "s", 0.5, is_most=True)
