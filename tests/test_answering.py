"""Answers to a class's phones and to the lecturer's page: limited before reading, live, and of the right room."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from urllib.parse import urlencode

import anyio
import pytest

pytest.importorskip("streamlit")
from opened_pages import open_page
from starlette.applications import Starlette
from streamlit.runtime.context import ContextProxy
from test_presenting import presented, press

from dsgcore.experiments import script
from dsgcore.studies.rooms import Asked, Key
from pages.shell import answering
from pages.shell.answering import LONGEST_ANSWER, Pace, answering_routes
from pages.shell.room_key import Ticket, key_route
from pages.workbench.page import OTHER_TABS
from pages.workbench.room_view import SECONDS_BETWEEN_LOOKS

ASKED = Asked("auc", "unlabeled", 0)


@pytest.fixture
def rooms(tmp_path, monkeypatch):
    monkeypatch.setenv("DSGLAB_STORE", str(tmp_path / "runs.sqlite"))
    monkeypatch.setattr(answering, "_pace", Pace(10_000, 10_000))
    answering.rooms.cache_clear()
    yield answering.rooms()
    answering.rooms.cache_clear()


@dataclass
class Reply:
    """Answer of the server."""

    status_code: int
    headers: dict[str, str]
    text: str

    def json(self):
        return json.loads(self.text)


class Phones:
    """Asks the server's addresses as a browser does, without a network."""

    def __init__(self):
        self.app = Starlette(routes=[*answering_routes(), key_route()])

    def get(self, path, **params):
        return anyio.run(self._ask, "GET", path, urlencode(params), b"", {})

    def post(self, path, body, length=None):
        length = str(len(body)) if length is None else length
        return anyio.run(self._ask, "POST", path, "", body, {"content-length": length} if length else {})

    async def _ask(self, method, path, query, body, headers):
        sent = []
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "client": ("10.0.0.1", 1),
        }
        scope |= {"headers": [(name.encode(), value.encode()) for name, value in headers.items()]}

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            sent.append(message)

        answering._limiter.cache_clear()  # one for each loop of events
        await self.app(scope, receive, send)
        said = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Reply(sent[0]["status"], said, b"".join(m.get("body", b"") for m in sent).decode())


@pytest.fixture
def phones(rooms):
    yield Phones()
    answering._limiter.cache_clear()


@pytest.fixture
def room(rooms):
    key = rooms.open()
    rooms.ask(key, ASKED)
    return key


def send(phones, room, guess="1", client=None, **other):
    body = {"code": room.code, "client": client or secrets.token_hex(16), "step": 0, "guess": guess} | other
    return phones.post("/room/answer", json.dumps(body).encode())


def test_a_phone_is_asked_what_the_room_is_asked_and_nothing_of_others(phones, room):
    asked = phones.get("/room/asked", code=room.code).json()
    assert asked["isOpen"]
    assert asked["options"][0] == "above the dotted curve: unlabeled points help"
    assert set(asked) == {"setting", "lesson", "step", "isOpen", "text", "options"}
    assert "no such room" in phones.get("/room/asked", code="22222222").json()["why"]


@pytest.mark.parametrize(
    ("lesson", "setting", "step", "places"), [("random-features", "auc", 0, 1), ("batches", "s3vm", 1, 6)]
)
def test_numbers_and_curves_are_asked_by_sliders(phones, rooms, room, lesson, setting, step, places):
    rooms.ask(room, Asked(setting, lesson, step))
    asked = phones.get("/room/asked", code=room.code).json()
    assert len(asked["places"]) == places
    assert asked["low"] < asked["high"]


def test_an_answer_is_said_to_be_kept_and_counted_once(phones, rooms, room):
    one = secrets.token_hex(16)
    assert [send(phones, room, client=one).json() for _ in range(3)] == [{"guess": "1"}] * 3
    assert rooms.guesses(room, ASKED) == [1]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b"[" * 390,
        b'{"code": 1}',
        b"\xff\xfe",
        b'{"code": "A", "client": [], "step": {}, "guess": 1}',
    ],
)
def test_what_is_no_answer_gets_a_sentence(phones, rooms, room, body):
    reply = phones.post("/room/answer", body)
    assert reply.json() == {"why": reply.json()["why"]}
    assert rooms.guesses(room, ASKED) == []


