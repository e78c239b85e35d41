"""The limit on the number of sessions. When all places are taken, new visitors wait in a queue."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

# Name of the environment variable with the number of places.
VARIABLE = "DSGLAB_SESSIONS"
PLACES = 64
TICK_SECONDS = 3.0


class Door:
    """A number of places, and a queue of sessions that wait for one.

    Parameters
    ----------
    places : int
    is_there : callable
        Returns True if a session's browser is still connected.
    """

    def __init__(self, places: int, is_there: Callable[[str], bool]) -> None:
        self.places, self._is_there = places, is_there
        self._lock = threading.Lock()
        self._inside: dict[str, None] = {}
        self._queue: dict[str, None] = {}

    def ask(self, session: str) -> int:
        """Return 0 if the session has or gets a place; otherwise return its position in the queue, from 1."""
        with self._lock:
            if session in self._inside:
                return 0
            self._queue.setdefault(session)
            if len(self._inside) >= self.places:
                self._inside = {name: None for name in self._inside if self._is_there(name)}
            self._queue = {name: None for name in self._queue if name == session or self._is_there(name)}
            place = list(self._queue).index(session) + 1
            if place > self.places - len(self._inside):
                return place
            del self._queue[session]
            self._inside[session] = None
            return 0


def _door() -> Door:
    named = os.environ.get(VARIABLE, "")
    return Door(
        int(named) if named.isdigit() and int(named) else PLACES, lambda name: get_instance().is_active_session(name)
    )


door = _door()


def is_admitted() -> bool:
    """Return True if the session may use the pages; otherwise show its position in the queue, and ask again after a while."""
    context = get_script_run_ctx()
    if not exists() or context is None or door.ask(context.session_id) == 0:
        return True
    st.fragment(_wait, run_every=TICK_SECONDS)(context.session_id)
    return False


def _wait(session: str) -> None:
    place = door.ask(session)
    if place == 0:
        st.rerun()
    st.title("DSG Lab")
    st.info(
        f"All {door.places} places on this server are taken. You are number {place} in the queue; the page opens by itself.",
        icon=":material/hourglass_top:",
    )
