"""The compiled loops: sums of cosine features and of Gaussian kernels, one thread each, and the dual of a hinge loss.

Every loop takes C-contiguous arrays and scalars of one dtype, float32 or float64, and writes into given arrays. It takes
points in tiles of TILE_ROWS: a matrix product of a tile, then one pass over it. So splitting points at multiples of
TILE_ROWS gives bit-for-bit identical results. Frequencies and phases are in turns (radians / 2 pi): the range reduction is
then one rounding.

All helpers are inlined by force. So only the loops themselves are kept on disk, and numba sees in this file alone whether
they have changed.
"""

import logging
import math
import pickle
from contextlib import suppress
from functools import wraps
from pathlib import Path

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic, overload

from dsgcore.core.files import cache_folder

TILE_ROWS = 96  # enough to keep packing cheap at large d, few enough that a tile fits in the second-level cache
_MAX_COLUMNS = 512
_DIRECT = 4  # the largest d for which products are computed in the loop, and distances are summed from differences
_MOST_UNPACKED = 1_000_000  # OpenBLAS may have a faster product without packing for at most this many multiply-adds
IS_COMPILED = not config.DISABLE_JIT
# reassoc lets sums vectorise. No flag may assume that NaN and inf do not occur.
_FLAGS = {"reassoc", "contract", "nsz"}
# The app's folder is in the package only if the package is installed from a wheel.
_IS_INSTALLED = Path(__file__).parents[1].joinpath("_app").is_dir()
# Exceptions from reading cached code if its file is cut off, damaged or another program's, or if the disk fails.
_UNREADABLE = (
    OSError,
    EOFError,
    pickle.UnpicklingError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ImportError,
)
_log = logging.getLogger(__name__)


def compiled(function):
    """Compile a loop without the interpreter's lock, and keep it on disk if possible.

    An installed package's loops are in the user's cache folder: beside the package they would outlive it. A cache that
    cannot be read or written never ends a run: the loop is then compiled for this process alone.
    """
    options, folder = {"nogil": True, "fastmath": _FLAGS}, config.CACHE_DIR
    if _IS_INSTALLED and not folder:
        config.CACHE_DIR = str(cache_folder() / "compiled")
    try:
        kept = njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written
        kept = None
    finally:
        config.CACHE_DIR = folder
    return njit(**options)(function) if kept is None or not IS_COMPILED else _forgiving(kept, njit(**options)(function))


def _forgiving(kept, anew):
    """Return a function that calls a loop that is kept on disk, and from its first failure on the other one."""
    current = kept

    @wraps(kept.py_func)
    def loop(*arguments):
        nonlocal current
        try:
            return current(*arguments)
        except _UNREADABLE as error:
            if current is anew:
                raise
            _log.warning("the loop %s is compiled for this process alone: %s", loop.__name__, error)
            for file in Path(kept.stats.cache_path).glob(f"*.{loop.__name__}-*"):
                with suppress(OSError):
                    file.unlink()
            current = anew
        return anew(*arguments)

    loop.kept = kept
    return loop


def is_kept(loop) -> bool:
    """Return True if a loop has been compiled on this machine and was kept on disk, or need not be compiled."""
    kept = getattr(loop, "kept", None)
    return kept is None or any(Path(kept.stats.cache_path).glob(f"*.{loop.__name__}-*.nbi"))


def inlined(function):
    """Compile a helper into the loops that call it."""
    return njit(nogil=True, fastmath=_FLAGS, forceinline=True)(function)


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


def _for_precision(single, double):
    """Return a function of a number, compiled or not: the constant for its precision."""

    def constant(x):
        return single if x.dtype == np.float32 else double

    overload(constant)(lambda x: (lambda x: single) if x == types.float32 else (lambda x: double))
    return constant


_sine_coefficients = _for_precision(tuple(np.float32(c) for c in _SINE_SINGLE), _SINE)
_exp2_coefficients = _for_precision(tuple(np.float32(c) for c in _EXP2_SINGLE), _EXP2)
_lowest_exponent = _for_precision(np.float32(-127), np.float64(-1023))


@intrinsic
def _float_of_bits(typing_context, bits, like):
    """Return the float of `like`'s type whose bits are the low bits of an integer."""

    def generate(context, builder, signature, arguments):
        bits = arguments[0] if like.bitwidth == 64 else builder.trunc(arguments[0], ir.IntType(like.bitwidth))
        return builder.bitcast(bits, context.get_value_type(like))

    return like(types.int64, like), generate


def _power_of_two(n):
    """Return 2^n for an integral n >= _lowest_exponent(n), where it is 0."""
    return n.dtype.type(2) ** n if n > _lowest_exponent(n) else n.dtype.type(0)


@overload(_power_of_two, jit_options={"fastmath": _FLAGS})
def _compiled_power_of_two(n):
    # The biased exponent is shifted into place, through int32, to which every vector unit can convert.
    shift = np.int64(23 if n == types.float32 else 52)
    return lambda n: _float_of_bits(np.int64(np.int32(n - _lowest_exponent(n))) << shift, n)


