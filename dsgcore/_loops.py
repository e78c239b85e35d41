"""All compiled loops: cosine features and Gaussian sums, one thread, written for the vectoriser."""

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload

TILE_ROWS = 64
_CHUNK = 512  # features (or batch points) at a time, so that a tile and its panel stay in L2
_FLAGS = {"reassoc", "contract", "nsz"}

# sin(2 pi x) on |x| <= 1/4 as an odd polynomial, highest power first (Remez; largest error 5.9e-7 and 9.0e-17).
_SINE32 = tuple(
    np.float32(c) for c in (-70.993433272077121, 81.3407688876642748, -41.3371423711001088, 6.2831640443024714)
)
_SINE64 = (
    -0.690935882397582736,
    3.81699742832540929,
    -15.0944716166320077,
    42.0586883053899496,
    -76.7058596474695299,
    81.60524927502629,
    -41.3417022403950826,
    6.28318530717958039,
)


def scratch(m, dtype):
    """Return the buffer that every kernel wants as `tile`; one size serves any m."""
    return np.empty(TILE_ROWS * _CHUNK, dtype)


def _sine_coefficients(x):
    return _SINE32 if x.dtype == np.float32 else _SINE64


@overload(_sine_coefficients)
def _sine_coefficients_compiled(x):
    if x == types.float32:
        return lambda x: _SINE32
    return lambda x: _SINE64


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _polynomial(x, coefficients):
    total = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _sine(x):
    """sin(2 pi x) for |x| <= 1/4."""
    return x * _polynomial(x * x, _sine_coefficients(x))


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _cosine(turns, quarter):
    """cos(2 pi turns)."""
    return _sine(quarter - abs(turns - np.rint(turns)))


@njit(cache=True, nogil=True)
def _products(X, W, first, n_columns, tile):
    """Return X @ W[:, first:first + n_columns] in the tile."""
    n, d = X.shape
    panel = np.ascontiguousarray(W[:, first : first + n_columns])
    Z = tile[: n * n_columns].reshape(n, n_columns)
    np.dot(X, panel, Z)
    return Z


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def evaluate(X, W, amplitude, phase, decay, out, tile):
    """out[i] = decay * out[i] + sum_j amplitude[j] cos(2 pi (X[i] @ W[:, j] - phase[j])).

    X (n, d), W (d, m) in turns per unit, amplitude and phase (m,) in turns, out (n,), tile from `scratch(m, dtype)`.
    """
    quarter = amplitude.dtype.type(0.25)
    for i in range(len(out)):
        out[i] *= decay
    for first in range(0, W.shape[1], _CHUNK):
        last = min(first + _CHUNK, W.shape[1])
        for top in range(0, X.shape[0], TILE_ROWS):
            Z = _products(X[top : top + TILE_ROWS], W, first, last - first, tile)
            for i in range(Z.shape[0]):
                total = amplitude.dtype.type(0)
                for j in range(Z.shape[1]):
                    total += amplitude[first + j] * _cosine(Z[i, j] - phase[first + j], quarter)
                out[top + i] += total


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def evaluate_with_squares(X, W, amplitude, phase, decay, out, squares, tile):
    """As evaluate, and squares[i] = sum_j (amplitude[j] cos(...))^2; squares (n,) is written over."""
    quarter = amplitude.dtype.type(0.25)
    for i in range(len(out)):
        out[i] *= decay
        squares[i] = 0
    for first in range(0, W.shape[1], _CHUNK):
        last = min(first + _CHUNK, W.shape[1])
        for top in range(0, X.shape[0], TILE_ROWS):
            Z = _products(X[top : top + TILE_ROWS], W, first, last - first, tile)
            for i in range(Z.shape[0]):
                total = amplitude.dtype.type(0)
                square = amplitude.dtype.type(0)
                for j in range(Z.shape[1]):
                    term = amplitude[first + j] * _cosine(Z[i, j] - phase[first + j], quarter)
                    total += term
                    square += term * term
                out[top + i] += total
                squares[top + i] += square


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def accumulate(X, c, W, cosines, sines, tile):
    """cosines[j] = sum_b c[b] cos(2 pi X[b] @ W[:, j]), and sines[j] likewise with sin; both written over.

    X (B, d), c (B,), W (d, m) in turns per unit, cosines and sines (m,), tile from `scratch(m, dtype)`.
    """
    quarter = c.dtype.type(0.25)
    cosines[:] = 0
    sines[:] = 0
    for first in range(0, W.shape[1], _CHUNK):
        last = min(first + _CHUNK, W.shape[1])
        for top in range(0, X.shape[0], TILE_ROWS):
            Z = _products(X[top : top + TILE_ROWS], W, first, last - first, tile)
            for b in range(Z.shape[0]):
                for j in range(Z.shape[1]):
                    turns = Z[b, j] - np.rint(Z[b, j])
                    cosines[first + j] += c[top + b] * _cosine(turns, quarter)
                    sines[first + j] += c[top + b] * _cosine(turns - quarter, quarter)


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def gaussian_sums(X, c, Z, sigma, decay, out, tile):
    """out[p] = decay * out[p] + sum_b c[b] exp(-sigma |X[b] - Z[p]|^2).

    X (B, d), c (B,), Z (P, d), out (P,), sigma >= 0, tile from `scratch(m, dtype)`.
    """
    for p in range(Z.shape[0]):
        total = c.dtype.type(0)
        for b in range(X.shape[0]):
            distance = c.dtype.type(0)
            for k in range(X.shape[1]):
                distance += (X[b, k] - Z[p, k]) ** 2
            total += c[b] * np.exp(-sigma * distance)
        out[p] = decay * out[p] + total
