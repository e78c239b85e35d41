"""The session's visits: which page it is on, and how often it has come to one."""

from __future__ import annotations

import streamlit as st

_PAGE, _VISIT = "_page", "_visit"


def note_visit(page: str) -> bool:
    """Note the page that the session is on; return whether it has come there from another one."""
    before = st.session_state.get(_PAGE)
    if before != page:
        # In this order: if the drawing is ended in between, the next one counts once more, which does no harm.
        st.session_state[_VISIT] = visit() + 1
        st.session_state[_PAGE] = page
    return before not in (None, page)


def visit() -> int:
    """Return the number of the session's visit to the page that it is on: another one for each coming to a page."""
    return int(st.session_state.get(_VISIT, 0))
