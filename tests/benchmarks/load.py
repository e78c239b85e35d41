"""Load on the app's server: many visitors at a time, made by websocket clients on this machine.

    python tests/benchmarks/load.py watching training links

- watching: 8, 16 or 32 sessions watch a usual run (n = 2000, 256 features) play.
- training: 8 sessions train on 20,000 points with 1,024 features while 24 watch.
- links: two links to very expensive runs are open beside 8 watching sessions.

Every visitor ticks as the browser's page does. A watching visitor sometimes clicks Pause and Play; the measurement is
the time in seconds from a click to the page's whole answer. An update is a complete drawing that shows another
iteration. The server's CPU time, memory, is read by its process id. The load is bounded, and
stays on the loopback interface.

If others use the machine, the number of updates per second means little. Updates per CPU second, times the cores that
the server can have, estimate the rate without the others. `cores had` is the number of cores that the server got.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

sys.path.append(str(Path(__file__).parents[1]))
from servers import started, wait_for

STEP = re.compile(r"step (\d+) of (\d+) · (\w+)")
LARGEST_MESSAGE = 2**26
TICKS = "ticks"
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


@dataclass
class Visitor:
    """One session, and its events.

    `updates` counts drawings that were brought to their end and showed another iteration than the one before.
    """

    address: str  # of the page, from the server's root, without the query
    query: str = ""
    updates: int = 0
    steps: int = 0
    answers: list[float] = field(default_factory=list)  # seconds from a click to the whole page's answer
    exceptions: int = 0
    is_playing: bool = False
    shown: int = -1  # the iteration that the page says last

    async def visit(self, port, cookie=""):
        """Come in, and stay until cancelled."""
        self._ticks, self._fragments, self._buttons, self._fresh = None, {}, {}, set()
        self._counted, self._page, self._token = -1, "", ""
        self._port, self._cookie = port, cookie
        self._answered = asyncio.Event()
        async with websockets.connect(
            f"ws://127.0.0.1:{port}/_stcore/stream",
            origin=f"http://127.0.0.1:{port}",
            subprotocols=["streamlit"],
            max_size=LARGEST_MESSAGE,
            compression=None,
            additional_headers={"Cookie": cookie} if cookie else None,
        ) as self._socket:
            try:
                await self._ask()
                async for content in self._socket:
                    self._take(ForwardMsg.FromString(content))
            finally:
                self._stop(*self._fragments.values(), self._ticks)

    async def click(self, key):
        """Click a button, by its key, and wait for the page's answer."""
        if key not in self._buttons:
            return
        self._answered.clear()
        begun = time.perf_counter()
        await self._ask(widget=WidgetState(id=self._buttons[key], trigger_value=True))
        await self._answered.wait()
        self.answers.append(time.perf_counter() - begun)

    def _stop(self, *tasks):
        for task in tasks:
            if task is not None:
                task.cancel()

    # --- the app's own ticks

    async def _follow(self, token, pace, address):
        """Ask for ticks, as the page's script does."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        cookie = f"Cookie: {self._cookie}\r\n" * bool(self._cookie)
        head = (
            f"POST /{address} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n{cookie}Content-Length: {len(token)}\r\n\r\n"
        )
        try:
            while True:
                begun = time.perf_counter()
                writer.write((head + token).encode())
                try:
                    news = await self._news(reader)
                except (asyncio.IncompleteReadError, ConnectionError):  # a browser reconnects
                    writer.close()
                    reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                    continue
                if "status" in news:
                    self._read_status(news["status"]["text"])
                    self._note_update()
                if news.get("redraw"):
                    await self._ask()
                if news.get("isOver"):
                    return
                least = 0.1 if news.get("isBusy") else 0.0
                await asyncio.sleep(max(least, pace - (time.perf_counter() - begun)))
        finally:
            writer.close()

    async def _news(self, reader):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        return json.loads(body.partition(b"\n")[0] or b"{}")

    def _follow_as_told(self, said):
        """Begin to ask for ticks, or end it."""
        is_going, token = self._ticks is not None and not self._ticks.done(), "" if said["isOver"] else said["token"]
        if is_going and token != self._token:
            self._ticks.cancel()
        if token and not (is_going and token == self._token):
            self._ticks = asyncio.create_task(self._follow(token, said["pace"] / 1000, said["address"]))
        self._token = token

    # --- streamlit's messages

    async def _ask(self, fragment="", widget=None):
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        if self._page:
            state.page_script_hash = self._page
        else:
            state.page_name = self.address
        state.fragment_id, state.is_auto_rerun = fragment, bool(fragment)
        if widget is not None:
            state.widget_states.widgets.append(widget)
        else:
            state.widget_states.SetInParent()
        await self._socket.send(message.SerializeToString())

    async def _ask_again_and_again(self, fragment, seconds):
        while True:
            await asyncio.sleep(seconds)
            await self._ask(fragment)

    def _take(self, message):
        kind = message.WhichOneof("type")
        if kind == "new_session" and not message.metadata.run.fragment_ids:
            self._stop(*self._fragments.values())
            self._fragments, self._fresh = {}, set()
        elif kind == "navigation":
            self._page = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            name, seconds = message.auto_rerun.fragment_id, message.auto_rerun.interval
            self._stop(self._fragments.get(name))
            self._fragments[name] = asyncio.create_task(self._ask_again_and_again(name, seconds))
        elif kind == "delta":
            self._look(message.delta.new_element)
        elif kind == "script_finished":
            self._note_end(message.script_finished)

    def _look(self, element):
        kind = element.WhichOneof("type")
        if kind == "button":
            self._fresh.add(element.button.id)
            self._buttons[element.button.id.rsplit("-", 1)[-1]] = element.button.id
        elif kind == "exception":
            self.exceptions += 1
        elif kind == "bidi_component" and "live-head" in element.bidi_component.id:
            self._fresh.add(TICKS)
            said = json.loads(element.bidi_component.bytes.partition(b"\n")[0])
            self._read_status(said["status"]["text"])
            self._follow_as_told(said)

    def _read_status(self, text):
        if found := STEP.search(text):
            self.shown, self.is_playing = int(found[1]), found[3] == "running"

    def _note_end(self, status):
        if status == ForwardMsg.FINISHED_SUCCESSFULLY:
            # What the page that has just been drawn has not any more is gone.
            self._buttons = {key: name for key, name in self._buttons.items() if name in self._fresh}
            if TICKS not in self._fresh:
                self._stop(self._ticks)
                self._ticks = None
            self._answered.set()
        if status in (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY):
            self._note_update()

    def _note_update(self):
        if self.shown != self._counted:
            self.updates += 1
            self.steps += max(0, self.shown - self._counted)
            self._counted = self.shown


@contextlib.contextmanager
def app_server():
    """Run the app in a separate process while the block lasts; give its process id and its port."""
    process, address = started(Path(tempfile.mkdtemp(prefix="dsglab-load-")), DSGLAB_SESSIONS="600")
    try:
        wait_for(process, address)
        yield process.pid, int(address.rpartition(":")[2])
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()


def cpu(pid):
    """Return the seconds of CPU time that a process has taken."""
    parts = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


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


async def measured(pid, port, name, watching, others, seconds):
    """Return a row of the table: what the watching sessions, and the others beside them, get of the server."""
    visitors = [*watching, *others]
    tasks = []
    for visitor in visitors:
        tasks.append(asyncio.create_task(visitor.visit(port)))
        await asyncio.sleep(0.3)
    await asyncio.sleep(SECONDS_BEFORE)
    tasks += [asyncio.create_task(keep_playing(visitor, visitor in watching)) for visitor in visitors]
    before = [(visitor.updates, visitor.steps) for visitor in visitors]
    for visitor in watching:
        visitor.answers.clear()
    cpu_before, begun = cpu(pid), time.perf_counter()
    await asyncio.sleep(seconds)
    spent, lasted = cpu(pid) - cpu_before, time.perf_counter() - begun
    updates = [(v.updates - b[0]) / lasted for v, b in zip(visitors, before, strict=True)]
    steps = [(v.steps - b[1]) / lasted for v, b in zip(visitors, before, strict=True)]
    memory = int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if raised := sum(visitor.exceptions for visitor in visitors):
        name += f" · {raised} exceptions"
    answers = [seconds for visitor in watching for seconds in visitor.answers]
    own, beside = updates[: len(watching)], updates[len(watching) :]
    shown = [f"{np.median(rates):.2f} ({min(rates):.2f})" for rates in (own, beside) if rates]
    fair, (p50, p95) = steps[len(watching) :] or steps, np.quantile(answers or [float("nan")], [0.5, 0.95])
    each = 1000 * spent / max(sum(updates) * lasted, 1e-9)
    rates = f"{1000 / each:.0f}", f"{max(fair):.1f} : {min(fair):.1f}", f"{p50:.2f} / {p95:.2f} ({len(answers)})"
    return name, ", others ".join(shown), *rates, f"{each:.1f}", f"{spent / lasted:.2f}", f"{memory:.0f}"


def watchers(n):
    """Return visitors who watch a usual run, each another one."""
    return [Visitor("auc", f"{USUAL}&seed={seed}") for seed in range(n)]


def loads(what, sessions):
    """Return names of loads of a kind, how many sessions watch, and the sessions beside them."""
    if what == "watching":
        return [(f"{n} watching", n, []) for n in sessions]
    if what == "training":
        return [("24 watching, 8 training", 24, [Visitor("auc", f"{LARGE}&seed={seed}") for seed in range(8)])]
    return [("8 watching, two greedy links", 8, [Visitor("auc", query) for query in GREEDY])]


def main():
    """Make the measurements that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["watching", "training", "links"])
    parser.add_argument("--seconds", type=float, default=40.0, help="of each measurement (default: %(default)s)")
    of_watching = "that watch (default: %(default)s)"
    parser.add_argument("--sessions", nargs="*", type=int, default=[8, 16, 32], help=of_watching)
    asked, rows = parser.parse_args(), []
    for name, n, others in [load for what in asked.what for load in loads(what, asked.sessions)]:
        with app_server() as (pid, port):
            rows.append(asyncio.run(measured(pid, port, name, watchers(n), others, asked.seconds)))
    for row in (HEAD, ["---"] * len(HEAD), *rows):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
