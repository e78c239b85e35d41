"""One run with one thread, with all threads and on two worker processes: the cost of sharing, and when it pays."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

from dsgcore.cluster import SharedPoints
from dsgcore.solver.carried import VisitedPoints
from performance.machine import Row, interleaved, workers
from performance.measuring import Sizes
from performance.runs import make, paper_task

ROUNDS, PROCESSES = 2, 2
# A run with almost no work except messages: some thousand rows, so that each worker has some.
FEW = {"n": 8000, "m": 8, "n_iter": 100, "batch_size": 200}


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure a run that visits hundreds of thousands of rows, and one of nearly no work."""
    s = sizes
    task = paper_task(s.shared, s.d, max(1, s.m // 4), s.n_iter, 2 * s.batch_size)
    few, shared = paper_task(d=s.d, **FEW), []
    alone = workers(1)
    calls: dict[str, Callable[[], object]] = {"one": alone(partial(make, task)), "few": alone(partial(make, few))}
    calls["all"] = partial(make, task)
    with _client() as client:
        if client is not None:
            points_of = partial(SharedPoints, client=client)
            calls["shared"] = lambda: shared.append(make(task, points_of))
            calls["few, shared"] = partial(make, few, points_of)
        times = interleaved(min(s.repeats, ROUNDS), calls)
    points = VisitedPoints(task, task.new_model())
    name = f"long run ({len(points.visited)} visited rows, d = {s.d}, m = {task.plan.n_features}, T = {s.n_iter})"
    yield Row(f"{name}: one thread", times["one"], "s")
    yield Row("  all threads", times["all"], "s")
    if shared:
        each = times["one"] / (task.plan.n_features * int(points.needed_after.sum()))
        yield from _against_one(times, shared[-1], each)


def _against_one(times: dict[str, float], points: SharedPoints, each: float) -> Iterator[Row]:
    """Compare two processes with one thread; `each` is the seconds of one evaluation."""
    task, n_workers = points.task, len(points.workers)
    T, target = task.plan.n_iter, 8 * (task.batch_size * len(task.rows) + 2 * task.plan.n_features)
    message = max(0.0, times["few, shared"] - times["few"]) / FEW["n_iter"]
    yield Row(f"  {PROCESSES} worker processes of one thread, with sharing out", times["shared"], "s")
    yield Row(f"  one thread / {PROCESSES} worker processes", times["one"] / times["shared"], "x")
    sent = (points.bytes_taken + points.bytes_given) / T / n_workers
    yield Row("  numbers sent an iteration and worker, without framing", sent, "B", target, is_most=True)
    yield Row("  what an iteration with next to no work takes longer on them", 1e3 * message, "ms")
    least = message / (1.0 - 1.0 / PROCESSES) / each
    yield Row("  from so much work an iteration on they pay: rows carried x features, computed", least, "")


@contextmanager
def _client() -> Iterator[Any]:
    """Yield a client of a cluster of processes on this machine; None if the package is not installed."""
    if not find_spec("distributed"):
        yield None
        return
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with (
        LocalCluster(n_workers=PROCESSES, processes=True, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(PROCESSES)
        yield client
