"""Execution of a study by any `concurrent.futures` executor, also in the background of a server.

Runs that the store holds are not repeated. In the background a separate process makes the runs, and the store shows those
that are finished.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.jobs import Job, shared_queue
from dsgcore.studies.processes import GivenUpError, Made, give_way, local_processes
from dsgcore.studies.store import DIVERGED, Store, StoredRun
from dsgcore.studies.study import AnyStudy, SpecList, Study, StudyError, StudyRun
from dsgcore.studies.trajectories import Trajectories
from dsgcore.tuning.search import KEPT, best_part, rounds

# Number of runs submitted ahead, per run that the executor makes at a time.
AHEAD = 2
SECONDS_BETWEEN_LOOKS = 0.2
WORKER_KILLED = (
    "a process that makes runs was killed, probably because memory ran out. Finished runs are kept: start again"
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
    executor: Executor,
    at_once: int,
    callback: Callable[[Outcome], object] = lambda outcome: None,
    folder: str | None = None,
) -> list[Outcome]:
    """Make all runs of a study that the store does not have; return an outcome for each, in the study's order.

    If the study asks for the best first, the seeds come in rounds, each with the best third of the points of the round
    before.

    Parameters
    ----------
    study : Study or SpecList
    at_once : int
        Number of runs that the executor makes at a time.
    callback : callable, optional
        Called with each outcome as soon as it is known.
    folder : str, optional
        The folder of the user's own data file, if the spec names the file without a folder.

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
    submit = partial(executor.submit, study.make, folder=folder)

    def measure(points: list[list[StudyRun]], stage: tuple[int, int]) -> bool:
        missing = [run for point in points for run in point[slice(*stage)] if run.place not in outcomes]
        for outcome in _made(missing, store, submit, at_once * AHEAD, end):
            settle(outcome)
        return True

    def keep(points: list[list[StudyRun]], stage: tuple[int, int]) -> list[list[StudyRun]]:
        def loss(point: list[StudyRun]) -> float:
            return -_worth([outcomes[run.place].stored for run in point[: stage[0]]])

        return best_part(sorted(points, key=loss))

    n, ends = len(study.seeds), [0]
    while ends[-1] < n:
        ends.append(min(n, TIMES ** (len(ends) - 1)) if study.is_best_first else n)
    try:
        rounds([runs[first : first + n] for first in range(0, len(runs), n)], pairwise(ends), measure, keep)
    except BrokenExecutor:
        raise StudyError(WORKER_KILLED) from None
    for run in [run for run in runs if run.place not in outcomes]:
        settle(Outcome(run, None, LEFT_OUT))
    return [outcomes[run.place] for run in runs]


def _worth(runs: list[StoredRun | None]) -> float:
    """Return the mean test score of a point's runs; minus infinity if one has failed or diverged, or has no score."""
    scores = [run.score for run in runs if run is not None and run.state != DIVERGED and run.score is not None]
    return fmean(scores) if len(scores) == len(runs) else -math.inf


def _made(
    missing: list[StudyRun], store: Store, submit: Callable[[str], Future[Made]], most_waiting: int, end: float
) -> Iterator[Outcome]:
    left = iter(missing)
    waiting: dict[Future[Made], StudyRun] = {}
    while True:
        is_over = time.monotonic() >= end
        for future in [future for future in waiting if is_over and future.cancel()]:  # submitted, but not begun
            yield Outcome(waiting.pop(future), None, LATE)
        while not is_over and len(waiting) < most_waiting and (run := next(left, None)) is not None:
            waiting[submit(run.text or "")] = run
        if not waiting:
            break
        done, _ = wait(waiting, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
        for future in done:
            yield _settled(waiting.pop(future), future, store)
    for run in left:
        yield Outcome(run, None, LATE)


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
    progress, at_once = Progress(), os.cpu_count() or 1

    def callback(outcome: Outcome) -> None:
        nonlocal progress
        failed = {} if outcome.stored is not None else {outcome.run.place: outcome.failed}
        progress = Progress(progress.done + 1, progress.new + outcome.is_new, {**progress.failed, **failed})
        report(progress)

    with local_processes(at_once, memory) as executor:
        carry_out(study_of(plain), Store(file), executor, at_once, callback, folder)
    return progress


def study_of(plain: Mapping[str, Any]) -> AnyStudy:
    """Return a study of any kind, made from its plain data."""
    kind: type[AnyStudy] = Trajectories if "data_seed" in plain else SpecList if "specs" in plain else Study
    return kind.from_dict(plain)
