"""A model's classes and scores of the rows of Parquet files: one output file per row group. A stopped job goes on."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import quoted
from dsgcore.data import DataError
from dsgcore.data.rows import Rows, rows_of
from dsgcore.models import load_model
from dsgcore.problems.thresholds import classify
from dsgcore.solver.model import points_at_a_time
from dsgcore.solver.model_files import ModelError

MODEL, MACHINE, FACTS, PREPARATION = "model.npz", "model.joblib", "fit.json", "preparation.joblib"
KEY = b"dsgcore"
# Names of the columns that predictions have.
PREDICTED = re.compile("class|score( .*)?")


@dataclass(frozen=True)
class Fitted:
    """A trained method, and the facts that its fit has written beside it."""

    model: Any  # a model, or an estimator that joblib has written
    facts: dict[str, Any]
    digest: str  # of the file and the facts

    @classmethod
    def of(cls, place: Path) -> Fitted:
        """Load a model's file, or the folder of a fit. Only load estimators that you have trained yourself."""
        facts = facts_of(place) if place.is_dir() else {}
        file = (
            place if not facts else next((place / n for n in (MODEL, MACHINE) if (place / n).exists()), place / MODEL)
        )
        if file.name == MACHINE:
            import joblib

            model = joblib.load(file)
        else:
            model = load_model(file)
        return cls(model, facts, hashlib.sha256(file.read_bytes() + json.dumps(facts).encode()).hexdigest())

    @property
    def is_estimator(self) -> bool:
        """True for a whole estimator."""
        return hasattr(self.model, "predict")

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.model.n_features_in_ if self.is_estimator else self.model.d)

    def rows(self, data: Path, features: Sequence[str] | None) -> Rows:
        """Return the rows of files as the method takes them."""
        features = features or self.facts.get("features") or None
        rows, _ = rows_of(data, features=features, missing=None)
        if rows.shape[1] != self.d:
            raise DataError(
                f"the model needs {self.d} feature columns, got {rows.shape[1]}: choose them with --features"
            )
        return rows.astype(np.float64 if self.is_estimator else self.model.dtype)

    def scored(self, X: NDArray) -> dict[str, NDArray]:
        """Return the columns of the output for points (n, d): the classes if they are known, and the scores."""
        if self.is_estimator:
            values = getattr(self.model, "ranking_function", self.model.decision_function)(X)
            found = self.model.predict(X)
            classes = np.array(self.facts["classes"])[found] if self.facts.get("has_codes") else found
            return {"class": classes, **_scores(values)}
        values = self.model.evaluate(X)
        return ({"class": self._classes(values)} if "classes" in self.facts else {}) | _scores(values)

    def _classes(self, values: NDArray) -> NDArray:
        cut = self.facts.get("threshold", 0.0) - self.facts.get("shift", 0.0)
        thresholds = np.array(self.facts.get("thresholds", [cut]))
        places = values.argmax(axis=1) if values.ndim == 2 else classify(values, thresholds)
        return np.array(self.facts["classes"])[places]


def facts_of(folder: Path) -> dict[str, Any]:
    """Return the facts that a fit has written beside its model; raise `DSGError` if there are none."""
    try:
        said = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        return {"features": said["features"], **said}
    except (OSError, ValueError, KeyError, TypeError):
        raise DSGError(f"{str(folder)!r} must be a model's file, or a folder that `dsg-lab fit` has written") from None


def _scores(values: NDArray) -> dict[str, NDArray]:
    """Return one column of scores, or one for each class."""
    if values.ndim == 1:
        return {"score": values}
    return {f"score {k}": np.ascontiguousarray(column) for k, column in enumerate(values.T)}


def write_scores(
    model: Path,
    data: Path,
    out: Path,
    *,
    features: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    callback: Callable[[int, int, int], object] = lambda done, of, new: None,
) -> int:
    """Write classes and scores of the points of Parquet files, one file per row group; return the number of new files.

    Parameters
    ----------
    model : path
        A model file, as `Expansion.save` writes it; or the folder that ``dsg-lab fit`` has written. A folder
        also gives the columns, the preparation of rows, and the classes.
    data : path
        A Parquet file, or a folder of them.
    out : path
        A folder. Files in it for the same model and data are kept, and not computed again.
    features : sequence of str, optional
        The feature columns, in their order; by default those of the folder, or all.
    keep : sequence of str
        Columns of the data that the output has, too.
    callback : callable, optional
        Called with the number of finished parts, the number of all parts, and the number of new ones.

    Raises
    ------
    DSGError
        If the files, the model or the folder cannot be used.
    """
    fitted = Fitted.of(model)
    rows, stamp = fitted.rows(data, features), stamp_of(data)
    out.mkdir(parents=True, exist_ok=True)
    parts = [
        (out / f"part-{number:06}.parquet", f"{fitted.digest} {stamp} {rows.names} {list(keep)} {name} {n}")
        for number, (name, n) in enumerate(rows.parts())
    ]
    missing = [number for number, part in enumerate(parts) if not is_there(*part)]
    callback(len(parts) - len(missing), len(parts), 0)
    for new, number in enumerate(missing, start=1):
        _write_part(fitted, rows, number, keep, *parts[number])
        callback(len(parts) - len(missing) + new, len(parts), new)
    for left in out.glob("part-*.parquet.*.part"):  # left by a process that was killed while writing
        left.unlink(missing_ok=True)
    return len(missing)


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
    from pyarrow import parquet

    try:
        return str((parquet.read_schema(file).metadata or {}).get(KEY, b"").decode())
    except (OSError, ValueError):
        return ""


def is_there(to: Path, key: str) -> bool:
    """Return True if a part's values exist; raise `DataError` if another file is in their place."""
    if not to.exists():
        return False
    if _key_of(to) != key:
        raise DataError(
            f"{quoted(str(to))} holds other data than this model's values at these points: choose another folder"
        )
    return True


def _write_part(fitted: Fitted, rows: Rows, number: int, keep: Sequence[str], to: Path, key: str) -> None:
    """Write the values at one part's points, completely or not at all."""
    import pyarrow
    from pyarrow import parquet

    try:
        pieces = rows.pieces(rows.rows_of_part(number), points_at_a_time(fitted.d))
        made = [fitted.scored(piece) for piece in pieces]
    except ModelError as error:
        raise DataError(f"{rows.parts()[number][0]}: {error}") from None
    columns = {name: rows.column_of_part(name, number) for name in keep}
    columns |= {name: np.concatenate([piece[name] for piece in made]) for name in (made[0] if made else ())}
    table = pyarrow.table(columns).replace_schema_metadata({KEY: key.encode()})
    part = f"{to}.{os.getpid()}.part"
    parquet.write_table(table, part)
    os.replace(part, to)
