"""Background jobs in their own processes: started in turn, watched, cancelled, and never left behind.

Each job is a process that runs one function of a module on plain data. The process is a fork of a fork server that has
imported everything that jobs need. It is not a fork of the app's server, so it shares nothing with it. Cancelling kills
the process, so it needs no help from the job. A job ends by itself when the process that started it ends.
"""

from __future__ import annotations

import atexit
import os
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any, Self

from dsgcore.experiments.job import Job as Job
from dsgcore.experiments.job import JobError as JobError
from dsgcore.experiments.job import JobState as JobState
from dsgcore.experiments.processes import module_path, nursery

SECONDS_TO_END = 2.0
SECONDS_BETWEEN_QUESTIONS = 1.0


class JobQueue:
    """Queue of jobs that start in the order of submission, so many at a time.

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
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._running: set[Job] = set()
        self._is_closed = False
        nursery()  # first: it is closed after the queue

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
            Its return value is the job's result. If it raises a `ValueError`, the message is the job's error.
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
        with self._changed:
            if self._is_closed:
                raise JobError("the job queue is closed and takes no more jobs")
            self._waiting.append(job)
        threading.Thread(target=self._see_to, args=(job, on_done), name="job", daemon=True).start()
        if lease is not None:
            threading.Thread(target=_see_to_lease, args=(job, is_wanted), name="job lease", daemon=True).start()
        return job

    def _see_to(self, job: Job, on_done: Callable[[Any], None] | None) -> None:
        try:
            if self._wait_for_turn(job) and job.begin(nursery().begin):
                job.run()
            if on_done is not None and job.state is JobState.DONE:
                on_done(job.result)
        except OSError as error:  # no process could be started
            job.fail(f"The background process could not be started: {error}.")
        finally:
            with self._changed:
                self._running.discard(job)
                self._changed.notify_all()
            job.end()

    def _wait_for_turn(self, job: Job) -> bool:
        """Wait until the job is the first in the queue and there is room, or until it is cancelled."""
        with self._changed:
            while job.state is JobState.WAITING and not self._is_next(job):
                # A cancelled job needs no signal: it checks several times a second.
                self._changed.wait(0.2)
            self._waiting.remove(job)
            self._changed.notify_all()
            if job.state is not JobState.WAITING:
                return False
            self._running.add(job)
            return True

    def _is_next(self, job: Job) -> bool:
        return self._waiting[0] is job and len(self._running) < self.n_at_a_time

    def close(self) -> None:
        """Cancel all jobs, and wait until their processes have ended."""
        with self._changed:
            self._is_closed = True
            jobs = [*self._waiting, *self._running]
        for job in jobs:
            job.cancel()
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


def _see_to_lease(job: Job, is_wanted: Callable[[], bool] | None) -> None:
    while not job.wait(min(SECONDS_BETWEEN_QUESTIONS, max(0.0, job.lease_left))):
        if is_wanted is not None and is_wanted():
            job.keep()
        elif job.lease_left <= 0:
            job.cancel()
            return


@cache
def shared_jobs() -> JobQueue:
    """Return this process's only queue, whose limit holds for all its users. It is closed when the process ends."""
    queue = JobQueue()
    atexit.register(queue.close)
    return queue
