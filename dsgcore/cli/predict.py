"""The command ``dsg-lab predict MODEL DATA --out DIR``: classes and scores of rows, one Parquet file per row group."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
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
from dsgcore.cli.options import check_file, missing_words, text_of
from dsgcore.core.errors import DSGError
from dsgcore.core.files import whole_file, whole_files
from dsgcore.core.parameters import quoted
from dsgcore.data import DataError
from dsgcore.data.reading import MARKS, Features, File, Recipe
from dsgcore.data.reading.binary import is_large
from dsgcore.data.reading.cells import as_cell, check_column, is_numeric, listed
from dsgcore.data.reading.file import about_empty_rows
from dsgcore.data.rows import PartedTable
from dsgcore.models import load_model
from dsgcore.problems.thresholds import classify, cuts_of
from dsgcore.solver.model import points_at_a_time
from dsgcore.solver.model_files import ModelError

# The files of a trained method: its model, or an estimator that only joblib can write; facts; and the features' preparation.
MODEL, MACHINE, FACTS, PREPARATION = "model.npz", "model.joblib", "fit.json", "preparation.joblib"
PART, KEY = "part-{:06}.parquet", b"dsgcore"
WRITERS = "`dsg-lab fit` or `dsg-lab run`"
# Names of the columns that predictions have.
PREDICTED = re.compile("class|score( .*)?")
_OF_TABLES = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".xlsx", ".json", ".jsonl")
_NUMBERED = re.compile(r"x\d+")  # a column that has no name in the file


def predict(given: argparse.Namespace) -> Made:
    """Write classes and scores of the points of a file or folder."""
    keep = list(dict.fromkeys(given.keep or ()))
    if taken := next((name for name in keep if PREDICTED.fullmatch(name)), None):
        raise DSGError(
            f"--keep {taken} is not possible, because the predictions have a column of that name: rename the column "
            f"of the data, or leave it out"
        )
    if not given.model.exists():
        raise DSGError(f"there is no model {given.model}: give model.npz, or the folder that {WRITERS} has written")
    if given.out.suffix.lower() in _OF_TABLES and not given.out.is_dir():
        raise DSGError(
            f"--out must be a folder, for one Parquet file per row group, got {given.out}: name a folder, and for one table "
            f"of all rows also a file (--csv {given.out.with_suffix('.csv')})"
        )
    progress, counts, words = Progress(is_quiet=given.quiet), (0, 0), ""

    def tell(done: int, of: int, new: int) -> None:
        nonlocal counts, words
        counts, words = (done, new), f"{done} of {of} parts, {new} new"
        progress.part(done, of, words, is_new=new > 0)

    text = {"missing_words": given.missing_words, **text_of(given)}
    options = {"features": given.features, "keep": keep, "text": text, "callback": tell}
    try:
        write_scores(given.model, given.data, given.out, **options)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the files in {given.out} are kept, and the same command continues") from None
    if given.csv is not None:
        with whole_file(given.csv) as to:
            for number, part in enumerate(sorted(given.out.glob("part-*.parquet"))):  # in the order of the rows
                own = pd.read_parquet(part)
                if "class" in own:
                    own["class"] = own["class"].map(lambda one: as_cell(one) if isinstance(one, str) else one)
                text = own.to_csv(index=False, header=number == 0)
                if number == 0:
                    check_file(given.csv, "--csv", text.splitlines()[0], ())
                to.write(text)
    if given.model.is_file():
        said = "A model's file takes the columns as they are. If it has learned from scaled points, as a run of the app has, give"
        note(f"{said} such points, or the folder that {WRITERS} has written, which also keeps the scaling.")
    data = {"parts": counts[0], "new": counts[1], "out": given.out, "csv": given.csv}
    also = f" and in {given.csv}" if given.csv else ""
    return Made(data, f"{words}. The predictions are in {given.out}{also}.")


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

    A model's file takes the feature columns of Parquet files, in their order; the folder of a fit also gives the columns, their
    preparation and the classes. `text` says how a text is written, by the fields of a recipe, and the words that mean missing
    besides those of the fit. Files of the same model and data are kept, and not computed again. `callback` gets the numbers of
    finished, of all and of new parts.
    """
    fitted = Fitted.of(model)
    said = {name: value for name, value in (text or {}).items() if value is not None}
    parts = fitted.parts(data, features, keep, said)
    files = [data] if data.is_file() else [file for file in sorted(data.rglob("*")) if file.is_file()]
    stamp = repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files])  # changes with a file
    stamp = hashlib.sha256(stamp.encode()).hexdigest()
    out.mkdir(parents=True, exist_ok=True)
    missing = list[tuple[Part, Path, str]]()
    for number, part in enumerate(parts):
        to, key = out / PART.format(number), f"{fitted.digest} {stamp} {features} {list(keep)} {said} {part.name}"
        if not to.exists():
            missing.append((part, to, key))
        elif _key_of(to) != key:
            raise DataError(
                f"{quoted(str(to))} holds other data than this model's values at these points: choose another folder"
            )
    callback(len(parts) - len(missing), len(parts), 0)
    for new, (part, to, key) in enumerate(missing, start=1):
        try:
            pieces, columns, notes = part.read()
            made = [fitted.scored(piece) for piece in pieces]
        except ModelError as error:
            raise DataError(f"{part.name}: {error}" if part.name else str(error)) from None
        except DataError as error:  # whose options are those of `fit`
            raise DataError(f"{error} in a new fit" if str(error).endswith("(--drop)") else str(error)) from None
        for sentence in notes:
            note(sentence)
        columns |= {name: np.concatenate([piece[name] for piece in made]) for name in (made[0] if made else ())}
        table = pyarrow.table(columns).replace_schema_metadata({KEY: key.encode()})
        with whole_files(out, [to.name]) as folder:
            parquet.write_table(table, folder / to.name)
        callback(len(parts) - len(missing) + new, len(parts), new)
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
        facts, files, is_machine = dict[str, Any](), [place], False
        if place.is_dir():
            is_machine = (place / MACHINE).exists()
            files = [place / (MACHINE if is_machine else MODEL), place / FACTS, place / PREPARATION]
            try:
                said = json.loads(files[1].read_text(encoding="utf-8"))
                facts = {"features": said["features"], **said}
                _check_facts(facts)
            except (OSError, ValueError, KeyError, TypeError):
                raise DSGError(
                    f"{str(place)!r} must be a model's file, or a folder that {WRITERS} has written"
                ) from None
        try:
            model = _unpickled(files[0], object) if is_machine else load_model(files[0])
        except ModelError as error:
            raise ModelError(f"{files[0]}: {error}") from None
        features = _unpickled(files[2], Features) if place.is_dir() else None  # runs code: after the model is checked
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
        return cls(model, facts, features, digest)

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.model.n_features_in_ if hasattr(self.model, "predict") else self.model.d)

    def parts(self, data: Path, features: Sequence[str] | None, keep: Sequence[str], text: Mapping) -> list[Part]:
        """Return the parts of a table, read and prepared as the training table was."""
        words, text = text.get("missing_words"), {name: text[name] for name in text if name != "missing_words"}
        if self.features is None:
            if words is not None:
                raise DSGError(
                    f"--missing-words needs the folder that {WRITERS} has written, since a model's file has no preparation"
                )
            return self._parts_of_rows(data, features, keep, text)
        if words is not None:
            changed, usual = copy(self.features), self.features.recipe.missing_words
            every = tuple(dict.fromkeys(["", *(missing_words(words, usual) or ())]))
            changed.recipe = replace(changed.recipe, missing_words=every)
            return replace(self, features=changed).parts(data, features, keep, text)
        if features is not None and tuple(features) != tuple(self.features.columns):
            raise DSGError(
                f"--features must be left out, because the model was trained on {listed(self.features.columns)}, "
                f"got {listed(features)}"
            )
        if not is_large(data):
            file, trained = File.of_path(data), self.features.recipe
            own = file.sniff_like(trained, self.features.columns, **text)
            table, prepared = file.table(own), copy(self.features)
            found = table.frame
            texts = [name for name in prepared.words() if name in found and is_numeric(found[name])]
            if texts:  # 01 may be a category as it is written, and 1.0 and TRUE as the number and the truth value
                as_text = file.table(_with_texts(own, texts)).frame
                unknown = prepared.unknown
                fit = [name for name in texts if len(unknown(as_text, name)) <= len(unknown(found, name))]
                table = file.table(_with_texts(own, fit)) if fit else table
            prepared.recipe, notes = own, list(table.notes[1:])
            known = {*prepared.columns, *prepared.left_out, *dict(trained.roles)}
            strange = [name for name in table.frame.columns if _NUMBERED.fullmatch(name) and name not in known]
            if strange and all(one.format == "npz" or not one.header for one in (own, trained)):
                raise DataError(f"columns without names, {listed(strange)}, are not in the training file: delete them")
            is_text = own.format == trained.format == "delimited" and not file.source.known  # as of a workbook
            if is_text and (own.delimiter, own.decimal) != (trained.delimiter, trained.decimal):
                notes.insert(0, f"The file is written otherwise than the training file. {table.notes[0]}")
            for name in keep:
                check_column(name, [*map(str, table.frame.columns)])
            read = partial(replace(self, features=prepared)._of_frame, lambda: table.frame, keep, "", notes)
            return [Part("", read)]
        large = PartedTable.of(data, **text)
        for name in (*self.features.columns, *keep):
            check_column(name, [*large.kinds])
        left_out = large.empty_rows(self.features.recipe)
        said, frames = about_empty_rows(len(left_out)), large.frames(self.features, keep, left_out)
        return [
            Part(name, partial(self._of_frame, read, keep, f"{name}: ", said * (i == 0)))
            for i, (name, read) in enumerate(frames)
        ]

    def _of_frame(
        self, read: Callable[[], pd.DataFrame], keep: Sequence[str], name: str, notes: Sequence[str]
    ) -> tuple[Iterable[NDArray], dict[str, Any], list[str]]:
        assert self.features is not None
        frame = read()
        points = self.features.transform(frame)
        pieces = (points[rows] for rows in gen_batches(len(points), points_at_a_time(self.d)))
        kept = {column: pyarrow.array(frame[column], from_pandas=True) for column in keep}
        return pieces, kept, [*notes, *(name + sentence for sentence in self.features.unseen(frame))]

    def _parts_of_rows(
        self, data: Path, features: Sequence[str] | None, keep: Sequence[str], text: Mapping
    ) -> list[Part]:
        """Return the row groups of Parquet files whose columns are the features themselves."""
        table = PartedTable.of(data, **text)
        for name in keep:
            check_column(name, [*table.kinds])
        rows = table.prepared("none", is_strict=True, features=features).rows
        if rows.shape[1] != self.d:
            raise DataError(f"the model needs {self.d} feature columns, got {rows.shape[1]}: name them with --features")
        rows = rows.astype(np.float64 if hasattr(self.model, "predict") else self.model.dtype)

        def read(number: int) -> tuple[Iterable[NDArray], dict[str, Any], list[str]]:
            pieces = rows.pieces(np.arange(*table.parts.starts[number : number + 2]), points_at_a_time(self.d))
            own = table.frame(number, keep, ()) if keep else {}
            return pieces, {name: pyarrow.array(own[name], from_pandas=True) for name in keep}, []

        return [Part(f"{own.name} {own.n}", partial(read, number)) for number, own in enumerate(table.parts.parts)]

    def scored(self, X: NDArray) -> dict[str, NDArray]:
        """Return the columns of the output for points (n, d): the classes if they are known, and the scores.

        There is one column of scores, or one for each class with its name, or its number if the names are not known.
        """
        classes, facts, found = self.facts.get("classes"), self.facts, dict[str, NDArray]()
        if hasattr(self.model, "predict"):
            values = getattr(self.model, "ranking_function", self.model.decision_function)(X)
            predicted = self.model.predict(X)
            found["class"] = np.array(classes)[predicted] if facts.get("has_codes") else predicted
        else:
            values = self.model.evaluate(X)
            if classes is not None:
                found["class"] = np.array(classes)[
                    values.argmax(axis=1) if values.ndim == 2 else classify(values, cuts_of(facts))
                ]
        if values.ndim == 1:
            return found | {"score": values}
        names = range(values.shape[1]) if classes is None else classes
        return found | {f"score {name}": np.ascontiguousarray(v) for name, v in zip(names, values.T, strict=True)}


