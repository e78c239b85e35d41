"""The server: its first answer, its addresses below any prefix, its memory, whose turn it is, and what it asks of Streamlit."""

import asyncio
import gc
import hashlib
import platform
import posixpath
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import weakref
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import clocks
import pytest
import streamlit as st
from cases import each
from opened_pages import APP
from small_specs import small
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest

from dsgcore.core.threads import for_each_piece, pausing
from dsgcore.experiments import FileStore, LiveRun, Spec, SpecError
from dsgcore.jobs.memory import give_back, resident
from pages.charts.live_chart import LIBRARY, MODULES
from pages.live.tick import advance
from pages.session import bench as benches
from pages.session.bench import Bench, Feed, View, begin, once
from pages.shell import sharing, streamlit_gaps
from pages.shell import warm_up as watch
from pages.shell.sharing import LONGEST_TURN, Account, Door, Session, Turns
from pages.shell.warm_up import send_at_once

ROOT = Path(__file__).parents[1]


# --- the first answer: Streamlit's page with the style and the modules of the app


def test_modules_that_others_import_are_there_and_the_library_is_as_published():
    """As `npm pack plotly.js-cartesian-dist-min@4.1.1` gives it, under the licence that lies beside it."""
    for name, path in MODULES.items():
        for imported in re.findall(r'from "(\.[^"]+)"', path.read_text(encoding="utf-8")):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(name), imported)) in MODULES, name
    found = hashlib.sha256(LIBRARY.read_bytes()).hexdigest()
    assert found == "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
    assert "MIT License" in LIBRARY.with_name("LICENSE").read_text()


NODE = shutil.which("node")
TESTS = sorted((ROOT / "tests" / "javascript").glob("*.test.mjs"))


