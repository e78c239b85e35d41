"""The command ``dsg-lab sweep STUDY.json``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgcore.cli.ending import NO, Made, Progress, note
from dsgcore.cli.options import PROGRAM, client_of, typed_value
from dsgcore.cli.places import check_files, inputs_of, json_file
from dsgcore.core.files import read_text, whole_file
from dsgcore.core.parameters import quoted
from dsgcore.experiments import SETTINGS
from dsgcore.experiments.data_of import with_usual, with_whole_path
from dsgcore.experiments.spec import named_in_errors
from dsgcore.studies.carrying_out import Outcome, carry_out
from dsgcore.studies.optuna_trials import to_optuna
from dsgcore.studies.processes import all_cores
from dsgcore.studies.results import RESULTS, csv_of, table_of
from dsgcore.studies.store import Store, default_store
from dsgcore.studies.study import Study, StudyError


def sweep(given: argparse.Namespace) -> Made:
    """Make the runs of a study and write its table; the exit code is 0, or 1 if no run has a result."""
    study = asked_study(given.study, given.axis, given.seeds)
    files = {"--csv": (given.csv, f"{','.join(RESULTS)}\n"), "--store": (given.store, "SQLite format")}
    check_files(files | json_file(given), inputs_of(given.study, study.spec))
    store = Store(given.store or default_store())
    progress = _Progress(len(study), is_quiet=given.quiet)
    if given.optuna_storage is not None:
        with suppress(ImportError):  # refused in a sentence by `to_optuna`
            from optuna import logging

            logging.set_verbosity(logging.WARNING)  # its messages do not belong into the progress line
        to_optuna(study, store, given.optuna_storage)  # so a storage that cannot be used is refused before any run
    try:
        with client_of(given.dask) if given.dask else nullcontext() as client:
            outcomes = carry_out(study, store, given.jobs or all_cores(), client=client, callback=progress.tell)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"finished runs are kept in {store.file}. Run the same command to continue") from None
    if given.optuna_storage is not None:
        to_optuna(study, store, given.optuna_storage)
    table = table_of(study, outcomes)
    if given.csv is not None:
        with whole_file(given.csv) as to:
            to.write(csv_of(table))
    has_result = any(outcome.stored is not None for outcome in outcomes)
    if not has_result:
        note(f"{PROGRAM}: no run has a result: {outcomes[0].failed}")
    counts = {"runs": len(outcomes), "new": progress.new, "failed": progress.failed}
    data = counts | {"store": store.file, "csv": given.csv, "table": table.to_dict("records")}
    text = csv_of(table).rstrip("\n") if given.csv is None else f"{progress.said()}. The table is in {given.csv}."
    return Made(data, text, 0 if has_result else NO, is_result=given.csv is None)


def asked_study(study: Path, axis: Sequence[str], seeds: int | None) -> Study:
    """Return the study of a file or of a setting's name, with the axes and the number of seeds of the command line."""
    is_name = str(study) in SETTINGS and not study.exists()
    base = Study.from_dict({"spec": {"setting": str(study)}, "seeds": [0]}) if is_name else read_study(study)
    plain = base.to_dict()
    if axis:
        plain["axes"] = [axis_of(text) for text in axis]
    if seeds is not None:
        plain["seeds"] = list(range(seeds))
    return Study.from_dict(plain)


def axis_of(text: str) -> dict[str, Any]:
    """Return the plain data of an axis: NAME=FROM:TO:N, NAME=FROM:TO:N:log, or NAME=VALUE,VALUE,..."""
    name, _, said = text.partition("=")
    parts = said.split(":")
    try:
        if len(parts) in (3, 4):
            scale = {"scale": parts[3]} if len(parts) == 4 else {}
            return {"name": name, "from": float(parts[0]), "to": float(parts[1]), "n": int(parts[2]), **scale}
    except ValueError:
        parts = []
    if not said or len(parts) != 1:
        raise StudyError(
            f"--axis must be NAME=FROM:TO:N, NAME=FROM:TO:N:log or NAME=VALUE,VALUE,..., got {quoted(text)}"
        )
    return {"name": name, "values": [typed_value(word) for word in said.split(",")]}


def read_study(file: Path) -> Study:
    """Read a study's file, with its spec as `read_spec` reads one.

    A data file that the spec names without a folder is also looked for beside the study.
    """
    text = read_text(file, "a study in JSON")
    with named_in_errors(file):
        study = Study.from_json(text)
        said = json.loads(text)
        spec = with_usual(study.spec, said.get("spec", said), file.parent)
    return replace(study, spec=with_whole_path(spec, file.parent))


class _Progress(Progress):
    """Progress of a sweep: the number of finished runs, and of those made now."""

    def __init__(self, total: int, *, is_quiet: bool) -> None:
        super().__init__(is_quiet=is_quiet)
        self.total = total
        self.done = self.new = self.failed = 0

    def tell(self, outcome: Outcome) -> None:
        """Count an outcome, and draw the line."""
        self.done += 1
        self.new += outcome.is_new
        self.failed += outcome.stored is None
        self.part(self.done, self.total, self.said(), is_new=self.new > 0)

    def said(self) -> str:
        """Return the numbers of runs."""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.done} of {self.total} runs, {self.new} new{failed}"
