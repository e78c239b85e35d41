"""A class's phones and the lecturer's page: answers are limited, hidden until the reveal, and counted for who gave them."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace

import anyio
import pytest
from opened_pages import bench_of, checked, left_in_browser, open_page, shown
from room_phones import GUESSES, MAP, PICK, Phones, forget_loops, guesses_in
from streamlit.runtime.context import ContextProxy

from dsgcore.experiments import script
from dsgcore.rooms.rooms import Key, RoomError
from pages.controls.view import TAB
from pages.room import entrance
from pages.room.entrance import LONGEST_ANSWER, Pace, news
from pages.shell.addresses import PROXIES
from pages.shell.room_key import Ticket, cookie_name
from pages.shell.sharing import Session
from pages.shell.ticks import TickDoor

HERE, SEEN = "127.0.0.1", "203.0.113.9"  # addresses of callers


def cookie_of(code, secret):
    return f"{cookie_name(code)}={secret}"


# --- phones


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


def test_a_flood_of_answers_or_codes_learns_nothing_and_puts_off_no_other_behind_its_proxy(room, monkeypatch):
    monkeypatch.delenv(PROXIES, raising=False)
    monkeypatch.setattr(entrance, "_pace", Pace(5, 0))
    flood = [Phones(HERE, f"10.0.0.{k}, 203.0.113.9:{k}") for k in range(7)]  # it says another address each time
    assert [phone.send(room.code).status_code for phone in flood[:2]] == [200] * 2
    codes = [phone.asked(f"2222222{k}").status_code for k, phone in enumerate(flood[2:])]
    assert codes == [404] * 3 + [429] * 2
    assert not entrance._n_waiting  # of codes that nobody has, nothing is kept
    right, wrong = flood[0].asked(room.code), flood[0].asked("33333333")
    assert (right.status_code, right.text) == (wrong.status_code, wrong.text)
    results = f"/r/{room.code}/results.html"
    for more in ({}, {"cookie": cookie_of(room.code, "forged")}):
        assert flood[0].get(results, **more).status_code == flood[0].send(room.code).status_code == 429
    assert "Try again soon." in flood[0].get(results).text
    assert "tries again" in flood[0].send(room.code).text  # the phone's script asks again
    for other in (Phones(HERE, "203.0.113.10"), Phones("198.51.100.1", SEEN)):
        assert other.asked(room.code).status_code == 200


def test_one_address_brings_a_whole_class_at_once_and_then_new_phones_only_slowly(rooms, room, monkeypatch):
    now = [0.0]
    assert entrance._newcomers.left("a network") == 200
    monkeypatch.setattr(entrance, "_newcomers", Pace(200, 0.5, lambda: now[0]))
    crowd, first = Phones(), secrets.token_hex(16)
    assert crowd.send(room.code, client=first).status_code == 200
    assert [crowd.send(room.code).status_code for _ in range(202)] == [200] * 199 + [429] * 3
    assert crowd.send(room.code, client=first).status_code == 200  # a phone of the class goes on
    assert Phones("10.0.0.2").send(room.code).status_code == 200
    assert crowd.send(rooms.open().code).status_code == 409  # no question there: nothing is counted
    now[0] += 60
    assert [crowd.send(room.code).status_code for _ in range(31)] == [200] * 30 + [429]


def test_a_phone_waits_for_a_newer_state_or_until_the_room_is_closed(phones, rooms, room, monkeypatch):
    monkeypatch.setattr(entrance, "LONGEST_WAIT", 0.05)
    version = phones.asked(room.code).json()["version"]
    assert phones.asked(room.code, since=version).status_code == 204
    rooms.reveal(room)
    assert phones.asked(room.code, since=version).status_code == 200
    for nonsense in ("x", "-1", "9" * 50, "½"):
        assert phones.asked(room.code, since=nonsense).status_code == 200
    rooms.close(room)
    for most, why in ((1, "no such room"), (0, "Too many phones")):
        monkeypatch.setattr(entrance, "MOST_WAITING", most)
        forget_loops()
        with pytest.raises(RoomError, match=why):
            anyio.run(news, room.code, 0)


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


# --- the lecturer's page


@pytest.fixture
def browser_of(monkeypatch):
    """Give a function that lets the browser have kept the key of a room."""
    kept = {}
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _context: kept))
    return lambda key: kept.update({cookie_name(key.code): key.secret})


def presented(**link):
    """Return the first page of a lesson before a class."""
    return open_page("auc", present="1", **{"view.speed": "instant"}, **link)


def opened(lesson="unlabeled"):
    """Return a page whose lecturer has asked the class, and the code of its room."""
    app = press(presented(lesson=lesson), "room-open")
    return app, room_of(app).code


def room_of(app):
    return bench_of(app).group.room


def press(app, key):
    return checked(app.button(key=key).click().run())


def drawn(app, name="room-bars"):
    """Return the HTML of the room's panel that has an element of that class."""
    texts = [html.proto.body for html in app.get("html")]
    mounts = [mount.proto for mount in app.get("bidi_component") if "room-drawing" in mount.proto.id]
    texts += [json.loads(mount.json)["html"] for mount in mounts]
    return [text for text in texts if f'class="{name}"' in text]


