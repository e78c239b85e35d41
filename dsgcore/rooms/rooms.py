"""Rooms: a class's guesses at questions, in rounds, kept in the server's store for a day, without names.

The person who opens a room gets a code for the class, and a secret key. A client is a random token that its browser
keeps. The store holds only a digest of the token, and only the guess that the question reads from an answer.
"""

from __future__ import annotations

import csv
import io
import json
import math
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.rooms.questions import Asked, Places, Question, asked_by, plain_text, result_of
from dsgcore.settings import Pick
from dsgcore.studies.store import Store

SECONDS_OF_LIFE = 24 * 3600.0
MOST_CLIENTS, MOST_ROOMS, MOST_ROUNDS = 300, 1000, 2
# No characters that are easily confused. 32 to the 8th power is a million million: a hundred attackers who try 60 codes a
# second each for a day find one of ten rooms with a chance below 1 %.
SIGNS, CODE_LENGTH = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", 8
LONGEST_TOKEN, LONGEST_GUESS = 64, 100
COLUMNS = ("number", "setting", "lesson", "step", "question", "round", "answer", "right")  # of the table of results
# Seconds after the end of a round in which an answer that was given before still arrives, from a phone without a network.
LATE = 180.0
# `room` is JSON: its version, the present question, and of each question that was asked its record: a lecturer's own text,
# the picture, the outcome of the run, if the answers are revealed, and of each round when it closes and its votes by client.
_TABLE = """
CREATE TABLE IF NOT EXISTS rooms (
    code TEXT PRIMARY KEY, key_digest TEXT NOT NULL, opened REAL NOT NULL, room TEXT NOT NULL
) WITHOUT ROWID
"""


def spaced(code: str) -> str:
    """Return a room's code as people read and type it: in two groups."""
    return f"{code[: CODE_LENGTH // 2]} {code[CODE_LENGTH // 2 :]}"


class RoomError(DSGError):
    """A request that a room does not allow. The message is a sentence for the client, and `status` is for its browser."""

    def __init__(self, why: str, status: int = 409) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class Key:
    """The lecturer's access to a room: the code that the class knows, and a secret."""

    code: str
    secret: str = field(repr=False)  # kept out of log lines and messages


@dataclass(frozen=True, eq=False)
class State:
    """A room and its present question, or another one that it was asked.

    Attributes
    ----------
    version : int
        It grows with every change that phones show.
    is_shut : bool
        True if only phones that have answered in this room before may answer.
    asked : Asked or None
        The question, or None if there is none.
    round : int
        1, or 2 after "vote again".
    left : float or None
        Seconds until the round closes by itself.
    outcome : mapping
        Measures of the run, as soon as it has ended.
    picture : mapping
        Points of the map, for a question on labels.
    rounds : sequence of lists
        The guesses of each round: empty until the reveal, except for the lecturer.
    """

    version: int
    is_shut: bool = False
    asked: Asked | None = None
    round: int = 0
    is_open: bool = False
    left: float | None = None
    is_revealed: bool = False
    outcome: Mapping[str, float] = field(default_factory=dict)
    picture: Mapping[str, Any] = field(default_factory=dict)
    rounds: Sequence[Sequence[Any]] = ()

    @property
    def asks(self) -> Question | None:
        """The question with its words, or None if there is none, or its lesson is gone."""
        return None if self.asked is None else self.asked.question

    @property
    def count(self) -> int:
        """Number of answers in the present round, for the lecturer."""
        return len(self.rounds[-1]) if self.rounds else 0

    @property
    def result(self) -> dict[str, Any]:
        """What the run says about the question, from `result_of`."""
        return {} if self.asked is None else result_of(self.asked, self.outcome)


