"""The nearest of some points to others: products in single precision choose a few, whose distances are exact."""

import numpy as np

from dsgcore.kernels._compiling import compiled
from dsgcore.kernels._loops_polynomials import FLAGS

# Values in a group, as many as in two vectors in single precision. Most groups have no small value, and are skipped.
GROUP = 16


@compiled(forceinline=True)
def _keep(value, number, n, values, numbers):
    """Insert a value into n sorted ones, after equal ones, and return their new number; if there is no room, the largest goes."""
    last = n
    if n == len(values):
        if value >= values[n - 1]:
            return n
        last -= 1
    while last > 0 and values[last - 1] > value:
        values[last], numbers[last] = values[last - 1], numbers[last - 1]
        last -= 1
    values[last], numbers[last] = value, number
    return min(n + 1, len(values))


# Minima vectorise only with the flag that there is no NaN.
@compiled(fastmath={"nnan", "nsz"}, forceinline=True)
def _set_minima(row, minima):
    for group in range(len(minima)):
        start = group * GROUP
        least = row[start]
        for j in range(start + 1, start + GROUP):
            least = min(least, row[j])
        minima[group] = least


@compiled(fastmath=FLAGS, forceinline=True)
def _squared_distance(x, z):
    total = 0.0
    for j in range(len(x)):
        total += (x[j] - z[j]) ** 2
    return total


@compiled(forceinline=True)
def kth_smallest(values, least, numbers):
    """Return the k-th smallest of some values, infinity if there are fewer; `least` (k,) and `numbers` (k,) are scratch."""
    n = 0
    for i in range(len(values)):
        n = _keep(values[i], i, n, least, numbers)
    return least[n - 1] if n == len(least) else values.dtype.type(np.inf)


@compiled(forceinline=True)
def set_nearest_within(bound, row, minima, X, z, squares, numbers):
    """Set squares and numbers (k,) to those of the k nearest of X to z, of which row (m,) has values of at most `bound`.

    `minima` are those of groups of values; others follow after the groups.
    """
    n, m = 0, len(X)
    for group in range(len(minima)):
        if minima[group] <= bound:
            for j in range(group * GROUP, min((group + 1) * GROUP, m)):
                if row[j] <= bound:
                    n = _keep(_squared_distance(X[j], z), j, n, squares, numbers)
    for j in range(len(minima) * GROUP, m):
        if row[j] <= bound:
            n = _keep(_squared_distance(X[j], z), j, n, squares, numbers)


@compiled()
def set_nearest(halves, errors, X, Z, squares, numbers):
    """Set squares[i] and numbers[i] (k,) to the squared distances from Z[i] to the nearest of X (m, d), k <= m, and their rows.

    halves[i] (m,) are half the squared distances less a constant, with errors up to errors[i]. The minima of groups bound
    the k-th smallest of them from above: it is at most the k-th smallest minimum. Points whose values are above this
    bound by more than two errors are not among the k nearest. Of points at the same distance the first come first.
    """
    k, m = numbers.shape[1], len(X)
    minima, least, scratch = np.empty(m // GROUP, halves.dtype), np.empty(k, halves.dtype), np.empty(k, np.intp)
    for i in range(len(Z)):
        _set_minima(halves[i], minima)
        bound = kth_smallest(minima, least, scratch) + 2.0 * errors[i]
        set_nearest_within(bound, halves[i], minima, X, Z[i], squares[i], numbers[i])
