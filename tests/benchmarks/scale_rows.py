"""Rows that do not fit in memory: a run from a folder of Parquet files, and a model's values at the rows of one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from performance.machine import seconds
from performance.machine import workers as threads
from performance.measuring import in_new_process, repeated
from performance.prediction import any_model
from performance.runs import one_evaluation, paper_task
from pyarrow import parquet

D, ROWS_A_FILE, LABELED = 18, 1_000_000, 1e-4
NAMES = [f"x{j}" for j in range(D)]
GROUPS = (10**6, 10**5, 10**4, 10**3, 10**2)
TRAINING = """
import json, sys, time
import numpy as np
from sklearn.metrics import roc_auc_score
from dsgcore import QSGS2AUC
from dsgcore.jobs.memory import peak
from dsgcore.kernels.features import warm_up
from dsgcore.data import rows_of
from dsgcore.data.rows import Rows
folder, n_iter, names, groups = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
warm_up()
empty, spent, read_ahead = peak(), {}, Rows.read_ahead

def timed(self, rows):
    start = time.perf_counter()
    read_ahead(self, rows)
    spent["reading"] = time.perf_counter() - start

Rows.read_ahead = timed
start = time.perf_counter()
rows, y = rows_of(folder, "label", features=names)
spent["labels"] = time.perf_counter() - start
model = QSGS2AUC(random_state=0, n_iter=n_iter, tol=None).fit(rows, y)
spent["all"] = time.perf_counter() - start
held = rows._held.rows
touched = {g: len(np.unique(held // g)) / -(-len(rows) // g) for g in groups}
rng = np.random.default_rng(1)
truth = rng.integers(0, 2, 50_000)
X = rng.standard_normal((len(truth), len(names)), dtype=np.float32)
X[:, :2] += truth[:, None]
score = roc_auc_score(truth, model.decision_function(X))
print(json.dumps({"seconds": spent, "peak": peak(), "empty": empty, "held": len(held), "parts": len(rows.parts()),
    "read": rows.parts_read, "touched": touched, "auc": score, "n": len(rows), "T": n_iter}))
"""


def write(folder: Path, n: int, *, first: int = 0) -> None:
    """Write `n` rows of 18 normal coordinates, two of which the class moves, to files of a million; one of 10,000 has a label."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, n, ROWS_A_FILE), start=first):
        rng, size = np.random.default_rng(number + 100), min(ROWS_A_FILE, n - start)
        truth = rng.integers(0, 2, size).astype(np.int8)
        X = rng.standard_normal((size, D), dtype=np.float32)
        X[:, :2] += truth[:, None]
        label = np.where(rng.random(size) < LABELED, truth, -1).astype(np.int8)
        table = pyarrow.table({**dict(zip(NAMES, X.T, strict=True)), "label": label})
        parquet.write_table(
            table, folder / f"{number:04}.parquet", row_group_size=ROWS_A_FILE, use_dictionary=["label"]
        )


def trained(folder: Path, n_iter: int) -> dict[str, Any]:
    """Train from a folder in a separate process; return its seconds, its memory, and the part of the files that it read."""
    found = in_new_process(TRAINING, folder, n_iter, json.dumps(NAMES), json.dumps(GROUPS))
    return {**found, "bytes": sum(file.stat().st_size for file in folder.iterdir()), "load": os.getloadavg()[0]}


def predicted(folder: Path, to: Path, n_iter: int, m: int, repeats: int) -> dict[str, Any]:
    """Write a model's values of a folder's rows, so many times; and beside each, the kernel's rate."""
    model, n = any_model(D, m, n_iter), _rows_in(folder)
    model.save(to / "model.npz")
    seen = []
    for number in range(repeats):
        before = _kernel(m)
        taken = seconds(lambda number=number: _predict(folder, to, f"out-{number}").wait())
        after = _kernel(m)
        one, every = (min(pair) for pair in zip(before, after, strict=True))
        seen.append({"seconds": taken, "one": one * n * n_iter, "all": every * n * n_iter, "load": os.getloadavg()[0]})
        print(seen[-1], flush=True)
    return {"n": n, "T": n_iter, "m": m, "workers": 2, "runs": seen, "start": seconds(_start)}


def _rows_in(folder: Path) -> int:
    return sum(parquet.ParquetFile(file).metadata.num_rows for file in folder.iterdir())


def _start() -> None:
    """Begin a process that imports what the command does, and does nothing."""
    subprocess.run([sys.executable, "-c", "import dsgcore.cli.predict, pyarrow.dataset"], check=True)


def _kernel(m: int) -> tuple[float, float]:
    """Return the seconds that one block takes a row: with one thread, and with all."""
    rows = 96_000
    call = repeated(one_evaluation(paper_task(rows, D, m, 1, 1)), 2)
    with threads(1):
        call()
        one = min(seconds(call) for _ in range(3))
    call()
    return one / (2 * rows), min(seconds(call) for _ in range(3)) / (2 * rows)


def _predict(folder: Path, to: Path, out: str) -> subprocess.Popen[bytes]:
    command = ["predict", to / "model.npz", folder, "--out", to / out, "--features", ",".join(NAMES), "--quiet"]
    return subprocess.Popen([sys.executable, "-m", "dsgcore", *map(str, command)])


def resumed(folder: Path, to: Path, n_iter: int, m: int) -> dict[str, Any]:
    """Kill the command half way and repeat it; return True if its files equal those of an undisturbed command."""
    any_model(D, m, n_iter).save(to / "model.npz")
    n_parts, process = sum(parquet.ParquetFile(file).num_row_groups for file in folder.iterdir()), None
    process = _predict(folder, to, "killed")
    while len(list((to / "killed").glob("*.parquet"))) < n_parts // 2 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    there = len(list((to / "killed").glob("*.parquet")))
    _predict(folder, to, "killed").wait()
    _predict(folder, to, "whole").wait()
    whole, killed = (sorted((to / name).iterdir()) for name in ("whole", "killed"))
    is_same = [f.name for f in whole] == [f.name for f in killed]
    is_same &= all(a.read_bytes() == b.read_bytes() for a, b in zip(whole, killed, strict=True))
    return {"parts": n_parts, "there": there, "same": is_same, "n": _rows_in(folder), "T": n_iter, "m": m}
