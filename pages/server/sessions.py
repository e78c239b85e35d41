"""The sessions of the server: which browsers are connected, and which sessions are over."""

from __future__ import annotations

import time
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
