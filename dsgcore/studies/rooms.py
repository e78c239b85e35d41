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
from hashlib import sha256
from typing import Any

from dsgcore.studies.room_questions import Asked, asked_by
from dsgcore.studies.room_records import (
    OF_A_ROOM,
    TABLES,
    Key,
    NoRoomError,
    RoomError,
    State,
    check_door,
    is_shut,
    round_row,
)
from dsgcore.studies.store import Store

__all__ = ["Asked", "Key", "NoRoomError", "RoomError", "Rooms", "State"]

SECONDS_OF_LIFE = 24 * 3600.0
MOST_CLIENTS, MOST_ROOMS, MOST_ROUNDS = 300, 1000, 2
# No characters that are easily confused; 32 to the 6th power is a thousand million, and wrong codes are slowed down.
SIGNS, CODE_LENGTH = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", 6
LONGEST_TOKEN, LONGEST_GUESS = 64, 100
# Seconds after the end of a round in which an answer that was given before still arrives, from a phone without a network.
LATE = 180.0
_ROUNDS = "SELECT question, result, picture FROM class_rounds WHERE code = ? AND round = 1 ORDER BY opened, question"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class Rooms:
    """The rooms of a store; `now` returns the time in seconds."""

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = store, now
        with store.opened() as connection:
            for statement in TABLES:
                connection.execute(statement)

    def open(self) -> Key:
        """Open a room, and delete those that are older than a day; raise `RoomError` if there are too many."""
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._forget(connection)
            (number,) = connection.execute("SELECT count(*) FROM class_rooms").fetchone()
            if number >= MOST_ROOMS:
                raise RoomError(f"There are {MOST_ROOMS} rooms already. One is free when the oldest is a day old.")
            key = Key(_free_code(connection), secrets.token_urlsafe(24))
            row = (key.code, _digest(key.secret), secrets.token_hex(8), self._now())
            connection.execute("INSERT INTO class_rooms (code, key_digest, entry, opened) VALUES (?, ?, ?, ?)", row)
        return key

    def _forget(self, connection: sqlite3.Connection) -> None:
        oldest = (self._now() - SECONDS_OF_LIFE,)
        for table in reversed(OF_A_ROOM):
            old = f"DELETE FROM {table} WHERE code NOT IN (SELECT code FROM class_rooms WHERE opened > ?)"
            connection.execute(old, oldest)

    def close(self, key: Key) -> None:
        """Delete a room with its answers; raise `RoomError` if the key is not the room's."""
        with self._store.opened() as connection:
            self._check(connection, key)
            for table in OF_A_ROOM:
                connection.execute(f"DELETE FROM {table} WHERE code = ?", (key.code,))

    def ask(self, key: Key, asked: Asked | None, picture: Mapping[str, Any] | None = None) -> None:
        """Make a question the room's present one, and end the one before. None asks nothing.

        A new question opens its first round. A question that had no reveal and no result goes on where it was.
        """
        name = "" if asked is None else asked.name
        with self._changing(key) as (connection, before, _round):
            if name == before:
                return
            self._end(connection, key.code, before, 0.0)
            connection.execute("UPDATE class_rooms SET question = ? WHERE code = ?", (name, key.code))
            if name:
                self._begin(connection, key.code, name, 1, json.dumps(picture or {}), "{}")
                goes_on = "UPDATE class_rounds SET closes = NULL WHERE code = ? AND question = ? AND is_revealed = 0"
                connection.execute(f"{goes_on} AND result = '{{}}'", (key.code, name))

    def again(self, key: Key) -> None:
        """Open the second round of the present question, and hide the answers; after that, do nothing."""
        with self._changing(key) as (connection, asked, number):
            if number >= MOST_ROUNDS or not asked:
                return
            picture, result = round_row(connection, "picture, result", key.code, asked, number)
            self._end(connection, key.code, asked, 0.0)
            self._begin(connection, key.code, asked, number + 1, picture, result)

    def end(self, key: Key, seconds: float = 0.0) -> None:
        """End the present round, now or after some seconds."""
        with self._changing(key) as (connection, asked, _round):
            self._end(connection, key.code, asked, seconds)

    def reveal(self, key: Key) -> None:
        """End the present round, and show its answers."""
        with self._changing(key) as (connection, asked, _round):
            self._end(connection, key.code, asked, 0.0)
            shown = "UPDATE class_rounds SET is_revealed = 1 WHERE code = ? AND question = ?"
            connection.execute(shown, (key.code, asked))

    def tell(self, key: Key, result: Mapping[str, Any]) -> None:
        """Keep what the run says about the present question, which ends its round."""
        with self._changing(key) as (connection, asked, _round):
            self._end(connection, key.code, asked, 0.0)
            told = "UPDATE class_rounds SET result = ? WHERE code = ? AND question = ?"
            connection.execute(told, (json.dumps(result), key.code, asked))

    def shut(self, key: Key, is_to_be: bool = True) -> None:
        """Take answers only from phones that have answered in this room before, or from new ones again."""
        change = "INSERT OR IGNORE INTO class_doors_shut VALUES (?)"
        with self._changing(key) as (connection, _asked, _round):
            connection.execute(change if is_to_be else "DELETE FROM class_doors_shut WHERE code = ?", (key.code,))

    @contextmanager
    def _changing(self, key: Key) -> Iterator[tuple[sqlite3.Connection, str, int]]:
        """Open a change by the lecturer; it gives the connection, the present question and its round."""
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._check(connection, key)
            connection.execute("UPDATE class_rooms SET version = version + 1 WHERE code = ?", (key.code,))
            (name,) = self._room(connection, "question", key.code)
            found = round_row(connection, "round", key.code, name)
            yield connection, name, 0 if found is None else found[0]

    def _begin(
        self, connection: sqlite3.Connection, code: str, name: str, number: int, picture: str, result: str
    ) -> None:
        row = (code, name, number, self._now(), picture, result)
        new = "INSERT OR IGNORE INTO class_rounds (code, question, round, opened, picture, result) VALUES (?, ?, ?, ?, ?, ?)"
        connection.execute(new, row)

    def _end(self, connection: sqlite3.Connection, code: str, name: str, seconds: float) -> None:
        closes = self._now() + seconds
        ends = (
            "UPDATE class_rounds SET closes = ? WHERE code = ? AND question = ? AND (closes IS NULL OR closes > ?) AND "
            "round = (SELECT max(round) FROM class_rounds WHERE code = ? AND question = ?)"
        )
        connection.execute(ends, (closes, code, name, self._now(), code, name))

    def _check(self, connection: sqlite3.Connection, key: Key) -> None:
        row = self._room(connection, "key_digest", key.code)
        if row is None or not secrets.compare_digest(row[0], _digest(key.secret)):
            raise RoomError("This room is closed, or it is another lecturer's.")

    def _room(self, connection: sqlite3.Connection, columns: str, code: str) -> Any:
        question = f"SELECT {columns} FROM class_rooms WHERE code = ? AND opened > ?"
        return connection.execute(question, (code, self._now() - SECONDS_OF_LIFE)).fetchone()

    def state(self, code: str) -> State:
        """Return the state of a room; raise `NoRoomError` if there is no room with that code."""
        with self._store.opened() as connection:
            row = self._room(connection, "version, entry, question", code)
            if row is None:
                raise NoRoomError
            version, entry, name = row
            columns = "round, closes, is_revealed, result, picture"
            found = round_row(connection, columns, code, name) if name else None
            shut = is_shut(connection, code)
        if found is None:
            return State(2 * version, entry)
        number, closes, is_revealed, result, picture = found
        left = None if closes is None else max(0.0, closes - self._now())
        is_open = left is None or left > 0
        more = (bool(is_revealed), json.loads(result), json.loads(picture), shut)
        return State(2 * version + (not is_open), entry, asked_by(name), number, is_open, left, *more)

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
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")  # counted and stored in one transaction
            if self._room(connection, "code", code) is None:
                raise NoRoomError
            found = round_row(connection, "closes", code, name, number)
            said = None if found is None else _read(name, guess)
            if found is None or said is None:
                raise RoomError("This does not answer the current question.")
            if found[0] is not None and self._now() - (age if 0 < age < LATE else 0.0) >= found[0]:
                raise RoomError("The time for answers is over.")
            check_door(connection, code, _digest(client), let_in)
            self._keep(connection, (code, name, number), _digest(client), said)
        return said

    def _keep(self, connection: sqlite3.Connection, at: tuple[str, str, int], digest: str, said: str) -> None:
        count = "SELECT count(*) FROM class_votes WHERE code = ? AND question = ? AND round = ? AND client != ?"
        if connection.execute(count, (*at, digest)).fetchone()[0] >= MOST_CLIENTS:
            raise RoomError(f"This room is full: {MOST_CLIENTS} have answered.")
        connection.execute("INSERT OR REPLACE INTO class_votes VALUES (?, ?, ?, ?, ?)", (*at, digest, said))

    def rounds(self, key: Key, asked: Asked) -> list[list[Any]]:
        """Return the guesses of each round of a question; raise `RoomError` if the key is not the room's."""
        with self._store.opened() as connection:
            self._check(connection, key)
        return self.revealed(key.code, asked)

    def revealed(self, code: str, asked: Asked) -> list[list[Any]]:
        """Return the same without a key, for a caller who knows that the round is revealed."""
        at, asks = (code, asked.name), asked.question
        with self._store.opened() as connection:
            (last,) = connection.execute(
                "SELECT max(round) FROM class_rounds WHERE code = ? AND question = ?", at
            ).fetchone()
            # Sorted by the guess, so that the order tells nothing of who has answered.
            votes = "SELECT round, guess FROM class_votes WHERE code = ? AND question = ? ORDER BY round, guess"
            rows = connection.execute(votes, at).fetchall()
        read = [] if asks is None else [(number, asks.read(text)) for number, text in rows]
        return [[guess for number, guess in read if number == one] for one in range(1, (last or 0) + 1)]

    def count(self, key: Key) -> int:
        """Return the number of answers in the present round; raise `RoomError` if the key is not the room's."""
        with self._store.opened() as connection:
            self._check(connection, key)
            votes = (
                "SELECT count(*) FROM class_votes v JOIN class_rooms r ON r.code = v.code AND r.question = v.question "
                "WHERE v.code = ? AND v.round = (SELECT max(round) FROM class_rounds WHERE code = v.code "
                "AND question = v.question)"
            )
            return int(connection.execute(votes, (key.code,)).fetchone()[0])

    def questions(self, key: Key) -> list[tuple[Asked, Mapping[str, Any], Mapping[str, Any]]]:
        """Return all questions of a room in the order in which they were asked, each with its result and picture."""
        with self._store.opened() as connection:
            self._check(connection, key)
            rows = connection.execute(_ROUNDS, (key.code,)).fetchall()
        return [
            (asked, json.loads(result), json.loads(picture))
            for name, result, picture in rows
            if (asked := asked_by(name)) is not None
        ]


def _free_code(connection: sqlite3.Connection) -> str:
    """Return a code that no room has."""
    while True:
        code = "".join(secrets.choice(SIGNS) for _ in range(CODE_LENGTH))
        if connection.execute("SELECT 1 FROM class_rooms WHERE code = ?", (code,)).fetchone() is None:
            return code


def _read(name: str, guess: str) -> str | None:
    """Return the guess that the question reads from an answer; None if it reads none."""
    asked = asked_by(name)
    asks = None if asked is None else asked.question
    read = None if asks is None or len(guess) > LONGEST_GUESS else asks.read(guess)
    return None if asks is None or read is None else asks.say(read)  # type: ignore[arg-type]  # each reads what it says
