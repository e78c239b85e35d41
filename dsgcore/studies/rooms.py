"""Rooms: a class's guesses at a lesson's questions, kept in the server's store for a day, without names.

The person who opens a room gets a code for the class, and a secret key. A client is a random token that its browser
keeps. The store holds only a digest of the token, and only the guess that the question reads from an answer.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.experiments.settings import SETTINGS
from dsgcore.settings import Curve, Estimate, GuidedLesson, Pick, profile_of
from dsgcore.studies.store import Store

SECONDS_OF_LIFE = 24 * 3600.0
MOST_CLIENTS, MOST_ROOMS = 100, 1000
# No characters that are easily confused; 32 to the 8th power is a million million.
SIGNS, CODE_LENGTH = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", 8
LONGEST_TOKEN, LONGEST_GUESS = 64, 100
_TABLES = (
    """
CREATE TABLE IF NOT EXISTS rooms (
    code TEXT PRIMARY KEY, key_digest TEXT NOT NULL, opened REAL NOT NULL,
    setting TEXT NOT NULL DEFAULT '', lesson TEXT NOT NULL DEFAULT '', step INTEGER NOT NULL DEFAULT -1,
    is_asking INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID
""",
    """
CREATE TABLE IF NOT EXISTS guesses (
    code TEXT NOT NULL, setting TEXT NOT NULL, lesson TEXT NOT NULL, step INTEGER NOT NULL,
    client TEXT NOT NULL, guess TEXT NOT NULL,
    PRIMARY KEY (code, setting, lesson, step, client)
) WITHOUT ROWID
""",
)


class RoomError(DSGError):
    """A request that a room does not allow. The message is a sentence for the client."""


@dataclass(frozen=True)
class Key:
    """The lecturer's access to a room: the code that the class knows, and a secret."""

    code: str
    secret: str = field(repr=False)  # kept out of log lines and messages


@dataclass(frozen=True)
class Asked:
    """The current question of a room, by setting, lesson and step; `is_open` is True if the room takes answers."""

    setting: str
    lesson: str
    step: int
    is_open: bool = True

    @property
    def question(self) -> Pick | Estimate | Curve | None:
        """The text of the question; None if the project has no such question."""
        found: GuidedLesson | None = None
        if self.setting in SETTINGS:
            found = next((g for g in profile_of(SETTINGS[self.setting]).guided if g.name == self.lesson), None)
        return found.steps[self.step].asks if found is not None and 0 <= self.step < len(found.steps) else None


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class Rooms:
    """The rooms of a store; `now` returns the time in seconds."""

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = store, now
        with store.opened() as connection:
            for table in _TABLES:
                connection.execute(table)

    def open(self) -> Key:
        """Open a room, and delete those that are older than a day; raise `RoomError` if there are too many."""
        key = Key("".join(secrets.choice(SIGNS) for _ in range(CODE_LENGTH)), secrets.token_urlsafe(24))
        with self._store.opened() as connection:
            self._forget(connection)
            (number,) = connection.execute("SELECT count(*) FROM rooms").fetchone()
            if number >= MOST_ROOMS:
                raise RoomError(f"There are {MOST_ROOMS} rooms already: one is free when the oldest is a day old.")
            row = (key.code, _digest(key.secret), self._now())
            connection.execute("INSERT INTO rooms (code, key_digest, opened) VALUES (?, ?, ?)", row)
        return key

    def _forget(self, connection: sqlite3.Connection) -> None:
        oldest = self._now() - SECONDS_OF_LIFE
        connection.execute("DELETE FROM guesses WHERE code NOT IN (SELECT code FROM rooms WHERE opened > ?)", (oldest,))
        connection.execute("DELETE FROM rooms WHERE opened <= ?", (oldest,))

    def ask(self, key: Key, asked: Asked) -> None:
        """Set a room's question, or stop its answers; raise `RoomError` if the key is not the room's."""
        values = (asked.setting, asked.lesson, asked.step, asked.is_open)
        with self._store.opened() as connection:
            self._check(connection, key)
            sets = "UPDATE rooms SET setting = ?, lesson = ?, step = ?, is_asking = ? WHERE code = ?"
            connection.execute(sets, (*values, key.code))

    def _check(self, connection: sqlite3.Connection, key: Key) -> None:
        row = self._room(connection, "key_digest", key.code)
        if row is None or not secrets.compare_digest(row[0], _digest(key.secret)):
            raise RoomError("This room is not open, or it is another lecturer's.")

    def _room(self, connection: sqlite3.Connection, columns: str, code: str) -> Any:
        question = f"SELECT {columns} FROM rooms WHERE code = ? AND opened > ?"
        return connection.execute(question, (code, self._now() - SECONDS_OF_LIFE)).fetchone()

    def asked(self, code: str) -> Asked:
        """Return a room's current question; raise `RoomError` if there is no room with that code."""
        with self._store.opened() as connection:
            return self._asked(connection, code)

    def _asked(self, connection: sqlite3.Connection, code: str) -> Asked:
        row = self._room(connection, "setting, lesson, step, is_asking", code)
        if row is None:
            raise RoomError("There is no such room: look at the code again.")
        return Asked(row[0], row[1], row[2], bool(row[3]))

    def answer(self, code: str, client: str, step: int, guess: str) -> str:
        """Store a client's guess at a room's question, in place of an earlier one; return the guess as the question reads it.

        Raises `RoomError` if the room takes no answers to it or is full, or if the answer is not a guess.
        """
        if not (isinstance(client, str) and isinstance(guess, str) and 16 <= len(client) <= LONGEST_TOKEN):
            raise RoomError("This is no answer.")
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")  # counted and stored in one transaction
            asked = self._asked(connection, code)
            said = _read(asked, guess)
            if not asked.is_open or asked.step != step or said is None:
                raise RoomError("This does not answer the current question.")
            at, digest = (code, asked.setting, asked.lesson, asked.step), _digest(client)
            count = "SELECT count(*) FROM guesses WHERE code = ? AND setting = ? AND lesson = ? AND step = ? AND client != ?"
            if connection.execute(count, (*at, digest)).fetchone()[0] >= MOST_CLIENTS:
                raise RoomError(f"This room is full: {MOST_CLIENTS} have answered.")
            connection.execute("INSERT OR REPLACE INTO guesses VALUES (?, ?, ?, ?, ?, ?)", (*at, digest, said))
        return said

    def guesses(self, key: Key, asked: Asked) -> list[Any]:
        """Return all guesses at a question; raise `RoomError` if the key is not the room's."""
        question = "SELECT guess FROM guesses WHERE code = ? AND setting = ? AND lesson = ? AND step = ?"
        with self._store.opened() as connection:
            self._check(connection, key)
            rows = connection.execute(question, (key.code, asked.setting, asked.lesson, asked.step)).fetchall()
        asks = asked.question
        return [] if asks is None else [asks.read(text) for (text,) in rows]


def _read(asked: Asked, guess: str) -> str | None:
    """Return the guess that the question reads from an answer; None if it reads none."""
    asks = asked.question
    read = None if asks is None or len(guess) > LONGEST_GUESS else asks.read(guess)
    return None if asks is None or read is None else asks.say(read)  # type: ignore[arg-type]  # each reads what it says
