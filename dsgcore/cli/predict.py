"""The command ``dsg-lab predict MODEL DATA --out DIR``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from dsgcore.cli.progress import Line, bar
from dsgcore.cli.scores import facts_of, write_scores
from dsgcore.cli.sweep import INTERRUPTED
from dsgcore.core.durations import TimeLeft
from dsgcore.core.text_files import check_place
from dsgcore.data.out_of_core.tables import as_parquet
from dsgcore.data.reading.names import listed_names


def predict(given: argparse.Namespace) -> int:
    """Write classes and scores of the points of a file or folder; return the exit code."""
    features, keep = listed_names(given.features), listed_names(given.keep) or ()
    if given.csv is not None:
        check_place(given.csv, "--csv")
    progress = _Progress(is_quiet=given.quiet)
    try:
        with TemporaryDirectory(prefix="dsgcore-rows-") as folder:
            named = facts_of(given.model)["features"] if given.model.is_dir() else features
            data = as_parquet(given.data, Path(folder), named)
            write_scores(given.model, data, given.out, features=features, keep=keep, tell=progress.tell)
    except KeyboardInterrupt:
        print(f"\ndsg-lab: stopped; the files in {given.out} are kept, and the same command continues", file=sys.stderr)
        return INTERRUPTED
    progress.line.end()
    if given.csv is not None:
        _write_csv(given.out, given.csv)
    return 0


def _write_csv(parts: Path, file: Path) -> None:
    """Write all parts to one CSV file, in the order of the rows."""
    for number, part in enumerate(sorted(parts.glob("part-*.parquet"))):
        is_first = number == 0
        pd.read_parquet(part).to_csv(file, mode="w" if is_first else "a", header=is_first, index=False)


class _Progress:
    """Progress of a prediction: the number of written parts."""

    def __init__(self, *, is_quiet: bool) -> None:
        self.line, self.left = Line(is_quiet=is_quiet), TimeLeft()

    def tell(self, done: int, of: int, new: int) -> None:
        """Draw the line. Parts of an earlier command are not new."""
        if not new:
            self.left.skip(done)
        self.line.show(f"{bar(done, of)} {done} of {of} parts, {new} new{self.left.text(done, of)}")
