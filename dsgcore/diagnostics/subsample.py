"""The training points that a diagnosis uses: all of them, or a random part of many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import generator
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
    kept = _drawn(task)
    rows = {source: np.searchsorted(kept, np.intersect1d(own, kept)) for source, own in task.rows.items()}
    return replace(task, X=np.ascontiguousarray(task.X[kept]), rows=rows)


def _drawn(task: Task) -> NDArray:
    """Return `MAX_POINTS` rows of a task, in increasing order."""
    sizes = _sizes({source: len(rows) for source, rows in task.rows.items()})
    parts = [
        generator(task.seed, f"diagnosed {source}").permutation(task.rows[source])[:n] for source, n in sizes.items()
    ]
    kept = np.unique(np.concatenate(parts))
    # Sources share points if no point is unlabeled.
    others = np.setdiff1d(np.arange(len(task.X)), kept)
    more = generator(task.seed, "diagnosed").permutation(others)[: MAX_POINTS - len(kept)]
    return np.sort(np.concatenate([kept, more]))


def _sizes(counts: dict[str, int]) -> dict[str, int]:
    """Divide the points among the sources: equal shares; unused places of a small source go to the others."""
    left, sizes = MAX_POINTS, dict[str, int]()
    for place, source in enumerate(sorted(counts, key=lambda source: counts[source])):
        sizes[source] = min(counts[source], left // (len(counts) - place))
        left -= sizes[source]
    return sizes
