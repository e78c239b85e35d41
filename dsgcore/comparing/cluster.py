"""Fits of a comparison on the workers of a Dask cluster, with the interface of a `JobQueue` and its jobs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass
from typing import Any

from dsgcore.comparing.samples import ComparisonError

GONE = "the cluster has stopped. Finished fits are kept"


def _keep(made: object) -> None:
    """Report nothing: a cluster gives the fits of a job at its end."""


@dataclass(eq=False)
class ClusterJob:
    """A job on a cluster."""

    future: Future
    is_cancelled: bool = False
    progress: None = None

    @property
    def is_over(self) -> bool:
        """True if the job is done, failed or cancelled."""
        return self.future.done()

    def _outcome(self) -> tuple[Any, str]:
        """Return the result and an error; raise `ComparisonError` if the cluster has stopped."""
        if not self.is_over or self.is_cancelled:
            return None, ""
        try:
            return self.future.result(), ""
        except CancelledError:
            raise ComparisonError(GONE) from None
        except Exception as error:
            return None, " ".join(f"{type(error).__name__}: {error}".split())

    @property
    def result(self) -> Any:
        """What the function returned; None before."""
        return self._outcome()[0]

    @property
    def error(self) -> str:
        """The reason why there is no result, in one sentence."""
        return self._outcome()[1]

    def cancel(self) -> None:
        """Cancel the job; what has begun goes on, and nobody takes its result."""
        self.is_cancelled = True
        self.future.cancel()

    def wait(self, seconds: float) -> None:
        """Wait until the job is over, for at most so many seconds."""
        wait([self.future], seconds)


class ClusterQueue:
    """Jobs on the workers of a Dask client. The cluster gives them their turns, and a limit of memory.

    A job whose worker has died is done again by another worker.
    """

    def __init__(self, client: Any) -> None:
        self.client, self._executor = client, client.get_executor(pure=False)
        self.n_at_a_time = max(1, sum(client.nthreads().values()))

    def submit(self, function: Callable[..., Any], *arguments: Any, memory_limit: int) -> ClusterJob:
        """Submit a job; its limit of memory is the cluster's own."""
        return ClusterJob(self._executor.submit(function, *arguments, report=_keep))
