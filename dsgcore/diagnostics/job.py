"""What limits a run, found in a process of its own: for a page, which goes on meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dsgcore.data import Split
from dsgcore.diagnostics.four_runs import check_possible
from dsgcore.diagnostics.limits import Limits, limits
from dsgcore.experiments.jobs import Job, JobQueue
from dsgcore.experiments.settings import FILE
from dsgcore.experiments.spec import Spec

SEEDS = 5
# Beyond what the process has after its imports: kernel matrix, quadratic form and their product, and as much again to solve.
ARRAYS, BYTES, ALLOWANCE = 6, 8, 300_000_000
# It is told how far the work is so often on its way.
REPORTS = 200


def begin_limits(queue: JobQueue, spec: Spec, split: Split, **options: Any) -> Job:
    """Submit the four runs with five seeds to a queue; the job's progress is the share done, its result `Limits`.

    Parameters
    ----------
    queue : JobQueue
    spec : Spec
        Of one of the stochastic settings.
    split : Split
        The run's data. They are loaded again from the spec, except where they came from a file, which may be gone.
    **options
        `lease` and `is_wanted` of `JobQueue.submit`.

    Raises
    ------
    DiagnosticsError
        As of `limits`, before anything is begun.
    """
    n = len(split.X_train)
    check_possible(spec, n)
    held = split if spec.data.name == FILE else None
    return queue.submit(find_limits, spec.to_json(), held, memory_limit=ARRAYS * BYTES * n * n + ALLOWANCE, **options)


def find_limits(spec: str, split: Split | None, *, report: Callable[[float], object]) -> Limits:
    """Find what limits a run; report the share that is done."""
    told = [-1]

    def tell(share: float) -> None:
        if int(share * REPORTS) > told[0]:
            told[0] = int(share * REPORTS)
            report(share)

    return limits(Spec.from_json(spec), SEEDS, split=split, tell=tell)
