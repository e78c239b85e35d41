"""A class's phones and the lecturer's page: answers are limited, hidden until the reveal, and counted for who gave them."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import replace
from urllib.parse import unquote

import anyio
import pytest
import uvicorn
from cases import each, some
from opened_pages import left_in_browser, shown
from room_phones import PICK, Phones, forget_loops, guesses_in
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.runtime.context import ContextProxy
from test_stage import presented

from dsgcore.experiments import script
from dsgcore.rooms.questions import LABELS, question_in
from dsgcore.rooms.rooms import Asked, Key, RoomError
from pages.room import entrance
from pages.room.drawings import answers
from pages.room.entrance import LONGEST_ANSWER, Pace, news, room_routes
from pages.shell.callers import VARIABLE, caller_of
from pages.shell.room_key import Ticket, cookie_name
from pages.shell.sessions import Session
from pages.workbench.page import OTHER_TABS

# --- phones


def test_a_phone_is_asked_what_the_room_is_asked_and_nothing_of_others(phones, room):
    phones.send(room.code)
    asked = phones.asked(room.code).json()
    assert asked["isOpen"]
    assert asked["name"] == PICK.name
    assert asked["question"]["options"][0] == "higher: unlabeled points help"
    assert set(asked) == {"version", "isOpen", "name", "round", "question", "picture", "isRevealed"}
    assert "no such room" in phones.asked("222222").json()["why"]
    assert phones.asked("222222").status_code == 404


@each(
    "asked, kind",
    [
        (Asked("auc", "random-features", 0), "number"),
        (Asked("s3vm", "batches", 1), "curve"),
        (replace(PICK, kind=LABELS), "map"),
    ],
)
def test_numbers_curves_and_maps_are_asked_with_what_phones_need_to_draw_them(phones, rooms, room, asked, kind):
    rooms.ask(room, asked, {"points": [[0.1, 0.2]]} if kind == "map" else None)
    said = phones.asked(room.code).json()
    assert said["question"]["kind"] == kind
    assert kind == "map" or said["question"]["low"] < said["question"]["high"]
    assert said["picture"] == ({"points": [[0.1, 0.2]]} if kind == "map" else {})


def test_the_answers_of_all_and_the_right_one_come_with_the_reveal_and_not_before(phones, rooms, room):
    for guess in ("0", "0", "2"):
        phones.send(room.code, guess)
    rooms.tell(room, {"verdict": 1.0})
    hidden = phones.asked(room.code)
    assert not {"drawing", "result"} & set(hidden.json())
    assert "points" not in hidden.json()["picture"]
    rooms.reveal(room)
    said = phones.asked(room.code).json()
    assert "A ✓: 2, B: 0, C: 1" in said["drawing"]
    assert said["result"]["right"] == 0
    assert not said["isOpen"]


BODIES = [
    *(b"", b"{", b"[]", b"7", b"null", b"[" * 390, b'{"code": 1}', b"\xff\xfe"),
    b'{"code": "A", "client": [], "name": {}, "round": 1e999, "guess": 1, "age": 0}',
    b'{"code": "A", "client": "c", "name": "n", "round": 1, "guess": "1", "age": "x"}',
    *({"round": 10**40}, {"client": 7}, {"guess": ["1"]}, {"name": "x" * 60}, {"code": []}),  # parts of a good answer
]


@each("body", BODIES)
def test_what_is_no_answer_gets_a_sentence(phones, rooms, room, body):
    is_part = isinstance(body, dict)
    reply = phones.send(**({"code": room.code} | body)) if is_part else phones.post("/r/room/answer", body)
    assert reply.status_code in (404, 409)
    assert reply.json() == {"why": reply.json()["why"]}
    assert guesses_in(rooms, room) == [[]]


def test_markup_is_neither_kept_nor_said_back(phones, rooms, room):
    reply = phones.send(room.code, guess="<img src=x onerror=alert(1)>")
    assert "img" not in reply.text
    assert guesses_in(rooms, room) == [[]]
    for path in ("/r/", f"/r/{room.code}", "/r/<script>alert(1)<", "/notes"):
        page = phones.get(path, of="auc/unlabeled\n<script>alert(1)</script>? | a | b")
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy


def test_a_short_address_and_a_slash_too_many_lead_to_the_page_below_any_prefix(phones):
    assert phones.get("/r").headers["location"] == "r/"
    assert phones.get("/r/ABCDEF/").headers["location"] == "../ABCDEF"


def test_a_megabyte_is_refused_before_it_is_read(phones, monkeypatch):
    def read(_request):
        raise AssertionError("read")

    monkeypatch.setattr("starlette.requests.Request.body", read)
    for body, length in ((b"x" * (LONGEST_ANSWER + 1), None), (b"x" * 1_000_000, None), (b"x", ""), (b"x", "-1")):
        assert phones.post("/r/room/answer", body, length).status_code == 413


def test_who_asks_a_thousand_times_a_second_is_put_off_and_others_are_not(monkeypatch):
    monkeypatch.setattr(Pace, "MOST_KNOWN", 128)
    now = [0.0]
    pace = Pace(300, 100, lambda: now[0])
    assert sum(pace.allows("flood") for _ in range(1000)) == 300
    assert pace.allows("another")
    now[0] += 1.0
    assert sum(pace.allows("flood") for _ in range(1000)) == 100
    for k in range(2 * Pace.MOST_KNOWN):
        pace.allows(str(k))
    assert len(pace._known) <= Pace.MOST_KNOWN
    assert not pace.allows("flood"), "many other addresses do not make it new"


def test_a_flood_is_put_off_at_the_address_before_the_store_is_asked(phones, room, monkeypatch):
    monkeypatch.setattr(entrance, "_pace", Pace(5, 0))
    assert [phones.send(room.code).status_code for _ in range(8)] == [200] * 5 + [429] * 3
    assert phones.asked(room.code).status_code == 429
    results = f"/r/{room.code}/results.html"
    assert phones.get(results, cookie=f"{cookie_name(room.code)}=forged").status_code == 429
    assert phones.get(results).status_code == 429


def test_who_guesses_codes_is_put_off_like_every_flood_and_learns_nothing(phones, room, monkeypatch):
    monkeypatch.setattr(entrance, "_pace", Pace(3, 0))
    assert [phones.asked(f"2222222{k}").status_code for k in range(5)] == [404] * 3 + [429] * 2
    right, wrong = phones.asked(room.code), phones.asked("33333333")
    assert (right.status_code, right.text) == (wrong.status_code, wrong.text)
    assert Phones("10.0.0.2").asked(room.code).status_code == 200


def test_one_address_brings_a_whole_class_at_once_and_then_new_phones_only_slowly(rooms, room, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(entrance, "_newcomers", Pace(200, 0.5, lambda: now[0]))
    crowd, first = Phones(), secrets.token_hex(16)
    assert crowd.send(room.code, client=first).status_code == 200
    assert [crowd.send(room.code).status_code for _ in range(202)] == [200] * 199 + [429] * 3
    assert crowd.send(room.code, client=first).status_code == 200  # a phone of the class goes on
    assert Phones("10.0.0.2").send(room.code).status_code == 200
    assert crowd.send(rooms.open().code).status_code == 409  # no question there: nothing is counted
    now[0] += 60
    assert [crowd.send(room.code).status_code for _ in range(31)] == [200] * 30 + [429]


def test_the_pace_of_new_phones_holds_two_hundred_phones_behind_one_address():
    assert entrance._newcomers.left("a network") == 200


def test_a_phone_whose_state_is_the_present_one_waits_for_the_next(phones, rooms, room, monkeypatch):
    monkeypatch.setattr(entrance, "LONGEST_WAIT", 0.05)
    version = phones.asked(room.code).json()["version"]
    assert phones.asked(room.code, since=version).status_code == 204
    rooms.reveal(room)
    assert phones.asked(room.code, since=version).status_code == 200
    for nonsense in ("x", "-1", "9" * 50, "½"):
        assert phones.asked(room.code, since=nonsense).status_code == 200


def test_a_change_reaches_all_who_wait_by_one_look_into_the_store(rooms, room, monkeypatch):
    monkeypatch.setattr(entrance, "SECONDS_BETWEEN_LOOKS", 0.001)
    looks, look, before = [], rooms.state, rooms.state(room.code).version
    monkeypatch.setattr(rooms, "state", lambda code: looks.append(code) or look(code))

    async def waited():
        found = []

        async def wait():
            found.append((await news(room.code, before)).version)

        async with anyio.create_task_group() as group:
            for _ in range(200):
                group.start_soon(wait)
            while len(looks) < 3:
                await anyio.sleep(0)
            n = len(looks)
            rooms.reveal(room)
        return found, len(looks) - n

    found, n = anyio.run(waited)
    assert len(found) == 200
    assert min(found) > before
    assert n < 50
    forget_loops()


@each("most, why", [(1, "no such room"), (0, "Too many phones")])
def test_a_room_that_is_closed_ends_the_wait(rooms, most, why, monkeypatch):
    monkeypatch.setattr(entrance, "MOST_WAITING", most)
    key = rooms.open()
    rooms.close(key)
    with pytest.raises(RoomError, match=why):
        anyio.run(news, key.code, 0)
    forget_loops()


# --- the lecturer's page


NUMBER = Asked("auc", "random-features", 0)
CURVE = Asked("s3vm", "batches", 1)
MAP = Asked("auc", "unlabeled", 0, LABELS)


@pytest.fixture
def browser_of(monkeypatch):
    """Give a function that lets the browser have kept the key of a room."""

    kept = {}
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _context: kept))
    return lambda key: kept.update({f"dsglab_room_{key.code}": key.secret})


def drawn(app, name="room-bars"):
    """Return the HTML of the room's panel that has an element of that class."""
    texts = [html.proto.body for html in app.get("html")]
    mounts = [mount.proto for mount in app.get("bidi_component") if "room-drawing" in mount.proto.id]
    texts += [json.loads(mount.json)["html"] for mount in mounts]
    return [text for text in texts if f'class="{name}"' in text]


