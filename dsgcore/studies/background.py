"""A study in the background of a server: a process of its own, whose finished runs others see in the store meanwhile."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from dsgcore._forks import give_way
from dsgcore.experiments.jobs import Job, JobQueue
from dsgcore.studies.carrying_out import Outcome, carry_out, local_processes
from dsgcore.studies.gathered import AnyStudy, Gathered, Ways
from dsgcore.studies.store import Store
from dsgcore.studies.study import Study


@dataclass(frozen=True)
class Progress:
    """How far a study is: `done` runs are there, of which `new` were made now.

    In `failed` is said, by a run's place in the study, what went wrong with it.
    """

    done: int = 0
    new: int = 0
    failed: Mapping[int, str] = field(default_factory=dict)


@cache
def study_jobs() -> JobQueue:
    """Return the process's one queue of studies: one study at a time, which takes all cores that nobody else wants."""
    queue = JobQueue(1)
    atexit.register(queue.close)
    return queue


def begin_study(
    study: AnyStudy,
    store: Store,
    *,
    folder: Path | None = None,
    memory: int,
    lease: float | None = None,
    is_wanted: Callable[[], bool] | None = None,
) -> Job:
    """Begin a study, or queue it behind the one that is going on; the job's progress is a `Progress`, its result the last one.

    Parameters
    ----------
    folder : path, optional
        Where a person's own file is.
    memory : int
        Bytes that each run may take.
    lease, is_wanted
        As of `JobQueue.submit`.
    """
    given = study.to_dict(), str(store.file), None if folder is None else str(folder), memory
    return study_jobs().submit(make_study, *given, lease=lease, is_wanted=is_wanted)


def make_study(
    plain: dict, file: str, folder: str | None, memory: int, *, report: Callable[[Progress], None]
) -> Progress:
    """Make a study's runs in processes of this one; report how far it is, and return the last report."""
    give_way()
    progress, at_once = Progress(), os.cpu_count() or 1

    def tell(outcome: Outcome) -> None:
        nonlocal progress
        failed = {} if outcome.stored is not None else {outcome.run.place: outcome.failed}
        progress = Progress(progress.done + 1, progress.new + outcome.is_new, {**progress.failed, **failed})
        report(progress)

    kind: type[AnyStudy] = Ways if "data_seed" in plain else Gathered if "specs" in plain else Study
    study = kind.from_dict(plain)
    with local_processes(at_once, memory) as executor:
        carry_out(study, Store(file), executor, at_once, tell, folder)
    return progress
