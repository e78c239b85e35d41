"""The command ``dsg-lab predict MODEL DATA --out DIR``."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pyarrow
from pyarrow import parquet

from dsgcore.cli.ending import Line, Made, bar
from dsgcore.cli.options import listed_names, text_of
from dsgcore.cli.places import check_files, check_folder, check_own, json_file
from dsgcore.cli.scores import KEY, PREDICTED, PREPARATION, Fitted, is_part, is_there, stamp_of, write_scores
from dsgcore.core.durations import TimeLeft
from dsgcore.core.errors import DSGError
from dsgcore.core.files import whole_files
from dsgcore.data.reading import Features, File, Recipe, Table
from dsgcore.data.reading.binary import is_large
from dsgcore.data.reading.cells import check_column, listed
from dsgcore.data.rows import PartedTable
from dsgcore.solver.model import points_at_a_time

PART = "part-{:06}.parquet"
# What a file itself says; all else is as in the training file.
_OF_FILE = ("format", "delimiter", "encoding", "decimal", "header", "above", "units", "comment", "escape")


def predict(given: argparse.Namespace) -> Made:
    """Write classes and scores of the points of a file or folder."""
    keep = check_kept(listed_names(given.keep) or ())
    if not given.model.exists():
        raise DSGError(f"there is no model {given.model}: give model.npz, or the folder that `dsg-lab fit` has written")
    inputs = [given.data, *(given.model.glob("*") if given.model.is_dir() else [given.model])]
    check_folder(given.out, (), inputs, is_part)
    check_files({"--csv": (given.csv, "score")} | json_file(given), [*inputs, given.out])
    prepared = joblib.load(given.model / PREPARATION) if (given.model / PREPARATION).is_file() else None
    progress = _Progress(is_quiet=given.quiet)
    try:
        if isinstance(prepared, Features):
            _predict_table(prepared, given, keep, progress)
        else:
            features = listed_names(given.features)
            write_scores(given.model, given.data, given.out, features=features, keep=keep, callback=progress.tell)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the files in {given.out} are kept, and the same command continues") from None
    progress.line.end()
    if given.csv is not None:
        _write_csv(given.out, given.csv)
    data = {"parts": progress.done, "new": progress.new, "out": given.out, "csv": given.csv}
    also = f" and in {given.csv}" if given.csv else ""
    return Made(data, f"{progress.said()}. The predictions are in {given.out}{also}.")


def _predict_table(features: Features, given: argparse.Namespace, keep: Any, progress: _Progress) -> None:
    """Predict the rows of a table, read and prepared as the training table was."""
    if (asked := listed_names(given.features)) is not None and tuple(asked) != tuple(features.columns):
        raise DSGError(
            f"--features must be left out, because the model was trained on {listed(features.columns)}, got {listed(asked)}"
        )
    if is_large(given.data):
        _predict_large(features, given, keep, progress)
        return
    file = File.of_path(given.data)
    table = _table(file, features.recipe, given)
    for name in keep:
        check_column(name, [str(one) for one in table.frame.columns])
    fitted = Fitted.of(given.model)
    key = f"{_key(fitted, given, keep)} {file.packed.sha256()}"
    if is_there(given.out / PART.format(0), key):
        progress.tell(1, 1, 0)
        return
    for sentence in (*table.notes[1:], *features.unseen(table.frame)):
        print(sentence, file=sys.stderr)
    _write_part(fitted, features, table.frame, given.out, PART.format(0), keep, key)
    progress.tell(1, 1, 1)


def _predict_large(features: Features, given: argparse.Namespace, keep: Any, progress: _Progress) -> None:
    """Predict the rows of Parquet files, one row group after the other."""
    large, fitted = PartedTable.of_path(given.data), Fitted.of(given.model)
    for name in (*features.columns, *keep):
        check_column(name, list(large.kinds))
    stamp, groups, new = f"{_key(fitted, given, keep)} {stamp_of(given.data)}", large.frames(features, keep), 0
    for number, (name, read) in enumerate(groups):
        part, key = PART.format(number), f"{stamp} {name}"
        if not is_there(given.out / part, key):
            frame = read()
            for sentence in features.unseen(frame):
                print(f"{name}: {sentence}", file=sys.stderr)
            _write_part(fitted, features, frame, given.out, part, keep, key)
            new += 1
        progress.tell(number + 1, len(groups), new)


def _key(fitted: Fitted, given: argparse.Namespace, keep: Any) -> str:
    """Return what the predictions depend on, besides the data."""
    prepared = hashlib.sha256((given.model / PREPARATION).read_bytes()).hexdigest()
    return f"{fitted.digest} {prepared} {list(keep)}"


def _write_part(
    fitted: Fitted, features: Features, frame: pd.DataFrame, out: Path, name: str, keep: Any, key: str
) -> None:
    """Write the classes and scores of a table's rows, completely or not at all."""
    points, size = features.transform(frame), points_at_a_time(fitted.d)
    made = [fitted.scored(points[start : start + size]) for start in range(0, len(points), size)]
    columns = {name: pyarrow.array(frame[name], from_pandas=True) for name in keep}
    columns |= {name: np.concatenate([piece[name] for piece in made]) for name in (made[0] if made else ())}
    with whole_files(out, [name]) as part:
        parquet.write_table(pyarrow.table(columns).replace_schema_metadata({KEY: key.encode()}), part / name)


def _table(file: File, trained: Recipe, given: argparse.Namespace) -> Table:
    """Return the table; missing words and roles are those of the training file, and the format that of this file."""
    said = {name: value for name, value in text_of(given).items() if value is not None}
    own = file.sniff(**said)
    if (
        trained.format == "delimited"
        and own.format == "delimited"
        and trained.decimal != own.decimal
        and "decimal" not in said
    ):
        own = replace(own, decimal=trained.decimal) if trained.delimiter == own.delimiter else own
    return file.table(replace(trained, **{name: getattr(own, name) for name in _OF_FILE}))


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
        self.line, self.left = Line(is_quiet=is_quiet), TimeLeft()
        self.done = self.of = self.new = 0

    def tell(self, done: int, of: int, new: int) -> None:
        """Draw the line. Parts of an earlier command are not new."""
        if not new:
            self.left.skip(done)
        self.done, self.of, self.new = done, of, new
        self.line.show(f"{bar(done, of)} {self.said()}{self.left.text(done, of)}")

    def said(self) -> str:
        """Return the numbers of parts."""
        return f"{self.done} of {self.of} parts, {self.new} new"
