"""NumPy's Philox4x64-10 generator and its bounded integers, compiled for many iterations at once.

Sources: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011), for Philox; Lemire, Fast
Random Integer Generation in an Interval (2019), for the bound. The tests compare with NumPy's own.
"""

import numpy as np

from dsgcore.kernels._compiling import compiled

_LOW, _HALF, _ONE = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1)
_FIRST, _SECOND = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_STEP, _OTHER_STEP = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ROUNDS, _HALVES = 10, 8  # a block holds four words, and a word two draws


@compiled(forceinline=True)
def _upper(x, factor):
    """Return the upper word of the 128-bit product."""
    first, second = (x & _LOW) * (factor >> _HALF), (x >> _HALF) * (factor & _LOW)
    middle = (((x & _LOW) * (factor & _LOW)) >> _HALF) + (first & _LOW) + (second & _LOW)
    return (x >> _HALF) * (factor >> _HALF) + (first >> _HALF) + (second >> _HALF) + (middle >> _HALF)


@compiled(forceinline=True)
def _fill(words, number, t, key, other):
    """Set `words` (4,) to the block of the counter (number, t, 0, 0)."""
    zero = number & np.uint64(0)
    a, b, c, d = number, t, zero, zero
    for _ in range(_ROUNDS):
        upper, lower = _upper(a, _FIRST), a * _FIRST
        a, b, c, d = _upper(c, _SECOND) ^ b ^ key, c * _SECOND, upper ^ d ^ other, lower
        key += _STEP
        other += _OTHER_STEP
    words[0], words[1], words[2], words[3] = a, b, c, d


@compiled()
def bounded(seed, stream, first, n, out):
    """Set out[i] to the integers below `n` that NumPy draws with the key (seed, stream) at the counter (0, first + i, 0, 0).

    `seed`, `stream`, `first` and `n` are uint64, and `n` is below 2**32. `out` (T, size) is int64.
    """
    words, rejected = np.empty(4, np.uint64), ((_LOW + _ONE) - n) % n
    for i in range(out.shape[0]):
        half, number = _HALVES, _ONE
        for j in range(out.shape[1]):
            while True:
                if half == _HALVES:
                    _fill(words, number, first + np.uint64(i), seed, stream)
                    half, number = 0, number + _ONE
                word = words[half >> 1]
                scaled = ((word >> _HALF) if half & 1 else (word & _LOW)) * n
                half += 1
                if (scaled & _LOW) >= rejected:
                    break
            out[i, j] = np.int64(scaled >> _HALF)
