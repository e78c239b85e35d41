"""Measurements for data beyond one machine: kills, rows, bytes, workers and prediction, and a plan made of them.

    python tests/benchmarks/scale.py kills rows bytes messages workers features prediction --figures scale.json
    python tests/benchmarks/scale.py plan --figures scale.json

- kills: one of two workers is killed at a random iteration, again and again on one cluster.
- rows: 10^8 rows of Parquet (7 GB), made for the measurement and deleted.
- bytes: the bytes of an iteration on the network.
- messages: their time.
- workers: one process and two, in turn.
- features: the same with four times as many features.
- prediction: `dsg-lab predict` of 10^7 rows, and the same with a kill half way.
Each part writes its figures to the file, and `scale.md` explains them. `plan` computes the figures for 10^9 rows and
64 workers.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scale_cluster
import scale_rows
from reporting import command_line, show
from scale_plan import plan


def _rows(is_small: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        scale_rows.write(Path(folder), 10**7 if is_small else 10**8)
        return scale_rows.trained(Path(folder), 800)


def _prediction(is_small: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        data, to = Path(folder) / "data", Path(folder)
        scale_rows.write(data, 10**6 if is_small else 10**7)
        return {
            **scale_rows.predicted(data, to, 80 if is_small else 800, 64, 1 if is_small else 2),
            "resumed": scale_rows.resumed(data, to, 10, 64),
        }


PARTS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "kills": lambda is_small: scale_cluster.kills(3 if is_small else 20),
    "rows": _rows,
    "bytes": lambda is_small: scale_cluster.traffic(100 if is_small else 1000),
    "messages": lambda is_small: scale_cluster.messages(50 if is_small else 300, 1 if is_small else 5),
    "workers": lambda is_small: scale_cluster.efficiency(
        1 if is_small else 3, *((400_000, 60, 2500, 64) if is_small else (4_000_000, 350, 4000, 64))
    ),
    "features": lambda is_small: scale_cluster.efficiency(
        1 if is_small else 3, *((400_000, 60, 2500, 256) if is_small else (4_000_000, 350, 4000, 256))
    ),
    "prediction": _prediction,
}


def main() -> None:
    """Measure what the command line names, with --small a tenth of the rows and iterations; or compute the plan."""
    asked = command_line(__doc__, [*PARTS, "plan"], figures=Path("scale.json"), small=False)
    for part in asked.what:
        kept = json.loads(asked.figures.read_text()) if asked.figures.exists() else {}
        if part == "plan":
            show(plan(kept))
        else:
            kept[part] = {**PARTS[part](asked.small), "load at the end": os.getloadavg()[0]}
            show(json.dumps(kept, indent=1), asked.figures)


if __name__ == "__main__":
    main()