class Rooms:
    """The rooms of a store; `now` returns the time in seconds."""

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = store, now
        with store.opened() as connection:
            connection.execute(_TABLE)

    def open(self) -> Key:
        """Open a room, and delete those that are older than a day; raise `RoomError` if there are too many."""
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("DELETE FROM rooms WHERE opened <= ?", (self._now() - SECONDS_OF_LIFE,))
            if connection.execute("SELECT count(*) FROM rooms").fetchone()[0] >= MOST_ROOMS:
                raise RoomError(f"There are {MOST_ROOMS} rooms already. One is free when the oldest is a day old.")
            key = Key("".join(secrets.choice(SIGNS) for _ in range(CODE_LENGTH)), secrets.token_urlsafe(24))
            room = {"version": 0, "question": "", "is_shut": False, "asked": {}}
            row = (key.code, _digest(key.secret), self._now(), json.dumps(room))
            connection.execute("INSERT INTO rooms (code, key_digest, opened, room) VALUES (?, ?, ?, ?)", row)
        return key

    def close(self, key: Key) -> None:
        """Delete a room with its answers; raise `RoomError` if the key is not the room's."""
        with self._store.opened() as connection:
            self._room(connection, key.code, key)
            connection.execute("DELETE FROM rooms WHERE code = ?", (key.code,))

    def ask(self, key: Key, asked: Asked | None, picture: Mapping[str, Any] | None = None) -> None:
        """Make a question the room's present one, and end the one before. None asks nothing.

        A new question opens its first round. A question that had no reveal and no outcome goes on where it was.
        """
        name = "" if asked is None else asked.name
        with self._changing(key.code, key) as room:
            if name == room["question"]:
                return
            self._end(room)
            room["question"] = name
            if asked is not None:
                new = {"own": asked.own, "picture": dict(picture or {}), "outcome": {}, "is_revealed": False}
                record = room["asked"].setdefault(name, new | {"rounds": [{"closes": None, "votes": {}}]})
                if not (record["is_revealed"] or record["outcome"]):
                    record["rounds"][-1]["closes"] = None

    def again(self, key: Key) -> None:
        """Open the second round of the present question, and hide the answers; after that, do nothing."""
        with self._changing(key.code, key) as room:
            record = room["asked"].get(room["question"])
            if record is not None and len(record["rounds"]) < MOST_ROUNDS:
                self._end(room, is_revealed=False)
                record["rounds"].append({"closes": None, "votes": {}})

    def end(self, key: Key, seconds: float = 0.0) -> None:
        """End the present round, now or after some seconds."""
        with self._changing(key.code, key) as room:
            self._end(room, seconds)

    def reveal(self, key: Key) -> None:
        """End the present round, and show its answers."""
        with self._changing(key.code, key) as room:
            self._end(room, is_revealed=True)

    def tell(self, key: Key, outcome: Mapping[str, float]) -> None:
        """Keep the measures of the run about the present question, which ends its round."""
        with self._changing(key.code, key) as room:
            self._end(room, outcome={name: float(value) for name, value in outcome.items()})

    def shut(self, key: Key, is_to_be: bool = True) -> None:
        """Take answers only from phones that have answered in this room before, or from new ones again."""
        with self._changing(key.code, key) as room:
            room["is_shut"] = is_to_be

    @contextmanager
    def _changing(self, code: str, key: Key | None = None) -> Iterator[dict[str, Any]]:
        """Give a room to change to a phone, or to the lecturer, whose changes all phones show; store it after the block."""
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            room = self._room(connection, code, key)
            yield room
            room["version"] += key is not None
            connection.execute("UPDATE rooms SET room = ? WHERE code = ?", (json.dumps(room), code))

    def _end(self, room: dict[str, Any], seconds: float = 0.0, **change: Any) -> None:
        """End the present round, if there is one that is open, and change the record of its question."""
        record, now = room["asked"].get(room["question"]), self._now()
        if record is not None:
            last = record["rounds"][-1]
            last["closes"] = now + seconds if (last["closes"] or math.inf) > now else last["closes"]
            record |= change

    def _room(self, connection: sqlite3.Connection, code: str, key: Key | None = None) -> dict[str, Any]:
        """Return a room; raise `RoomError` if there is none with that code, or if the key is not the room's."""
        found = "SELECT key_digest, room FROM rooms WHERE code = ? AND opened > ?"
        row = connection.execute(found, (code, self._now() - SECONDS_OF_LIFE)).fetchone()
        if key is not None and (row is None or not secrets.compare_digest(row[0], _digest(key.secret))):
            raise RoomError("This room is closed, or it is another lecturer's.", 403)
        if row is None:
            raise RoomError("There is no such room. Look at the code again.", 404)
        room: dict[str, Any] = json.loads(row[1])
        return room

    def state(self, code: str) -> State:
        """Return the state of a room as its phones see it; raise `RoomError` if there is no room with that code."""
        return self._states(code)[0]

    def look(self, key: Key) -> State:
        """Return the same with the answers so far; raise `RoomError` if the key is not the room's."""
        return self._states(key.code, key)[0]

    def questions(self, key: Key) -> list[State]:
        """Return all questions of a room in the order in which they were asked; raise `RoomError` without its key."""
        return self._states(key.code, key, are_all=True)

    def _states(self, code: str, key: Key | None = None, *, are_all: bool = False) -> list[State]:
        with self._store.opened() as connection:
            room = self._room(connection, code, key)
        found, version = list[State](), 2 * room["version"]
        for name in room["asked"] if are_all else [room["question"]]:
            record = room["asked"].get(name)
            if record is None:
                found.append(State(version, room["is_shut"]))
                continue
            asked, rounds, guesses = asked_by(name, record["own"]), record["rounds"], list[list[Any]]()
            closes = rounds[-1]["closes"]
            left = None if closes is None else max(0.0, closes - self._now())
            is_open = left is None or left > 0
            if (key is not None or record["is_revealed"]) and (asks := asked.question) is not None:
                # Sorted by the guess, so that the order tells nothing of who has answered. None was an answer before the
                # lesson's file was changed.
                read = [map(asks.read, sorted(one["votes"].values())) for one in rounds]
                guesses = [[guess for guess in one if guess is not None] for one in read]
            shown = (record["is_revealed"], record["outcome"], record["picture"], guesses)
            found.append(State(version + (not is_open), room["is_shut"], asked, len(rounds), is_open, left, *shown))
        return found

    def answer(
        self,
        code: str,
        client: str,
        name: str,
        number: int,
        guess: str,
        age: float = 0.0,
        let_in: Callable[[], bool] = lambda: True,
    ) -> str:
        """Store a client's guess in place of an earlier one; return it as the question reads it.

        Parameters
        ----------
        code, client, name, guess : str
            The room, the client's token, the question, and the answer.
        number : int
            The round.
        age : float
            Seconds since the client answered. An answer counts if the round was open then.
        let_in : callable
            Called before the first answer of a client in this room. It returns False to refuse the client.

        Raises
        ------
        RoomError
            If the round was over or the room is full, if the answer is not a guess, or if no new phone may come in.
        """
        are_texts = isinstance(client, str) and isinstance(guess, str)
        if not (are_texts and 16 <= len(client) <= LONGEST_TOKEN and 1 <= number <= MOST_ROUNDS):
            raise RoomError("This is no answer.")
        digest = _digest(client)
        with self._changing(code) as room:  # counted and stored in one transaction
            record = room["asked"].get(name)
            asks = None if record is None else asked_by(name, record["own"]).question
            read = None if asks is None or len(guess) > LONGEST_GUESS else asks.read(guess)
            if asks is None or read is None or number > len(record["rounds"]):
                raise RoomError("This does not answer the current question.")
            closes, votes = record["rounds"][number - 1].values()
            if closes is not None and self._now() - (age if 0 < age < LATE else 0.0) >= closes:
                raise RoomError("The time for answers is over.")
            if not any(digest in one["votes"] for other in room["asked"].values() for one in other["rounds"]):
                if room["is_shut"]:
                    raise RoomError("The lecturer lets in no new phones now.")
                if not let_in():
                    raise RoomError("Too many new phones in your network. This page tries again.", 429)
            if digest not in votes and len(votes) >= MOST_CLIENTS:
                raise RoomError(f"This room is full: {MOST_CLIENTS} have answered.")
            said: str = asks.say(read)  # type: ignore[arg-type]  # each says what it reads
            votes[digest] = said
        return said


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def results_csv(questions: Iterable[State]) -> str:
    """Return a table with a row for each answer. The rows of a round are sorted, so they tell nothing of who answered."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for number, one in enumerate(questions, start=1):
        asked, asks = one.asked, one.asks
        if asked is None or asks is None:
            continue
        place = (number, asked.setting, asked.lesson, "" if asked.own else asked.step + 1, plain_text(asks.text))
        for turn, guesses in enumerate(one.rounds, start=1):
            for guess in guesses:
                right = None if isinstance(asks, Places) or not one.result else asks.is_right(guess, one.outcome)
                said = plain_text(asks.options[guess].words) if isinstance(asks, Pick) else asks.say(guess)
                table.writerow([*place, turn, said, "" if right is None else "yes" if right else "no"])
    return text.getvalue()
