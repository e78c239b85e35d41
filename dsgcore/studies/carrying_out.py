"""Execution of a study by processes of this machine or of a Dask cluster, also in the background of a server.

Runs that the store holds are not repeated. In the background a separate process makes the runs, and the store shows those
that are finished.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.jobs import Job, shared_queue
from dsgcore.studies.processes import (
    MEMORY,
    GivenUpError,
    Made,
    Pool,
    all_cores,
    give_way,
    local_processes,
    this_process,
)
from dsgcore.studies.store import DIVERGED, Store, StoredRun
from dsgcore.studies.study import AnyStudy, SpecList, Study, StudyError, StudyRun
from dsgcore.studies.trajectories import Trajectories
from dsgcore.tuning.search import KEPT, best_part, rounds

# Number of runs submitted ahead, per run that the executor makes at a time.
AHEAD = 2
SECONDS_BETWEEN_LOOKS = 0.2
KILLED = "the process that made this run ended twice before it had a result, probably because memory ran out"
# After so many of these in a row no process is likely to make any run.
MOST_KILLED = 5
ALL_KILLED = (
    "the processes of several runs in a row ended before they had a result. Finished runs are kept: start again"
)
LATE = "the time of the study was over before this run began"
GONE = "the cluster has stopped. Finished runs are kept"
LEFT_OUT = "left out: its point was not among the best third of a round"
# If the best come first, a third of the points get three times the seeds: rounds of about equal time.
TIMES = round(1 / KEPT)


@dataclass(frozen=True)
class Outcome:
    """Result of one run of a study: `stored`, or if that is None, an error message."""

    run: StudyRun
    stored: StoredRun | None
    failed: str = ""
    is_new: bool = False


def carry_out(
    study: AnyStudy,
    store: Store,
    jobs: int | Pool | None = None,
    *,
    client: Any = None,
    callback: Callable[[Outcome], object] = lambda outcome: None,
    folder: str | None = None,
    memory: int | None = MEMORY,
) -> list[Outcome]:
    """Make all runs of a study that the store does not have; return an outcome for each, in the study's order.

    If the study asks for the best first, the seeds come in rounds, each with the best third of the points of the round
    before. If a process is killed, the runs that were under way are made again, one at a time. One that has its process
    killed once more has no result, and the others go on.

    Parameters
    ----------
    study : Study or SpecList
    store : Store
        The finished runs.
    jobs : int or Pool, optional
        Number of processes on this machine, which import a script again, as those of `multiprocessing` do; or an executor.
        By default this process makes the runs.
    client : dask.distributed.Client, optional
        A Dask client whose workers make the runs, instead of processes of this machine. The numbers are the same.
    callback : callable, optional
        Called with each outcome as soon as it is known.
    folder : str, optional
        The folder of the user's own data file, if the spec names the file without a folder.
    memory : int, optional
        Bytes that each process on this machine may take.

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
        missing = [run for point in points for run in point[slice(*stage)] if run.place not in outcomes]

        def submit(run: StudyRun) -> Future[Made]:
            return pool.submit(study.make, run.text, folder=folder)

        for outcome in _made(missing, store, submit, pool.at_once * AHEAD, end):
            settle(outcome)
        return True

    def keep(points: list[list[StudyRun]], stage: tuple[int, int]) -> list[list[StudyRun]]:
        def loss(point: list[StudyRun]) -> float:
            return -_worth([outcomes[run.place].stored for run in point[: stage[0]]])

        return best_part(sorted(points, key=loss))

    n, ends = len(study.seeds), [0]
    while ends[-1] < n:
        ends.append(min(n, TIMES ** (len(ends) - 1)) if study.is_best_first else n)
    with _pool_for(jobs, client, memory) as pool:
        rounds([runs[first : first + n] for first in range(0, len(runs), n)], pairwise(ends), measure, keep)
    for run in [run for run in runs if run.place not in outcomes]:
        settle(Outcome(run, None, LEFT_OUT))
    return [outcomes[run.place] for run in runs]


