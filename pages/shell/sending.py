"""A wait until the server has sent the drawing of a session's page.

When a session's next drawing begins, streamlit drops the messages of the previous one that it has not sent. If a fragment
is drawn again, it drops too much: also places outside of the fragment in which the fragment has drawn (`ForwardMsgQueue`
replaces the place's message by the fragment's message). The browser then fails with "Cannot set a node at a delta path" and
shows an empty page. Each page therefore waits until it has been sent.
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
    """Return True if this drawing is of a fragment only, without a click."""
    context: Any = get_script_run_ctx()
    return bool(getattr(context, "fragment_ids_this_run", None))


def wait_until_sent() -> None:
    """Wait until the server has sent the drawing of the session's page."""
    queue, end = _queue(), time.monotonic() + LONGEST_WAIT
    while queue and time.monotonic() < end:
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _queue() -> Sized | None:
    """Return the session's unsent messages, or None if streamlit's internals differ from those of 1.67."""
    context = get_script_run_ctx()
    if context is None or not exists():
        return None
    manager: Any = getattr(get_instance(), "_session_mgr", None)
    find = getattr(manager, "get_active_session_info", None)
    found = find(context.session_id) if find is not None else None
    queue: Sized | None = getattr(getattr(found, "session", None), "_browser_queue", None)
    return queue
