"""Conjugate gradients for logistic regressions that share their points: all but the products with the points."""

from dsgcore.kernels.loops import compiled


@compiled
def multiply_by_curvature(Z, chances, weighted, total):
    """Multiply values Z (k, m) by the second derivatives of the losses: logistic for k = 1, else multinomial.

    `chances` (k, m) are the probabilities, and `weighted` (k, m) these times the points' weights. `total` (m,) is scratch.
    """
    if Z.shape[0] == 1:
        one = chances.dtype.type(1)
        for i in range(Z.shape[1]):
            Z[0, i] *= weighted[0, i] * (one - chances[0, i])
        return
    for i in range(Z.shape[1]):
        total[i] = 0.0
    for k in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            Z[k, i] *= weighted[k, i]
            total[i] += Z[k, i]
    for k in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            Z[k, i] -= chances[k, i] * total[i]


@compiled
def move_and_turn(step, rest, direction, H, scale, ridges, size, enough):
    """Move each of G regressions' steps along its direction, and find its next direction. Return False if none needs it.

    `step`, `rest` (the residual), `direction` and `scale` (the preconditioner) are (k, G, q), `ridges` (q,). `H` is the
    losses' second derivative times the direction. `size` (G,) is the residual's squared norm, measured with `scale`. A
    regression whose `size` is at most `enough` waits for the others: more steps would only add rounding errors.
    """
    is_open, zero = False, size.dtype.type(0)
    for g in range(step.shape[1]):
        curvature = zero
        for k in range(step.shape[0]):
            for j in range(step.shape[2]):
                H[k, g, j] += ridges[j] * direction[k, g, j]
                curvature += direction[k, g, j] * H[k, g, j]
        if not (size[g] > enough[g] and curvature > zero):
            continue
        length, after = size[g] / curvature, zero
        for k in range(step.shape[0]):
            for j in range(step.shape[2]):
                step[k, g, j] += length * direction[k, g, j]
                rest[k, g, j] -= length * H[k, g, j]
                after += scale[k, g, j] * rest[k, g, j] * rest[k, g, j]
        turn = after / size[g]
        for k in range(step.shape[0]):
            for j in range(step.shape[2]):
                direction[k, g, j] = scale[k, g, j] * rest[k, g, j] + turn * direction[k, g, j]
        size[g] = after
        is_open = is_open or after > enough[g]
    return is_open
