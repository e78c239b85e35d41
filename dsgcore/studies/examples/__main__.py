"""Command that makes the examples again: `python -m dsgcore.studies.examples`, or with the names of some files."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from dsgcore.studies.carrying_out import carry_out
from dsgcore.studies.examples import COLUMNS, FOLDER, question_of, write
from dsgcore.studies.processes import local_processes
from dsgcore.studies.store import Store
from dsgcore.studies.study import AnyStudy


def make_again(kind: str, setting: str) -> None:
    """Make a setting's example again, with the values in its file."""
    make(kind, setting, question_of(kind, setting))


def make(kind: str, setting: str, study: AnyStudy) -> None:
    """Carry out a study, and write its results as the example of a setting."""
    with TemporaryDirectory() as folder, local_processes() as executor:
        store = Store(Path(folder) / "runs.sqlite")
        failed = [outcome.failed for outcome in carry_out(study, store, executor, 1) if outcome.failed]
        if failed:
            raise SystemExit(f"{len(failed)} runs of {kind}-{setting} failed: {failed[0]}")
        write(kind, setting, study.to_dict(), COLUMNS[kind](study, store))


def main(names: list[str]) -> None:
    """Make the examples with these names again, by default all of them."""
    for name in names or sorted(file.stem for file in FOLDER.glob("*.npz")):
        kind, _, setting = name.partition("-")
        print(name, flush=True)
        make_again(kind, setting)


if __name__ == "__main__":
    main(sys.argv[1:])
