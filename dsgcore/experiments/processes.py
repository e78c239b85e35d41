"""Processes for background jobs: forks of a fork server that has imported everything they need, or new interpreters.

The fork server starts when a job is likely, and stops when no job has come for a while. The fork server of
`multiprocessing` does not suit: its forks run their caller's main script again, and the app's main script is a page.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from subprocess import DEVNULL, PIPE
from typing import IO, Any, Protocol

from dsgcore._nursery import CODE

# Not on macOS, where a fork that has used system libraries may crash in them; `multiprocessing` does not fork there by
# default.
CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds") and sys.platform != "darwin"
FORKS = "from dsgcore._nursery import main; main()"
ALONE = "from dsgcore._job_process import main; main()"
SECONDS_IN_WAITING = 600.0
SECONDS_TO_END = 0.5
# One core stays free for the app. With more than one thread BLAS waits by spinning: if other work has the second core,
# a fit of small steps then takes fifty times as long.
THREADS_PER_JOB = 1
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DSGCORE_WORKERS")


class Process(Protocol):
    """Interface of a job's process, a part of `subprocess.Popen`."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """The stream from which the process reads its request."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """The stream to which the process writes its messages."""

    def kill(self) -> None:
        """Kill the process; do nothing if it has ended."""

    def wait(self) -> int:
        """Wait until the process has ended, and return its code; -N if signal N ended it."""


class Fork:
    """A process that the fork server has forked, or is about to fork."""

    def __init__(self, stdin: int, stdout: int, told_by: socket.socket, on_end: Callable[[], None]) -> None:
        self.stdin, self.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        self._told_by, self._on_end = told_by, on_end

    def let_go(self) -> None:
        """Close the streams to the process."""
        for way in (self.stdin, self.stdout, self._told_by):
            way.close()

    def kill(self) -> None:
        """Ask the fork server to kill the process; do nothing if it has ended."""
        with suppress(OSError):
            self._told_by.send(b"k")

    def wait(self) -> int:
        """Wait until the process has ended, and return its code; -N if signal N ended it."""
        code = b""
        with self._told_by, suppress(OSError):
            code = self._told_by.recv(CODE.size)
        self._on_end()
        # If the fork server has ended, its forks have ended, too.
        return int(CODE.unpack(code)[0]) if code else -signal.SIGKILL


class Nursery:
    """Client of the fork server, from which jobs are forked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel = socket.socket()
        self._n_forks = 0
        self._clock = threading.Timer(0.0, self.close)

    def get_ready(self) -> None:
        """Start the fork server, if this system can fork: a job is likely."""
        with self._lock:
            if CAN_FORK and not self._n_forks:
                self._begin_unless_there()
                self._rest()

    def begin(self) -> Process:
        """Return a process that waits for a job."""
        if not CAN_FORK:
            return _new(ALONE, stdin=PIPE, stdout=PIPE)
        with self._lock:
            self._clock.cancel()
            try:
                fork = self._fork()
            except OSError:  # the server was just killed, perhaps because memory ran out
                self._end()
                fork = self._fork()
            self._n_forks += 1
            return fork

    def close(self) -> None:
        """Stop the server and all its forks."""
        with self._lock:
            self._clock.cancel()
            self._end()

    def _fork(self) -> Fork:
        self._begin_unless_there()
        (inbox, stdin), (stdout, outbox), (told_by, tells) = os.pipe(), os.pipe(), socket.socketpair()
        fork = Fork(stdin, stdout, told_by, self._count_out)
        try:
            socket.send_fds(self._channel, [b"f"], [inbox, outbox, tells.fileno()])
        except OSError:
            fork.let_go()
            raise
        finally:
            os.close(inbox)
            os.close(outbox)
            tells.close()
        return fork

    def _count_out(self) -> None:
        with self._lock:
            self._n_forks -= 1
            if not self._n_forks:
                self._rest()

    def _begin_unless_there(self) -> None:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._channel, its_end = socket.socketpair()
            with its_end:
                number = its_end.fileno()
                self._process = _new(FORKS, str(number), pass_fds=[number], stdin=DEVNULL, stdout=DEVNULL)

    def _rest(self) -> None:
        """Stop the server when no job has come for a while: it takes a quarter of a gigabyte."""
        self._clock.cancel()
        self._clock = threading.Timer(SECONDS_IN_WAITING, self._let_go)
        self._clock.daemon = True
        with suppress(RuntimeError):  # at the interpreter's end no new threads can start, and there is nothing to stop
            self._clock.start()

    def _let_go(self) -> None:
        with self._lock:
            if not self._n_forks:
                self._end()

    def _end(self) -> None:
        self._channel.close()
        if self._process is not None:
            try:
                self._process.wait(SECONDS_TO_END)  # it kills its forks
            except subprocess.TimeoutExpired:  # it is still importing
                self._process.kill()
                self._process.wait()
            self._process = None


def module_path() -> list[str]:
    """Return the module path of this process, which its jobs use, too."""
    return [place or os.getcwd() for place in sys.path]


def _new(program: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start an interpreter with the same module path as this process, and threads for one core."""
    path = os.pathsep.join(module_path())
    environment = {**os.environ, "PYTHONPATH": path, **dict.fromkeys(THREAD_SETTINGS, str(THREADS_PER_JOB))}
    return subprocess.Popen([sys.executable, "-P", "-c", program, *arguments], env=environment, **options)


@cache
def nursery() -> Nursery:
    """Return this process's only client; it is closed when the process ends."""
    one = Nursery()
    atexit.register(one.close)
    return one


if CAN_FORK:  # a fork of this process has no thread that waits for its parent's forks
    os.register_at_fork(after_in_child=nursery.cache_clear)
