"""A worker's share of the visited rows, with the model's values at them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import set_workers, single_threaded_blas
from dsgcore.solver.carried import Carried
from dsgcore.solver.model import TILE_ROWS, Expansion


class Share:
    """One worker's share of a run: it takes each iteration's block, and returns f at its points of the next batch.

    These points are computed first. The worker adds the block to all other rows while its answer travels and the next
    block is made: see `_first`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Its rows, ordered by their last visit, latest first.
    model : Expansion
        A model without iterations, from which frequencies are drawn.
    needed : ndarray of shape (T,)
        The number of rows that are still visited after each iteration.
    places, ends : ndarray of shape (visits,), (T + 1,)
        The rows of each iteration's batch, one iteration after the other; the start of each, and the end of the last.
        The first iterations may have none.
    threads : int
        The largest number of threads of this process.
    host : int
        The process that drives the run, whose threads are not changed.
    """

    def __init__(
        self, X: NDArray, model: Expansion, needed: NDArray, places: NDArray, ends: NDArray, threads: int, host: int
    ) -> None:
        if os.getpid() != host:
            set_workers(threads)
        self.model, self.needed, self.places, self.ends = model, needed, places, ends
        self.carried, self.t = Carried(X, model), 0
        # For each number of features: True if a row has the same value in any whole tile.
        self.same_in_any_tile: dict[int, bool] = {}
        self.thread = ThreadPoolExecutor(1)
        self.carrying: Future[None] | None = None

    def catch_up(self, blocks: Sequence[NDArray], decays: Sequence[float]) -> NDArray:
        """Take all blocks so far; return f at its points of the batch after them."""
        for block, decay in zip(blocks, decays, strict=True):
            self._carry(self._frequencies(block), block, decay)
        return self.carried.values[self._batch()]

    def step(self, block: NDArray, decay: float) -> NDArray:
        """Take one iteration's block; return f at its points of the next batch."""
        if self.carrying is not None:
            self.carrying.result()
        W, m = self._frequencies(block), block.shape[1]
        first = self._first(W, block, decay)
        self.carrying = self.thread.submit(self._carry, W, block, decay)
        if first is not None and self.same_in_any_tile.get(m):
            return first
        self.carrying.result()
        values = self.carried.values[self._batch()]
        if first is not None:
            self.same_in_any_tile[m] = first.tobytes() == values.tobytes()
        return values

    def _frequencies(self, block: NDArray) -> NDArray:
        self.t += 1
        return self.model.frequencies(self.t, block.shape[1])

    def _batch(self) -> NDArray:
        """Return the places of the points that are visited next."""
        if self.t == len(self.needed):
            return self.places[:0]
        return self.places[self.ends[self.t] : self.ends[self.t + 1]]

    def _carry(self, W: NDArray, block: NDArray, decay: float) -> None:
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            self.carried.advance_first(int(self.needed[self.t - 1]), W, block, decay)

    def _first(self, W: NDArray, block: NDArray, decay: float) -> NDArray | None:
        """Return f at the next batch's points after this block, which no row has yet; None if this does not help.

        A row has the same value in any whole tile, with all known matrix products, but no library guarantees it. So the
        first block of each size is also computed in the usual order. If a bit differs, no later points are computed
        first. Rows of the last tile, which is not whole, are evaluated in place.
        """
        batch, n = self._batch(), int(self.needed[self.t - 1])
        whole = n // TILE_ROWS * TILE_ROWS
        if 2 * len(batch) >= whole or not self.same_in_any_tile.get(block.shape[1], True):
            return None
        is_last = batch >= whole
        filled = np.resize(batch[~is_last], -(-len(batch) // TILE_ROWS) * TILE_ROWS)
        values = np.empty(len(batch), dtype=self.model.dtype)
        values[~is_last] = self._after(filled, W, block, decay)[: np.count_nonzero(~is_last)]
        values[is_last] = self._after(slice(whole, n), W, block, decay)[batch[is_last] - whole]
        return values

    def _after(self, rows: NDArray | slice, W: NDArray, block: NDArray, decay: float) -> NDArray:
        """Return f after this block at some rows, which keep their value."""
        values = self.carried.values[rows].copy()
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            self.carried.feature_map.evaluate(self.carried.X[rows], W, block, decay, values)
        return values
