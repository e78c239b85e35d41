"""A visitor of the app without a browser: ticks and clicks as streamlit's page does, and counts what it is shown."""

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
