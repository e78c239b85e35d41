"""Rooms: a class's guesses at a lesson's questions, kept in the server's store for a day, without names.

Whoever opens a room is given its code, which the class is told, and a key, which nobody is. A client is a random token that its
browser keeps; of it nothing is stored but a digest, and of an answer nothing but what the question itself reads in it.
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
# No signs that are mistaken for each other; 32 to the 8th are a million million.
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
    """What was asked of a room is not allowed, in a sentence for who asked."""


@dataclass(frozen=True)
class Key:
    """What opens a room to its lecturer: the code that the class knows, and a secret that it does not."""

    code: str
    secret: str = field(repr=False)  # no log line or message shows it


@dataclass(frozen=True)
class Asked:
    """A question that a room is at, by setting, lesson and step; `is_open` where answers are taken."""

    setting: str
    lesson: str
    step: int
    is_open: bool = True

    @property
    def question(self) -> Pick | Estimate | Curve | None:
        """What is asked; None where the project has no such question."""
        found: GuidedLesson | None = None
        if self.setting in SETTINGS:
            found = next((g for g in profile_of(SETTINGS[self.setting]).guided if g.name == self.lesson), None)
        return found.steps[self.step].asks if found is not None and 0 <= self.step < len(found.steps) else None


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class Rooms:
    """The rooms of a store; `now` gives the time in seconds."""

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = store, now
        with store.opened() as connection:
            for table in _TABLES:
                connection.execute(table)

    def open(self) -> Key:
        """Open a room, and forget those that are older than a day; raise `RoomError` if there are too many."""
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
        """Put a question to a room, or take no more answers to it; raise `RoomError` where the key is not the room's."""
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
        """Return what a room is asked; raise `RoomError` where there is none of that code."""
        with self._store.opened() as connection:
            return self._asked(connection, code)

    def _asked(self, connection: sqlite3.Connection, code: str) -> Asked:
        row = self._room(connection, "setting, lesson, step, is_asking", code)
        if row is None:
            raise RoomError("There is no such room: look at the code again.")
        return Asked(row[0], row[1], row[2], bool(row[3]))

    def answer(self, code: str, client: str, step: int, guess: str) -> str:
        """Keep a client's guess at a room's question, in place of an earlier one; return it as it was understood.

        A `RoomError` says where the room takes no answer to it, is full, or this is none.
        """
        if not (isinstance(client, str) and isinstance(guess, str) and 16 <= len(client) <= LONGEST_TOKEN):
            raise RoomError("This is no answer.")
        with self._store.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")  # counted and kept in one
            asked = self._asked(connection, code)
            said = _read(asked, guess)
            if not asked.is_open or asked.step != step or said is None:
                raise RoomError("This is no answer to what is asked now.")
            at, digest = (code, asked.setting, asked.lesson, asked.step), _digest(client)
            count = "SELECT count(*) FROM guesses WHERE code = ? AND setting = ? AND lesson = ? AND step = ? AND client != ?"
            if connection.execute(count, (*at, digest)).fetchone()[0] >= MOST_CLIENTS:
                raise RoomError(f"This room is full: {MOST_CLIENTS} have answered.")
            connection.execute("INSERT OR REPLACE INTO guesses VALUES (?, ?, ?, ?, ?, ?)", (*at, digest, said))
        return said

    def guesses(self, key: Key, asked: Asked) -> list[Any]:
        """Return all guesses at a question; raise `RoomError` where the key is not the room's."""
        question = "SELECT guess FROM guesses WHERE code = ? AND setting = ? AND lesson = ? AND step = ?"
        with self._store.opened() as connection:
            self._check(connection, key)
            rows = connection.execute(question, (key.code, asked.setting, asked.lesson, asked.step)).fetchall()
        asks = asked.question
        return [] if asks is None else [asks.read(text) for (text,) in rows]


def _read(asked: Asked, guess: str) -> str | None:
    """Return a guess as the question says it; None where it reads none in it."""
    asks = asked.question
    read = None if asks is None or len(guess) > LONGEST_GUESS else asks.read(guess)
    return None if asks is None or read is None else asks.say(read)  # type: ignore[arg-type]  # each reads what it says
