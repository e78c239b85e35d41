"""Chebyshev's iteration for masses on a graph: sixteen columns in single precision at a time, in two vectors."""

import numpy as np

from dsgcore.kernels._compiling import compiled
from dsgcore.kernels._loops_vectors import FLAGS_IN_ORDER, VECTOR_BYTES, everywhere, lanes_for, load, store

COLUMNS_OF_BLOCK = 2 * VECTOR_BYTES // 4


@compiled(fastmath=FLAGS_IN_ORDER)
def spread_blocks(starts, columns, shares, marks, weights):
    """Return the masses of the marks after len(weights) steps, for blocks of columns that fill two vectors.

    A step is masses <- before + weight (S masses + marks - before), with the masses one step before. S (m, m) is sparse:
    `starts` (m + 1,), `columns` and `shares` are its rows as in SciPy's `csr_array`. `marks` and the result are
    (blocks, m * columns of a block), row after row.
    """
    lanes, one = lanes_for(marks), marks.dtype.type(1)
    masses, before = marks.copy(), np.zeros_like(marks)
    for block in range(len(marks)):
        mark, now, last = marks[block], masses[block], before[block]
        for step in range(len(weights)):
            weight, rest = everywhere(weights[step]), everywhere(one - weights[step])
            for i in range(len(starts) - 1):
                at = i * 2 * lanes
                a, b = load(mark, at), load(mark, at + lanes)
                for e in range(starts[i], starts[i + 1]):
                    share, start = everywhere(shares[e]), columns[e] * 2 * lanes
                    a = a + share * load(now, start)
                    b = b + share * load(now, start + lanes)
                store(weight * a + rest * load(last, at), last, at)
                store(weight * b + rest * load(last, at + lanes), last, at + lanes)
            now, last = last, now
        for j in range(len(now)):  # an odd number of steps ends in the other array
            masses[block, j] = now[j]
    return masses
