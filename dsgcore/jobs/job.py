"""Background jobs: each has a worker, reports and an end; a queue starts them in turn, and leaves none behind."""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import cache
from math import inf
from queue import SimpleQueue
from typing import Any, Self

from dsgcore.core.errors import DSGError
from dsgcore.jobs.worker import ERROR, PROGRESS, READY, RESULT, Worker, fork_server, module_path, receive

SECONDS_TO_END = 2.0
SECONDS_BETWEEN_QUESTIONS = 1.0
_KILLED, _OUT_OF_TIME = getattr(signal, "SIGKILL", None), getattr(signal, "SIGXCPU", None)
WORKER_KILLED = (
    "The background process was killed, probably because memory ran out. Close other programs, or use less data."
)
LATE = "This takes longer than its limit of {:g} s."
# Wall-clock time may be this many times the allowed computing time: other work needs the cores, too.
PATIENCE = 3.0


class JobError(DSGError):
    """A job that cannot begin. The message says what is wrong and what is allowed."""


class JobState(Enum):
    """State of a job; the value is the sentence to show."""

    WAITING = "Waiting until another job is done."
    RUNNING = "Running."
    DONE = "Done."
    FAILED = "Failed."
    CANCELLED = "Cancelled."


def nothing(said: object) -> None:
    """Do nothing with a result or a report."""