def _pool_for(jobs: int | Pool | None, client: Any, memory: int | None) -> AbstractContextManager[Pool]:
    if client is not None:
        return on_cluster(client)
    if jobs is None:
        return this_process()
    return nullcontext(jobs) if isinstance(jobs, Pool) else local_processes(jobs, memory)


@contextmanager
def on_cluster(client: Any) -> Iterator[Pool]:
    """Provide the workers of a Dask client; raise `StudyError` if the cluster stops meanwhile."""
    try:
        yield Pool(client.get_executor(pure=False), max(1, sum(client.nthreads().values())))
    except AttributeError as error:
        # The exceptions that `distributed` raises for a running task when the scheduler ends, if it has no other error.
        if "with_traceback" not in str(error):
            raise
        raise StudyError(GONE) from None


def _worth(runs: list[StoredRun | None]) -> float:
    """Return the mean test score of a point's runs; minus infinity if one has failed or diverged, or has no score."""
    scores = [run.score for run in runs if run is not None and run.state != DIVERGED and run.score is not None]
    return fmean(scores) if len(scores) == len(runs) else -math.inf


def _made(
    missing: list[StudyRun], store: Store, submit: Callable[[StudyRun], Future[Made]], most_waiting: int, end: float
) -> Iterator[Outcome]:
    left, waiting = deque(missing), dict[Future[Made], StudyRun]()
    suspects = set[int]()  # runs that were under way when a process was killed: they are made alone
    n_killed = 0

    def has_room() -> bool:
        is_alone = any(run.place in suspects for run in (left[0], *waiting.values()))
        return len(waiting) < (1 if is_alone else most_waiting)

    while True:
        is_over = time.monotonic() >= end
        for future in [future for future in waiting if is_over and future.cancel()]:  # submitted, but not begun
            yield Outcome(waiting.pop(future), None, LATE)
        while not is_over and left and has_room():
            run = left.popleft()
            waiting[submit(run)] = run
        if not waiting:
            break
        done, _ = wait(waiting, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
        for future in done:
            run = waiting.pop(future)
            if not _was_killed(future):
                n_killed = 0
                yield _settled(run, future, store)
            elif run.place in suspects:
                n_killed += 1
                yield Outcome(run, None, KILLED)
                if n_killed == MOST_KILLED:
                    raise StudyError(ALL_KILLED)
            else:
                suspects.add(run.place)
                left.appendleft(run)
    for run in left:
        yield Outcome(run, None, LATE)


def _was_killed(future: Future[Made]) -> bool:
    """Return True if the process of a run was killed; a Dask cluster has tried it on several workers."""
    error = None if future.cancelled() else future.exception()
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


def _settled(run: StudyRun, future: Future[Made], store: Store) -> Outcome:
    """Store the result of a process; a run's error goes to that run's outcome."""
    try:
        error: Any = future.exception()
    except CancelledError:
        raise StudyError(GONE) from None
    if error is None:
        return Outcome(run, store.put(*future.result()), is_new=True)
    if isinstance(error, MemoryError):
        return Outcome(run, None, "it needs more memory than a run of a study is allowed")
    if isinstance(error, DSGError | GivenUpError):
        return Outcome(run, None, " ".join(str(error).split()))
    raise error


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
    progress = Progress()

    def callback(outcome: Outcome) -> None:
        nonlocal progress
        failed = {} if outcome.stored is not None else {outcome.run.place: outcome.failed}
        progress = Progress(progress.done + 1, progress.new + outcome.is_new, {**progress.failed, **failed})
        report(progress)

    carry_out(study_of(plain), Store(file), all_cores(), callback=callback, folder=folder, memory=memory)
    return progress


def study_of(plain: Mapping[str, Any]) -> AnyStudy:
    """Return a study of any kind, made from its plain data."""
    kind: type[AnyStudy] = Trajectories if "data_seed" in plain else SpecList if "specs" in plain else Study
    return kind.from_dict(plain)
