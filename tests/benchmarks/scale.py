"""Measurements for rows that do not fit in memory: training from a folder of Parquet files, and prediction to one.

    python tests/benchmarks/scale.py rows prediction --figures scale.json

- rows: 10^8 rows of Parquet (7 GB), made for the measurement and deleted.
- prediction: `dsg-lab predict` of 10^7 rows, and the same with a kill half way.
Each part writes its figures to the file, and `scale.md` explains them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scale_rows
from reporting import command_line, show


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


PARTS: dict[str, Callable[[bool], dict[str, Any]]] = {"rows": _rows, "prediction": _prediction}


def main() -> None:
    """Measure what the command line names, with --small a tenth of the rows and iterations."""
    asked = command_line(__doc__, list(PARTS), figures=Path("scale.json"), small=False)
    for part in asked.what:
        kept = json.loads(asked.figures.read_text()) if asked.figures.exists() else {}
        kept[part] = {**PARTS[part](asked.small), "load at the end": os.getloadavg()[0]}
        show(json.dumps(kept, indent=1), asked.figures)


if __name__ == "__main__":
    main()
