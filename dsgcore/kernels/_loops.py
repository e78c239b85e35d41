"""The compiled loops: sums of cosine features and of Gaussian kernels, one thread each.

Every loop takes C-contiguous arrays and scalars of one dtype, float32 or float64, and writes into given arrays. It takes
points in blocks that stay in registers (`_loops_blocks.py`) or, on other processors, in tiles of TILE_ROWS with OpenBLAS.
So splitting them at multiples of TILE_ROWS gives bit-for-bit identical results.
Frequencies and phases are in turns (radians / 2 pi): the range reduction is then one rounding.

All helpers are inlined by force. Otherwise each caller gets its own compiled copy of a helper. The cache would then
decide which copy a process runs, and results could differ in the last bits.
"""

import math

import numpy as np
from llvmlite.binding import get_host_cpu_features

from dsgcore.kernels._compiling import compiled
from dsgcore.kernels._loops_blocks import add_cosines_of_blocks, add_powers_of_blocks, sum_waves_of_blocks
from dsgcore.kernels._loops_polynomials import FLAGS, cosine, exp2, rescale
from dsgcore.kernels._loops_vectors import IS_USED as IN_BLOCKS

TILE_ROWS = 96  # enough to keep packing cheap at large d, few enough that a tile fits in the second-level cache
_MAX_COLUMNS = 512
_DIRECT = 4  # the largest d for which distances are summed from differences, and products are computed in the loop
# On AVX-512, OpenBLAS has a faster product without packing, for at most this many multiply-adds.
_MOST_UNPACKED = 1_000_000
_HAS_UNPACKED = bool(get_host_cpu_features().get("avx512f"))


def scratch(dtype):
    """Return the buffer that a loop needs as `tile`; one fixed size serves any d and m."""
    return np.empty(TILE_ROWS * _MAX_COLUMNS, dtype)


@compiled(forceinline=True)
def _tile(d):
    """Return the numbers of points and of features in a tile; TILE_ROWS is a multiple of the former."""
    columns = _MOST_UNPACKED // (TILE_ROWS * d) // 32 * 32
    if columns >= 64:
        return TILE_ROWS, min(columns, _MAX_COLUMNS)
    if _HAS_UNPACKED and 16 * 64 * d <= _MOST_UNPACKED:
        return 16, 64
    return TILE_ROWS, _MAX_COLUMNS


@compiled(forceinline=True)
def _panels(W, left, right, step):
    """Return W[:, left:right] in panels of `step` columns, each contiguous."""
    d, panels = W.shape[0], np.empty(W.shape[0] * (right - left), W.dtype)
    for a in range(left, right, step):
        b = min(a + step, right)
        _copy(W[:, a:b], _part(panels, d, a - left, b - left))
    return panels