def bench_of(app):
    return app.session_state["_bench_auc"]


def opened():
    """Return a page whose lecturer has asked the class, and the code of its room."""
    app = presented(lesson="unlabeled")
    app.button(key="room-open").click().run()
    return app, bench_of(app).group.room.code


def click(app, key):
    app.button(key=f"room-{key}").click().run()
    assert not app.exception
    return app


def test_the_vote_is_hidden_until_the_lecturer_reveals_it_and_the_second_one_stands_beside_it(phones, rooms):
    app, code = opened()
    for k in range(40):
        phones.send(code, str(k % 2), client=f"{k:032d}")
    app.run()
    assert drawn(app) == []
    assert "40 answered" in drawn(app, "room-count")[0]
    click(app, "reveal")
    assert "A: 20, B: 20, C: 0" in drawn(app)[0]
    click(app, "again")
    assert drawn(app) == []
    assert phones.send(code, "0").status_code == 409  # to the round before
    for k in range(30):
        phones.send(code, "0", client=f"{k:032d}", round=2)
    click(app, "reveal")
    assert "second vote: A: 30, B: 0, C: 0" in drawn(app)[0]
    assert app.button(key="room-again").disabled
    rooms.again(bench_of(app).group.room)  # a third vote there is not
    assert phones.asked(code).json()["round"] == 2


