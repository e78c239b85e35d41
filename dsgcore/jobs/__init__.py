"""Background jobs: functions that run in processes of their own, in turn, within limits, and can be killed at any time.

A `JobQueue` starts each `Job` in a worker: a fork of the fork server, or a new interpreter if the system has no forks.
Many short tasks go to its jobs in lists, or to the workers of a Dask cluster (`finished`).
"""

from dsgcore.jobs.job import Job as Job
from dsgcore.jobs.job import JobError as JobError
from dsgcore.jobs.job import JobQueue as JobQueue
from dsgcore.jobs.job import JobState as JobState
from dsgcore.jobs.job import shared_queue as shared_queue
from dsgcore.jobs.tasks import ThreadJob as ThreadJob
from dsgcore.jobs.tasks import finished as finished
from dsgcore.jobs.tasks import queue_of as queue_of