def test_markup_is_neither_kept_nor_said_back(phones, rooms, room):
    reply = send(phones, room, guess="<img src=x onerror=alert(1)>")
    assert "img" not in reply.text
    assert rooms.guesses(room, ASKED) == []
    assert "innerHTML" not in phones.get("/room").text
    assert "default-src 'none'" in phones.get("/room").headers["content-security-policy"]


def test_a_megabyte_is_refused_before_it_is_read(phones, monkeypatch):
    def read(_request):
        raise AssertionError("read")

    monkeypatch.setattr("starlette.requests.Request.body", read)
    assert phones.post("/room/answer", b"x" * (LONGEST_ANSWER + 1)).status_code == 413
    assert phones.post("/room/answer", b"x" * 1_000_000).status_code == 413
    assert phones.post("/room/answer", b"x", length="").status_code == 413  # of unsaid length


def test_who_asks_a_thousand_times_a_second_is_put_off_and_others_are_not():
    now = [0.0]
    pace = Pace(300, 100, lambda: now[0])
    assert sum(pace.allows("flood") for _ in range(1000)) == 300
    assert pace.allows("another")
    now[0] += 1.0
    assert sum(pace.allows("flood") for _ in range(1000)) == 100
    for k in range(10_000):
        pace.allows(str(k))
    assert len(pace._left) <= Pace.MOST_KNOWN


def test_a_flood_is_put_off_at_the_address_before_the_store_is_asked(phones, room, monkeypatch):
    monkeypatch.setattr(answering, "_pace", Pace(5, 0))
    assert [send(phones, room).status_code for _ in range(8)] == [200] * 5 + [429] * 3
    assert phones.get("/room/asked", code=room.code).status_code == 429


def test_the_lecturers_page_looks_more_often_than_once_a_second():
    assert SECONDS_BETWEEN_LOOKS <= 0.5


@pytest.fixture
def browser_of(monkeypatch):
    """Give a function that lets the browser have kept the key of a room."""

    kept = {}
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _context: kept))
    return lambda key: kept.update({f"dsglab_room_{key.code}": key.secret})


def guesses_drawn(app):
    return [html.proto.body for html in app.get("html") if "room-bars" in html.proto.body]


@pytest.mark.compiled
def test_the_lecturers_page_opens_a_room_counts_the_guesses_and_then_marks_the_right_one(phones, rooms):
    app = presented(lesson="unlabeled")
    press(app, "next")
    app.button(key="room-open").click().run()
    bench = app.session_state["_bench_auc"]
    code = bench.lesson.room.code
    assert any(code in markdown.value for markdown in app.markdown)
    assert guesses_drawn(app)[0].count("<span>0</span>") == 3
    for k in range(40):
        send(phones, bench.lesson.room, guess=str(k % 2))
    app.run()
    assert "A: 20, B: 20, C: 0" in guesses_drawn(app)[0]
    press(app, "next")
    assert not rooms.asked(code).is_open
    for _ in range(100):
        if bench.lesson.place.outcome is not None:
            break
        app.run()
    press(app, "next")
    assert "A ✓: 20" in guesses_drawn(app)[0]


@pytest.mark.compiled
def test_a_link_brings_the_lecturers_browser_back_to_the_room(phones, room, browser_of):
    for _ in range(3):
        send(phones, room)
    browser_of(room)
    app = press(presented(lesson="unlabeled", room=room.code), "next")
    assert "B: 3" in guesses_drawn(app)[0]
    assert not app.warning


@pytest.mark.compiled
def test_another_browser_with_the_lecturers_link_has_no_room(phones, rooms, room, browser_of):
    send(phones, room)
    for link in (room.code, f"{room.code}.{room.secret}", f"{room.code}.guessed", ".", "<b>"):
        app = press(presented(lesson="unlabeled", room=link), "next")
        assert guesses_drawn(app) == []
        assert any("one that this browser has opened" in warning.value for warning in app.warning) == (link != ".")
        assert "." not in str(app.query_params["room"])
    browser_of(Key(room.code, "guessed"))
    app = press(presented(lesson="unlabeled", room=room.code), "next")
    assert any("another lecturer's" in warning.value for warning in app.warning)
    assert rooms.guesses(room, ASKED) == [1]


