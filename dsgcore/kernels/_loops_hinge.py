"""A support vector machine without an intercept, on a kernel matrix, by greedy coordinate ascent in its dual."""

import numpy as np

from dsgcore.kernels.loops import compiled


# The search for the largest gain vectorises only with the flag that there is no NaN.
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
