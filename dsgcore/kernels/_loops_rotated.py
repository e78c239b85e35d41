"""Compiled loops for structured orthogonal features: rotations by the fast Walsh-Hadamard transform.

Arguments, dtypes and tiles as in `_loops`.
"""

import numpy as np

from dsgcore.kernels._compiling import compiled
from dsgcore.kernels._loops_polynomials import FLAGS, cosine, rescale

# number of points rotated together: several vector lengths, and 1024 coordinates of them fit in the cache
ROTATED_ROWS = 64


@compiled(fastmath=FLAGS, forceinline=True)
def _butterflies(a, b, c, d):
    for i in range(len(a)):
        s, t, u, v = a[i] + b[i], a[i] - b[i], c[i] + d[i], c[i] - d[i]
        a[i], b[i], c[i], d[i] = s + u, t + v, s - u, t - v


@compiled(fastmath=FLAGS, forceinline=True)
def _walsh_hadamard(tile):
    """Multiply every column of the tile (p, columns) by the Hadamard matrix of +-1; p a power of two."""
    flat = tile.reshape(-1)
    size = tile.shape[1]
    while 4 * size <= len(flat):
        for i in range(0, len(flat), 4 * size):
            part = flat[i : i + 4 * size]
            _butterflies(part[:size], part[size : 2 * size], part[2 * size : 3 * size], part[3 * size :])
        size *= 4
    if size < len(flat):
        for i in range(size):
            flat[i], flat[size + i] = flat[i] + flat[size + i], flat[i] - flat[size + i]


@compiled(forceinline=True)
def _transpose(X, columns):
    """Set column i of `columns` (p, ROTATED_ROWS) to X[i], padded by zeros."""
    columns[X.shape[1] :] = 0
    columns[:, X.shape[0] :] = 0
    for left in range(0, X.shape[1], 16):  # one cache line of every point at a time
        for i in range(X.shape[0]):
            for k in range(left, min(left + 16, X.shape[1])):
                columns[k, i] = X[i, k]


@compiled(forceinline=True)
def _rotate(columns, signs, tile):
    """Set the tile to H D3 H D2 H D1 times the columns (p, ROTATED_ROWS), D diagonal; signs (3, p)."""
    for k in range(len(tile)):
        for i in range(tile.shape[1]):
            tile[k, i] = columns[k, i] * signs[0, k]
    _walsh_hadamard(tile)
    for s in signs[1:]:
        for k in range(len(tile)):
            rescale(tile[k], s[k])
        _walsh_hadamard(tile)


@compiled(fastmath=FLAGS, forceinline=True)
def _add_waves_of_points(projections, lengths, amplitude, phase, out, squares):
    quarter = out.dtype.type(0.25)
    for j in range(len(lengths)):
        for i in range(len(out)):
            term = amplitude[j] * cosine(projections[j, i] * lengths[j] - phase[j], quarter)
            out[i] += term
            squares[i] += term * term


@compiled(fastmath=FLAGS, forceinline=True)
def _sum_waves_of_points(projections, lengths, c, cosines, sines):
    quarter = c.dtype.type(0.25)
    for j in range(len(lengths)):
        C = c.dtype.type(0)
        S = c.dtype.type(0)
        for i in range(len(c)):
            turns = projections[j, i] * lengths[j]
            x = turns - np.rint(turns)
            C += c[i] * cosine(x, quarter)
            S += c[i] * cosine(x - quarter, quarter)
        cosines[j] += C
        sines[j] += S


@compiled()
def evaluate_rotated(X, signs, lengths, amplitude, phase, decay, out, squares, tiles):
    """Set `out` and `squares` as `evaluate_with_squares` does; frequency j is lengths[j] times row j % p of rotation j // p.

    X (n, d), signs (rotations, 3, p), p >= d a power of two, lengths (m,), tiles (2, p, ROTATED_ROWS).
    """
    rescale(out, decay)
    squares[:] = 0
    columns, tile = tiles[0], tiles[1]
    p = len(tile)
    for top in range(0, X.shape[0], ROTATED_ROWS):
        rows = slice(top, min(top + ROTATED_ROWS, X.shape[0]))
        _transpose(X[rows], columns)
        for left in range(0, len(lengths), p):
            of = slice(left, left + p)
            _rotate(columns, signs[left // p], tile)
            _add_waves_of_points(tile, lengths[of], amplitude[of], phase[of], out[rows], squares[rows])


@compiled()
def accumulate_rotated(X, c, signs, lengths, cosines, sines, tiles):
    """Set `cosines` and `sines` as `accumulate` does, with frequencies as in `evaluate_rotated`."""
    cosines[:] = 0
    sines[:] = 0
    columns, tile = tiles[0], tiles[1]
    p = len(tile)
    for top in range(0, X.shape[0], ROTATED_ROWS):
        rows = slice(top, min(top + ROTATED_ROWS, X.shape[0]))
        _transpose(X[rows], columns)
        for left in range(0, len(lengths), p):
            of = slice(left, left + p)
            _rotate(columns, signs[left // p], tile)
            _sum_waves_of_points(tile, lengths[of], c[rows], cosines[of], sines[of])
