"""Pool of processes on this machine for the runs of a study, which are too many and too short for one job each."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import wait
from typing import Any

from dsgcore.core._threads import n_workers, set_workers
from dsgcore.jobs import worker
from dsgcore.jobs.memory import limit_growth

FORK_SERVER = "forkserver"
PRELOADED = ["dsgcore.studies.preloaded"]
MEMORY = 2 * 10**9
# Other processes have priority for the cores.
NICENESS = 10


_given_up: Any = threading.Event()


class GivenUpError(Exception):
    """A study that has been given up."""


@contextmanager
def local_processes(jobs: int | None = None, memory: int | None = MEMORY) -> Iterator[Executor]:
    """Provide processes on this machine, with one thread each. If the block ends early, they end within about a second.

    If the system can fork, they are forks of one process that has imported everything that runs need.

    Parameters
    ----------
    jobs : int, optional
        Number of processes; by default one per core.
    memory : int, optional
        Bytes that each may take.
    """
    made_by = context()
    given_up = made_by.Event()
    executor = ProcessPoolExecutor(jobs or n_workers(), made_by, begin_worker, (given_up, memory))
    try:
        yield executor
    except BaseException:
        given_up.set()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def context() -> Any:
    """Return the context of `multiprocessing` that makes processes for runs: forks if the system has them."""
    if worker.is_a_fork:  # which has one thread and nearly all imports, so it needs no server
        for module in PRELOADED:
            import_module(module)
        return multiprocessing.get_context("fork")
    if FORK_SERVER not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    forked = multiprocessing.get_context(FORK_SERVER)
    forked.set_forkserver_preload(PRELOADED)
    return forked


def give_way() -> None:
    """Lower the priority of this process and its children."""
    with suppress(AttributeError, OSError):  # not everywhere
        os.nice(NICENESS)


def begin_worker(given_up: Any, memory: int | None) -> None:
    """Prepare a process for runs: one thread, a memory limit beyond its current memory, and a signal to give up."""
    global _given_up
    _given_up = given_up
    threading.Thread(target=_end_with_parent, name="parent's watch", daemon=True).start()
    set_workers(1)
    if memory is not None:
        limit_growth(memory, lambda: os._exit(1))


def _end_with_parent() -> None:
    """End this process when its parent has ended, for whatever reason: nothing else would end it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def is_given_up() -> bool:
    """Return True if the study has been given up."""
    return bool(_given_up.is_set())
