"""Phones that wait for news of a room: one look into the store for all of them, and an answer to all at once."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import anyio.to_thread
from anyio import CapacityLimiter

from dsgcore.rooms.rooms import MOST_CLIENTS, NoRoomError, RoomError, State

SECONDS_BETWEEN_LOOKS = 0.2
# A proxy ends a request that takes a minute.
LONGEST_WAIT = 20.0
MOST_WAITING = 2 * MOST_CLIENTS  # in one room: a phone whose connection was lost may wait twice

_log = logging.getLogger(__name__)


@dataclass
class Watch:
    """A room at the last look, and the event that the next change sets."""

    state: State | None = None
    is_gone: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    n_waiting: int = 0
    task: asyncio.Task[None] | None = None

    def show(self, state: State | None) -> None:
        """Take the state of a look, and wake those who wait if it is another one."""
        self.state, self.is_gone = state, state is None
        self.changed.set()
        self.changed = asyncio.Event()


class Watches:
    """The rooms for whose news phones wait; `look` reads the state of one.

    Parameters
    ----------
    look : callable
    limiter : CapacityLimiter
        Number of looks at the same time.
    """

    def __init__(self, look: Callable[[str], State], limiter: CapacityLimiter) -> None:
        self._look, self._limiter = look, limiter
        self._watches: dict[str, Watch] = {}

    def knows(self, code: str, entry: str) -> bool:
        """Return True if phones wait for this room, and this is the text that they got when they entered."""
        watch = self._watches.get(code)
        return watch is not None and watch.state is not None and watch.state.entry == entry

    async def present(self, code: str) -> State:
        """Return the state of a room now; raise `NoRoomError` if there is none."""
        watch = self._watches.get(code)
        if watch is not None and watch.state is not None:
            return watch.state
        return await anyio.to_thread.run_sync(self._look, code, limiter=self._limiter)

    async def news(self, code: str, since: int) -> State:
        """Return the state of a room that is newer than `since`, or the present one after `LONGEST_WAIT` seconds.

        Raises `NoRoomError` when the room is closed, and `RoomError` if too many wait.
        """
        watch = self._watches.setdefault(code, Watch())
        if watch.n_waiting >= MOST_WAITING:
            raise RoomError("Too many phones wait for this room.")
        watch.n_waiting += 1
        try:
            if watch.task is None or watch.task.done():
                watch.task = asyncio.create_task(self._look_around(code, watch))
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_WAIT):
                    while not watch.is_gone and (watch.state is None or watch.state.version <= since):
                        await watch.changed.wait()
        finally:
            watch.n_waiting -= 1
        if watch.state is None:
            raise NoRoomError if watch.is_gone else sqlite3.OperationalError("the room could not be read")
        return watch.state

    async def _look_around(self, code: str, watch: Watch) -> None:
        """Look for news as long as somebody waits for them."""
        try:
            while watch.n_waiting:
                await self._look_once(code, watch)
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        finally:
            self._watches.pop(code, None)

    async def _look_once(self, code: str, watch: Watch) -> None:
        try:
            state = await anyio.to_thread.run_sync(self._look, code, limiter=self._limiter)
        except NoRoomError:
            watch.show(None)
        except sqlite3.Error as error:  # the next look may succeed
            _log.warning("a room could not be read: %s", error)
        else:
            if watch.state is None or watch.state.version != state.version:
                watch.show(state)
            else:
                watch.state = state  # with the seconds that are left now
