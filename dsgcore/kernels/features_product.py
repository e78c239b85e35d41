"""Random features that are products of projections, for dot product kernels: the counterpart of `features`.

phi_j(x) = sqrt(1/m) prod_l w_lj'x. W has shape (p, d, m), with the directions of p projections. A block has one row,
the products' factors r_j, so alpha' phi(x) = sum_j r_j prod_l w_lj'x. Compiled loops would gain nothing: everything is
matrix products in tiles of fixed size. So results do not depend on the number of threads, and memory stays small.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.threads import for_each_piece
from dsgcore.kernels.features import alone as alone

# Rows of a block: factors.
BLOCK_ROWS = 1
# Rows and features of a tile: two buffers of it are 2 MB in float32.
TILE_ROWS = 128
TILE_FEATURES = 2048


def _tiles(part: slice, tile: int) -> list[slice]:
    return [slice(start, min(start + tile, part.stop)) for start in range(part.start, part.stop, tile)]


def _products(X: NDArray, W: NDArray, part: slice) -> Iterator[tuple[slice, slice, NDArray]]:
    """Yield rows of a part, features, and prod_l X @ W[l] for them, (rows, features), which the next one overwrites."""
    for rows in _tiles(part, TILE_ROWS):
        buffers = np.empty((2, rows.stop - rows.start, min(TILE_FEATURES, W.shape[2])), dtype=X.dtype)
        for features in _tiles(slice(0, W.shape[2]), TILE_FEATURES):
            size = features.stop - features.start
            product, factor = buffers[0, :, :size], buffers[1, :, :size]
            np.matmul(X[rows], W[0][:, features], out=product)
            for W_l in W[1:]:
                np.matmul(X[rows], W_l[:, features], out=factor)
                product *= factor
            yield rows, features, product


def accumulate(X: NDArray, c: NDArray, W: NDArray, step: float) -> NDArray:
    """Return the factors of one iteration, (1, m)."""
    m, tiles = W.shape[2], _tiles(slice(0, len(X)), TILE_ROWS)
    sums = np.empty((len(tiles), m), dtype=X.dtype)

    def work(part: slice) -> None:
        for i in range(part.start, part.stop):
            for rows, features, product in _products(X, W, tiles[i]):
                np.matmul(c[rows], product, out=sums[i, features])

    for_each_piece(work, len(tiles), 1, len(X) * m * len(W))
    # alpha = -(step / sqrt(m)) sums, and phi carries another 1/sqrt(m).
    return sums.sum(axis=0, keepdims=True) * X.dtype.type(-step / m)


def evaluate(X: NDArray, W: NDArray, block: NDArray, decay: float, out: NDArray) -> None:
    """Set ``out = decay * out + alpha' phi(X)`` in place."""
    decay = X.dtype.type(decay)

    def work(part: slice) -> None:
        out[part] *= decay
        for rows, features, product in _products(X, W, part):
            out[rows] += product @ block[0, features]

    for_each_piece(work, len(X), TILE_ROWS, len(X) * W.shape[2] * len(W))


def evaluate_with_squares(X: NDArray, W: NDArray, block: NDArray) -> tuple[NDArray, NDArray]:
    """Return, for every row, the sum of the features' contributions, and the sum of their squares."""
    sums, squares = np.zeros(len(X), dtype=X.dtype), np.zeros(len(X), dtype=X.dtype)

    def work(part: slice) -> None:
        for rows, features, product in _products(X, W, part):
            product *= block[0, features]
            sums[rows] += product.sum(axis=1)
            squares[rows] += np.einsum("ij,ij->i", product, product)

    for_each_piece(work, len(X), TILE_ROWS, len(X) * W.shape[2] * len(W))
    return sums, squares


def coefficients(block: NDArray) -> NDArray:
    """Return alpha_t of shape (m,), for features scaled by sqrt(1/m)."""
    return block[0] * np.sqrt(block.shape[1])


def block_of(alpha: NDArray) -> NDArray:
    """Return the block of coefficients (m,) as `coefficients` returns them."""
    return alpha[None] * alpha.dtype.type(len(alpha) ** -0.5)
