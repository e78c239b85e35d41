"""Rooms: every answer counted once, none lost, no stranger in another's room, and nothing hostile kept."""

import csv
import json
import math
import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from cases import each
from clocks import Clock
from room_phones import CURVE, GUESSES, MAP, NUMBER, PICK, guesses_in
from small_specs import OWN_LESSON

from dsgcore import lessons
from dsgcore.rooms import rooms as module
from dsgcore.rooms.questions import asked_by, choice_of, plain_question, plain_text, question_in, result_of
from dsgcore.rooms.rooms import CODE_LENGTH, COLUMNS, LATE, SECONDS_OF_LIFE, SIGNS, Key, RoomError, Rooms
from dsgcore.settings.lessons import LessonError
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


@each("asked, guess", GUESSES.items())
def test_each_kind_of_answer_is_kept_as_its_question_reads_it(rooms, asked, guess):
    key = asking(rooms, asked)
    assert asked_by(asked.name) == asked
    assert say(rooms, key, guess, asked=asked) == guess
    assert guesses_in(rooms, key, asked) == [[asked.question.read(guess)]]


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


def test_each_change_makes_the_version_grow(rooms, clock):
    key = rooms.open()
    seen = [rooms.state(key.code).version]
    for change in (
        lambda: rooms.ask(key, PICK),
        lambda: rooms.end(key, 30.0),
        lambda: setattr(clock, "now", clock.now + 31),
        lambda: rooms.reveal(key),
        lambda: rooms.again(key),
        lambda: rooms.tell(key, {"verdict": 1.0}),
        lambda: rooms.ask(key, None),
    ):
        change()
        seen.append(rooms.state(key.code).version)
    assert seen == sorted(set(seen))


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


def test_the_result_of_a_run_tells_phones_the_answer_and_the_whole_explanation(rooms):
    key = asking(rooms)
    rooms.tell(key, {"verdict": 1.0})
    why = plain_text(PICK.of_step.explanation)
    assert rooms.state(key.code).result == {"answer": "higher: unlabeled points help.", "why": why, "right": 0}
    assert result_of(CURVE, {"growth": 1.0})["value"] is None
    assert result_of(MAP, {"verdict": 1.0}) == result_of(PICK, {}) == {}


def test_the_results_are_a_table_of_answers_without_anything_of_a_phone(rooms):
    key, who = asking(rooms), [client(), client()]
    say(rooms, key, "1", who[0])
    say(rooms, key, "0", who[1])
    rooms.again(key)
    say(rooms, key, "0", who[0], number=2)
    rooms.tell(key, {"verdict": 1.0})
    rooms.ask(key, MAP)
    say(rooms, key, GUESSES[MAP], asked=MAP)
    text = module.results_csv(rooms.questions(key))
    names, *rows = csv.reader(text.splitlines())
    assert tuple(names) == COLUMNS
    said = [(row[0], row[5], row[-1]) for row in rows]
    assert said == [("1", "1", "yes"), ("1", "1", "no"), ("1", "2", "yes"), ("2", "1", "")]
    assert not any(one in text for one in (*who, key.secret))


# --- questions


def test_the_choice_of_a_class_is_what_most_have_said_or_the_median():
    assert choice_of(PICK.question, [2, 0, 2, 1]) == 2
    assert choice_of(PICK.question, [2, 0]) == 0
    assert choice_of(NUMBER.question, [0.1, 0.2, 0.6]) == 0.2
    assert choice_of(CURVE.question, [[0.5] * 6, [0.7] * 6, [0.6] * 6]) == (0.6,) * 6
    corners = [0.1, 0.1, 0.9, 0.1, 0.1, 0.9, 0.9, 0.9, 0.5, 0.5]
    moved = [value + 0.04 for value in corners[2:]]
    middles = choice_of(MAP.question, [corners, corners, corners, [0.1, 0.1, *moved]])
    assert sorted(np.round(middles, 3).ravel().tolist()) == sorted([0.1] * 2 + [v + 0.01 for v in corners[2:]])
    assert len(choice_of(MAP.question, [[0.5] * 10])) == 1


OWN_QUESTIONS = [
    ("Which <b>one</b>? | a | b<i> |  | c ", "2", "c"),
    ("Is P(A | B) *large*?\nyes\n no \n\nperhaps", "1", "no"),
    ("How many? | 0 to 10", "7.5", "7.5"),
    ("How many live there? | 0 to 1999999", "1999999", "1999999"),  # 2e+06 would be off the scale
    ("Where?\nmap", "0.500~0.250", "0.500~0.250"),
]


@each("text, guess, answer", OWN_QUESTIONS)
def test_a_lecturers_own_question_is_asked_answered_and_in_the_results(rooms, text, guess, answer):
    asked, words = replace(PICK, kind="own-1", own=text), re.split("\n" if "\n" in text else " [|] ", text)[0]
    key = asking(rooms, asked)
    assert rooms.state(key.code).asked == asked
    assert plain_question(asked.question)["text"] == words
    assert say(rooms, key, guess, asked=asked) == guess
    with pytest.raises(RoomError):
        say(rooms, key, "x", asked=asked)
    rooms.ask(key, PICK)
    (row,) = csv.DictReader(module.results_csv(rooms.questions(key)).splitlines())
    said = [row[name] for name in ("lesson", "step", "question", "answer", "right")]
    assert said == ["unlabeled", "", words, answer, ""]


NOT_ASKED = {
    " | a | b": "Type a question",
    "": "Type a question",
    "Just a question?": "2 to 6 answers. There are 0",
    "? | a | ": "2 to 6 answers. There are 1",
    "? | a | b | c | d | e | f | g": "There are 7",
    "?\na\na ": "another one: a, a",
    "? | a | " + "b" * 201: "200 characters",
    "? | 3 to 3": "smallest number must be below the largest one, got 3",
    f"? | 0 to {'9' * 190}{'9' * 190}": "200 characters",
}


@each("wrong, why", NOT_ASKED.items())
def test_an_own_question_that_cannot_be_asked_says_why(wrong, why):
    with pytest.raises(LessonError, match=why):
        question_in(wrong)
