"""Background jobs: functions that run in processes of their own, in turn, within limits, and can be killed at any time.

A `JobQueue` starts each `Job` in a worker: a fork of the fork server, or a new interpreter if the system has no forks.
Many short tasks go to its jobs in lists, or to the workers of a Dask cluster (`finished`).
"""

from dsgcore.jobs.job import Job, JobError, JobQueue, JobState, shared_queue
from dsgcore.jobs.tasks import ThreadJob, finished, queue_of

__all__ = ["Job", "JobError", "JobQueue", "JobState", "ThreadJob", "finished", "queue_of", "shared_queue"]
