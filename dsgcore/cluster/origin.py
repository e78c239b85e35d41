"""Record of everything that determines a run. A checkpoint holds it, so a run continues only from its own iterations."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.features import as_points
from dsgcore.core.task import Task

# A longer value, such as a weight for each of many classes, is stored as its digest.
LONGEST_VALUE = 60
ROWS_AT_A_TIME = 2**15
# If one of these differs, the run visits other rows, or in another precision: then comparing points is useless.
_CHOOSES_ROWS = ("labels", "seed", "batch_size", "dtype")
# Numbers with these names often come from the data. If the data differ, their difference needs no mention.
_MAY_FOLLOW = ("sigma", "length", "step_size", "lam", "C", "C_star", "prior")
# These explain why points differ. By themselves they change no iteration.
_EXPLAINS = ("columns", "preparation")


def origin_of(task: Task, n_iter: int | None = None) -> dict[str, Any]:
    """Return everything that determines a run's iterations, by name: numbers and words unchanged, data as digests.

    The points are those that the run visits in `n_iter` iterations, by default in all of its own.
    """
    plan, kernel, problem = task.plan, task.kernel, task.problem
    n_iter = plan.n_iter if n_iter is None else n_iter
    numbers = {p.name: getattr(problem, p.name) for p in problem.parameters} | asdict(kernel)  # type: ignore[call-overload]
    numbers |= {"step_size": plan.theta, "lam": plan.lam, "n_features": plan.n_features, "schedule": plan.schedule}
    return {
        "labels": _digest_of_rows(task.rows, len(task.X)),
        "points": _digest_of_points(task, n_iter),
        "columns": _short(getattr(task.X, "names", None)),
        "preparation": _digest_of_preparation(task.X),
        "problem": problem.name,
        "kernel": kernel.name,
        **{name: _short(value) for name, value in numbers.items()},
        "batch_size": task.batch_size,
        "dtype": task.dtype.name,
        "seed": task.seed,
        "n_iter": n_iter,
    }


def difference(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return the difference between two runs in words; empty if one may continue the other."""
    names = [name for name in dict.fromkeys([*now, *then]) if then.get(name) != now.get(name) and name != "n_iter"]
    if any(name in _CHOOSES_ROWS for name in names):
        names = [name for name in names if name != "points"]
    if not {"points", "labels"}.isdisjoint(names):
        names = [name for name in names if name not in _MAY_FOLLOW]
    if "points" not in names:
        names = [name for name in names if name not in _EXPLAINS]
    return ", ".join(_said(name, then.get(name), now.get(name)) for name in names)


def _said(name: str, then: object, now: object) -> str:
    words = {"points": "the visited points differ", "preparation": "the preparation differs"}
    if name in ("labels", *words, *_EXPLAINS):
        return words.get(name, f"the {name} differ")
    return f"{name} was {then} and is {now}"


def _short(value: object) -> Any:
    """Return a value as JSON restores it, or its digest if it is long."""
    text = json.dumps(value)
    return json.loads(text) if len(text) <= LONGEST_VALUE else hashlib.sha256(text.encode()).hexdigest()


def _digest_of_rows(rows: Mapping[str, NDArray], n: int) -> str:
    """Return a digest of the rows of each source."""
    digest = hashlib.sha256(f"{n} ".encode())
    for source, own in rows.items():
        digest.update(f"{source} {len(own)} ".encode() + np.asarray(own, dtype="<i8").tobytes())
    return digest.hexdigest()


def _digest_of_points(task: Task, n_iter: int) -> str:
    """Return a digest of the points that the first iterations visit, in the precision of the run."""
    digest = hashlib.sha256()
    batches = [np.concatenate(list(task.batch(t).values())) for t in range(1, n_iter + 1)]
    visited = np.unique(np.concatenate(batches)) if batches else np.zeros(0, dtype=np.intp)
    for start in range(0, len(visited), ROWS_AT_A_TIME):
        digest.update(as_points(task.X[visited[start : start + ROWS_AT_A_TIME]], task.dtype).tobytes())
    return digest.hexdigest()


def _digest_of_preparation(X: Any) -> str | None:
    preparation = getattr(X, "preparation", None)
    return None if preparation is None else _short(preparation.to_dict())
