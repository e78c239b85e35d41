"""Studies in the background of a server: a separate process makes the runs, and the store shows those that are finished."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dsgcore.jobs import Job, shared_queue
from dsgcore.studies.carrying_out import Outcome, carry_out
from dsgcore.studies.processes import give_way, local_processes
from dsgcore.studies.store import Store
from dsgcore.studies.study import AnyStudy, SpecList, Study
from dsgcore.studies.trajectories import Trajectories


@dataclass(frozen=True)
class Progress:
    """Progress of a study: `done` runs are finished, of which `new` were made now.

    `failed` holds the error messages, by a run's place in the study.
    """

    done: int = 0
    new: int = 0
    failed: Mapping[int, str] = field(default_factory=dict)


def begin_study(
    study: AnyStudy,
    store: Store,
    *,
    folder: Path | None = None,
    memory: int,
    lease: float | None = None,
    is_wanted: Callable[[], bool] | None = None,
) -> Job:
    """Start a study, or queue it behind the current one. The job's progress is a `Progress`, its result the last one.

    Parameters
    ----------
    folder : path, optional
        The folder of the user's own data file.
    memory : int
        Bytes that each run may take.
    lease, is_wanted
        As in `JobQueue.submit`.

    Returns
    -------
    Job
    """
    given = study.to_dict(), str(store.file), None if folder is None else str(folder), memory
    queue = shared_queue("studies", 1)  # one study at a time, on all cores that are free
    return queue.submit(make_study, *given, lease=lease, is_wanted=is_wanted)


def make_study(
    plain: dict, file: str, folder: str | None, memory: int, *, report: Callable[[Progress], None]
) -> Progress:
    """Make a study's runs in child processes; report the progress, and return the last report."""
    give_way()
    progress, at_once = Progress(), os.cpu_count() or 1

    def tell(outcome: Outcome) -> None:
        nonlocal progress
        failed = {} if outcome.stored is not None else {outcome.run.place: outcome.failed}
        progress = Progress(progress.done + 1, progress.new + outcome.is_new, {**progress.failed, **failed})
        report(progress)

    kind: type[AnyStudy] = Trajectories if "data_seed" in plain else SpecList if "specs" in plain else Study
    study = kind.from_dict(plain)
    with local_processes(at_once, memory) as executor:
        carry_out(study, Store(file), executor, at_once, tell, folder)
    return progress
