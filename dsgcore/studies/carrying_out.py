"""A study being carried out by any `concurrent.futures` executor: what is in the store is not made again."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from dsgcore._forks import context
from dsgcore.core._threads import n_workers
from dsgcore.core.errors import DSGError
from dsgcore.studies.gathered import AnyStudy
from dsgcore.studies.halved import LEFT_OUT, rounds
from dsgcore.studies.store import Store, StoredRun
from dsgcore.studies.study import StudyError, StudyRun
from dsgcore.studies.work import GivenUpError, Made, begin_worker

# Runs handed to an executor before they are needed, for each that it makes at a time.
AHEAD = 2
MEMORY = 2 * 10**9
SECONDS_BETWEEN_LOOKS = 0.2
GONE = "the cluster is gone. Finished runs are kept"


@dataclass(frozen=True)
class Outcome:
    """A run of a study with what came of it: `stored`, or where that is None, in one sentence what went wrong."""

    run: StudyRun
    stored: StoredRun | None
    failed: str = ""
    is_new: bool = False


@contextmanager
def local_processes(jobs: int | None = None, memory: int | None = MEMORY) -> Iterator[Executor]:
    """Give processes of this machine, of one thread each; where the block is left early, they end within about a second.

    Where the system has forks, they are those of one process that has imported what runs need.

    Parameters
    ----------
    jobs : int, optional
        How many; by default one a core.
    memory : int, optional
        Bytes that each may take.
    """
    made_by = context()
    given_up = made_by.Event()
    executor = ProcessPoolExecutor(jobs or n_workers(), made_by, begin_worker, (given_up, memory))
    try:
        yield executor
    except BaseException:
        given_up.set()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def carry_out(
    study: AnyStudy,
    store: Store,
    executor: Executor,
    at_once: int,
    tell: Callable[[Outcome], object] = lambda outcome: None,
    folder: str | None = None,
) -> list[Outcome]:
    """Make all runs of a study that the store does not have; return an outcome for each, in the study's order.

    Parameters
    ----------
    at_once : int
        How many runs it makes at a time.
    tell : callable, optional
        Gets each outcome as soon as it is there.
    folder : str, optional
        Where a person's own file is, if the spec names one without its place.
    """
    runs = list(study.runs())
    outcomes: dict[int, Outcome] = {}

    def settle(outcome: Outcome) -> None:
        outcomes[outcome.run.place] = outcome
        tell(outcome)

    known = store.get(run.key for run in runs if run.key is not None)
    for run in runs:
        stored = known.get(run.key or "")
        if run.spec is None or stored is not None:
            settle(Outcome(run, stored, run.refused))
    end = math.inf if study.seconds is None else time.monotonic() + study.seconds
    for some in rounds(study, runs, lambda run: outcomes[run.place].stored):
        missing = [run for run in some if run.place not in outcomes]
        for outcome in _made(missing, store, partial(executor.submit, study.make, folder=folder), at_once * AHEAD, end):
            settle(outcome)
    for run in [run for run in runs if run.place not in outcomes]:
        settle(Outcome(run, None, LEFT_OUT))
    return [outcomes[run.place] for run in runs]


def _made(
    missing: list[StudyRun], store: Store, submit: Callable[[str], Future[Made]], most_waiting: int, end: float
) -> Iterator[Outcome]:
    left = iter(missing)
    waiting: dict[Future[Made], StudyRun] = {}
    while True:
        is_over = time.monotonic() >= end
        while not is_over and len(waiting) < most_waiting and (run := next(left, None)) is not None:
            waiting[submit(run.text or "")] = run
        if not waiting:
            break
        done, _ = wait(waiting, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
        for future in done:
            yield _settled(waiting.pop(future), future, store)
    for run in left:
        yield Outcome(run, None, "the time of the study was over before this run began")


def _settled(run: StudyRun, future: Future[Made], store: Store) -> Outcome:
    """Keep what a process has made; what went wrong with one run is said of that run."""
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
