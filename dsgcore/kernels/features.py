"""Random features of one iteration: their coefficients and their values. The only gateway to the compiled loops.

A *block* is the contribution of iteration t to the model: its random features, drawn again from (seed, t) when needed,
and the coefficients alpha_t. With phi(x) = sqrt(1/m) [cos w_j'x .., sin w_j'x ..], alpha' phi(x) = sum_j r_j cos(w_j'x
- theta_j): one cosine per point and feature. A block's coefficients are stored as these amplitudes r and phases theta
(in turns).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import COORDINATES_PER_COSINE
from dsgcore.core.threads import for_each_piece
from dsgcore.kernels import loops

# Number of rows summed together when coefficients are accumulated; fixed, so that sums do not depend on the number of
# threads.
ACCUMULATED_ROWS = 256
# Rows and features of a tile of products: two buffers of it are 2 MB in float32.
PRODUCT_ROWS, PRODUCT_FEATURES = 128, 2048


def as_points(X: NDArray, dtype: np.dtype) -> NDArray:
    """Return `X` in the form that the loops need: C-contiguous, in the model's precision. It is copied only if necessary.

    The result is also writable and aligned, although nothing is written: numba would compile every loop again for other
    arrays.
    """
    return np.require(X, dtype, ["C", "A", "W", "E"])


class _Scratch(threading.local):
    def __init__(self) -> None:
        self.buffers = {dtype: loops.scratch(dtype) for dtype in map(np.dtype, ("float32", "float64"))}


# The loops' scratch buffer of each thread and precision, made once: fresh memory would cost page faults.
scratch = _Scratch()


class FeatureMap(Protocol):
    """Interface of a kernel's random features: `Cosines`, or others, which define their `W`.

    X has shape (n, d). W (d, m) holds frequencies in turns per unit unless defined otherwise. A block has shape
    (block_rows, m).
    """

    block_rows: ClassVar[int]

    def accumulate(self, X: NDArray, c: NDArray, W: NDArray, step: float) -> NDArray:
        """Return the block -step * sum_b c_b phi(x_b) of one iteration.

        X holds the batch points of all sources. c (n,) is the derivative of the batch objective by the model's value at
        each point.
        """
        ...

    def evaluate(self, X: NDArray, W: NDArray, block: NDArray, decay: float, out: NDArray) -> None:
        """Set ``out = decay * out + alpha' phi(X)``, of shape (n,), in place, with the rows split over the worker threads."""
        ...

    def evaluate_with_squares(self, X: NDArray, W: NDArray, block: NDArray) -> tuple[NDArray, NDArray]:
        """Return, for every row, the sum of the features' contributions to the block, and the sum of their squares."""
        ...

    def coefficients(self, block: NDArray) -> NDArray:
        """Return alpha as the papers write it, for features scaled by sqrt(1/m)."""
        ...

    def block_of(self, alpha: NDArray) -> NDArray:
        """Return the block of such coefficients."""
        ...

    def alone(self, W: NDArray, block: NDArray, number: int) -> tuple[NDArray, NDArray]:
        """Return frequencies and a block with only the `number`-th feature (from 0)."""
        one = slice(number, number + 1)
        return np.ascontiguousarray(W[..., one]), np.ascontiguousarray(block[:, one])


