"""Background jobs that make the fits of a comparison."""

from __future__ import annotations

import os
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsgcore.comparing.fits import Fit, FitRequest, fit_some
from dsgcore.comparing.kept import KeptFits
from dsgcore.comparing.methods import METHODS
from dsgcore.comparing.samples import Sample
from dsgcore.jobs import Job, JobQueue

# Fits that a job makes. Between two jobs of a comparison a shared queue can start those of others.
MOST_AT_ONCE = 12
SECONDS_BETWEEN_LOOKS, SECONDS_TO_END = 0.02, 1.0


@dataclass(eq=False)
class Workers:
    """Background jobs that make the fits which are not kept."""

    queue: JobQueue
    kept: KeptFits
    folder: Path
    plain: dict[str, Any]
    memory_limit: int
    running: dict[Job, list[FitRequest]] = field(default_factory=dict)
    cut_off: set[FitRequest] = field(default_factory=set)  # had begun when the time was over

    def make(self, requests: Sequence[FitRequest], end: float) -> Iterator[list[Fit]]:
        """Make the fits that are not kept, in this order; yield new fits, until all are made or the time ends."""
        known = self.kept.get(requests)
        waiting = deque(_shared_out([one for one in requests if one not in known], self.queue.n_at_a_time))
        while waiting or self.running:
            if time.monotonic() >= end:
                yield self._ended()
                return
            while waiting and len(self.running) < self.queue.n_at_a_time:
                self._submit(waiting.popleft())
            for job in list(self.running):
                yield self._taken(job)
            time.sleep(SECONDS_BETWEEN_LOOKS if self.running else 0.0)

    def _submit(self, requests: list[FitRequest]) -> None:
        job = self.queue.submit(fit_some, str(self.folder), self.plain, requests, memory_limit=self.memory_limit)
        self.running[job] = requests

    def _taken(self, job: Job) -> list[Fit]:
        """Keep the new fits of a job, and return them. If a fit has ended its process, the others go to a new one."""
        is_over, failed = job.is_over, list[Fit]()
        made = list(job.result if job.result is not None else job.progress or [])
        if is_over:
            left = self.running.pop(job)[len(made) :]
            if job.error and left:
                failed = self._keep([Fit(left[0], note=job.error)], is_stored=False)
                if left[1:]:
                    self._submit(left[1:])
        return [*self._keep(made), *failed]

    def _keep(self, made: list[Fit], *, is_stored: bool = True) -> list[Fit]:
        known = self.kept.get([fit.request for fit in made])
        new = [fit for fit in made if fit.request not in known]
        self.kept.put(new, is_stored=is_stored)
        return new

    def _ended(self) -> list[Fit]:
        """Cancel all jobs, and return their fits."""
        new: list[Fit] = []
        for job in self.running:
            job.cancel()
        for job, requests in list(self.running.items()):
            job.wait(SECONDS_TO_END)
            new += self._taken(job)
            made = len(job.result or job.progress or [])
            self.cut_off |= {*requests[made : made + 1]}
        self.running.clear()
        return new


@contextmanager
def workers_for(sample: Sample, kept: KeptFits, jobs: int | JobQueue | None, memory_limit: int) -> Iterator[Workers]:
    """Provide the background jobs of a sample. They end with the block.

    `jobs` is their number at a time (default: one per core), or a queue that others share. `memory_limit` is in bytes for
    each of them.
    """
    with tempfile.TemporaryDirectory(prefix="dsgcore-compare-") as folder, _queue(jobs) as queue:
        workers = Workers(queue, kept, Path(folder), sample.write(Path(folder)), memory_limit)
        try:
            yield workers
        finally:
            for job in workers.running:
                job.cancel()
                job.wait(SECONDS_TO_END)


def _shared_out(requests: Sequence[FitRequest], n: int) -> list[list[FitRequest]]:
    """Return lists of fits for `n` jobs at a time: mixed ones of similar length, then each slow fit by itself."""
    fast = [one for one in requests if not METHODS[one.method].is_slow]
    n_lists = max(min(n, len(fast)), -(-len(fast) // MOST_AT_ONCE))
    return [*(fast[first::n_lists] for first in range(n_lists)), *([one] for one in requests if one not in fast)]


def _queue(jobs: int | JobQueue | None) -> AbstractContextManager[JobQueue]:
    return nullcontext(jobs) if isinstance(jobs, JobQueue) else JobQueue(jobs or os.cpu_count() or 1)
