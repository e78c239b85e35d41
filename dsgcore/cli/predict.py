"""The command ``dsg-lab predict MODEL DATA --out DIR``: classes and scores of rows, one Parquet file per row group."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
import pyarrow
from numpy.typing import NDArray
from pyarrow import parquet
from sklearn.utils import gen_batches

from dsgcore.cli.ending import Made, Progress, note
from dsgcore.cli.options import text_of
from dsgcore.cli.places import check_folder, check_own, places_read
from dsgcore.core.errors import DSGError
from dsgcore.core.files import whole_file, whole_files
from dsgcore.core.parameters import quoted
from dsgcore.data import DataError
from dsgcore.data.reading import Features, File, Recipe, Table
from dsgcore.data.reading.binary import is_large
from dsgcore.data.reading.cells import check_column, listed
from dsgcore.data.rows import PartedTable, rows_of
from dsgcore.models import load_model
from dsgcore.problems.thresholds import classify
from dsgcore.solver.model import points_at_a_time
from dsgcore.solver.model_files import ModelError

# The files of a trained method: its model, or an estimator that only joblib can write; facts; and the features' preparation.
MODEL, MACHINE, FACTS, PREPARATION = "model.npz", "model.joblib", "fit.json", "preparation.joblib"
PART, KEY = "part-{:06}.parquet", b"dsgcore"
# Names of the columns that predictions have.
PREDICTED = re.compile("class|score( .*)?")
# What a file itself says; all else is as in the training file.
_OF_FILE = ("format", "delimiter", "encoding", "decimal", "header", "above", "units", "comment", "escape")


def predict(given: argparse.Namespace) -> Made:
    """Write classes and scores of the points of a file or folder."""
    keep = check_kept(given.keep or ())
    if not given.model.exists():
        raise DSGError(f"there is no model {given.model}: give model.npz, or the folder that `dsg-lab fit` has written")
    check_folder(given.out, (), [given.data, *places_read(given.model, "files")], is_part)
    progress, counts = Progress(is_quiet=given.quiet), (0, 0, 0)

    def tell(done: int, of: int, new: int) -> None:
        nonlocal counts
        counts = done, of, new
        progress.part(done, of, _words(*counts), is_new=new > 0)

    try:
        write_scores(
            *(given.model, given.data, given.out),
            features=given.features,
            keep=keep,
            text=text_of(given),
            callback=tell,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the files in {given.out} are kept, and the same command continues") from None
    if given.csv is not None:
        _write_csv(given.out, given.csv)
    data = {"parts": counts[0], "new": counts[2], "out": given.out, "csv": given.csv}
    also = f" and in {given.csv}" if given.csv else ""
    return Made(data, f"{_words(*counts)}. The predictions are in {given.out}{also}.")


def _words(done: int, of: int, new: int) -> str:
    return f"{done} of {of} parts, {new} new"


def write_scores(
    model: Path,
    data: Path,
    out: Path,
    *,
    features: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    text: Mapping[str, Any] | None = None,
    callback: Callable[[int, int, int], object] = lambda done, of, new: None,
) -> int:
    """Write classes and scores of a table's rows, one Parquet file per row group; return the number of new files.

    Parameters
    ----------
    model : path
        A model file, as `Expansion.save` writes it; or the folder that ``dsg-lab fit`` has written. A folder
        also gives the columns, their preparation, and the classes.
    data : path
        For a folder any table that ``fit`` reads; for a model file Parquet files.
    out : path
        A folder. Files in it for the same model and data are kept, and not computed again.
    features : sequence of str, optional
        The feature columns of a model file, in their order; by default all.
    keep : sequence of str
        Columns of the data that the output has, too.
    text : mapping, optional
        How a text is written, by the fields of a recipe; what is missing is guessed.
    callback : callable, optional
        Called with the number of finished parts, the number of all parts, and the number of new ones.

    Raises
    ------
    DSGError
        If the files, the model or the folder cannot be used.
    """
    fitted = Fitted.of(model)
    said = {name: value for name, value in (text or {}).items() if value is not None}
    parts, stamp = fitted.parts(data, features, keep, said), stamp_of(data)
    out.mkdir(parents=True, exist_ok=True)
    keys = [f"{fitted.digest} {stamp} {features} {list(keep)} {said} {part.name}" for part in parts]
    missing = [number for number, key in enumerate(keys) if not _is_there(out / PART.format(number), key)]
    callback(len(parts) - len(missing), len(parts), 0)
    for new, number in enumerate(missing, start=1):
        _write_part(fitted, parts[number], out / PART.format(number), keys[number])
        callback(len(parts) - len(missing) + new, len(parts), new)
    for left in out.glob("part-*.parquet.*.part"):  # left by a process that was killed while writing
        left.unlink(missing_ok=True)
    return len(missing)


class Part(NamedTuple):
    """Rows of one output file: their name, and a function that reads the points in pieces, the columns to keep, and notes."""

    name: str
    read: Callable[[], tuple[Iterable[NDArray], dict[str, Any], list[str]]]


@dataclass(frozen=True)
class Fitted:
    """A trained method, and what its fit has written beside it."""

    model: Any  # a model, or a whole estimator
    facts: dict[str, Any]
    features: Features | None  # None for a model's file alone
    digest: str

    @classmethod
    def of(cls, place: Path) -> Fitted:
        """Load a model's file, or the folder of a fit. Only load estimators that you have trained yourself."""
        if not place.is_dir():
            return cls(_model_in(place), {}, None, hashlib.sha256(place.read_bytes()).hexdigest())
        facts, machine = facts_of(place), place / MACHINE
        model = joblib.load(machine) if machine.exists() else _model_in(place / MODEL)
        files = (machine if machine.exists() else place / MODEL, place / FACTS, place / PREPARATION)
        content = b"".join(file.read_bytes() for file in files)
        return cls(model, facts, joblib.load(place / PREPARATION), hashlib.sha256(content).hexdigest())

    @property
    def is_estimator(self) -> bool:
        """True for a whole estimator."""
        return hasattr(self.model, "predict")

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.model.n_features_in_ if self.is_estimator else self.model.d)

    def parts(self, data: Path, features: Sequence[str] | None, keep: Sequence[str], text: Mapping) -> list[Part]:
        """Return the parts of a table, read and prepared as the training table was."""
        if self.features is None:
            return self._parts_of_rows(data, features, keep)
        if features is not None and tuple(features) != tuple(self.features.columns):
            raise DSGError(
                f"--features must be left out, because the model was trained on {listed(self.features.columns)}, "
                f"got {listed(features)}"
            )
        if not is_large(data):
            table = _table(File.of_path(data), self.features.recipe, text)
            _check_columns(keep, map(str, table.frame.columns))
            return [Part("", partial(self._of_frame, lambda: table.frame, keep, "", table.notes[1:]))]
        large = PartedTable.of_path(data)
        _check_columns([*self.features.columns, *keep], large.kinds)
        frames = large.frames(self.features, keep)
        return [Part(name, partial(self._of_frame, read, keep, f"{name}: ", ())) for name, read in frames]

    def _of_frame(
        self, read: Callable[[], pd.DataFrame], keep: Sequence[str], name: str, notes: Sequence[str]
    ) -> tuple[Iterable[NDArray], dict[str, Any], list[str]]:
        assert self.features is not None
        frame = read()
        points = self.features.transform(frame)
        pieces = (points[rows] for rows in gen_batches(len(points), points_at_a_time(self.d)))
        kept = {column: pyarrow.array(frame[column], from_pandas=True) for column in keep}
        return pieces, kept, [*notes, *(name + sentence for sentence in self.features.unseen(frame))]

    def _parts_of_rows(self, data: Path, features: Sequence[str] | None, keep: Sequence[str]) -> list[Part]:
        """Return the row groups of Parquet files whose columns are the features themselves."""
        rows, _ = rows_of(data, features=features, missing=None)
        if rows.shape[1] != self.d:
            raise DataError(
                f"the model needs {self.d} feature columns, got {rows.shape[1]}: choose them with --features"
            )
        rows = rows.astype(np.float64 if self.is_estimator else self.model.dtype)

        def read(number: int) -> tuple[Iterable[NDArray], dict[str, Any], list[str]]:
            pieces = rows.pieces(rows.rows_of_part(number), points_at_a_time(self.d))
            return pieces, {name: rows.column_of_part(name, number) for name in keep}, []

        return [Part(f"{name} {n}", partial(read, number)) for number, (name, n) in enumerate(rows.parts())]

    def scored(self, X: NDArray) -> dict[str, NDArray]:
        """Return the columns of the output for points (n, d): the classes if they are known, and the scores."""
        classes = self.facts.get("classes")
        if self.is_estimator:
            values = getattr(self.model, "ranking_function", self.model.decision_function)(X)
            found = self.model.predict(X)
            predicted = np.array(classes)[found] if self.facts.get("has_codes") else found
            return {"class": predicted, **_scores(values, classes)}
        values = self.model.evaluate(X)
        return ({} if classes is None else {"class": self._classes(values)}) | _scores(values, classes)

    def _classes(self, values: NDArray) -> NDArray:
        cut = self.facts.get("threshold", 0.0) - self.facts.get("shift", 0.0)
        thresholds = np.array(self.facts.get("thresholds", [cut]))
        places = values.argmax(axis=1) if values.ndim == 2 else classify(values, thresholds)
        return np.array(self.facts["classes"])[places]


