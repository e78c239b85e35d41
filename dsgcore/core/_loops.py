"""All compiled loops: sums of cosine features and of Gaussian kernels, one thread each.

Every kernel takes C-contiguous arrays and scalars of one dtype, float32 or float64, and writes into arrays it is
given. Points are taken in tiles of TILE_ROWS, so splitting them at multiples of TILE_ROWS leaves every bit as it was.
Frequencies and phases are in turns (radians / 2 pi): the range reduction is then one rounding.

What the kernels call is inlined by force. A helper left as a function of its own is compiled with each of its callers, and
which of these copies a process runs depends on what it compiled itself and what it read from the cache: other bits.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from dsgcore.core._compiling import compiled

TILE_ROWS = 96  # enough to keep packing cheap at large d, few enough that a tile stays in the second-level cache
_MAX_COLUMNS = 512
ROTATED_ROWS = 64  # points rotated side by side: several vectors' length, and 1024 coordinates of them fit there
_DIRECT = 4  # the largest d whose distances are summed from differences
# reassoc lets sums vectorise; no flag may assume that NaN and inf do not occur.
_FLAGS = {"reassoc", "contract", "nsz"}

# sin(2 pi x) on |x| <= 1/4 is x p(x^2), highest power first (Remez; largest error 5.9e-7 and 9.0e-17).
_SINE = (
    -0.690935882397582736,
    3.81699742832540929,
    -15.0944716166320077,
    42.0586883053899496,
    -76.7058596474695299,
    81.60524927502629,
    -41.3417022403950826,
    6.28318530717958039,
)
_SINE_SINGLE = (-70.993433272077121, 81.3407688876642748, -41.3371423711001088, 6.2831640443024714)
# 2^x on |x| <= 1/2, highest power first (Remez; largest error 7.6e-8 and 2.1e-16).
_EXP2 = (
    7.07580345973874683e-9,
    1.02086907912683381e-7,
    1.32154224786355662e-6,
    1.52526572574372635e-5,
    0.000154035304857246796,
    0.00133335582301701555,
    0.00961812910756761348,
    0.0555041086644476832,
    0.24022650695910221,
    0.693147180559949984,
    0.999999999999999994,
)
_EXP2_SINGLE = (
    0.00134100053619271438,
    0.00967603635813689162,
    0.0555029729771565846,
    0.240221073743231863,
    0.693147225408746334,
    1.00000007548957048,
)
_SINE_SINGLE = tuple(np.float32(c) for c in _SINE_SINGLE)
_EXP2_SINGLE = tuple(np.float32(c) for c in _EXP2_SINGLE)


def scratch(dtype):
    """Return the buffer that a kernel wants as `tile`; one fixed size serves any d and m."""
    return np.empty(TILE_ROWS * _MAX_COLUMNS, dtype)


def _sine_coefficients(x):
    return _SINE_SINGLE if x.dtype == np.float32 else _SINE


@overload(_sine_coefficients)
def _compiled_sine_coefficients(x):
    return (lambda x: _SINE_SINGLE) if x == types.float32 else (lambda x: _SINE)


def _exp2_coefficients(x):
    return _EXP2_SINGLE if x.dtype == np.float32 else _EXP2


@overload(_exp2_coefficients)
def _compiled_exp2_coefficients(x):
    return (lambda x: _EXP2_SINGLE) if x == types.float32 else (lambda x: _EXP2)


def _lowest_exponent(x):
    return np.float32(-127) if x.dtype == np.float32 else np.float64(-1023)


@overload(_lowest_exponent)
def _compiled_lowest_exponent(x):
    return (lambda x: np.float32(-127)) if x == types.float32 else (lambda x: -1023.0)


@intrinsic
def _float_of_bits(typing_context, bits, like):
    """Return the float of `like`'s type whose bits are the low bits of an integer."""

    def generate(context, builder, signature, arguments):
        bits = arguments[0] if like.bitwidth == 64 else builder.trunc(arguments[0], ir.IntType(like.bitwidth))
        return builder.bitcast(bits, context.get_value_type(like))

    return like(types.int64, like), generate


def _power_of_two(n):
    """2^n for an integral n >= _lowest_exponent(n), where it is 0."""
    return n.dtype.type(2) ** n if n > _lowest_exponent(n) else n.dtype.type(0)


@overload(_power_of_two, jit_options={"fastmath": _FLAGS})
def _compiled_power_of_two(n):
    # Biased exponent shifted into place. By way of int32, which every vector unit converts to.
    shift = np.int64(23 if n == types.float32 else 52)
    return lambda n: _float_of_bits(np.int64(np.int32(n - _lowest_exponent(n))) << shift, n)


@compiled(fastmath=_FLAGS, forceinline=True)
def _polynomial(x, coefficients):
    total = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


@compiled(fastmath=_FLAGS, forceinline=True)
def _cosine(turns, quarter):
    """cos(2 pi turns) = sin(2 pi (1/4 - |turns|)) for |turns| <= 1/2, after taking off whole turns."""
    x = quarter - abs(turns - np.rint(turns))
    return x * _polynomial(x * x, _sine_coefficients(x))


