"""Workarounds for what Streamlit 1.67 offers no public interface for; `.github/docs/streamlit.md` says what would end each.

If Streamlit changes what one relies on, the app works without it, and `tests/test_server.py` fails.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.pages_manager import PagesManager

_STATIC = Path(st.__file__).parent / "static"
_IMPORTED = re.compile(r"""(?:from|import)["'`]\./([\w.-]+\.js)["'`]""")


def ignore_pages_folder() -> None:
    """Make a server's first visit run the script. Until `st.navigation` is called, the files in `pages/` are the pages."""
    PagesManager.uses_pages_directory = False


def first_page() -> str:
    """Return the HTML of Streamlit's page, to which the app adds its style; empty if it is elsewhere."""
    page = _STATIC / "index.html"
    return page.read_text(encoding="utf-8") if page.is_file() else ""


def scripts_of(*kinds: str) -> list[str]:
    """Return the addresses of the scripts that draw these kinds of widgets, with what they import; none if they are elsewhere.

    Without the imported ones a first curve took 4 % longer, and 11 % on a line of 8 Mbit/s.
    """
    folder, found = _STATIC / "static" / "js", dict[str, None]()
    waiting = [path.name for kind in kinds for path in folder.glob(f"{kind}.*.js")]
    while waiting:
        if (name := waiting.pop()) not in found:
            found[name] = None
            waiting += _IMPORTED.findall((folder / name).read_text(encoding="utf-8"))
    return [f"./static/js/{name}" for name in found]


def drop_ended_sessions() -> bool:
    """Drop the sessions whose time to return is over; return True if there were any. Call this in the server's event loop."""
    with suppress(AttributeError):
        manager: Any = get_instance()._session_mgr
        return bool(manager._session_storage._cache.expire())
    return False
