"""One background job: its worker, its reports, and its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from math import inf
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.jobs.dead_workers import ended_early, not_started, out_of_time
from dsgcore.jobs.starting import Worker
from dsgcore.jobs.worker import ERROR, PROGRESS, READY, RESULT, receive

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


class Job:
    """A background job; `JobQueue.submit` makes it.

    Attributes
    ----------
    state : JobState
    progress : object
        The last report of the job; None before the first.
    result : object
        The value that its function returned, once the job is done.
    error : str
        One sentence, if the job failed.
    """

    def __init__(self, request: bytes, lease: float | None, time_limit: float | None = None) -> None:
        self.state = JobState.WAITING
        self.progress: Any = None
        self.result: Any = None
        self.error = ""
        self._request = request
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._worker: Worker | None = None
        self._began_at = self._ready_at = self._ended_at = 0.0
        self._lease, self._time_limit = lease, time_limit
        self.keep()

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

    @property
    def lease_left(self) -> float:
        """Seconds until the lease ends; infinite without a lease."""
        return inf if self._lease is None else self._wanted_at + self._lease - time.monotonic()

    @property
    def time_left(self) -> float:
        """Seconds until the time limit is over; infinite without a limit, and before the process is ready."""
        if self._time_limit is None or not self._ready_at:
            return inf
        return self._ready_at + PATIENCE * self._time_limit - time.monotonic()

    def end_late(self) -> None:
        """Kill the process because its time is over; the process itself may be unable to check a clock."""
        self._stop(JobState.FAILED, out_of_time(self._time_limit or 0.0))

    def _stop(self, state: JobState, error: str = "") -> None:
        with self._lock:
            if self.state is JobState.WAITING:
                self._over.set()
            if self.state in (JobState.WAITING, JobState.RUNNING):
                self.state, self.error = state, error
            if self._worker is not None:
                self._worker.kill()  # harmless if it has ended by itself: only `run` waits for its end

    def run(self, start: Callable[[], Worker]) -> None:
        """Do the job in a process, unless it has been cancelled. Only the queue calls this, and `end`."""
        with self._lock:
            if self.state is not JobState.WAITING:
                return
            try:
                self._worker = worker = start()
            except OSError as error:
                self.state, self.error = JobState.FAILED, not_started(error)
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
            if self.state is JobState.RUNNING:
                self.state, self.error = JobState.FAILED, ended_early(code, self._time_limit)

    def end(self) -> None:
        """Mark the job as over."""
        self._over.set()

    def _take(self, kind: str, content: Any) -> None:
        with self._lock:
            if self.state is not JobState.RUNNING:
                return
            if kind == READY:
                self._ready_at = time.monotonic()
            elif kind == PROGRESS:
                self.progress = content
            elif kind == RESULT:
                self.result, self.state = content, JobState.DONE
            elif kind == ERROR:
                self.error, self.state = content, JobState.FAILED