CHOICES = {
    "unlabeled": (["2", "2", "0"], 2),
    "random-features": (["0.1", "0.2", "0.6"], 0.2),
    "own-errors": (["0.500~0.500~0.500~0.500~0.500~0.500", "0.700~0.700~0.700~0.700~0.700~0.700"], (0.6,) * 6),
}


@each("lesson", some(CHOICES, 2, 4))
def test_the_run_begins_with_the_choice_of_the_class(phones, lesson):
    app = presented(lesson=lesson)
    app.button(key="room-open").click().run()
    code, (guesses, choice) = bench_of(app).group.room.code, CHOICES[lesson]
    name = phones.asked(code).json()["name"]
    click(app, "reveal")
    assert "room-choice" not in [button.key for button in app.button]  # nobody has answered
    click(app, "again")
    for k, guess in enumerate(guesses):
        assert phones.send(code, guess, client=f"{k:032d}", name=name, round=2).status_code == 200
    click(app, "reveal")
    click(app, "choice").run()
    bench = bench_of(app)
    assert bench.lesson.place.guess == choice
    assert not bench.lesson.place.waits
    if isinstance(choice, tuple):
        assert bench.view.scene.guess == choice  # the curve of the class stays in the chart


def test_the_run_ends_the_vote_and_marks_the_right_answer_on_phones_too(phones, rooms):
    app, code = opened()
    bench = bench_of(app)
    phones.send(code, "0")
    app.button(key="lesson-run").click().run()
    assert not rooms.state(code).is_open
    for _ in range(100):
        if bench.lesson.place.outcome is not None:
            break
        app.run()
    assert "result" not in phones.asked(code).json()
    click(app, "reveal")
    assert "A ✓: 1" in drawn(app)[0]
    said = phones.asked(code).json()
    assert said["result"]["right"] == 0
    assert said["result"]["why"].startswith("With ten labels")
    app.button(key="lesson-next").click().run()
    assert phones.asked(code).json()["name"] == "auc/unlabeled/1"


