"""Answers to a class's phones: limited before reading, live, of the right room, and hidden until the reveal."""

from __future__ import annotations

import secrets
from dataclasses import replace

import anyio
import pytest

pytest.importorskip("streamlit")
from cases import each
from room_phones import PICK, Phones

from dsgcore.rooms.questions import LABELS, result_of
from dsgcore.rooms.rooms import Asked, NoRoomError, RoomError, State
from pages.room import entrance, waiting
from pages.room.entrance import LONGEST_ANSWER
from pages.room.pace import CodeGuard, Pace
from pages.room.waiting import Watches
from pages.shell.room_key import cookie_name


def test_a_phone_is_asked_what_the_room_is_asked_and_nothing_of_others(phones, room):
    phones.send(room.code)
    asked = phones.asked(room.code).json()
    assert asked["isOpen"]
    assert asked["name"] == PICK.name
    assert asked["question"]["options"][0] == "higher: unlabeled points help"
    assert set(asked) == {"version", "entry", "isOpen", "name", "round", "question", "picture", "isRevealed"}
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
    rooms.tell(room, result_of(PICK, {"verdict": 1.0}))
    hidden = phones.asked(room.code)
    assert not {"tallies", "result"} & set(hidden.json())
    assert "points" not in hidden.json()["picture"]
    rooms.reveal(room)
    said = phones.asked(room.code).json()
    assert said["tallies"] == [{"n": 3, "counts": [2, 0, 1]}]
    assert said["result"]["right"] == 0
    assert not said["isOpen"]


def test_an_answer_is_said_to_be_kept_and_counted_once(phones, rooms, room):
    one = secrets.token_hex(16)
    assert [phones.send(room.code, client=one).json() for _ in range(3)] == [{"guess": "1"}] * 3
    assert rooms.rounds(room, PICK) == [[1]]


BODIES = [
    b"",
    b"{",
    b"[]",
    b"7",
    b"null",
    b"[" * 390,
    b'{"code": 1}',
    b"\xff\xfe",
    b'{"code": "A", "entry": [], "client": [], "name": {}, "round": 1e999, "guess": 1, "age": 0}',
    b'{"code": "A", "entry": "", "client": "c", "name": "n", "round": 1, "guess": "1", "age": "x"}',
]


@each("body", BODIES)
def test_what_is_no_answer_gets_a_sentence(phones, rooms, room, body):
    reply = phones.post("/r/room/answer", body)
    assert reply.status_code in (404, 409)
    assert reply.json() == {"why": reply.json()["why"]}
    assert rooms.rounds(room, PICK) == [[]]


@each("field, value", [("round", 10**40), ("client", 7), ("guess", ["1"]), ("name", "x" * 60), ("code", [])])
def test_a_field_of_another_kind_is_refused(phones, rooms, room, field, value):
    assert phones.send(**({"code": room.code} | {field: value})).status_code in (404, 409)
    assert rooms.rounds(room, PICK) == [[]]


def test_an_answer_from_no_time_counts_as_one_from_now(phones, rooms, room):
    assert phones.send(room.code, age=float("nan")).status_code == 200
    rooms.end(room)
    assert phones.send(room.code, age=float("nan")).status_code == 409


def test_markup_is_neither_kept_nor_said_back(phones, rooms, room):
    reply = phones.send(room.code, guess="<img src=x onerror=alert(1)>")
    assert "img" not in reply.text
    assert rooms.rounds(room, PICK) == [[]]
    for path in ("/r/", f"/r/{room.code}", "/r/<script>alert(1)<", f"/r/{room.code}/notes"):
        page = phones.get(path)
        assert page.status_code == 200
        assert "alert" not in page.text
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy


def test_the_phones_page_is_the_same_for_a_code_with_and_without_a_room(phones, room):
    assert phones.get(f"/r/{room.code}").text == phones.get("/r/222222").text


def test_a_short_address_and_a_slash_too_many_lead_to_the_page_below_any_prefix(phones):
    assert phones.get("/r").headers["location"] == "r/"
    assert phones.get("/r/ABCDEF/").headers["location"] == "../ABCDEF"


def test_a_megabyte_is_refused_before_it_is_read(phones, monkeypatch):
    def read(_request):
        raise AssertionError("read")

    monkeypatch.setattr("starlette.requests.Request.body", read)
    for body, length in ((b"x" * (LONGEST_ANSWER + 1), None), (b"x" * 1_000_000, None), (b"x", ""), (b"x", "-1")):
        assert phones.post("/r/room/answer", body, length).status_code == 413


