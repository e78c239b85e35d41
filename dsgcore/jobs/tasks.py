"""Many short tasks: lists of them go to the jobs of a queue, to a Dask cluster or to this process, and none is lost."""

from __future__ import annotations

import math
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, NamedTuple

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Integer
from dsgcore.jobs.job import Job, JobError, JobQueue, JobState
from dsgcore.jobs.worker import raised

JOBS = Integer("jobs", None, low=1, high=256, optional=True)
SECONDS_BETWEEN_LOOKS, SECONDS_TO_END = 0.02, 1.0
# Reasons why a task has no result: it had begun when the time was over, or it had not.
CUT_OFF, NOT_BEGUN = "it was not finished when the time was over", "the time was over before it began"


class Finished(NamedTuple):
    """A task, and its result or the reason why it has none."""

    task: Any
    result: Any = None
    error: str = ""


def finished(
    queue: JobQueue | ClusterQueue | ThisProcess,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    lists: Iterable[Sequence[Hashable]],
    *,
    tries: int = 1,
    end: float = math.inf,
    is_cut: bool = True,
    check: Callable[[], object] = lambda: None,
    memory_limit: int | None = None,
) -> Generator[Finished]:
    """Yield the tasks of some lists as soon as their results are known, or the reasons why they have none.

    Parameters
    ----------
    queue : JobQueue, ClusterQueue or ThisProcess
    function : callable
        ``function(*shared, tasks, report=report)``, called in a job, does a list of tasks, and reports the result of each.
        If it ends early, the first task without a result is to blame, and the others go to another job.
    tries : int
        A task that is to blame is tried so many times, from then on alone.
    end : float
        Time of `time.monotonic` at which no list begins any more.
    is_cut : bool
        True if the tasks that have begun by then are cancelled.
    check : callable
        Called again and again; an exception that it raises ends all.
    memory_limit : int, optional
        Bytes that each job may take.
    """
    waiting, running, news, blamed = deque(map(list, lists)), dict[Any, deque](), SimpleQueue[Any](), Counter[Any]()
    try:
        while waiting or running:
            check()
            is_late = time.monotonic() >= end
            if is_late:
                yield from (Finished(task, error=NOT_BEGUN) for tasks in waiting for task in tasks)
                waiting.clear()
                _cancel(running if is_cut else ())
            while waiting and len(running) < queue.n_at_a_time:
                tasks = waiting.popleft()
                left = deque(tasks)
                options: dict[str, Any] = {
                    "on_report": lambda result, left=left: news.put((left, result)),
                    "memory_limit": memory_limit,
                }
                running[queue.submit(function, *shared, tasks, **options)] = left
            over = [job for job in running if job.is_over]  # all of their reports are among the news
            for _ in range(news.qsize()):
                left, result = news.get()
                yield Finished(left.popleft(), result)
            for job in over:
                if not (left := running.pop(job)):
                    continue
                if job.error:
                    task = left.popleft()
                    blamed[task] += 1
                    if blamed[task] < tries:
                        waiting.append([task])
                    else:
                        yield Finished(task, error=job.error)
                    if left:
                        waiting.appendleft([*left])
                else:
                    yield Finished(left.popleft(), error=CUT_OFF if is_cut else NOT_BEGUN)
                    yield from (Finished(task, error=NOT_BEGUN) for task in left)
            time.sleep(0.0 if over else SECONDS_BETWEEN_LOOKS)
    finally:
        _cancel(running)


def _cancel(jobs: Iterable[Any]) -> None:
    """Cancel jobs, and wait for their ends."""
    for job in jobs:
        job.cancel()
    for job in jobs:
        job.wait(SECONDS_TO_END)


def all_cores() -> int:
    """Return the usual number of jobs: one for each core."""
    return min(os.cpu_count() or 1, JOBS.high or 1)


@contextmanager
def queue_of(
    jobs: int | JobQueue | None, client: Any = None, what: str = "tasks"
) -> Iterator[JobQueue | ClusterQueue | ThisProcess]:
    """Provide a queue: a given one, one of so many jobs, that of a Dask client, or this process; `what` it makes, in words."""
    if client is not None:
        yield ClusterQueue(client, what)
    elif jobs is None:
        yield ThisProcess()
    elif isinstance(jobs, int):
        with JobQueue(JOBS.check(jobs)) as queue:
            yield queue
    else:
        yield jobs


