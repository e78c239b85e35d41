"""The first steps of a run: the mini-batch of each, what it adds, and the sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.explained.example import Example
from dsgcore.solver.automatic_step import settle_step
from dsgcore.solver.loop import solve


@dataclass(frozen=True, eq=False)
class Added:
    """One step: the training rows of its mini-batch, what it adds, and the score after it, both on the grid (GRID^2,)."""

    t: int
    rows: NDArray
    added: NDArray
    score: NDArray


def first_steps(shown: Example) -> Iterator[Added]:
    """Yield the steps of the example's run."""
    task = shown.task
    settle_step(task)
    model, feature_map = task.new_model(), task.kernel.feature_map
    score = np.zeros(len(shown.grid), dtype=shown.grid.dtype)
    for iterate in solve(task, model):
        W = model.frequencies(iterate.t, iterate.step.n_features)
        added = np.zeros_like(score)
        feature_map.evaluate(shown.grid, W, iterate.block, 0.0, added)
        feature_map.evaluate(shown.grid, W, iterate.block, iterate.step.decay, score)
        yield Added(iterate.t, np.concatenate(list(iterate.batch.values())), added, score.copy())