@compiled(fastmath=_FLAGS, forceinline=True)
def _exp2(x):
    """2^x for x <= 0, and 0 below the normal range."""
    lowest = _lowest_exponent(x)
    x = lowest if x < lowest else x  # a NaN stays
    n = np.rint(x)
    return _polynomial(x - n, _exp2_coefficients(x)) * _power_of_two(n if n > lowest else lowest)  # a NaN goes


@compiled(forceinline=True)
def _scale(values, factor):
    for i in range(len(values)):
        values[i] *= factor


@compiled(forceinline=True)
def _columns_per_tile(d):
    """Return how many features to take at a time."""
    # OpenBLAS has a faster product without packing, for fewer than 10^6 multiply-adds, on AVX-512.
    columns = 1_000_000 // (TILE_ROWS * d) // 32 * 32
    return min(columns, _MAX_COLUMNS) if columns >= 64 else _MAX_COLUMNS


@compiled(forceinline=True)
def _view(tile, rows, columns):
    return tile[: rows * columns].reshape(rows, columns)


@compiled(forceinline=True)
def _product(X, panel, tile):
    Z = _view(tile, X.shape[0], panel.shape[1])
    np.dot(X, panel, Z)
    return Z


@compiled(fastmath=_FLAGS, forceinline=True)
def _sum_cosines(turns, amplitude, phase):
    quarter = turns.dtype.type(0.25)
    total = turns.dtype.type(0)
    for j in range(len(turns)):
        total += amplitude[j] * _cosine(turns[j] - phase[j], quarter)
    return total


@compiled(fastmath=_FLAGS, forceinline=True)
def add_cosines(turns, amplitude, phase, out):
    """Add sum_j amplitude[j] cos(2 pi (turns[i, j] - phase[j])) to out[i]."""
    for i in range(len(turns)):
        out[i] += _sum_cosines(turns[i], amplitude, phase)


@compiled(fastmath=_FLAGS, forceinline=True)
def _sum_cosines_and_squares(turns, amplitude, phase):
    quarter = turns.dtype.type(0.25)
    total = turns.dtype.type(0)
    squares = turns.dtype.type(0)
    for j in range(len(turns)):
        term = amplitude[j] * _cosine(turns[j] - phase[j], quarter)
        total += term
        squares += term * term
    return total, squares


@compiled(fastmath=_FLAGS, forceinline=True)
def _add_waves(turns, weight, cosines, sines):
    quarter = turns.dtype.type(0.25)
    for j in range(len(turns)):
        x = turns[j] - np.rint(turns[j])
        cosines[j] += weight * _cosine(x, quarter)
        sines[j] += weight * _cosine(x - quarter, quarter)


@compiled(forceinline=True)
def _centre(X):
    """Return what to subtract from all points: X[0] where distances come from norms, else 0, which costs no digit."""
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


@compiled(fastmath=_FLAGS, forceinline=True)
def _squared_norms(columns):
    norms = np.zeros(columns.shape[1], columns.dtype)
    for k in range(columns.shape[0]):
        for b in range(columns.shape[1]):
            norms[b] += columns[k, b] * columns[k, b]
    return norms


@compiled(fastmath=_FLAGS, forceinline=True)
def _distances_by_norms(Z, columns, norms, tile):
    """Return |z|^2 + |x|^2 - 2 z.x, never below 0, in the tile."""
    D = _product(Z, columns, tile)
    zero = D.dtype.type(0)
    for p in range(D.shape[0]):
        norm = np.dot(Z[p], Z[p])
        for b in range(D.shape[1]):
            distance = norms[b] + norm - (D[p, b] + D[p, b])
            D[p, b] = zero if distance < zero else distance  # a NaN stays
    return D


@compiled(fastmath=_FLAGS, forceinline=True)
def _distances_by_difference(Z, columns, tile):
    D = _view(tile, Z.shape[0], columns.shape[1])
    for p in range(D.shape[0]):
        D[p] = 0
        for k in range(columns.shape[0]):
            for b in range(D.shape[1]):
                D[p, b] += (columns[k, b] - Z[p, k]) ** 2
    return D


@compiled(fastmath=_FLAGS, forceinline=True)
def _sum_exp2(distance, weight, scale):
    total = distance.dtype.type(0)
    for b in range(len(distance)):
        total += weight[b] * _exp2(scale * distance[b])
    return total


@compiled(fastmath=_FLAGS)
def evaluate(X, W, amplitude, phase, decay, out, tile):
    """Set out[i] to decay * out[i] + sum_j amplitude[j] cos(2 pi (X[i] @ W[:, j] - phase[j])).

    X (n, d), W (d, m) in turns per unit, amplitude (m,), phase (m,) in turns, out (n,), tile from `scratch`.
    """
    _scale(out, decay)
    step = _columns_per_tile(W.shape[0])
    for left in range(0, W.shape[1], step):
        panel = np.ascontiguousarray(W[:, left : left + step])
        r, theta = amplitude[left : left + step], phase[left : left + step]
        for top in range(0, X.shape[0], TILE_ROWS):
            Z = _product(X[top : top + TILE_ROWS], panel, tile)
            add_cosines(Z, r, theta, out[top : top + TILE_ROWS])


