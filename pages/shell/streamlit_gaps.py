"""Workarounds for what Streamlit 1.67 offers no public interface for; `.github/docs/streamlit.md` says what would end each.

If Streamlit changes what one relies on, the app works without it, and `tests/test_server.py` fails.
"""

from __future__ import annotations

import os
import re
import socket
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.pages_manager import PagesManager

_OPEN_FILES = "/dev/fd"  # of this process; Windows has no such folder, and nothing changes there
_STATIC = Path(st.__file__).parent / "static"
_IMPORTED = re.compile(r"""(?:from|import)["'`]\./([\w.-]+\.js)["'`]""")
# A page arrives in pieces, and each moves the others. It stays hidden until they are there, or for 10 s. Once seen it stays so,
# because what is hidden loses the focus: a transition with a long delay keeps it. An animation with a delay costs nothing.
# What waits for the numerical core has a progress bar, and is shown at once; style.css has the words over the page until then.
UNTIL_DRAWN = """@keyframes seen {to {visibility: visible}}
.stAppViewContainer {visibility: hidden; transition: visibility 0s 99999s; animation: seen 1ms 10s forwards}
.stApp[data-test-script-state="notRunning"] .stAppViewContainer:has(h1):not(:has([data-testid="stSkeleton"])),
.stAppViewContainer:has(.stProgress) {visibility: visible; transition: none}
.stAppViewContainer :is(label, .stMarkdown > div) {visibility: inherit !important}  /* Streamlit makes these visible itself */
"""
# Where the server is. Without it, a page other than the first asks at its own address, and only then one level higher.
SERVER_IS_HERE = """<script>
window.__streamlit ??= (base => ({BACKEND_BASE_URL: base, MAIN_PAGE_BASE_URL: base}))(new URL(".", location.href).href);
</script>
"""


def ignore_pages_folder() -> None:
    """Make a server's first visit run the script. Until `st.navigation` is called, the files in `pages/` are the pages."""
    PagesManager.uses_pages_directory = False


def first_page() -> str:
    """Return the HTML of Streamlit's page, to which the app adds its style; empty if it is elsewhere."""
    page = _STATIC / "index.html"
    return page.read_text(encoding="utf-8") if page.is_file() else ""


def scripts_of(*kinds: str) -> list[str]:
    """Return the addresses of the scripts that draw these kinds of widgets, with what they import; none if they are elsewhere."""
    folder, found = _STATIC / "static" / "js", dict[str, None]()
    waiting = [path.name for kind in kinds for path in folder.glob(f"{kind}.*.js")]
    while waiting:
        if (name := waiting.pop()) not in found:
            found[name] = None
            waiting += _IMPORTED.findall((folder / name).read_text(encoding="utf-8"))
    return [f"./static/js/{name}" for name in found]


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
