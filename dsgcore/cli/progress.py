"""Progress lines on the error stream: a bar, what is done, and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from dsgcore.core.durations import duration_text

BAR_CHARACTERS = 24
LINE_CHARACTERS = 100
# Before this share of the work is done, a time left would be a guess.
FIRST_SHARE = 0.02


def bar(done: int, total: int) -> str:
    """Return a progress bar as text."""
    return f"[{'#' * (BAR_CHARACTERS * done // max(total, 1)):<{BAR_CHARACTERS}}]"


class TimeLeft:
    """Time left of some work, from the time that its parts have taken so far.

    Parameters
    ----------
    clock : callable, optional
        Returns the time in seconds.
    """

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


class Line:
    """A line of text that each call writes again in place of the last one; a quiet one writes nothing."""

    def __init__(self, *, is_quiet: bool) -> None:
        self.is_quiet, self._is_open = is_quiet, False

    def show(self, text: str) -> None:
        """Write the text over the line."""
        if not self.is_quiet:
            print(f"\r{text:<{LINE_CHARACTERS}}", end="", file=sys.stderr, flush=True)
            self._is_open = True

    def end(self) -> None:
        """Go to the next line, if something is on this one."""
        if self._is_open:
            print(file=sys.stderr)
            self._is_open = False