def _with_texts(recipe: Recipe, names: Sequence[str]) -> Recipe:
    """Return the recipe with these columns read as text."""
    return recipe.with_roles(dict(recipe.roles) | dict.fromkeys(names, next(iter(MARKS))))


def _check_facts(facts: Mapping[str, Any]) -> None:
    """Raise ValueError unless the facts that make classes of values are of their kinds."""
    np.asarray([facts.get("threshold", 0.0), facts.get("shift", 0.0), *facts.get("thresholds", ())], dtype=float)
    if not isinstance(facts.get("classes", []), list):
        raise ValueError("the classes are no list")


def _unpickled(file: Path, kind: type) -> Any:
    """Return what joblib has written to a file. Only read files that you have written yourself."""
    try:
        found = joblib.load(file)
    except OSError:
        raise
    except (AttributeError, ImportError):  # it names what is not there
        raise DSGError(f"{str(file.parent)!r} was written by another version of DSG Lab: train again") from None
    except Exception:  # whatever a part of such a file, or another text, leads to
        found = None
    if not isinstance(found, kind) or found is None:
        raise DSGError(f"{str(file)!r} is damaged, or was written by another version: train again")
    return found


def _key_of(file: Path) -> str:
    """Return what the values in a part are those of; an empty text if it is another file."""
    try:
        return str((parquet.read_schema(file).metadata or {}).get(KEY, b"").decode())
    except (OSError, ValueError):
        return ""
