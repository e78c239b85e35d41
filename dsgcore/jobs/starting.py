"""Starts of workers: forks of the fork server, or new interpreters if the system has no forks.

The fork server starts when a job is likely, and stops when no job has come for a while. The fork server of
`multiprocessing` does not suit: its forks run their caller's main script again, and the app's main script is a page.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from subprocess import DEVNULL, PIPE
from typing import IO, Any

from dsgcore.jobs.worker import CODE

# Not on macOS, where a fork that has used system libraries may crash in them; `multiprocessing` does not fork there by
# default.
CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds") and sys.platform != "darwin"
FORKS = "import socket, sys; from dsgcore.jobs.worker import serve; serve(socket.socket(fileno=int(sys.argv[1])))"
ALONE = "from dsgcore.jobs.worker import main; main()"
SECONDS_TO_END = 0.5
# One core stays free for the app. With more than one thread BLAS waits by spinning: if other work has the second core,
# a fit of small steps then takes fifty times as long.
THREADS_PER_JOB = 1
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DSGCORE_WORKERS")


@dataclass(frozen=True)
class Worker:
    """Process of a job: its standard streams, a function that kills it, and one that waits for its exit code.

    The code -N means that signal N ended it. To kill a worker that has ended does nothing.
    """

    stdin: IO[bytes]
    stdout: IO[bytes]
    kill: Callable[[], None]
    wait: Callable[[], int]


class ForkServer:
    """Client of the fork server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel = socket.socket()

    def get_ready(self, *modules: str) -> None:
        """Start the fork server, if this system can fork, and let it import these modules: a job is likely."""
        if CAN_FORK:
            self._request(modules, [])

    def start_worker(self, module: str) -> Worker:
        """Return a worker that waits for a job with a function of this module."""
        if not CAN_FORK:
            process = _new(ALONE, stdin=PIPE, stdout=PIPE)
            assert process.stdin is not None
            assert process.stdout is not None
            return Worker(process.stdin, process.stdout, process.kill, process.wait)
        (inbox, stdin), (stdout, outbox), (control, its_end) = os.pipe(), os.pipe(), socket.socketpair()
        streams = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        try:
            self._request([module], [inbox, outbox, its_end.fileno()])
        except OSError:
            for one in (*streams, control):
                one.close()
            raise
        finally:
            os.close(inbox)
            os.close(outbox)
            its_end.close()

        def kill() -> None:
            try:
                control.send(b"k")
            except OSError:  # it has ended; or the server has, and without it a worker ends with its input
                with suppress(OSError):
                    streams[0].close()

        def wait() -> int:
            code = b""
            with control, suppress(OSError):
                code = control.recv(CODE.size)
            return int(CODE.unpack(code)[0]) if code else -signal.SIGKILL

        return Worker(*streams, kill, wait)

    def close(self) -> None:
        """Stop the server and all its workers."""
        with self._lock:
            self._end()

    def _request(self, modules: Iterable[str], handed: list[int]) -> None:
        request = [pickle.dumps((module_path(), list(modules)))]
        with self._lock:
            self._start_unless_there()
            try:
                socket.send_fds(self._channel, request, handed)
            except OSError:  # the server has just ended: it was idle, or it was killed
                self._end()
                self._start_unless_there()
                socket.send_fds(self._channel, request, handed)

    def _start_unless_there(self) -> None:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._channel, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with its_end:
                number = its_end.fileno()
                self._process = _new(FORKS, str(number), pass_fds=[number], stdin=DEVNULL, stdout=DEVNULL)

    def _end(self) -> None:
        self._channel.close()
        if self._process is not None:
            try:
                self._process.wait(SECONDS_TO_END)  # it kills its workers
            except subprocess.TimeoutExpired:  # it is still importing
                self._process.kill()
                self._process.wait()
            self._process = None


def module_path() -> list[str]:
    """Return the module path of this process, which its workers use, too."""
    return [place or os.getcwd() for place in sys.path]


def _new(program: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start an interpreter with the same module path as this process, and threads for one core."""
    path = os.pathsep.join(module_path())
    environment = {**os.environ, "PYTHONPATH": path, **dict.fromkeys(THREAD_SETTINGS, str(THREADS_PER_JOB))}
    return subprocess.Popen([sys.executable, "-P", "-c", program, *arguments], env=environment, **options)


@cache
def fork_server() -> ForkServer:
    """Return this process's only client; it is closed when the process ends."""
    one = ForkServer()
    atexit.register(one.close)
    return one
