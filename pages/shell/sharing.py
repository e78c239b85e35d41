"""How sessions share the server: turns to compute, a limit on the memory of all runs, places; and which sessions are over."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dsgcore.core.cost import GIGABYTE, OF_MACHINE
from dsgcore.core.threads import pausing
from dsgcore.experiments import SpecError

# Longer work waits for another turn if others wait. Turns are equally long, so each session gets a fair share.
LONGEST_TURN = 0.1
SECONDS_BETWEEN_LOOKS = 0.05
# The longest time in which no other turn starts while a click is answered. A page is drawn in less time.
LONGEST_PREFERENCE = 0.3


class Turns:
    """A number of simultaneous turns, given to those who have waited longest."""

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
        return len(self._waiting)

    @contextmanager
    def turn(self, *, is_urgent: bool = False) -> Iterator[float]:
        """Wait for a turn, and have it inside the block; long work in it lets others in between. Yield the seconds of waiting.

        Urgent callers come first.
        """
        asked = time.monotonic()
        self._enter(is_urgent)
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

    def _enter(self, is_urgent: bool = False) -> None:
        has_come = threading.Event()
        with self._lock:
            number = (not (is_urgent or self._is_preferred(threading.get_ident())), next(self._order))
            self._waiting[number] = has_come
            self._give()
        try:
            while not has_come.wait(SECONDS_BETWEEN_LOOKS):
                with self._lock:
                    self._give()  # a preference may have expired
        except BaseException:
            with self._lock:
                is_waiting = self._waiting.pop(number, None) is not None
            if not is_waiting:  # the turn has come meanwhile
                self._leave()
            raise

    def _leave(self) -> None:
        with self._lock:
            self._free += 1
            self._give()

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


# One core is left for Python's own work, in one thread at a time, and for the thread that sends.
turns = Turns(max(1, (os.cpu_count() or 1) - 1))
# Drawing is Python code, so it uses one core. Several drawings at once would delay the thread that sends them.
drawing = Turns(1)


# Environment variable with the number of gigabytes; without it, the limit is this share of the machine's memory.
MEMORY_VARIABLE = "DSGLAB_MEMORY"
SHARE = 0.6


class Account:
    """A limit in bytes, and the bytes of each page's run, as long as its session keeps the page's state."""

    def __init__(self, limit: int) -> None:
        self.limit, self._lock, self._claims = limit, threading.Lock(), WeakKeyDictionary[Any, int]()

    @property
    def taken(self) -> int:
        return sum(list(self._claims.values()))

    @contextmanager
    def taking(self, owner: Any, memory: int) -> Iterator[None]:
        """Set what a page's run takes for one that begins inside the block; if that fails, it takes what it took before.

        Raise `SpecError` if the other runs leave less than that.
        """
        with self._lock:
            before = self._claims.get(owner, 0)
            left = self.limit - self.taken + before
            if memory > left:
                raise SpecError(
                    f"this run needs about {_shown(memory)} of memory, but the other runs on this server leave "
                    f"{_shown(max(left, 0))} of {_shown(self.limit)}. Make the run smaller, or try again later"
                )
            self._claims[owner] = memory
        try:
            yield
        except BaseException:
            self._claims[owner] = before
            raise


def _shown(size: int) -> str:
    return f"{size / GIGABYTE:.3g} GB"


def _named(variable: str, usual: float) -> float:
    """Return the number in an environment variable, or the usual one if it has no positive number."""
    try:
        named = float(os.environ.get(variable, ""))
    except ValueError:
        return usual
    return named if 0 < named < float("inf") else usual


account = Account(round(GIGABYTE * _named(MEMORY_VARIABLE, SHARE * OF_MACHINE / GIGABYTE)))


class Session:
    """A session by Streamlit's name for it, and the time at which its browser left."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.left_at: float | None = None

    def leave(self) -> None:
        self.left_at = time.monotonic()

    @property
    def is_connected(self) -> bool:
        return exists() and get_instance().is_active_session(self.name)

    def is_over(self) -> bool:
        """Return True if the browser left so long ago that the server no longer keeps the session."""
        if self.is_connected:
            self.left_at = None  # the browser has returned, and no script has run since then
        longest = float(st.get_option("server.disconnectedSessionTTL"))
        return self.left_at is not None and time.monotonic() - self.left_at > longest


def presence() -> Callable[[], bool]:
    """Return a function that says whether the browser of this session is there: always, without a server.

    Streamlit keeps the state of a session without a browser, and reports no end of it.
    """
    context = get_script_run_ctx(suppress_warning=True)
    session = Session("" if context is None else context.session_id)
    return lambda: not exists() or session.is_connected


_sessions: WeakSet[Session] = WeakSet()


def arrive() -> Session | None:
    """Note that the browser is there, and return the session of this script; return None outside of a script."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return None
    kept: Session = st.session_state.setdefault("_session", Session(context.session_id))
    kept.left_at = None
    _sessions.add(kept)
    _await_its_end(kept)
    return kept


@st.cache_resource(scope="session", on_release=Session.leave, show_spinner=False)
def _await_its_end(_kept: Session) -> Session:
    """Streamlit forgets the result when the browser leaves; the state of the session keeps it."""
    return _kept


def n_connected() -> int:
    return sum(known.is_connected for known in list(_sessions))


# Name of the environment variable with the number of places.
PLACES_VARIABLE = "DSGLAB_SESSIONS"
PLACES = 64
TICK_SECONDS = 3.0


class Door:
    """A number of places for sessions. One whose browser has left keeps its place until another one wants it."""

    def __init__(self, places: int) -> None:
        self.places, self._lock, self._inside = places, threading.Lock(), WeakSet[Session]()

    def admits(self, session: Session) -> bool:
        """Return True if the session has or gets a place."""
        with self._lock:
            if session not in self._inside and len(self._inside) >= self.places:
                self._inside = WeakSet(one for one in self._inside if one.is_connected)
            if len(self._inside) < self.places:
                self._inside.add(session)
            return session in self._inside


door = Door(int(_named(PLACES_VARIABLE, PLACES)) or PLACES)


def is_admitted() -> bool:
    """Return True if the session may use the pages; otherwise say that there is no place, and ask again after a while."""
    session = arrive()
    if session is None or not exists() or door.admits(session):
        return True
    st.fragment(_wait, run_every=TICK_SECONDS)(session)
    return False


def _wait(session: Session) -> None:
    if door.admits(session):
        st.rerun()
    st.title("DSG Lab")
    said = f"All {door.places} places on this server are taken. The page opens by itself when one is free."
    st.info(said, icon=":material/hourglass_top:")