@pytest.mark.skipif(
    NODE is None, reason="node is not installed, so the browser modules are tested in browser tests only"
)
@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name)
def test_modules_for_the_browser(file):
    ran = subprocess.run([NODE, "--test", str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "# pass 0" not in ran.stdout


def test_styles_and_scripts_name_only_what_streamlit_or_the_pages_have():
    files = [file for kind in ("css", "js", "py") for file in (ROOT / "pages").rglob(f"*.{kind}") if file != LIBRARY]
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    others = "".join(text for file, text in texts.items() if file.suffix != ".css")
    there = "".join(file.read_text(encoding="utf-8") for file in (Path(st.__file__).parent / "static").rglob("*.js"))
    known = set(re.findall(r"\bst[A-Z]\w+", there)), set(re.findall(r"data-[\w-]+", there + others))
    unknown = set()
    for file, text in texts.items():
        named = re.findall(r"(?:\.|testid=[\\'\"]*)(st[A-Z]\w+)", text)
        unknown |= {(file.name, name) for name in named if name not in known[0]}
        for name in re.findall(r"\[data-([\w-]+)", text) if file.suffix == ".css" else ():
            in_script = re.sub(r"-(\w)", lambda found: found[1].upper(), name)
            if f"data-{name}" not in known[1] and in_script not in others:
                unknown.add((file.name, name))
    assert unknown == set()


# --- places and memory


def test_who_comes_late_gets_a_place_that_is_free_again_and_who_is_inside_stays(monkeypatch):
    there, places = {name: Session(name) for name in "abcd"}, Door(2)
    one = dict(there)
    monkeypatch.setattr(Session, "is_connected", property(lambda session: session.name in there))
    assert [places.admits(one[name]) for name in "abcda"] == [True, True, False, False, True]
    del there["a"]
    assert [places.admits(one[name]) for name in "dcb"] == [True, False, True]


def test_who_waits_is_told_so_and_gets_in(monkeypatch):
    answers = iter([False, False, False])
    monkeypatch.setattr(sharing, "exists", lambda: True)
    monkeypatch.setattr(sharing, "door", SimpleNamespace(places=5, admits=lambda session: next(answers, True)))
    app = AppTest.from_file(APP, default_timeout=60).run()
    assert "All 5 places on this server are taken." in app.info[0].value
    app.run().run()
    assert not app.info
    assert not app.exception


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_memory_between_what_is_held_is_given_back():
    held = [bytearray(4000) for _ in range(50_000)]  # 200 MB, in pieces that the C library keeps
    kept = held[::500]
    before = resident()
    del held
    give_back()
    assert resident() < before - 150e6
    assert len(kept) == 100


def test_runs_of_all_pages_are_added_up_and_what_a_closed_session_had_is_free():
    account, claims = Account(10**9), [Bench(FileStore()) for _ in range(3)]

    def take(claim, memory):
        with account.taking(claim, memory):
            pass

    take(claims[0], 6 * 10**8)
    take(claims[1], 3 * 10**8)
    with pytest.raises(
        SpecError, match=r"about 0.2 GB of memory, but the other runs on this server leave 0.1 GB of 1 GB"
    ):
        take(claims[2], 2 * 10**8)
    take(claims[0], 5 * 10**8)  # another run of the same page takes the place of the one before
    take(claims[2], 2 * 10**8)
    assert account.taken == 10**9
    del claims[0]
    gc.collect()
    assert account.taken == 5 * 10**8


def test_a_run_that_does_not_fit_or_fails_to_begin_leaves_the_one_before_and_takes_no_memory(monkeypatch):
    account = Account(10**8)
    monkeypatch.setattr(benches, "account", account)
    bench, other = Bench(FileStore()), Bench(FileStore())

    def start(bench, n):
        begin(bench, Spec.from_dict({"setting": "auc", "data": {"name": "two_moons", "n": n}}))

    start(bench, 500)
    start(other, 500)
    first, before, account.limit = bench.live, account.taken, account.taken
    with pytest.raises(SpecError, match="the other runs on this server leave"):
        start(bench, 20_000)
    assert bench.live is first
    account.limit = 10**9
    with monkeypatch.context() as broken:
        broken.setattr(benches, "LiveRun", lambda *_: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(MemoryError):
            start(bench, 20_000)
    assert account.taken == before
    account.limit = before
    start(bench, 400)


def test_a_click_that_arrives_twice_acts_once():
    bench, done = Bench(FileStore()), []
    for drawn in (1, 1, 2):  # the second arrival belongs to the same drawing of the page
        once(bench, drawn, done.append, drawn)
    assert done == [1, 2]


# --- the watch over the server, and what Streamlit lacks


class Held:
    """An object that an ended session holds."""


def test_ended_sessions_are_dropped_although_nobody_comes_and_the_log_counts_those_that_play(caplog, monkeypatch):
    given_back = []
    monkeypatch.setattr(watch, "give_back", lambda: given_back.append(True))
    monkeypatch.setattr(watch, "n_connected", lambda: 1)
    storage, held = MemorySessionStorage(ttl_seconds=0), Held()
    storage.save(SimpleNamespace(session=SimpleNamespace(id="a", held=held)))
    assert storage.list() == []  # Streamlit no longer offers the session, but keeps it
    seen = weakref.ref(held)
    del held
    assert seen() is not None
    runtime = SimpleNamespace(_session_mgr=WebsocketSessionManager(storage, None, None, None))
    monkeypatch.setattr(streamlit_gaps, "get_instance", lambda: runtime)
    watch.updates.clear()
    bench = SimpleNamespace(live=LiveRun(small("auc")), view=View(speed="slow"), feed=Feed("b"))
    for _ in range(30):
        advance(bench, lambda: False)
    for _ in range(2):
        watch.look()
    assert seen() is None
    assert given_back == [True]
    assert "1 sessions, 1 playing, 0.5 updates/s, " in caplog.text
    assert "1 sessions, 0 playing, 0.0 updates/s, " in caplog.text


def test_a_failed_look_is_not_the_last_one(caplog, monkeypatch):
    looks = iter([RuntimeError("broken"), None, asyncio.CancelledError()])

    def look():
        if failure := next(looks):
            raise failure

    monkeypatch.setattr(watch, "look", look)
    monkeypatch.setattr(watch, "SECONDS_BETWEEN_LOOKS", 0)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(watch.watch())
    assert "a look at the server failed" in caplog.text


def test_the_first_page_and_the_scripts_of_widgets_are_where_streamlit_keeps_them(monkeypatch):
    assert "<title>Streamlit</title>" in streamlit_gaps.first_page()
    assert streamlit_gaps.first_page().count("</head>") == 1
    kinds = {"Slider", "Selectbox", "StreamlitMarkdown", "BidiComponent"}
    found = streamlit_gaps.scripts_of(*kinds)
    assert {address.removeprefix("./static/js/").split(".")[0] for address in found} > kinds, (
        "and what a widget imports"
    )
    assert all((streamlit_gaps._STATIC / address).is_file() for address in found)
    monkeypatch.setattr(streamlit_gaps, "_STATIC", ROOT / "nowhere")
    assert streamlit_gaps.first_page() == ""
    assert streamlit_gaps.scripts_of("Slider") == []


def test_the_pages_of_a_folder_are_ignored(monkeypatch):
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    PagesManager(APP)
    assert PagesManager.uses_pages_directory is True  # otherwise the workaround is no longer needed
    streamlit_gaps.ignore_pages_folder()
    PagesManager(APP)
    assert PagesManager.uses_pages_directory is False


# --- whose turn it is


LONG = 20.0  # seconds after which a test gives up
until = partial(clocks.until, seconds=LONG, every=0.001)


def in_thread(work, *given):
    thread = threading.Thread(target=work, args=given, daemon=True)
    thread.start()
    return thread


@each("who", [
    {"first": False, "second": False, "third": False},
    {"clicking": True, "watching": False, "also watching": False},
])  # fmt: skip
def test_who_has_clicked_goes_first_and_then_who_has_waited_longest(who):
    turns, order = Turns(1), []

    def wait_for_turn(name, is_urgent):
        with turns.turn(is_urgent=is_urgent):
            order.append(name)

    with turns.turn():
        threads = []
        for n, (name, is_urgent) in enumerate(sorted(who.items(), key=lambda one: one[1]), 1):  # who clicks comes last
            threads.append(in_thread(wait_for_turn, name, is_urgent))
            until(lambda n=n: turns.n_waiting == n)
    for thread in threads:
        thread.join(LONG)
    assert order == list(who)


def test_while_a_click_is_answered_others_begin_no_turn_for_a_moment_at_most(monkeypatch):
    turns, order = Turns(1), []

    def take():
        with turns.turn():
            order.append("other")

    with turns.preference():
        thread = in_thread(take)
        until(lambda: turns.n_waiting == 1)
        with turns.turn():
            order.append("own")
    thread.join(LONG)
    assert order == ["own", "other"]
    monkeypatch.setattr(sharing, "LONGEST_PREFERENCE", 0.0)
    with turns.preference():
        in_thread(take).join(LONG)
        assert order == ["own", "other", "other"]


def test_long_work_lets_others_in_between():
    turns, begun, done, order = Turns(1), threading.Event(), threading.Event(), []

    def short():
        begun.set()
        with turns.turn():
            order.append("short")
        done.set()

    def long_piece(part):
        begun.wait(LONG)
        until(lambda: turns.n_waiting or done.is_set())
        time.sleep(2 * LONGEST_TURN)

    with turns.turn():
        thread = in_thread(short)
        for_each_piece(long_piece, 1, 1, 1)
        order.append("long")
    thread.join(LONG)
    assert order == ["short", "long"]


def test_so_many_compute_at_once_and_an_error_gives_the_turn_back():
    turns, third = Turns(2), threading.Event()

    def wait_for_turn():
        with turns.turn():
            third.set()

    with pytest.raises(KeyError), turns.turn():
        raise KeyError
    with turns.turn(), turns.turn():
        thread = in_thread(wait_for_turn)
        until(lambda: turns.n_waiting == 1)
        assert not third.is_set()
    thread.join(LONG)
    assert third.is_set()


def test_work_pauses_between_pieces_in_the_callers_thread():
    seen = []
    with pausing(lambda: seen.append(threading.get_ident())):
        for_each_piece(lambda part: None, 4, 1, 10**9)
        for_each_piece(lambda part: for_each_piece(lambda inner: None, 1, 1, 1), 1, 1, 1)
    assert set(seen) == {threading.get_ident()}
    before = len(seen)
    for_each_piece(lambda part: None, 1, 1, 1)
    assert len(seen) == before


# --- its start


def sends_at_once(listening):
    with socket.create_connection(listening.getsockname()[:2]), listening.accept()[0] as connection:
        return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_holds_nothing_back(family):
    with socket.socket(family) as listening:  # no protocol named
        try:
            listening.bind(("localhost", 0))
        except OSError:
            pytest.skip("this machine has no such addresses")
        listening.listen()
        assert not sends_at_once(listening)
        send_at_once()
        assert sends_at_once(listening)


def test_the_app_begins_with_it_and_gets_ready(monkeypatch):
    # Read, not imported: where the server's module is, pages count on ticks.
    assert "lifespan=life)" in Path(APP).read_text(encoding="utf-8")
    is_ready = threading.Event()
    monkeypatch.setattr(watch, "warm_up", is_ready.set)

    async def begin():
        async with watch.life(None):
            pass

    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        listening.listen()
        asyncio.run(begin())
        assert sends_at_once(listening)
    assert is_ready.wait(60)
    assert "pages.workbench.page" in sys.modules
