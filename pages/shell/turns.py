"""Whose turn it is to compute: sessions share the cores, and the one that has waited longest goes first."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from dsgcore.core.pauses import pausing

# Longer work waits for another turn where others wait: turns are about equally long, so who waits longest has had least.
LONGEST_TURN = 0.1
SECONDS_BETWEEN_LOOKS = 0.05
# So long at most nobody else begins a turn while a click is answered: a page is drawn in less, and who plays sees no gap.
LONGEST_PREFERENCE = 0.3


class Turns:
    """So many turns at a time, given to who has waited longest.

    Parameters
    ----------
    at_once : int
        How many may compute at the same time.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._lock = threading.Lock()
        self._order = count()
        # By whether they can wait, and when they came: what is set when their turn has come.
        self._waiting: dict[tuple[bool, int], threading.Event] = {}
        # By thread, when what somebody waits for was begun.
        self._preferred: dict[int, float] = {}

    @contextmanager
    def preference(self) -> Iterator[None]:
        """While this thread is in the block, for a moment at most, give turns to it alone and to who is urgent."""
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
        """How many wait for a turn."""
        return len(self._waiting)

    @contextmanager
    def turn(self, *, is_urgent: bool = False, look: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Wait for a turn, and have it while the block lasts; long work in it lets others in between.

        Who is urgent comes before all who are not. `look` is called now and then while waiting, and may raise to give up.
        """
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
                yield
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
                    self._give()  # a preference may have lasted its longest
        except BaseException:
            self._give_up(number)
            raise

    def _give(self) -> None:
        """Give what turns are free to who are next, and wake them alone: of many who wait, all others sleep on."""
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


# A core is left for Python's own work, which one thread does at a time, and for the one that sends.
turns = Turns(max(1, (os.cpu_count() or 1) - 1))
# Drawing is Python's work, and one core's: were many at it at once, the thread that sends what they draw would come last.
drawing = Turns(1)
