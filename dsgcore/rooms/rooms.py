"""Rooms: a class's guesses at questions, in rounds, kept in the server's store for a day, without names.

The person who opens a room gets a code for the class, and a secret key. A client is a random token that its browser
keeps. The store holds only a digest of the token, and only the guess that the question reads from an answer.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.rooms.questions import OWN, Answered, Asked, asked_by, plain_question
from dsgcore.studies.store import Store

SECONDS_OF_LIFE = 24 * 3600.0
MOST_CLIENTS, MOST_ROOMS, MOST_ROUNDS = 300, 1000, 2
# No characters that are easily confused; 32 to the 6th power is a thousand million, and wrong codes are slowed down.
SIGNS, CODE_LENGTH = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", 6
LONGEST_TOKEN, LONGEST_GUESS = 64, 100
# Seconds after the end of a round in which an answer that was given before still arrives, from a phone without a network.
LATE = 180.0
TABLES = {
    "class_rooms": """
    code TEXT PRIMARY KEY, key_digest TEXT NOT NULL, entry TEXT NOT NULL, opened REAL NOT NULL,
    version INTEGER NOT NULL DEFAULT 0, question TEXT NOT NULL DEFAULT '', is_shut INTEGER NOT NULL DEFAULT 0
""",
    "class_rounds": """
    code TEXT NOT NULL, question TEXT NOT NULL, round INTEGER NOT NULL, opened REAL NOT NULL, closes REAL,
    is_revealed INTEGER NOT NULL DEFAULT 0, result TEXT NOT NULL DEFAULT '{}', picture TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (code, question, round)
""",
    "class_votes": """
    code TEXT NOT NULL, question TEXT NOT NULL, round INTEGER NOT NULL, client TEXT NOT NULL, guess TEXT NOT NULL,
    PRIMARY KEY (code, question, round, client)
""",
}
_LAST_ROUND = "round = (SELECT max(round) FROM class_rounds WHERE code = :code AND question = :question)"


class RoomError(DSGError):
    """A request that a room does not allow. The message is a sentence for the client."""


class NoRoomError(RoomError):
    """A code without a room."""

    def __init__(self) -> None:
        super().__init__("There is no such room. Look at the code again.")


@dataclass(frozen=True)
class Key:
    """The lecturer's access to a room: the code that the class knows, and a secret."""

    code: str
    secret: str = field(repr=False)  # kept out of log lines and messages


