"""Keyed random streams: every draw depends only on (seed, stream, iteration), so draws can be repeated in any order."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

UNLABELED = -1  # the code of a point without a label
# Coordinates must be rounded to less than this share of the kernel's width.
SHARE_OF_WIDTH = 1 / 16
FREQUENCIES = "frequencies"
MAX_SEED = 2**32 - 1
# Sources with more rows are drawn independently: a run visits few of their rows twice, so an order would gain nothing.
MOST_SHUFFLED = 2**17
# The batches of so many iterations are drawn together, but at most so many places.
TOGETHER, MOST_PLACES = 64, 2**14


class _Key(dict[int, NDArray[np.uint64]], ISeedSequence):
    """Philox's key: two words, under their number. So Philox does not ask the system for entropy that it does not use, slowly."""

    generate_state = dict.get  # type: ignore[assignment]  # Philox calls generate_state(2, np.uint64)


def generator(seed: int, stream: str, t: int = 0) -> np.random.Generator:
    """Return the generator of one named stream at one iteration, for a seed below 2**32.

    A stream names the quantity that is drawn, such as ``"frequencies"`` or a data source. Its number in the Philox key
    is the CRC-32 of this name, so a source keeps its draws when other sources are added or removed. The iteration is
    the second word of the 256-bit counter, so no two streams can overlap.
    """
    counter = np.array([0, t, 0, 0], dtype=np.uint64)
    words = np.array([seed, zlib.crc32(stream.encode())], dtype=np.uint64)
    key: Any = _Key({2: words})  # NumPy's types accept no other class
    return np.random.Generator(np.random.Philox(key, counter=counter))


def batch_rows(
    seed: int, source: str, t: int, rows: NDArray[np.integer], size: int, *, is_shuffled: bool = False
) -> NDArray[np.integer]:
    """Draw `size` of a source's row numbers (n_source,) for iteration `t`.

    By default they are drawn uniformly and with replacement: any size is unbiased. With `is_shuffled` the source is visited
    in passes: each row once, in a new random order. A batch then begins in the pass in which the one before ended, and may
    contain several passes. Each row has the same chance at every place. More than `MOST_SHUFFLED` rows are drawn uniformly.
    """
    first, places = places_around(seed, source, t, len(rows), size, is_shuffled=is_shuffled)
    return rows[places[t - first]]


def places_around(
    seed: int, source: str, t: int, n: int, size: int, *, is_shuffled: bool = False
) -> tuple[int, NDArray[np.int64]]:
    """Return the places among n rows of several iterations' batches, (iterations, size), and the first one's number.

    They are drawn together, and kept for the next iterations.
    """
    together = max(1, min(TOGETHER, MOST_PLACES // size))
    block = (t - 1) // together
    return block * together + 1, _places(seed, source, block, n, (together, size), is_shuffled and n <= MOST_SHUFFLED)


@lru_cache(maxsize=64)
def _places(seed: int, source: str, block: int, n: int, shape: tuple[int, int], is_shuffled: bool) -> NDArray[np.int64]:
    together, size = shape
    if not is_shuffled:
        places, rng = np.empty(shape, dtype=np.int64), generator(seed, source)
        state: Any = rng.bit_generator.state
        for i in range(together):  # `generator` of each iteration would take as long as the draws
            state["state"]["counter"][1] = block * together + 1 + i
            rng.bit_generator.state = state
            places[i] = rng.integers(0, n, size=size)
        return places
    total = together * size
    first, place = divmod(block * total, n)
    last = ((block + 1) * total - 1) // n
    orders = [_order(seed, source, number, n) for number in range(first, last + 1)]
    return np.concatenate(orders)[place : place + total].reshape(shape)


@lru_cache(maxsize=8)
def _order(seed: int, source: str, number: int, n: int) -> NDArray[np.int64]:
    return generator(seed, source, number).permutation(n)


def batches(
    seed: int, t: int, rows: Mapping[str, NDArray[np.integer]], size: int, *, is_shuffled: bool = False
) -> dict[str, NDArray[np.integer]]:
    """Draw one mini-batch per source at iteration `t`, source -> (size,), as `batch_rows` does."""
    return {source: batch_rows(seed, source, t, own, size, is_shuffled=is_shuffled) for source, own in rows.items()}


def evenly_spread(n: int, most: int) -> NDArray[np.intp]:
    """Return the numbers 0 .. n - 1; if there are more than `most`, so many of them, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)
