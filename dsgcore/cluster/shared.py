"""Training points of a run, shared among actors of a Dask cluster in whole tiles. Any number of workers gives the same bits.

Tiles are dealt in turn, so each worker has an equal number of the rows that are visited longest, and its remaining rows
are a prefix of its own. An iteration is one message to each worker, the block, and one back, f at its batch points. If
a worker fails, another one gets its rows and repeats all blocks so far.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.cluster.share import Share
from dsgcore.core.errors import DSGError
from dsgcore.kernels.features import as_points
from dsgcore.solver.carried import is_dense, visits
from dsgcore.solver.model import TILE_ROWS, Expansion
from dsgcore.solver.task import Task

# Number of rows that are dealt together.
DEALT_ROWS = 8 * TILE_ROWS
# Seconds between two checks that a silent worker still exists.
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_BEGIN = 60.0
# Seconds to wait for new workers: the cluster may replace all of them after a failure.
SECONDS_WITHOUT_WORKERS = 30.0
MOST_REPLACED = 100


class ClusterError(DSGError):
    """A run's cluster that cannot be used any more. The message gives the reason in one sentence."""


@dataclass(eq=False)
class _Worker:
    """A share of the rows and the worker that has it now."""

    places: NDArray
    address: str = ""
    actor: Any = None
    answer: Any = None


class SharedPoints:
    """The training points that iterations after `start` up to `stop` visit, on the workers of a cluster.

    The solver appends to `model`; the workers catch up with iterations that it already has. `client` is a
    distributed.Client. `stop` is by default the plan's last iteration.
    """

    def __init__(self, task: Task, model: Expansion, client: Any, start: int = 0, stop: int | None = None) -> None:
        self.task, self.model, self.client = task, model, client
        self.start, self.stop = start, task.plan.n_iter if stop is None else stop
        self._lay_out()
        n_pieces = -(-len(self.visited) // DEALT_ROWS)
        n_workers = max(1, min(len(self._threads()), n_pieces))
        self.owner = np.arange(len(self.visited)) // DEALT_ROWS % n_workers
        self.workers = [_Worker(np.flatnonzero(self.owner == number)) for number in range(n_workers)]
        self.replaced = 0
        self.gathered = 0, np.empty((0, 0))  # an iteration, and its batch points
        self.bytes_taken = self.bytes_given = 0
        for worker in self.workers:
            self._begin(worker)

    def _lay_out(self) -> None:
        """Put the rows in the order in which one machine would track them."""
        task, iterations = self.task, range(self.start + 1, self.stop + 1)
        if is_dense(task, self.start):
            self.visited, needed = np.arange(len(task.X)), np.full(len(iterations), len(task.X))
            self.positions = task.joined_batches(self.start, self.stop)
        else:
            visited, rank, self.positions, needed = visits(task, self.start, self.stop)
            self.visited = np.empty_like(visited)
            self.visited[rank] = visited
        self.needed = np.concatenate([np.full(self.start, len(self.visited)), needed])

    def _threads(self) -> dict[str, int]:
        """Return the number of threads of each current worker; wait for a worker if there is none."""
        until = time.monotonic() + SECONDS_WITHOUT_WORKERS
        while time.monotonic() < until:
            try:
                there = dict(self.client.nthreads())
            except Exception:
                raise ClusterError("the cluster has stopped") from None
            if there:
                return there
            time.sleep(SECONDS_BETWEEN_LOOKS / 10)
        raise ClusterError(f"the cluster has no worker, and none has come for {SECONDS_WITHOUT_WORKERS:g} seconds")

    def _begin(self, worker: _Worker) -> None:
        """Give a share to a worker that has the fewest, and let it take the blocks so far."""
        threads = self._threads()
        held = [other.address for other in self.workers if other is not worker]
        worker.address = min(threads, key=lambda address: (held.count(address), address))
        own = self._own(worker)
        try:
            X = self.client.scatter(own.pop("X"), workers=[worker.address], hash=False)
            made = self.client.submit(
                Share, X, **own, threads=threads[worker.address], workers=[worker.address], actor=True, pure=False
            )
            with self.client.as_current():  # an actor belongs to the client that is current at its first use
                worker.actor = made.result(timeout=SECONDS_TO_BEGIN)
                worker.answer = worker.actor.catch_up(list(self.model.blocks), list(self.model.decays))
        except Exception as error:
            self._replace(worker, error)

    def _own(self, worker: _Worker) -> dict[str, Any]:
        """Return the constructor's arguments of a share."""
        task, places = self.task, worker.places
        local = np.empty(len(self.visited), dtype=np.int32)
        local[places] = np.arange(len(places), dtype=np.int32)
        is_own = self.owner[self.positions] == self.owner[places[0]]
        return {
            "X": as_points(task.X[self.visited[places]], task.dtype),
            "model": task.new_model(),
            "needed": np.searchsorted(places, self.needed),
            "places": local[self.positions[is_own]],
            "ends": np.concatenate([np.zeros(self.start + 1, dtype=int), np.cumsum(is_own.sum(axis=1))]),
            "host": os.getpid(),
        }

    def _replace(self, worker: _Worker, error: Exception) -> None:
        """Move a failed worker's share to another worker."""
        self.replaced += 1
        if self.client.status != "running":
            raise ClusterError("the cluster has stopped")
        if self.replaced > MOST_REPLACED:
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise ClusterError(f"the cluster's workers fail one after the other: {reason}")
        self._begin(worker)

    def _answer(self, worker: _Worker) -> NDArray:
        """Return a worker's f at its batch points; if the worker has died, from another one."""
        while True:
            try:
                return worker.answer.result(timeout=SECONDS_BETWEEN_LOOKS)
            except TimeoutError as error:
                if worker.address not in self._threads():
                    self._replace(worker, error)
            except Exception as error:
                self._threads()
                self._replace(worker, error)

    def rows(self, t: int) -> NDArray:
        """Return the rows of iteration `t`'s mini-batches."""
        return self.visited[self.positions[t - 1 - self.start]]

    def at(self, t: int) -> NDArray:
        """Return f at the batch points."""
        positions = self.positions[t - 1 - self.start]
        f, owner = np.empty(len(positions), dtype=self.task.dtype), self.owner[positions]
        for number, worker in enumerate(self.workers):
            f[owner == number] = values = self._answer(worker)
            self.bytes_given += values.nbytes
        return f

    def average_at(self, t: int) -> NDArray:
        """Return f: no average is tracked."""
        return self.at(t)

    def points(self, t: int) -> NDArray:
        """Return the batch points."""
        if self.gathered[0] != t:
            self._gather(t)
        return self.gathered[1]

    def _gather(self, t: int) -> None:
        self.gathered = t, as_points(self.task.X[self.visited[self.positions[t - 1 - self.start]]], self.task.dtype)

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Send one iteration's block to all workers; gather the next batch's points while they take it."""
        for worker in self.workers:
            self.bytes_taken += block.nbytes
            try:
                worker.answer = worker.actor.step(block, decay)
            except Exception as error:
                self._replace(worker, error)
        if len(self.model) < self.stop:
            self._gather(len(self.model) + 1)
