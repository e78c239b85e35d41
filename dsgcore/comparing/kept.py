"""Fits of comparisons in the store of runs. A fit that is there is not made again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from dsgcore.comparing.fits import Fit, FitRequest
from dsgcore.comparing.samples import Sample
from dsgcore.studies.store import HASHES_AT_ONCE, Store

_TABLE = """
CREATE TABLE IF NOT EXISTS fits (
    sha256 TEXT PRIMARY KEY, fit TEXT NOT NULL, finished TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID
"""


class KeptFits:
    """The fits of one sample in a store; without a store, in memory.

    Parameters
    ----------
    sample : Sample
    store : Store or None
    """

    def __init__(self, sample: Sample, store: Store | None) -> None:
        self.sample, self.store = sample, store
        self._known: dict[FitRequest, Fit] = {}
        self._looked_up: set[FitRequest] = set()
        if store is not None:
            with store.opened() as connection:
                connection.execute(_TABLE)

    def get(self, requests: Iterable[FitRequest]) -> Mapping[FitRequest, Fit]:
        """Return the known fits among these. Each is looked up in the store once."""
        wanted = list(requests)
        new = set(wanted) - self._looked_up
        if self.store is not None and new:
            self._looked_up |= new
            keys = {request.key(self.sample): request for request in new if request not in self._known}
            self._known |= {keys[key]: fit for key, fit in self._read(self.store, list(keys)).items()}
        return {request: self._known[request] for request in wanted if request in self._known}

    def put(self, fits: Iterable[Fit], *, is_stored: bool = True) -> None:
        """Keep fits, in memory only unless they are to be stored. One that is there already stays as it is."""
        new = [fit for fit in fits if fit.request not in self._known]
        self._known |= {fit.request: fit for fit in new}
        if self.store is not None and is_stored and new:
            rows = [(fit.request.key(self.sample), json.dumps(fit.to_dict())) for fit in new]
            with self.store.opened() as connection:
                connection.executemany("INSERT OR IGNORE INTO fits (sha256, fit) VALUES (?, ?)", rows)

    @staticmethod
    def _read(store: Store, keys: list[str]) -> dict[str, Fit]:
        found: dict[str, Fit] = {}
        with store.opened() as connection:
            for first in range(0, len(keys), HASHES_AT_ONCE):
                some = keys[first : first + HASHES_AT_ONCE]
                question = f"SELECT sha256, fit FROM fits WHERE sha256 IN ({', '.join('?' * len(some))})"
                found |= {key: Fit.from_dict(json.loads(text)) for key, text in connection.execute(question, some)}
        return found
