"""The watch over the server from its start: a line in its log each minute while it is used, and the release of ended sessions."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import stat
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

from dsgcore.experiments.cost import give_back, resident
from pages.shell.sessions import n_connected
from pages.shell.streamlit_gaps import drop_ended_sessions
from pages.shell.turns import turns
from pages.shell.warm_up import warm_up

log = logging.getLogger("dsg-lab")

SECONDS_BETWEEN_LOOKS = 60.0
_OPEN_FILES = "/dev/fd"  # of this process; Windows has no such folder, and nothing changes there
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


# The page with the most imports, for which the first visit would otherwise wait.
_PAGE = "pages.stage.stage"


@asynccontextmanager
async def life(_app: Any) -> AsyncIterator[None]:
    """Prepare in the background what every visit needs, send each answer at once, and watch over the server."""
    threading.Thread(target=_get_ready, name="get-ready", daemon=True).start()
    send_at_once()  # the server's app starts after the socket is open
    watching = asyncio.create_task(watch())
    yield
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching


def _get_ready() -> None:
    import_module(_PAGE)
    warm_up()


def send_at_once() -> None:
    """Make every listening socket of this process send at once. Otherwise the system delays parts of answers by 40 ms."""
    for number in os.listdir(_OPEN_FILES) if os.path.isdir(_OPEN_FILES) else ():
        with suppress(OSError):  # closed meanwhile
            if stat.S_ISSOCK(os.fstat(int(number)).st_mode):
                _set_no_delay(os.dup(int(number)))


def _set_no_delay(number: int) -> None:
    with socket.socket(fileno=number) as opened:
        is_tcp = opened.family in (socket.AF_INET, socket.AF_INET6)
        if is_tcp and opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
