"""What the gauges read of PS3VT: scores of some labeled points, and the spread of the batch's sub-gradient there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.gauges import PLACES
from dsgcore.core.sampling import evenly_spread
from dsgcore.multiclass.task import MultiClassTask

POINTS = 8
NO_FEATURES = float("nan")


class Probed:
    """Some labeled points, in the features and the frame that the weights are learned in.

    Parameters
    ----------
    task : MultiClassTask
    """

    def __init__(self, task: MultiClassTask) -> None:
        self.X = task.X[evenly_spread(len(task.X), POINTS)]
        self.n = len(self.X) * task.start().shape[1]

    def read(
        self, task: MultiClassTask, rows: NDArray, before: NDArray, W: NDArray
    ) -> tuple[NDArray, float, Callable[[], NDArray]]:
        """Return the scores with weights `W`, no features' noise, and what returns the batch's gradient place by place.

        `rows` are the batch, `before` the weights that its gradient was taken at.
        """
        return (self.X @ W).ravel(), NO_FEATURES, lambda: self._each(task, rows, before)

    def _each(self, task: MultiClassTask, rows: NDArray, W: NDArray) -> NDArray:
        if task.problem.batch_size is None:  # all labeled points: no draw, no noise
            return np.zeros((2, self.n))
        some = rows[:PLACES]
        slopes = task.problem.slopes(task.X[some] @ W, task.y[some])
        each: NDArray = np.einsum("bp,bk->bpk", task.X[some] @ self.X.T, slopes)
        return each.reshape(len(some), -1)
