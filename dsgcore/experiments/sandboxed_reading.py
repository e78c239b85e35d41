"""Reading of users' files in separate processes with limits on memory and time, so that no file can stop the server."""

from __future__ import annotations

from typing import Any

from dsgcore.data import DataError
from dsgcore.data.reading.file import Step, take_steps
from dsgcore.experiments.cost import GIGABYTE
from dsgcore.jobs import Job, JobState, shared_queue

MEMORY_LIMIT = GIGABYTE
SECONDS = 20.0
AT_A_TIME = 2
CANCELLED = "reading the file was cancelled: choose it again"


def begin_reading(content: bytes, name: str, step: Step) -> Job:
    """Begin to take a step of a file's reading, and the usual next ones; the progress names the current one."""
    queue = shared_queue("readers", AT_A_TIME)  # races and other long jobs have another queue
    return queue.submit(take_steps, content, name, step, memory_limit=MEMORY_LIMIT, time_limit=SECONDS)


def results_of(job: Job, step: Step) -> list[tuple[Step, Any]]:
    """Return the results of a job that is over, or the error that ended it."""
    if job.state is JobState.DONE:
        found: list[tuple[Step, Any]] = job.result
        return found
    said = f"the file cannot be read: {job.error[:1].lower()}{job.error[1:].rstrip('.')}"
    return [(step, DataError(CANCELLED if job.state is JobState.CANCELLED else said))]