@compiled(forceinline=True)
def _copy(rows, out):
    """Set the first rows of `out`; a slice assignment here would take a quarter of the compile time."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[i, j] = rows[i, j]


@compiled(forceinline=True)
def _part(panels, d, a, b):
    return panels[d * a : d * b].reshape(d, b - a)


@compiled(forceinline=True)
def _view(tile, rows, columns):
    return tile[: rows * columns].reshape(rows, columns)


@compiled(forceinline=True)
def _product(X, panel, tile):
    Z = _view(tile, X.shape[0], panel.shape[1])
    np.dot(X, panel, Z)
    return Z


@compiled(fastmath=FLAGS, forceinline=True)
def _sum_cosines(turns, amplitude, phase):
    quarter = turns.dtype.type(0.25)
    total = turns.dtype.type(0)
    for j in range(len(turns)):
        total += amplitude[j] * cosine(turns[j] - phase[j], quarter)
    return total


@compiled(fastmath=FLAGS, forceinline=True)
def add_cosines(turns, amplitude, phase, out):
    """Add sum_j amplitude[j] cos(2 pi (turns[i, j] - phase[j])) to out[i]."""
    for i in range(len(turns)):
        out[i] += _sum_cosines(turns[i], amplitude, phase)


@compiled(forceinline=True)
def _with_zeros(rows):
    filled = np.zeros((_DIRECT, rows.shape[1]), rows.dtype)
    _copy(rows, filled)
    return filled


@compiled(fastmath=FLAGS, forceinline=True)
def _add_cosines_of_few(X, W, amplitude, phase, out):
    """Add sum_j amplitude[j] cos(2 pi (X[i] @ W[:, j] - phase[j])) to out[i], for at most _DIRECT coordinates."""
    d, zero, quarter = X.shape[1], X.dtype.type(0), X.dtype.type(0.25)
    w = _with_zeros(W)
    for i in range(len(X)):
        x, y = X[i, 0], X[i, 1] if d > 1 else zero
        z, v = X[i, 2] if d > 2 else zero, X[i, 3] if d > 3 else zero
        total = zero
        for j in range(len(amplitude)):
            turns = x * w[0, j] + y * w[1, j] + z * w[2, j] + v * w[3, j]
            total += amplitude[j] * cosine(turns - phase[j], quarter)
        out[i] += total


@compiled(fastmath=FLAGS, forceinline=True)
def _sum_cosines_and_squares(turns, amplitude, phase):
    quarter = turns.dtype.type(0.25)
    total = turns.dtype.type(0)
    squares = turns.dtype.type(0)
    for j in range(len(turns)):
        term = amplitude[j] * cosine(turns[j] - phase[j], quarter)
        total += term
        squares += term * term
    return total, squares


@compiled(fastmath=FLAGS, forceinline=True)
def _add_waves(turns, weight, cosines, sines):
    quarter = turns.dtype.type(0.25)
    for j in range(len(turns)):
        x = turns[j] - np.rint(turns[j])
        cosines[j] += weight * cosine(x, quarter)
        sines[j] += weight * cosine(x - quarter, quarter)


@compiled(forceinline=True)
def _centre(X):
    """Return the value to subtract from all points: X[0] if distances come from norms, else 0, which loses no digit."""
    centre = X[0].copy()
    if len(centre) <= _DIRECT:
        centre[:] = 0
    return centre


@compiled(forceinline=True)
def _subtract(X, centre):
    shifted = np.empty_like(X)
    for i in range(X.shape[0]):
        for k in range(X.shape[1]):
            shifted[i, k] = X[i, k] - centre[k]
    return shifted


@compiled(fastmath=FLAGS, forceinline=True)
def _squared_norms(columns):
    norms = np.zeros(columns.shape[1], columns.dtype)
    for k in range(columns.shape[0]):
        for b in range(columns.shape[1]):
            norms[b] += columns[k, b] * columns[k, b]
    return norms


@compiled(fastmath=FLAGS, forceinline=True)
def _distances_by_norms(Z, columns, norms, tile):
    """Write |z|^2 + |x|^2 - 2 z.x, never below 0, into the tile."""
    D = _product(Z, columns, tile)
    zero = D.dtype.type(0)
    for p in range(D.shape[0]):
        norm = np.dot(Z[p], Z[p])
        for b in range(D.shape[1]):
            distance = norms[b] + norm - (D[p, b] + D[p, b])
            D[p, b] = zero if distance < zero else distance  # NaN stays NaN
    return D


@compiled(fastmath=FLAGS, forceinline=True)
def _distances_by_difference(Z, columns, tile):
    D = _view(tile, Z.shape[0], columns.shape[1])
    for p in range(D.shape[0]):
        D[p] = 0
        for k in range(columns.shape[0]):
            for b in range(D.shape[1]):
                D[p, b] += (columns[k, b] - Z[p, k]) ** 2
    return D


@compiled(fastmath=FLAGS, forceinline=True)
def _sum_exp2(distance, weight, scale):
    total = distance.dtype.type(0)
    for b in range(len(distance)):
        total += weight[b] * exp2(scale * distance[b])
    return total


@compiled(fastmath=FLAGS, forceinline=True)
def add_cosines_of_tiles(X, W, amplitude, phase, out, tile):
    """Add sum_j amplitude[j] cos(2 pi (X[i] @ W[:, j] - phase[j])) to out[i]."""
    d, m = W.shape
    rows, step = _tile(d)
    wide = _MAX_COLUMNS // step * step
    for left in range(0, m, wide):
        right = min(left + wide, m)
        if d <= _DIRECT:
            _add_cosines_of_few(X, W[:, left:right], amplitude[left:right], phase[left:right], out)
            continue
        panels = _panels(W, left, right, step)
        for top in range(0, X.shape[0], rows):
            for a in range(left, right, step):
                b = min(a + step, right)
                Z = _product(X[top : top + rows], _part(panels, d, a - left, b - left), tile)
                add_cosines(Z, amplitude[a:b], phase[a:b], out[top : top + rows])


@compiled(fastmath=FLAGS)
def evaluate(X, W, amplitude, phase, decay, out, tile):
    """Set out[i] to decay * out[i] + sum_j amplitude[j] cos(2 pi (X[i] @ W[:, j] - phase[j])).

    X (n, d), W (d, m) in turns per unit, amplitude (m,), phase (m,) in turns, out (n,), tile from `scratch`.
    """
    rescale(out, decay)
    if IN_BLOCKS:
        add_cosines_of_blocks(X, W, amplitude, phase, out, None)
    else:
        add_cosines_of_tiles(X, W, amplitude, phase, out, tile)


@compiled(fastmath=FLAGS, forceinline=True)
def add_cosines_and_squares_of_tiles(X, W, amplitude, phase, out, squares, tile):
    """Do what `add_cosines_of_tiles` does, and add the terms' squares to `squares`."""
    rows, step = _tile(W.shape[0])
    for left in range(0, W.shape[1], step):
        panel = np.ascontiguousarray(W[:, left : left + step])
        r, theta = amplitude[left : left + step], phase[left : left + step]
        for top in range(0, X.shape[0], rows):
            Z = _product(X[top : top + rows], panel, tile)
            for i in range(len(Z)):
                total, square = _sum_cosines_and_squares(Z[i], r, theta)
                out[top + i] += total
                squares[top + i] += square