def moves(app):
    """Return the names of the room's buttons."""
    return [button.key for button in app.button if button.key.startswith("room-")]


def test_after_the_run_the_answers_give_their_place_to_its_curve_and_come_back(phones, rooms):
    app, code = opened()
    bench = bench_of(app)
    phones.send(code, "0")
    press(app, "lesson-run")
    for _ in range(100):
        if bench.lesson.place.outcome is not None:
            break
        app.run()
    press(app, "room-reveal")
    press(app, "room-hide")
    assert drawn(app) == []
    assert "A ✓: 1, B: 0, C: 0" in phones.asked(code).json()["drawing"]
    press(app, "room-show")
    assert "A ✓: 1, B: 0, C: 0" in drawn(app)[0]


def test_the_lesson_or_its_link_brings_the_lecturers_browser_back_to_the_room(phones, rooms, room, browser_of):
    for _ in range(3):
        phones.send(room.code)
    rooms.reveal(room)
    browser_of(room)
    app = presented(lesson="unlabeled", room=room.code)
    assert "B: 3" in drawn(app)[0]
    assert not app.warning
    assert room_of(presented(lesson="unlabeled:2")).code == room.code
    assert room_of(presented(lesson="random-features")) is None
    rooms.close(room)
    assert room_of(presented(lesson="unlabeled")) is None


@pytest.mark.parametrize("asked", [MAP, replace(PICK, kind="own-0123abcd", own="Who knows?\nI do\nI do not")])
def test_a_reload_keeps_the_question_that_was_asked_in_place_of_the_steps(phones, rooms, room, browser_of, asked):
    rooms.ask(room, asked, {"points": [[0.5, 0.5]]})
    phones.send(room.code, "1" if asked.own else GUESSES[MAP], name=asked.name)
    browser_of(room)
    app = presented(lesson="unlabeled", room=room.code).run()
    assert (phones.asked(room.code).json()["name"], rooms.look(room).is_open) == (asked.name, True)
    assert "1 answered" in drawn(app, "room-count")[0]


def test_a_reload_in_a_question_of_a_lecture_leads_on_in_the_lecture(rooms, room, browser_of):
    text = "Who knows? | I do | I do not"
    rooms.ask(room, replace(PICK, kind="own-0123abcd", own=text))
    browser_of(room)
    app = presented(lesson="unlabeled", room=room.code, lecture=f"auc/unlabeled\n{text}\ns3vm/gap").run()
    assert app.button(key="lesson-following").label == "Next lesson"


