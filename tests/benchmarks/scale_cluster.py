"""Runs on clusters of processes on this machine: workers that are killed, bytes on the wire, two processes against one."""

from __future__ import annotations

import ctypes
import fcntl
import logging
import os
import signal
import socket
import struct
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import dask
import distributed
import numpy as np
from performance.machine import workers as threads
from performance.runs import paper_task

from dsgcore.cluster import SharedPoints, shared
from dsgcore.solver.carried import training_points
from dsgcore.solver.loop import solve
from dsgcore.solver.model import Expansion
from dsgcore.solver.task import Task

# A worker killed a second time within 15 s of the first is given up by `LocalCluster` itself, for good: here, never.
dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
shared.SECONDS_WITHOUT_WORKERS = 900.0  # a crowded machine takes its time to begin a process
OPTIONS = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL, "processes": True}
LOOPBACK = "/proc/thread-self/net/dev"
# Linux's constants for a separate network, and for starting an interface.
NEW_NETWORK, SET_FLAGS, UP = 0x40000000, 0x8914, 0x49


@contextmanager
def cluster_of(n_workers: int, *, direct: bool = False) -> Iterator[tuple[Any, Any]]:
    """Give a cluster of so many processes of one thread, and a client; `direct`: it speaks to workers without the scheduler."""
    with (
        distributed.LocalCluster(n_workers=n_workers, **OPTIONS) as cluster,
        distributed.Client(cluster, set_as_default=False, direct_to_workers=direct) as client,
    ):
        client.wait_for_workers(n_workers)
        yield cluster, client


@dataclass
class Way:
    """One run: how long it took to begin, to make the iterations, of that to wait for values; this process's CPU time."""

    model: Expansion
    begun: float = 0.0
    seconds: float = 0.0
    waited: float = 0.0
    cpu: float = 0.0
    training: Any = None
    at: dict[int, Callable[[Way], object]] = field(default_factory=dict)


def run(task: Task, client: Any = None, at: dict[int, Callable[[Way], object]] | None = None) -> Way:
    """Make a run, here or on a cluster; `at` is iteration -> what is then done."""
    way, start = Way(task.new_model(), at=at or {}), time.perf_counter()
    way.training = training_points(task, way.model) if client is None else SharedPoints(task, way.model, client)
    if client is not None:  # their rows are there
        way.training.at(1)
        for worker in way.training.workers:
            worker.answer = _Known(worker.answer.result())
        _time_waiting(way)
    way.begun, start, cpu = time.perf_counter() - start, time.perf_counter(), time.process_time()
    for iterate in solve(task, way.model, training=way.training):
        way.at.get(iterate.t, lambda own: None)(way)
    way.seconds, way.cpu = time.perf_counter() - start, time.process_time() - cpu
    return way


def _time_waiting(way: Way) -> None:
    at = way.training.at

    def timed(t: int, batch: Any) -> Any:
        start = time.perf_counter()
        values = at(t, batch)
        way.waited += time.perf_counter() - start
        return values

    way.training.at = timed


class _Known:
    """An answer that has come."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def result(self, timeout: float | None = None) -> Any:
        """Return it."""
        return self.value


def same(one: Expansion, other: Expansion) -> bool:
    """Return True if two models are bit-for-bit identical."""
    return one.decays == other.decays and all(map(np.array_equal, one.blocks, other.blocks))


def kills(times: int) -> dict[str, Any]:
    """Kill a worker at a random iteration, so many times on one cluster of two; of each run, whether the model is the same."""
    warnings.simplefilter("ignore")
    task, seen = paper_task(12_000, 3, 16, 40, 100), []
    here, shared.DEALT_ROWS = run(task).model, 384
    with cluster_of(2) as (cluster, client):
        for seed in range(times):
            seen.append(_killed(task, cluster, client, seed, here))
            print(seen[-1], flush=True)
    return {"runs": seen}


def _killed(task: Task, cluster: Any, client: Any, seed: int, here: Expansion) -> dict[str, Any]:
    rng, n_workers = np.random.default_rng(seed), len(client.nthreads())

    def kill(own: Way) -> None:
        address = own.training.workers[rng.integers(len(own.training.workers))].address
        os.kill(next(w.pid for w in cluster.workers.values() if w.worker_address == address), signal.SIGKILL)

    t = int(rng.integers(1, task.plan.n_iter))
    there = run(task, client, {t: kill})
    return {
        "seed": seed,
        "t": t,
        "workers": n_workers,
        "same": same(there.model, here),
        "replaced": there.training.replaced,
        "seconds": there.begun + there.seconds,
    }


def _own_network() -> bool:
    """Give this thread and its children a separate loopback, if the system allows it (Linux, root); return True if it did."""
    has_one = ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK) == 0
    if has_one:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as some:
            fcntl.ioctl(some, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
    return has_one


def _loopback() -> int:
    with open(LOOPBACK, encoding="ascii") as file:
        line = next(line for line in file if line.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[0])


def _quiet(seconds: float) -> float:
    """Return the bytes a second that the machine's loopback carries while nothing is asked of it."""
    before = _loopback()
    time.sleep(seconds)
    return (_loopback() - before) / seconds