@dataclass(frozen=True)
class State:
    """The present state of a room, without answers.

    Attributes
    ----------
    version : int
        It grows with every change that phones show.
    entry : str
        A random text that only those know who have entered with the right code.
    asked : Asked or None
        The question, or None if there is none.
    round : int
        1, or 2 after "vote again".
    left : float or None
        Seconds until the round closes by itself.
    result : mapping
        From `result_of`, as soon as the run has ended.
    picture : mapping
        Points of the map, for a question on labels.
    is_shut : bool
        True if only phones that have answered in this room before may answer.
    """

    version: int
    entry: str
    asked: Asked | None = None
    round: int = 0
    is_open: bool = False
    left: float | None = None
    is_revealed: bool = False
    result: Mapping[str, Any] = field(default_factory=dict)
    picture: Mapping[str, Any] = field(default_factory=dict)
    is_shut: bool = False


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
            alive = "SELECT code FROM class_rooms WHERE opened > ?"
            for table in reversed(TABLES):
                old = f"DELETE FROM {table} WHERE code NOT IN ({alive})"
                connection.execute(old, (self._now() - SECONDS_OF_LIFE,))
            codes = {code for (code,) in connection.execute("SELECT code FROM class_rooms")}
            if len(codes) >= MOST_ROOMS:
                raise RoomError(f"There are {MOST_ROOMS} rooms already. One is free when the oldest is a day old.")
            code = ""
            while not code or code in codes:
                code = "".join(secrets.choice(SIGNS) for _ in range(CODE_LENGTH))
            key = Key(code, secrets.token_urlsafe(24))
            row = (key.code, _digest(key.secret), secrets.token_hex(8), self._now())
            connection.execute("INSERT INTO class_rooms (code, key_digest, entry, opened) VALUES (?, ?, ?, ?)", row)
        return key

    def close(self, key: Key) -> None:
        """Delete a room with its answers; raise `RoomError` if the key is not the room's."""
        with self._store.opened() as connection:
            self._check(connection, key)
            for table in TABLES:
                connection.execute(f"DELETE FROM {table} WHERE code = ?", (key.code,))

    def ask(self, key: Key, asked: Asked | None, picture: Mapping[str, Any] | None = None) -> None:
        """Make a question the room's present one, and end the one before. None asks nothing.

        A new question opens its first round. A question that had no reveal and no result goes on where it was.
        """
        name = "" if asked is None else asked.name
        if asked is not None and asked.own is not None:
            picture = {**(picture or {}), OWN: plain_question(asked.own)}
        with self._changing(key) as (connection, at, _round):
            if name == at["question"]:
                return
            self._end(connection, at, 0.0)
            connection.execute("UPDATE class_rooms SET question = ? WHERE code = ?", (name, key.code))
            if name:
                at = {**at, "question": name}
                self._begin(connection, at, 1, json.dumps(picture or {}), "{}")
                connection.execute(
                    "UPDATE class_rounds SET closes = NULL WHERE code = :code AND question = :question "
                    "AND is_revealed = 0 AND result = '{}'",
                    at,
                )

    def again(self, key: Key) -> None:
        """Open the second round of the present question, and hide the answers; after that, do nothing."""
        with self._changing(key) as (connection, at, last):
            if at["question"] and last is not None and last["round"] < MOST_ROUNDS:
                self._end(connection, at, 0.0)
                self._begin(connection, at, last["round"] + 1, last["picture"], last["result"])

    def end(self, key: Key, seconds: float = 0.0) -> None:
        """End the present round, now or after some seconds."""
        with self._changing(key) as (connection, at, _round):
            self._end(connection, at, seconds)

    def reveal(self, key: Key) -> None:
        """End the present round, and show its answers."""
        self._end_with(key, "is_revealed", 1)

    def tell(self, key: Key, result: Mapping[str, Any]) -> None:
        """Keep what the run says about the present question, which ends its round."""
        self._end_with(key, "result", json.dumps(result))

    def _end_with(self, key: Key, column: str, value: Any) -> None:
        with self._changing(key) as (connection, at, _round):
            self._end(connection, at, 0.0)
            change = f"UPDATE class_rounds SET {column} = :value WHERE code = :code AND question = :question"
            connection.execute(change, {**at, "value": value})

    def shut(self, key: Key, is_to_be: bool = True) -> None:
        """Take answers only from phones that have answered in this room before, or from new ones again."""
        with self._changing(key) as (connection, _at, _round):
            connection.execute("UPDATE class_rooms SET is_shut = ? WHERE code = ?", (is_to_be, key.code))

    @contextmanager
    def _changing(self, key: Key) -> Iterator[tuple[sqlite3.Connection, dict[str, Any], sqlite3.Row | None]]:
        """Open a change by the lecturer; it gives the connection, the room's code and question, and the last round."""
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            room = self._check(connection, key)
            connection.execute("UPDATE class_rooms SET version = version + 1 WHERE code = ?", (key.code,))
            at = {"code": key.code, "question": room["question"]}
            yield connection, at, _round(connection, at)

    def _begin(
        self, connection: sqlite3.Connection, at: Mapping[str, Any], number: int, picture: str, result: str
    ) -> None:
        row = {**at, "round": number, "opened": self._now(), "picture": picture, "result": result}
        new = f"INSERT OR IGNORE INTO class_rounds ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
        connection.execute(new, tuple(row.values()))

    def _end(self, connection: sqlite3.Connection, at: Mapping[str, Any], seconds: float) -> None:
        ends = (
            "UPDATE class_rounds SET closes = :closes WHERE code = :code AND question = :question "
            f"AND (closes IS NULL OR closes > :now) AND {_LAST_ROUND}"
        )
        now = self._now()
        connection.execute(ends, {**at, "now": now, "closes": now + seconds})

    def _check(self, connection: sqlite3.Connection, key: Key) -> sqlite3.Row:
        """Return a room; raise `RoomError` if the key is not the room's."""
        room = self._room(connection, key.code)
        if room is None or not secrets.compare_digest(room["key_digest"], _digest(key.secret)):
            raise RoomError("This room is closed, or it is another lecturer's.")
        return room

    def _room(self, connection: sqlite3.Connection, code: str) -> sqlite3.Row | None:
        given = (code, self._now() - SECONDS_OF_LIFE)
        return _one(connection, "SELECT * FROM class_rooms WHERE code = ? AND opened > ?", given)

    def state(self, code: str) -> State:
        """Return the state of a room; raise `NoRoomError` if there is no room with that code."""
        with self._store.opened() as connection:
            room = self._room(connection, code)
            if room is None:
                raise NoRoomError
            last = _round(connection, {"code": code, "question": room["question"]}) if room["question"] else None
        if last is None:
            return State(2 * room["version"], room["entry"])
        left = None if last["closes"] is None else max(0.0, last["closes"] - self._now())
        is_open = left is None or left > 0
        picture = json.loads(last["picture"])
        return State(
            2 * room["version"] + (not is_open),
            room["entry"],
            asked_by(room["question"], picture),
            last["round"],
            is_open,
            left,
            bool(last["is_revealed"]),
            json.loads(last["result"]),
            picture,
            bool(room["is_shut"]),
        )

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
        at, digest = {"code": code, "question": name}, _digest(client)
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")  # counted and stored in one transaction
            room = self._room(connection, code)
            if room is None:
                raise NoRoomError
            found = _round(connection, at, number)
            said = None if found is None else _read(asked_by(name, json.loads(found["picture"])), guess)
            if found is None or said is None:
                raise RoomError("This does not answer the current question.")
            if found["closes"] is not None and self._now() - (age if 0 < age < LATE else 0.0) >= found["closes"]:
                raise RoomError("The time for answers is over.")
            before = "SELECT 1 FROM class_votes WHERE code = ? AND client = ? LIMIT 1"
            if _one(connection, before, (code, digest)) is None:
                if room["is_shut"]:
                    raise RoomError("The lecturer lets in no new phones now.")
                let_in()
            others = "SELECT count(*) FROM class_votes WHERE code = ? AND question = ? AND round = ? AND client != ?"
            if _one(connection, others, (code, name, number, digest))[0] >= MOST_CLIENTS:
                raise RoomError(f"This room is full: {MOST_CLIENTS} have answered.")
            row = (code, name, number, digest, said)
            connection.execute("INSERT OR REPLACE INTO class_votes VALUES (?, ?, ?, ?, ?)", row)
        return said

    def rounds(self, key: Key, asked: Asked) -> list[list[Any]]:
        """Return the guesses of each round of a question; raise `RoomError` if the key is not the room's."""
        with self._store.opened() as connection:
            self._check(connection, key)
        return self.revealed(key.code, asked)

    def revealed(self, code: str, asked: Asked) -> list[list[Any]]:
        """Return the same without a key, for a caller who knows that the round is revealed."""
        at, asks = {"code": code, "question": asked.name}, asked.question
        with self._store.opened() as connection:
            last = _round(connection, at)
            # Sorted by the guess, so that the order tells nothing of who has answered.
            votes = (
                "SELECT round, guess FROM class_votes WHERE code = :code AND question = :question ORDER BY round, guess"
            )
            rows = connection.execute(votes, at).fetchall()
        read = [] if asks is None else [(number, asks.read(text)) for number, text in rows]
        n = 0 if last is None else last["round"]
        return [[guess for number, guess in read if number == one] for one in range(1, n + 1)]

    def count(self, key: Key) -> int:
        """Return the number of answers in the present round; raise `RoomError` if the key is not the room's."""
        with self._store.opened() as connection:
            at = {"code": key.code, "question": self._check(connection, key)["question"]}
            votes = f"SELECT count(*) FROM class_votes WHERE code = :code AND question = :question AND {_LAST_ROUND}"
            return int(_one(connection, votes, at)[0])

    def questions(self, key: Key) -> list[Answered]:
        """Return all questions of a room in the order in which they were asked, with their answers.

        Raises `RoomError` without its key.
        """
        every = (
            "SELECT question, result, picture FROM class_rounds WHERE code = ? AND round = 1 ORDER BY opened, question"
        )
        with self._store.opened() as connection:
            self._check(connection, key)
            rows = connection.execute(every, (key.code,)).fetchall()
        return [
            Answered(asked, self.revealed(key.code, asked), json.loads(result), drawn)
            for name, result, picture in rows
            if (asked := asked_by(name, drawn := json.loads(picture))) is not None
        ]


def _one(connection: sqlite3.Connection, question: str, given: Any) -> Any:
    """Return the first row of a question, whose columns have names; None if there is none."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(question, given).fetchone()


def _round(connection: sqlite3.Connection, at: Mapping[str, Any], number: int | None = None) -> Any:
    """Return a round of a question, by default the last one."""
    which = _LAST_ROUND if number is None else "round = :round"
    question = f"SELECT * FROM class_rounds WHERE code = :code AND question = :question AND {which}"
    return _one(connection, question, {**at, "round": number})


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _read(asked: Asked | None, guess: str) -> str | None:
    """Return the guess that the question reads from an answer; None if it reads none."""
    asks = None if asked is None else asked.question
    read = None if asks is None or len(guess) > LONGEST_GUESS else asks.read(guess)
    return None if asks is None or read is None else asks.say(read)  # type: ignore[arg-type]  # each reads what it says
