"""Rooms: a class's guesses at questions, in rounds, kept in the server's store for a day, without names.

The person who opens a room gets a code for the class, and a secret key. A client is a random token that its browser
keeps. The store holds only a digest of the token, and only the guess that the question reads from an answer.
"""

from __future__ import annotations

import csv
import io
import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.rooms.questions import Asked, Places, asked_by, plain_text, result_of
from dsgcore.settings import Pick
from dsgcore.studies.store import Store

SECONDS_OF_LIFE = 24 * 3600.0
MOST_CLIENTS, MOST_ROOMS, MOST_ROUNDS = 300, 1000, 2
# No characters that are easily confused; 32 to the 6th power is a thousand million, and wrong codes are slowed down.
SIGNS, CODE_LENGTH = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", 6
LONGEST_TOKEN, LONGEST_GUESS = 64, 100
COLUMNS = ("number", "setting", "lesson", "step", "question", "round", "answer", "right")  # of the table of results
# Seconds after the end of a round in which an answer that was given before still arrives, from a phone without a network.
LATE = 180.0
TABLES = {
    # `room` is JSON: its version, the present question, and of each question that was asked its record: a lecturer's own text,
    # the picture, the outcome of the run, if the answers are revealed, and when each round closes.
    "rooms": "code TEXT PRIMARY KEY, key_digest TEXT NOT NULL, opened REAL NOT NULL, room TEXT NOT NULL",
    "votes": """
    code TEXT NOT NULL, question TEXT NOT NULL, round INTEGER NOT NULL, client TEXT NOT NULL, guess TEXT NOT NULL,
    PRIMARY KEY (code, question, round, client)
""",
}


class RoomError(DSGError):
    """A request that a room does not allow. The message is a sentence for the client, and `status` is for its browser."""

    status = 409


