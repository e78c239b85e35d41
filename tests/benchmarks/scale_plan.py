"""Plan for 10^9 rows and 64 workers from the measured rates: bytes, seconds and limits. Computed, not measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import exp, sqrt
from statistics import median
from typing import Any

import numpy as np
from reporting import table

N, D, SOURCES, WORKERS = 10**9, 18, 2, 64
# T, B, m: the estimators' own, and a long run.
RUNS = {"the estimators' own sizes": (800, 64, 64), "a long run": (2000, 20_000, 1000)}
COUNTS = (1, 8, 64, 256)


@dataclass(frozen=True)
class Rates:
    """Seconds, as they were measured.

    Attributes
    ----------
    label, row : float
        Of the pass over the labels, and of the row groups, a row of the collection.
    shared : float
        Of sharing out, a visited row.
    evaluation : float
        Of one feature at one row, one thread.
    message : float
        Of an iteration's messages, a worker.
    driver : float
        Of what the driving process does, one feature at one batch point.
    framing : float
        Bytes at a worker, over those of the numbers.
    """

    label: float
    row: float
    shared: float
    evaluation: float
    message: float
    driver: float
    framing: float


def rates(kept: Mapping[str, Any]) -> Rates:
    """Return what was measured, as rates."""
    rows, work = kept["rows"], kept["workers"]
    own = {name: [run for run in work["runs"] if run["name"] == name] for name in ("1 process", "here, 1 thread")}
    alone, ours = (
        median(run["seconds"] - run["waited"] for run in own[name]) for name in ("here, 1 thread", "1 process")
    )
    evaluations = work["m"] * carried(work["n"], work["T"], work["B"]) * work["T"]
    counts = [(run["workers"], run["seconds"]) for run in kept["messages"]["runs"] if run["workers"]]
    slope = float(np.polyfit(*zip(*counts, strict=True), 1)[0])
    through = next(run for run in kept["bytes"]["runs"] if not run["direct"] and run["m"] == 1000)
    return Rates(
        label=rows["seconds"]["labels"] / rows["n"],
        row=rows["seconds"]["reading"] / rows["n"],
        shared=median(run["begun"] for run in own["1 process"]) / work["visited"],
        evaluation=alone / evaluations,
        message=slope,
        driver=ours / work["T"] / (SOURCES * work["B"] * work["m"]),
        framing=through["wire"] / 2 / through["payload"],
    )


def carried(n: int, n_iter: int, batch_size: int) -> float:
    """Return how many rows are carried in the mean over the iterations: those of n that a later one still visits."""
    later = np.arange(n_iter) * batch_size / (n / SOURCES)
    return float(n * -np.expm1(-later).mean())


def plan(kept: Mapping[str, Any]) -> str:
    """Return the rates, a table for each run, and where it stops scaling, as `scale.md` has them in words."""
    r = rates(kept)
    T, B, m = RUNS["a long run"]
    work, least = carried(N, T, B) * m * r.evaluation, SOURCES * B * m * r.driver
    most = (sqrt(least**2 + 4 * r.message * work) - least) / (2 * r.message)
    limits = [
        ("workers beyond which an iteration of the long run takes longer", f"{most:.0f}"),
        ("s of one thread's work in an iteration", f"{work:.1f}"),
        ("s of the driving process in an iteration", f"{least:.2f}"),
        (f"s of work that keep {WORKERS} workers busy", f"{WORKERS * (WORKERS * r.message + least):.0f}"),
        (
            "bytes a row in the driving process",
            f"{(kept['rows']['peak'] - kept['rows']['empty']) / kept['rows']['n']:.0f}",
        ),
    ]
    parts = [table(("rate", "seconds, or bytes for a byte"), [(k, f"{v:.3g}") for k, v in asdict(r).items()])]
    parts += [_run(r, name, *sizes) for name, sizes in RUNS.items()]
    return "\n\n".join([*parts, table(("limit", ""), limits)])


def _run(r: Rates, name: str, T: int, B: int, m: int) -> str:
    visited, mean = N * (1 - exp(-T * B / (N / SOURCES))), carried(N, T, B)
    columns = "workers, labels, row groups, sharing out, iterations, messages beside, efficiency, sent an iteration"
    rows = []
    for W in COUNTS:
        each, alone = _iteration(r, mean, B, m, W), _iteration(r, mean, B, m, 1)
        times = [N * r.label, N * r.row, visited * r.shared, T * each, T * W * r.message]
        sent = r.framing * (8 * m * W + 4 * SOURCES * B)
        rows.append((W, *map(_time, times), f"{alone / W / each:.2f}", f"{sent / 1e6:.2f} MB"))
    said = f"{name}: T = {T}, B = {B:,}, m = {m}; {visited:,.0f} visited rows, {mean:,.0f} carried in the mean"
    return f"{said}\n\n{table(columns.split(', '), rows)}"


def _iteration(r: Rates, mean: float, B: int, m: int, W: int) -> float:
    """Return the seconds of an iteration: f at the batch points first; then the rest is carried, while the next block is made."""
    first, beside = SOURCES * B * m * r.evaluation / W, W * r.message + SOURCES * B * m * r.driver
    return first + max(mean * m * r.evaluation / W, beside)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