@compiled(fastmath=_FLAGS)
def evaluate_with_squares(X, W, amplitude, phase, decay, out, squares, tile):
    """Do as `evaluate`, and set squares[i] to sum_j (amplitude[j] cos(...))^2; squares (n,)."""
    _scale(out, decay)
    squares[:] = 0
    step = _columns_per_tile(W.shape[0])
    for left in range(0, W.shape[1], step):
        panel = np.ascontiguousarray(W[:, left : left + step])
        r, theta = amplitude[left : left + step], phase[left : left + step]
        for top in range(0, X.shape[0], TILE_ROWS):
            Z = _product(X[top : top + TILE_ROWS], panel, tile)
            for i in range(len(Z)):
                total, square = _sum_cosines_and_squares(Z[i], r, theta)
                out[top + i] += total
                squares[top + i] += square


@compiled(fastmath=_FLAGS)
def accumulate(X, c, W, cosines, sines, tile):
    """Set cosines[j] to sum_b c[b] cos(2 pi X[b] @ W[:, j]), and sines[j] likewise with sin.

    X (B, d), c (B,), W (d, m) in turns per unit, cosines (m,), sines (m,), tile from `scratch`.
    """
    cosines[:] = 0
    sines[:] = 0
    step = _columns_per_tile(W.shape[0])
    for left in range(0, W.shape[1], step):
        panel = np.ascontiguousarray(W[:, left : left + step])
        for top in range(0, X.shape[0], TILE_ROWS):
            Z = _product(X[top : top + TILE_ROWS], panel, tile)
            for b in range(len(Z)):
                _add_waves(Z[b], c[top + b], cosines[left : left + step], sines[left : left + step])


@compiled(fastmath=_FLAGS)
def gaussian_sums(X, c, Z, sigma, decay, out, tile):
    """Set out[p] to decay * out[p] + sum_b c[b] exp(-sigma |X[b] - Z[p]|^2).

    X (B, d), c (B,), Z (P, d), sigma >= 0, out (P,), tile from `scratch`.
    """
    _scale(out, decay)
    d = X.shape[1]
    scale = sigma * c.dtype.type(-1.4426950408889634)  # exp(x) = 2^(x / log 2)
    step = _columns_per_tile(d)
    for left in range(0, X.shape[0], step):
        centre = _centre(X)
        columns = np.ascontiguousarray(_subtract(X[left : left + step], centre).T)
        norms = _squared_norms(columns)
        for top in range(0, Z.shape[0], TILE_ROWS):
            points = _subtract(Z[top : top + TILE_ROWS], centre)
            # In few dimensions points have near neighbours, and their distances would cancel.
            if d <= _DIRECT:
                D = _distances_by_difference(points, columns, tile)
            else:
                D = _distances_by_norms(points, columns, norms, tile)
            for p in range(len(points)):
                out[top + p] += _sum_exp2(D[p], c[left : left + step], scale)


@compiled(fastmath=_FLAGS, forceinline=True)
def _butterflies(a, b, c, d):
    for i in range(len(a)):
        s, t, u, v = a[i] + b[i], a[i] - b[i], c[i] + d[i], c[i] - d[i]
        a[i], b[i], c[i], d[i] = s + u, t + v, s - u, t - v


@compiled(fastmath=_FLAGS, forceinline=True)
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
    for left in range(0, X.shape[1], 16):  # a cache line of every point at a time
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
            _scale(tile[k], s[k])
        _walsh_hadamard(tile)


@compiled(fastmath=_FLAGS, forceinline=True)
def _add_waves_of_points(projections, lengths, amplitude, phase, out, squares):
    quarter = out.dtype.type(0.25)
    for j in range(len(lengths)):
        for i in range(len(out)):
            term = amplitude[j] * _cosine(projections[j, i] * lengths[j] - phase[j], quarter)
            out[i] += term
            squares[i] += term * term


@compiled(fastmath=_FLAGS, forceinline=True)
def _sum_waves_of_points(projections, lengths, c, cosines, sines):
    quarter = c.dtype.type(0.25)
    for j in range(len(lengths)):
        C = c.dtype.type(0)
        S = c.dtype.type(0)
        for i in range(len(c)):
            turns = projections[j, i] * lengths[j]
            x = turns - np.rint(turns)
            C += c[i] * _cosine(x, quarter)
            S += c[i] * _cosine(x - quarter, quarter)
        cosines[j] += C
        sines[j] += S


@compiled()
def evaluate_rotated(X, signs, lengths, amplitude, phase, decay, out, squares, tiles):
    """Do as `evaluate_with_squares`; frequency j is lengths[j] times row j % p of rotation j // p.

    X (n, d), signs (rotations, 3, p), p >= d a power of two, lengths (m,), tiles (2, p, ROTATED_ROWS).
    """
    _scale(out, decay)
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
    """Do as `accumulate`, with frequencies as in `evaluate_rotated`."""
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
