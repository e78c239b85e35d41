"""Where a run is made: here, or on a cluster with its blocks in a file now and then, from which the same run goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from dsgcore.cluster.origin import difference, origin_of
from dsgcore.cluster.shared import SharedPoints
from dsgcore.core.carried import TrainingPoints, training_points
from dsgcore.core.expansion import Expansion, restore
from dsgcore.core.model_files import RUN, ModelError, read
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
    origin : dict
        The record of the run, as of `origin_of`, that the file gets.
    """

    checkpoint: str | os.PathLike[str] | None = None
    every: int = 50
    tell: Callable[[int], object] | None = None
    origin: dict[str, Any] = field(default_factory=dict, kw_only=True)

    def of(self, task: Task) -> Self:
        """Return the same for this task, whose record the file gets."""
        return self if self.checkpoint is None else replace(self, origin=origin_of(task))

    def begun(self, task: Task) -> Expansion:
        """Return the model that the file holds, or a new one; raise `ModelError` if the file is of another run."""
        if self.checkpoint is None or not os.path.exists(self.checkpoint):
            return task.new_model()
        held = read(Path(self.checkpoint))
        model = restore(held)
        self._check_same(task, model, held.header.get(RUN))
        return model

    def _check_same(self, task: Task, model: Expansion, then: Any) -> None:
        if not isinstance(then, dict) or not isinstance(then.get("n_iter"), int):
            raise ModelError(
                f"{self.checkpoint} does not say which data it is of, as files of earlier versions: take another file, or delete it"
            )
        n_iter = then["n_iter"]
        now = self.origin if n_iter == self.origin["n_iter"] else origin_of(task, n_iter)
        said = difference(then, now) or _difference_of_steps(task, model)
        if said:
            raise ModelError(
                f"{self.checkpoint} is of another run than this one: {said}; take another file, or delete it"
            )

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
                model.save(file, run=self.origin)
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


def _difference_of_steps(task: Task, model: Expansion) -> str:
    """Say if the iterations that are made have other steps than the plan has, as where a schedule depends on n_iter."""
    steps = [task.plan.at(t) for t in range(1, len(model) + 1)]
    is_same = (
        len(model) <= task.plan.n_iter
        and model.decays == [step.decay for step in steps]
        and [block.shape[1] for block in model.blocks] == [step.n_features for step in steps]
    )
    return "" if is_same else f"n_iter is {task.plan.n_iter}, and the steps differ"


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
