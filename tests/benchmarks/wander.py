"""Half an hour of visitors who press and move every control, and the server's state afterwards.

    python tests/benchmarks/wander.py --minutes 30 --markdown tests/benchmarks/wander.md

Eight sessions are on the pages of all settings, without a browser. Every one to four seconds each presses a button,
or changes a slider, a box or a switch, and waits for the page's answer. An answer that does not come within a minute
is lost. So is a requested step of a paused run that is not made. The load is bounded, and stays on the loopback
interface.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from pathlib import Path

import numpy as np
from app_server import Server, served
from load_client import Visitor
from reporting import command_line, show, table
from streamlit.proto.WidgetStates_pb2 import WidgetState

PAGES = ("auc", "s3vm", "ordinal", "similar_unlabeled", "multiclass")
LONGEST, STEP_LASTS = 60.0, 10.0
PAUSE = (1.0, 4.0)
LEFT_ALONE = {"Your own file"}  # a page without a file waits for one, and a visitor without a browser has none
SHARE_OF_BUTTONS = 0.4
# Controls that start separate processes for a minute, or leave the page.
HEAVY = ("race", "suggest", "find_out", "seeds", "four", "repeat", "lesson", "download")


class Wanderer(Visitor):
    """A visitor who knows what can be set on the page."""

    def __init__(self, page: str) -> None:
        super().__init__(page, "speed=slow")
        self.settable: dict[str, object] = {}
        self.lost: list[str] = []
        self.said: list[str] = []

    def _look(self, delta) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind in SETTERS:
            one = getattr(element, kind)
            name = one.id.rsplit("-", 1)[-1]
            self._fresh.add(one.id)
            self.settable[name] = (kind, one)
            if one.disabled:
                del self.settable[name]
        elif kind == "exception":
            self.said.append(f"{element.exception.type}: {element.exception.message}"[:200])
        super()._look(delta)
        if kind == "button" and element.button.disabled:
            self._buttons.pop(element.button.id.rsplit("-", 1)[-1], None)

    def _forget_what_is_gone(self) -> None:
        super()._forget_what_is_gone()
        self.settable = {name: made for name, made in self.settable.items() if made[1].id in self._fresh}

    def choice(self) -> tuple[str, WidgetState]:
        """Return what to do next."""
        buttons = [key for key in self._buttons if not any(word in key for word in HEAVY)]
        if not self.settable or random.random() < SHARE_OF_BUTTONS:
            key = random.choice(buttons)
            return key, WidgetState(id=self._buttons[key], trigger_value=True)
        key = random.choice(list(self.settable))
        kind, element = self.settable[key]
        return key, SETTERS[kind](element)

    async def wander(self) -> None:
        """Do one thing after another until cancelled."""
        while True:
            await asyncio.sleep(random.uniform(*PAUSE))
            if not self._buttons:
                continue
            key, widget = self.choice()
            is_playing, shown = self.is_playing, self.shown
            try:
                await asyncio.wait_for(self.act(widget), LONGEST)
            except TimeoutError:
                self.lost.append(f"{time.strftime('%X')} {self.address}: {key}, {self.state} at {self.shown}")
                continue
            if key == "step" and not is_playing and not self.is_over():
                await self._expect_a_step(shown)

    async def _expect_a_step(self, shown: int) -> None:
        """Note a run that stays at the same step for some seconds more: it may be drawn a moment after the page."""
        until = time.monotonic() + STEP_LASTS
        while self.shown == shown and not self.is_over() and time.monotonic() < until:
            await asyncio.sleep(0.1)
        if self.shown == shown and not self.is_over():
            self.lost.append(f"{time.strftime('%X')} {self.address}: no step at {shown}, {self.state}")

    def is_over(self) -> bool:
        """Return whether the page says of its run that it is done or diverged, or speaks of none."""
        return self.state not in ("paused", "running")


def _slider(element) -> WidgetState:
    if element.options:
        return WidgetState(id=element.id, string_array_value={"data": [random.choice(element.options)]})
    n = round((element.max - element.min) / element.step)
    value = element.min + element.step * random.randint(0, n)
    return WidgetState(id=element.id, double_array_value={"data": [value]})


def _selectbox(element) -> WidgetState:
    options = [option for option in element.options if option not in LEFT_ALONE]
    return WidgetState(id=element.id, string_value=random.choice(options))


def _group(element) -> WidgetState:
    return WidgetState(id=element.id, string_array_value={"data": [random.choice(element.options).content]})


SETTERS = {
    "slider": _slider,
    "selectbox": _selectbox,
    "button_group": _group,
    "checkbox": lambda element: WidgetState(id=element.id, bool_value=random.random() < 0.5),
    "number_input": lambda element: WidgetState(id=element.id, double_value=float(random.randint(0, 99))),
}


async def wandering(server: Server, n: int, minutes: float) -> list[tuple[object, ...]]:
    """Return rows of the table, one every sixth of the time."""
    visitors = [Wanderer(PAGES[i % len(PAGES)]) for i in range(n)]
    tasks = [asyncio.create_task(visitor.visit(server.port)) for visitor in visitors]
    await asyncio.sleep(20.0)
    tasks += [asyncio.create_task(visitor.wander()) for visitor in visitors]
    lines, begun = [], time.monotonic()
    for part in range(7):
        await asyncio.sleep(max(0.0, begun + 60 * minutes * part / 6 - time.monotonic()))
        lines.append(_row(server, visitors, minutes * part / 6))
        print(lines[-1], flush=True)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    for what in ended:
        if not isinstance(what, asyncio.CancelledError):
            print("a visitor ended:", repr(what), file=sys.stderr)
    for visitor in visitors:
        for said in (*visitor.said, *visitor.lost):
            print(said, file=sys.stderr)
    return lines


def _row(server: Server, visitors: list[Wanderer], minutes: float) -> tuple[object, ...]:
    answers = [seconds for visitor in visitors for seconds in visitor.answers] or [float("nan")]
    memory, threads, files = server.held()
    raised, lost = sum(visitor.exceptions for visitor in visitors), sum(len(visitor.lost) for visitor in visitors)
    p50, p95 = np.quantile(answers, [0.5, 0.95])
    return f"{minutes:.0f}", len(answers), raised, lost, f"{p50:.2f} / {p95:.2f}", f"{memory:.0f}", threads, files


def main() -> None:
    """Let visitors wander, and print what came of it, or write it into a file."""
    asked = command_line(__doc__, minutes=30.0, visitors=8, seed=0, markdown=Path)
    random.seed(asked.seed)
    with served() as server:
        rows = asyncio.run(wandering(server, asked.visitors, asked.minutes))
    head = ("minute", "actions", "exceptions", "lost", "answer p50 / p95 in s", "MB", "threads", "descriptors")
    show(table(head, rows), asked.markdown)


if __name__ == "__main__":
    main()
