"""Mini-batches of many iterations, drawn together: NumPy needs longer for a generator than for the draws from it."""

from __future__ import annotations

import zlib
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
    is_shuffled = is_shuffled and len(rows) <= MOST_SHUFFLED
    if not IS_COMPILED or not 0 < len(rows) < MOST_ROWS or (size > MOST_TOGETHER and not is_shuffled):
        return (shuffled_rows if is_shuffled else batch_rows)(seed, source, t, rows, size)
    together = max(1, TOGETHER * MOST_TOGETHER // max(size, MOST_TOGETHER))
    number, own = divmod(t - 1, together)
    return rows[_places(seed, source, number * together + 1, len(rows), (together, size), is_shuffled)[own]]


@lru_cache(maxsize=64)
def _places(seed: int, source: str, first: int, n: int, shape: tuple[int, int], is_shuffled: bool) -> NDArray[np.int64]:
    out = np.empty(shape, dtype=np.int64)
    draw = _loops_draws.in_passes if is_shuffled else _loops_draws.bounded
    draw(*map(np.uint64, (seed, zlib.crc32(source.encode()), first, n)), out)
    return out