def _scores(values: NDArray, classes: Sequence[Any] | None) -> dict[str, NDArray]:
    """Return one column of scores, or one for each class with its name, or its number if the names are not known."""
    if values.ndim == 1:
        return {"score": values}
    names = range(values.shape[1]) if classes is None else classes
    return {f"score {name}": np.ascontiguousarray(column) for name, column in zip(names, values.T, strict=True)}


def _model_in(file: Path) -> Any:
    try:
        return load_model(file)
    except ModelError as error:
        raise ModelError(f"{file}: {error}") from None


def facts_of(folder: Path) -> dict[str, Any]:
    """Return the facts that a fit has written beside its model; raise `DSGError` if there are none."""
    try:
        said = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        return {"features": said["features"], **said}
    except (OSError, ValueError, KeyError, TypeError):
        raise DSGError(f"{str(folder)!r} must be a model's file, or a folder that `dsg-lab fit` has written") from None


def _check_columns(names: Iterable[str], there: Iterable[str]) -> None:
    known = list(there)
    for name in names:
        check_column(name, known)


def _table(file: File, trained: Recipe, text: Mapping[str, Any]) -> Table:
    """Return the table; missing words and roles are those of the training file, and the format that of this file."""
    own = file.sniff(**text)
    is_alike = trained.format == own.format == "delimited" and trained.delimiter == own.delimiter
    if is_alike and "decimal" not in text:  # a file without decimals has no mark of its own
        own = replace(own, decimal=trained.decimal)
    return file.table(replace(trained, **{name: getattr(own, name) for name in _OF_FILE}))


