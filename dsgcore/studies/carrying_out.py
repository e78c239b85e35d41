"""Execution of a study by any `concurrent.futures` executor. Runs that the store holds are not repeated."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import fmean
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.studies.processes import GivenUpError, Made
from dsgcore.studies.store import DIVERGED, Store, StoredRun
from dsgcore.studies.study import AnyStudy, StudyError, StudyRun
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
    tell: Callable[[Outcome], object] = lambda outcome: None,
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
    tell : callable, optional
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
        tell(outcome)

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
