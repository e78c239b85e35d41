"""Finished examples of studies that come with the package: one study, and for most settings the trajectories of a theorem.

`python -m dsgcore.studies.examples` makes them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.diagnostics.convergence import Convergence
from dsgcore.studies.results import StudyRuns
from dsgcore.studies.store import Store, StoredRun
from dsgcore.studies.study import Study
from dsgcore.studies.trajectories import Trajectories

FOLDER = Path(__file__).parent
STUDY, WAYS = "study", "ways"
# Of the iterations at which a trajectory is measured, every so many are kept, and the last one.
EACH = 4
DIGITS = 4
STATES = ("finished", "plateau", "diverged")
_NUMBERS = ("score", "objective", "seconds", "error", "step_limit")


@dataclass(frozen=True, eq=False)
class TrajectoriesExample:
    """The finished trajectories of an example: the question, and the result of each spec."""

    study: Trajectories
    found: tuple[Convergence, ...]


def file_of(kind: str, setting: str) -> Path:
    """Return the file of a setting's example; `kind` is "study" or "ways"."""
    return FOLDER / f"{kind}-{setting}.npz"


@lru_cache
def example_study(setting: str) -> StudyRuns | None:
    """Return the finished study of a setting, or None if the package has none. Do not change it."""
    found = _read(STUDY, setting)
    if found is None:
        return None
    made, columns = StudyRuns(Study.from_dict(found[0])), found[1]
    for place, key in enumerate(made.hashes):
        if key is not None:
            made.stored[key] = _stored(key, {name: column[place] for name, column in columns.items()})
    return made


def _stored(key: str, row: Mapping[str, Any]) -> StoredRun:
    score, objective, seconds, error, limit = (_or_none(row[name]) for name in _NUMBERS)
    state, iterations = STATES[int(row["state"])], int(row["iterations"])
    return StoredRun(key, score, objective, seconds or 0.0, state, iterations, error, limit)


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@lru_cache
def example_ways(setting: str) -> TrajectoriesExample | None:
    """Return the finished trajectories of a setting, or None if the package has none. Do not change them."""
    found = _read(WAYS, setting)
    if found is None:
        return None
    study, columns = Trajectories.from_dict(found[0]), found[1]
    own = [_of_spec(columns, number) for number in range(len(study.specs))]
    pairs = zip(study.specs, own, strict=True)
    return TrajectoriesExample(
        study, tuple(Convergence(spec, study.seeds, np.nanmax(c["t"], axis=0), c) for spec, c in pairs)
    )


def _of_spec(columns: Mapping[str, NDArray], number: int) -> dict[str, NDArray]:
    beginning = f"{number}."
    return {name.removeprefix(beginning): c for name, c in columns.items() if name.startswith(beginning)}


def _read(kind: str, setting: str) -> tuple[dict[str, Any], dict[str, NDArray]] | None:
    """Return an example's study as plain data, and its columns."""
    if not file_of(kind, setting).is_file():
        return None
    with np.load(file_of(kind, setting)) as archive:
        columns = {name: archive[name].astype(np.float64) for name in archive.files if name != "study"}
        return json.loads(str(archive["study"])), columns


def columns_of_study(study: Study, store: Store) -> dict[str, NDArray]:
    """Return the results of a study's runs in the store, as an example keeps them: an array of shape (runs,) each."""
    made = StudyRuns(study)
    made.refresh(store)
    stored = [made.stored[key] for key in made.hashes if key is not None]
    columns = {name: np.array([getattr(run, name) for run in stored], dtype=np.float64) for name in _NUMBERS}
    columns |= {"state": np.array([STATES.index(run.state) for run in stored], dtype=np.float64)}
    return columns | {"iterations": np.array([run.iterations for run in stored], dtype=np.float64)}


def columns_of_trajectories(study: Trajectories, store: Store) -> dict[str, NDArray]:
    """Return the trajectories in the store, as an example keeps them: quantities of shape (seeds, k) for each spec."""
    n, keys = len(study.seeds), [run.key for run in study.runs()]
    columns: dict[str, NDArray] = {}
    for number, spec in enumerate(study.specs):
        own = zip(study.seeds, keys[number * n : (number + 1) * n], strict=True)
        ways = {seed: _thinned(store.history(key)) for seed, key in own if key is not None}
        columns |= {f"{number}.{name}": column for name, column in Convergence.of(spec, ways).columns.items()}
    return columns


def _thinned(way: Mapping[str, NDArray]) -> dict[str, NDArray]:
    last = len(way["t"]) - 1
    places = sorted({*range(last % EACH, last + 1, EACH), last})
    return {name: column[places] for name, column in way.items()}


def write(kind: str, setting: str, study: Mapping[str, Any], columns: Mapping[str, NDArray]) -> None:
    """Write an example; numbers are rounded to a few digits, so that the file is small."""
    short = {name: rounded(column).astype(np.float32) for name, column in columns.items()}
    np.savez_compressed(file_of(kind, setting), study=np.array(json.dumps(study)), **short)  # type: ignore[arg-type]


def rounded(values: NDArray) -> NDArray:
    """Return numbers rounded to four digits."""
    with np.errstate(divide="ignore"):
        size = np.where(np.isfinite(values) & (values != 0), np.floor(np.log10(np.abs(values))), 0.0)
    scale = 10.0 ** (DIGITS - 1 - size)
    return np.where(np.isfinite(values), np.round(values * scale) / scale, values)


COLUMNS: dict[str, Callable[[Any, Store], dict[str, NDArray]]] = {
    STUDY: columns_of_study,
    WAYS: columns_of_trajectories,
}
STUDIES: dict[str, Callable[[Mapping[str, Any]], Study | Trajectories]] = {
    STUDY: Study.from_dict,
    WAYS: Trajectories.from_dict,
}


def question_of(kind: str, setting: str) -> Study | Trajectories:
    """Return the study of an example; raise `FileNotFoundError` if the package has none."""
    found = _read(kind, setting)
    if found is None:
        raise FileNotFoundError(file_of(kind, setting))
    return STUDIES[kind](found[0])
