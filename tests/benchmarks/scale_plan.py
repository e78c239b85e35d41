"""What the measured rates come to for 10^9 rows and 64 workers: bytes, seconds, where it stops scaling. Computed, not measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, sqrt
from statistics import median
from typing import Any

import numpy as np

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
    """Return the page's last part."""
    r = rates(kept)
    parts = [_run(r, name, *sizes) for name, sizes in RUNS.items()]
    T, B, m = RUNS["a long run"]
    work, least = carried(N, T, B) * m * r.evaluation, SOURCES * B * m * r.driver
    most, ms = (sqrt(least**2 + 4 * r.message * work) - least) / (2 * r.message), f"{1e3 * r.message:.1f} ms"
    label, row, each, ours = 1e9 * r.label, 1e9 * r.row, 1e9 * r.evaluation, 1e9 * r.driver
    enough = WORKERS * (WORKERS * r.message + least)
    a_row = (kept["rows"]["peak"] - kept["rows"]["empty"]) / kept["rows"]["n"]
    return f"""## The plan past this machine: {N:,} rows, {WORKERS} workers

Nothing of this was run. It is computed from the figures above, for workers of one thread as fast as this machine's.
Messages go through one scheduler, and files are in a cache or on disks as fast as it. The rates are:

- {each:.2f} ns for an evaluation (one feature at one carried row);
- {label:.0f} ns a row for the labels, and {row:.0f} ns a row for the row groups;
- {1e6 * r.shared:.2f} us to share out a visited row;
- {ms} of messages for an iteration and a worker (a straight line through one, two and four workers, which shared two cores);
- {ours:.1f} ns in the driving process for a feature and a batch point;
- {r.framing:.2f} bytes on the wire for each byte of payload.

{"".join(parts)}
**When does it stop scaling?** With more than W = {most:.0f} workers an iteration of the long run takes longer again.

- An iteration is {work:.1f} s of one thread's work, which W workers divide.
- At the same time run W times {ms} of messages, one after the other in one event loop, and {least:.2f} s of the driving process.
  These are hidden up to W = {most:.0f}, because workers carry their other rows while the next block is made.
- To keep {WORKERS} workers busy, an iteration of such batches should be {enough:.0f} s of one thread's work.
  Longer runs do not help. More visited rows do, and so would a scheduler that passes one block on to all workers at once.

**What does not scale?** One process reads and holds the labels and the visited rows. This takes {a_row:.0f} bytes
a row at its highest, as measured above ({N * a_row / 1e9:.0f} GB), and {4 * D} bytes for each visited row. 24 GB
are enough for about {24 / a_row:.1f} billion rows.
"""


def _run(r: Rates, name: str, T: int, B: int, m: int) -> str:
    visited, mean = N * (1 - exp(-T * B / (N / SOURCES))), carried(N, T, B)
    sizes = f"(T = {T}, B = {B:,}, m = {m}, {SOURCES} sources)"
    head = f"*{name.capitalize()}* {sizes}: {visited:,.0f} visited rows, {mean:,.0f} carried in the mean.\n\n"
    columns = "workers, labels, row groups, sharing out, iterations, messages beside, efficiency, sent an iteration"
    lines = [columns.split(", ")]
    for W in COUNTS:
        messages, each, alone = W * r.message, _iteration(r, mean, B, m, W), _iteration(r, mean, B, m, 1)
        sent = r.framing * (8 * m * W + 4 * SOURCES * B)
        lines.append(
            [
                str(W),
                _time(N * r.label),
                _time(N * r.row),
                _time(visited * r.shared),
                _time(T * each),
                _time(T * messages),
                f"{alone / W / each:.2f}",
                f"{sent / 1e6:.2f} MB",
            ]
        )
    lines.insert(1, ["---"] * len(lines[0]))
    return head + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def _iteration(r: Rates, mean: float, B: int, m: int, W: int) -> float:
    """Return the seconds of an iteration: f at the batch points first; then the rest is carried, while the next block is made."""
    first, beside = SOURCES * B * m * r.evaluation / W, W * r.message + SOURCES * B * m * r.driver
    return first + max(mean * m * r.evaluation / W, beside)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
