"""Where a run is made: here, or on a cluster with its blocks in a file now and then, from which the same run goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsgcore.cluster.shared import SharedPoints
from dsgcore.core.carried import TrainingPoints, training_points
from dsgcore.core.expansion import Expansion, restore
from dsgcore.core.model_files import ModelError, read
from dsgcore.core.parameters import Integer
from dsgcore.core.task import Task


@dataclass(frozen=True)
class Here:
    """In the process that asks for it.

    Attributes
    ----------
    checkpoint : path or None
        A file where the blocks are kept: written every so many iterations, and where it is there already, gone on from.
    every : int
    tell : callable, optional
        Is called after each iteration, with how many are made.
    """

    checkpoint: str | os.PathLike[str] | None = None
    every: int = 50
    tell: Callable[[int], object] | None = None

    def begun(self, task: Task) -> Expansion:
        """Return the model that the file holds, or a new one."""
        if self.checkpoint is None or not os.path.exists(self.checkpoint):
            return task.new_model()
        model = restore(read(Path(self.checkpoint)))
        _check_same(task, model, str(self.checkpoint))
        return model

    def training(self, task: Task, model: Expansion) -> TrainingPoints | None:
        """Return what carries the training points; None: the solver's own.

        After a file's iterations these are the points of the whole run, carried so far: in the same tiles, and so the same bits.
        """
        if self.checkpoint is None or not len(model):
            return None
        training = training_points(task, task.new_model())
        for t, (block, decay) in enumerate(zip(model.blocks, model.decays, strict=True), start=1):
            training.advance(model.frequencies(t, block.shape[1]), block, decay)
        return training

    def keep(self, model: Expansion) -> None:
        """Write the model's blocks, as a whole or not at all, where it is time for that; tell how many there are."""
        if self.checkpoint is not None and len(model) % self.every == 0:
            part = f"{os.fspath(self.checkpoint)}.{os.getpid()}.part"
            with open(part, "wb") as file:
                model.save(file)
            os.replace(part, self.checkpoint)
        if self.tell is not None:
            self.tell(len(model))


@dataclass(frozen=True, kw_only=True)
class OnCluster(Here):
    """The workers of the cluster that `client`, a distributed.Client, is of."""

    client: Any

    def training(self, task: Task, model: Expansion) -> TrainingPoints:
        """Return the training points, shared out to the workers."""
        return SharedPoints(task, model, self.client)


def _check_same(task: Task, model: Expansion, name: str) -> None:
    """Refuse the blocks of a run of another kernel, seed, precision or plan."""
    new, steps = task.new_model(), [task.plan.at(t) for t in range(1, len(model) + 1)]
    is_same = (
        (model.kernel, model.seed, model.d, model.dtype) == (new.kernel, new.seed, new.d, new.dtype)
        and model.decays == [step.decay for step in steps]
        and [block.shape[1] for block in model.blocks] == [step.n_features for step in steps]
        and len(model) <= task.plan.n_iter
    )
    if not is_same:
        raise ModelError(f"{name} is of another run than this one: take another file, or delete it")


_where: ContextVar[Here] = ContextVar("where", default=Here())  # noqa: B039  (it has nothing that changes)
_EVERY = Integer("every", 50, low=1)


def where_made() -> Here:
    """Return where runs are made now."""
    return _where.get()


@contextmanager
def made_on(
    client: Any,
    checkpoint: str | os.PathLike[str] | None,
    every: int,
    tell: Callable[[int], object] | None = None,
) -> Iterator[None]:
    """Let runs in the block be made on a cluster; without a client, here."""
    how = (checkpoint, _EVERY.check(every), tell)
    token = _where.set(Here(*how) if client is None else OnCluster(*how, client=client))
    try:
        yield
    finally:
        _where.reset(token)
