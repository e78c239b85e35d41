"""Coefficients of the support vector machine: the slopes of its losses at the values of a mini-batch of each source."""

from dsgcore.kernels._compiling import compiled

SYMMETRIC_HINGE, SQUARED_SYMMETRIC_HINGE, RAMP = range(3)


@compiled()
def set_slopes(values, shifted, loss, s, weights, c):
    """Set c (3 B,) to the weighted slopes at shifted values (3 B,) of positives, negatives and unlabeled points.

    The weights (3,) have the values' precision. Where a value is not finite, its coefficient is NaN.
    """
    size, zero, one = len(values) // 3, values.dtype.type(0), values.dtype.type(1)
    for i in range(size):
        c[i] = (-weights[0] if shifted[i] < one else zero) + zero * values[i]
    for i in range(size, 2 * size):
        c[i] = (weights[1] if shifted[i] > -one else zero) + zero * values[i]
    for i in range(2 * size, 3 * size):
        distance, slope = abs(shifted[i]), zero
        if distance < one and (loss != RAMP or distance > -s):
            slope = one - distance if loss == SQUARED_SYMMETRIC_HINGE else one
        slope = -slope if shifted[i] > zero else slope if shifted[i] < zero else zero
        c[i] = slope * weights[2] + zero * values[i]