def test_a_vote_without_an_answer_is_not_ended_by_one_press(phones, rooms):
    app, code = opened()
    app.button(key="lesson-run").click().run()
    assert "Nobody has answered yet" in drawn(app, "room-count")[0]
    assert rooms.state(code).is_open
    app.button(key="lesson-run").click().run()
    assert not rooms.state(code).is_open


def test_a_lesson_that_is_opened_again_goes_on_in_its_room(phones, rooms, browser_of):
    app, code = opened()
    browser_of(bench_of(app).group.room)
    assert bench_of(presented(lesson="unlabeled:2")).group.room.code == code
    assert bench_of(presented(lesson="random-features")).group.room is None
    rooms.close(bench_of(app).group.room)
    assert bench_of(presented(lesson="unlabeled")).group.room is None


def test_a_timer_and_the_close_button_end_the_vote(phones, rooms):
    app, code = opened()
    click(app, "timer-30")
    assert 25 < rooms.state(code).left <= 30
    assert "s left" in drawn(app, "room-count")[0]
    click(app, "close")
    assert not rooms.state(code).is_open
    assert "closed" in drawn(app, "room-count")[0]


def test_a_lecturer_lets_in_no_new_phones_and_then_new_ones_again(phones, rooms):
    app, code = opened()
    phones.send(code, client="a" * 32)
    click(app, "shut")
    assert "1 answered</b>, no new phones" in drawn(app, "room-count")[0]
    refused = phones.send(code)
    assert (refused.status_code, refused.json()) == (409, {"why": "The lecturer lets in no new phones now."})
    assert phones.send(code, "0", client="a" * 32).status_code == 200
    assert app.button(key="room-shut").label == "Let in new phones again"
    click(app, "shut")
    assert phones.send(code).status_code == 200


def test_the_class_can_be_asked_which_points_to_label_and_then_the_question_again(phones, rooms):
    app, code = opened()
    click(app, "labels").run()
    said = phones.asked(code).json()
    assert said["name"] == MAP.name
    assert len(said["picture"]["points"]) > 100
    assert all(0 <= value <= 1 for point in said["picture"]["points"] for value in point)
    phones.send(code, "~".join(["0.500"] * 10), name=MAP.name)
    click(app, "reveal")
    assert drawn(app, "room-map")
    click(app, "labels").run()
    assert phones.asked(code).json()["name"] == PICK.name
    assert phones.asked(code).json()["isOpen"]


