"""NumPy's Philox4x64-10 generator, its bounded integers and orders made of them, compiled for many iterations at once.

Sources: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011), for Philox; Lemire, Fast
Random Integer Generation in an Interval (2019), for the bound. The tests compare with NumPy's own.
"""

import numpy as np

from dsgcore.kernels._compiling import compiled

_LOW, _HALF, _ONE, _ZERO = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1), np.uint64(0)
_FIRST, _SECOND = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_STEP, _OTHER_STEP = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ROUNDS, _HALVES = 10, np.uint64(8)  # a block holds four words, and a word two draws


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


@compiled(forceinline=True)
def _below(n, words, at, t, seed, stream):
    """Return the next integer below `n` (uint64, at most 2**32) of the counter (0, t, 0, 0).

    `words` (4,) is the current block. `at` (2,) holds the next of its halves and the next block's number.
    """
    while True:
        if at[0] == _HALVES:
            _fill(words, at[1], t, seed, stream)
            at[0], at[1] = _ZERO, at[1] + _ONE
        word = words[at[0] >> _ONE]
        scaled = ((word >> _HALF) if at[0] & _ONE else (word & _LOW)) * n
        at[0] += _ONE
        low = scaled & _LOW
        if low >= n or low >= ((_LOW + _ONE) - n) % n:
            return scaled >> _HALF


@compiled()
def bounded(seed, stream, first, n, out):
    """Set out[i] to the integers below `n` that NumPy draws with the key (seed, stream) at the counter (0, first + i, 0, 0).

    `seed`, `stream`, `first` and `n` are uint64, and `n` is below 2**32. `out` (T, size) is int64.
    """
    words, at = np.empty(4, np.uint64), np.empty(2, np.uint64)
    for i in range(out.shape[0]):
        at[0], at[1] = _HALVES, _ONE
        for j in range(out.shape[1]):
            out[i, j] = np.int64(_below(n, words, at, first + np.uint64(i), seed, stream))


@compiled()
def in_passes(seed, stream, first, n, out):
    """Set out[i] to the numbers below `n` that iteration first + i visits: each pass visits every number once, in a new order.

    Iterations count from 1. The types are as in `bounded`, and the orders are those of `core.sampling.shuffled_rows`. An
    order is made as far as it is needed.
    """
    words, at, order = np.empty(4, np.uint64), np.empty(2, np.uint64), np.arange(np.int64(n))
    start = (first - _ONE) * np.uint64(out.shape[1])
    number, place, made = start // n, start % n, _ZERO
    at[0], at[1] = _HALVES, _ONE
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            if place == n:
                number, place, made = number + _ONE, _ZERO, _ZERO
                at[0], at[1] = _HALVES, _ONE
                for k in range(len(order)):
                    order[k] = k
            while made <= place:
                other = made
                if made + _ONE < n:  # NumPy draws nothing for the last one
                    other += _below(n - made, words, at, number, seed, stream)
                order[made], order[other] = order[other], order[made]
                made += _ONE
            out[i, j] = order[place]
            place += _ONE