@inlined
def _polynomial(x, coefficients):
    total = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


@inlined
def _cosine(turns, quarter):
    """Return cos(2 pi turns) = sin(2 pi (1/4 - |turns|)) for |turns| <= 1/2, after removing whole turns."""
    x = quarter - abs(turns - np.rint(turns))
    return x * _polynomial(x * x, _sine_coefficients(x))


@inlined
def _exp2(x):
    """Return 2^x for x <= 0, and 0 below the normal range."""
    lowest = _lowest_exponent(x)
    x = lowest if x < lowest else x  # NaN stays NaN
    n = np.rint(x)
    return _polynomial(x - n, _exp2_coefficients(x)) * _power_of_two(n if n > lowest else lowest)  # NaN is replaced


def scratch(dtype):
    """Return the buffer that a loop needs as `tile`; one fixed size serves any d and m."""
    return np.empty(TILE_ROWS * _MAX_COLUMNS, dtype)


@inlined
def _columns(d):
    """Return the number of columns in a tile."""
    columns = _MOST_UNPACKED // (TILE_ROWS * d) // 32 * 32
    return min(columns, _MAX_COLUMNS) if columns >= 64 else _MAX_COLUMNS


@inlined
def _view(tile, rows, columns):
    return tile[: rows * columns].reshape(rows, columns)


@inlined
def _product(X, panel, tile):
    """Write X @ panel into the tile."""
    Z = _view(tile, X.shape[0], panel.shape[1])
    np.dot(X, panel, Z)
    return Z


@inlined
def _rescale(values, factor):
    for i in range(len(values)):
        values[i] *= factor


@inlined
def add_cosines(turns, amplitude, phase, out, squares):
    """Add sum_j amplitude[j] cos(2 pi (turns[i, j] - phase[j])) to out[i], and the terms' squares to squares[i] unless None."""
    quarter, zero = turns.dtype.type(0.25), turns.dtype.type(0)
    for i in range(turns.shape[0]):
        row, total, squared = turns[i], zero, zero
        for j in range(len(row)):
            term = amplitude[j] * _cosine(row[j] - phase[j], quarter)
            total += term
            if squares is not None:
                squared += term * term
        out[i] += total
        if squares is not None:
            squares[i] += squared


@inlined
def _add_cosines_of_few(X, W, amplitude, phase, out):
    """Do what `add_cosines` does for X @ W, for at most _DIRECT coordinates."""
    d, zero, quarter = X.shape[1], X.dtype.type(0), X.dtype.type(0.25)
    w = np.zeros((_DIRECT, W.shape[1]), X.dtype)
    for k in range(d):
        for j in range(W.shape[1]):
            w[k, j] = W[k, j]
    for i in range(X.shape[0]):
        x, y = X[i, 0], X[i, 1] if d > 1 else zero
        z, v = X[i, 2] if d > 2 else zero, X[i, 3] if d > 3 else zero
        total = zero
        for j in range(len(amplitude)):
            turns = x * w[0, j] + y * w[1, j] + z * w[2, j] + v * w[3, j]
            total += amplitude[j] * _cosine(turns - phase[j], quarter)
        out[i] += total


@compiled
def evaluate(X, W, amplitude, phase, decay, out, squares, tile):
    """Set out[i] to decay * out[i] + sum_j amplitude[j] cos(2 pi (X[i] @ W[:, j] - phase[j])).

    X (n, d), W (d, m) in turns per unit, amplitude (m,), phase (m,) in turns, out (n,), tile from `scratch`. Set `squares`
    (n,) to the sums of the terms' squares, unless it is None.
    """
    _rescale(out, decay)
    if squares is not None:
        squares[:] = 0
    d, m = W.shape
    step = _columns(d)
    for left in range(0, m, step):
        panel = np.ascontiguousarray(W[:, left : left + step])
        r, theta = amplitude[left : left + step], phase[left : left + step]
        if squares is None and d <= _DIRECT:
            _add_cosines_of_few(X, panel, r, theta, out)
            continue
        for top in range(0, X.shape[0], TILE_ROWS):
            rows = slice(top, top + TILE_ROWS)
            turns = _product(X[rows], panel, tile)
            add_cosines(turns, r, theta, out[rows], None if squares is None else squares[rows])


@inlined
def _add_waves(turns, weight, cosines, sines):
    quarter = turns.dtype.type(0.25)
    for j in range(len(turns)):
        x = turns[j] - np.rint(turns[j])
        cosines[j] += weight * _cosine(x, quarter)
        sines[j] += weight * _cosine(x - quarter, quarter)


