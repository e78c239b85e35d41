"""The session's visits: its page, and the number of pages that it has opened."""

from __future__ import annotations

import streamlit as st

_PAGE, _VISIT = "_page", "_visit"


def note_visit(page: str) -> bool:
    """Record the session's page; return True if the session came from another page."""
    before = st.session_state.get(_PAGE)
    if before != page:
        # Keep this order: if the drawing ends between the two lines, the next one counts once more, which does no harm.
        st.session_state[_VISIT] = visit() + 1
        st.session_state[_PAGE] = page
    return before not in (None, page)


def visit() -> int:
    """Return the number of the session's visit to its page; each opening of a page has another number."""
    return int(st.session_state.get(_VISIT, 0))
