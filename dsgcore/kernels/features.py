"""Random features of one iteration: their coefficients and their values. The only gateway to the compiled loops.

A *block* is the contribution of iteration t to the model: its random features, drawn again from (seed, t) when needed,
and the coefficients alpha_t. With phi(x) = sqrt(1/m) [cos w_j'x .., sin w_j'x ..], alpha' phi(x) = sum_j r_j cos(w_j'x
- theta_j): one cosine per point and feature. A block's coefficients are stored as these amplitudes r and phases theta
(in turns).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import COORDINATES_PER_COSINE
from dsgcore.core.errors import DSGError
from dsgcore.core.threads import for_each_piece
from dsgcore.kernels import loops


class FeatureMap(Protocol):
    """Interface of a kernel's random features: this module (cosines), or another `features_*`, which defines its `W`.

    X has shape (n, d). W (d, m) holds frequencies in turns per unit unless defined otherwise. A block has shape
    (BLOCK_ROWS, m).
    """

    BLOCK_ROWS: int

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
        """Return alpha as the papers write it."""
        ...

    def block_of(self, alpha: NDArray) -> NDArray:
        """Return the block of such coefficients."""
        ...

    def alone(self, W: NDArray, block: NDArray, d: int, number: int) -> tuple[NDArray, NDArray]:
        """Return frequencies and a block with only the `number`-th feature (from 0), for points (n, d)."""
        ...


# Rows of a block: amplitudes and phases.
BLOCK_ROWS = 2
# Number of rows summed together when coefficients are accumulated; fixed, so that sums do not depend on the number of
# threads.
ACCUMULATED_ROWS = 256


def as_points(X: NDArray, dtype: np.dtype) -> NDArray:
    """Return `X` in the form that the loops need: C-contiguous, in the model's precision. It is copied only if necessary.

    The result is also writable and aligned, although nothing is written: numba would compile every loop again for other
    arrays.
    """
    return np.require(X, dtype, ["C", "A", "W", "E"])


def in_precision(X: NDArray, dtype: np.dtype) -> NDArray:
    """Return points in another precision, C-contiguous; raise DSGError if a number is too large for it."""
    with np.errstate(over="ignore"):
        points = np.ascontiguousarray(X, dtype=dtype)
    if dtype.itemsize < X.dtype.itemsize and not np.isfinite(points).all():
        raise DSGError(
            f"X must hold numbers of size {np.finfo(dtype).max:.3g} at most for {dtype}, got larger ones: scale the points"
        )
    return points


class _Scratch(threading.local):
    def __init__(self) -> None:
        self.buffers = {dtype: loops.scratch(dtype) for dtype in map(np.dtype, ("float32", "float64"))}


# The loops' scratch buffer of each thread and precision, made once: fresh memory would cost page faults.
scratch = _Scratch()


def accumulate(X: NDArray, c: NDArray, W: NDArray, step: float) -> NDArray:
    """Return the amplitudes r_j and phases theta_j (in turns) of one iteration, (2, m)."""
    m = W.shape[1]
    sums = np.empty((-(-len(X) // ACCUMULATED_ROWS), 2, m), dtype=X.dtype)

    def work(part: slice) -> None:
        rows = slice(part.start * ACCUMULATED_ROWS, part.stop * ACCUMULATED_ROWS)
        loops.accumulate(X[rows], c[rows], W, ACCUMULATED_ROWS, sums[part], scratch.buffers[X.dtype])

    for_each_piece(work, len(sums), 1, len(X) * (W.shape[1] + W.size // COORDINATES_PER_COSINE))
    # alpha = -(step / sqrt(m)) (C, S), and phi carries another 1/sqrt(m).
    block = np.empty((2, m), dtype=X.dtype)
    loops.set_block(sums, X.dtype.type(-step / m), X.dtype.type(0.5 / np.pi), block)
    return block


def evaluate(X: NDArray, W: NDArray, block: NDArray, decay: float, out: NDArray) -> None:
    """Set ``out = decay * out + alpha' phi(X)`` in place."""
    decay = X.dtype.type(decay)

    def work(part: slice) -> None:
        loops.evaluate(X[part], W, block[0], block[1], decay, out[part], None, scratch.buffers[X.dtype])

    for_each_piece(work, len(X), loops.TILE_ROWS, len(X) * (W.shape[1] + W.size // COORDINATES_PER_COSINE))


def evaluate_with_squares(X: NDArray, W: NDArray, block: NDArray) -> tuple[NDArray, NDArray]:
    """Return, for every row, the sum of the features' contributions, and the sum of their squares."""
    sums, squares = np.zeros(len(X), dtype=X.dtype), np.empty(len(X), dtype=X.dtype)
    zero, (r, theta) = X.dtype.type(0.0), block

    def work(part: slice) -> None:
        loops.evaluate(X[part], W, r, theta, zero, sums[part], squares[part], scratch.buffers[X.dtype])

    for_each_piece(work, len(X), loops.TILE_ROWS, len(X) * (W.shape[1] + W.size // COORDINATES_PER_COSINE))
    return sums, squares


def coefficients(block: NDArray) -> NDArray:
    """Return alpha_t of shape (2m,), cosines first, as the papers write it (for features scaled by sqrt(1/m))."""
    r, theta = block[0], 2 * np.pi * block[1]
    return np.concatenate([r * np.cos(theta), r * np.sin(theta)]) * np.sqrt(block.shape[1])


def block_of(alpha: NDArray) -> NDArray:
    """Return the block of coefficients (2m,) as `coefficients` returns them."""
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


LAST_STEP = "exact kernel"  # the longest


def compile_last_step(report: Callable[[Any], None] | None = None) -> None:
    """Compile the loop of the last step of the warm-up, in a process of its own: its code goes to disk."""
    warm_up_steps()[LAST_STEP]()


def warm_up_steps() -> dict[str, Callable[[], object]]:
    """Return functions by purpose: each compiles a loop of a stochastic run, or loads it from the cache. All are repeatable."""
    X, c = np.zeros((2, 2), dtype=np.float32), np.ones(2, dtype=np.float32)
    W, out = np.ones((2, 2), dtype=np.float32), np.zeros(2, dtype=np.float32)
    block, one = np.ones((2, 2), dtype=np.float32), np.float32(1)
    return {
        "coefficients": lambda: accumulate(X, c, W, 1.0),
        "values": lambda: evaluate(X, W, block, 1.0, out),
        "error of the features": lambda: evaluate_with_squares(X, W, block),
        LAST_STEP: lambda: loops.gaussian_sums(X, c, X, one, one, out, scratch.buffers[X.dtype]),
    }


def alone(W: NDArray, block: NDArray, d: int, number: int) -> tuple[NDArray, NDArray]:
    """Return one feature's frequency and coefficients."""
    one = slice(number, number + 1)
    return np.ascontiguousarray(W[..., one]), np.ascontiguousarray(block[:, one])


@cache
def warm_up() -> bool:
    """Compile or load each loop of a stochastic run, once in this process; returns True."""
    for step in warm_up_steps().values():
        step()
    return True
