"""The limit on how often an address may ask."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """The limit on how often each address may ask: a number at once, and a number a second.

    Parameters
    ----------
    most, a_second : float
    now : callable
    """

    MOST_KNOWN = 4096  # addresses

    def __init__(self, most: float, a_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._a_second, self._now = most, a_second, now
        self._known: dict[str, tuple[float, float]] = {}

    def left(self, address: str) -> float:
        """Return how often the address may ask at once."""
        now = self._now()
        left, then = self._known.get(address, (self._most, now))
        return min(self._most, left + (now - then) * self._a_second)

    def allows(self, address: str) -> bool:
        """Return True if the address may ask once more now, and count it."""
        left = self.left(address)
        if address not in self._known and len(self._known) >= self.MOST_KNOWN:
            self._forget()
        self._known[address] = (left - (left >= 1), self._now())
        return left >= 1

    def _forget(self) -> None:
        """Forget the addresses that may ask as often as new ones, or else the one that has asked least."""
        lefts = {address: self.left(address) for address in self._known}
        for address in [one for one, left in lefts.items() if left >= self._most] or [
            max(lefts, key=lefts.__getitem__)
        ]:
            del self._known[address]
