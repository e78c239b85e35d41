"""Keyed random streams: every draw depends only on (seed, stream, iteration), so draws can be repeated in any order."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

FREQUENCIES = "frequencies"
MAX_SEED = 2**32 - 1
# Sources with more rows are drawn independently: a run visits few of their rows twice, so an order would gain nothing.
MOST_SHUFFLED = 2**17


class _Key(ISeedSequence):
    """Philox's key. Passing it keeps Philox from asking the system for entropy that it does not use, which is slow."""

    def __init__(self, seed: int, stream: int) -> None:
        self.words = np.array([seed, stream], dtype=np.uint64)

    def generate_state(self, n_words: int, dtype: object = np.uint32) -> NDArray[np.uint64]:
        """Return the two words that Philox requests."""
        return self.words


def generator(seed: int, stream: str, t: int = 0) -> np.random.Generator:
    """Return the generator of one named stream at one iteration, for a seed below 2**32.

    A stream names the quantity that is drawn, such as ``"frequencies"`` or a data source. Its number in the Philox key
    is the CRC-32 of this name, so a source keeps its draws when other sources are added or removed. The iteration is
    the second word of the 256-bit counter, so no two streams can overlap.
    """
    counter = np.array([0, t, 0, 0], dtype=np.uint64)
    key: Any = _Key(seed, zlib.crc32(stream.encode()))  # NumPy's types accept no other class
    return np.random.Generator(np.random.Philox(key, counter=counter))


def batch_rows(seed: int, source: str, t: int, rows: NDArray[np.integer], size: int) -> NDArray[np.integer]:
    """Draw `size` of a source's row numbers (n_source,) at iteration `t`, uniformly and with replacement: any size is unbiased."""
    return rows[generator(seed, source, t).integers(0, len(rows), size=size)]


def shuffled_rows(seed: int, source: str, t: int, rows: NDArray[np.integer], size: int) -> NDArray[np.integer]:
    """Return the mini-batch of iteration `t` of a source that is visited in passes: each row once, in a new random order.

    A batch begins in the pass in which the one before ended, and may contain several passes. Each row has the same
    chance at every place of every pass, as in `batch_rows`, which draws for more than `MOST_SHUFFLED` rows.
    """
    if len(rows) > MOST_SHUFFLED:
        return batch_rows(seed, source, t, rows, size)
    passes, places = np.divmod(np.arange((t - 1) * size, t * size), len(rows))
    orders = [
        _order(seed, source, number, len(rows))[places[passes == number]] for number in np.unique(passes).tolist()
    ]
    return rows[np.concatenate(orders)]


@lru_cache(maxsize=8)
def _order(seed: int, source: str, number: int, n: int) -> NDArray[np.int64]:
    """Return 0 .. n - 1 in the order of the pass `number` (from 0), by Fisher and Yates's shuffle."""
    order = np.arange(n)
    for place, other in enumerate(generator(seed, source, number).integers(order, n).tolist()):
        order[place], order[other] = order[other], order[place]
    return order


def batches(
    seed: int, t: int, rows: Mapping[str, NDArray[np.integer]], sizes: Mapping[str, int]
) -> dict[str, NDArray[np.integer]]:
    """Draw one mini-batch per source at iteration `t`."""
    return {source: batch_rows(seed, source, t, rows[source], sizes[source]) for source in rows}


def evenly_spread(n: int, most: int) -> NDArray[np.intp]:
    """Return the numbers 0 .. n - 1; if there are more than `most`, so many of them, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)
