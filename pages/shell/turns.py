"""Turns to compute: sessions share the cores, and the session that has waited longest goes first."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from dsgcore.core.threads import pausing

# Longer work waits for another turn if others wait. Turns are equally long, so each session gets a fair share.
LONGEST_TURN = 0.1
SECONDS_BETWEEN_LOOKS = 0.05
# The longest time in which no other turn starts while a click is answered. A page is drawn in less time.
LONGEST_PREFERENCE = 0.3


class Turns:
    """A number of simultaneous turns, given to those who have waited longest.

    Parameters
    ----------
    at_once : int
        Number of turns at the same time.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._lock = threading.Lock()
        self._order = count()
        # Events of those who wait, by priority (False comes first) and arrival; an event is set when its turn comes.
        self._waiting: dict[tuple[bool, int], threading.Event] = {}
        # Start times of preferred work, by thread.
        self._preferred: dict[int, float] = {}

    @contextmanager
    def preference(self) -> Iterator[None]:
        """While this thread is in the block, give turns only to it and to urgent work, for a moment at most."""
        thread = threading.get_ident()
        with self._lock:
            self._preferred[thread] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._preferred[thread]
                self._give()

    @property
    def n_waiting(self) -> int:
        """Number of callers that wait for a turn."""
        return len(self._waiting)

    @contextmanager
    def turn(self, *, is_urgent: bool = False, look: Callable[[], object] = lambda: None) -> Iterator[float]:
        """Wait for a turn, and have it inside the block; long work in it lets others in between. Yield the seconds of waiting.

        Urgent callers come first. `look` is called now and then while waiting, and may raise to give up.
        """
        asked = time.monotonic()
        self._enter(is_urgent, look)
        begun = time.monotonic()

        def pause() -> None:
            nonlocal begun
            if self._waiting and time.monotonic() - begun >= LONGEST_TURN:
                self._leave()
                self._enter()
                begun = time.monotonic()

        try:
            with pausing(pause):
                yield begun - asked
        finally:
            self._leave()

    def _enter(self, is_urgent: bool = False, look: Callable[[], object] = lambda: None) -> None:
        has_come = threading.Event()
        with self._lock:
            number = (not (is_urgent or self._is_preferred(threading.get_ident())), next(self._order))
            self._waiting[number] = has_come
            self._give()
        try:
            while not has_come.wait(SECONDS_BETWEEN_LOOKS):
                look()
                with self._lock:
                    self._give()  # a preference may have expired
        except BaseException:
            self._give_up(number)
            raise

    def _give(self) -> None:
        """Give the free turns to those who are next, and wake only those."""
        while self._free and self._waiting:
            number = min(self._waiting)
            if number[0] and any(map(self._is_preferred, self._preferred)):
                return
            self._free -= 1
            self._waiting.pop(number).set()

    def _is_preferred(self, thread: int) -> bool:
        begun = self._preferred.get(thread)
        return begun is not None and time.monotonic() - begun < LONGEST_PREFERENCE

    def _give_up(self, number: tuple[bool, int]) -> None:
        with self._lock:
            if self._waiting.pop(number, None) is None:  # the turn has come meanwhile
                self._free += 1
                self._give()

    def _leave(self) -> None:
        with self._lock:
            self._free += 1
            self._give()


# One core is left for Python's own work, in one thread at a time, and for the thread that sends.
turns = Turns(max(1, (os.cpu_count() or 1) - 1))
# Drawing is Python code, so it uses one core. Several drawings at once would delay the thread that sends them.
drawing = Turns(1)
