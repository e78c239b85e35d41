"""Checkpoints: files from which the same run continues, and no other."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from dsgcore.core.parameters import Integer
from dsgcore.kernels.features import as_points
from dsgcore.solver.model import Expansion, restore
from dsgcore.solver.model_files import RUN, ModelError, read
from dsgcore.solver.start import EXACT
from dsgcore.solver.task import Task

# A longer value, such as a weight for each of many classes, is stored as its digest.
LONGEST_VALUE = 60
ROWS_AT_A_TIME = 2**15
# If one of these differs, the run visits other rows, or in another precision: then comparing points is useless.
_CHOOSES_ROWS = ("labels", "seed", "batch_size", "sampling", "dtype")
# Numbers with these names often come from the data. If the data differ, their difference needs no mention.
_MAY_FOLLOW = ("sigma", "length", "step_size", "lam", "labeled_weight", "unlabeled_weight", "prior")
# These explain why points differ. By themselves they change no iteration.
_EXPLAINS = ("columns",)
# Checked by a fit, also without a file.
EVERY = Integer("every", 50, low=1)


def origin_of(task: Task, n_iter: int | None = None) -> dict[str, Any]:
    """Return everything that determines a run's iterations, by name: numbers and words unchanged, data as digests.

    The points are those that the run visits in `n_iter` iterations, by default in all of its own.
    """
    plan, kernel, problem = task.plan, task.kernel, task.problem
    n_iter = plan.n_iter if n_iter is None else n_iter
    numbers = {p.name: getattr(problem, p.name) for p in problem.parameters} | asdict(kernel)  # type: ignore[call-overload]
    numbers |= {"step_size": plan.step_size, "lam": plan.lam, "n_features": plan.n_features, "schedule": plan.schedule}
    labels, points = hashlib.sha256(f"{len(task.X)} ".encode()), hashlib.sha256()
    for source, own in task.rows.items():
        labels.update(f"{source} {len(own)} ".encode() + np.asarray(own, dtype="<i8").tobytes())
    visited = np.unique(task.joined_batches(0, n_iter))
    for start in range(0, len(visited), ROWS_AT_A_TIME):  # in the precision of the run
        points.update(as_points(task.X[visited[start : start + ROWS_AT_A_TIME]], task.dtype).tobytes())
    return {
        "labels": labels.hexdigest(),
        "points": points.hexdigest(),
        "columns": _short(getattr(task.X, "names", None)),
        "problem": problem.name,
        "kernel": kernel.name,
        **{name: _short(value) for name, value in numbers.items()},
        "batch_size": task.batch_size,
        "sampling": task.sampling,
        "start": None if plan.first_features is None else EXACT,
        "dtype": task.dtype.name,
        "seed": task.seed,
        "features": task.features,
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
    said = {"points": "the visited points differ", **{name: f"the {name} differ" for name in ("labels", *_EXPLAINS)}}
    return ", ".join(said.get(name) or f"{name} was {then.get(name)} and is {now.get(name)}" for name in names)


def _short(value: object) -> Any:
    text = json.dumps(value)
    return json.loads(text) if len(text) <= LONGEST_VALUE else hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Checkpoint:
    """A file for a run's iterations so far.

    It is written every so many iterations; if it exists already, the run continues from it. `origin` is the record of the run
    for the file, made by `origin_of`.
    """

    file: str | os.PathLike[str] | None = None
    every: int = 50
    origin: dict[str, Any] = field(default_factory=dict, kw_only=True)

    def of(self, task: Task) -> Self:
        """Return the same checkpoint for this task, whose record the file gets."""
        return replace(self, origin=origin_of(task))

    def begun(self, task: Task) -> Expansion:
        """Return the file's model, or a new one; raise `ModelError` if the file belongs to another run."""
        assert self.file is not None  # without a file there is nothing to begin from
        if not os.path.exists(self.file):
            return task.new_model()
        try:
            held = read(Path(self.file))
            model = restore(held)
        except ModelError as error:
            raise ModelError(f"{self.file} holds no run: {error}; choose another file, or delete it") from error
        then = held.header.get(RUN)
        if not isinstance(then, dict) or not isinstance(then.get("n_iter"), int):
            raise ModelError(
                f"{self.file} has no record of its data, as an earlier version wrote it: choose another file, or delete it"
            )
        said = difference(
            then, self.origin if then["n_iter"] == self.origin["n_iter"] else origin_of(task, then["n_iter"])
        )
        steps = [task.plan.at(t) for t in range(1, len(model) + 1)]
        is_same = (
            len(model) <= task.plan.n_iter
            and model.decays == [step.decay for step in steps]
            and [block.shape[1] for block in model.blocks] == [step.n_features for step in steps]
        )
        if not said and not is_same:  # as if a schedule depends on n_iter
            said = f"n_iter is {task.plan.n_iter}, and the steps differ"
        if said:
            raise ModelError(f"{self.file} belongs to another run: {said}; choose another file, or delete it")
        return model

    def keep(self, model: Expansion) -> None:
        """Write the model's blocks, completely or not at all, if a checkpoint is due."""
        if self.file is not None and len(model) % self.every == 0:
            part = f"{os.fspath(self.file)}.{os.getpid()}.part"
            with open(part, "wb") as file:
                model.save(file, run=self.origin)
            os.replace(part, self.file)
