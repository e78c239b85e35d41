"""The watch over the server: a line in its log each minute while it is used, and the release of ended sessions."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time

from dsgcore.experiments.cost import give_back, resident
from pages.server.sessions import n_connected
from pages.server.streamlit_gaps import drop_ended_sessions
from pages.shell.turns import turns

log = logging.getLogger("dsg-lab")

SECONDS_BETWEEN_LOOKS = 60.0
MEGABYTE = 10**6


class Pulse:
    """Counts of what happens on the server: drawings of runs, and their sessions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._updates, self._playing, self._since = 0, set[str](), time.monotonic()

    def note(self, session: str) -> None:
        """Count a drawing of a session's run while the run is in progress."""
        with self._lock:
            self._updates += 1
            self._playing.add(session)

    def take(self) -> tuple[int, float]:
        """Return the number of running runs since the last call, and the number of drawings a second."""
        with self._lock:
            seconds = max(time.monotonic() - self._since, 1e-3)
            found = len(self._playing), self._updates / seconds
            self._updates, self._playing, self._since = 0, set(), time.monotonic()
        return found


pulse = Pulse()


async def watch() -> None:
    """Look at the server every minute, until the task is cancelled."""
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        try:
            look()
        except Exception:  # a failed look must not be the last one
            log.exception("a look at the server failed")


def look() -> None:
    """Release ended sessions, and log the state of the server."""
    if drop_ended_sessions():
        gc.collect()
        give_back()
    playing, updates = pulse.take()
    sessions = n_connected()
    if sessions:
        log.warning(said(sessions, playing, updates, resident(), turns.n_waiting))


def said(sessions: int, playing: int, updates: float, memory: int, waiting: int) -> str:
    """Return the line for the log."""
    return (
        f"{sessions} sessions, {playing} playing, {updates:.1f} updates/s, {memory / MEGABYTE:.0f} MB, "
        f"{waiting} waiting for a core"
    )
