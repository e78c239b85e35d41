"""The sessions of the server: which browsers are connected, and which sessions are over."""

from __future__ import annotations

import time
from collections.abc import Callable
from weakref import WeakSet

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx


class Session:
    """A session, and the time at which its browser left.

    Parameters
    ----------
    name : str
        Streamlit's name of the session.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.left_at: float | None = None

    def leave(self) -> None:
        """Note that the browser has left."""
        self.left_at = time.monotonic()

    @property
    def is_connected(self) -> bool:
        """True if the browser is connected."""
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
    return _present() if get_script_run_ctx(suppress_warning=True) is not None else None


@st.cache_resource(scope="session", on_release=Session.leave, show_spinner=False)
def _present() -> Session:
    """Return the session. Streamlit forgets the result when the browser leaves; the state of the session keeps it."""
    context = get_script_run_ctx()
    assert context is not None
    kept: Session = st.session_state.setdefault("_session", Session(context.session_id))
    kept.left_at = None
    _sessions.add(kept)
    return kept


def n_connected() -> int:
    """Return the number of connected sessions."""
    return sum(known.is_connected for known in list(_sessions))


_PAGE, _VISIT, _BEFORE = "_page", "_visit", "_page_before"


def note_visit(page: str) -> None:
    """Record the session's page."""
    before = st.session_state.get(_PAGE)
    if before != page:
        # Keep this order: if the drawing ends between two lines, the next one counts once more, which does no harm.
        begin_visit()
        st.session_state[_BEFORE] = before or ""
        st.session_state[_PAGE] = page


def begin_visit() -> None:
    """Begin another visit to the page: its link is read again."""
    st.session_state[_VISIT] = visit() + 1


def visit() -> int:
    """Return the number of the session's visit to its page; each opening of a page has another number."""
    return int(st.session_state.get(_VISIT, 0))


def page_before() -> str:
    """Return the address of the page from which the session came to this one; empty if there is none, and for Home."""
    return str(st.session_state.get(_BEFORE, ""))