def stamp_of(data: Path) -> str:
    """Return a stamp that changes when one of the files does."""
    files = [data] if data.is_file() else [file for file in sorted(data.rglob("*")) if file.is_file()]
    found = repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files])
    return hashlib.sha256(found.encode()).hexdigest()


def is_part(file: Path) -> bool:
    """Return True for a file that `write_scores` has written."""
    return (file.match("part-*.parquet") and _key_of(file) != "") or file.match("part-*.parquet.*.part")


def _key_of(file: Path) -> str:
    """Return what the values in a part are those of; an empty text if it is another file."""
    try:
        return str((parquet.read_schema(file).metadata or {}).get(KEY, b"").decode())
    except (OSError, ValueError):
        return ""


def _is_there(to: Path, key: str) -> bool:
    """Return True if a part's values exist; raise `DataError` if another file is in their place."""
    if to.exists() and _key_of(to) != key:
        raise DataError(
            f"{quoted(str(to))} holds other data than this model's values at these points: choose another folder"
        )
    return to.exists()


def _write_part(fitted: Fitted, part: Part, to: Path, key: str) -> None:
    """Write the values at one part's points, completely or not at all."""
    try:
        pieces, columns, notes = part.read()
        made = [fitted.scored(piece) for piece in pieces]
    except ModelError as error:
        raise DataError(f"{part.name}: {error}" if part.name else str(error)) from None
    for sentence in notes:
        note(sentence)
    columns |= {name: np.concatenate([piece[name] for piece in made]) for name in (made[0] if made else ())}
    with whole_files(to.parent, [to.name]) as folder:
        parquet.write_table(pyarrow.table(columns).replace_schema_metadata({KEY: key.encode()}), folder / to.name)


def _write_csv(parts: Path, file: Path) -> None:
    """Write all parts to one CSV file, in the order of the rows."""
    tables = map(pd.read_parquet, sorted(parts.glob("part-*.parquet")))
    with whole_file(file) as to:
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
