"""Rooms: every answer counted once, none lost, no stranger in another's room, and nothing hostile kept."""

import json
import math
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest
from cases import each
from clocks import Clock
from room_phones import GUESSES, NUMBER, PICK, guesses_in
from small_specs import OWN_LESSON

from dsgcore import lessons
from dsgcore.rooms import rooms as module
from dsgcore.rooms.questions import Places, choice_of
from dsgcore.rooms.rooms import CODE_LENGTH, LATE, SECONDS_OF_LIFE, SIGNS, Key, RoomError, Rooms
from dsgcore.studies import Store


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


def say(rooms, key, guess="0", who=None, asked=PICK, number=1, age=0.0):
    return rooms.answer(key.code, client() if who is None else who, asked.name, number, guess, age)


def test_two_hundred_clients_at_once_are_counted_once_each_and_another_process_sees_their_last_answers(rooms, tmp_path):
    key, clients = asking(rooms), [client() for _ in range(200)]
    sent = [(c, str(k % 3)) for k, c in enumerate(clients)] * 2  # each again after a lost connection
    with ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda pair: say(rooms, key, pair[1], pair[0]), sent))
    say(rooms, key, "2", clients[0])  # instead of 0
    (guesses,) = guesses_in(rooms, key)
    assert len(guesses) == rooms.look(key).count == 200
    assert [guesses.count(option) for option in range(3)] == [66, 67, 67]
    other = Rooms(Store(tmp_path / "runs.sqlite"), rooms._now)
    assert guesses_in(other, key) == [guesses]
    assert vars(other.state(key.code)) == vars(rooms.state(key.code))


HOSTILE = ["", "9", "-1", "<script>alert(1)</script>", "nan", "0" * 1_000_000, "0'; DROP TABLE rooms; --", "½", "\x00"]
REFUSED = [  # parts of an answer: of another client, question, round, or guess
    *(("client", token) for token in ("", "short", "x" * 10_000, None, 7)),
    *(("name", name) for name in ("", "auc/unlabeled/1", "auc/unlabeled/x", "a/b", "/" * 60, "auc/unlabeled/0/labels")),
    *(("number", number) for number in (0, -1, 2, 10**30)),
    *(("guess", guess) for guess in HOSTILE),
]


@each("asked", GUESSES)
@each("part, value", REFUSED)
def test_what_is_no_answer_is_refused_and_nothing_of_it_kept(rooms, asked, part, value):
    if (part, value) == ("name", asked.name):
        return
    key = asking(rooms, asked)
    answer = {"client": client(), "name": asked.name, "number": 1, "guess": GUESSES[asked]} | {part: value}
    with pytest.raises(RoomError, match="current question" if part == "name" else None):
        rooms.answer(key.code, *answer.values())
    assert guesses_in(rooms, key, asked) == [[]]


def test_what_is_no_answer_any_more_after_a_lesson_was_changed_is_left_out(rooms, tmp_path, monkeypatch):
    monkeypatch.setenv(lessons.FOLDER, str(tmp_path))
    monkeypatch.setattr(lessons, "SECONDS_BETWEEN_LOOKS", 1e-9)
    file, mine = tmp_path / "mine.toml", replace(PICK, lesson="mine")
    file.write_text(OWN_LESSON.replace("pick.options = [", 'pick.options = [\n    { words = "many", claims = [] },'))
    key = asking(rooms, mine)
    for guess in "012":
        say(rooms, key, guess, asked=mine)
    file.write_text(OWN_LESSON)
    assert guesses_in(rooms, key, mine) == [[0, 1]]


def test_a_stranger_neither_reads_nor_changes_another_room(rooms):
    key, other = asking(rooms), asking(rooms)
    say(rooms, key, "1")
    before = vars(rooms.state(key.code))
    uses = (rooms.look, rooms.questions, rooms.again, rooms.end, rooms.reveal, rooms.close, rooms.shut)
    given = [(use,) for use in uses] + [(rooms.ask, None), (rooms.tell, {}), (rooms.shut, False)]
    for code, secret in ((key.code, other.secret), (key.code, ""), (f"{key.code}.{key.secret}", ""), ("x" * 1000, "x")):
        for use, *more in given:
            with pytest.raises(RoomError, match="another lecturer's"):
                use(Key(code, secret), *more)
    assert guesses_in(rooms, other) == [[]]
    assert guesses_in(rooms, key) == [[1]]
    assert vars(rooms.state(key.code)) == before


def test_codes_are_without_look_alikes_and_keys_cannot_be_guessed_and_are_not_in_the_store(rooms, tmp_path):
    keys = [rooms.open() for _ in range(50)]
    assert len({key.code for key in keys}) == len({key.secret for key in keys}) == 50
    assert all(len(key.code) == CODE_LENGTH == 8 and set(key.code) <= set(SIGNS) - set("01IO") for key in keys)
    assert len(SIGNS) ** CODE_LENGTH > 1e12
    assert all(len(key.secret) >= 32 for key in keys)
    one = client()
    rooms.ask(keys[0], PICK)
    say(rooms, keys[0], "1", one)
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert keys[0].code.encode() in kept
    assert keys[0].secret.encode() not in kept
    assert one.encode() not in kept


