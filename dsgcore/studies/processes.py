"""One run of a study, and the pool of processes on this machine in which it is made.

A spec's text is the input of a run, the contents of a store's rows are its output. Runs are too many and too short for
one job each.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dsgcore.core.parameters import Integer
from dsgcore.core.threads import set_workers
from dsgcore.data import Split
from dsgcore.experiments import Run, Spec, StopReason, load_split, summary
from dsgcore.experiments.run import step_limit
from dsgcore.jobs import worker
from dsgcore.jobs.memory import limit_growth

FORK_SERVER = "forkserver"
PRELOADED = ["dsgcore.studies.preloaded"]
MEMORY = 2 * 10**9
JOBS = Integer("jobs", None, low=1, high=256, optional=True)
# Other processes have priority for the cores.
NICENESS = 10


_given_up: Any = threading.Event()


class GivenUpError(Exception):
    """A study that has been given up."""


@dataclass
class Pool:
    """Where runs are made: any executor, the number of runs that it makes at a time, and another one if it breaks."""

    executor: Executor
    at_once: int = 1
    again: Callable[[], Executor] | None = None

    def submit(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Future[Any]:
        """Submit a call, if necessary to another executor in place of a broken one."""
        try:
            return self.executor.submit(function, *arguments, **options)
        except BrokenExecutor:
            if self.again is None:
                raise
            self.executor = self.again()
            return self.executor.submit(function, *arguments, **options)


@contextmanager
def this_process() -> Iterator[Pool]:
    """Provide this process itself, which makes one run at a time."""
    executor = ThreadPoolExecutor(1)
    try:
        yield Pool(executor)
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def local_processes(jobs: int, memory: int | None = MEMORY) -> Iterator[Pool]:
    """Provide processes on this machine, with one thread each. If the block ends early, they end within about a second.

    If the system can fork, they are forks of one process that has imported everything that runs need.

    Parameters
    ----------
    jobs : int
        Number of processes.
    memory : int, optional
        Bytes that each may take.
    """
    n, made_by = int(JOBS.check(jobs) or 1), context()
    if made_by.get_start_method() == FORK_SERVER:
        _begin_server()
    given_up = made_by.Event()

    def begin() -> Executor:
        return ProcessPoolExecutor(n, made_by, begin_worker, (given_up, memory))

    pool = Pool(begin(), n, begin)
    try:
        yield pool
    except BaseException:
        given_up.set()
        raise
    finally:
        pool.executor.shutdown(cancel_futures=True)


def all_cores() -> int:
    """Return the usual number of processes: one for each core."""
    return min(os.cpu_count() or 1, JOBS.high or 1)


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


def _begin_server() -> None:
    """Start the process that workers are forked from. Ctrl+C is for this process alone, which tells its workers."""
    from multiprocessing import forkserver, resource_tracker  # not on Windows

    resource_tracker.ensure_running()  # which would end what follows
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # its workers inherit this, too
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


# Seconds between two checks if the study has been given up.
SLICE_SECONDS = 0.2

# A run's text, its summary, and recorded columns.
Made = tuple[str, dict[str, Any], dict[str, NDArray]]
# Makes them from the text, and the folder of the user's own data file.
Maker = Callable[..., Made]


def make_run(text: str, folder: str | None = None) -> Made:
    """Make the run of a spec, given as JSON text; return the text, the run's summary and its history's columns.

    The columns are those of a brief run; a run that diverges has all columns of a `Run`.
    `folder` holds the user's own data file, if the spec names the file without a folder.

    Raises
    ------
    ValueError
        If the data do not fit the spec.
    MemoryError
        If the run does not fit into memory.
    GivenUpError
        If the study has been given up.
    """
    spec = Spec.from_json(text)
    split = split_of(spec, folder)
    run = _finished(Run(spec, split, measure="brief"))
    if run.stop_reason is StopReason.DIVERGED:
        run = _finished(Run(spec, split))  # this one goes back to the last state that was still good
    said = summary(run) | {"step_limit": _step_limit(run)}
    return text, said, {name: run.history.column(name) for name in run.history.names}


def _finished(run: Run) -> Run:
    while not run.is_finished:
        if is_given_up():
            raise GivenUpError
        run.advance(seconds=SLICE_SECONDS)
    return run


# Step limits by spec without step: runs that differ in the step alone have the same limit.
_step_limits: dict[str, float | None] = {}
MOST_LIMITS = 1000


def _step_limit(run: Run) -> float | None:
    without = replace(run.spec, solver=replace(run.spec.solver, step_size=1.0)).to_json()
    if without not in _step_limits:
        if len(_step_limits) >= MOST_LIMITS:
            _step_limits.clear()
        _step_limits[without] = step_limit(run)
    return _step_limits[without]


@lru_cache(maxsize=4)
def _split(text: str, folder: str | None) -> Split:
    return load_split(Spec.from_json(text), folder=None if folder is None else Path(folder))


def split_of(spec: Spec, folder: str | None) -> Split:
    """Return a spec's data; specs with the same data share them."""
    if spec.data.path is not None and folder is None:
        return load_split(spec)  # the file may have changed since
    plain = {"setting": spec.problem.name, "data": spec.to_dict()["data"], "seed": spec.seed}
    return _split(Spec.from_dict(plain).to_json(), folder)
