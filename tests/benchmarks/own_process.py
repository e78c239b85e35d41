"""Measurements in separate processes, each on one thread, with limits on memory and CPU time.

The processes are forks of this one, which has imported all that they need, so a thousand short measurements lose no time
on imports. A fork is safe from a process that has no other thread: `on_one_thread` sees to that.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from dsgcore.jobs.memory import limit_growth

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DSGCORE_WORKERS")}
OUT_OF_TIME, OUT_OF_MEMORY = OUT_OF = ("out of time", "out of memory")
# A process that waits for something else than the processor is ended after so many times its bound.
PATIENCE = 10


@dataclass(frozen=True)
class Bounds:
    """Limits of one process."""

    seconds: float
    gigabytes: float

    @property
    def time(self) -> str:
        """The message for a process that needed more time."""
        return f"{OUT_OF_TIME} ({self.seconds:g} s)"

    @property
    def memory(self) -> str:
        """The message for a process that needed more memory."""
        return f"{OUT_OF_MEMORY} ({self.gigabytes:g} GB)"


def on_one_thread() -> None:
    """Begin this program again where libraries may already have started threads: they read the number when imported."""
    if any(os.environ.get(name) != value for name, value in ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})


def measured(
    function: Callable[[Any], Any], items: Iterable[Any], *, jobs: int, bounds: Bounds
) -> Iterator[tuple[Any, Any, str]]:
    """Yield each item with the function's result, or with None and the reason.

    Parameters
    ----------
    function : callable
    items : iterable
        Asked for the next one only when there is room for it: what is known by then may decide what is next.
    jobs : int
        Processes at a time.
    bounds : Bounds
    """
    context, waiting = multiprocessing.get_context("fork"), iter(items)
    running: dict[Connection, tuple[BaseProcess, Any, float]] = {}
    while True:
        while len(running) < jobs and (item := next(waiting, None)) is not None:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(theirs, function, item, bounds))
            process.start()
            theirs.close()
            running[ours] = (process, item, time.monotonic())
        if not running:
            return
        for end in _over(running, bounds):
            process, item, _ = running.pop(end)
            yield item, *_outcome(end, process, bounds)


def _over(running: dict[Connection, tuple[BaseProcess, Any, float]], bounds: Bounds) -> list[Connection]:
    """Return the ends of those processes that have said something or are gone; kill one that has waited too long."""
    for process, _, begun in running.values():
        if time.monotonic() - begun > PATIENCE * bounds.seconds:
            process.kill()
    return [end for end in wait(list(running), timeout=1.0) if isinstance(end, Connection)]


def _outcome(end: Connection, process: BaseProcess, bounds: Bounds) -> tuple[Any, str]:
    try:
        result, failure = end.recv()
    except EOFError:
        process.join()
        out_of_time = process.exitcode in (-24, -9)  # SIGXCPU, SIGKILL
        result, failure = None, bounds.time if out_of_time else f"ended with {process.exitcode}"
    end.close()
    process.join()
    return result, failure


def _work(end: Connection, function: Callable[[Any], Any], item: Any, bounds: Bounds) -> None:
    """Do one measurement inside the bounds, and send what came of it."""
    gc.freeze()  # what was there before is not looked through, and not copied
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(used + bounds.seconds) + 1, resource.RLIM_INFINITY))
    limit_growth(int(bounds.gigabytes * 1e9), lambda: os._exit(1))
    try:
        end.send((function(item), ""))
    except MemoryError:
        end.send((None, bounds.memory))
    except ValueError as error:
        end.send((None, f"refused: {error}"))
    except Exception as error:  # the others go on
        end.send((None, f"failed: {type(error).__name__}: {error}"))
