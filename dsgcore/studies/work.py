"""One run of a study, in whatever process it is made: a spec's text goes in, what a store keeps comes out."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dsgcore._memory import limit_growth
from dsgcore.core._threads import set_workers
from dsgcore.data import Split
from dsgcore.experiments import Run, Spec, load_split, summary
from dsgcore.experiments.step_limit import step_limit

# Between two looks whether the study has been given up.
SLICE_SECONDS = 0.2
_given_up: Any = threading.Event()

# A run's text, its summary, and columns of what was recorded.
Made = tuple[str, dict[str, Any], dict[str, NDArray]]
# Makes them of the text, and of the folder where a person's own file is.
Maker = Callable[..., Made]


class GivenUpError(Exception):
    """Nobody waits for the study any more."""


def begin_worker(given_up: Any, memory: int | None) -> None:
    """Prepare a process for runs: one thread, so much memory beyond what it has, and where it hears that it may end."""
    global _given_up
    _given_up = given_up
    threading.Thread(target=_end_with_parent, name="parent's watch", daemon=True).start()
    set_workers(1)
    if memory is not None:
        limit_growth(memory, lambda: os._exit(1))


def _end_with_parent() -> None:
    """End this process when the one that began it has ended, however that came: nobody else would."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def make_run(text: str, folder: str | None = None) -> Made:
    """Carry out a spec, given as JSON text; return the text, the run's summary and its history's columns.

    In a folder is a person's own file, if the spec names one without its place. What does not fit the spec, or into memory,
    raises `ValueError` or `MemoryError`; a study that has been given up meanwhile `GivenUpError`.
    """
    spec = Spec.from_json(text)
    run = Run(spec, split_of(spec, folder))
    while not run.is_finished:
        if is_given_up():
            raise GivenUpError
        run.advance(seconds=SLICE_SECONDS)
    said = summary(run) | {"step_limit": _step_limit(run)}
    return text, said, {name: run.history.column(name) for name in run.history.names}


# Of specs without their step, which it does not depend on: of a study's runs that differ in it alone, it is found once.
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


def is_given_up() -> bool:
    """Whether nobody waits any more for what this process makes."""
    return bool(_given_up.is_set())


def split_of(spec: Spec, folder: str | None) -> Split:
    """Return a spec's data; specs that differ in other things share them."""
    if spec.data.path is not None and folder is None:
        return load_split(spec)  # which may have changed since
    plain = {"setting": spec.problem.name, "data": spec.to_dict()["data"], "seed": spec.seed}
    return _split(Spec.from_dict(plain).to_json(), folder)
