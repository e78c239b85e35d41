"""Some of the visited rows with the model's values at them, as a worker carries them."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import set_workers, single_threaded_blas
from dsgcore.core.carried import Carried
from dsgcore.core.expansion import Expansion


class Share:
    """What one worker does of a run: it takes each iteration's block, and gives f at its points of the next batch.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Its rows: those whose last visit is latest come first.
    model : Expansion
        Of no iteration; frequencies are drawn from it.
    needed : ndarray of shape (T,)
        How many of the rows are still visited after each iteration.
    places, ends : ndarray of shape (visits,), (T + 1,)
        Which rows each iteration's batch has, one iteration after the other, and where each one's begin and the last one's end.
    threads : int
        How many this process may take.
    host : int
        The process that drives the run, whose threads are left alone.
    """

    def __init__(
        self, X: NDArray, model: Expansion, needed: NDArray, places: NDArray, ends: NDArray, threads: int, host: int
    ) -> None:
        if os.getpid() != host:
            set_workers(threads)
        self.model, self.needed, self.places, self.ends = model, needed, places, ends
        self.carried, self.t = Carried(X, model), 0

    def catch_up(self, blocks: Sequence[NDArray], decays: Sequence[float]) -> NDArray:
        """Take all blocks that there are so far; return f at its points of the batch after them."""
        for block, decay in zip(blocks, decays, strict=True):
            self._take(block, decay)
        return self._values()

    def step(self, block: NDArray, decay: float) -> NDArray:
        """Take one iteration's block; return f at its points of the next batch."""
        self._take(block, decay)
        return self._values()

    def _take(self, block: NDArray, decay: float) -> None:
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            W = self.model.frequencies(self.t + 1, block.shape[1])
            self.carried.advance_first(int(self.needed[self.t]), W, block, decay)
        self.t += 1

    def _values(self) -> NDArray:
        if self.t == len(self.needed):
            return np.empty(0, dtype=self.model.dtype)
        return self.carried.values[self.places[self.ends[self.t] : self.ends[self.t + 1]]]
