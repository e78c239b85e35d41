"""The workarounds of `pages/server/streamlit_gaps.py`: each works as Streamlit is now, and no other file needs one."""

import inspect
import re
from pathlib import Path
from types import SimpleNamespace

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
    styles = [file.read_text(encoding="utf-8") for file in SOURCES if file.suffix == ".css"]
    assert sum(style.count(TEST_IDS) for style in styles) <= MOST_TEST_IDS
    assert not any("visibility: hidden" in style for style in styles)


def test_the_first_page_is_where_streamlit_keeps_it(monkeypatch):
    assert "<title>Streamlit</title>" in streamlit_gaps.first_page()
    assert streamlit_gaps.first_page().count("</head>") == 1
    monkeypatch.setattr(streamlit_gaps, "_STATIC", ROOT / "nowhere")
    assert streamlit_gaps.first_page() == ""
    assert streamlit_gaps.scripts_of("Slider") == []


def test_the_scripts_of_widgets_are_where_streamlit_keeps_them():
    found = streamlit_gaps.scripts_of("Slider", "Selectbox", "StreamlitMarkdown", "BidiComponent")
    kinds = {re.fullmatch(r"\./static/js/([\w-]+)\.[\w.-]*js", address)[1] for address in found}
    assert kinds > {"Slider", "Selectbox", "StreamlitMarkdown", "BidiComponent"}, "what a widget imports is there, too"
    assert all((streamlit_gaps._STATIC / address).is_file() for address in found)


def test_a_page_that_waits_for_its_pieces_names_what_streamlit_has():
    scripts = "".join(
        path.read_text(encoding="utf-8") for path in (streamlit_gaps._STATIC / "static" / "js").glob("index.*.js")
    )
    for name in ("stAppViewContainer", "stSkeleton", "data-test-script-state"):
        assert name in streamlit_gaps.UNTIL_DRAWN
        assert name in scripts


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


def test_ended_sessions_are_found_where_streamlit_keeps_them(monkeypatch):
    storage = MemorySessionStorage(ttl_seconds=0)
    manager = WebsocketSessionManager(storage, None, None, None)
    monkeypatch.setattr(streamlit_gaps, "get_instance", lambda: SimpleNamespace(_session_mgr=manager))
    assert not streamlit_gaps.drop_ended_sessions()
    storage.save(SimpleNamespace(session=SimpleNamespace(id="one")))
    assert storage.list() == []  # Streamlit no longer offers the session, but keeps it
    assert streamlit_gaps.drop_ended_sessions()


def test_another_streamlit_is_no_error(monkeypatch):
    monkeypatch.setattr(streamlit_gaps, "get_instance", SimpleNamespace)
    assert not streamlit_gaps.drop_ended_sessions()
