"""Where a background job's process comes from: a fork of one that has imported what jobs need, or a new interpreter.

That one is begun when somebody is likely to ask for a job, and let go when nobody has for a while.
`multiprocessing` has such a server, too, but what that forks runs its caller's main script again: that of the app is a page.
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

# Not on macOS, where a fork that has used the system's libraries may crash in them: `multiprocessing` makes none by default.
CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds") and sys.platform != "darwin"
FORKS = "from dsgcore._nursery import main; main()"
ALONE = "from dsgcore._job_process import main; main()"
SECONDS_IN_WAITING = 600.0
SECONDS_TO_END = 0.5
# A core is left for whoever asks. With more than one thread BLAS waits by spinning: where other work has the second core, a
# fit of small steps then takes fifty times as long.
THREADS_PER_JOB = 1
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DSGCORE_WORKERS")


class Process(Protocol):
    """What a job needs of its process; as of `subprocess.Popen`."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """Where it reads its request."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """Where it tells."""

    def kill(self) -> None:
        """End it at once; nothing happens where it has ended."""

    def wait(self) -> int:
        """Wait until it has ended, and return its code; -N where signal N ended it."""


class Fork:
    """A process that the nursery has forked, or is about to."""

    def __init__(self, stdin: int, stdout: int, told_by: socket.socket, on_end: Callable[[], None]) -> None:
        self.stdin, self.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        self._told_by, self._on_end = told_by, on_end

    def let_go(self) -> None:
        """Close what leads to it."""
        for way in (self.stdin, self.stdout, self._told_by):
            way.close()

    def kill(self) -> None:
        """Have it killed; nothing happens where it has ended."""
        with suppress(OSError):
            self._told_by.send(b"k")

    def wait(self) -> int:
        """Wait until it has ended, and return its code; -N where signal N ended it."""
        code = b""
        with self._told_by, suppress(OSError):
            code = self._told_by.recv(CODE.size)
        self._on_end()
        # Where the nursery is gone, it has taken its forks along.
        return int(CODE.unpack(code)[0]) if code else -signal.SIGKILL


class Nursery:
    """The process of which jobs are forked, seen by who asks for them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel = socket.socket()
        self._n_forks = 0
        self._clock = threading.Timer(0.0, self.close)

    def get_ready(self) -> None:
        """Have it begun, where there is one: somebody is about to ask for a job."""
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
            except OSError:  # it has just been killed, as may happen where memory runs out
                self._end()
                fork = self._fork()
            self._n_forks += 1
            return fork

    def close(self) -> None:
        """End it, and whatever it has forked."""
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
        """Let it go when nobody has needed it for a while: it holds a quarter of a gigabyte."""
        self._clock.cancel()
        self._clock = threading.Timer(SECONDS_IN_WAITING, self._let_go)
        self._clock.daemon = True
        with suppress(RuntimeError):  # at the interpreter's end there are no new threads, and nothing to let go
            self._clock.start()

    def _let_go(self) -> None:
        with self._lock:
            if not self._n_forks:
                self._end()

    def _end(self) -> None:
        self._channel.close()
        if self._process is not None:
            try:
                self._process.wait(SECONDS_TO_END)  # it kills what it has forked
            except subprocess.TimeoutExpired:  # it is still importing
                self._process.kill()
                self._process.wait()
            self._process = None


def module_path() -> list[str]:
    """Return where this process finds modules, and its jobs are to find them."""
    return [place or os.getcwd() for place in sys.path]


def _new(program: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Begin an interpreter that finds modules where this process finds them, with threads for one core."""
    path = os.pathsep.join(module_path())
    environment = {**os.environ, "PYTHONPATH": path, **dict.fromkeys(THREAD_SETTINGS, str(THREADS_PER_JOB))}
    return subprocess.Popen([sys.executable, "-P", "-c", program, *arguments], env=environment, **options)


@cache
def nursery() -> Nursery:
    """Return this process's one; it is closed when the process ends."""
    one = Nursery()
    atexit.register(one.close)
    return one


if CAN_FORK:  # a fork of this process has no thread that waits for those of its parent
    os.register_at_fork(after_in_child=nursery.cache_clear)