def test_a_closed_room_is_gone_from_the_page_and_another_can_be_opened(phones, rooms):
    app, code = opened()
    click(app, "end").run()
    assert phones.asked(code).status_code == 404
    assert drawn(app, "room-count") == []
    app.button(key="room-open").click().run()
    assert bench_of(app).group.room.code != code


def test_a_link_brings_the_lecturers_browser_back_to_the_room(phones, room, rooms, browser_of):
    for _ in range(3):
        phones.send(room.code)
    rooms.reveal(room)
    browser_of(room)
    app = presented(lesson="unlabeled", room=room.code)
    assert "B: 3" in drawn(app)[0]
    assert not app.warning


def test_a_second_tab_with_the_room_changes_nothing_for_the_class_until_it_takes_over(
    phones, rooms, browser_of, monkeypatch
):
    monkeypatch.setattr(Session, "is_connected", True)
    first, code = opened()
    browser_of(bench_of(first).group.room)
    phones.send(code)
    before = phones.asked(code).json()
    second = presented(lesson="five-labels:2", room=code).run()
    assert phones.asked(code).json() == before  # no other question, and the vote is still open
    assert [button.key for button in second.button if button.key.startswith("room-")] == ["room-lead"]
    first.run()
    assert "1 answered" in drawn(first, "room-count")[0]
    second.button(key="room-lead").click().run()
    second.button(key="room-open").click().run()
    assert phones.asked(code).json()["name"] == "auc/five-labels/1/labels"
    now = phones.asked(code).json()
    first.run().run()
    assert [button.key for button in first.button if button.key.startswith("room-")] == ["room-lead"]
    first.button(key="lesson-run").click().run()
    assert phones.asked(code).json() == now


def test_a_tab_leads_the_room_whose_other_tab_has_closed(phones, rooms, browser_of, monkeypatch):
    monkeypatch.setattr(Session, "is_connected", False)
    first, code = opened()
    browser_of(bench_of(first).group.room)
    second = presented(lesson="unlabeled:2", room=code).run()
    assert phones.asked(code).json()["name"] == "auc/unlabeled/1"
    assert "room-lead" not in [button.key for button in second.button]


def test_another_browser_with_the_lecturers_link_has_no_room(phones, rooms, room, browser_of):
    phones.send(room.code)
    for link in (room.code, f"{room.code}.{room.secret}", f"{room.code}.guessed", ".", "<b>"):
        app = presented(lesson="unlabeled", room=link)
        assert drawn(app, "room-count") == []
        assert any("one that this browser has opened" in shown(warning.value) for warning in app.warning) == (
            link != "."
        )
        assert "." not in left_in_browser(app).get("room", "")
    browser_of(Key(room.code, "guessed"))
    app = presented(lesson="unlabeled", room=room.code)
    assert any("another lecturer's" in shown(warning.value) for warning in app.warning)
    assert guesses_in(rooms, room) == [[1]]


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
    run = bench_of(app).live.run
    return [
        *messages_of(app),
        str(dict(app.query_params)),
        str(app.session_state["_page_link"]),
        script(run.spec, run.tried),
        run.spec.to_json(),
    ]


def messages_of(app):
    """The messages that make a page, as they go to the browser."""
    waiting, found = [app.main, app.sidebar], []
    while waiting:
        place = waiting.pop()
        proto = getattr(place, "proto", None)
        found += [str(proto), str(proto.SerializeToString())] if proto is not None else []
        waiting += getattr(place, "children", {}).values()
    return found