class Job:
    """A background job; `JobQueue.submit` makes it."""

    def __init__(
        self,
        request: bytes = b"",
        module: str = "",
        lease: float | None = None,
        time_limit: float | None = None,
        on_done: Callable[[Any], object] = nothing,
        on_report: Callable[[Any], object] = nothing,
    ) -> None:
        self.state = JobState.WAITING
        self.progress: Any = None  # the last report of the job
        self.result: Any = None  # the value that its function returned, once the job is done
        self.error = ""  # one sentence, if the job failed
        self._request, self._module = request, module
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._worker: Worker | None = None
        self._began_at = self._ready_at = self._ended_at = 0.0
        self._lease, self._time_limit, self._on_done, self._on_report = lease, time_limit, on_done, on_report
        self.keep()

    @classmethod
    def done(cls, result: Any) -> Job:
        """Return a job that is over, such as an earlier one whose result was kept."""
        job = cls()
        job.result, job.state = result, JobState.DONE
        job._over.set()
        return job

    @property
    def is_over(self) -> bool:
        """True if the job is done, failed or cancelled, and its process has ended."""
        return self._over.is_set()

    @property
    def seconds(self) -> float:
        """Running time in seconds, so far or in total."""
        if not self._began_at:
            return 0.0
        return (self._ended_at or time.monotonic()) - self._began_at

    def keep(self) -> None:
        """Renew the lease. A job with a lease is cancelled if it is not renewed in time."""
        self._wanted_at = time.monotonic()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the job is over, for at most so many seconds; return True if it is over."""
        return self._over.wait(seconds)

    def cancel(self) -> None:
        """Cancel the job: kill its process, or never start it. Do nothing if the job is over."""
        self._stop(JobState.CANCELLED)

    def watch(self, is_wanted: Callable[[], bool] | None) -> None:
        """Cancel the job when its lease ends, and kill its process when its time is over: that may check no clock."""
        seconds = 0.0
        while not self.wait(seconds):
            if is_wanted is not None and is_wanted():
                self.keep()
            now, lease_left, time_left = time.monotonic(), inf, inf
            if self._lease is not None:
                lease_left = self._wanted_at + self._lease - now
            if self._time_limit is not None and self._ready_at:
                time_left = self._ready_at + PATIENCE * self._time_limit - now
            if time_left <= 0:
                return self._stop(JobState.FAILED, LATE.format(self._time_limit))
            if lease_left <= 0:
                return self.cancel()
            seconds = min(SECONDS_BETWEEN_QUESTIONS, lease_left, time_left)

    def _stop(self, state: JobState, error: str = "") -> None:
        with self._lock:
            if self.state is JobState.WAITING:
                self._over.set()
            if self.state in (JobState.WAITING, JobState.RUNNING):
                self.state, self.error = state, error
            if self._worker is not None:
                self._worker.kill()  # harmless if it has ended by itself: only `run` waits for its end

    def run(self) -> None:
        """Do the job in a process, unless it has been cancelled. Only the queue calls this."""
        try:
            self._run()
            if self.state is JobState.DONE:
                self._on_done(self.result)
        except Exception:  # in `on_done`
            traceback.print_exc()
        finally:
            self._over.set()

    def _run(self) -> None:
        with self._lock:
            if self.state is not JobState.WAITING:
                return
            try:
                self._worker = worker = fork_server().start_worker(self._module)
            except OSError as error:
                said = "Close other programs, and start it again."
                self.error = f"The background process could not be started ({error}). {said}"
                self.state = JobState.FAILED
                return
            self.state, self._began_at = JobState.RUNNING, time.monotonic()
        with suppress(Exception):  # the worker has ended, or sends what cannot be read
            worker.stdin.write(self._request)
            worker.stdin.flush()  # stays open: its end shows the worker that its parent has ended
            self._request = b""
            while True:
                self._take(*receive(worker.stdout))
        worker.stdout.close()
        code = worker.wait()
        with suppress(OSError):
            worker.stdin.close()
        with self._lock:
            self._worker = None
            self._ended_at = time.monotonic()
            if self.state is JobState.RUNNING:  # no result has come; -N is the signal N
                how = f"crashed with signal {-code}" if code < 0 else f"ended with code {code}"
                self.error = f"The background process {how} before it had a result. Start it again."
                if -code == _KILLED:
                    self.error = WORKER_KILLED
                elif -code == _OUT_OF_TIME and self._time_limit is not None:
                    self.error = LATE.format(self._time_limit)
                self.state = JobState.FAILED

    def _take(self, kind: str, content: Any) -> None:
        with self._lock:
            if self.state is not JobState.RUNNING:
                return
            if kind == READY:
                self._ready_at = time.monotonic()
            elif kind == PROGRESS:
                self.progress = content
                self._on_report(content)
            elif kind == RESULT:
                self.result, self.state = content, JobState.DONE
            elif kind == ERROR:
                self.error, self.state = content, JobState.FAILED


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
        self._waiting: SimpleQueue[Job | None] = SimpleQueue()
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
        on_done: Callable[[Any], object] = nothing,
        on_report: Callable[[Any], object] = nothing,
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
        on_report : callable, optional
            Called with each report of the function, by another thread.

        Returns
        -------
        Job

        Raises
        ------
        JobError
            If another process cannot import the function, or if the queue is closed.
        """
        if getattr(function, "__module__", "__main__") == "__main__":
            raise JobError(f"a job must be a function of a module that can be imported, got {function!r}")
        try:
            parts = pickle.dumps(function), pickle.dumps(arguments)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise JobError(f"a job must be a function of a module, and its arguments plain data, got {error}") from None
        request = pickle.dumps((module_path(), *parts, memory_limit, time_limit))  # which the worker reads
        job = Job(request, function.__module__, lease, time_limit, on_done, on_report)
        with self._lock:
            if self._is_closed:
                raise JobError("the job queue is closed and takes no more jobs")
            self._jobs.add(job)
            self._waiting.put(job)
        if lease is not None or time_limit is not None:
            threading.Thread(target=job.watch, args=(is_wanted,), name="job's watch", daemon=True).start()
        return job

    def _work(self) -> None:
        while (job := self._waiting.get()) is not None:
            job.run()
            self._jobs.discard(job)

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


@cache
def shared_queue(name: str = "jobs", n_at_a_time: int | None = None) -> JobQueue:
    """Return this process's only queue of this name, for all its users. It is closed when the process ends."""
    queue = JobQueue(n_at_a_time)
    atexit.register(queue.close)
    return queue