class NoRoomError(RoomError):
    """A code without a room."""

    status = 404

    def __init__(self) -> None:
        super().__init__("There is no such room. Look at the code again.")


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
    entry : str
        A random text that only those know who have entered with the right code.
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
    entry: str
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
            for name, columns in TABLES.items():
                connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")

    def open(self) -> Key:
        """Open a room, and delete those that are older than a day; raise `RoomError` if there are too many."""
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            alive = "SELECT code FROM rooms WHERE opened > ?"
            for table in reversed(TABLES):
                old = f"DELETE FROM {table} WHERE code NOT IN ({alive})"
                connection.execute(old, (self._now() - SECONDS_OF_LIFE,))
            codes = {code for (code,) in connection.execute("SELECT code FROM rooms")}
            if len(codes) >= MOST_ROOMS:
                raise RoomError(f"There are {MOST_ROOMS} rooms already. One is free when the oldest is a day old.")
            code = ""
            while not code or code in codes:
                code = "".join(secrets.choice(SIGNS) for _ in range(CODE_LENGTH))
            key = Key(code, secrets.token_urlsafe(24))
            room = {"version": 0, "entry": secrets.token_hex(8), "question": "", "is_shut": False, "asked": {}}
            row = (key.code, _digest(key.secret), self._now(), json.dumps(room))
            connection.execute("INSERT INTO rooms (code, key_digest, opened, room) VALUES (?, ?, ?, ?)", row)
        return key

    def close(self, key: Key) -> None:
        """Delete a room with its answers; raise `RoomError` if the key is not the room's."""
        with self._store.opened() as connection:
            self._room(connection, key.code, key)
            for table in TABLES:
                connection.execute(f"DELETE FROM {table} WHERE code = ?", (key.code,))

    def ask(self, key: Key, asked: Asked | None, picture: Mapping[str, Any] | None = None) -> None:
        """Make a question the room's present one, and end the one before. None asks nothing.

        A new question opens its first round. A question that had no reveal and no outcome goes on where it was.
        """
        name = "" if asked is None else asked.name
        with self._changing(key) as room:
            if name == room["question"]:
                return
            self._end(room)
            room["question"] = name
            if asked is not None:
                new = {"own": asked.own, "picture": dict(picture or {}), "outcome": {}, "is_revealed": False}
                record = room["asked"].setdefault(name, new | {"closes": [None]})
                if not (record["is_revealed"] or record["outcome"]):
                    record["closes"][-1] = None

    def again(self, key: Key) -> None:
        """Open the second round of the present question, and hide the answers; after that, do nothing."""
        with self._changing(key) as room:
            record = room["asked"].get(room["question"])
            if record is not None and len(record["closes"]) < MOST_ROUNDS:
                self._end(room, is_revealed=False)
                record["closes"].append(None)

    def end(self, key: Key, seconds: float = 0.0) -> None:
        """End the present round, now or after some seconds."""
        with self._changing(key) as room:
            self._end(room, seconds)

    def reveal(self, key: Key) -> None:
        """End the present round, and show its answers."""
        with self._changing(key) as room:
            self._end(room, is_revealed=True)

    def tell(self, key: Key, outcome: Mapping[str, float]) -> None:
        """Keep the measures of the run about the present question, which ends its round."""
        with self._changing(key) as room:
            self._end(room, outcome={name: float(value) for name, value in outcome.items()})

    def shut(self, key: Key, is_to_be: bool = True) -> None:
        """Take answers only from phones that have answered in this room before, or from new ones again."""
        with self._changing(key) as room:
            room["is_shut"] = is_to_be

    @contextmanager
    def _changing(self, key: Key) -> Iterator[dict[str, Any]]:
        """Give a room to change to the lecturer, and store it after the block."""
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            room = self._room(connection, key.code, key)
            yield room
            room["version"] += 1
            connection.execute("UPDATE rooms SET room = ? WHERE code = ?", (json.dumps(room), key.code))

    def _end(self, room: dict[str, Any], seconds: float = 0.0, **change: Any) -> None:
        """End the present round, if there is one that is open, and change the record of its question."""
        record, now = room["asked"].get(room["question"]), self._now()
        if record is not None:
            if record["closes"][-1] is None or record["closes"][-1] > now:
                record["closes"][-1] = now + seconds
            record |= change

    def _room(self, connection: sqlite3.Connection, code: str, key: Key | None = None) -> dict[str, Any]:
        """Return a room; raise `NoRoomError` if there is none with that code, and `RoomError` if the key is not the room's."""
        found = "SELECT key_digest, room FROM rooms WHERE code = ? AND opened > ?"
        row = connection.execute(found, (code, self._now() - SECONDS_OF_LIFE)).fetchone()
        if key is not None and (row is None or not secrets.compare_digest(row[0], _digest(key.secret))):
            raise RoomError("This room is closed, or it is another lecturer's.")
        if row is None:
            raise NoRoomError
        room: dict[str, Any] = json.loads(row[1])
        return room

    def state(self, code: str) -> State:
        """Return the state of a room as its phones see it; raise `NoRoomError` if there is no room with that code."""
        with self._store.opened() as connection:
            room = self._room(connection, code)
            return self._state(connection, code, room, room["question"])

    def look(self, key: Key) -> State:
        """Return the same with the answers so far; raise `RoomError` if the key is not the room's."""
        with self._store.opened() as connection:
            room = self._room(connection, key.code, key)
            return self._state(connection, key.code, room, room["question"], is_lecturer=True)

    def questions(self, key: Key) -> list[State]:
        """Return all questions of a room in the order in which they were asked; raise `RoomError` without its key."""
        with self._store.opened() as connection:
            room = self._room(connection, key.code, key)
            return [self._state(connection, key.code, room, name, is_lecturer=True) for name in room["asked"]]

    def _state(
        self,
        connection: sqlite3.Connection,
        code: str,
        room: Mapping[str, Any],
        name: str,
        *,
        is_lecturer: bool = False,
    ) -> State:
        record = room["asked"].get(name)
        if record is None:
            return State(2 * room["version"], room["entry"], room["is_shut"])
        asked, n, closes = asked_by(name, record["own"]), len(record["closes"]), record["closes"][-1]
        left = None if closes is None else max(0.0, closes - self._now())
        is_open, rounds = left is None or left > 0, list[list[Any]]()
        if (is_lecturer or record["is_revealed"]) and (asks := asked.question) is not None:
            # Sorted by the guess, so that the order tells nothing of who has answered.
            votes = "SELECT guess FROM votes WHERE code = ? AND question = ? AND round = ? ORDER BY guess"
            found = (connection.execute(votes, (code, name, number)) for number in range(1, n + 1))
            rounds = [[asks.read(guess) for (guess,) in rows] for rows in found]
        version, shown = (
            2 * room["version"] + (not is_open),
            (record["is_revealed"], record["outcome"], record["picture"]),
        )
        return State(version, room["entry"], room["is_shut"], asked, n, is_open, left, *shown, rounds)

    def answer(
        self,
        code: str,
        client: str,
        name: str,
        number: int,
        guess: str,
        age: float = 0.0,
        let_in: Callable[[], None] = lambda: None,
    ) -> str:
        """Store a client's guess in place of an earlier one; return it as the question reads it.

        Parameters
        ----------
        code, client : str
            The room, and the client's token.
        name, number : str and int
            The question, and its round.
        guess : str
        age : float
            Seconds since the client answered. An answer counts if the round was open then.
        let_in : callable
            Called before the first answer of a client in this room. It raises `RoomError` to refuse the client.

        Raises
        ------
        RoomError
            If the round was over or the room is full, if the answer is not a guess, or if no new phone may come in.
        """
        are_texts = isinstance(client, str) and isinstance(guess, str)
        if not (are_texts and 16 <= len(client) <= LONGEST_TOKEN and 1 <= number <= MOST_ROUNDS):
            raise RoomError("This is no answer.")
        digest = _digest(client)
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")  # counted and stored in one transaction
            room = self._room(connection, code)
            record = room["asked"].get(name)
            said = None if record is None else _guess(asked_by(name, record["own"]), guess)
            if said is None or number > len(record["closes"]):
                raise RoomError("This does not answer the current question.")
            closes = record["closes"][number - 1]
            if closes is not None and self._now() - (age if 0 < age < LATE else 0.0) >= closes:
                raise RoomError("The time for answers is over.")
            before = "SELECT 1 FROM votes WHERE code = ? AND client = ? LIMIT 1"
            if connection.execute(before, (code, digest)).fetchone() is None:
                if room["is_shut"]:
                    raise RoomError("The lecturer lets in no new phones now.")
                let_in()
            others = "SELECT count(*) FROM votes WHERE code = ? AND question = ? AND round = ? AND client != ?"
            if connection.execute(others, (code, name, number, digest)).fetchone()[0] >= MOST_CLIENTS:
                raise RoomError(f"This room is full: {MOST_CLIENTS} have answered.")
            row = (code, name, number, digest, said)
            connection.execute("INSERT OR REPLACE INTO votes VALUES (?, ?, ?, ?, ?)", row)
        return said


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _guess(asked: Asked, text: str) -> str | None:
    """Return the guess that the question reads from an answer; None if it reads none."""
    asks = asked.question
    read = None if asks is None or len(text) > LONGEST_GUESS else asks.read(text)
    return None if asks is None or read is None else asks.say(read)  # type: ignore[arg-type]  # each reads what it says


def results_csv(questions: Iterable[State]) -> str:
    """Return a table with a row for each answer. The rows of a round are sorted, so they tell nothing of who answered."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for number, one in enumerate(questions, start=1):
        asks = None if one.asked is None else one.asked.question
        if one.asked is None or asks is None:
            continue
        place = (number, one.asked.setting, one.asked.lesson, one.asked.step + 1, plain_text(asks.text))
        for turn, guesses in enumerate(one.rounds, start=1):
            for guess in guesses:
                right = None if isinstance(asks, Places) or not one.result else asks.is_right(guess, one.outcome)
                said = plain_text(asks.options[guess].words) if isinstance(asks, Pick) else asks.say(guess)
                table.writerow([*place, turn, said, "" if right is None else "yes" if right else "no"])
    return text.getvalue()
