"""Store of finished runs in one file. A spec always gives the same numbers, so no run is made twice."""

from __future__ import annotations

import io
import json
import os
import platform
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.text_files import data_folder

# The name of the file, unless the caller gives one.
VARIABLE = "DSGLAB_STORE"
VERSION = 3
# Seconds that a writer waits for another one.
SECONDS_TO_WAIT = 60.0
_TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    sha256 TEXT PRIMARY KEY, spec TEXT NOT NULL, summary TEXT NOT NULL, history BLOB NOT NULL,
    score REAL, objective REAL, seconds REAL NOT NULL, state TEXT NOT NULL, iterations INTEGER NOT NULL,
    machine TEXT NOT NULL, finished TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID
"""
# The fields of a run that tables show, apart from the histories: thousands are read at once.
_SAID = """
CREATE TABLE IF NOT EXISTS said (
    sha256 TEXT PRIMARY KEY, score REAL, objective REAL, seconds REAL NOT NULL, state TEXT NOT NULL,
    iterations INTEGER NOT NULL, error REAL, step_limit REAL
) WITHOUT ROWID
"""
_SAY = (
    "INSERT OR IGNORE INTO said SELECT sha256, score, objective, seconds, state, iterations, "
    "json_extract(summary, '$.last.error_mean'), json_extract(summary, '$.step_limit') FROM runs"
)
# Specs that users want to find again, with or without a run.
_PINS = """
CREATE TABLE IF NOT EXISTS pins (
    sha256 TEXT PRIMARY KEY, spec TEXT NOT NULL, pinned TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID
"""
MOST_PINS = 10_000
# The state of a run whose numbers overflowed.
DIVERGED = "diverged"
_RACES = """
CREATE TABLE IF NOT EXISTS races (
    sha256 TEXT PRIMARY KEY, race TEXT NOT NULL, result TEXT NOT NULL, arrays BLOB NOT NULL,
    finished TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID
"""
MOST_RACES = 2_000
# The number of latest rows to keep in a table; older ones are deleted.
_FORGET = "DELETE FROM {0} WHERE sha256 IN (SELECT sha256 FROM {0} ORDER BY {1} DESC LIMIT -1 OFFSET ?)"
# The number of hashes in one query: SQLite allows at most 32,766.
HASHES_AT_ONCE = 10_000


class StoreError(DSGError):
    """A store that cannot be used. The message gives the file and the reason."""


@dataclass(frozen=True)
class StoredRun:
    """Summary of a stored run, for tables.

    Attributes
    ----------
    sha256 : str
        The digest of its spec.
    score, objective : float or None
        On the test points and the training data, for the model that the run gives: the average if the spec asks for
        one. None if the run had no iteration, or if they are not finite.
    seconds : float
        The run's computing time.
    state : {"finished", "plateau", "diverged"}
    error : float or None
        The mean of |f − h|² at the end.
    step_limit : float or None
        The step size above which it diverges, if known.
    """

    sha256: str
    score: float | None
    objective: float | None
    seconds: float
    state: str
    iterations: int
    error: float | None = None
    step_limit: float | None = None


def default_store() -> Path:
    """Return the default store file: the one that DSGLAB_STORE names, else one in the user's data folder."""
    return Path(named) if (named := os.environ.get(VARIABLE)) else data_folder() / "runs.sqlite"


class Store:
    """A file of finished runs, created with its folder if necessary. Several processes may read and write it at once.

    Raises `StoreError` if the file cannot be created or opened, or is not a store.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = Path(file)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.opened() as connection:
                _write_ahead(connection)
                connection.execute("BEGIN IMMEDIATE")  # processes that open it meanwhile see all of its tables or none
                self._check_version(connection)
                for table in (_TABLE, _SAID, _PINS, _RACES):
                    connection.execute(table)
                connection.execute(f"PRAGMA user_version = {VERSION}")
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self.file} cannot be used as a store of runs: {error}") from None

    def _check_version(self, connection: sqlite3.Connection) -> None:
        """Raise `StoreError` for another program's file, or another version's; a new file has version 0."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version != VERSION and (version or tables):
            raise StoreError(
                f"{self.file} cannot be used as a store of runs: it is another program's, or another version's"
            )

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for the block; its changes are committed together, or not at all."""
        # One connection per use: connections must not move between threads or processes.
        with closing(sqlite3.connect(self.file, timeout=SECONDS_TO_WAIT)) as connection, connection:
            connection.execute("PRAGMA synchronous = NORMAL")
            yield connection

    def put(self, spec: str, summary: Mapping[str, Any], history: Mapping[str, NDArray]) -> StoredRun:
        """Store a finished run, unless it is there already; return the stored run.

        Parameters
        ----------
        spec : str
            Its canonical JSON text.
        summary : mapping
            From `dsgcore.experiments.summary`.
        history : mapping of str to ndarray of shape (iterations,)

        Returns
        -------
        StoredRun
        """
        last = summary["last"]
        row = (
            summary["spec_sha256"],
            spec,
            json.dumps(summary),
            packed(history),
            summary.get("score", last.get("score_test")),
            last.get("objective_average", last.get("objective")),
            summary["seconds"],
            summary["stop_reason"],
            summary["iterations"],
            json.dumps({"machine": platform.machine(), "processor": platform.processor(), "system": platform.system()}),
        )
        names = "sha256, spec, summary, history, score, objective, seconds, state, iterations, machine"
        with self.opened() as connection:
            connection.execute(f"INSERT OR IGNORE INTO runs ({names}) VALUES ({', '.join('?' * len(row))})", row)
            connection.execute(f"{_SAY} WHERE sha256 = ?", row[:1])
        return self.get([row[0]])[row[0]]

    def get(self, hashes: Iterable[str]) -> dict[str, StoredRun]:
        """Return the stored runs among these, by their specs' hashes."""
        wanted = list(hashes)
        found: dict[str, StoredRun] = {}
        with self.opened() as connection:
            for first in range(0, len(wanted), HASHES_AT_ONCE):
                some = wanted[first : first + HASHES_AT_ONCE]
                question = f"SELECT * FROM said WHERE sha256 IN ({', '.join('?' * len(some))})"
                found |= {row[0]: StoredRun(*row) for row in connection.execute(question, some)}
        return found

    def history(self, sha256: str) -> dict[str, NDArray]:
        """Return the recorded columns of a run; raise `KeyError` if it is not there."""
        return unpacked(self._one("history", sha256))

    def columns(self, hashes: Sequence[str], names: Sequence[str]) -> dict[str, NDArray]:
        """Return the first of these columns that each of the runs has, by their hashes; an empty one if a run has none."""
        question = f"SELECT sha256, history FROM runs WHERE sha256 IN ({', '.join('?' * len(hashes))})"
        with self.opened() as connection:
            return {
                sha256: _unpacked_column(content, names) for sha256, content in connection.execute(question, hashes)
            }

    def spec(self, sha256: str) -> str:
        """Return a run's spec as JSON text; raise `KeyError` if it is not there."""
        return str(self._one("spec", sha256))

    def _one(self, column: str, sha256: str) -> Any:
        with self.opened() as connection:
            row = connection.execute(f"SELECT {column} FROM runs WHERE sha256 = ?", (sha256,)).fetchone()
        if row is None:
            raise KeyError(sha256)
        return row[0]

    def pin(self, sha256: str, spec: str) -> None:
        """Store a spec, so that `pinned` finds it; if there are very many, the oldest are deleted."""
        with self.opened() as connection:
            connection.execute("INSERT OR REPLACE INTO pins (sha256, spec) VALUES (?, ?)", (sha256, spec))
            connection.execute(_FORGET.format("pins", "pinned"), (MOST_PINS,))

    def pinned(self, beginning: str) -> str | None:
        """Return the spec of a pin, or of a run, whose hash begins so; None if there is none, or more than one."""
        found = self._only("spec", "pins", beginning) or self._only("spec", "runs", beginning)
        return None if found is None else str(found[0])

    def put_race(self, sha256: str, race: str, result: str, arrays: bytes) -> None:
        """Store a finished race; if there are very many, those that ended first are deleted."""
        with self.opened() as connection:
            row = (sha256, race, result, arrays)
            connection.execute("INSERT OR IGNORE INTO races (sha256, race, result, arrays) VALUES (?, ?, ?, ?)", row)
            connection.execute(_FORGET.format("races", "finished"), (MOST_RACES,))

    def race(self, beginning: str) -> tuple[str, str, bytes] | None:
        """Return the race whose name begins so, as `put_race` got it; None if there is none, or more than one."""
        return self._only("race, result, arrays", "races", beginning)

    def _only(self, columns: str, table: str, beginning: str) -> Any:
        question = f"SELECT {columns} FROM {table} WHERE sha256 >= ? AND sha256 < ? LIMIT 2"
        with self.opened() as connection:
            rows = connection.execute(question, (beginning, beginning + "g")).fetchall()
        return rows[0] if len(rows) == 1 else None

    def __len__(self) -> int:
        with self.opened() as connection:
            (number,) = connection.execute("SELECT count(*) FROM runs").fetchone()
        return int(number)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at the same time; SQLite does not wait by itself if others request this at once."""
    end = time.monotonic() + SECONDS_TO_WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.01)


def packed(history: Mapping[str, NDArray]) -> bytes:
    """Return a history's columns as one compressed archive."""
    file = io.BytesIO()
    try:
        np.savez_compressed(file, **history)  # type: ignore[arg-type]  # the stubs mistake them for an option
    except ValueError as error:  # NumPy closes the archive, and the archive complains, before an interrupt arrives here
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise
    return file.getvalue()


def _unpacked_column(content: bytes, names: Sequence[str]) -> NDArray:
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        found = next((name for name in names if name in archive.files), None)
        return np.empty(0) if found is None else archive[found]


def unpacked(content: bytes) -> dict[str, NDArray]:
    """Return the columns that `packed` has packed."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
