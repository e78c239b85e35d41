"""One run of a study, in any process: a spec's text is the input, the contents of a store's row the output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.experiments import Run, Spec, StopReason, load_split, summary
from dsgcore.experiments.brief_run import BriefRun
from dsgcore.experiments.step_limit import step_limit
from dsgcore.studies.process_pool import GivenUpError, is_given_up

# Seconds between two checks if the study has been given up.
SLICE_SECONDS = 0.2

# A run's text, its summary, and recorded columns.
Made = tuple[str, dict[str, Any], dict[str, NDArray]]
# Makes them from the text, and the folder of the user's own data file.
Maker = Callable[..., Made]


def make_run(text: str, folder: str | None = None) -> Made:
    """Make the run of a spec, given as JSON text; return the text, the run's summary and its history's columns.

    The columns are those of a `BriefRun`; a run that diverges has all columns of a `Run`.
    `folder` holds the user's own data file, if the spec names the file without a folder.

    Raises
    ------
    ValueError
        If the data do not fit the spec.
    MemoryError
        If the run does not fit into memory.
    GivenUpError
        If the study has been given up.
    """
    spec = Spec.from_json(text)
    split = split_of(spec, folder)
    run = _finished(BriefRun(spec, split))
    if run.stop_reason is StopReason.DIVERGED:
        run = _finished(Run(spec, split))  # this one goes back to the last state that was still good
    said = summary(run) | {"step_limit": _step_limit(run)}
    return text, said, {name: run.history.column(name) for name in run.history.names}


def _finished(run: Run) -> Run:
    while not run.is_finished:
        if is_given_up():
            raise GivenUpError
        run.advance(seconds=SLICE_SECONDS)
    return run


# Cache of step limits by spec without step: runs that differ in the step alone have the same limit.
_step_limits: dict[str, float | None] = {}
MOST_LIMITS = 1000


def _step_limit(run: Run) -> float | None:
    without = replace(run.spec, solver=replace(run.spec.solver, step_size=1.0)).to_json()
    if without not in _step_limits:
        if len(_step_limits) >= MOST_LIMITS:
            _step_limits.clear()
        _step_limits[without] = step_limit(run)
    return _step_limits[without]


@lru_cache(maxsize=4)
def _split(text: str, folder: str | None) -> Split:
    return load_split(Spec.from_json(text), folder=None if folder is None else Path(folder))


def split_of(spec: Spec, folder: str | None) -> Split:
    """Return a spec's data; specs with the same data share them."""
    if spec.data.path is not None and folder is None:
        return load_split(spec)  # the file may have changed since
    plain = {"setting": spec.problem.name, "data": spec.to_dict()["data"], "seed": spec.seed}
    return _split(Spec.from_dict(plain).to_json(), folder)