def test_nothing_that_a_page_offers_holds_the_lecturers_key(phones, rooms, caplog, monkeypatch):
    monkeypatch.setattr("pages.shell.page_link.are_served", lambda: True)
    caplog.set_level(0)
    app, code = opened()
    bench = bench_of(app)
    assert bench.group.ticket.name in str(offered(app))  # what is searched holds what the page tells the browser
    secret, found = bench.group.room.secret, offered(app)
    found += [
        phones.asked(code).text,
        phones.get(f"/r/{code}").text,
        phones.get("/notes", of="unlabeled", room=code).text,
    ]
    for name, value in {"present": "", "tabs": "Code"}.items():  # the whole page, with its code
        app.query_params[name] = value
        if name == "tabs":
            app.session_state["tabs"] = value
    bench.drawing.opened |= set(OTHER_TABS)
    bench.lesson.place = None
    app.run().run()
    blocks = [block.value for block in app.code]
    assert [block for block in blocks if block.startswith("<iframe")]
    found += [*offered(app), *blocks, caplog.text, repr(bench.group.room), repr(bench)]
    assert [text for text in found if secret in text] == []
    assert [block for block in blocks if code in block] == []


def cookie_of(key):
    return f"dsglab_room_{key.code}={key.secret}"


@each("page", ["notes/now", "results.html"])
def test_notes_and_results_are_for_the_lecturers_browser_alone(phones, room, page):
    path = f"/r/{room.code}/{page}"
    assert phones.get(path, cookie=cookie_of(room)).status_code == 200
    for cookie in (
        "",
        f"dsglab_room_{room.code}=",
        f"dsglab_room_{room.code}=guessed",
        cookie_of(Key("222222", room.secret)),
    ):
        reply = phones.get(path, cookie=cookie)
        assert reply.status_code == 403
        assert set(reply.json()) == {"why"}


def test_notes_are_there_without_a_room_for_a_lecture_to_print_and_name_what_is_no_part_of_it(phones):
    page = phones.get("/notes", of="auc/unlabeled\nWho <i>knows</i>? | I do | I do not\ns3vm/gap").text
    assert [f'id="{place}"' in page for place in ("auc/unlabeled/0", "auc/unlabeled/3", "s3vm/gap/0", "auc/gap/0")] == [
        True,
        True,
        True,
        False,
    ]
    assert "Point at the filled points" in page
    assert "<h2>Who &lt;i&gt;knows&lt;/i&gt;?</h2>" in page
    wrong = phones.get("/notes", of="auc/unlabeled\nno-lesson")
    assert wrong.status_code == 404
    assert "no single lesson has the name &#x27;no-lesson&#x27;" in wrong.text


def test_the_results_are_one_page_and_a_table_with_all_questions(phones, rooms, room):
    phones.send(room.code, "0")
    rooms.again(room)
    phones.send(room.code, "1", round=2)
    rooms.tell(room, {"verdict": 1.0})
    rooms.ask(room, CURVE)
    phones.send(room.code, "0.5~0.6~0.7~0.8~0.9~1", name=CURVE.name)
    rooms.ask(room, replace(PICK, kind="own-1", own="Who <i>knows</i>? | I do | I do not"))
    page = phones.get(f"/r/{room.code}/results.html", cookie=cookie_of(room)).text
    assert page.count("<section>") == 3
    assert "<h2>3. Who &lt;i&gt;knows&lt;/i&gt;?</h2><p>Your own question. 0 answers.</p>" in page
    assert "first vote: A ✓: 1, B: 0, C: 0; second vote: A ✓: 0, B: 1, C: 0" in page
    assert 'class="band"' in page
    table = unquote(re.search(r'href="data:text/csv;charset=utf-8,([^"]*)" download="room-(.*?)\.csv"', page)[1])
    assert len(table.splitlines()) == 4


@each("asked, guesses", [(PICK, [0, 1]), (NUMBER, [0.1, 0.9]), (CURVE, [[0.5] * 6, [0.9] * 6]), (MAP, [[0.5] * 10])])
def test_every_kind_of_question_is_drawn_with_and_without_answers_and_says_it_in_words(asked, guesses):
    picture = {"points": [[0.2, 0.3]]} if asked.kind else {}
    for rounds in ([[]], [guesses], [[], guesses], [guesses, guesses]):
        for result in ({}, {"right": 0, "value": [0.7] * 6 if asked is CURVE else 0.4}):
            made = answers(asked.question, rounds, result, picture)
            assert made.count('role="img"') >= 1
            assert made.count("aria-label=") == made.count('role="img"')


