"""The workarounds of `pages/server/streamlit_gaps.py`: each works as Streamlit is now, and no other file needs one."""

from __future__ import annotations

import inspect
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("streamlit")
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from pages.server import streamlit_gaps

ROOT = Path(__file__).parents[1]
GAPS = ROOT / "pages" / "server" / "streamlit_gaps.py"
MOST_LINES = 80
# Private members of Streamlit and of the system, overridden functions of the browser, and text that Streamlit owns.
FORBIDDEN = (
    "_session_mgr",
    "_session_storage",
    "_browser_queue",
    "PagesManager",
    "uses_pages_directory",
    "/dev/fd",
    "pushState =",
    "replaceState =",
    "nodeValue",
    "index.html",
    "static/js",
)
# Streamlit's names of its elements in our styles. Its classes (.stMain) and our keys (.st-key-...) are meant for styles.
TEST_IDS, MOST_TEST_IDS = "data-testid", 15
SOURCES = sorted(
    file
    for file in [ROOT / "app.py", *(ROOT / "pages").rglob("*")]
    if file.suffix in (".py", ".js", ".css", ".html") and "library" not in file.parts
)


def test_workarounds_are_in_one_short_file():
    found = [
        (file.relative_to(ROOT).as_posix(), word)
        for file in SOURCES
        if file != GAPS
        for word in FORBIDDEN
        if word in file.read_text(encoding="utf-8")
    ]
    assert found == []
    assert len(GAPS.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_styles_name_few_of_streamlits_own_elements_and_hide_no_page():
    styles = [
        file.read_text(encoding="utf-8") for file in SOURCES if file.suffix == ".css" or file.name == "lesson_steps.py"
    ]
    assert sum(style.count(TEST_IDS) for style in styles) <= MOST_TEST_IDS
    assert not any("visibility: hidden" in style for style in styles)


def test_the_first_page_is_where_streamlit_keeps_it(monkeypatch):
    assert "<title>Streamlit</title>" in streamlit_gaps.first_page()
    assert streamlit_gaps.first_page().count("</head>") == 1
    monkeypatch.setattr(streamlit_gaps, "_FIRST_PAGE", ROOT / "nowhere.html")
    assert streamlit_gaps.first_page() == ""


def test_the_page_of_documentation_names_each_workaround():
    page = (ROOT / ".github" / "docs" / "streamlit.md").read_text(encoding="utf-8")
    members = vars(streamlit_gaps).items()
    public = [
        name for name, member in members if inspect.isfunction(member) and member.__module__ == streamlit_gaps.__name__
    ]
    assert [name for name in public if not name.startswith("_") and f"`{name}`" not in page] == []


def test_the_pages_of_a_folder_are_ignored(monkeypatch):
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    PagesManager(str(ROOT / "app.py"))
    assert PagesManager.uses_pages_directory is True  # otherwise the workaround is no longer needed
    streamlit_gaps.ignore_pages_folder()
    PagesManager(str(ROOT / "app.py"))
    assert PagesManager.uses_pages_directory is False


def test_it_waits_while_messages_are_not_sent(monkeypatch):
    queue = ["a message"]
    monkeypatch.setattr(streamlit_gaps, "_unsent", lambda: queue)
    threading.Timer(0.2, queue.clear).start()
    streamlit_gaps.wait_until_sent()
    assert not queue


def test_it_does_not_wait_forever(monkeypatch):
    monkeypatch.setattr(streamlit_gaps, "_unsent", lambda: ["a message"])
    monkeypatch.setattr(streamlit_gaps, "LONGEST_WAIT", 0.05)
    streamlit_gaps.wait_until_sent()


def test_unsent_messages_are_found_where_streamlit_keeps_them(monkeypatch):
    queue = ForwardMsgQueue()
    info = SimpleNamespace(session=SimpleNamespace(_browser_queue=queue))
    runtime = SimpleNamespace(_session_mgr=SimpleNamespace(get_active_session_info={"one": info}.get))
    monkeypatch.setattr(streamlit_gaps, "exists", lambda: True)
    monkeypatch.setattr(streamlit_gaps, "get_instance", lambda: runtime)
    monkeypatch.setattr(streamlit_gaps, "get_script_run_ctx", lambda: SimpleNamespace(session_id="one"))
    assert streamlit_gaps._unsent() is queue
    assert not queue, "a queue without a message must be false"
    assert "self._session_mgr" in inspect.getsource(Runtime)
    assert "self._browser_queue = ForwardMsgQueue()" in inspect.getsource(AppSession.__init__)
    assert "session" in inspect.getsource(WebsocketSessionManager.get_active_session_info)


def test_ended_sessions_are_found_where_streamlit_keeps_them(monkeypatch):
    storage = MemorySessionStorage(ttl_seconds=0)
    manager = WebsocketSessionManager(storage, None, None, None)
    monkeypatch.setattr(streamlit_gaps, "get_instance", lambda: SimpleNamespace(_session_mgr=manager))
    assert not streamlit_gaps.drop_ended_sessions()
    storage.save(SimpleNamespace(session=SimpleNamespace(id="one")))
    assert storage.list() == []  # Streamlit no longer offers the session, but keeps it
    assert streamlit_gaps.drop_ended_sessions()


def test_another_streamlit_is_no_error(monkeypatch):
    monkeypatch.setattr(streamlit_gaps, "exists", lambda: True)
    monkeypatch.setattr(streamlit_gaps, "get_instance", SimpleNamespace)
    monkeypatch.setattr(streamlit_gaps, "get_script_run_ctx", lambda: SimpleNamespace(session_id="one"))
    assert streamlit_gaps._unsent() is None
    assert not streamlit_gaps.drop_ended_sessions()