def traffic(n_iter: int) -> dict[str, Any]:
    """Count the bytes of an iteration on the wire, for the estimators' usual sizes and the papers'."""
    is_own, seen = _own_network(), []
    for batch_size, m in ((64, 64), (1000, 1000)):
        task = paper_task(20_000, 18, m, n_iter, batch_size)
        for direct in (False, True):
            with cluster_of(2, direct=direct) as (_, client):
                run(task, client)
                seen.append({"B": batch_size, "m": m, "direct": direct, **_counted(task, client)})
                print(seen[-1], flush=True)
    return {"own": is_own, "runs": seen}


def _counted(task: Task, client: Any) -> dict[str, float]:
    """Return bytes an iteration and worker: on the wire, without what goes on anyway, and what the run has to say."""
    quiet, counted = _quiet(5.0), {}
    T = task.plan.n_iter

    def begin(own: Way) -> None:
        counted["from"], counted["at"] = float(_loopback()), time.perf_counter()

    def end(own: Way) -> None:
        counted["all"] = _loopback() - counted["from"] - quiet * (time.perf_counter() - counted["at"])

    way = run(task, client, {1: begin, T - 1: end})
    W, sources = len(way.training.workers), len(task.rows)
    return {
        "workers": W,
        "wire": counted["all"] / (T - 2) / W,
        "payload": (way.training.bytes_taken + way.training.bytes_given) / T / W,
        "target": 8 * (task.batch_size * sources + 2 * task.plan.n_features),
        "quiet": quiet,
        "seconds": way.seconds / T,
    }


def messages(n_iter: int, repeats: int) -> dict[str, Any]:
    """Time iterations with next to no work on one, two and four processes, in turn, and on none: what their messages take."""
    task, seen = paper_task(20_000, 18, 64, n_iter, 64), []
    shared.DEALT_ROWS = 384  # each of four has some
    for _ in range(repeats):
        for n_workers in (0, 1, 2, 4):
            way = _on(task, n_workers) if n_workers else _here(task, 1)
            seen.append({"workers": n_workers, "seconds": way.seconds / n_iter, "load": os.getloadavg()[0]})
            print(seen[-1], flush=True)
    return {"runs": seen}


def efficiency(repeats: int, n: int, n_iter: int, batch_size: int, m: int) -> dict[str, Any]:
    """Make the same run in turn on one and on two processes, and here on one thread and on all."""
    task, seen = paper_task(n, 18, m, n_iter, batch_size), []
    for _ in range(repeats):
        for name, made, count in WAYS:
            way, load = made(task, count), os.getloadavg()[0]
            figures = {"begun": way.begun, "seconds": way.seconds, "waited": way.waited, "cpu": way.cpu}
            seen.append({"name": name, **figures, "load": load})
            print(seen[-1], flush=True)
    with cluster_of(1) as (_, client):
        visited = len(SharedPoints(task, task.new_model(), client).rows)
    return {"n": n, "T": n_iter, "B": batch_size, "m": m, "visited": visited, "runs": seen}


def _on(task: Task, n_workers: int) -> Way:
    with cluster_of(n_workers) as (_, client):
        run(paper_task(4000, task.X.shape[1], task.plan.n_features, 3, 1000), client)  # loads the loops
        return run(task, client)


def _here(task: Task, n_threads: int) -> Way:
    with threads(n_threads):
        return run(task)


WAYS = (("1 process", _on, 1), ("2 processes", _on, 2), ("here, 1 thread", _here, 1), ("here, 2 threads", _here, 2))
