"""Mini-batches of many iterations, drawn together: NumPy needs longer for a generator than for the draws from it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import MOST_SHUFFLED, batch_rows, shuffled_rows
from dsgcore.kernels import _loops_draws
from dsgcore.kernels._compiling import IS_COMPILED

# Iterations that are drawn together if a mini-batch has at most `MOST_TOGETHER` points. In larger ones NumPy draws
# independent points, and passes are drawn for fewer iterations together.
TOGETHER, MOST_TOGETHER = 64, 256
MOST_ROWS = 2**32 - 1


def drawn_rows(
    seed: int, source: str, t: int, rows: NDArray[np.integer], size: int, *, is_shuffled: bool = False
) -> NDArray[np.integer]:
    """Return what `batch_rows` or `shuffled_rows` of `dsgcore.core.sampling` returns, without a generator for each iteration."""
    first, places = _places_around(seed, source, t, len(rows), size, is_shuffled)
    if places is None:
        draw = shuffled_rows if is_shuffled and len(rows) <= MOST_SHUFFLED else batch_rows
        return draw(seed, source, t, rows, size)
    return rows[places[t - first]]


def drawn_around(
    seed: int, t: int, rows: Mapping[str, NDArray[np.integer]], size: int, *, is_shuffled: bool = False
) -> tuple[int, NDArray[np.integer]]:
    """Return mini-batches of several iterations, `t` among them, source after source, and the first one's number.

    Parameters
    ----------
    rows : mapping
        Each source's rows.

    Returns
    -------
    first : int
    batches : ndarray of shape (iterations, S * size)
    """
    around = {source: _places_around(seed, source, t, len(own), size, is_shuffled) for source, own in rows.items()}
    first = next(iter(around.values()))[0]
    if any(places is None or start != first for start, places in around.values()):
        return t, np.concatenate(
            [drawn_rows(seed, s, t, own, size, is_shuffled=is_shuffled) for s, own in rows.items()]
        )[None]
    return first, np.concatenate([own[around[source][1]] for source, own in rows.items()], axis=1)


def _places_around(
    seed: int, source: str, t: int, n: int, size: int, is_shuffled: bool
) -> tuple[int, NDArray[np.int64] | None]:
    """Return the first of the iterations that are drawn together with `t`, and their places among n rows; None if NumPy draws."""
    is_shuffled = is_shuffled and n <= MOST_SHUFFLED
    if not IS_COMPILED or not 0 < n < MOST_ROWS or (size > MOST_TOGETHER and not is_shuffled):
        return t, None
    together = max(1, TOGETHER * MOST_TOGETHER // max(size, MOST_TOGETHER))
    first = (t - 1) // together * together + 1
    return first, _places(seed, source, first, n, (together, size), is_shuffled)


@lru_cache(maxsize=64)
def _places(seed: int, source: str, first: int, n: int, shape: tuple[int, int], is_shuffled: bool) -> NDArray[np.int64]:
    out = np.empty(shape, dtype=np.int64)
    draw = _loops_draws.in_passes if is_shuffled else _loops_draws.bounded
    draw(*map(np.uint64, (seed, zlib.crc32(source.encode()), first, n)), out)
    return out
