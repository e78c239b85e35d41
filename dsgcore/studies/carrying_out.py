"""Execution of a study by processes of this machine or of a Dask cluster, also in the background of a server.

Runs that the store holds are not repeated, and the store shows those that are finished.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from dsgcore.experiments.spec import FILE
from dsgcore.jobs import JobQueue, ThreadJob, finished, queue_of, shared_queue
from dsgcore.jobs.tasks import NOT_BEGUN, all_cores
from dsgcore.jobs.worker import CAN_FORK, fork_server
from dsgcore.studies.runs import make_runs
from dsgcore.studies.store import DIVERGED, Store, StoredRun
from dsgcore.studies.study import Study, StudyError, StudyRun
from dsgcore.tuning.search import KEPT, best_part, rounds

# Bytes that a process on this machine may take.
MEMORY = 2 * 10**9
# Lists of runs for each process: the last ones end at about the same time. A process that is no fork takes long to begin.
LISTS = 4 if CAN_FORK else 1
# A run that ends its process is made again once, alone.
TRIES = 2
KILLED = "the process that made this run ended twice before it had a result: {}"
# After so many of these in a row no process is likely to make any run.
MOST_KILLED = 5
ALL_KILLED = (
    "the processes of several runs in a row ended before they had a result. Finished runs are kept: start again"
)
LATE = "the time of the study was over before this run began"
LEFT_OUT = "left out: its point was not among the best third of a round"
# If the best come first, a third of the points get three times the seeds: rounds of about equal time.
TIMES = round(1 / KEPT)
_one_study = threading.Lock()


@dataclass(frozen=True)
class Outcome:
    """Result of one run of a study: `stored`, or if that is None, an error message."""

    run: StudyRun
    stored: StoredRun | None
    failed: str = ""
    is_new: bool = False


def carry_out(
    study: Study,
    store: Store,
    jobs: int | JobQueue | None = None,
    *,
    client: Any = None,
    callback: Callable[[Outcome], object] = lambda outcome: None,
    check: Callable[[], object] = lambda: None,
    folder: str | None = None,
    memory: int | None = MEMORY,
    is_polite: bool = False,
) -> list[Outcome]:
    """Make all runs of a study that the store does not have; return an outcome for each, in the study's order.

    If the study asks for the best first, the seeds come in rounds, each with the best third of the points of the round
    before. If a process is killed, its run is made again. One that has its process killed once more has no result, and the
    others go on.

    Parameters
    ----------
    study : Study
    store : Store
        The finished runs.
    jobs : int or JobQueue, optional
        Number of processes on this machine, or a queue of jobs. By default this process makes the runs.
    client : dask.distributed.Client, optional
        A Dask client whose workers make the runs, instead of processes of this machine. The numbers are the same.
    callback : callable, optional
        Called with each outcome as soon as it is known.
    check : callable, optional
        Called again and again; an exception that it raises ends the study.
    folder : str, optional
        The folder of the user's own data file, if the spec names the file without a folder.
    memory : int, optional
        Bytes that each process on this machine may take.
    is_polite : bool, default False
        True if other processes have priority for the cores.

    Returns
    -------
    list of Outcome
    """
    runs, outcomes = list(study.runs()), dict[int, Outcome]()

    def settle(outcome: Outcome) -> None:
        outcomes[outcome.run.place] = outcome
        callback(outcome)

    known = store.get(run.key for run in runs if run.key is not None)
    for run in runs:
        stored = known.get(run.key or "")
        if run.spec is None or stored is not None:
            settle(Outcome(run, stored, run.refused))
    end = math.inf if study.seconds is None else time.monotonic() + study.seconds

    def measure(points: list[list[StudyRun]], stage: tuple[int, int]) -> bool:
        missing = dict[str, list[StudyRun]]()
        for run in (run for point in points for run in point[slice(*stage)] if run.place not in outcomes):
            missing.setdefault(run.text or "", []).append(run)
        per_job = 1 if any(spec.data.name == FILE for spec in study.specs) else LISTS  # a job parses a file once
        size = -(-len(missing) // (per_job * queue.n_at_a_time)) if isinstance(queue, JobQueue) else 1
        texts, n_killed = list(missing), 0
        lists = [texts[first : first + size] for first in range(0, len(texts), size or 1)]
        # In a list none begins after the end; the clock of another machine is another one.
        shared = study.make, folder, end if isinstance(queue, JobQueue) else math.inf, is_polite
        options: dict[str, Any] = {"tries": TRIES, "end": end, "is_cut": False, "check": check, "memory_limit": memory}
        with closing(finished(queue, make_runs, shared, lists, **options)) as results:
            for text, made, error in results:
                if isinstance(made, tuple):
                    stored, said = store.put(*made), ""
                else:
                    stored, said = None, made or (LATE if error == NOT_BEGUN else KILLED.format(error))
                n_killed = n_killed + 1 if error and error != NOT_BEGUN else 0
                for run in missing[text]:
                    settle(Outcome(run, stored, said, is_new=stored is not None))
                if n_killed == MOST_KILLED:
                    raise StudyError(ALL_KILLED)
        return True

    def keep(points: list[list[StudyRun]], stage: tuple[int, int]) -> list[list[StudyRun]]:
        def loss(point: list[StudyRun]) -> float:
            """Return the mean test score, below zero; infinity if a run has failed or diverged, or has no score."""
            stored = [outcomes[run.place].stored for run in point[: stage[0]]]
            scores = [run.score for run in stored if run and run.state != DIVERGED and run.score is not None]
            return -fmean(scores) if len(scores) == len(stored) else math.inf

        return best_part(sorted(points, key=loss))

    n, ends = len(study.seeds), [0]
    while ends[-1] < n:
        ends.append(min(n, TIMES ** (len(ends) - 1)) if study.is_best_first else n)
    with queue_of(jobs, client, "runs") as queue:
        if isinstance(queue, JobQueue):
            fork_server().get_ready("dsgcore.studies.preloaded")
        rounds([runs[first : first + n] for first in range(0, len(runs), n)], pairwise(ends), measure, keep)
    for run in [run for run in runs if run.place not in outcomes]:
        settle(Outcome(run, None, LEFT_OUT))
    return [outcomes[run.place] for run in runs]


def begin_study(
    study: Study,
    store: Store,
    *,
    folder: Path | None = None,
    memory: int,
    lease: float = math.inf,
    is_wanted: Any = None,
) -> ThreadJob:
    """Start a study, or let it wait for the current one. The job's progress are the reasons of failed runs, by place.

    `folder` and `memory` are those of `carry_out`, `lease` and `is_wanted` those of `ThreadJob`.
    """

    def work(check: Callable[..., None]) -> list[Outcome]:
        failed = dict[int, str]()

        def callback(outcome: Outcome) -> None:
            if outcome.stored is None:
                failed[outcome.run.place] = outcome.failed
            check(dict(failed))

        queue, place = shared_queue("studies", all_cores()), None if folder is None else str(folder)
        options: dict[str, Any] = {"folder": place, "memory": memory, "is_polite": True}
        return carry_out(study, store, queue, callback=callback, check=check, **options)

    return ThreadJob(work, lease, is_wanted, _one_study)