def test_a_second_tab_changes_nothing_until_it_takes_over_or_the_first_has_closed(
    phones, rooms, browser_of, monkeypatch
):
    monkeypatch.setattr(Session, "is_connected", True)
    first, code = opened()
    browser_of(room_of(first))
    phones.send(code)
    before = phones.asked(code).json()
    second = presented(lesson="five-labels:2", room=code).run()
    assert phones.asked(code).json() == before  # no other question, and the vote is still open
    assert moves(second) == ["room-lead"]
    first.run()
    assert "1 answered" in drawn(first, "room-count")[0]
    press(press(second, "room-lead"), "room-open")
    now = phones.asked(code).json()
    press(first, "room-reveal")  # drawn before another tab led the room
    assert phones.asked(code).json() == now
    assert now["name"] == "auc/five-labels/1/labels"
    first.run().run()
    assert moves(first) == ["room-lead"]
    press(first, "lesson-run")
    assert phones.asked(code).json() == now
    monkeypatch.setattr(Session, "is_connected", False)
    third = presented(lesson="unlabeled:2", room=code).run()
    assert phones.asked(code).json()["name"] == "auc/unlabeled/1"
    assert "room-lead" not in moves(third)


def test_another_browser_with_the_lecturers_link_has_no_room(phones, rooms, room, browser_of):
    phones.send(room.code)
    for link in (room.code, f"{room.code}.{room.secret}", f"{room.code}.guessed", ".", "<b>"):
        app = presented(lesson="unlabeled", room=link)
        warned = [shown(warning.value) for warning in app.warning]
        assert drawn(app, "room-count") == []
        assert any("one that this browser has opened" in warning for warning in warned) == (link != ".")
        assert "." not in left_in_browser(app).get("room", "")
    browser_of(Key(room.code, "guessed"))
    app = presented(lesson="unlabeled", room=room.code)
    assert any("another lecturer's" in shown(warning.value) for warning in app.warning)
    assert guesses_in(rooms, room) == [[1]]


def test_the_cookie_with_the_key_is_for_one_ticket_and_no_script(phones, room):
    phones.app, ticket = TickDoor(phones.app), Ticket(room)
    name = ticket.token.encode()
    reply = phones.post("/tick", name)
    cookie = reply.headers["set-cookie"]
    assert (reply.status_code, reply.text) == (200, "")
    assert cookie.startswith(f"dsglab_room_{room.code}={room.secret};")
    assert {"HttpOnly", "SameSite=strict", "Max-Age=86400"} <= set(cookie.split("; "))
    # Without a path it holds for the folder of its address as the browser knows it: below any prefix, and no further.
    assert "path" not in cookie.lower()

    def assert_refused(body, status=200):
        refused = phones.post("/tick", body)
        assert refused.status_code == status
        assert room.secret not in f"{refused.text} {refused.headers}"
        assert "set-cookie" not in refused.headers

    assert_refused(b"x" * 1000, 400)
    for body in (b"", b"x" * 32, b"\xff", name[:-1], room.code.encode()):
        assert_refused(body)  # while the ticket lives: it alone gives the key
    del ticket  # its session has ended
    assert_refused(name)


def offered(app):
    """Return all contents of a page: every message of its script as it goes to the browser, its link, and its downloads."""
    run, waiting = bench_of(app).live.run, [app.main, app.sidebar]
    found = [str(dict(app.query_params)), str(app.session_state["_page_link"])]
    found += [script(run), run.spec.to_json()]
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
    assert bench.group.ticket.token in str(offered(app))  # what is searched holds what the page tells the browser
    secret, found = bench.group.room.secret, offered(app)
    found += [phones.asked(code).text, phones.get(f"/r/{code}").text]
    found.append(phones.get("/notes", of="unlabeled", room=code).text)
    assert "<p>Ranking (QSG-S2AUC)</p>" in found[-1]
    app.query_params["present"] = ""
    app.session_state["tab"] = "Code"  # the whole page, with its code
    bench.drawing.opened |= set(TAB.options)
    bench.lesson.place = None
    app.run().run()
    blocks = [block.value for block in app.code]
    assert [block for block in blocks if block.startswith("<iframe")]
    found += [*offered(app), *blocks, caplog.text, repr(bench.group.room), repr(bench)]
    assert [text for text in found if secret in text] == []
    assert [block for block in blocks if code in block.replace(" ", "")] == []