@compiled(fastmath=FLAGS)
def evaluate_with_squares(X, W, amplitude, phase, decay, out, squares, tile):
    """Set `out` as `evaluate` does, and set squares[i] to sum_j (amplitude[j] cos(...))^2; squares (n,)."""
    rescale(out, decay)
    squares[:] = 0
    if IN_BLOCKS:
        add_cosines_of_blocks(X, W, amplitude, phase, out, squares)
    else:
        add_cosines_and_squares_of_tiles(X, W, amplitude, phase, out, squares, tile)


@compiled(fastmath=FLAGS, forceinline=True)
def sum_waves_of_tiles(X, c, W, cosines, sines, tile):
    """Set cosines[j] to sum_b c[b] cos(2 pi X[b] @ W[:, j]), and sines[j] likewise with sin."""
    cosines[:] = 0
    sines[:] = 0
    rows, step = _tile(W.shape[0])
    for left in range(0, W.shape[1], step):
        panel = np.ascontiguousarray(W[:, left : left + step])
        for top in range(0, X.shape[0], rows):
            Z = _product(X[top : top + rows], panel, tile)
            for b in range(len(Z)):
                _add_waves(Z[b], c[top + b], cosines[left : left + step], sines[left : left + step])


@compiled(fastmath=FLAGS)
def accumulate(X, c, W, rows, sums, tile):
    """Set sums[i, 0, j] to sum_b c[b] cos(2 pi X[b] @ W[:, j]) over the i-th `rows` points, and sums[i, 1, j] likewise with sin.

    X (B, d), c (B,), W (d, m) in turns per unit, sums (at least B / rows, 2, m), tile from `scratch`.
    """
    for i in range(len(sums)):
        part = slice(i * rows, (i + 1) * rows)
        if IN_BLOCKS:
            sum_waves_of_blocks(X[part], c[part], W, sums[i, 0], sums[i, 1])
        else:
            sum_waves_of_tiles(X[part], c[part], W, sums[i, 0], sums[i, 1], tile)


@compiled()
def set_block(sums, scale, turn, block):
    """Set block[0, j] and block[1, j] to the length and the angle of scale * sum_i (sums[i, 0, j], sums[i, 1, j])."""
    for j in range(block.shape[1]):
        C = S = sums.dtype.type(0)
        for i in range(len(sums)):
            C += sums[i, 0, j]
            S += sums[i, 1, j]
        C, S = C * scale, S * scale
        block[0, j] = math.hypot(C, S)
        block[1, j] = math.atan2(S, C) * turn


@compiled(fastmath=FLAGS)
def set_waves(turns, scale, phi):
    """Set phi[i, j] to scale * cos(2 pi turns[i, j]), and phi[i, m + j] likewise with sin; turns (n, m)."""
    m, quarter = turns.shape[1], turns.dtype.type(0.25)
    for i in range(len(turns)):
        row, cosines, sines = turns[i], phi[i, :m], phi[i, m:]
        for j in range(m):
            x = row[j] - np.rint(row[j])
            cosines[j] = scale * cosine(x, quarter)
            sines[j] = scale * cosine(x - quarter, quarter)


@compiled(fastmath=FLAGS, forceinline=True)
def add_powers_of_tiles(X, c, Z, centre, is_direct, scale, out, tile):
    """Add sum_b c[b] 2^(scale |X[b] - Z[p]|^2) to out[p]; `is_direct` sums distances from differences, not from products."""
    rows, step = _tile(X.shape[1])
    for left in range(0, X.shape[0], step):
        columns = np.ascontiguousarray(_subtract(X[left : left + step], centre).T)
        norms = _squared_norms(columns)
        for top in range(0, Z.shape[0], rows):
            points = _subtract(Z[top : top + rows], centre)
            D = (
                _distances_by_difference(points, columns, tile)
                if is_direct
                else _distances_by_norms(points, columns, norms, tile)
            )
            for p in range(len(points)):
                out[top + p] += _sum_exp2(D[p], c[left : left + step], scale)


@compiled(fastmath=FLAGS)
def gaussian_sums(X, c, Z, sigma, decay, out, tile):
    """Set out[p] to decay * out[p] + sum_b c[b] exp(-sigma |X[b] - Z[p]|^2).

    X (B, d), c (B,), Z (P, d), sigma >= 0, out (P,), tile from `scratch`.
    """
    rescale(out, decay)
    scale = sigma * c.dtype.type(-1.4426950408889634)  # exp(x) = 2^(x / log 2)
    if not len(X):
        return
    # In few dimensions points have near neighbours, and differences of norms would cancel.
    centre, is_direct = _centre(X), X.shape[1] <= _DIRECT
    if IN_BLOCKS:
        add_powers_of_blocks(X, c, Z, centre, is_direct, scale, out)
    else:
        add_powers_of_tiles(X, c, Z, centre, is_direct, scale, out, tile)
