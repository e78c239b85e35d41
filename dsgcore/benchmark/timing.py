"""Times that can be compared on a machine with other work on it, and measurements in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dsgcore.core._threads import n_workers, set_workers


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(repeats: int, calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the shortest time of each call: all are made in turn, after one round that does not count."""
    rounds = [{name: seconds(call) for name, call in calls.items()} for _ in range(repeats + 1)]
    return {name: min(times[name] for times in rounds[1:]) for name in calls}


def repeated(call: Callable[[], object], times: int) -> Callable[[], None]:
    """Return several calls as one: long measurements are slowed down by other work as short ones are not."""

    def calls() -> None:
        for _ in range(times):
            call()

    return calls


@contextmanager
def workers(count: int) -> Iterator[None]:
    """Let the core have so many worker threads inside."""
    before = n_workers()
    set_workers(count)
    try:
        yield
    finally:
        set_workers(before)


def in_new_process(program: str, *arguments: object, **environment: str) -> Any:
    """Return what a program, given as text, prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)
