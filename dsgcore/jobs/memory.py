"""Memory of this process: measurement and limits. Standard library only."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

MEGABYTE = 2**20
SECONDS_BETWEEN_LOOKS = 0.05


def forget_peak() -> int:
    """Reset the peak of resident memory to the current value, if the system can; return the peak, in bytes."""
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return peak()


def peak() -> int:
    """Return the peak of resident memory of this process, in bytes; 0 if the system does not report it."""
    with suppress(OSError, StopIteration):
        return _status("VmHWM")
    with suppress(ImportError):  # not on Windows
        import resource

        # May include the memory of the process before it started this program.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return 0


def resident() -> int:
    """Return the resident memory of this process, in bytes; 0 if the system does not report it."""
    with suppress(OSError, StopIteration):
        return _status("VmRSS")
    return 0


def give_back() -> None:
    """Return free memory of this process to the system, if the C library can (glibc)."""
    with suppress(OSError, AttributeError, TypeError):
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)


def _status(name: str) -> int:
    """Return a number, in bytes, from Linux's status of this process."""
    with open("/proc/self/status", encoding="ascii") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith(name))


def limit_growth(limit: int, give_up: Callable[[], None]) -> None:
    """Limit this process to `limit` bytes beyond its current memory.

    On Linux the system refuses private memory (RLIMIT_DATA), so an array that is too large raises `MemoryError` before
    a byte of it is touched. The address space (RLIMIT_AS) is not limited: threads of BLAS and of the C library reserve
    far more of it than they use. On other systems a thread watches the peak of resident memory, and calls `give_up`
    when it is too high, which ends the process.
    """
    try:
        import resource

        wall = _status("VmData") + limit
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (wall if hard == resource.RLIM_INFINITY else min(wall, hard), hard))
    except (ImportError, OSError, StopIteration, AttributeError):
        highest = peak() + limit

        def watch() -> None:
            while peak() <= highest:
                time.sleep(SECONDS_BETWEEN_LOOKS)
            give_up()

        threading.Thread(target=watch, daemon=True).start()


def limit_time(seconds: float) -> None:
    """Limit this process to so many more seconds of computing, if the system can; waiting does not count."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        wall = math.ceil(used.ru_utime + used.ru_stime + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (wall, wall + 1))
