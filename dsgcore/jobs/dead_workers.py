"""Sentences for workers that have no result: not started, killed, crashed, out of time or memory, or after an error."""

from __future__ import annotations

import signal
import traceback

from dsgcore.core.errors import DSGError

_KILLED, _OUT_OF_TIME = getattr(signal, "SIGKILL", None), getattr(signal, "SIGXCPU", None)
WORKER_KILLED = (
    "The background process was killed, probably because memory ran out. Close other programs, or use less data."
)


def not_started(error: OSError) -> str:
    """Return the sentence for a worker that could not be started."""
    return f"The background process could not be started ({error}). Close other programs, and start it again."


def ended_early(code: int, time_limit: float | None) -> str:
    """Return the sentence for a worker that ended with this code before it had a result; -N is the signal N."""
    if -code == _KILLED:
        return WORKER_KILLED
    if -code == _OUT_OF_TIME and time_limit is not None:
        return out_of_time(time_limit)
    how = f"crashed with signal {-code}" if code < 0 else f"ended with code {code}"
    return f"The background process {how} before it had a result. Start it again."


def out_of_time(limit: float) -> str:
    """Return the sentence for a job that took longer than its limit, in seconds."""
    return f"This takes longer than its limit of {limit:g} s."


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
