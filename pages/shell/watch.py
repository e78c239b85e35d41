"""The watch over the server: a line in its log each minute while it is used, and the release of closed sessions.

Streamlit keeps a session for two minutes after its browser has gone, so that a lost connection can return. But it removes
older sessions only when another one is closed. Until then their runs and data would stay in memory.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from typing import Any

import streamlit as st
from streamlit.runtime import Runtime, RuntimeState, exists, get_instance

from dsgcore.experiments.cost import give_back, resident
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


@st.cache_resource(show_spinner=False)
def watch() -> threading.Thread | None:
    """Start the watch, once in this process; return None without a server."""
    if not exists():
        return None
    thread = threading.Thread(target=_watch, args=(get_instance(),), name="watch", daemon=True)
    thread.start()
    return thread


def _watch(runtime: Runtime) -> None:
    """Look at the server until it stops."""
    while not _has_ended(runtime):
        time.sleep(SECONDS_BETWEEN_LOOKS)
        try:
            look(runtime)
        except Exception:  # a failed look must not be the last one
            if not _has_ended(runtime):  # otherwise its event loop is closed, which is no failure
                log.exception("a look at the server failed")


def _has_ended(runtime: Runtime) -> bool:
    return runtime.state in (RuntimeState.STOPPING, RuntimeState.STOPPED)


def look(runtime: Runtime) -> None:
    """Release closed sessions, and log the state of the server."""
    free_closed_sessions(runtime)
    playing, updates = pulse.take()
    sessions = runtime._session_mgr.num_active_sessions()
    if sessions:
        log.warning(said(sessions, playing, updates, resident(), turns.n_waiting))


def said(sessions: int, playing: int, updates: float, memory: int, waiting: int) -> str:
    """Return the line for the log."""
    return (
        f"{sessions} sessions, {playing} playing, {updates:.1f} updates/s, {memory / MEGABYTE:.0f} MB, "
        f"{waiting} waiting for a core"
    )


def is_kept(session: str) -> bool:
    """Return True if a session is connected or may still return. Call this in the thread in which the server keeps
    sessions.

    Streamlit 1.67 has no public interface for the latter. If its internals differ, every session counts as kept.
    """
    manager: Any = getattr(get_instance(), "_session_mgr", None) if exists() else None
    return not hasattr(manager, "get_session_info") or manager.get_session_info(session) is not None


def free_closed_sessions(runtime: Runtime) -> None:
    """Release sessions whose time to return is over, in the thread in which the server keeps sessions.

    Streamlit 1.67 has no public interface for this. If its internals differ, nothing is released here.
    """
    storage: Any = getattr(getattr(runtime, "_session_mgr", None), "_session_storage", None)
    cache: Any = getattr(storage, "_cache", None)
    if hasattr(cache, "expire"):
        runtime._get_async_objs().eventloop.call_soon_threadsafe(_expire, cache)


def _expire(cache: Any) -> None:
    if cache.expire():
        gc.collect()
        give_back()
