"""The server: its start, its addresses below any prefix, its memory, whose turn it is, and what it asks of Streamlit."""

import asyncio
import gc
import json
import platform
import socket
import sys
import threading
import time
import weakref
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import anyio
import clocks
import pytest
import streamlit as st
from cases import each
from opened_pages import APP, run_of
from opened_pages import said as said_of_addresses
from own_tables import iris_csv
from small_specs import small
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest
from test_file_on_pages import GOOD, give, open_own

from dsgcore.core.threads import for_each_piece, pausing
from dsgcore.experiments import SETTINGS, FileStore, LiveRun, Spec, SpecError
from dsgcore.jobs.memory import give_back, resident
from pages.charts.live_chart import LIBRARY_ADDRESS
from pages.live.tick import advance
from pages.room import door
from pages.room.door import qr_image
from pages.room.entrance import room_routes
from pages.session import bench as benches
from pages.session.bench import Bench, Feed, View, begin, once
from pages.shell import addresses, sharing, streamlit_gaps
from pages.shell import warm_up as watch
from pages.shell.front_page import asset_routes, elsewhere, routes
from pages.shell.room_key import key_route
from pages.shell.sharing import LONGEST_TURN, Account, Claim, Door, Turns
from pages.shell.ticks import TickDoor
from pages.shell.warm_up import send_at_once
from pages.stage.links import address_of


def door_of(places, there):
    return Door(places, there.__contains__)


def test_who_comes_late_gets_a_place_that_is_free_again_and_who_is_inside_stays():
    there = {"a", "b", "c", "d"}
    door = door_of(2, there)
    assert [door.admits(name) for name in "abcda"] == [True, True, False, False, True]
    there.discard("a")
    assert [door.admits(name) for name in "dcb"] == [True, False, True]


def test_who_waits_is_told_so_and_gets_in(monkeypatch):
    answers = iter([False, False, False])
    monkeypatch.setattr(sharing, "exists", lambda: True)
    monkeypatch.setattr(sharing, "door", SimpleNamespace(places=5, admits=lambda session: next(answers, True)))
    app = AppTest.from_file(APP, default_timeout=60).run()
    assert "All 5 places on this server are taken." in app.info[0].value
    app.run()
    app.run()
    assert not app.info
    assert not app.exception


class Held:
    """An object that an ended session holds."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_memory_between_what_is_held_is_given_back():
    held = [bytearray(4000) for _ in range(50_000)]  # 200 MB, in pieces that the C library keeps
    kept = held[::500]
    before = resident()
    del held
    give_back()
    assert resident() < before - 150e6
    assert len(kept) == 100


def test_ended_sessions_are_dropped_although_nobody_comes(caplog, monkeypatch):
    given_back = []
    monkeypatch.setattr(watch, "give_back", lambda: given_back.append(True))
    monkeypatch.setattr(watch, "n_connected", lambda: 1)
    storage, held = MemorySessionStorage(ttl_seconds=0), Held()
    storage.save(SimpleNamespace(session=SimpleNamespace(id="a", held=held)))
    seen = weakref.ref(held)
    del held
    assert seen() is not None
    runtime = SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=storage))
    monkeypatch.setattr(streamlit_gaps, "get_instance", lambda: runtime)
    watch.updates.clear()
    bench = SimpleNamespace(live=LiveRun(small("auc")), view=View(speed="slow"), feed=Feed("b"))
    for _ in range(30):
        advance(bench, lambda: False)
    for _ in range(2):
        watch.look()
    assert seen() is None
    assert given_back
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


# --- below a prefix


STREAMLIT = PlainTextResponse("Streamlit's", status_code=404)
OPTIONS = {"server.baseUrlPath": "", "server.address": "127.0.0.1", "server.port": 8501}


@pytest.fixture
def configured(monkeypatch):
    """Give a function that sets the server's options."""

    def set_options(**options):
        named = OPTIONS | {f"server.{name}": value for name, value in options.items()}
        monkeypatch.setattr(st, "get_option", named.__getitem__)

    return set_options


@pytest.fixture
def seen_at(monkeypatch):
    """Give a function that says at which address the browser has found the page, and with which headers."""

    def set_url(url, **headers):
        monkeypatch.setattr(st, "context", SimpleNamespace(url=url, headers=headers))

    return set_url


def asked(path, query="", method="GET"):
    """Return the status, the headers and the body that the server answers with."""
    app = Starlette(
        routes=[*routes(), *asset_routes(), *room_routes(), key_route(), *elsewhere(), Mount("/", app=STREAMLIT)],
        middleware=[Middleware(TickDoor)],
    )
    sent = []
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": []}

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    anyio.run(app, scope | {"client": ("10.0.0.1", 1), "server": ("h", 80)}, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent)


