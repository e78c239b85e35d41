"""Whether what a session's page has drawn is on its way to the browser.

Streamlit sends in one thread for all sessions, and throws away what of a drawing has not been sent when the session's next one
begins. On a crowded server a page would then stand still while all its drawings are made in vain.
"""

from __future__ import annotations

import time
from typing import Any

from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

LONGEST_WAIT = 0.3
SECONDS_BETWEEN_LOOKS = 0.002


def is_a_tick() -> bool:
    """Return whether this drawing is of a fragment alone: nobody has clicked for it."""
    context: Any = get_script_run_ctx()
    return bool(getattr(context, "fragment_ids_this_run", None))


def wait_until_sent() -> None:
    """Wait, for a moment at most, until what the session's page has drawn is on its way."""
    queue = _queue()
    end = time.monotonic() + LONGEST_WAIT
    while queue is not None and not queue.is_empty and time.monotonic() < end:
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _queue() -> Any:
    """Return the messages of the session that are to be sent; None where streamlit's inner side is another one (1.67 has it)."""
    context = get_script_run_ctx()
    if context is None or not exists():
        return None
    manager: Any = getattr(get_instance(), "_session_mgr", None)
    find = getattr(manager, "get_active_session_info", None)
    found = find(context.session_id) if find is not None else None
    return getattr(getattr(found, "session", None), "_browser_queue", None)
