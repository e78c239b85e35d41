"""A class's phones and the lecturer's page: answers are limited, hidden until the reveal, and counted for who gave them."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import replace
from html import escape
from itertools import starmap
from urllib.parse import unquote

import anyio
import pytest
import uvicorn
from cases import each
from opened_pages import bench_of, checked, left_in_browser, open_page, shown
from room_phones import CURVE, GUESSES, MAP, NUMBER, PICK, Phones, forget_loops, guesses_in
from starlette.requests import Request
from streamlit.runtime.context import ContextProxy

from dsgcore.experiments import script
from dsgcore.rooms.questions import question_in
from dsgcore.rooms.rooms import Key, RoomError
from pages.controls.view import TAB
from pages.room import entrance
from pages.room.drawings import answers
from pages.room.entrance import LONGEST_ANSWER, Pace, news
from pages.shell.addresses import PROXIES, caller_of
from pages.shell.room_key import Ticket, cookie_name
from pages.shell.sharing import Session
from pages.shell.ticks import TickDoor

HERE, SEEN, SIX = "127.0.0.1", "203.0.113.9", "2001:db8:1:2::/64"  # addresses of callers


def cookie_of(code, secret):
    return f"{cookie_name(code)}={secret}"


# --- phones


def test_a_phone_is_asked_what_the_room_is_asked_with_what_it_draws_and_nothing_of_others(phones, rooms, room):
    phones.send(room.code)
    asked = phones.asked(room.code).json()
    assert (asked["isOpen"], asked["name"]) == (True, PICK.name)
    assert asked["question"]["options"][0] == "higher: unlabeled points help"
    assert set(asked) == {"version", "isOpen", "name", "round", "question", "picture", "isRevealed"}
    unknown = phones.asked("222222")
    assert (unknown.status_code, "no such room" in unknown.json()["why"]) == (404, True)
    for asks, kind, picture in ((NUMBER, "number", {}), (CURVE, "curve", {}), (MAP, "map", {"points": [[0.1, 0.2]]})):
        rooms.ask(room, asks, picture or None)
        said = phones.asked(room.code).json()
        assert (said["question"]["kind"], said["picture"]) == (kind, picture)
        assert kind == "map" or said["question"]["low"] < said["question"]["high"]


BODIES = [
    *(b"", b"{", b"[]", b"7", b"null", b"[" * 390, b'{"code": 1}', b"\xff\xfe"),
    b'{"code": "A", "client": [], "name": {}, "round": 1e999, "guess": 1, "age": 0}',
    b'{"code": "A", "client": "c", "name": "n", "round": 1, "guess": "1", "age": "x"}',
    *({"round": 10**40}, {"client": 7}, {"guess": ["1"]}, {"name": "x" * 60}, {"code": []}),  # parts of a good answer
    {"guess": "<img src=x onerror=alert(1)>"},
]


@each("body", BODIES)
def test_what_is_no_answer_gets_a_sentence_without_its_markup_and_is_not_kept(phones, rooms, room, body):
    is_part = isinstance(body, dict)
    reply = phones.send(**({"code": room.code} | body)) if is_part else phones.post("/r/room/answer", body)
    assert reply.status_code in (404, 409)
    assert reply.json() == {"why": reply.json()["why"]}
    assert "img" not in reply.text
    assert guesses_in(rooms, room) == [[]]


@each("path", ["/r/", "/r/ABCDEF", "/r/<script>alert(1)<", "/notes"])
def test_a_page_runs_its_own_script_shows_no_markup_of_its_address_and_is_reached_below_any_prefix(phones, path):
    page = phones.get(path, of="auc/unlabeled\n<script>alert(1)</script>? | a | b")
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
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


def test_notes_and_results_of_all_questions_are_for_the_lecturers_browser_alone(phones, rooms, room):
    phones.send(room.code, "0")
    rooms.again(room)
    phones.send(room.code, "1", round=2)
    rooms.tell(room, {"verdict": 1.0})
    rooms.ask(room, CURVE)
    phones.send(room.code, GUESSES[CURVE], name=CURVE.name)
    rooms.ask(room, replace(PICK, kind="own-1", own="Who <i>knows</i>? | I do | I do not"))
    notes, results = (f"/r/{room.code}/{page}" for page in ("notes/now", "results.html"))
    for cookie in ("", *starmap(cookie_of, ((room.code, ""), (room.code, "guessed"), ("222222", room.secret)))):
        refused = phones.get(notes, cookie=cookie)
        assert (refused.status_code, set(refused.json())) == (403, {"why"})
        page = phones.get(results, cookie=cookie)  # which a person reads
        assert page.status_code == 403
        assert f"<h1>{escape(refused.json()['why'])}</h1>" in page.text
    assert phones.get(notes, cookie=cookie_of(room.code, room.secret)).status_code == 200
    page = phones.get(results, cookie=cookie_of(room.code, room.secret)).text
    assert f"<h1>Results of room {room.code[:4]} {room.code[4:]}</h1>" in page
    assert page.count("<section>") == 3
    assert "<h2>3. Who &lt;i&gt;knows&lt;/i&gt;?</h2><p>Your own question. 0 answers.</p>" in page
    assert "first vote: A ✓: 1, B: 0, C: 0; second vote: A ✓: 0, B: 1, C: 0" in page
    assert 'class="band"' in page
    table = unquote(re.search(r'href="data:text/csv;charset=utf-8,([^"]*)" download="room-(.*?)\.csv"', page)[1])
    assert len(table.splitlines()) == 4


def test_bars_count_answers_a_band_holds_eight_of_ten_curves_or_all_of_few_and_a_map_counts_its_places():
    assert "A: 2, B: 0, C: 1" in answers(PICK.question, [[0, 0, 2]], {}, {})
    made = answers(NUMBER.question, [[0.05, 0.41, 0.42]], {"value": 0.05}, {})
    counts = [int(n) for n in re.findall(r"<span>(\d+)</span>", made)]
    assert (counts[4], sum(counts), made.count("✓</b>")) == (2, 3, 1)
    for ends, guess, counted in (
        ("0 to 100", 95.0, "90 to 100: 1"),
        ("1952 to 2024", 1974.0, "1966.4 to 1973.6: 0, 1973.6 to 1980.8: 1"),
        ("0 to 1999999", 1999999.0, "1800000 to 2000000: 1"),
    ):
        assert counted in answers(question_in(f"How many? | {ends}"), [[guess]], {}, {})
    low, high = CURVE.question.low, CURVE.question.high
    for n, said, ends in ((5, "all", (0.9, 0.5)), (11, "eight of ten", (0.86, 0.54))):
        made = answers(CURVE.question, [[[0.5 + 0.4 * k / (n - 1)] * 6 for k in range(n)]], {}, {})
        assert "median at the start: 0.70" in made
        ys = [float(point.split(",")[1]) for point in re.search(r'class="band" points="([^"]*)"', made)[1].split()]
        expected = [30 + (high - value) / (high - low) * 202 for value in ends]
        assert (ys[0], ys[-1]) == pytest.approx(expected, abs=0.06)
        assert f"Band: {said} curves" in made
    assert "band" not in answers(CURVE.question, [[]], {}, {})
    made = answers(MAP.question, [[[0.05, 0.95] + [0.55, 0.55] * 4]], {}, {})
    cells = re.findall(r'class="cell" x="([\d.]+)" y="([\d.]+)".*?opacity="([\d.]+)"', made)
    assert cells == [("10.0", "10.0", "0.20"), ("170.0", "138.0", "0.80")]


# --- who calls: trusted proxies are believed, strangers are not


def scope_of(peer, forwarded):
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "server": ("h", 80), "scheme": "http"}
    scope |= {"client": (peer, 4711) if peer else None, "asgi": {"version": "3.0"}}
    return scope | {"headers": [(b"x-forwarded-for", said.encode("latin-1")) for said in forwarded]}


def directly(peer, forwarded):
    """As a server gives the caller that does not read the header itself."""
    return caller_of(Request(scope_of(peer, forwarded)))


def through_uvicorn(peer, forwarded):
    """As uvicorn gives it, which reads the header first."""
    found = []

    async def app(scope, receive, send):
        found.append(caller_of(Request(scope)))

    config = uvicorn.Config(app, log_config=None, lifespan="off", interface="asgi3")
    config.load()
    anyio.run(config.loaded_app, scope_of(peer, forwarded), None, None)
    return found[0]


CALLERS = [  # the proxies that are named as trusted, who asks, what the header says, and who calls
    (None, SEEN, (), SEEN),
    # A stranger says what he likes.
    *((None, SEEN, (said,), SEEN) for said in ("10.0.0.1", "127.0.0.1", "127.0.0.1, 127.0.0.1")),
    (None, "2001:db8:1:2:3:4:5:6", ("10.0.0.1",), SIX),
    # Through a proxy, what he says stands before what the proxy has seen.
    *((None, HERE, (f"{said}, 203.0.113.9",), SEEN) for said in ("10.0.0.1", "127.0.0.1", "unknown, ")),
    (None, HERE, ("10.0.0.1", SEEN), SEEN),
    # Several proxies on this machine, at any of its addresses.
    *((None, HERE, (f"203.0.113.9, {more}",), SEEN) for more in ("127.0.0.1", "127.0.0.2, ::1")),
    *((None, peer, (SEEN,), SEEN) for peer in (HERE, "::1", "127.0.0.5", "::ffff:127.0.0.1")),
    # A proxy elsewhere is a stranger until it is named.
    (None, HERE, ("203.0.113.9, 10.0.0.5",), "10.0.0.5"),
    # Ports, and IPv6 in its spellings.
    *((None, HERE, (said,), SEEN) for said in ("203.0.113.9:5123", "::ffff:203.0.113.9", " \t203.0.113.9 ")),
    *((None, HERE, (said,), SIX) for said in ("[2001:db8:1:2::9]:5123", "[2001:db8:1:2::9]")),
    *((None, HERE, (said,), SIX) for said in ("2001:DB8:1:2:0:0:0:a", '"[2001:db8:1:2::9]:1"')),
    (None, "::ffff:203.0.113.9", ("10.0.0.1",), SEEN),
    # Nothing to go by.
    *((None, HERE, said, HERE) for said in ((), ("",), (" , ",))),
    *((None, HERE, (said,), said) for said in ("unknown", "[2001:db8")),
    (None, HERE, ("x" * 10_000,), "x" * 64),
    (None, "", (SEEN,), ""),
    # Proxies that are named: they are all that is trusted.
    ("10.0.0.0/8", "10.0.0.5", (SEEN,), SEEN),
    ("10.0.0.0/8", "10.0.0.5", ("127.0.0.1, 203.0.113.9, 10.9.9.9",), SEEN),
    ("10.0.0.5, 192.0.2.1", "192.0.2.1", ("203.0.113.9, 10.0.0.5:80",), SEEN),
    ("127.0.0.1,10.0.0.0/8", HERE, ("203.0.113.9, 10.0.0.5",), SEEN),
    ("2001:db8:1::/48", "2001:db8:1::5", (SEEN,), SEEN),
    *(("10.0.0.0/8", peer, (SEEN,), peer) for peer in (HERE, "11.0.0.1")),
    ("", HERE, (SEEN,), HERE),
    ("*", "198.51.100.1", ("203.0.113.9, 192.0.2.1",), SEEN),
]


@pytest.mark.parametrize("ask", [directly, through_uvicorn])
@each("named, peer, forwarded, found", CALLERS)
def test_a_caller_is_who_the_last_trusted_proxy_has_seen(ask, monkeypatch, named, peer, forwarded, found):
    monkeypatch.delenv(PROXIES, raising=False)
    if named is not None:
        monkeypatch.setenv(PROXIES, named)
    assert ask(peer, forwarded) == found
