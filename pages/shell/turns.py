"""Whose turn it is to compute: sessions share the cores, and the one that has had least of them goes first."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from dsgcore.core.pauses import pausing

# A turn goes to whoever waits for it after so many seconds; work between two pauses takes about as long at most.
LONGEST_TURN = 0.05
SECONDS_BETWEEN_LOOKS = 0.05


class _Waiting:
    """Who waits for a turn, and whether it has come."""

    def __init__(self, session: str) -> None:
        self.session, self.has_turn = session, threading.Event()


class Turns:
    """So many turns at a time, given to the waiting session that has spent least.

    A session that has been away does not come back with time saved up: it begins where the least of the others stands.

    Parameters
    ----------
    at_once : int
        How many may compute at the same time.
    clock : callable, optional
    """

    def __init__(self, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free, self._clock = at_once, clock
        self._lock = threading.Lock()
        self._order = count()
        self._spent: dict[str, float] = {}  # of the sessions that wait or compute
        self._waiting: dict[tuple[bool, int], _Waiting] = {}  # by whether they can wait, and when they came
        self._floor = 0.0

    @property
    def n_waiting(self) -> int:
        """How many wait for a turn."""
        return len(self._waiting)

    @contextmanager
    def turn(
        self, session: str, *, is_urgent: bool = False, look: Callable[[], object] = lambda: None
    ) -> Iterator[None]:
        """Wait for a turn, and have it while the block lasts; long work in it lets others in between.

        Who is urgent comes before all who are not. `look` is called now and then while waiting, and may raise to give up.
        """
        begun = self._enter(session, is_urgent, look)

        def pause() -> None:
            nonlocal begun
            if self._waiting and self._clock() - begun >= LONGEST_TURN:
                self._leave(session, begun)
                begun = self._enter(session)

        try:
            with pausing(pause):
                yield
        finally:
            self._leave(session, begun)

    def _enter(self, session: str, is_urgent: bool = False, look: Callable[[], object] = lambda: None) -> float:
        number, waiting = (not is_urgent, next(self._order)), _Waiting(session)
        with self._lock:
            self._spent[session] = max(self._spent.get(session, 0.0), self._floor)
            self._waiting[number] = waiting
            self._give()
        try:
            while not waiting.has_turn.wait(SECONDS_BETWEEN_LOOKS):
                look()
        except BaseException:
            self._give_up(number)
            raise
        return self._clock()

    def _give(self) -> None:
        """Give what turns are free to who are next, and wake them alone: of many who wait, all others sleep on."""
        while self._free and self._waiting:
            number = self._next()
            waiting = self._waiting.pop(number)
            self._free -= 1
            if number[0]:  # who does not wait says nothing of where the others stand
                self._floor = self._spent[waiting.session]
            waiting.has_turn.set()

    def _give_up(self, number: tuple[bool, int]) -> None:
        with self._lock:
            if self._waiting.pop(number, None) is None:  # the turn has come meanwhile
                self._free += 1
                self._give()

    def _next(self) -> tuple[bool, int]:
        """Return the number of who is to have the next turn: of equals, the first that came."""
        return min(self._waiting, key=lambda number: (number[0], self._spent[self._waiting[number].session], number[1]))

    def _leave(self, session: str, begun: float) -> None:
        with self._lock:
            # It may have been forgotten meanwhile: then it began at the floor.
            self._spent[session] = self._spent.get(session, self._floor) + self._clock() - begun
            self._free += 1
            self._forget()
            self._give()

    def _forget(self) -> None:
        """Forget who would begin at the floor anyway."""
        waiting = {one.session for one in self._waiting.values()}
        self._spent = {name: spent for name, spent in self._spent.items() if spent > self._floor or name in waiting}


turns = Turns(os.cpu_count() or 1)
# Drawing is Python's work, and one core's: were many at it at once, the thread that sends what they draw would come last.
drawing = Turns(1)
