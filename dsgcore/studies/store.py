"""Store of finished runs in one file, and of races. A spec always gives the same numbers, so no run is made twice."""

from __future__ import annotations

import hashlib
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
from dsgcore.core.files import data_folder
from dsgcore.experiments import Spec
from dsgcore.experiments.data_of import as_in_app
from dsgcore.experiments.race import Race, RaceResult, competitor

# The name of the file, unless the caller gives one.
VARIABLE = "DSGLAB_STORE"
VERSION = 5
# Seconds that a writer waits for another one.
SECONDS_TO_WAIT = 60.0
_NOW = "TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"
_TABLES = (
    # What tables show of a run, apart from its history: thousands are read at once.
    f"""
CREATE TABLE IF NOT EXISTS runs (
    sha256 TEXT PRIMARY KEY, score REAL, objective REAL, seconds REAL NOT NULL, state TEXT NOT NULL,
    iterations INTEGER NOT NULL, error REAL, step_limit REAL, machine TEXT NOT NULL, finished {_NOW}
) WITHOUT ROWID
""",
    "CREATE TABLE IF NOT EXISTS histories (sha256 TEXT PRIMARY KEY, spec TEXT NOT NULL, columns BLOB NOT NULL) "
    "WITHOUT ROWID",
    # Whatever else is to be found again, by its kind: a comparison's fits, races, and pinned specs.
    f"""
CREATE TABLE IF NOT EXISTS kept (
    kind TEXT NOT NULL, key TEXT NOT NULL, json TEXT NOT NULL, blob BLOB, kept {_NOW}, PRIMARY KEY (kind, key)
) WITHOUT ROWID
""",
)
_RUN = "sha256, score, objective, seconds, state, iterations, error, step_limit"
# Kinds of which only so many are kept, the latest ones.
MOST_KEPT = {"pin": 10_000, "race": 2_000}
_FORGET = "DELETE FROM kept WHERE kind = ? AND key IN (SELECT key FROM kept WHERE kind = ? ORDER BY kept DESC LIMIT -1 OFFSET ?)"
# The state of a run whose numbers overflowed.
DIVERGED = "diverged"
# The number of keys in one query: SQLite allows at most 32,766.
KEYS_AT_ONCE = 10_000


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
    state : {"finished", "settled", "plateau", "diverged"}
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
    """Return the default store file: the one that DSGLAB_STORE names, else this version's own in the user's data folder."""
    return Path(named) if (named := os.environ.get(VARIABLE)) else data_folder() / f"runs-{VERSION}.sqlite"


