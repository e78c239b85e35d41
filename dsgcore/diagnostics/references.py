"""What diagnoses of a run share: its task, the training points that they use, and the matrix, gradient and optimum there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dsgcore.core.sampling import generator
from dsgcore.data import Split
from dsgcore.experiments import Spec
from dsgcore.experiments.stochastic_task import task_of
from dsgcore.solver.automatic_step import settle_step
from dsgcore.solver.diagnostics import DiagnosticsError, Reference
from dsgcore.solver.task import Task

# A diagnosis needs the kernel matrix of its points, and so uses at most this many.
MAX_POINTS = 4000


@dataclass(frozen=True)
class Subsample:
    """The share of the training points that a diagnosis used.

    Attributes
    ----------
    points : int
        The training points used with each seed.
    of : int
        All training points.
    seeds : tuple of int
        The seeds, each of which drew its own points.
    """

    points: int
    of: int
    seeds: tuple[int, ...]

    @classmethod
    def of_points(cls, n: int, seeds: Iterable[int]) -> Subsample | None:
        """Return the subsample of `n` training points; None if the diagnosis uses all of them."""
        return cls(MAX_POINTS, n, tuple(seeds)) if is_sampled(n) else None

    def sentence(self) -> str:
        """Return a sentence about the points used, and about the meaning of the intervals over the seeds."""
        many = len(self.seeds) > 1
        used = f"Measured on {self.points:,} of the {self.of:,} training points, drawn at random"
        if not many:
            return f"{used} with seed {self.seeds[0]}. Other seeds draw other points."
        listed = ", ".join(map(str, self.seeds))
        return f"{used}. Each seed ({listed}) draws its own points. The intervals over the seeds include this choice and are wider."

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        return {"points": self.points, "of": self.of, "seeds": list(self.seeds)}


def is_sampled(n: int) -> bool:
    """Return True if a diagnosis of `n` training points uses a part of them."""
    return n > MAX_POINTS


def on_some_points(task: Task) -> Task:
    """Return the task on at most `MAX_POINTS` training points, drawn at random with the task's seed.

    The problem, the kernel, the step and the batch size do not change. A small source keeps all of its points: labeled
    points are few, and the noise of a source's mean falls with their number.
    """
    if not is_sampled(len(task.X)):
        return task
    sizes, left = dict[str, int](), MAX_POINTS
    # Equal shares for the sources; unused places of a small source go to the others.
    for place, source in enumerate(sorted(task.rows, key=lambda source: len(task.rows[source]))):
        sizes[source] = min(len(task.rows[source]), left // (len(task.rows) - place))
        left -= sizes[source]
    parts = [generator(task.seed, f"diagnosed {s}").permutation(task.rows[s])[: sizes[s]] for s in task.rows]
    kept = np.unique(np.concatenate(parts))
    # Sources share points if no point is unlabeled.
    others = np.setdiff1d(np.arange(len(task.X)), kept)
    more = generator(task.seed, "diagnosed").permutation(others)[: MAX_POINTS - len(kept)]
    kept = np.sort(np.concatenate([kept, more]))
    rows = {source: np.searchsorted(kept, np.intersect1d(own, kept)) for source, own in task.rows.items()}
    return replace(task, X=np.ascontiguousarray(task.X[kept]), rows=rows)


def references(tasks: Iterable[Task]) -> Iterator[tuple[Task, Reference]]:
    """Yield tasks that differ in their seeds, each with the reference that belongs to it.

    There is one reference for all of them, unless each draws its own training points from many.
    """
    reference: Reference | None = None
    for task in tasks:
        own = on_some_points(task)
        if reference is None or is_sampled(len(task.X)):
            reference = None  # before the next kernel matrix is made
            reference = Reference.of(own)
        yield own, reference


def seeds_of(spec: Spec, seeds: int | Sequence[int]) -> tuple[int, ...]:
    """Return the seeds; a number stands for that many seeds, from the spec's own on."""
    return tuple(range(spec.seed, spec.seed + seeds)) if isinstance(seeds, int) else tuple(seeds)


def check_possible(spec: Spec) -> None:
    """Raise `DiagnosticsError`, with the reason, if the four runs cannot be made of a spec."""
    if spec.problem.engine != "stochastic":
        raise DiagnosticsError(
            "DSG Lab finds limits only if each iteration draws new random features. This setting draws them once"
        )


def settled_task(spec: Spec, split: Split) -> Task:
    """Return the solver's task for a spec, with its automatic step; raise `DiagnosticsError` as in `check_possible`."""
    check_possible(spec)
    task = task_of(spec.from_0(), split)  # the way from 0 is what is examined
    settle_step(task)
    return task
