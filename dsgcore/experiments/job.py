"""One background job: its process, its reports, and its end."""

from __future__ import annotations

import pickle
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any

from dsgcore._job_process import ERROR, PROGRESS, READY, RESULT, receive
from dsgcore.core.errors import DSGError
from dsgcore.experiments.processes import Process

# Wall-clock time may be this many times the allowed computing time: other work needs the cores, too.
PATIENCE = 3.0
_OUT_OF_TIME = {getattr(signal, "SIGXCPU", None)} - {None}


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
        self._process: Process | None = None
        self._began_at = self._ended_at = 0.0
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
        with self._lock:
            if self.state in (JobState.WAITING, JobState.RUNNING):
                self.state = JobState.CANCELLED
            if self._process is not None:
                self._process.kill()  # harmless if it has ended by itself: only `run` reaps it

    @property
    def lease_left(self) -> float:
        """Seconds until the lease ends and the job is cancelled; infinite without a lease."""
        return float("inf") if self._lease is None else self._wanted_at + self._lease - time.monotonic()

    def begin(self, start: Callable[[], Process]) -> bool:
        """Take a process, unless the job has been cancelled. Only its queue calls this, and `run`, `fail` and `end`."""
        with self._lock:
            if self.state is not JobState.WAITING:
                return False
            self._process = start()
            self.state, self._began_at = JobState.RUNNING, time.monotonic()
            return True

    def run(self) -> None:
        """Send the request and read messages until the process ends."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        clock: threading.Timer | None = None
        try:
            process.stdin.write(self._request)
            process.stdin.flush()  # stays open: its end shows the process that its parent has ended
            while True:
                kind, content = receive(process.stdout)
                if kind == READY and self._time_limit is not None:
                    clock = threading.Timer(PATIENCE * self._time_limit, self._end_late)
                    clock.start()
                self._take(kind, content)
        except (EOFError, OSError, pickle.UnpicklingError):
            pass
        finally:
            if clock is not None:
                clock.cancel()
            process.stdout.close()
            code = process.wait()
            with suppress(OSError):
                process.stdin.close()
            self._finish(code)

    def fail(self, error: str) -> None:
        """Record, in a sentence, why there is no result."""
        with self._lock:
            self.state, self.error = JobState.FAILED, error

    def end(self) -> None:
        """Mark the job as over."""
        self._over.set()

    def _take(self, kind: str, content: Any) -> None:
        with self._lock:
            if self.state is not JobState.RUNNING:
                return
            if kind == PROGRESS:
                self.progress = content
            elif kind == RESULT:
                self.result, self.state = content, JobState.DONE
            elif kind == ERROR:
                self.error, self.state = content, JobState.FAILED

    def _end_late(self) -> None:
        """Kill the process when its time is over; the process itself may be unable to check a clock."""
        with self._lock:
            if self.state is JobState.RUNNING and self._process is not None:
                self.state, self.error = JobState.FAILED, _too_long(self._time_limit)
                self._process.kill()

    def _finish(self, code: int) -> None:
        with self._lock:
            self._process = None
            self._ended_at = time.monotonic()
            if self.state is JobState.RUNNING:
                is_late = self._time_limit is not None and -code in _OUT_OF_TIME
                self.error = _too_long(self._time_limit) if is_late else _ended_early(code)
                self.state = JobState.FAILED


def _too_long(limit: float | None) -> str:
    return f"This takes longer than its limit of {limit:g} s."


def _ended_early(code: int) -> str:
    how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
    return f"The background process {how} before it had a result. Perhaps the memory ran out."
