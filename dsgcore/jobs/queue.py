"""Queue of background jobs: started in turn, watched, cancelled, and never left behind."""

from __future__ import annotations

import atexit
import os
import pickle
import threading
import time
import traceback
from collections.abc import Callable
from functools import cache, partial
from queue import SimpleQueue
from typing import Any, Self

from dsgcore.jobs.job import Job, JobError, JobState
from dsgcore.jobs.starting import fork_server, module_path

SECONDS_TO_END = 2.0
SECONDS_BETWEEN_QUESTIONS = 1.0
_Entry = tuple[Job, str, Callable[[Any], None] | None]


class JobQueue:
    """Queue of jobs that start in the order of submission, so many at a time.

    Each job is a process that runs one function of a module on plain data. The process shares nothing with this one.
    Cancelling kills the process, so it needs no help from the job. A job ends by itself when this process ends.

    Parameters
    ----------
    n_at_a_time : int, optional
        Default: the number of cores less one, but at least one; each job has one thread.
    """

    def __init__(self, n_at_a_time: int | None = None) -> None:
        cores = os.cpu_count() or 1
        self.n_at_a_time = max(1, cores - 1) if n_at_a_time is None else n_at_a_time
        if self.n_at_a_time < 1:
            raise JobError(f"the number of jobs at a time must be at least 1, got {n_at_a_time}")
        self._lock = threading.Lock()
        self._waiting: SimpleQueue[_Entry | None] = SimpleQueue()
        self._jobs: set[Job] = set()
        self._is_closed = False
        fork_server()  # first: it is closed after the queue
        for _ in range(self.n_at_a_time):
            threading.Thread(target=self._work, name="jobs", daemon=True).start()

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        memory_limit: int | None = None,
        lease: float | None = None,
        is_wanted: Callable[[], bool] | None = None,
        time_limit: float | None = None,
        on_done: Callable[[Any], None] | None = None,
    ) -> Job:
        """Submit a job: ``function(*arguments, report=report)`` runs in its own process, in turn.

        Parameters
        ----------
        function : callable
            A function of a module that can be imported. It may call ``report(x)`` with any object that can be pickled.
            Its return value is the job's result. If it raises a `DSGError`, the message is the job's error.
        *arguments
            Objects that can be pickled.
        memory_limit : int, optional
            Bytes that the job may take, besides the memory after the imports. Default: no limit.
        lease : float, optional
            Cancel the job after so many seconds without a call of `Job.keep` or a True from `is_wanted`. Default:
            never.
        is_wanted : callable, optional
            Called every second by another thread; used with `lease`.
        time_limit : float, optional
            Seconds that the job may compute; wall-clock time may be three times as long. Default: no limit.
        on_done : callable, optional
            Called with the result before the job is over, by another thread.

        Returns
        -------
        Job

        Raises
        ------
        JobError
            If another process cannot import the function, or if the queue is closed.
        """
        job = Job(_request(function, arguments, memory_limit, time_limit), lease, time_limit)
        with self._lock:
            if self._is_closed:
                raise JobError("the job queue is closed and takes no more jobs")
            self._jobs.add(job)
            self._waiting.put((job, function.__module__, on_done))
        if lease is not None or time_limit is not None:
            threading.Thread(target=_watch, args=(job, is_wanted), name="job's watch", daemon=True).start()
        return job

    def _work(self) -> None:
        """Run jobs, one after the other, until the queue is closed."""
        while (entry := self._waiting.get()) is not None:
            job, module, on_done = entry
            try:
                job.run(partial(fork_server().start_worker, module))
                if on_done is not None and job.state is JobState.DONE:
                    on_done(job.result)
            except Exception:  # in `on_done`
                traceback.print_exc()
            finally:
                self._jobs.discard(job)
                job.end()

    def close(self) -> None:
        """Cancel all jobs, and wait until their processes have ended."""
        with self._lock:
            self._is_closed = True
            jobs = list(self._jobs)
        for job in jobs:
            job.cancel()
        for _ in range(self.n_at_a_time):
            self._waiting.put(None)
        deadline = time.monotonic() + SECONDS_TO_END
        for job in jobs:
            job.wait(max(0.0, deadline - time.monotonic()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _request(
    function: Callable[..., Any], arguments: tuple, memory_limit: int | None, time_limit: float | None
) -> bytes:
    """Return the request that the process reads: module path, function, arguments and limits."""
    if getattr(function, "__module__", "__main__") == "__main__":
        raise JobError(f"a job must be a function of a module that can be imported, got {function!r}")
    try:
        return pickle.dumps((module_path(), pickle.dumps(function), pickle.dumps(arguments), memory_limit, time_limit))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise JobError(f"a job must be a function of a module, and its arguments plain data, got {error}") from None


def _watch(job: Job, is_wanted: Callable[[], bool] | None) -> None:
    """Cancel a job when its lease ends, and end it when its time is over."""
    while not job.wait(max(0.0, min(SECONDS_BETWEEN_QUESTIONS, job.lease_left, job.time_left))):
        if is_wanted is not None and is_wanted():
            job.keep()
        if job.time_left <= 0:
            return job.end_late()
        if job.lease_left <= 0:
            return job.cancel()


@cache
def shared_queue(name: str = "jobs", n_at_a_time: int | None = None) -> JobQueue:
    """Return this process's only queue of this name, for all its users. It is closed when the process ends."""
    queue = JobQueue(n_at_a_time)
    atexit.register(queue.close)
    return queue