class Cosines(FeatureMap):
    """Pairs of a cosine and a sine, as amplitudes and phases, by compiled loops. `coefficients` are (2m,), cosines first."""

    block_rows = 2

    def accumulate(self, X: NDArray, c: NDArray, W: NDArray, step: float) -> NDArray:
        m = W.shape[1]
        sums = np.empty((-(-len(X) // ACCUMULATED_ROWS), 2, m), dtype=X.dtype)

        def work(part: slice) -> None:
            rows = slice(part.start * ACCUMULATED_ROWS, part.stop * ACCUMULATED_ROWS)
            loops.accumulate(X[rows], c[rows], W, ACCUMULATED_ROWS, sums[part], scratch.buffers[X.dtype])

        for_each_piece(work, len(sums), 1, len(X) * (m + W.size // COORDINATES_PER_COSINE))
        # alpha = -(step / sqrt(m)) (C, S), and phi carries another 1/sqrt(m).
        block = np.empty((2, m), dtype=X.dtype)
        loops.set_block(sums, X.dtype.type(-step / m), X.dtype.type(0.5 / np.pi), block)
        return block

    def evaluate(
        self, X: NDArray, W: NDArray, block: NDArray, decay: float, out: NDArray, squares: NDArray | None = None
    ) -> None:
        decay, (r, theta) = X.dtype.type(decay), block

        def work(part: slice) -> None:
            own = None if squares is None else squares[part]
            loops.evaluate(X[part], W, r, theta, decay, out[part], own, scratch.buffers[X.dtype])

        for_each_piece(work, len(X), loops.TILE_ROWS, len(X) * (W.shape[1] + W.size // COORDINATES_PER_COSINE))

    def evaluate_with_squares(self, X: NDArray, W: NDArray, block: NDArray) -> tuple[NDArray, NDArray]:
        sums, squares = np.zeros(len(X), dtype=X.dtype), np.empty(len(X), dtype=X.dtype)
        self.evaluate(X, W, block, 0.0, sums, squares)
        return sums, squares

    def coefficients(self, block: NDArray) -> NDArray:
        r, theta = block[0], 2 * np.pi * block[1]
        return np.concatenate([r * np.cos(theta), r * np.sin(theta)]) * np.sqrt(block.shape[1])

    def block_of(self, alpha: NDArray) -> NDArray:
        C, S = alpha.reshape(2, -1)
        scale = alpha.dtype.type(len(C) ** -0.5)
        return np.stack([np.hypot(C, S) * scale, np.arctan2(S, C) * alpha.dtype.type(0.5 / np.pi)])


def explicit(X: NDArray, W: NDArray) -> NDArray:
    """Return phi(X) of shape (n, 2m), cosines first."""
    phi = np.empty((len(X), 2 * W.shape[1]), dtype=X.dtype)
    turns = X @ W
    turns -= np.rint(turns)
    turns *= X.dtype.type(2.0 * np.pi)
    # Into an array of their own first: written to a part of each row, they take thirty times as long.
    phi[:, : W.shape[1]] = np.cos(turns)
    phi[:, W.shape[1] :] = np.sin(turns)
    phi *= X.dtype.type(W.shape[1] ** -0.5)
    return phi


def _tiles(part: slice, tile: int) -> list[slice]:
    return [slice(start, min(start + tile, part.stop)) for start in range(part.start, part.stop, tile)]


def _products(X: NDArray, W: NDArray, part: slice) -> Iterator[tuple[slice, slice, NDArray]]:
    """Yield rows of a part, features, and prod_l X @ W[l] for them, (rows, features), which the next one overwrites."""
    for rows in _tiles(part, PRODUCT_ROWS):
        buffers = np.empty((2, rows.stop - rows.start, min(PRODUCT_FEATURES, W.shape[2])), dtype=X.dtype)
        for features in _tiles(slice(0, W.shape[2]), PRODUCT_FEATURES):
            size = features.stop - features.start
            product, factor = buffers[0, :, :size], buffers[1, :, :size]
            np.matmul(X[rows], W[0][:, features], out=product)
            for W_l in W[1:]:
                np.matmul(X[rows], W_l[:, features], out=factor)
                product *= factor
            yield rows, features, product


class Products(FeatureMap):
    """Products of projections, for dot product kernels: phi_j(x) = sqrt(1/m) prod_l w_lj'x.

    W has shape (p, d, m), with the directions of p projections. A block has one row, the products' factors r_j, so
    alpha' phi(x) = sum_j r_j prod_l w_lj'x. Compiled loops would gain nothing: everything is matrix products in tiles of fixed
    size. So results do not depend on the number of threads, and memory stays small.
    """

    block_rows = 1

    def accumulate(self, X: NDArray, c: NDArray, W: NDArray, step: float) -> NDArray:
        m, tiles = W.shape[2], _tiles(slice(0, len(X)), PRODUCT_ROWS)
        sums = np.empty((len(tiles), m), dtype=X.dtype)

        def work(part: slice) -> None:
            for i in range(part.start, part.stop):
                for rows, features, product in _products(X, W, tiles[i]):
                    np.matmul(c[rows], product, out=sums[i, features])

        for_each_piece(work, len(tiles), 1, len(X) * m * len(W))
        # alpha = -(step / sqrt(m)) sums, and phi carries another 1/sqrt(m).
        return sums.sum(axis=0, keepdims=True) * X.dtype.type(-step / m)

    def evaluate(self, X: NDArray, W: NDArray, block: NDArray, decay: float, out: NDArray) -> None:
        decay = X.dtype.type(decay)

        def work(part: slice) -> None:
            out[part] *= decay
            for rows, features, product in _products(X, W, part):
                out[rows] += product @ block[0, features]

        for_each_piece(work, len(X), PRODUCT_ROWS, len(X) * W.shape[2] * len(W))

    def evaluate_with_squares(self, X: NDArray, W: NDArray, block: NDArray) -> tuple[NDArray, NDArray]:
        sums, squares = np.zeros(len(X), dtype=X.dtype), np.zeros(len(X), dtype=X.dtype)

        def work(part: slice) -> None:
            for rows, features, product in _products(X, W, part):
                product *= block[0, features]
                sums[rows] += product.sum(axis=1)
                squares[rows] += np.einsum("ij,ij->i", product, product)

        for_each_piece(work, len(X), PRODUCT_ROWS, len(X) * W.shape[2] * len(W))
        return sums, squares

    def coefficients(self, block: NDArray) -> NDArray:
        return block[0] * np.sqrt(block.shape[1])

    def block_of(self, alpha: NDArray) -> NDArray:
        return alpha[None] * alpha.dtype.type(len(alpha) ** -0.5)


LAST_STEP = "exact kernel"  # the longest


def compile_last_step(report: Callable[[Any], None] | None = None) -> None:
    """Compile the loop of the last step of the warm-up, in a process of its own: its code goes to disk."""
    warm_up_steps()[LAST_STEP]()


def warm_up_steps() -> dict[str, Callable[[], object]]:
    """Return functions by purpose: each compiles a loop of a stochastic run, or loads it from the cache. All are repeatable."""
    X, c, cosines = np.zeros((2, 2), dtype=np.float32), np.ones(2, dtype=np.float32), Cosines()
    W, out = np.ones((2, 2), dtype=np.float32), np.zeros(2, dtype=np.float32)
    block, one = np.ones((2, 2), dtype=np.float32), np.float32(1)
    return {
        "coefficients": lambda: cosines.accumulate(X, c, W, 1.0),
        "values": lambda: cosines.evaluate(X, W, block, 1.0, out),
        "error of the features": lambda: cosines.evaluate_with_squares(X, W, block),
        LAST_STEP: lambda: loops.gaussian_sums(X, c, X, one, one, out, scratch.buffers[X.dtype]),
    }


@cache
def warm_up() -> bool:
    """Compile or load each loop of a stochastic run, once in this process; returns True."""
    for step in warm_up_steps().values():
        step()
    return True
