"""A visitor of the app without a browser: ticks and clicks as streamlit's page does, and counts what it is shown."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, field

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

STEP = re.compile(r"step (\d+) of (\d+) · (\w+)")
LARGEST_MESSAGE = 2**26
TICKS = "ticks"


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
    state: str = ""  # of the run, as the page says it

    async def visit(self, port: int, cookie: str = "") -> None:
        """Come in, and stay until cancelled."""
        self._ticks: dict[str, asyncio.Task] = {}
        self._buttons: dict[str, str] = {}
        self._counted = -1
        self._page = ""
        self._port, self._cookie, self._token = port, cookie, ""
        self._answered = asyncio.Event()
        self._fresh: set[str] = set()
        url = f"ws://127.0.0.1:{port}/_stcore/stream"
        origin = f"http://127.0.0.1:{port}"
        async with websockets.connect(
            url,
            origin=origin,
            subprotocols=["streamlit"],
            max_size=LARGEST_MESSAGE,
            compression=None,
            additional_headers={"Cookie": cookie} if cookie else None,
        ) as self._socket:
            try:
                await self._ask()
                async for content in self._socket:
                    self._take(content)
            finally:
                for tick in self._ticks.values():
                    tick.cancel()

    async def _follow(self, token: str, pace: float, address: str) -> None:
        """Ask for ticks, as the page's script does."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        cookie = f"Cookie: {self._cookie}\r\n" * bool(self._cookie)
        host = f"Host: 127.0.0.1:{self._port}\r\n{cookie}"
        head = f"POST /{address} HTTP/1.1\r\n{host}Content-Length: {len(token)}\r\n\r\n"
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

    async def _news(self, reader: asyncio.StreamReader) -> dict:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        return json.loads(body.partition(b"\n")[0] or b"{}")

    async def _ask(self, fragment: str = "", widget: WidgetState | None = None) -> None:
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

    def _take(self, content: bytes) -> None:
        message = ForwardMsg.FromString(content)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            if not message.metadata.run.fragment_ids:
                self._stop_ticking()
                self._fresh = set()
        elif kind == "navigation":
            self._page = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            self._begin_ticking(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "delta":
            self._look(message.delta)
        elif kind == "script_finished":
            self._note_end(message.script_finished)

    def _stop_ticking(self) -> None:
        for name, tick in list(self._ticks.items()):
            if name:
                tick.cancel()
                del self._ticks[name]

    def _begin_ticking(self, fragment: str, seconds: float) -> None:
        if fragment in self._ticks:
            self._ticks[fragment].cancel()
        self._ticks[fragment] = asyncio.create_task(self._tick(fragment, seconds))

    async def _tick(self, fragment: str, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            await self._ask(fragment)

    def _look(self, delta) -> None:
        element = delta.new_element
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

    def _read_status(self, text: str) -> None:
        if found := STEP.search(text):
            self.shown, self.state = int(found[1]), found[3]
            self.is_playing = self.state == "running"

    def _follow_as_told(self, said: dict) -> None:
        """Begin to ask for ticks, or end it; with the empty name, for these are none of streamlit's."""
        old = self._ticks.get("")
        is_going, token = old is not None and not old.done(), "" if said["isOver"] else said["token"]
        if is_going and token != self._token:
            old.cancel()
        if token and not (is_going and token == self._token):
            self._ticks[""] = asyncio.create_task(self._follow(token, said["pace"] / 1000, said["address"]))
        self._token = token

    def _note_end(self, status: int) -> None:
        if status == ForwardMsg.FINISHED_SUCCESSFULLY:
            self._forget_what_is_gone()
            self._answered.set()
        is_whole = status in (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
        if is_whole:
            self._note_update()

    def _forget_what_is_gone(self) -> None:
        """Forget what the page that has just been drawn has not any more."""
        self._buttons = {key: name for key, name in self._buttons.items() if name in self._fresh}
        if TICKS not in self._fresh and "" in self._ticks:
            self._ticks.pop("").cancel()

    def _note_update(self) -> None:
        if self.shown != self._counted:
            self.updates += 1
            self.steps += max(0, self.shown - self._counted)
            self._counted = self.shown

    async def click(self, key: str) -> None:
        """Click a button, by its key, and wait for the page's answer."""
        if key not in self._buttons:
            return
        self._answered.clear()
        begun = time.perf_counter()
        await self._ask(widget=WidgetState(id=self._buttons[key], trigger_value=True))
        await self._answered.wait()
        self.answers.append(time.perf_counter() - begun)
