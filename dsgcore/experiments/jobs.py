"""Background work in processes of its own: begun in turn, watched, cancelled, and never left behind.

Each job is a new interpreter that runs one function of a module on plain data. It is not forked, so it shares nothing with
the server, and it does not run the caller's main script again, as `multiprocessing` would: that of the app is a page.
Cancelling is killing, so it needs no help from the job. A job ends by itself when the process that asked for it does.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any, Self

from dsgcore.experiments.job import Job as Job
from dsgcore.experiments.job import JobError as JobError
from dsgcore.experiments.job import JobState as JobState

START = "from dsgcore._job_process import main; main()"
SECONDS_TO_END = 2.0
SECONDS_BETWEEN_QUESTIONS = 1.0
SECONDS_IN_WAITING = 600.0
# A core is left for whoever asks. With more than one thread BLAS waits by spinning: where other work has the second core, a
# fit of small steps then takes fifty times as long.
THREADS_PER_JOB = 1
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DSGCORE_WORKERS")


class JobQueue:
    """Jobs that begin in the order in which they are given, so many at a time.

    Parameters
    ----------
    n_at_a_time : int, optional
        Default: one less than there are cores, at least one; each has one thread.
    module : str, optional
        That all jobs need and that takes long to import: a process that has done it is kept in waiting for the next job, while
        there is room for one, for `SECONDS_IN_WAITING` at most.
    """

    def __init__(self, n_at_a_time: int | None = None, module: str = "") -> None:
        cores = os.cpu_count() or 1
        self.n_at_a_time = max(1, cores - 1) if n_at_a_time is None else n_at_a_time
        if self.n_at_a_time < 1:
            raise JobError(f"the number of jobs at a time must be at least 1, got {n_at_a_time}")
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._running: set[Job] = set()
        self._is_closed = False
        self._start = f"import {module}; {START}" if module else START
        self._keeps_spare = bool(module)
        self._spare: subprocess.Popen[bytes] | None = None

    def warm_up(self) -> None:
        """Have a process ready for the next job, where one is kept and there is room for a job."""
        with self._changed:
            is_wanted = self._keeps_spare and not self._is_closed and len(self._running) < self.n_at_a_time
            if is_wanted and (self._spare is None or self._spare.poll() is not None):
                self._spare = self._new_process()
                clock = threading.Timer(SECONDS_IN_WAITING, self._let_go, [self._spare])
                clock.daemon = True
                clock.start()

    def _let_go(self, spare: subprocess.Popen[bytes]) -> None:
        """End a process that nobody has needed: it holds a quarter of a gigabyte."""
        with self._changed:
            if self._spare is not spare:
                return
            self._spare = None
        _end(spare)

    def _new_process(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-P", "-c", self._start], stdin=pipe, stdout=pipe, env=_environment())

    def _take_process(self) -> subprocess.Popen[bytes]:
        """Return a process that waits for its job, and let another one get ready."""
        with self._changed:
            taken, self._spare = self._spare, None
        if taken is None or taken.poll() is not None:
            taken = self._new_process()
        self.warm_up()
        return taken

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
        """Give a job: ``function(*arguments, report=report)`` in a process of its own, when its turn comes.

        Parameters
        ----------
        function : callable
            A function of a module that can be imported. It may call ``report(x)`` with anything that can be pickled. What it
            returns is the job's result; what a `ValueError` that it raises says is the job's error.
        *arguments
            What can be pickled.
        memory_limit : int, optional
            Bytes that the job may take beyond what its process has after the imports. Default: no limit.
        lease : float, optional
            Cancel the job when nobody has wanted it for so many seconds: neither has `Job.keep` been called, nor has
            `is_wanted` said so. Default: never.
        is_wanted : callable, optional
            Asked every second, by another thread; goes with `lease`.
        time_limit : float, optional
            Seconds that the job may compute; on the clock it may take three times as long. Default: no limit.
        on_done : callable, optional
            Given the result before the job is over, by another thread.

        Raises
        ------
        JobError
            If the function is not one that another process can find, or the queue is closed.
        """
        job = Job(_request(function, arguments, memory_limit, time_limit), lease, time_limit)
        with self._changed:
            if self._is_closed:
                raise JobError("the queue of jobs is closed, and takes no more of them")
            self._waiting.append(job)
        threading.Thread(target=self._see_to, args=(job, on_done), name="job", daemon=True).start()
        if lease is not None:
            threading.Thread(target=_see_to_lease, args=(job, is_wanted), name="job lease", daemon=True).start()
        return job

    def _see_to(self, job: Job, on_done: Callable[[Any], None] | None) -> None:
        try:
            if self._wait_for_turn(job) and job.begin(self._take_process):
                job.run()
            if on_done is not None and job.state is JobState.DONE:
                on_done(job.result)
        except OSError as error:  # no process to be had
            job.fail(f"The background process could not be started: {error}.")
        finally:
            with self._changed:
                self._running.discard(job)
                self._changed.notify_all()
            job.end()

    def _wait_for_turn(self, job: Job) -> bool:
        """Wait until the job is the first in the queue and there is room, or it has been cancelled."""
        with self._changed:
            while job.state is JobState.WAITING and not self._is_next(job):
                # A cancelled job need not be told: it looks by itself, several times a second.
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
        """Cancel all jobs, and wait until their processes are gone."""
        with self._changed:
            self._is_closed = True
            jobs = [*self._waiting, *self._running]
            spare, self._spare = self._spare, None
        for job in jobs:
            job.cancel()
        deadline = time.monotonic() + SECONDS_TO_END
        for job in jobs:
            job.wait(max(0.0, deadline - time.monotonic()))
        if spare is not None:
            _end(spare)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def _request(
    function: Callable[..., Any], arguments: tuple, memory_limit: int | None, time_limit: float | None
) -> bytes:
    """Return what the process reads: the function by its place, the arguments, and the limits."""
    if getattr(function, "__module__", "__main__") == "__main__":
        raise JobError(f"a job must be a function of a module that can be imported, got {function!r}")
    try:
        return pickle.dumps((pickle.dumps(function), pickle.dumps(arguments), memory_limit, time_limit))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise JobError(f"a job must be a function of a module, and its arguments plain data, got {error}") from None


def _environment() -> dict[str, str]:
    """Return the child's environment: modules where this process finds them, and threads for one core."""
    path = os.pathsep.join(place or os.getcwd() for place in sys.path)
    return {**os.environ, "PYTHONPATH": path, **dict.fromkeys(THREAD_SETTINGS, str(THREADS_PER_JOB))}


def _see_to_lease(job: Job, is_wanted: Callable[[], bool] | None) -> None:
    while not job.wait(min(SECONDS_BETWEEN_QUESTIONS, max(0.0, job.lease_left))):
        if is_wanted is not None and is_wanted():
            job.keep()
        elif job.lease_left <= 0:
            job.cancel()
            return


@cache
def shared_jobs() -> JobQueue:
    """Return the process's one queue, whose limit holds for all who use it; it is closed when the process ends."""
    queue = JobQueue()
    atexit.register(queue.close)
    return queue
