"""Whether what a session's page has drawn is on its way to the browser.

Streamlit throws away what of a drawing has not been sent when the session's next one begins; and of a whole page, of which a
fragment is drawn anew, too much: also places outside of the fragment in which this has drawn something (`ForwardMsgQueue` puts
the fragment's message in the place's stead, and takes it for the fragment's own). What follows such a place has none in the
browser then, which ends with "Cannot set a node at a delta path" and an empty page. So a page waits until it has been sent.
"""

from __future__ import annotations

import time
from collections.abc import Sized
from typing import Any

from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

LONGEST_WAIT = 5.0
SECONDS_BETWEEN_LOOKS = 0.002


def is_a_tick() -> bool:
    """Return whether this drawing is of a fragment alone: nobody has clicked for it."""
    context: Any = get_script_run_ctx()
    return bool(getattr(context, "fragment_ids_this_run", None))


def wait_until_sent() -> None:
    """Wait until what the session's page has drawn is on its way."""
    queue, end = _queue(), time.monotonic() + LONGEST_WAIT
    while queue and time.monotonic() < end:
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _queue() -> Sized | None:
    """Return the messages of the session that are to be sent; None where streamlit's inner side is another one (1.67 has it)."""
    context = get_script_run_ctx()
    if context is None or not exists():
        return None
    manager: Any = getattr(get_instance(), "_session_mgr", None)
    find = getattr(manager, "get_active_session_info", None)
    found = find(context.session_id) if find is not None else None
    queue: Sized | None = getattr(getattr(found, "session", None), "_browser_queue", None)
    return queue