def test_the_cookie_with_the_key_is_for_one_ticket_and_no_script(phones, room):
    ticket = Ticket(room)
    reply = phones.post("/room-key", ticket.name.encode())
    cookie = reply.headers["set-cookie"]
    assert reply.status_code == 204
    assert reply.text == ""
    assert cookie.startswith(f"dsglab_room_{room.code}={room.secret};")
    assert {"HttpOnly", "SameSite=strict", "Max-Age=86400"} <= set(cookie.split("; "))
    # Without a path it holds for the folder of its address as the browser knows it: below any prefix, and no further.
    assert "path" not in cookie.lower()
    for body in (b"", b"x" * 32, b"x" * 1000, b"\xff", ticket.name[:-1].encode(), room.code.encode()):
        assert phones.post("/room-key", body).status_code == 404
        assert "set-cookie" not in phones.post("/room-key", body).headers
    name = ticket.name.encode()
    del ticket
    assert phones.post("/room-key", name).status_code == 404  # its session has ended


def offered(app):
    """Return all contents of a page: every message of its script, its link, and its downloads."""
    link = app.session_state["_bench_auc"].link.texts
    run = app.session_state["_bench_auc"].live.run
    return [*messages_of(app), str(dict(app.query_params)), str(link), script(run.spec, run.tried), run.spec.to_json()]


def messages_of(app):
    """The messages that make a page, as they go to the browser."""
    waiting, found = [app.main, app.sidebar], []
    while waiting:
        place = waiting.pop()
        proto = getattr(place, "proto", None)
        found += [str(proto), str(proto.SerializeToString())] if proto is not None else []
        waiting += getattr(place, "children", {}).values()
    return found


@pytest.mark.compiled
def test_nothing_that_a_page_offers_holds_the_lecturers_key(phones, rooms, caplog, monkeypatch):
    monkeypatch.setattr("pages.shell.browser.are_served", lambda: True)
    caplog.set_level(0)
    app = press(presented(lesson="unlabeled"), "next")
    app.button(key="room-open").click().run()
    bench = app.session_state["_bench_auc"]
    assert bench.lesson.ticket.name in str(offered(app))  # what is searched holds what the page tells the browser
    secret, found = bench.lesson.room.secret, offered(app)
    for name, value in {"present": "", "tabs": "Code"}.items():  # the whole page, with its code
        app.query_params[name] = value
        if name == "tabs":
            app.session_state["tabs"] = value
    bench.opened |= set(OTHER_TABS)
    bench.lesson.place.stage = None
    app.run().run()
    assert [code.value for code in app.code if code.value.startswith("<iframe")]
    found += [*offered(app), *(code.value for code in app.code), caplog.text, repr(bench.lesson.room), repr(bench)]
    assert [text for text in found if secret in text] == []
    assert [code.value for code in app.code if bench.lesson.room.code in code.value] == []


@pytest.mark.compiled
def test_numbers_are_shown_as_a_histogram(phones, rooms, room, browser_of):
    browser_of(room)
    asked = Asked("auc", "random-features", 0)
    rooms.ask(room, asked)
    for guess in ("0.05", "0.41", "0.42"):
        send(phones, room, guess=guess)
    app = press(presented(lesson="random-features", room=room.code), "next")
    assert "0 to 0.1: 1" in guesses_drawn(app)[0]
    assert "0.4 to 0.5: 2" in guesses_drawn(app)[0]


@pytest.mark.compiled
def test_of_drawn_curves_the_middle_is_shown(phones, rooms, room, browser_of):
    browser_of(room)
    rooms.ask(room, Asked("s3vm", "batches", 1))
    for guess in ("0.5~0.5~0.5~0.5~0.5~0.5", "0.5~0.6~0.7~0.8~0.9~0.9", "1~1~1~1~1~1"):
        send(phones, room, guess=guess, step=1)
    app = press(open_page("s3vm", present="1", svm_lesson="batches:2", svm_room=room.code), "next")
    drawn = [c.proto.bytes or c.proto.json for c in app.get("bidi_component") if "room-curve" in c.proto.id]
    assert len(drawn) == 1
    assert "at the start: 0.50; after 10% of the iterations: 0.60" in str(drawn[0])


def test_a_store_that_cannot_be_used_is_said_and_is_no_error(phones, tmp_path, monkeypatch):
    monkeypatch.setenv("DSGLAB_STORE", str(tmp_path))  # a folder
    answering.rooms.cache_clear()
    reply = phones.get("/room/asked", code="22222222")
    assert (reply.status_code, reply.json()) == (503, {"why": "The server cannot save answers now. Try again."})