class ThisProcess:
    """A process itself in place of a queue's jobs: what is submitted is done at once."""

    n_at_a_time, is_over, error = 1, True, ""

    def submit(self, function: Callable[..., Any], *arguments: Any, on_report: Any, memory_limit: Any = None) -> Any:
        """Call the function; return an object like a job that is over."""
        function(*arguments, report=on_report)
        return self

    def cancel(self) -> None:
        """Do nothing: what was submitted is done."""

    def wait(self, seconds: float) -> None:
        """Do nothing, for the same reason."""


class ClusterQueue:
    """The workers of a Dask client in place of a queue's jobs; their memory is limited by the cluster itself.

    A job whose worker has died is done again by another worker.
    """

    def __init__(self, client: Any, what: str) -> None:
        self.n_at_a_time = 2 * max(1, sum(client.nthreads().values()))  # some wait at the workers
        self._executor, self._what = client.get_executor(pure=False), what

    def submit(
        self, function: Callable[..., Any], *arguments: Any, on_report: Any, memory_limit: Any = None
    ) -> ClusterJob:
        """Submit a call; it reports at its end."""
        return ClusterJob(self._executor.submit(_reports_of, function, *arguments), on_report, self._what)


def _reports_of(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    reports = list[Any]()
    function(*arguments, report=reports.append)
    return reports


class ClusterJob:
    """A job on a cluster; its reports are taken when it is asked whether it is over."""

    def __init__(self, future: Future, on_report: Callable[[Any], object], what: str) -> None:
        self.error, self._is_taken = "", False
        self._future, self._on_report, self._what = future, on_report, what

    @property
    def is_over(self) -> bool:
        """True if the job is done, failed or cancelled; raise `JobError` if the cluster has stopped."""
        if self._is_taken or not self._future.done():
            return self._is_taken
        self._is_taken = True
        try:
            for report in self._future.result():
                self._on_report(report)
        except (CancelledError, Exception) as error:
            # The second one is what `distributed` raises for a running task when the scheduler ends.
            if isinstance(error, CancelledError) or "has no attribute 'with_traceback'" in str(error):
                raise JobError(f"the cluster has stopped. Finished {self._what} are kept") from None
            self.error = " ".join(f"{type(error).__name__}: {error}".split())
        return True

    def cancel(self) -> None:
        """Cancel the job; what has begun goes on, and nobody takes its result."""
        self._is_taken = True
        self._future.cancel()

    def wait(self, seconds: float) -> None:
        """Wait until the job is over, for at most so many seconds."""
        if not self._future.done():  # to `wait` a cancelled one is over only once its executor knows
            wait([self._future], seconds)


class Unwanted(Exception):  # noqa: N818
    """Signal that ends the work of a `ThreadJob`."""


class ThreadJob(Job):
    """Work in a thread, whose own jobs do what takes long.

    `work` gets `check`, which it calls again and again, perhaps with its progress. After `lease` seconds without `keep`, or a
    True from `is_wanted`, it is cancelled. It holds the lock `turn`, so that others wait for it.
    """

    def __init__(
        self,
        work: Callable[[Callable[..., None]], Any],
        lease: float,
        is_wanted: Callable[[], bool] | None = None,
        turn: Any = None,
    ) -> None:
        super().__init__(lease=lease)
        self._work, self._is_wanted, self._turn, self._is_cancelled = work, is_wanted, turn or threading.Lock(), False
        self._began_at = time.monotonic()
        threading.Thread(target=self._run, name="a job's thread", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """True if the work is done, cancelled or refused; to ask renews the lease."""
        self.keep()
        return self._over.is_set()

    def cancel(self) -> None:
        """End the work at its next check."""
        self._is_cancelled = True

    def check(self, progress: Any = None) -> None:
        """Take the progress; raise `Unwanted` if nobody wants the result any more."""
        self.progress = self.progress if progress is None else progress
        if self._is_wanted is not None and self._is_wanted():
            self.keep()
        if self._is_cancelled or time.monotonic() - self._wanted_at > (self._lease or 0.0):
            raise Unwanted

    def _run(self) -> None:
        try:
            while not self._turn.acquire(timeout=SECONDS_BETWEEN_LOOKS):
                self.check()
            try:
                self.state = JobState.RUNNING
                self.result = self._work(self.check)
                self.state = JobState.DONE
            finally:
                self._turn.release()
        except Unwanted:
            self.state = JobState.CANCELLED
        except (DSGError, OSError) as error:
            self.error, self.state = str(error), JobState.FAILED
        except Exception as error:
            self.error, self.state = raised(error, None), JobState.FAILED
        finally:
            self._ended_at = time.monotonic()
            self._over.set()