def test_a_timer_closes_a_round_and_an_answer_given_in_time_arrives_after_a_minute_without_a_network(rooms, clock):
    key = asking(rooms)
    rooms.end(key, 30.0)
    clock.now += 20
    assert (rooms.state(key.code).is_open, rooms.state(key.code).left) == (True, pytest.approx(10))
    clock.now += 70
    assert not rooms.state(key.code).is_open
    say(rooms, key, "1", age=61.0)
    for age in (59.0, 0.0, -5.0, math.nan, math.inf, LATE + 1):
        with pytest.raises(RoomError, match="over"):
            say(rooms, key, "1", age=age)
    rooms.ask(key, NUMBER)
    say(rooms, key, "1", age=61.0)  # also after the next question
    assert guesses_in(rooms, key) == [[1, 1]]


@each(
    "ends", [Rooms.reveal, Rooms.again, partial(Rooms.tell, outcome={"verdict": 1.0}), partial(Rooms.ask, asked=None)]
)
def test_who_has_answered_before_the_lecturer_went_on_is_counted_a_minute_later_and_nobody_else(rooms, clock, ends):
    key = asking(rooms)
    ends(rooms, key)
    clock.now += 60
    say(rooms, key, "1", age=61.0)
    with pytest.raises(RoomError, match="over"):
        say(rooms, key, "1", age=59.0)
    rooms.ask(key, PICK)
    assert guesses_in(rooms, key)[0] == [1]


def test_a_question_goes_on_if_the_lecturer_comes_back_to_it_before_the_reveal(rooms):
    key = asking(rooms)
    rooms.ask(key, NUMBER)
    with pytest.raises(RoomError, match="over"):
        say(rooms, key)
    rooms.ask(key, PICK)
    say(rooms, key)
    rooms.reveal(key)
    rooms.ask(key, NUMBER)
    rooms.ask(key, PICK)
    state = rooms.state(key.code)
    assert (state.is_open, state.is_revealed) == (False, True)
    rooms.ask(key, NUMBER)
    rooms.tell(key, {"score": 0.5})
    rooms.ask(key, PICK)
    rooms.ask(key, NUMBER)
    assert not rooms.state(key.code).is_open  # the class has seen what the run says


def test_a_place_counts_as_often_as_it_was_chosen():
    (middle,) = choice_of(Places(number=1), [(0.0, 0.0), (0.0, 0.0), (0.0, 0.9)])
    assert middle == pytest.approx([0.0, 0.3])


def test_a_server_has_a_limited_number_of_rooms_and_a_room_one_of_clients(rooms, monkeypatch):
    assert module.MOST_CLIENTS >= 200
    monkeypatch.setattr(module, "MOST_CLIENTS", 3)
    monkeypatch.setattr(module, "MOST_ROOMS", 3)
    key, first = asking(rooms), client()
    for who in (first, client(), client()):
        say(rooms, key, "0", who)
    with pytest.raises(RoomError, match="full"):
        say(rooms, key)
    say(rooms, key, "2", first)
    assert rooms.look(key).count == 3
    for _ in range(2):
        rooms.open()
    with pytest.raises(RoomError, match="3 rooms"):
        rooms.open()


def test_a_shut_room_takes_answers_of_those_who_have_answered_before_and_of_nobody_else(rooms):
    key, other, first = asking(rooms), asking(rooms), client()
    say(rooms, key, "0", first)
    rooms.shut(key)
    with pytest.raises(RoomError, match="no new phones"):
        say(rooms, key)
    say(rooms, key, "2", first)
    rooms.ask(key, NUMBER)
    say(rooms, key, "0.25", first, NUMBER)
    say(rooms, other)  # another room is open
    assert [rooms.state(one.code).is_shut for one in (key, other)] == [True, False]
    rooms.shut(key, False)
    say(rooms, key, "0.5", asked=NUMBER)
    assert guesses_in(rooms, key) == [[2]]
    assert guesses_in(rooms, key, NUMBER) == [[0.25, 0.5]]


def test_a_closed_room_and_one_of_the_day_before_leave_nothing(rooms, clock, tmp_path):
    def kept():
        with Store(tmp_path / "runs.sqlite").opened() as connection:
            return [json.loads(room) for (room,) in connection.execute("SELECT room FROM rooms")]

    closed, old = asking(rooms), asking(rooms)
    for key in (closed, old):
        say(rooms, key)
        rooms.shut(key)
    rooms.close(closed)
    with pytest.raises(RoomError, match="no such room"):
        rooms.state(closed.code)
    assert len(kept()) == 1
    clock.now += SECONDS_OF_LIFE
    for key in (closed, old):
        for use in (lambda k: rooms.state(k.code), rooms.look, lambda k: rooms.ask(k, PICK)):
            with pytest.raises(RoomError):
                use(key)
    rooms.open()
    (room,) = kept()
    assert room["asked"] == {}
