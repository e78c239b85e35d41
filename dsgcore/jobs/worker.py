"""Main program of a worker, which does one job and reports its progress. `dsgcore.jobs.starting` starts it.

It imports the standard library and the errors' base class only. The job imports the rest.
Messages through standard input and standard output are pickled, one after the other.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from functools import partial
from typing import IO, Any

from dsgcore.jobs.dead_workers import out_of_memory, raised
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
    outbox = _reserve_standard_output()
    try:
        with open(0, "rb", closefd=False) as inbox:
            sys.path[:], function, arguments, memory_limit, time_limit = pickle.load(inbox)
    except EOFError:  # cancelled before it began
        os._exit(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    outbox.send(READY, None)
    if time_limit is not None:
        limit_time(time_limit)
    try:
        outbox.send(RESULT, _do(pickle.loads(function), pickle.loads(arguments), memory_limit, outbox))
    except KeyboardInterrupt:
        pass
    except Exception as error:
        outbox.send(ERROR, raised(error, memory_limit))
    sys.stderr.flush()
    os._exit(0)  # without waiting for the thread that reads


def _reserve_standard_output() -> Outbox:
    """Keep standard output for messages: the job's prints go elsewhere, and its child processes do not hold the pipe.

    The end of the pipe tells the parent that this process has ended.
    """
    own = os.dup(1)
    os.dup2(2, 1)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os.close(own))
    return Outbox(os.fdopen(own, "wb"))


def _do(function: Any, arguments: tuple, memory_limit: int | None, outbox: Outbox) -> Any:
    if memory_limit is not None:

        def give_up() -> None:
            outbox.send(ERROR, out_of_memory(memory_limit))
            os._exit(1)

        limit_growth(memory_limit, give_up)
    return function(*arguments, report=partial(outbox.send, PROGRESS))


def _end_with_parent() -> None:
    """Wait until the other end of standard input is closed, which happens when the parent ends; then end."""
    while os.read(0, 1):
        pass
    os._exit(1)
