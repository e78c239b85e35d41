"""Coefficients of the ranking problems: the derivative of a weighted sum of squared pair losses by each value."""

import numpy as np

from dsgcore.kernels._compiling import compiled


@compiled()
def pair_coefficients(values, sizes, W, own, is_paired, c):
    """Set c (n,) to the derivatives by values (n,) of S sources, one after the other, in double precision.

    `W` (S, S) are the weights of the pairs' mean losses, and `own` (S,) those of the sources' unbiased variances. With
    `is_paired` all sources have the same size.
    """
    means, start = np.empty(len(sizes)), 0
    for s in range(len(sizes)):
        means[s] = _mean(values, start, sizes[s])
        start += sizes[s]
    start = 0
    for s in range(len(sizes)):
        size = sizes[s]
        more = own[s] * size / max(size - 1, 1)
        degree, offset = more, -more * means[s]
        for t in range(len(sizes)):
            degree += W[s, t] + W[t, s]
            offset += W[t, s] - W[s, t]
            if not is_paired:
                offset -= (W[s, t] + W[t, s]) * means[t]
        for i in range(size):
            apart = degree * values[start + i] + offset
            if is_paired:
                for t in range(len(sizes)):
                    apart -= (W[s, t] + W[t, s]) * values[t * size + i]
            c[start + i] = 2.0 / size * apart
        start += size


@compiled(fastmath={"reassoc"}, forceinline=True)
def _mean(values, start, size):
    total = 0.0
    for i in range(start, start + size):
        total += values[i]
    return total / size
