"""Cuts of the connection between an open page and the app's server, and the page's recovery.

    python tests/benchmarks/cuts.py --seconds 5 60 300 --markdown tests/benchmarks/cuts.md

A browser has two pages open: the run of one plays, the run of the other is paused. The connection to the server goes
through a forwarder, which refuses everything during a cut. The measurement is the time in seconds from the end of the
cut until each page is back: a playing run has continued, and a paused one makes the next step on request. Everything
stays on the loopback interface.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
import time
from collections.abc import Coroutine
from pathlib import Path

from app_server import browsing, served
from kills import WAYS
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from reporting import command_line, show, table

# Streamlit holds a session for so long after its browser has gone.
SECONDS_HELD = 120.0
STANDS_STILL = "a paused run"
CUT = ("a run that plays", STANDS_STILL)


class Wire:
    """A separate port that forwards its connections to another one until it is cut."""

    def __init__(self, port: int) -> None:
        self._port, self.port = port, 0
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.mend()

    def mend(self) -> None:
        """Lead connections through, at the same port as before."""
        self._do(self._listen())

    def cut(self) -> None:
        """End all connections, and refuse new ones."""
        self._do(self._end())

    def _do(self, work: Coroutine) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._lead, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        self._server.close()
        for writer in list(self._open):
            writer.transport.abort()

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self._port)
        both = {writer, other_writer}
        self._open |= both
        await asyncio.gather(self._pass_on(reader, other_writer), self._pass_on(other_reader, writer))
        self._open -= both

    @staticmethod
    async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while content := await reader.read(2**16):
                writer.write(content)
                await writer.drain()
        writer.close()


def cuts(lengths: list[float]) -> list[tuple[object, ...]]:
    """Cut the wire for so long, one after another; return rows of the table."""
    rows = []
    with served() as server, browsing() as browser:
        wire = Wire(server.port)
        for seconds in lengths:
            for name in CUT:
                page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
                is_back, goes_on = WAYS[name](page, f"http://127.0.0.1:{wire.port}")
                wire.cut()
                page.wait_for_timeout(1000 * seconds)  # lets the browser's events be heard meanwhile
                wire.mend()
                begun = time.perf_counter()
                lasted = "not back"
                try:
                    if name != STANDS_STILL or seconds > SECONDS_HELD:
                        is_back()  # if its session still exists, a paused page is not loaded again
                    goes_on()
                    lasted = f"{time.perf_counter() - begun:.1f}"
                except (AssertionError, TimeoutError, PlaywrightTimeout) as error:
                    print(f"{page.url}: {error}", flush=True)  # the other cuts are made all the same
                    page.screenshot(path=Path(tempfile.gettempdir()) / f"cut-{seconds:g}.png")
                raised = page.get_by_test_id("stException").count()
                rows.append((f"{seconds:g} s", name, lasted, raised))
                print(rows[-1], flush=True)
                page.context.close()
    return rows


def main() -> None:
    """Cut, and print what came of it, or write it into a file."""
    asked = command_line(__doc__, seconds=[5.0, 60.0, 300.0], markdown=Path)
    show(table(("cut for", "of", "seconds until it is back", "exceptions"), cuts(asked.seconds)), asked.markdown)


if __name__ == "__main__":
    main()
