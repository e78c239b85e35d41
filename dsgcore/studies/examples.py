"""Finished examples that come with the package as a filled store: one study, and for most settings a theorem's trajectories.

`python -m dsgcore.studies.examples` makes them again.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from dsgcore.diagnostics.convergence import Convergence
from dsgcore.studies.carrying_out import carry_out
from dsgcore.studies.results import StudyRuns, convergences
from dsgcore.studies.store import Store, packed
from dsgcore.studies.study import Study

FILE = Path(__file__).with_name("examples.sqlite")
KIND, STUDY, TRAJECTORIES = "example", "study", "ways"
# Of the iterations at which a trajectory is measured, every so many are kept, and the last one.
EACH = 4


def _kept(store: Store, name: str) -> tuple[Study, list[str | None]] | None:
    """Return an example's study, and the keys of its runs when they were made, or None if there is none of that name."""
    text = store.kept(KIND, [name]).get(name)
    if text is None:
        return None
    plain = json.loads(text)
    return Study.from_dict(plain["study"]), plain["keys"]


@cache
def example_study(setting: str) -> StudyRuns | None:
    """Return the finished study of a setting, or None if the package has none. Do not change it."""
    store = Store(FILE, is_fixed=True)
    kept = _kept(store, f"{STUDY}-{setting}")
    if kept is None:
        return None
    made, rows = StudyRuns(kept[0]), store.get(filter(None, kept[1]))
    for now, then in zip(made.hashes, kept[1], strict=True):
        if now is not None and then in rows:
            made.stored[now] = replace(rows[then], sha256=now)
    return made


@cache
def example_trajectories(setting: str) -> tuple[Study, list[Convergence]] | None:
    """Return the question of a setting's finished trajectories and its results, or None. Do not change them."""
    store = Store(FILE, is_fixed=True)
    kept = _kept(store, f"{TRAJECTORIES}-{setting}")
    if kept is None:
        return None
    study, keys = kept[0], kept[1]
    return study, [found for found in convergences(study, keys, store) if found is not None]


def make_again() -> None:
    """Make all examples again, in a new store that then replaces the old one."""
    old = Store(FILE, is_fixed=True)
    with TemporaryDirectory(dir=FILE.parent) as folder:
        new = Store(Path(folder) / FILE.name)
        for name in sorted(old.kept(KIND)):
            print(name, flush=True)
            study, _ = _kept(old, name) or (None, None)
            assert study is not None
            failed = [outcome.failed for outcome in carry_out(study, new, 1) if outcome.failed]
            if failed:
                raise SystemExit(f"{len(failed)} runs of {name} failed: {failed[0]}")
            said = {"study": study.to_dict(), "keys": [run.key for run in study.runs()]}
            new.keep(KIND, [(name, json.dumps(said), None)])
            for key in (run.key for run in study.runs() if run.key is not None):  # no histories but thin trajectories
                columns = new.history(key)
                last = len(columns["t"]) - 1
                places = sorted({*range(last % EACH, last + 1, EACH), last})
                thin = {} if study.data_seed is None else {name: column[places] for name, column in columns.items()}
                with new.opened() as connection:
                    connection.execute("UPDATE histories SET columns = ? WHERE sha256 = ?", (packed(thin), key))
        with closing(sqlite3.connect(new.file)) as connection:  # all in one file
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("VACUUM")
        new.file.replace(FILE)


if __name__ == "__main__":
    make_again()
