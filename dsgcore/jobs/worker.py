"""Workers: each does one job and reports its progress. They are forks of the fork server, or new interpreters without forks.

The fork server is a process that imports what jobs need, has one thread, and forks a worker for each job. It starts when a
job is likely, and stops when no job has come for a while, or its client has ended: then it kills all workers. That of
`multiprocessing` does not suit: its forks run their caller's main script again, and the app's main script is a page.
Messages through standard input and standard output are pickled, one after the other.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from subprocess import DEVNULL, PIPE
from typing import IO, Any

from dsgcore.core.errors import DSGError
from dsgcore.jobs.memory import limit_growth, limit_time

READY, PROGRESS, RESULT, ERROR = "ready", "progress", "result", "error"

# True in a fork of the fork server: it has nearly all imports and one thread, and can fork itself.
is_a_fork = False


class Outbox:
    """Stream of messages to the parent process."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, kind: str, content: Any) -> None:
        """Send a message; end the process if nobody reads any more."""
        arrays: list[pickle.PickleBuffer] = []
        head = pickle.dumps((kind, content), protocol=5, buffer_callback=arrays.append)
        raw = [array.raw() for array in arrays]  # without a copy, which might exceed the job's memory limit
        with self._lock:
            try:
                self._stream.write(pickle.dumps((head, [part.nbytes for part in raw])))
                for part in raw:
                    self._stream.write(part)
                self._stream.flush()
            except OSError:
                os._exit(1)


def receive(stream: IO[bytes]) -> tuple[str, Any]:
    """Return the next message that a worker has sent: its kind and content."""
    head, sizes = pickle.load(stream)
    arrays = [bytearray(size) for size in sizes]
    for array in arrays:
        if stream.readinto(array) < len(array):  # type: ignore[attr-defined]
            raise EOFError("the process ended during a message")
    return pickle.loads(head, buffers=arrays)


def main() -> None:
    """Read the job from standard input, do it, send its result or an error message, and end."""
    # Standard output is kept for messages, and its end tells the parent that this process has ended. So the job's prints
    # go elsewhere, and its child processes do not hold the pipe.
    own = os.dup(1)
    os.dup2(2, 1)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os.close(own))
    outbox = Outbox(os.fdopen(own, "wb"))
    try:
        with open(0, "rb", closefd=False) as inbox:
            sys.path[:], function, arguments, memory_limit, time_limit = pickle.load(inbox)
    except EOFError:  # cancelled before it began
        os._exit(1)

    def end_with_parent() -> None:
        while os.read(0, 1):  # until the other end of standard input is closed, which happens when the parent ends
            pass
        os._exit(1)

    def give_up() -> None:
        outbox.send(ERROR, out_of_memory(memory_limit))
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    outbox.send(READY, None)
    if time_limit is not None:
        limit_time(time_limit)
    try:
        work, given = pickle.loads(function), pickle.loads(arguments)
        if memory_limit is not None:
            limit_growth(memory_limit, give_up)
        outbox.send(RESULT, work(*given, report=partial(outbox.send, PROGRESS)))
    except KeyboardInterrupt:
        pass
    except Exception as error:
        outbox.send(ERROR, raised(error, memory_limit))
    sys.stderr.flush()
    os._exit(0)  # without waiting for the thread that reads


def out_of_memory(limit: int | None) -> str:
    """Return the sentence for a job that needed more memory than its limit, in bytes."""
    if limit is None:
        return "This needs more memory than the machine has."
    return f"This needs more memory than its limit of {limit / 1e9:g} GB."


def raised(error: Exception, memory_limit: int | None) -> str:
    """Return the sentence for an error that a job raised; print the traceback of an unexpected one."""
    if isinstance(error, MemoryError):
        return out_of_memory(memory_limit)
    if isinstance(error, DSGError):
        return str(error) or type(error).__name__
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"The file {error.filename} is gone. Put it back, or choose it again."
    traceback.print_exception(error)
    return f"The process met an unexpected error, {type(error).__name__}: {error}"


# --- the fork server

# A request holds the client's module path, and the modules to import.
# It may bring a worker's standard input and output, and the socket of its control.
LONGEST_REQUEST, HANDED_OVER = 2**16, 3
CODE = struct.Struct("i")
SECONDS_IN_WAITING = 600.0  # an idle server takes a quarter of a gigabyte
Workers = dict[socket.socket, BaseProcess]  # by the socket that asks for a worker's end, and is told its exit code


def serve(channel: socket.socket, seconds_in_waiting: float = SECONDS_IN_WAITING) -> None:
    """Fork and kill on request. Return when the client has ended, or when no request has come for a while."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client gets it, too, and closes the channel
    workers: Workers = {}
    is_idle = False
    while workers or not is_idle:
        ends = {process.sentinel: control for control, process in workers.items()}
        watched: list[Any] = [*workers, *ends, *([] if is_idle else [channel])]
        ready = wait(watched, None if workers else seconds_in_waiting)
        if not ready:
            is_idle = True
            channel.shutdown(socket.SHUT_RD)  # the client's next request fails, and it starts another server
            _take_request(channel, workers)  # perhaps one has come just now
        for each in ready:
            if each in ends:
                process = workers.pop(ends[each])
                process.join()
                with ends[each] as control, suppress(OSError):
                    control.send(CODE.pack(process.exitcode))
            elif each in workers:
                each.recv(1)
                workers[each].kill()
            elif each is channel and not _take_request(channel, workers):
                for process in workers.values():
                    process.kill()
                return


def _take_request(channel: socket.socket, workers: Workers) -> bool:
    """Import the modules that a request names, and fork a worker if it asks for one; return False if there is none."""
    request, handed, _, _ = socket.recv_fds(channel, LONGEST_REQUEST, HANDED_OVER)
    if request:
        sys.path[:], modules = pickle.loads(request)
        new = [module for module in modules if module not in sys.modules]
        for module in new:
            with suppress(Exception):  # the worker tries again, and reports the error
                import_module(module)
        if new:
            gc.collect()
            gc.freeze()  # the collector ignores existing objects, so forks continue to share their memory
    if handed:
        inbox, outbox, number = handed
        control = socket.socket(fileno=number)
        own = inbox, outbox, [channel, control, *workers]
        process = multiprocessing.get_context("fork").Process(target=_become_worker, args=own)
        try:
            process.start()
            workers[control] = process
        except OSError:  # no room for another process, which the client sees by the end of the socket
            control.close()
        os.close(inbox)
        os.close(outbox)
    return bool(request)


def _become_worker(inbox: int, outbox: int, kept_by_server: list[socket.socket]) -> None:
    """Release the resources of the fork server, and do the job."""
    global is_a_fork
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for one in kept_by_server:
        one.close()
    for own, standard in ((inbox, 0), (outbox, 1)):
        os.dup2(own, standard)
        os.close(own)
    is_a_fork = True
    main()


# --- the starts of workers

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
