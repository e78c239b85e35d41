"""Records of a class's room: its key, its state, what it refuses, and its tables in the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.studies.room_questions import Asked

TABLES = (
    """
CREATE TABLE IF NOT EXISTS class_rooms (
    code TEXT PRIMARY KEY, key_digest TEXT NOT NULL, entry TEXT NOT NULL, opened REAL NOT NULL,
    version INTEGER NOT NULL DEFAULT 0, question TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID
""",
    """
CREATE TABLE IF NOT EXISTS class_rounds (
    code TEXT NOT NULL, question TEXT NOT NULL, round INTEGER NOT NULL, opened REAL NOT NULL, closes REAL,
    is_revealed INTEGER NOT NULL DEFAULT 0, result TEXT NOT NULL DEFAULT '{}', picture TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (code, question, round)
) WITHOUT ROWID
""",
    """
CREATE TABLE IF NOT EXISTS class_votes (
    code TEXT NOT NULL, question TEXT NOT NULL, round INTEGER NOT NULL, client TEXT NOT NULL, guess TEXT NOT NULL,
    PRIMARY KEY (code, question, round, client)
) WITHOUT ROWID
""",
    # The rooms that let in no new phones.
    "CREATE TABLE IF NOT EXISTS class_doors_shut (code TEXT PRIMARY KEY) WITHOUT ROWID",
)
OF_A_ROOM = ("class_rooms", "class_rounds", "class_votes", "class_doors_shut")


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


def round_row(connection: sqlite3.Connection, columns: str, code: str, name: str, number: int | None = None) -> Any:
    """Return these columns of a round, by default of the last one."""
    at = "SELECT max(round) FROM class_rounds WHERE code = ? AND question = ?"
    question = f"SELECT {columns} FROM class_rounds WHERE code = ? AND question = ? AND round = "
    given = (code, name, code, name) if number is None else (code, name, number)
    return connection.execute(question + (f"({at})" if number is None else "?"), given).fetchone()


def is_shut(connection: sqlite3.Connection, code: str) -> bool:
    """Return True if a room lets in no new phones."""
    return connection.execute("SELECT 1 FROM class_doors_shut WHERE code = ?", (code,)).fetchone() is not None


def check_door(connection: sqlite3.Connection, code: str, digest: str, let_in: Callable[[], None]) -> None:
    """Call `let_in` for a client that has answered no question of a room yet; raise `RoomError` if the room is shut."""
    found = "SELECT 1 FROM class_votes WHERE code = ? AND client = ? LIMIT 1"
    if connection.execute(found, (code, digest)).fetchone() is not None:
        return
    if is_shut(connection, code):
        raise RoomError("The lecturer lets in no new phones now.")
    let_in()
