"""What the app's server bears: many visitors at a time, made by websocket clients on this machine.

    python tests/benchmarks/load.py watching training links visits --markdown tests/benchmarks/load.md

- watching: 8, 16, 32 sessions watch a usual run (n = 2000, 256 features) play.
- training: 8 sessions train on 20,000 points with 1,024 features while 24 watch.
- links: two links that would take the cores for themselves are open beside 8 watching sessions.
- replicas: two servers at once, each with 32 sessions that watch.
- visits: 500 sessions one after another; then a minute of nothing; and all of it once more.

Every visitor ticks as the browser's page does. Who watches clicks Pause and Play now and then: the seconds from a click to the
page's whole answer. An update is a drawing that came to its end and showed another iteration. The server's CPU time, memory,
threads and descriptors are read by its process id. The load is bounded, and stays on the loopback interface.

Where others use the machine, updates a second say little. Updates a CPU second, times the cores that the server can have, say
about what they would be without the others; `cores had` is how much of them it got.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from load_client import Visitor

ROOT = Path(__file__).parents[2]
# A page's run begins by itself after half a minute where no browser says that it has drawn the first chart.
SECONDS_BEFORE = 34.0
SECONDS_BETWEEN_CLICKS = 20.0
# Slow, so that it lasts: a click costs as much as some ten updates, and who watches does not begin a run every ten seconds.
USUAL = "n=2000&n_features=256&n_iter=3000&speed=slow"
LARGE = "n=20000&n_features=1024&n_iter=4000&speed=fast"
GREEDY = (
    "n_features=65536&batch_size=65536&n_iter=100000",
    "n_features=4096&batch_size=1024&n_iter=100000&at=100000",
)
HEAD = (
    "| load | updates/s, median (least) | updates a CPU second | steps/s, fastest : slowest | click p50 / p95 in s "
    "| CPU ms an update | cores had | MB |",
    "|---|---|---|---|---|---|---|---|",
)


@dataclass
class Chosen:
    """Options of the command line that all measurements share."""

    sessions: Sequence[int] = (8, 16, 32)
    is_quiet: bool = False


CHOSEN = Chosen()


def free_port(port: int = 0) -> int:
    """Return a port of this machine that nobody listens at: the given one, if any."""
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))
        return int(free.getsockname()[1])


class Server:
    """The app in a process of its own, and what the system says of it."""

    def __init__(self, port: int = 0, *, is_quiet: bool = False) -> None:
        self.port = free_port(port)
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]
        log = Path(tempfile.gettempdir()) / f"dsglab-load-{self.port}.log"
        self.log = open(os.devnull if is_quiet else log, "w")  # noqa: SIM115
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=self.log, stderr=self.log, env={**os.environ, "DSGLAB_SESSIONS": "600"}
        )

    def wait(self) -> None:
        """Wait until it answers."""
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_stcore/health", timeout=5)
                return
            time.sleep(0.1)
        raise TimeoutError("the server does not answer")

    def cpu(self) -> float:
        """Return the seconds of CPU time that it has taken."""
        parts = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    def held(self) -> tuple[float, int, int]:
        """Return its memory in MB, its threads and its descriptors."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines)
        n_files = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        return int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"]), n_files

    def end(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


@contextlib.contextmanager
def served() -> Iterator[Server]:
    """Serve the app while the block lasts."""
    server = Server(is_quiet=CHOSEN.is_quiet)
    try:
        server.wait()
        yield server
    finally:
        server.end()


async def click_now_and_then(visitor: Visitor) -> None:
    """Pause and play; begin again where the run has ended."""
    due = time.monotonic() + random.uniform(0, SECONDS_BETWEEN_CLICKS)
    while True:
        if visitor.is_playing and time.monotonic() > due:
            await visitor.click("play")
            due = time.monotonic() + SECONDS_BETWEEN_CLICKS
        if not visitor.is_playing:
            await visitor.click("play")
        await asyncio.sleep(0.5)


async def keep_playing(visitor: Visitor) -> None:
    """Begin again where the run has ended."""
    while True:
        await asyncio.sleep(1.0)
        if not visitor.is_playing:
            await visitor.click("play")


async def measured(
    server: Server, name: str, watching: Sequence[Visitor], others: Sequence[Visitor], seconds: float
) -> str:
    """Return a line of the table: what the watching sessions, and the others beside them, get of the server."""
    visitors = [*watching, *others]
    tasks = []
    for visitor in visitors:
        tasks.append(asyncio.create_task(visitor.visit(server.port)))
        await asyncio.sleep(0.3)
    await asyncio.sleep(SECONDS_BEFORE)
    tasks += [asyncio.create_task(click_now_and_then(visitor)) for visitor in watching]
    tasks += [asyncio.create_task(keep_playing(visitor)) for visitor in others]
    before = [(visitor.updates, visitor.steps) for visitor in visitors]
    cpu, begun = server.cpu(), time.perf_counter()
    for visitor in watching:
        visitor.answers.clear()
    await asyncio.sleep(seconds)
    spent, lasted = server.cpu() - cpu, time.perf_counter() - begun
    updates = [(v.updates - b[0]) / lasted for v, b in zip(visitors, before, strict=True)]
    steps = [(v.steps - b[1]) / lasted for v, b in zip(visitors, before, strict=True)]
    memory = server.held()[0]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    raised = sum(visitor.exceptions for visitor in visitors)
    note = f" · {raised} exceptions" if raised else ""
    return _line(f"{name}{note}", updates, len(watching), steps, watching, spent, lasted, memory)


def _line(name, updates, n_watching, steps, watching, spent, lasted, memory) -> str:
    answers = [seconds for visitor in watching for seconds in visitor.answers] or [float("nan")]
    own = updates[:n_watching]
    beside = updates[n_watching:]
    shown = f"{np.median(own):.2f} ({min(own):.2f})" + (
        f", others {np.median(beside):.2f} ({min(beside):.2f})" if beside else ""
    )
    fair = steps[n_watching:] or steps
    p50, p95 = np.quantile(answers, [0.5, 0.95])
    each = 1000 * spent / max(sum(updates) * lasted, 1e-9)
    return (
        f"| {name} | {shown} | {1000 / each:.0f} | {max(fair):.1f} : {min(fair):.1f} | {p50:.2f} / {p95:.2f} "
        f"({len(answers)}) | {each:.1f} | {spent / lasted:.2f} | {memory:.0f} |"
    )


def watchers(n: int) -> list[Visitor]:
    """Return visitors who watch a usual run, each another one."""
    return [Visitor("auc", f"{USUAL}&seed={seed}") for seed in range(n)]


def watching(seconds: float) -> Iterator[str]:
    """Measure sessions that watch."""
    for n in CHOSEN.sessions:
        with served() as server:
            yield asyncio.run(measured(server, f"{n} watching", watchers(n), [], seconds))


def training(seconds: float) -> Iterator[str]:
    """Measure sessions that train beside others that watch."""
    with served() as server:
        others = [Visitor("auc", f"{LARGE}&seed={seed}") for seed in range(8)]
        yield asyncio.run(measured(server, "24 watching, 8 training", watchers(24), others, seconds))


def links(seconds: float) -> Iterator[str]:
    """Measure sessions beside two greedy links."""
    with served() as server:
        others = [Visitor("auc", query) for query in GREEDY]
        yield asyncio.run(measured(server, "8 watching, two greedy links", watchers(8), others, seconds))


async def _side_by_side(servers: Sequence[Server], n: int, seconds: float) -> list[str]:
    names = [f"{n} watching, on server {i + 1} of {len(servers)} at once" for i in range(len(servers))]
    pairs = zip(servers, names, strict=True)
    return await asyncio.gather(*(measured(server, name, watchers(n), [], seconds) for server, name in pairs))


def replicas(seconds: float, n: int = 32) -> Iterator[str]:
    """Measure sessions that watch on two servers at once, as nginx shares them out."""
    with served() as one, served() as other:
        yield from asyncio.run(_side_by_side([one, other], n, seconds))


async def _come_and_go(port: int, n: int) -> None:
    gate = asyncio.Semaphore(4)

    async def one(seed: int) -> None:
        async with gate:
            visitor = Visitor("auc", f"{USUAL}&seed={seed}")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(visitor.visit(port), 3.0)

    await asyncio.gather(*(one(seed) for seed in range(n)))


def visits(seconds: float, n: int = 500) -> Iterator[str]:
    """Measure what is held before, right after, and a while after many sessions, and after as many again."""
    yield f"\n| {n} sessions one after another | MB | threads | descriptors |"
    yield "|---|---|---|---|"
    with served() as server:
        asyncio.run(_come_and_go(server.port, 20))
        time.sleep(200)
        yield _held(server, "before")
        for which in ("", "once more: "):
            asyncio.run(_come_and_go(server.port, n))
            for name, wait in (("right after", 0), ("60 s after their time is over", 180), ("later", 60)):
                time.sleep(wait)
                yield _held(server, which + name)


def _held(server: Server, when: str) -> str:
    memory, threads, files = server.held()
    return f"| {when} | {memory:.0f} | {threads} | {files} |"


LOADS = {"watching": watching, "training": training, "links": links, "replicas": replicas, "visits": visits}


def parser() -> argparse.ArgumentParser:
    """Return the reader of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loads", nargs="*", choices=["all", *LOADS], default="all", help="which (default: all)")
    parser.add_argument("--seconds", type=float, default=40.0, help="of each measurement")
    parser.add_argument(
        "--sessions", type=int, nargs="+", default=CHOSEN.sessions, help="that watch, one measurement each"
    )
    parser.add_argument("--quiet", action="store_true", help="keep no log of the servers")
    parser.add_argument("--markdown", type=Path, help="write the table there")
    return parser


def main() -> None:
    """Measure what is asked for, and print it, or write it into a file."""
    arguments = parser().parse_args()
    CHOSEN.sessions, CHOSEN.is_quiet = arguments.sessions, arguments.quiet
    lines = list(HEAD)
    print(*HEAD, sep="\n")
    for name in LOADS if "all" in arguments.loads else arguments.loads:
        for line in LOADS[name](arguments.seconds):
            print(line, flush=True)
            lines.append(line)
    if arguments.markdown:
        arguments.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
