"""Workarounds for what Streamlit 1.67 offers no public interface for; `.github/docs/streamlit.md` says what would end each.

If Streamlit changes what one relies on, the app works without it, and `tests/test_streamlit_gaps.py` fails.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

LONGEST_WAIT, SECONDS_BETWEEN_LOOKS = 5.0, 0.002
_OPEN_FILES = "/dev/fd"  # of this process; Windows has no such folder, and nothing changes there
_FIRST_PAGE = Path(st.__file__).parent / "static" / "index.html"


def ignore_pages_folder() -> None:
    """Make a server's first visit run the script. Until `st.navigation` is called, the files in `pages/` are the pages."""
    PagesManager.uses_pages_directory = False


def first_page() -> str:
    """Return the HTML of Streamlit's page, to which the app adds its style; empty if it is elsewhere."""
    return _FIRST_PAGE.read_text(encoding="utf-8") if _FIRST_PAGE.is_file() else ""


def wait_until_sent() -> None:
    """Wait until the server has sent the drawing of the session's page.

    The session's next drawing drops what is not sent yet. A fragment's drawing drops places outside of the fragment, too.
    The browser then shows an empty page: "Cannot set a node at a delta path".
    """
    end = time.monotonic() + LONGEST_WAIT
    while _unsent() and time.monotonic() < end:
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _unsent() -> Any:
    context: Any = get_script_run_ctx()
    with suppress(AttributeError):  # there is no session, or Streamlit has changed
        manager: Any = get_instance()._session_mgr if exists() else None
        return manager.get_active_session_info(context.session_id).session._browser_queue
    return None


def drop_ended_sessions() -> bool:
    """Drop the sessions whose time to return is over; return True if there were any. Call this in the server's event loop.

    Streamlit itself drops them when another session ends. Until then a quiet server keeps their runs and data.
    """
    with suppress(AttributeError):
        manager: Any = get_instance()._session_mgr
        return bool(manager._session_storage._cache.expire())
    return False


def send_at_once() -> None:
    """Make every listening socket of this process send at once. Otherwise the system delays parts of answers by 40 ms."""
    for number in os.listdir(_OPEN_FILES) if os.path.isdir(_OPEN_FILES) else ():
        with suppress(OSError):  # closed meanwhile
            if stat.S_ISSOCK(os.fstat(int(number)).st_mode):
                _set_no_delay(os.dup(int(number)))


def _set_no_delay(number: int) -> None:
    with socket.socket(fileno=number) as opened:
        is_tcp = opened.family in (socket.AF_INET, socket.AF_INET6)
        if is_tcp and opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
