"""Fork server for background jobs: it has imported everything they need, has one thread, and does nothing else.

`dsgcore.experiments.processes` starts it. One socket requests forks. Each job has its own socket, which requests its
end and reports its exit code. All forks end when the client ends.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from dsgcore import _forks, _job_process

# Slow imports of a new process that reads a user's file, races against a competitor, or runs a study.
NEEDED = ("dsgcore.data.reading.looking", "dsgcore.experiments.race", "dsgcore.studies.background")
# One each for the job's standard input and output, and one socket for its control.
HANDED_OVER = 3
CODE = struct.Struct("i")


class Nursery:
    """The fork server: the sockets that it watches, and its forks, each with its control socket."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel, self._jobs = channel, dict[int, socket.socket]()
        self._ended, wakes = socket.socketpair()
        for end in (self._ended, wakes):
            end.setblocking(False)
        self._wakes = wakes
        self._life, self._held = os.pipe()  # held by no other process: it ends when this process does
        self._watched = selectors.DefaultSelector()
        self._watched.register(channel, selectors.EVENT_READ, self._begin)
        self._watched.register(self._ended, selectors.EVENT_READ, self._reap)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client gets it, too, and closes the channel
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Fork and kill on request."""
        while True:
            for key, _ in self._watched.select():
                key.data()

    def _begin(self) -> None:
        message, handed, _, _ = socket.recv_fds(self._channel, 1, HANDED_OVER)
        if not message:  # the client has ended
            for job in self._jobs:
                os.kill(job, signal.SIGKILL)
            os._exit(0)
        process = _forked() if len(handed) == HANDED_OVER else None
        if process == 0:
            inbox, outbox, told = handed
            os.close(told)
            self._become_a_job(inbox, outbox)
        for number in handed[: HANDED_OVER - 1] if process else handed:
            os.close(number)
        if process:
            self._jobs[process] = told_by = socket.socket(fileno=handed[-1])
            self._watched.register(told_by, selectors.EVENT_READ, self._killing(process))

    def _killing(self, process: int) -> Callable[[], None]:
        return lambda: os.kill(process, signal.SIGKILL) if process in self._jobs else None

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            self._ended.recv(4096)
        for process in list(self._jobs):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                told_by = self._jobs.pop(process)
                self._watched.unregister(told_by)
                with told_by, suppress(OSError):
                    told_by.send(CODE.pack(os.waitstatus_to_exitcode(status)))

    def _become_a_job(self, inbox: int, outbox: int) -> None:
        """Release all resources of the fork server, and do the job."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._watched.close()
        for mine in (self._channel, self._ended, self._wakes, *self._jobs.values()):
            mine.close()
        os.close(self._held)
        threading.Thread(target=self._end_with_nursery, daemon=True).start()
        for own, standard in ((inbox, 0), (outbox, 1)):
            os.dup2(own, standard)
            os.close(own)
        _forks.is_a_fork = True
        try:
            _job_process.main()
        finally:  # after any error: this process is not the fork server
            os._exit(1)

    def _end_with_nursery(self) -> None:
        os.read(self._life, 1)
        os._exit(1)


def _forked() -> int | None:
    """Fork; return None if the system has no room for another process. The client sees the end of the job's socket."""
    try:
        return os.fork()
    except OSError:
        return None


def main() -> None:
    """Import everything that jobs need, and fork them; the channel's number is the program's argument."""
    for module in NEEDED:
        import_module(module)
    gc.collect()
    gc.freeze()  # the collector ignores existing objects, so forks continue to share their memory
    Nursery(socket.socket(fileno=int(sys.argv[1]))).serve()
