"""Random cosine features with structured orthogonal frequencies, which cost O(log d) each: the counterpart of `features`.

The frequencies of one rotation are the first d coordinates of the rows of H D3 H D2 H D1, each times its own length. H
is the p x p Hadamard matrix of +-1, p the next power of two, and D1 .. D3 are diagonal with random signs. The fast
Walsh-Hadamard transform applies H. `W` is a one-dimensional array, (3 p ceil(m / p) + m,): for each rotation its three
rows of p signs, then the m lengths.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import for_each_piece, pieces
from dsgcore.kernels import _loops_rotated, features
from dsgcore.kernels.features import ACCUMULATED_ROWS, block_of_cosines

BLOCK_ROWS = features.BLOCK_ROWS
coefficients = features.coefficients
# With fewer coordinates the rows' directions would be too far from uniform: see `draw`.
MIN_COORDINATES = 128
# A feature costs about as much as this many evaluations of points with few coordinates.
EVALUATIONS_PER_FEATURE = 6

_thread = threading.local()


def _padded(d: int) -> int:
    return max(MIN_COORDINATES, 1 << (d - 1).bit_length())


def draw(rng: np.random.Generator, d: int, m: int) -> NDArray:
    """Draw `m` frequencies of `d` coordinates that are N(0, I) each, and orthogonal within a rotation: a `W` of float32.

    Notes
    -----
    Source: Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, Orthogonal Random Features (NIPS 2016), Section 4.

    Deviation: the paper's structured rows all have the length sqrt(p), which leaves a bias of order 1/p. Here the lengths
    follow the chi distribution with p degrees of freedom, as those of N(0, I) do. The directions are still not quite
    uniform: the fourth moment of a row's product with a unit vector is (1 + O(1 / p^2)) times that of the normal.
    """
    p = _padded(d)
    signs = rng.integers(0, 2, size=3 * p * -(-m // p), dtype=np.int8)
    lengths = np.sqrt(rng.chisquare(p, size=m)) * p**-1.5  # a row of H D3 H D2 H D1 has the length p^(3/2)
    return np.concatenate([2 * signs - 1, lengths], dtype=np.float32)


def split(W: NDArray, d: int) -> tuple[NDArray, NDArray]:
    """Return the signs (rotations, 3, p) and the lengths (m,) in `W`, for points with `d` coordinates."""
    p = _padded(d)
    n_rotations = -(-len(W) // (4 * p))
    return W[: n_rotations * 3 * p].reshape(n_rotations, 3, p), W[n_rotations * 3 * p :]


def _tiles_of_this_thread(p: int, dtype: np.dtype) -> NDArray:
    shape = (2, p, _loops_rotated.ROTATED_ROWS)
    tiles: NDArray | None = getattr(_thread, "tiles", None)
    if tiles is None or tiles.shape != shape or tiles.dtype != dtype:
        tiles = _thread.tiles = np.empty(shape, dtype=dtype)
    return tiles


def accumulate(X: NDArray, c: NDArray, W: NDArray, step: float) -> NDArray:
    """Return amplitudes and phases as `features.accumulate` does; the lengths in `W` are in turns per unit."""
    signs, lengths = split(W, X.shape[1])

    def fill(points: NDArray, weights: NDArray, sums: NDArray) -> None:
        tiles = _tiles_of_this_thread(signs.shape[2], X.dtype)
        for i, (C, S) in enumerate(sums):
            rows = slice(i * ACCUMULATED_ROWS, (i + 1) * ACCUMULATED_ROWS)
            _loops_rotated.accumulate_rotated(points[rows], weights[rows], signs, lengths, C, S, tiles)

    return block_of_cosines(X, c, len(lengths), step, fill, _work(X, signs))


def _work(X: NDArray, signs: NDArray) -> int:
    return len(X) * signs.size // 3 * EVALUATIONS_PER_FEATURE


def evaluate(X: NDArray, W: NDArray, block: NDArray, decay: float, out: NDArray) -> None:
    """Set ``out = decay * out + alpha' phi(X)`` in place."""
    _evaluate(X, W, block, decay, out)


def evaluate_with_squares(X: NDArray, W: NDArray, block: NDArray) -> tuple[NDArray, NDArray]:
    """Return, for every row, the sum of the features' contributions, and the sum of their squares."""
    sums = np.zeros(len(X), dtype=X.dtype)
    return sums, _evaluate(X, W, block, 0.0, sums)


def _evaluate(X: NDArray, W: NDArray, block: NDArray, decay: float, out: NDArray) -> NDArray:
    signs, lengths = split(W, X.shape[1])
    factor, (r, theta), squares = X.dtype.type(decay), block, np.empty_like(out)

    def work(part: slice) -> None:
        tiles = _tiles_of_this_thread(signs.shape[2], X.dtype)
        _loops_rotated.evaluate_rotated(X[part], signs, lengths, r, theta, factor, out[part], squares[part], tiles)

    for_each_piece(work, pieces(len(X), _loops_rotated.ROTATED_ROWS, _work(X, signs)))
    return squares


def alone(W: NDArray, block: NDArray, d: int, number: int) -> tuple[NDArray, NDArray]:
    """Return the rotation that holds one feature, with all other coefficients zero."""
    signs, lengths = split(W, d)
    rotation, p = number // signs.shape[2], signs.shape[2]
    own = slice(rotation * p, rotation * p + p)
    others_out = np.zeros_like(block[:, own])
    others_out[:, number % p] = block[:, number]
    return np.concatenate([signs[rotation].ravel(), lengths[own]]), others_out
