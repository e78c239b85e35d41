"""A support vector machine without an intercept, on a kernel matrix, by greedy coordinate ascent in its dual."""

import numpy as np

from dsgcore.kernels._compiling import compiled


@compiled()
def hinge_weights(K, y, cost, tolerance, most_steps):
    """Return the a (n,) with which f = K a minimises sum_i cost_i max(0, 1 - y_i f_i) + a'K a / 2, for signs y (n,).

    It maximises sum_i b_i - a'K a / 2 for a_i = y_i b_i and 0 <= b_i <= cost_i. Each step moves the b_i that gains the
    most. It ends when no b_i that may move has a margin y_i f_i farther than `tolerance` from 1, or after `most_steps`.
    """
    n = len(y)
    b, f = np.zeros(n), np.zeros(n)
    for _ in range(most_steps):
        chosen, best, move, farthest = -1, 0.0, 0.0, 0.0
        for i in range(n):
            slope, curvature = 1.0 - y[i] * f[i], max(K[i, i], 1e-300)
            step = min(max(b[i] + slope / curvature, 0.0), cost[i]) - b[i]
            gain = step * (slope - 0.5 * step * K[i, i])
            if step != 0.0:
                farthest = max(farthest, abs(slope))
            if gain > best:
                chosen, best, move = i, gain, step
        if chosen < 0 or farthest <= tolerance:
            break
        b[chosen] += move
        change = y[chosen] * move
        for i in range(n):
            f[i] += change * K[chosen, i]
    return y * b
