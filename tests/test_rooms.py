"""Rooms: every answer counted once, none lost, no stranger in another's room, and nothing hostile kept."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from cases import each

from dsgcore.studies import Store
from dsgcore.studies.rooms import CODE_LENGTH, MOST_CLIENTS, SECONDS_OF_LIFE, SIGNS, Asked, Key, RoomError, Rooms

PICK = Asked("auc", "unlabeled", 0)
NUMBER = Asked("auc", "random-features", 0)
CURVE = Asked("s3vm", "batches", 1)


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def rooms(tmp_path, clock):
    return Rooms(Store(tmp_path / "runs.sqlite"), clock)


def client():
    return secrets.token_hex(16)


def asking(rooms, asked=PICK):
    key = rooms.open()
    rooms.ask(key, asked)
    return key


def test_forty_clients_at_once_are_counted_once_each_however_often_they_send(rooms):
    key, clients = asking(rooms), [client() for _ in range(40)]
    sent = [(c, str(k % 3)) for k, c in enumerate(clients)] * 3  # each again after a lost connection
    with ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda pair: rooms.answer(key.code, pair[0], 0, pair[1]), sent))
    guesses = rooms.guesses(key, PICK)
    assert len(guesses) == 40
    assert [guesses.count(option) for option in range(3)] == [14, 13, 13]


def test_a_later_answer_takes_the_place_of_the_one_before_and_a_reload_is_the_same_client(rooms):
    key, one = asking(rooms), client()
    rooms.answer(key.code, one, 0, "0")
    rooms.answer(key.code, one, 0, "2")
    assert rooms.guesses(key, PICK) == [2]


def test_another_process_sees_what_has_been_answered(rooms, tmp_path, clock):
    key = asking(rooms)
    rooms.answer(key.code, client(), 0, "1")
    assert Rooms(Store(tmp_path / "runs.sqlite"), clock).guesses(key, PICK) == [1]


@each("asked, guess, read", [(NUMBER, "0.25", 0.25), (CURVE, "0.5~0.6~0.7~0.8~0.9~1", 1.0)])
def test_numbers_and_curves_are_kept_as_they_are_read(rooms, asked, guess, read):
    key = asking(rooms, asked)
    rooms.answer(key.code, client(), asked.step, guess)
    (kept,) = rooms.guesses(key, asked)
    assert (kept if asked is NUMBER else kept[-1]) == read


HOSTILE = [
    "",
    "9",
    "-1",
    "0 ",
    "<script>alert(1)</script>",
    "nan",
    "0" * 1_000_000,
    "0'; DROP TABLE rooms; --",
    "½",
    "\x00",
]


@each("guess", HOSTILE)
@each("asked", [PICK, NUMBER, CURVE])
def test_what_is_no_answer_is_refused_and_nothing_of_it_kept(rooms, asked, guess):
    key = asking(rooms, asked)
    if asked is NUMBER and guess == "0 ":
        assert rooms.answer(key.code, client(), asked.step, guess) == "0"  # as a number is read
        return
    with pytest.raises(RoomError):
        rooms.answer(key.code, client(), asked.step, guess)
    assert rooms.guesses(key, asked) == []


@each("token", ["", "short", "x" * 10_000, None, 7])
def test_a_client_without_a_token_of_its_own_is_refused(rooms, token):
    key = asking(rooms)
    with pytest.raises(RoomError):
        rooms.answer(key.code, token, 0, "0")


def test_a_stranger_neither_reads_nor_changes_another_room(rooms):
    key, other = asking(rooms), asking(rooms)
    rooms.answer(key.code, client(), 0, "1")
    for stranger in (
        Key(key.code, other.secret),
        Key(key.code, ""),
        Key(f"{key.code}.{key.secret}", ""),
        Key("x" * 1000, "x"),
    ):
        with pytest.raises(RoomError):
            rooms.guesses(stranger, PICK)
        with pytest.raises(RoomError):
            rooms.ask(stranger, replace(PICK, is_open=False))
    assert rooms.guesses(other, PICK) == []
    assert rooms.guesses(Key(key.code, key.secret), PICK) == [1]


def test_codes_and_keys_cannot_be_guessed_and_the_key_is_not_in_the_store(rooms, tmp_path):
    keys = [rooms.open() for _ in range(50)]
    assert len({key.code for key in keys}) == len({key.secret for key in keys}) == 50
    assert all(len(key.code) == CODE_LENGTH and set(key.code) <= set(SIGNS) for key in keys)
    assert len(SIGNS) ** CODE_LENGTH > 1e12
    assert all(len(key.secret) >= 32 for key in keys)
    one = client()
    rooms.ask(keys[0], PICK)
    rooms.answer(keys[0].code, one, 0, "1")
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert keys[0].code.encode() in kept
    assert keys[0].secret.encode() not in kept
    assert one.encode() not in kept


def test_what_is_written_of_a_key_does_not_hold_its_secret(rooms):
    key = rooms.open()
    for text in (str(key), repr(key), f"{key}", repr([key]), repr({"room": key})):
        assert key.code in text
        assert key.secret not in text


def test_answers_are_taken_to_what_is_asked_now_and_while_it_is_open(rooms):
    key = asking(rooms)
    with pytest.raises(RoomError, match="current question"):
        rooms.answer(key.code, client(), 1, "0")
    rooms.ask(key, replace(PICK, is_open=False))
    with pytest.raises(RoomError, match="current question"):
        rooms.answer(key.code, client(), 0, "0")
    rooms.ask(key, replace(PICK, step=1))
    rooms.answer(key.code, client(), 1, "0")
    assert rooms.guesses(key, PICK) == []


def test_a_room_has_a_hundred_clients_and_no_more(rooms):
    key, first = asking(rooms), client()
    rooms.answer(key.code, first, 0, "0")
    for _ in range(MOST_CLIENTS - 1):
        rooms.answer(key.code, client(), 0, "0")
    with pytest.raises(RoomError, match="full"):
        rooms.answer(key.code, client(), 0, "0")
    rooms.answer(key.code, first, 0, "2")
    assert len(rooms.guesses(key, PICK)) == MOST_CLIENTS


def test_a_room_is_forgotten_after_a_day_with_its_answers(rooms, clock, tmp_path):
    key = asking(rooms)
    rooms.answer(key.code, client(), 0, "0")
    clock.now += SECONDS_OF_LIFE
    for use in (lambda: rooms.asked(key.code), lambda: rooms.guesses(key, PICK), lambda: rooms.ask(key, PICK)):
        with pytest.raises(RoomError):
            use()
    rooms.open()
    with Store(tmp_path / "runs.sqlite").opened() as connection:
        assert connection.execute("SELECT count(*) FROM guesses").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM rooms").fetchone() == (1,)


def test_there_are_not_more_rooms_than_there_may_be(rooms, monkeypatch):
    monkeypatch.setattr("dsgcore.studies.rooms.MOST_ROOMS", 3)
    for _ in range(3):
        rooms.open()
    with pytest.raises(RoomError, match="3 rooms"):
        rooms.open()


def test_a_room_that_is_not_there_says_so(rooms):
    with pytest.raises(RoomError, match="look at the code"):
        rooms.asked("23456789")
    key = rooms.open()
    assert rooms.asked(key.code).question is None
    with pytest.raises(RoomError):
        rooms.answer(key.code, client(), -1, "0")
