"""Background jobs by the project's fork server and by loky: time to begin and to end, and leftovers.

    pip install loky
    python tests/benchmarks/job_processes.py --tries 5 --markdown tests/benchmarks/job_processes.md

Both have imported everything that jobs need, and have two places for jobs. loky can kill all workers of an executor, but not
the worker of one job. Each of its places is therefore an executor with one worker.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import job_functions
from loky import ProcessPoolExecutor
from reporting import command_line, machine, show, table

from dsgcore.jobs import JobQueue
from dsgcore.jobs.starting import fork_server
from pages.shell.ready import NEEDED

PLACES, MEGABYTE = 2, 2**20
LARGE = bytes(64 * MEGABYTE)


class ForkServer:
    """Jobs of the project."""

    def __init__(self) -> None:
        self.queue = JobQueue(PLACES)
        fork_server().get_ready(*NEEDED)

    def result(self, function: Callable[..., Any], *arguments: Any, memory_limit: int | None = None) -> Any:
        """Return what the function returns, or the sentence of its error."""
        job = self.queue.submit(function, *arguments, memory_limit=memory_limit)
        job.wait()
        return job.error or job.result

    def begin(self, function: Callable[..., Any], *arguments: Any) -> Callable[[], None]:
        """Begin a job; return what kills it and waits for its end."""
        job = self.queue.submit(function, *arguments)

        def kill() -> None:
            job.cancel()
            job.wait()

        return kill

    def close(self) -> None:
        """End all processes."""
        self.queue.close()
        fork_server().close()


class Loky:
    """An executor with one worker for each place; the worker that was killed is replaced at once."""

    def __init__(self) -> None:
        self.places = [self._new() for _ in range(PLACES)]

    def _new(self) -> ProcessPoolExecutor:
        one = ProcessPoolExecutor(1, timeout=600, initializer=prepare)
        one.submit(os.getpid)  # its worker begins with its first task
        return one

    def result(self, function: Callable[..., Any], *arguments: Any, memory_limit: int | None = None) -> Any:
        """Return what the function returns, or the sentence of its error."""
        try:
            return self.places[0].submit(limited, function, arguments, memory_limit).result()
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"

    def begin(self, function: Callable[..., Any], *arguments: Any) -> Callable[[], None]:
        """Begin a job; return what kills it and waits for its end."""
        self.places[0].submit(limited, function, arguments, None)

        def kill() -> None:
            self.places[0].shutdown(kill_workers=True)
            self.places[0] = self._new()

        return kill

    def close(self) -> None:
        """End all processes."""
        for place in self.places:
            place.shutdown(kill_workers=True)


def prepare() -> None:
    """Import what jobs need."""
    for module in NEEDED:
        import_module(module)


def limited(function: Callable[..., Any], arguments: tuple, memory_limit: int | None) -> Any:
    """Call a function with a limit for its memory, which is lifted afterwards."""
    import resource

    from dsgcore.jobs.memory import limit_growth

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if memory_limit is not None:
        limit_growth(memory_limit, lambda: None)
    try:
        return function(*arguments, report=lambda progress: None)
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


WAYS = {"fork server": ForkServer, "loky": Loky}


def children(process: int) -> Iterator[int]:
    """Yield the numbers of all processes below this one."""
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        with contextlib.suppress(OSError):
            yield from children(int(child))
            yield int(child)


def megabytes() -> float:
    """Return the memory of all child processes; pages that several share are counted once."""
    total = 0
    for child in {c for thread in Path("/proc/self/task").iterdir() for c in thread_children(thread)}:
        for process in (child, *children(child)):
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{process}/smaps_rollup").read_text()
                total += int(re.search(r"^Pss: +(\d+)", text, re.MULTILINE)[1])
    return total / 1024


def thread_children(thread: Path) -> list[int]:
    """Return the processes that a thread of this process has started."""
    return [int(child) for child in (thread / "children").read_text().split()]


def milliseconds(function: Callable[[], object]) -> float:
    """Return how long a call takes."""
    begun = time.perf_counter()
    function()
    return 1000 * (time.perf_counter() - begun)


def begun(way: Any, function: Callable[..., Any], file: Path | None = None) -> Callable[[], None]:
    """Begin a job that does not end; return what kills it once it is at work."""
    kill = way.begin(function, *([] if file is None else [str(file)]))
    tick = threading.Event()
    while file is not None and not file.exists():
        tick.wait(0.001)
    if file is None:
        tick.wait(0.5)
    else:
        file.unlink()
    return kill


def measured(way: Any) -> dict[str, Any]:
    """Return the figures of one try."""
    file = Path(tempfile.gettempdir()) / f"job-{os.getpid()}"
    found: dict[str, Any] = {}
    made: list[Any] = []
    found["first job, from nothing, ms"] = milliseconds(
        lambda: made.append(way()) or made[0].result(job_functions.double, 1)
    )
    one = made[0]
    time.sleep(1)
    one.result(job_functions.double, 1)
    found["next job, ms"] = statistics.median(
        milliseconds(lambda: one.result(job_functions.double, 1)) for _ in range(20)
    )
    found["64 MB there and 128 MB back, ms"] = milliseconds(lambda: one.result(job_functions.double, LARGE))
    kill = begun(one, job_functions.tell_and_wait, file)
    found["kill, ms"] = milliseconds(kill)
    found["first job after a kill, ms"] = milliseconds(lambda: one.result(job_functions.double, 1))
    time.sleep(4)
    kill = begun(one, job_functions.hold_the_interpreter)
    found["kill of a job that lets no thread run, ms"] = milliseconds(kill)
    time.sleep(4)
    found["memory of all processes, without a job, MB"] = megabytes()
    found["a job above its limit of memory"] = one.result(
        job_functions.take, 1024 * MEGABYTE, memory_limit=256 * MEGABYTE
    )
    found["a job that dies"] = one.result(job_functions.die)
    found["the next job after one that dies"] = one.result(job_functions.double, 21)
    one.close()
    return found


def main() -> None:
    """Measure both in turns, and print the figures."""
    asked = command_line(__doc__, tries=5, markdown=Path)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in WAYS}
    for _ in range(asked.tries):
        for name, way in WAYS.items():
            found[name].append(measured(way))
            print(name, found[name][-1])
    rows = [(what, *(shown([each[what] for each in found[name]]) for name in WAYS)) for what in found["loky"][0]]
    show(f"{table(('', *WAYS), rows)}\n\n{machine()}", asked.markdown)


def shown(values: list[Any]) -> str:
    """Return the median and the range of numbers, or the first text."""
    if isinstance(values[0], float):
        return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"
    return str(values[0])


if __name__ == "__main__":
    main()
