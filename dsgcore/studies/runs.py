"""The run that a study makes of a spec, in any process: a spec's text is the input, the contents of a store's rows the output."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.data import Split
from dsgcore.experiments import Run, Spec, StopReason, load_split, summary
from dsgcore.experiments.run import step_limit

# Other processes have priority for the cores over those of a study in the background.
NICENESS = 10
TOO_LARGE = "it needs more memory than a run of a study is allowed"

# A run's text, its summary, and recorded columns.
Made = tuple[str, dict[str, Any], dict[str, NDArray]]
# Makes them from the text, and the folder of the user's own data file.
Maker = Callable[..., Made]


def make_run(text: str, folder: str | None = None) -> Made:
    """Make the run of a spec, given as JSON text; return the text, the run's summary and its history's columns.

    The columns are those of a brief run; a run that diverges has all columns of a `Run`.
    `folder` holds the user's own data file, if the spec names the file without a folder.

    Raises
    ------
    ValueError
        If the data do not fit the spec.
    MemoryError
        If the run does not fit into memory.
    """
    spec = Spec.from_json(text)
    split = split_of(spec, folder)
    run = Run(spec, split, measure="brief")
    run.advance()
    if run.stop_reason is StopReason.DIVERGED:
        run = Run(spec, split)  # this one goes back to the last state that was still good
        run.advance()
    said = summary(run) | {"step_limit": _step_limit(run)}
    return text, said, {name: run.history.column(name) for name in run.history.names}


def make_runs(
    make: Maker,
    folder: str | None,
    end: float,
    is_polite: bool,
    texts: Sequence[str],
    *,
    report: Callable[[Made | str], object],
) -> None:
    """Make runs in a job; report each, or the reason why it has no result. None begins after `end` of `time.monotonic`."""
    if is_polite:
        with suppress(AttributeError, OSError):  # not everywhere
            os.nice(NICENESS)
    for text in texts:
        if time.monotonic() >= end:
            return
        try:
            report(make(text, folder=folder))
        except MemoryError:
            report(TOO_LARGE)
        except DSGError as error:
            report(" ".join(str(error).split()))


# Step limits by spec without step: runs that differ in the step alone have the same limit.
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
