"""Load on the app's server: many visitors at a time, made by websocket clients on this machine.

    python tests/benchmarks/load.py watching training links visits --markdown load.md

- watching: 8, 16 or 32 sessions watch a usual run (n = 2000, 256 features) play.
- training: 8 sessions train on 20,000 points with 1,024 features while 24 watch.
- links: two links to very expensive runs are open beside 8 watching sessions.
- replicas: two servers at once, each with 32 sessions that watch.
- visits: 500 sessions one after another, then a minute of rest, and all of it again.

Every visitor ticks as the browser's page does. A watching visitor sometimes clicks Pause and Play; the measurement is
the time in seconds from a click to the page's whole answer. An update is a complete drawing that shows another
iteration. The server's CPU time, memory, threads and descriptors are read by its process id. The load is bounded, and
stays on the loopback interface.

If others use the machine, the number of updates per second means little. Updates per CPU second, times the cores that
the server can have, estimate the rate without the others. `cores had` is the number of cores that the server got.
"""

import argparse
import asyncio
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from load_client import Visitor

sys.path.append(str(Path(__file__).parents[1]))
from servers import started, wait_for

SECONDS_BEFORE = 10.0  # all pages are open by then
SECONDS_BETWEEN_CLICKS = 20.0
# Slow, so that it lasts: a click costs as much as some ten updates, and who watches does not begin a run every ten seconds.
USUAL = "data.n=2000&solver.n_features=256&solver.n_iter=3000&view.speed=slow"
LARGE = "data.n=20000&solver.n_features=1024&solver.n_iter=4000&view.speed=fast"
GREEDY = (
    "solver.n_features=65536&solver.batch_size=65536&solver.n_iter=100000",
    "solver.n_features=4096&solver.batch_size=1024&solver.n_iter=100000&at=100000",
)
HEAD = (
    *("load", "updates/s, median (least)", "updates a CPU second", "steps/s, fastest : slowest"),
    *("click p50 / p95 in s", "CPU ms an update", "cores had", "MB"),
)


class Server:
    """The app in a separate process, while the block lasts."""

    def __enter__(self):
        self.process, self.address = started(Path(tempfile.mkdtemp(prefix="dsglab-load-")), DSGLAB_SESSIONS="600")
        self.port = int(self.address.rpartition(":")[2])
        try:
            wait_for(self.process, self.address)
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()

    def cpu(self):
        """Return the seconds of CPU time that it has taken."""
        parts = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    def held(self):
        """Return its memory in MB, its threads and its descriptors."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines)
        n_files = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        return int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"]), n_files


async def keep_playing(visitor, is_clicking):
    """Begin again where the run has ended; pause now and then."""
    due = time.monotonic() + random.uniform(0, SECONDS_BETWEEN_CLICKS) if is_clicking else float("inf")
    while True:
        if visitor.is_playing and time.monotonic() > due:
            await visitor.click("play")
            due = time.monotonic() + SECONDS_BETWEEN_CLICKS
        if not visitor.is_playing:
            await visitor.click("play")
        await asyncio.sleep(0.5)


async def measured(server, name, watching, others, seconds):
    """Return a row of the table: what the watching sessions, and the others beside them, get of the server."""
    visitors = [*watching, *others]
    tasks = []
    for visitor in visitors:
        tasks.append(asyncio.create_task(visitor.visit(server.port)))
        await asyncio.sleep(0.3)
    await asyncio.sleep(SECONDS_BEFORE)
    tasks += [asyncio.create_task(keep_playing(visitor, visitor in watching)) for visitor in visitors]
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
    if raised := sum(visitor.exceptions for visitor in visitors):
        name += f" · {raised} exceptions"
    answers = [seconds for visitor in watching for seconds in visitor.answers] or [float("nan")]
    own, beside = updates[: len(watching)], updates[len(watching) :]
    shown = [f"{np.median(rates):.2f} ({min(rates):.2f})" for rates in (own, beside) if rates]
    fair, (p50, p95) = steps[len(watching) :] or steps, np.quantile(answers, [0.5, 0.95])
    each = 1000 * spent / max(sum(updates) * lasted, 1e-9)
    rates = f"{1000 / each:.0f}", f"{max(fair):.1f} : {min(fair):.1f}", f"{p50:.2f} / {p95:.2f} ({len(answers)})"
    return name, ", others ".join(shown), *rates, f"{each:.1f}", f"{spent / lasted:.2f}", f"{memory:.0f}"


def watchers(n):
    """Return visitors who watch a usual run, each another one."""
    return [Visitor("auc", f"{USUAL}&seed={seed}") for seed in range(n)]


def beside(name, n, others, asked):
    """Measure sessions that watch beside others."""
    with Server() as server:
        return asyncio.run(measured(server, name, watchers(n), others, asked.seconds))


def watching(asked):
    """Measure sessions that watch."""
    return [beside(f"{n} watching", n, [], asked) for n in asked.sessions]


def training(asked):
    """Measure sessions that train beside others that watch."""
    others = [Visitor("auc", f"{LARGE}&seed={seed}") for seed in range(8)]
    return [beside("24 watching, 8 training", 24, others, asked)]


def links(asked):
    """Measure sessions beside two greedy links."""
    return [beside("8 watching, two greedy links", 8, [Visitor("auc", query) for query in GREEDY], asked)]


def replicas(asked, n=32):
    """Measure sessions that watch on two servers at once, as nginx shares them out."""

    async def at_once(*servers):
        names = [f"{n} watching, on server {i + 1} of {len(servers)} at once" for i in range(len(servers))]
        pairs = zip(servers, names, strict=True)
        return await asyncio.gather(*(measured(one, name, watchers(n), [], asked.seconds) for one, name in pairs))

    with Server() as one, Server() as other:
        return asyncio.run(at_once(one, other))


async def come_and_go(port, n):
    gate = asyncio.Semaphore(4)

    async def one(visitor):
        async with gate:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(visitor.visit(port), 3.0)

    await asyncio.gather(*map(one, watchers(n)))


def visits(n=500):
    """Measure what is held before, right after, and a while after many sessions, and after as many again."""
    rows = []
    with Server() as server:
        asyncio.run(come_and_go(server.port, 20))
        time.sleep(200)
        rows.append(("before", *server.held()))
        for which in ("", "once more: "):
            asyncio.run(come_and_go(server.port, n))
            for name, wait in (("right after", 0), ("60 s after their time is over", 180), ("later", 60)):
                time.sleep(wait)
                rows.append((which + name, *server.held()))
    head = (f"{n} sessions one after another", "MB", "threads", "descriptors")
    return table(head, [(name, f"{memory:.0f}", *others) for name, memory, *others in rows])


def table(head, rows):
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows))


LOADS = {"watching": watching, "training": training, "links": links, "replicas": replicas}


def main():
    """Make the measurements that the command line names; print them, or write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*LOADS, "visits"])
    parser.add_argument("--seconds", type=float, default=40.0, help="of each measurement (default: %(default)s)")
    parser.add_argument(
        "--sessions", nargs="*", type=int, default=[8, 16, 32], help="that watch (default: %(default)s)"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables to this file")
    asked, rows = parser.parse_args(), []
    names = asked.what or [*LOADS, "visits"]
    for name in (name for name in names if name in LOADS):
        rows += LOADS[name](asked)
        print(*rows, sep="\n", flush=True)
    said = "\n\n".join([table(HEAD, rows)] * bool(rows) + ([visits()] if "visits" in names else []))
    print(said)
    if asked.markdown is not None:
        asked.markdown.write_text(said + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
