"""Random features that are products of projections, for dot product kernels: the counterpart of `features`.

phi_j(x) = sqrt(1/m) prod_l w_lj'x with W of shape (p, d, m), and a block has one row: so that
alpha' phi(x) = sum_j r_j prod_l w_lj'x. There is nothing to gain from compiled loops: all is matrix products, in
tiles of fixed size, so that results do not depend on the number of threads and memory stays small.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import for_each_piece, pieces
from dsgcore.core.features import alone as alone

# Rows of a block: factors.
BLOCK_ROWS = 1
# Rows and features of a tile: two buffers of it are 2 MB in float32.
TILE_ROWS = 128
TILE_FEATURES = 2048


def _tiles(size: int, tile: int) -> list[slice]:
    return [slice(start, min(start + tile, size)) for start in range(0, size, tile)]


def _products(X: NDArray, W: NDArray) -> Iterator[tuple[slice, NDArray]]:
    """Yield slices of the features with prod_l X @ W[l] for them, (rows, features); overwritten by the next."""
    buffers = np.empty((2, len(X), min(TILE_FEATURES, W.shape[2])), dtype=X.dtype)
    for features in _tiles(W.shape[2], TILE_FEATURES):
        size = features.stop - features.start
        product, factor = buffers[0, :, :size], buffers[1, :, :size]
        np.matmul(X, W[0][:, features], out=product)
        for W_l in W[1:]:
            np.matmul(X, W_l[:, features], out=factor)
            product *= factor
        yield features, product


def accumulate(X: NDArray, c: NDArray, W: NDArray, step: float) -> NDArray:
    """Make the coefficients -step * sum_b c_b phi(x_b) of one iteration.

    Parameters
    ----------
    X, c, step
        As in `features.accumulate`.
    W : ndarray of shape (p, d, m)
        Directions of the p projections.

    Returns
    -------
    ndarray of shape (1, m)
        Factors r_j of the products.
    """
    m = W.shape[2]
    tiles = _tiles(len(X), TILE_ROWS)
    sums = np.empty((len(tiles), m), dtype=X.dtype)

    def work(part: slice) -> None:
        for i in range(part.start, part.stop):
            for features, product in _products(X[tiles[i]], W):
                np.matmul(c[tiles[i]], product, out=sums[i, features])

    for_each_piece(work, pieces(len(tiles), 1, len(X) * m * len(W)))
    # alpha = -(step / sqrt(m)) sums, and phi carries another 1/sqrt(m).
    return sums.sum(axis=0, keepdims=True) * X.dtype.type(-step / m)


def evaluate(X: NDArray, W: NDArray, block: NDArray, decay: float, out: NDArray) -> None:
    """Set ``out = decay * out + alpha' phi(X)`` in place, the rows split over the worker threads.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    W : ndarray of shape (p, d, m)
        Directions of the p projections.
    block : ndarray of shape (1, m)
        Factors r_j of the products.
    decay : float
    out : ndarray of shape (n,)
    """
    decay = X.dtype.type(decay)

    def work(part: slice) -> None:
        for rows in _tiles(part.stop, TILE_ROWS)[part.start // TILE_ROWS :]:
            out[rows] *= decay
            for features, product in _products(X[rows], W):
                out[rows] += product @ block[0, features]

    for_each_piece(work, pieces(len(X), TILE_ROWS, len(X) * W.shape[2] * len(W)))


def evaluate_with_squares(X: NDArray, W: NDArray, block: NDArray) -> tuple[NDArray, NDArray]:
    """Return, for every row, the sum over the features of the block's contributions and the sum of their squares."""
    sums, squares = np.zeros(len(X), dtype=X.dtype), np.zeros(len(X), dtype=X.dtype)

    def work(part: slice) -> None:
        for rows in _tiles(part.stop, TILE_ROWS)[part.start // TILE_ROWS :]:
            for features, product in _products(X[rows], W):
                product *= block[0, features]
                sums[rows] += product.sum(axis=1)
                squares[rows] += np.einsum("ij,ij->i", product, product)

    for_each_piece(work, pieces(len(X), TILE_ROWS, len(X) * W.shape[2] * len(W)))
    return sums, squares


def coefficients(block: NDArray) -> NDArray:
    """Return alpha_t of shape (m,), for features scaled by sqrt(1/m)."""
    return block[0] * np.sqrt(block.shape[1])