@compiled
def accumulate(X, c, W, rows, sums, tile):
    """Set sums[i, 0, j] to sum_b c[b] cos(2 pi X[b] @ W[:, j]) over the i-th `rows` points, and sums[i, 1, j] likewise with sin.

    X (B, d), c (B,), W (d, m) in turns per unit, sums (at least B / rows, 2, m), tile from `scratch`.
    """
    sums[:] = 0
    d, m = W.shape
    step = _columns(d)
    for left in range(0, m, step):
        panel = np.ascontiguousarray(W[:, left : left + step])
        for i in range(len(sums)):
            end = min((i + 1) * rows, X.shape[0])
            for top in range(i * rows, end, TILE_ROWS):
                turns = _product(X[top : min(top + TILE_ROWS, end)], panel, tile)
                for b in range(len(turns)):
                    _add_waves(turns[b], c[top + b], sums[i, 0, left : left + step], sums[i, 1, left : left + step])


@compiled
def set_block(sums, scale, turn, block):
    """Set block[0, j] and block[1, j] to the length and the angle of scale * sum_i (sums[i, 0, j], sums[i, 1, j]).

    NumPy takes 34 microseconds for 256 features, a fifth of an iteration with few columns.
    """
    for j in range(block.shape[1]):
        C = S = sums.dtype.type(0)
        for i in range(len(sums)):
            C += sums[i, 0, j]
            S += sums[i, 1, j]
        C, S = C * scale, S * scale
        block[0, j] = math.hypot(C, S)
        block[1, j] = math.atan2(S, C) * turn


@inlined
def _less(X, centre):
    less = np.empty_like(X)
    for i in range(X.shape[0]):
        for k in range(X.shape[1]):
            less[i, k] = X[i, k] - centre[k]
    return less


@inlined
def _squared_norms(columns):
    norms = np.zeros(columns.shape[1], columns.dtype)
    for k in range(columns.shape[0]):
        for b in range(columns.shape[1]):
            norms[b] += columns[k, b] * columns[k, b]
    return norms


@inlined
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


@inlined
def _distances_by_difference(Z, columns, tile):
    D = _view(tile, Z.shape[0], columns.shape[1])
    for p in range(D.shape[0]):
        D[p] = 0
        for k in range(columns.shape[0]):
            for b in range(D.shape[1]):
                D[p, b] += (columns[k, b] - Z[p, k]) ** 2
    return D


@compiled
def gaussian_sums(X, c, Z, sigma, decay, out, tile):
    """Set out[p] to decay * out[p] + sum_b c[b] exp(-sigma |X[b] - Z[p]|^2).

    X (B, d), c (B,), Z (P, d), sigma >= 0, out (P,), tile from `scratch`.
    """
    _rescale(out, decay)
    scale = sigma * c.dtype.type(-1.4426950408889634)  # exp(x) = 2^(x / log 2)
    if not len(X):
        return
    # In few dimensions points have near neighbours, and differences of norms would cancel. Norms are about a point.
    is_direct, centre = X.shape[1] <= _DIRECT, X[0].copy()
    if is_direct:
        centre[:] = 0
    step = _columns(X.shape[1])
    for left in range(0, X.shape[0], step):
        columns = np.ascontiguousarray(_less(X[left : left + step], centre).T)
        norms, weights = _squared_norms(columns), c[left : left + step]
        for top in range(0, Z.shape[0], TILE_ROWS):
            points = _less(Z[top : top + TILE_ROWS], centre)
            D = (
                _distances_by_difference(points, columns, tile)
                if is_direct
                else _distances_by_norms(points, columns, norms, tile)
            )
            for p in range(len(points)):
                total = scale * 0
                for b in range(len(weights)):
                    total += weights[b] * _exp2(scale * D[p, b])
                out[top + p] += total


@compiled
def hinge_weights(K, y, cost, tolerance, most_steps):
    """Return the a (n,) with which f = K a minimises sum_i cost_i max(0, 1 - y_i f_i) + a'K a / 2, for signs y (n,).

    It maximises sum_i b_i - a'K a / 2 for a_i = y_i b_i and 0 <= b_i <= cost_i. Each step moves the b_i that gains the
    most. It ends when no b_i that may move has a margin y_i f_i farther than `tolerance` from 1, or after `most_steps`.
    """
    n = len(y)
    b, f, moves, gains, curvature = np.zeros(n), np.zeros(n), np.empty(n), np.empty(n), np.diag(K).copy()
    per_curvature = 1.0 / np.maximum(curvature, 1e-300)
    for _ in range(most_steps):
        best, farthest = 0.0, 0.0
        for i in range(n):
            slope = 1.0 - y[i] * f[i]
            moves[i] = min(max(b[i] + slope * per_curvature[i], 0.0), cost[i]) - b[i]
            gains[i] = moves[i] * (slope - 0.5 * moves[i] * curvature[i])
            best = max(best, gains[i])
            farthest = max(farthest, abs(slope) if moves[i] != 0.0 else 0.0)
        chosen = 0
        while chosen < n and gains[chosen] < best:
            chosen += 1
        if chosen == n or best <= 0.0 or farthest <= tolerance:
            break
        b[chosen] += moves[chosen]
        change = y[chosen] * moves[chosen]
        for i in range(n):
            f[i] += change * K[chosen, i]
    return y * b