def test_bars_count_answers_a_band_holds_eight_of_ten_curves_and_a_map_counts_its_places():
    assert "A: 2, B: 0, C: 1" in answers(PICK.question, [[0, 0, 2]], {}, {})
    made = answers(NUMBER.question, [[0.05, 0.41, 0.42]], {"value": 0.05}, {})
    counts = [int(n) for n in re.findall(r"<span>(\d+)</span>", made)]
    assert (counts[4], sum(counts), made.count("✓</b>")) == (2, 3, 1)
    assert "90 to 100: 1" in answers(question_in("How many? | 0 to 100"), [[95.0]], {}, {})
    made = answers(CURVE.question, [[[value] * 6 for value in (0.5, 0.6, 0.7, 0.8, 0.9)]], {}, {})
    low, high = CURVE.question.low, CURVE.question.high
    ys = [float(point.split(",")[1]) for point in re.search(r'class="band" points="([^"]*)"', made)[1].split()]
    expected = [30 + (high - value) / (high - low) * 202 for value in (0.86, 0.54)]
    assert (ys[0], ys[-1]) == pytest.approx(expected, abs=0.06)
    assert "band" not in answers(CURVE.question, [[]], {}, {})
    made = answers(MAP.question, [[[0.05, 0.95] + [0.55, 0.55] * 4]], {}, {})
    cells = re.findall(r'class="cell" x="([\d.]+)" y="([\d.]+)".*?opacity="([\d.]+)"', made)
    assert cells == [("10.0", "10.0", "0.20"), ("170.0", "138.0", "0.80")]


# --- who calls: trusted proxies are believed, strangers are not


def scope_of(peer, *forwarded, path="/"):
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "server": ("h", 80)}
    scope |= {"scheme": "http", "client": (peer, 4711) if peer else None, "asgi": {"version": "3.0"}}
    return scope | {"headers": [(b"x-forwarded-for", said.encode("latin-1")) for said in forwarded]}


def directly(peer, *forwarded):
    """As a server gives it that does not read the header itself."""
    return caller_of(Request(scope_of(peer, *forwarded)))


def through_uvicorn(peer, *forwarded):
    """As uvicorn gives it, which reads the header first."""

    async def answer(request):
        return PlainTextResponse(caller_of(request))

    return body_of(Starlette(routes=[Route("/", answer)]), scope_of(peer, *forwarded))[1]


