"""The command ``dsg-lab predict MODEL DATA --out DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from dsgcore.cli.places import check_files, check_folder, check_own
from dsgcore.cli.progress import Line, bar
from dsgcore.cli.scores import PREDICTED, facts_of, is_part, write_scores
from dsgcore.core.durations import TimeLeft
from dsgcore.core.errors import DSGError
from dsgcore.core.whole_files import whole_files
from dsgcore.data.reading.names import listed_names
from dsgcore.data.tables import as_parquet


def predict(given: argparse.Namespace) -> int:
    """Write classes and scores of the points of a file or folder; return the exit code."""
    features, keep = listed_names(given.features), check_kept(listed_names(given.keep) or ())
    if not given.model.exists():
        raise DSGError(f"there is no model {given.model}: give model.npz, or the folder that `dsg-lab fit` has written")
    inputs = [given.data, *(given.model.glob("*") if given.model.is_dir() else [given.model])]
    check_folder(given.out, (), inputs, is_part)
    check_files({"--csv": (given.csv, "score")}, [*inputs, given.out])
    progress = _Progress(is_quiet=given.quiet)
    try:
        with TemporaryDirectory(prefix="dsgcore-rows-") as folder:
            named = facts_of(given.model)["features"] if given.model.is_dir() else features
            data = as_parquet(given.data, Path(folder), named)
            write_scores(given.model, data, given.out, features=features, keep=keep, tell=progress.tell)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the files in {given.out} are kept, and the same command continues") from None
    progress.line.end()
    if given.csv is not None:
        _write_csv(given.out, given.csv)
    if not given.quiet:
        print(f"{progress.said}. The predictions are in {given.out}{f' and in {given.csv}' if given.csv else ''}.")
    return 0


def _write_csv(parts: Path, file: Path) -> None:
    """Write all parts to one CSV file, in the order of the rows."""
    tables = map(pd.read_parquet, sorted(parts.glob("part-*.parquet")))
    with (
        whole_files(file.parent, [file.name]) as part,
        (part / file.name).open("w", encoding="utf-8", newline="") as to,
    ):
        for number, table in enumerate(tables):
            text = table.to_csv(index=False, header=number == 0)
            if number == 0:
                check_own(file, "--csv", text.splitlines()[0])
            to.write(text)


def check_kept(names: Sequence[str]) -> list[str]:
    """Return the columns to copy from the data, each once; raise DSGError if one has the name of a prediction."""
    for name in names:
        if PREDICTED.fullmatch(name):
            raise DSGError(
                f"--keep {name} is not possible, because the predictions have a column of that name: rename the column "
                f"of the data, or leave it out"
            )
    return list(dict.fromkeys(names))


class _Progress:
    """Progress of a prediction: the number of written parts."""

    def __init__(self, *, is_quiet: bool) -> None:
        self.line, self.left, self.said = Line(is_quiet=is_quiet), TimeLeft(), ""

    def tell(self, done: int, of: int, new: int) -> None:
        """Draw the line. Parts of an earlier command are not new."""
        if not new:
            self.left.skip(done)
        self.said = f"{done} of {of} parts, {new} new"
        self.line.show(f"{bar(done, of)} {self.said}{self.left.text(done, of)}")