@pytest.mark.parametrize("base", ["", "lab", "/lab/", "user/a.b/proxy/8501"])
def test_every_own_address_is_below_the_base_path(configured, base):
    configured(baseUrlPath=base)
    begin = f"/{base.strip('/')}" if base else ""
    for page in ("", "data", "lessons", "r/", "r/ABCDEF", *SETTINGS):
        status, headers, body = asked(f"{begin}/{page}")
        assert status == 200, page
        assert headers["content-type"].startswith("text/html")
        assert b"<!DOCTYPE html>" in body
    assert asked(f"{begin}/{LIBRARY_ADDRESS}")[1]["content-type"].startswith("text/javascript")
    assert asked(f"{begin}/tick", method="POST")[0] == 400
    assert asked(f"{begin}/room-key", method="POST")[0] == 404
    assert asked(f"{begin}/r/room/answer", method="POST")[0] == 413
    if base:
        assert asked("/auc")[0] == asked("/r/")[0] == 404


@pytest.mark.parametrize("page", ["auc", "data"])
def test_a_slash_too_many_leads_to_the_page_below_any_prefix(configured, page):
    configured(baseUrlPath="lab")
    status, headers, _body = asked(f"/lab/{page}/", "eta=0.1&data=Two+moons")
    assert status in (301, 302, 307, 308)
    assert headers["location"] == f"../{page}?eta=0.1&data=Two+moons"  # a proxy may have taken a prefix off


WORDS = {
    "pairs": "similar_unlabeled",
    "ranking": "auc",
    "gaps": "s3vm",
    "ordered": "ordinal",
    "many": "multiclass",
    "Many classes": "multiclass",
    "ordered-classes": "ordinal",
    "AUC": "auc",
    "QSG-S2AUC": "auc",
    "How-it-works": "how_it_works",
    "home": "./",
    "index.html": "./",
}


@pytest.mark.parametrize("base", ["", "lab"])
def test_every_other_address_leads_to_the_page_that_it_names_or_to_one_with_style_and_all_doors(configured, base):
    configured(baseUrlPath=base)
    begin = f"/{base}" if base else ""
    for word, page in WORDS.items():
        status, headers, _body = asked(f"{begin}/{word}", "eta=0.1")
        assert status == 307, word
        assert headers["location"] == f"{page}?eta=0.1", word
    for address, there in {"ranking/": "../auc", "pages/auc": "../auc", "a/b c": "../b%20c", "a/b/": "../../b"}.items():
        assert asked(f"{begin}/{address}")[1]["location"] == there, address
    style = asked(f"{begin}/")[2].partition(b"<style>")[2].partition(b"</style>")[0]
    for address in ("nothing", "ranking2", "a b", "<b>", "päge", "page.py", "r2", "component"):
        status, headers, body = asked(f"{begin}/{address}")
        assert status == 404, address
        assert style in body, address
        assert "content-security-policy" in headers


@each("address", ["_stcore/health", "auc/_stcore/host-config", "media/a.png", "component/a/b.js", "favicon.png"])
def test_what_streamlit_serves_is_left_to_it(configured, address):
    configured()
    assert asked(f"/{address}")[2] == STREAMLIT.body


@pytest.mark.parametrize(
    ("url", "begin"),
    [
        ("https://hub.example/user/a/proxy/8501/take_away", "https://hub.example/user/a/proxy/8501"),
        ("http://127.0.0.1:8080/lab/auc", "http://127.0.0.1:8080/lab"),
        ("http://[2001:db8::1]:8501/auc", "http://[2001:db8::1]:8501"),
    ],
)
def test_links_that_are_handed_on_are_below_the_prefix_that_the_browser_sees(seen_at, url, begin):
    seen_at(url)
    assert address_of(SETTINGS["auc"], {"data.name": "Two moons"}) == f"{begin}/auc?data.name=Two+moons"
    assert addresses.beside_this_page("r", {"code": "A"}).geturl() == f"{begin}/r?code=A"