def body_of(app, scope):
    config, sent = uvicorn.Config(app, log_config=None, lifespan="off"), []
    config.load()

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    anyio.run(config.loaded_app, scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


SEEN, SIX = "203.0.113.9", "2001:db8:1:2::/64"
CALLERS = [  # the proxies that are named as trusted, who asks, what the header says, and who calls
    (None, SEEN, (), SEEN),
    # A stranger says what he likes.
    (None, SEEN, ("10.0.0.1",), SEEN),
    (None, SEEN, ("127.0.0.1",), SEEN),
    (None, SEEN, ("127.0.0.1, 127.0.0.1",), SEEN),
    (None, "2001:db8:1:2:3:4:5:6", ("10.0.0.1",), SIX),
    # Through a proxy, what he says stands before what the proxy has seen.
    (None, "127.0.0.1", (SEEN,), SEEN),
    (None, "127.0.0.1", ("10.0.0.1, 203.0.113.9",), SEEN),
    (None, "127.0.0.1", ("127.0.0.1, 203.0.113.9",), SEEN),
    (None, "127.0.0.1", ("unknown, , 203.0.113.9",), SEEN),
    (None, "127.0.0.1", ("10.0.0.1", SEEN), SEEN),
    # Several proxies on this machine.
    (None, "127.0.0.1", ("203.0.113.9, 127.0.0.1",), SEEN),
    (None, "127.0.0.1", ("203.0.113.9, 127.0.0.2, ::1",), SEEN),
    (None, "::1", (SEEN,), SEEN),
    (None, "127.0.0.5", (SEEN,), SEEN),
    (None, "::ffff:127.0.0.1", (SEEN,), SEEN),
    # A proxy elsewhere is a stranger until it is named.
    (None, "127.0.0.1", ("203.0.113.9, 10.0.0.5",), "10.0.0.5"),
    # Ports, and IPv6 in its spellings.
    (None, "127.0.0.1", ("203.0.113.9:5123",), SEEN),
    (None, "127.0.0.1", ("[2001:db8:1:2::9]:5123",), SIX),
    (None, "127.0.0.1", ("[2001:db8:1:2::9]",), SIX),
    (None, "127.0.0.1", ("2001:DB8:1:2:0:0:0:a",), SIX),
    (None, "127.0.0.1", ("::ffff:203.0.113.9",), SEEN),
    (None, "::ffff:203.0.113.9", ("10.0.0.1",), SEEN),
    (None, "127.0.0.1", ('"[2001:db8:1:2::9]:1"',), SIX),
    (None, "127.0.0.1", (" \t203.0.113.9 ",), SEEN),
    # Nothing to go by.
    (None, "127.0.0.1", (), "127.0.0.1"),
    (None, "127.0.0.1", ("",), "127.0.0.1"),
    (None, "127.0.0.1", (" , ",), "127.0.0.1"),
    (None, "127.0.0.1", ("unknown",), "unknown"),
    (None, "127.0.0.1", ("[2001:db8",), "[2001:db8"),
    (None, "127.0.0.1", ("x" * 10_000,), "x" * 64),
    (None, "", (SEEN,), ""),
    # Proxies that are named: they are all that is trusted.
    ("10.0.0.0/8", "10.0.0.5", (SEEN,), SEEN),
    ("10.0.0.0/8", "10.0.0.5", ("127.0.0.1, 203.0.113.9, 10.9.9.9",), SEEN),
    ("10.0.0.5, 192.0.2.1", "192.0.2.1", ("203.0.113.9, 10.0.0.5:80",), SEEN),
    ("127.0.0.1,10.0.0.0/8", "127.0.0.1", ("203.0.113.9, 10.0.0.5",), SEEN),
    ("2001:db8:1::/48", "2001:db8:1::5", (SEEN,), SEEN),
    ("10.0.0.0/8", "127.0.0.1", (SEEN,), "127.0.0.1"),
    ("10.0.0.0/8", "11.0.0.1", (SEEN,), "11.0.0.1"),
    ("", "127.0.0.1", (SEEN,), "127.0.0.1"),
    ("*", "198.51.100.1", ("203.0.113.9, 192.0.2.1",), SEEN),
]


@pytest.mark.parametrize("ask", [directly, through_uvicorn])
@pytest.mark.parametrize(("named", "peer", "forwarded", "found"), CALLERS)
def test_a_caller_is_who_the_last_trusted_proxy_has_seen(ask, monkeypatch, named, peer, forwarded, found):
    if named is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, named)
    assert ask(peer, *forwarded) == found


def test_a_flood_through_a_proxy_puts_off_one_phone_and_no_other(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("DSGLAB_STORE", str(tmp_path / "runs.sqlite"))
    monkeypatch.setattr(entrance, "_pace", Pace(3, 0))
    entrance.rooms.cache_clear()
    app = Starlette(routes=room_routes())

    def status(peer, *forwarded):
        forget_loops()
        return body_of(app, scope_of(peer, *forwarded, path="/r/room/asked"))[0]

    try:
        assert [status("127.0.0.1", f"10.0.0.{k}, 203.0.113.9:{k}") for k in range(5)] == [404] * 3 + [429] * 2
        assert status("127.0.0.1", "203.0.113.10") == 404
        assert [status("198.51.100.1", f"10.0.0.{k}") for k in range(5)] == [404] * 3 + [429] * 2
    finally:
        entrance.rooms.cache_clear()
        forget_loops()
