"""One pool of worker threads for the whole process. BLAS is limited to one thread while it works.

Rows are split into pieces at multiples of a fixed tile. One thread works on each piece in a fixed order, so results do
not depend on the number of workers. Without the limit, BLAS would start its own threads inside each worker. Between its
pieces, long work pauses, so that the caller may let others use the cores.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from dsgcore.core.errors import DSGError

# Work below this many evaluations costs less than handing it to another thread.
MIN_EVALUATIONS_PER_WORKER = 250_000
# Pieces per worker. More than one, so that a slow worker can take fewer.
PIECES_PER_WORKER = 4
# About 50 ms: between pieces the calling thread may pause.
MAX_EVALUATIONS_PER_PIECE = 50_000_000


class _Workers:
    """The pool, made at first use and replaced when the number of workers changes."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        # Linux alone knows a container's limits.
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.count = int(os.environ.get("DSGCORE_WORKERS", 0)) or cores
        self.executor: ThreadPoolExecutor | None = None


_workers = _Workers()
_pause: ContextVar[Callable[[], None] | None] = ContextVar("pause", default=None)


@contextmanager
def pausing(pause: Callable[[], None]) -> Iterator[None]:
    """Make all work in the block call `pause` between its pieces, in this thread, about every 50 ms or more often.

    `pause` must return: work that has begun must end, or a run would be left between two iterations.
    """
    token = _pause.set(pause)
    try:
        yield
    finally:
        _pause.reset(token)


def pause() -> None:
    """Call this thread's `pause`, if it has one."""
    if (wait := _pause.get()) is not None:
        wait()


def n_workers() -> int:
    """Return the number of worker threads."""
    return _workers.count


def set_workers(count: int) -> None:
    """Set the number of worker threads (default: the number of cores); results do not depend on it."""
    if count < 1:
        raise DSGError(f"the number of workers must be at least 1, got {count}")
    with _workers.lock:
        if _workers.executor is not None:
            _workers.executor.shutdown(wait=True)
        _workers.executor, _workers.count = None, count


class _Thread(threading.local):
    is_at_work = False  # True inside a piece's work


_thread = _Thread()


def pieces(n: int, tile: int, evaluations: int) -> list[slice]:
    """Split `n` rows at multiples of `tile` into about equal pieces: a few per worker, and none too small.

    Inside another piece's work there are no other workers: the result is one piece.
    """
    if _thread.is_at_work:
        return [slice(0, n)][: n > 0]
    n_tiles = -(-n // tile)
    most = 1 if _workers.count == 1 else PIECES_PER_WORKER * _workers.count
    wanted = min(most, max(1, evaluations // MIN_EVALUATIONS_PER_WORKER))
    wanted = min(n_tiles, max(wanted, -(-evaluations // MAX_EVALUATIONS_PER_PIECE)))
    edges = [n_tiles * i // wanted * tile for i in range(wanted)] if wanted else []
    return [slice(a, b) for a, b in zip(edges, [*edges[1:], n], strict=False)]


def for_each_piece(work: Callable[[slice], None], n: int, tile: int, evaluations: int) -> None:
    """Call `work` on the `pieces` of some rows; this thread and all free threads of the pool take one after the other.

    Little work is one piece, and so is all of it inside such work: a pool that waits for itself would never finish.
    """
    with single_threaded_blas():
        is_shared = evaluations >= 2 * MIN_EVALUATIONS_PER_WORKER and not _thread.is_at_work
        if is_shared and len(parts := pieces(n, tile, evaluations)) > 1:
            _share(work, parts)
            return
        work(slice(0, n))
        if not _thread.is_at_work and (wait := _pause.get()) is not None:
            wait()


def _share(work: Callable[[slice], None], parts: list[slice]) -> None:
    waiting = iter(parts)

    def take(between: Callable[[], None] = lambda: None) -> None:
        _thread.is_at_work = True
        try:
            for part in waiting:
                work(part)
                between()
        finally:
            _thread.is_at_work = False

    # In the caller's context: with its np.errstate.
    others = [copy_context() for _ in range(min(_workers.count, len(parts)) - 1)]
    with _workers.lock:
        if _workers.executor is None:
            _workers.executor = ThreadPoolExecutor(_workers.count, thread_name_prefix="dsgcore")
        pool = _workers.executor
    futures = [pool.submit(context.run, take) for context in others]
    try:
        take(pause)
    finally:
        # Threads that have not begun are not needed any more. The others write into the caller's arrays.
        errors = [future.exception() for future in futures if not future.cancel()]
    for error in errors:
        if error is not None:
            raise error


@cache
def _blas() -> tuple[ThreadpoolController, list[Callable[..., object]]]:
    """Return what sets the limit, and functions to call before: they let this thread do it.

    From threadpoolctl 3.8 on, the first thread that sets a limit is the only one that can. Others are ignored in silence.
    """
    import scipy.linalg  # noqa: F401  (its BLAS is the one that compiled kernels call: it must be loaded to be found)

    blas = ThreadpoolController().select(user_api="blas")
    name = "clear_controlling_thread"
    return blas, [getattr(library, name) for library in blas.lib_controllers if hasattr(library, name)]


_limit_lock, _limiters = threading.Lock(), list[Any]()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread while at least one caller is inside; the last exit restores the earlier limit."""
    blas, lets_this_thread = _blas()
    with _limit_lock:
        if not _limiters:
            for let in lets_this_thread:
                let(force=True)
        _limiters.append(_limiters[0] if _limiters else blas.limit(limits=1))
    try:
        yield
    finally:
        with _limit_lock:
            limiter = _limiters.pop()
            if not _limiters:
                for let in lets_this_thread:  # the last one may be another thread than the first
                    let(force=True)
                limiter.restore_original_limits()


@cache
def _openmp() -> ThreadpoolController:
    import sklearn.cluster  # noqa: F401  (its OpenMP must be loaded to be found)

    return ThreadpoolController().select(user_api="openmp")


def single_threaded_openmp() -> AbstractContextManager[object]:
    """Limit OpenMP to one thread for what this thread calls.

    OpenMP's threads keep their cores while they wait for each other. Beside other work on the same cores, scikit-learn's
    k-means therefore takes thirty times as long with two threads as with one.
    """
    return _openmp().limit(limits=1)
