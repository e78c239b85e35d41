"""Reading of users' files in separate processes with limits on memory and time, so that no file can stop the server."""

from __future__ import annotations

import atexit
from functools import cache

from dsgcore.data import DataError
from dsgcore.data.reading.looking import Answer, Question, answers
from dsgcore.experiments.cost import GIGABYTE
from dsgcore.jobs import Job, JobQueue, JobState

MEMORY_LIMIT = GIGABYTE
SECONDS = 20.0
AT_A_TIME = 2
CANCELLED = "reading the file was cancelled: choose it again"


@cache
def readers() -> JobQueue:
    """Return the queue of the readers; races and other long jobs have another queue."""
    queue = JobQueue(AT_A_TIME)
    atexit.register(queue.close)
    return queue


def begin_reading(content: bytes, name: str, question: Question) -> Job:
    """Begin to read a file to answer a question and the usual next ones; the progress names the current step."""
    return readers().submit(answers, content, name, question, memory_limit=MEMORY_LIMIT, time_limit=SECONDS)


def answers_of(job: Job, question: Question) -> list[Answer]:
    """Return the answers of a job that is over, or the error that ended it."""
    if job.state is JobState.DONE:
        found: list[Answer] = job.result
        return found
    said = f"the file cannot be read: {job.error[:1].lower()}{job.error[1:].rstrip('.')}"
    return [(question, DataError(CANCELLED if job.state is JobState.CANCELLED else said))]