@pytest.mark.parametrize(
    ("host", "is_so"),
    [
        ("localhost", True),
        ("lab.localhost", True),
        ("LOCALHOST", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("0.0.0.0", True),
        ("192.168.0.7", False),
        ("2001:db8::1", False),
        ("lab.example.org", False),
        ("localhost.example.org", False),
        (None, False),
        ("", False),
    ],
)
def test_a_name_that_means_the_same_machine_everywhere_is_known(host, is_so):
    assert addresses.is_of_this_machine(host) is is_so


@pytest.fixture
def shown(monkeypatch):
    """Give what the room's door and its warning say."""
    monkeypatch.setattr(door, "address_in_network", lambda: "192.0.2.7")
    monkeypatch.delenv("DSGLAB_ADDRESS", raising=False)
    said = []
    monkeypatch.setattr(st, "html", said.append)
    monkeypatch.setattr(st, "warning", lambda text, icon: said.append(text))
    monkeypatch.setattr(st, "code", lambda text, **_options: said.append(text))
    return said


def where(room="ABC234"):
    door.draw_door(room)


def test_phones_are_sent_below_the_prefix(configured, seen_at, shown):
    configured(address="0.0.0.0")
    seen_at("https://lab.example.org/user/a/auc")
    where()
    (picture, line) = shown
    assert 'href="https://lab.example.org/user/a/r/ABC234"' in line
    assert ">lab.example.org/user/a/r<" in line
    assert f'src="{qr_image("https://lab.example.org/user/a/r/ABC234")}"' in picture
    assert "QR code of https://lab.example.org/user/a/r/ABC234" in picture


@each(
    "said, there",
    [
        ("10.0.0.5", "http://10.0.0.5:8501/lab/r/ABC234"),
        (" lab.example.org ", "http://lab.example.org:8501/lab/r/ABC234"),
        ("lab.example.org:80", "http://lab.example.org:80/lab/r/ABC234"),
        ("https://lab.example.org/user/a/", "https://lab.example.org/user/a/r/ABC234"),
        ("http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080/r/ABC234"),
    ],
)
def test_the_variable_says_where_phones_find_the_app(configured, seen_at, shown, monkeypatch, said, there):
    configured(baseUrlPath="lab")
    seen_at("http://localhost:8501/lab/auc")
    monkeypatch.setenv("DSGLAB_ADDRESS", said)
    shown.clear()
    where()
    (_picture, line) = shown
    assert f'href="{there}"' in line


# --- addresses


def frame_address(app):
    """The address in the frame's HTML, as a browser reads it."""
    (text,) = [code.value for code in app.code if code.value.startswith("<iframe")]
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append(dict(attributes))
    parser.feed(text)
    (attributes,) = found
    assert set(attributes) == {"src", "title", "width", "height"}
    return attributes["src"]


def test_a_file_in_the_frames_address_does_not_end_it():
    app = give(open_own(), 'a"b&c.csv', iris_csv())
    given = parse_qs(urlsplit(frame_address(app.run())).query)
    assert json.loads(given["data.file"][0])["name"] == 'a"b&c.csv'
    assert given["hide"] == ["sidebar,tabs"]


def test_a_link_made_for_one_file_says_so_when_another_is_chosen():
    link = json.dumps({"name": "first.csv", "sha256": "0" * 64, "recipe": {}})
    app = give(open_own(**{"data.file": link}), "second.csv", GOOD)
    (notice,) = said_of_addresses(app)
    assert "made for the file first.csv" in notice
    assert "second.csv is a different file" in notice
    assert run_of(app).spec.data.path == "second.csv"
    assert said_of_addresses(app.run()) == [notice]  # by now the link names the second file
    give(app, "third.csv", iris_csv())
    assert not any(
        "made for" in sentence for sentence in said_of_addresses(app)
    )  # that was asked for by nobody but the one who chose it


# --- memory


def test_runs_of_all_pages_are_added_up():
    account, claims = Account(10**9), [Claim() for _ in range(3)]
    account.take(claims[0], 6 * 10**8)
    account.take(claims[1], 3 * 10**8)
    with pytest.raises(
        SpecError, match=r"about 0.2 GB of memory, but the other runs on this server leave 0.1 GB of 1 GB"
    ):
        account.take(claims[2], 2 * 10**8)
    account.take(claims[0], 5 * 10**8)  # another run of the same page takes the place of the one before
    account.take(claims[2], 2 * 10**8)
    assert account.taken == 10**9


def test_what_a_closed_session_had_is_free():
    account, claim = Account(10**9), Claim()
    account.take(claim, 10**9)
    del claim
    gc.collect()
    assert account.taken == 0


def spec_of(n):
    return Spec.from_dict({"setting": "auc", "data": {"name": "two_moons", "n": n}})


def test_a_page_whose_run_does_not_fit_keeps_the_one_before(monkeypatch):
    account = Account(10**8)
    monkeypatch.setattr(benches, "account", account)
    bench, other = Bench(FileStore()), Bench(FileStore())
    begin(bench, spec_of(500))
    begin(other, spec_of(500))
    first = bench.live
    account.limit = account.taken
    with pytest.raises(SpecError, match="the other runs on this server leave"):
        begin(bench, spec_of(20_000))
    assert bench.live is first
    begin(bench, spec_of(400))


def test_a_run_that_fails_to_begin_gives_its_memory_back(monkeypatch):
    account = Account(10**9)
    monkeypatch.setattr(benches, "account", account)
    bench = Bench(FileStore())
    begin(bench, spec_of(500))
    before = account.taken

    def fail(*_arguments):
        raise MemoryError

    monkeypatch.setattr(benches, "LiveRun", fail)
    with pytest.raises(MemoryError):
        begin(bench, spec_of(20_000))
    assert account.taken == before


# --- what Streamlit lacks


ROOT = Path(__file__).parents[1]


def test_the_first_page_is_where_streamlit_keeps_it(monkeypatch):
    assert "<title>Streamlit</title>" in streamlit_gaps.first_page()
    assert streamlit_gaps.first_page().count("</head>") == 1
    monkeypatch.setattr(streamlit_gaps, "_STATIC", ROOT / "nowhere")
    assert streamlit_gaps.first_page() == ""
    assert streamlit_gaps.scripts_of("Slider") == []


def test_the_scripts_of_widgets_are_where_streamlit_keeps_them():
    kinds = {"Slider", "Selectbox", "StreamlitMarkdown", "BidiComponent"}
    found = streamlit_gaps.scripts_of(*kinds)
    assert {address.removeprefix("./static/js/").split(".")[0] for address in found} > kinds, (
        "what a widget imports is there, too"
    )
    assert all((streamlit_gaps._STATIC / address).is_file() for address in found)


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


# --- whose turn it is


LONG = 20.0  # seconds after which a test gives up
until = partial(clocks.until, seconds=LONG, every=0.001)


def in_thread(work):
    thread = threading.Thread(target=work, daemon=True)
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
            threads.append(in_thread(lambda name=name, is_urgent=is_urgent: wait_for_turn(name, is_urgent)))
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
    monkeypatch.setattr("pages.shell.sharing.LONGEST_PREFERENCE", 0.0)
    with turns.preference():
        in_thread(take).join(LONG)
        assert order == ["own", "other", "other"]


def test_long_work_lets_others_in_between():
    turns = Turns(1)
    begun, done, order = threading.Event(), threading.Event(), []

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


def test_so_many_compute_at_once():
    turns = Turns(2)
    with turns.turn(), turns.turn():
        third = threading.Event()

        def wait_for_turn():
            with turns.turn():
                third.set()

        thread = in_thread(wait_for_turn)
        until(lambda: turns.n_waiting == 1)
        assert not third.wait(0.1)
    thread.join(LONG)
    assert third.is_set()


def test_an_error_gives_the_turn_back():
    turns = Turns(1)
    with pytest.raises(KeyError), turns.turn():
        raise KeyError
    with turns.turn():
        pass


def test_work_pauses_between_pieces_in_the_callers_thread():
    seen = []
    with pausing(lambda: seen.append(threading.get_ident())):
        for_each_piece(lambda part: None, 4, 1, 10**9)
        for_each_piece(lambda part: for_each_piece(lambda inner: None, 1, 1, 1), 1, 1, 1)
    assert seen
    assert set(seen) == {threading.get_ident()}
    before = len(seen)
    for_each_piece(lambda part: None, 1, 1, 1)
    assert len(seen) == before


# --- clicks


def test_a_click_that_arrives_twice_acts_once():
    bench, done = Bench(FileStore()), []
    for drawn in (1, 1, 2):  # the second arrival belongs to the same drawing of the page
        once(bench, drawn, done.append, drawn)
    assert done == [1, 2]


# --- its start


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_holds_nothing_back(family: int) -> None:
    with socket.socket(family) as listening:  # no protocol named
        try:
            listening.bind(("localhost", 0))
        except OSError:
            pytest.skip("this machine has no such addresses")
        listening.listen()
        assert not _sends_at_once(listening)
        send_at_once()
        assert _sends_at_once(listening)


def test_the_app_begins_with_it_and_gets_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    # Read, not imported: where the server's module is, pages count on ticks.
    assert "lifespan=life)" in (Path(__file__).parents[1] / "app.py").read_text(encoding="utf-8")
    is_ready = threading.Event()
    monkeypatch.setattr(watch, "warm_up", is_ready.set)

    async def begin() -> None:
        async with watch.life(None):
            pass

    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        listening.listen()
        asyncio.run(begin())
        assert _sends_at_once(listening)
    assert is_ready.wait(60)
    assert "pages.workbench.page" in sys.modules


def _sends_at_once(listening: socket.socket) -> bool:
    with socket.create_connection(listening.getsockname()[:2]), listening.accept()[0] as connection:
        return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
