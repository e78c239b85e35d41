"""Durations as text, and the time left of some work."""

from __future__ import annotations

import time
from collections.abc import Callable

MOST_SECONDS, MOST_MINUTES = 90, 90
# Before this share of the work is done, a time left would be a guess.
FIRST_SHARE = 0.02


def duration_text(seconds: float) -> str:
    """Return a time in readable units.

    Examples
    --------
    >>> duration_text(12), duration_text(600), duration_text(9000)
    ('12 s', '10 min', '2.5 h')
    """
    if seconds < MOST_SECONDS:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 60 * MOST_MINUTES else f"{seconds / 3600:.1f} h"


class TimeLeft:
    """Time left of some work, from the time that its parts have taken so far; `clock` returns the time in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._start, self._before = clock, clock(), 0

    def skip(self, done: int) -> None:
        """Begin to count now: this many parts were done before, by an earlier command."""
        self._start, self._before = self._clock(), done

    def text(self, done: int, total: int) -> str:
        """Return the time left as the end of a sentence; an empty text if too little is done to tell, or all."""
        made = done - self._before
        if made <= 0 or made < FIRST_SHARE * (total - self._before) or done >= total:
            return ""
        return f", about {duration_text((self._clock() - self._start) / made * (total - done))} left"