class Store:
    """A file of finished runs, created with its folder if necessary. Several processes may read and write it at once.

    A fixed store is only read, so its folder need not be writable.

    Raises `StoreError` if the file cannot be created or opened, or is not a store.
    """

    def __init__(self, file: str | os.PathLike[str], *, is_fixed: bool = False) -> None:
        self.file, self.is_fixed = Path(file), is_fixed
        if is_fixed:
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.opened() as connection:
                _write_ahead(connection)
                connection.execute("BEGIN IMMEDIATE")  # processes that open it meanwhile see all of its tables or none
                (version,) = connection.execute("PRAGMA user_version").fetchone()  # 0 of a new file
                (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if version != VERSION and (version or tables):
                    raise StoreError(
                        f"{self.file} cannot be used as a store of runs: it is another program's, or another version's; "
                        f"it is left as it is: name another file ({VARIABLE} or --store)"
                    )
                for table in _TABLES:
                    connection.execute(table)
                connection.execute(f"PRAGMA user_version = {VERSION}")
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self.file} cannot be used as a store of runs: {error}") from None

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for the block; its changes are committed together, or not at all."""
        # One connection per use: connections must not move between threads or processes.
        place = f"{self.file.absolute().as_uri()}?immutable=1" if self.is_fixed else self.file
        opened = sqlite3.connect(place, timeout=SECONDS_TO_WAIT, uri=self.is_fixed)
        with closing(opened) as connection, connection:
            connection.execute("PRAGMA synchronous = NORMAL")
            yield connection

    def put(self, spec: str, summary: Mapping[str, Any], history: Mapping[str, NDArray]) -> StoredRun:
        """Store a finished run, unless it is there already; return the stored run.

        Parameters
        ----------
        spec : str
            Its canonical JSON text, whose digest is the run's key.
        summary : mapping
            From `dsgcore.experiments.summary`.
        history : mapping of str to ndarray of shape (iterations,)

        Returns
        -------
        StoredRun
        """
        last, sha256 = summary["last"], hashlib.sha256(spec.encode()).hexdigest()
        row = (
            sha256,
            summary.get("score", last.get("score_test")),
            last.get("objective_average", last.get("objective")),
            summary["seconds"],
            summary["stop_reason"],
            summary["iterations"],
            last.get("error_mean"),
            summary.get("step_limit"),
            " ".join(filter(None, (platform.system(), platform.machine(), platform.processor()))),
        )
        marks = ", ".join("?" * len(row))
        packed_history = packed(history)
        with self.opened() as connection:
            connection.execute(f"INSERT OR IGNORE INTO runs ({_RUN}, machine) VALUES ({marks})", row)
            connection.execute("INSERT OR IGNORE INTO histories VALUES (?, ?, ?)", (sha256, spec, packed_history))
        return self.get([sha256])[sha256]

    def get(self, hashes: Iterable[str]) -> dict[str, StoredRun]:
        """Return the stored runs among these, by their specs' hashes."""
        rows = self._rows(f"SELECT {_RUN} FROM runs WHERE sha256", hashes)
        return {row[0]: StoredRun(*row) for row in rows}

    def history(self, sha256: str) -> dict[str, NDArray]:
        """Return the recorded columns of a run; raise `KeyError` if it is not there."""
        rows = self._rows("SELECT sha256, columns FROM histories WHERE sha256", [sha256])
        return unpacked(dict(rows)[sha256])

    def columns(self, hashes: Iterable[str], names: Sequence[str]) -> dict[str, NDArray]:
        """Return the first of these columns that each of the runs has, by their hashes; an empty one if a run has none."""
        rows = self._rows("SELECT sha256, columns FROM histories WHERE sha256", hashes)
        found = dict[str, NDArray]()
        for sha256, content in rows:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                own = next((name for name in names if name in archive.files), None)
                found[sha256] = np.empty(0) if own is None else archive[own]
        return found

    def keep(self, kind: str, rows: Iterable[tuple[str, str, bytes | None]]) -> None:
        """Keep texts of JSON and arrays by key, as if they were new. Of a kind with very many, the oldest are deleted."""
        said = (
            "INSERT INTO kept (kind, key, json, blob) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (kind, key) DO UPDATE SET kept = excluded.kept"
        )
        with self.opened() as connection:
            connection.executemany(said, [(kind, *row) for row in rows])
            if kind in MOST_KEPT:
                connection.execute(_FORGET, (kind, kind, MOST_KEPT[kind]))

    def kept(self, kind: str, keys: Iterable[str] | None = None) -> dict[str, str]:
        """Return the texts among these that are kept, by their keys; by default all of the kind."""
        if keys is not None:
            return dict(self._rows("SELECT key, json FROM kept WHERE kind = ? AND key", keys, kind))
        with self.opened() as connection:
            return dict(connection.execute("SELECT key, json FROM kept WHERE kind = ?", (kind,)).fetchall())

    def found(self, kind: str, beginning: str) -> tuple[str, bytes] | None:
        """Return the text and the arrays whose key begins so; None if there is none, or more than one."""
        question = "SELECT json, blob FROM kept WHERE kind = ? AND key >= ? AND key < ? LIMIT 2"
        with self.opened() as connection:
            rows = connection.execute(question, (kind, beginning, beginning + "g")).fetchall()
        return rows[0] if len(rows) == 1 else None

    def pinned(self, beginning: str) -> str | None:
        """Return the spec of a pin, or of a run, whose hash begins so; None if there is none, or more than one."""
        if (pin := self.found("pin", beginning)) is not None:
            return pin[0]
        with self.opened() as connection:
            question = "SELECT spec FROM histories WHERE sha256 >= ? AND sha256 < ? LIMIT 2"
            rows = connection.execute(question, (beginning, beginning + "g")).fetchall()
        return str(rows[0][0]) if len(rows) == 1 else None

    def _rows(self, question: str, keys: Iterable[str], *given: str) -> list[Any]:
        """Return the rows of a question that ends with a column, for these of its values."""
        wanted, rows = list(keys), list[Any]()
        with self.opened() as connection:
            for first in range(0, len(wanted), KEYS_AT_ONCE):
                some = wanted[first : first + KEYS_AT_ONCE]
                rows += connection.execute(f"{question} IN ({', '.join('?' * len(some))})", (*given, *some))
        return rows

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


def unpacked(content: bytes) -> dict[str, NDArray]:
    """Return the columns that `packed` has packed."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


# The arrays of a race's result.
_ARRAYS = ("steps", "objectives", "surface", "classes")


def name_of(race: Race) -> str:
    """Return a race's name in a store: the SHA-256 of everything that determines it."""
    return hashlib.sha256(json.dumps(_said(race), sort_keys=True).encode()).hexdigest()


def keep_race(store: Store, race: Race, result: RaceResult) -> None:
    """Store a race's result, unless it is there already."""
    plain = dict(vars(result))
    arrays = {name: plain.pop(name) for name in _ARRAYS}
    store.keep("race", [(name_of(race), json.dumps([_said(race), plain]), packed(arrays))])


def kept_race(store: Store, beginning: str) -> tuple[Race, RaceResult] | None:
    """Return the race whose name begins so, and its result; None if there is no such race, or more than one.

    Also return None if another version stored it, with a spec or competitor that this version does not know.
    """
    row = store.found("race", beginning)
    if row is None:
        return None
    try:
        said, plain = json.loads(row[0])
        race = Race(**said | {"spec": Spec.from_dict(said["spec"]), "axes": tuple(said["axes"])})
        competitor(race.spec.problem.name, race.competitor)
        return race, RaceResult(**plain | unpacked(row[1]) | {"notes": tuple(plain["notes"])})
    except (ValueError, TypeError, KeyError):
        return None


def _said(race: Race) -> Any:
    """Return a race as plain data, with its file by name and digest; numbers may be NumPy's, and parameters any mapping."""
    plain = json.dumps(
        vars(race) | {"spec": as_in_app(race.spec, has_recipe=False)[0].to_dict()},
        default=lambda value: value.item() if isinstance(value, np.generic) else dict(value),
    )
    return json.loads(plain)
