"""A study's outcome as a table: one row a run, in the study's order, the same bytes whoever has made the runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from dsgcore.studies.carrying_out import Outcome
from dsgcore.studies.gathered import Gathered
from dsgcore.studies.study import Study

RESULTS = ("seed", "score", "objective", "seconds", "state", "sha256")


def table_of(study: Study | Gathered, outcomes: Sequence[Outcome]) -> str:
    """Return the table as CSV text: the axes' values, seed, score, objective, seconds, state, the spec's sha256.

    The state is that of a stored run, "finished", "plateau" or "diverged"; else what went wrong, in one sentence.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*(axis.name for axis in study.axes), *RESULTS])
    for outcome in outcomes:
        writer.writerow([_cell(value) for value in (*outcome.run.values, *_results(outcome))])
    return file.getvalue()


def _results(outcome: Outcome) -> tuple[Any, ...]:
    run, stored = outcome.run, outcome.stored
    sha256 = run.spec.sha256 if run.spec is not None else None
    if stored is None:
        return run.seed, None, None, None, outcome.failed, sha256
    return run.seed, stored.score, stored.objective, stored.seconds, stored.state, sha256


def _cell(value: Any) -> Any:
    """Return numbers in the shortest form that reads back exactly; nothing for what is not there."""
    return "" if value is None else repr(value) if isinstance(value, float) else value