def test_who_asks_a_thousand_times_a_second_is_put_off_and_others_are_not():
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
    results = f"/r/{room.code}/results.csv"
    assert phones.get(results, cookie=f"{cookie_name(room.code)}=forged").status_code == 429
    assert phones.get(results).status_code == 403  # no key: nothing is looked up at any pace


def guarded(monkeypatch, of_one=3, of_all=1000):
    monkeypatch.setattr(entrance, "_codes", CodeGuard(Pace(of_one, 0), Pace(of_all, 0)))


def test_codes_cannot_be_guessed_and_who_guesses_learns_nothing_even_of_the_right_one(phones, room, monkeypatch):
    guarded(monkeypatch)
    assert [phones.asked(f"22222{k}").status_code for k in range(5)] == [404] * 3 + [429] * 2
    right, wrong = phones.asked(room.code), phones.asked("333333")
    assert (right.status_code, right.text) == (wrong.status_code, wrong.text)
    assert phones.send(room.code).status_code == 429
    assert phones.send("333333", entry="guess").status_code == 429


def test_who_has_entered_goes_on_while_somebody_in_the_same_network_guesses(phones, rooms, room, monkeypatch):
    guarded(monkeypatch)
    entry = phones.asked(room.code).json()["entry"]
    for k in range(5):
        phones.asked(f"22222{k}")
    assert phones.asked(room.code).status_code == 429
    assert phones.asked(room.code, entry=entry).status_code == 200
    assert phones.send(room.code, entry=entry).status_code == 200
    assert Phones("10.0.0.2").asked(room.code).status_code == 200
    assert phones.asked(rooms.open().code, entry=entry).status_code == 429


def test_who_is_refused_and_says_to_have_entered_costs_few_looks_into_the_store(phones, rooms, room, monkeypatch):
    guarded(monkeypatch, of_one=0)
    monkeypatch.setattr(entrance, "_returns", Pace(2, 0))
    looks, look = [], rooms.state
    monkeypatch.setattr(rooms, "state", lambda code: looks.append(code) or look(code))
    assert [phones.asked(room.code, entry="guess").status_code for _ in range(5)] == [429] * 5
    assert looks == [room.code] * 2


def test_many_addresses_together_cannot_guess_codes_either(rooms, room, monkeypatch):
    guarded(monkeypatch, of_all=10)
    found = [Phones(f"10.0.1.{k}").asked("222222").status_code for k in range(15)]
    assert found == [404] * 10 + [429] * 5


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
    monkeypatch.setattr(waiting, "LONGEST_WAIT", 0.05)
    version = phones.asked(room.code).json()["version"]
    assert phones.asked(room.code, since=version).status_code == 204
    rooms.reveal(room)
    assert phones.asked(room.code, since=version).status_code == 200
    for nonsense in ("x", "-1", "9" * 50, "½"):
        assert phones.asked(room.code, since=nonsense).status_code == 200


class Store:
    """A room whose state a test changes."""

    def __init__(self):
        self.state, self.n_looks = State(1, "entry"), 0

    def look(self, _code):
        self.n_looks += 1
        if isinstance(self.state, Exception):
            raise self.state
        return self.state


def test_a_change_reaches_all_who_wait_by_one_look_into_the_store(monkeypatch):
    monkeypatch.setattr(waiting, "SECONDS_BETWEEN_LOOKS", 0.001)
    store = Store()

    async def news():
        watches, found = Watches(store.look, anyio.CapacityLimiter(1)), []

        async def wait():
            found.append(await watches.news("A", 1))

        async with anyio.create_task_group() as group:
            for _ in range(200):
                group.start_soon(wait)
            while store.n_looks < 3:
                await anyio.sleep(0)
            before = store.n_looks
            store.state = State(2, "entry")
        return found, store.n_looks - before

    found, looks = anyio.run(news)
    assert [state.version for state in found] == [2] * 200
    assert looks < 50


@each("error, raised", [(NoRoomError(), NoRoomError), (RoomError("full"), RoomError)])
def test_a_room_that_is_closed_ends_the_wait(error, raised, monkeypatch):
    monkeypatch.setattr(waiting, "SECONDS_BETWEEN_LOOKS", 0.001)
    monkeypatch.setattr(waiting, "MOST_WAITING", 1 if raised is NoRoomError else 0)
    store = Store()
    store.state = error
    with pytest.raises(raised):
        anyio.run(Watches(store.look, anyio.CapacityLimiter(1)).news, "A", 1)
