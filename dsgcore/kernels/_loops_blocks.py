"""Sums of cosine features for blocks of six points, whose products with two vectors of features stay in registers.

The twelve vectors of products leave four of 16 registers for the factors. OpenBLAS computes products in the same way, but
it copies both matrices first, and it writes the products to memory. A point's value does not depend on its block.
"""

import numpy as np

from dsgcore.kernels._compiling import compiled
from dsgcore.kernels._loops_nearest import kth_smallest, set_nearest_within
from dsgcore.kernels._loops_polynomials import FLAGS
from dsgcore.kernels._loops_vectors import (
    FLAGS_IN_ORDER,
    VECTOR_BYTES,
    cosines,
    everywhere,
    lanes_for,
    least_everywhere,
    lesser,
    load,
    not_negative,
    number_at,
    powers,
    store,
    sum_of,
    waves,
    with_number,
)

_POINTS = 6
# Points that share panels while these are in the second-level cache, of which the panels get so many bytes.
_TILE_POINTS, _CACHE_BYTES = 16 * _POINTS, 3 * 2**17
_MOST_COLUMNS = 512  # of the panels that are copied at once


@compiled(forceinline=True)
def _panels(W, left, right):
    """Return W[:, left:right] in panels of two vectors of columns, each contiguous; the last one is filled up with 0."""
    d, m, lanes = W.shape[0], right - left, lanes_for(W)
    columns, whole = 2 * lanes, m // (2 * lanes)
    panels = np.zeros((-(-m // columns), d * columns), W.dtype)
    for k in range(d):
        for p in range(whole):
            start = left + p * columns
            store(load(W[k], start), panels[p], k * columns)
            store(load(W[k], start + lanes), panels[p], k * columns + lanes)
        for j in range(whole * columns, m):
            panels[whole, k * columns + j - whole * columns] = W[k, left + j]
    return panels


@compiled(forceinline=True)
def _filled_up(values, left, right, columns, sign):
    """Return sign * values[left:right] in rows of so many columns; the last row is filled up with 0."""
    rows = np.zeros((-(-(right - left) // columns), columns), values.dtype)
    for j in range(right - left):
        rows[j // columns, j % columns] = sign * values[left + j]
    return rows


@compiled(forceinline=True)
def _last_six(X):
    """Return the points after the last whole block, filled up with points at 0."""
    n, d = X.shape
    points = np.zeros((_POINTS, d), X.dtype)
    whole = n // _POINTS * _POINTS
    for i in range(n - whole):
        for k in range(d):
            points[i, k] = X[whole + i, k]
    return points


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _products(X, panel, a, b):
    """Return a + X @ v and b + X @ w for points (6, d), six vectors each; v and w are the panel's columns."""
    a0 = a1 = a2 = a3 = a4 = a5 = a
    b0 = b1 = b2 = b3 = b4 = b5 = b
    lanes = lanes_for(panel)
    x0, x1, x2, x3, x4, x5 = X[0], X[1], X[2], X[3], X[4], X[5]
    for k in range(X.shape[1]):
        v, w = load(panel, 2 * k * lanes), load(panel, (2 * k + 1) * lanes)
        x = everywhere(x0[k])
        a0, b0 = a0 + x * v, b0 + x * w
        x = everywhere(x1[k])
        a1, b1 = a1 + x * v, b1 + x * w
        x = everywhere(x2[k])
        a2, b2 = a2 + x * v, b2 + x * w
        x = everywhere(x3[k])
        a3, b3 = a3 + x * v, b3 + x * w
        x = everywhere(x4[k])
        a4, b4 = a4 + x * v, b4 + x * w
        x = everywhere(x5[k])
        a5, b5 = a5 + x * v, b5 + x * w
    return (a0, a1, a2, a3, a4, a5), (b0, b1, b2, b3, b4, b5)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _plus(sums, size, terms):
    """Return the six sums with six terms, times `size`, added."""
    s0, s1, s2, s3, s4, s5 = sums
    t0, t1, t2, t3, t4, t5 = terms
    return s0 + size * t0, s1 + size * t1, s2 + size * t2, s3 + size * t3, s4 + size * t4, s5 + size * t5


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _cosines(turns, quarter):
    t0, t1, t2, t3, t4, t5 = turns
    c0, c1, c2 = cosines(t0, quarter), cosines(t1, quarter), cosines(t2, quarter)
    return c0, c1, c2, cosines(t3, quarter), cosines(t4, quarter), cosines(t5, quarter)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _squares(terms):
    t0, t1, t2, t3, t4, t5 = terms
    return t0 * t0, t1 * t1, t2 * t2, t3 * t3, t4 * t4, t5 * t5


@compiled(forceinline=True)
def _add_to(out, top, sums):
    """Add six vectors' sums to out[top : top + 6], without those of missing points."""
    s0, s1, s2, s3, s4, s5 = sums
    values = (sum_of(s0), sum_of(s1), sum_of(s2), sum_of(s3), sum_of(s4), sum_of(s5))
    for i in range(min(_POINTS, len(out) - top)):
        out[top + i] += values[i]


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _cosine_sums(X, panels, starts, sizes, quarter, squares):
    """Return the sums of features at points (6, d), and of their squares unless `squares` is None: six vectors each."""
    lanes, zero = lanes_for(X), everywhere(X.dtype.type(0))
    sums = squared = (zero, zero, zero, zero, zero, zero)
    for p in range(len(panels)):
        a, b = _products(X, panels[p], load(starts[p], 0), load(starts[p], lanes))
        r, s = load(sizes[p], 0), load(sizes[p], lanes)
        a = _cosines(a, quarter)
        sums = _plus(sums, r, a)
        b = _cosines(b, quarter)
        sums = _plus(sums, s, b)
        if squares is not None:
            squared = _plus(_plus(squared, r * r, _squares(a)), s * s, _squares(b))
    return sums, squared


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def add_cosines_of_blocks(X, W, amplitude, phase, out, squares):
    """Add sum_j amplitude[j] cos(2 pi (X[i] @ W[:, j] - phase[j])) to out[i], and the terms' squares to squares[i] unless None."""
    n, d, m, one = X.shape[0], X.shape[1], len(amplitude), X.dtype.type(1)
    columns, at_once = 2 * lanes_for(X), max(_CACHE_BYTES // (2 * VECTOR_BYTES * d), 1)
    last_points, quarter = _last_six(X), everywhere(X.dtype.type(0.25))
    for left in range(0, m, _MOST_COLUMNS):
        right = min(left + _MOST_COLUMNS, m)
        panels = _panels(W, left, right)
        sizes = _filled_up(amplitude, left, right, columns, one)
        starts = _filled_up(phase, left, right, columns, -one)
        for tile in range(0, n, _TILE_POINTS):
            for first in range(0, len(panels), at_once):
                some = slice(first, first + at_once)
                for top in range(tile, min(tile + _TILE_POINTS, n), _POINTS):
                    points = X[top : top + _POINTS] if top + _POINTS <= n else last_points
                    sums, squared = _cosine_sums(points, panels[some], starts[some], sizes[some], quarter, squares)
                    _add_to(out, top, sums)
                    if squares is not None:
                        _add_to(squares, top, squared)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _plus_wave(cosines, sines, turns, weight, quarter):
    """Return the vectors of cosines and sines with a wave of this weight added."""
    c, s = waves(turns, quarter)
    return cosines + everywhere(weight) * c, sines + everywhere(weight) * s


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _plus_six_waves(cosines, sines, turns, weights, quarter):
    """Return the vectors of cosines and of sines with the waves of six points added, which have these weights (6,)."""
    t0, t1, t2, t3, t4, t5 = turns
    cosines, sines = _plus_wave(cosines, sines, t0, weights[0], quarter)
    cosines, sines = _plus_wave(cosines, sines, t1, weights[1], quarter)
    cosines, sines = _plus_wave(cosines, sines, t2, weights[2], quarter)
    cosines, sines = _plus_wave(cosines, sines, t3, weights[3], quarter)
    cosines, sines = _plus_wave(cosines, sines, t4, weights[4], quarter)
    return _plus_wave(cosines, sines, t5, weights[5], quarter)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _add_waves(X, last_points, weights, panel, cosines, sines, quarter):
    """Add the waves of points (n, d) with these weights (n or more,) at a panel's columns to cosines and sines (columns,)."""
    lanes, zero = lanes_for(X), everywhere(X.dtype.type(0))
    ca, cb, sa, sb = load(cosines, 0), load(cosines, lanes), load(sines, 0), load(sines, lanes)
    for top in range(0, len(X), _POINTS):
        points = X[top : top + _POINTS] if top + _POINTS <= len(X) else last_points
        a, b = _products(points, panel, zero, zero)
        ca, sa = _plus_six_waves(ca, sa, a, weights[top:], quarter)
        cb, sb = _plus_six_waves(cb, sb, b, weights[top:], quarter)
    store(ca, cosines, 0)
    store(cb, cosines, lanes)
    store(sa, sines, 0)
    store(sb, sines, lanes)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def sum_waves_of_blocks(X, c, W, cosines, sines):
    """Set cosines[j] to sum_b c[b] cos(2 pi X[b] @ W[:, j]), and sines[j] likewise with sin."""
    n, m, columns = len(X), len(cosines), 2 * lanes_for(X)
    last_points, quarter = _last_six(X), everywhere(X.dtype.type(0.25))
    weights = np.zeros(n + _POINTS, X.dtype)  # missing points have none
    for b in range(n):  # a slice assignment would take seconds to compile
        weights[b] = c[b]
    for left in range(0, m, _MOST_COLUMNS):
        right = min(left + _MOST_COLUMNS, m)
        panels = _panels(W, left, right)
        sums = np.zeros((2, len(panels) * columns), X.dtype)
        for tile in range(0, n, _TILE_POINTS):
            points, own = X[tile : tile + _TILE_POINTS], weights[tile:]
            for p in range(len(panels)):
                there = slice(p * columns, (p + 1) * columns)
                _add_waves(points, last_points, own, panels[p], sums[0, there], sums[1, there], quarter)
        for j in range(left, right):
            cosines[j], sines[j] = sums[0, j - left], sums[1, j - left]


@compiled(fastmath=FLAGS, forceinline=True)
def _centre_six(Z, top, centre, points, norms):
    """Set points (6, d) to Z[top : top + 6] less the centre, and norms (6,) to their squared norms; missing points are 0."""
    for i in range(_POINTS):
        point, norm = points[i], centre.dtype.type(0)
        if top + i < len(Z):
            for k in range(len(centre)):
                point[k] = Z[top + i, k] - centre[k]
                norm += point[k] * point[k]
        else:
            point[:] = 0
        norms[i] = norm


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _distances(products, norms, others):
    """Return the squared distances of six points from a vector's, from all their products and norms; never below 0."""
    p0, p1, p2, p3, p4, p5 = products
    d0, d1 = others + everywhere(norms[0]) - (p0 + p0), others + everywhere(norms[1]) - (p1 + p1)
    d2, d3 = others + everywhere(norms[2]) - (p2 + p2), others + everywhere(norms[3]) - (p3 + p3)
    d4, d5 = others + everywhere(norms[4]) - (p4 + p4), others + everywhere(norms[5]) - (p5 + p5)
    return not_negative(d0), not_negative(d1), not_negative(d2), not_negative(d3), not_negative(d4), not_negative(d5)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _differences(X, panel, start):
    """Return the squared distances of six points (6, d) from a panel's vector of columns, summed from differences."""
    lanes = lanes_for(panel)
    d0 = d1 = d2 = d3 = d4 = d5 = everywhere(panel.dtype.type(0))
    for k in range(X.shape[1]):
        v = load(panel, 2 * k * lanes + start)
        x0, x1, x2 = everywhere(X[0, k]) - v, everywhere(X[1, k]) - v, everywhere(X[2, k]) - v
        x3, x4, x5 = everywhere(X[3, k]) - v, everywhere(X[4, k]) - v, everywhere(X[5, k]) - v
        d0, d1, d2 = d0 + x0 * x0, d1 + x1 * x1, d2 + x2 * x2
        d3, d4, d5 = d3 + x3 * x3, d4 + x4 * x4, d5 + x5 * x5
    return d0, d1, d2, d3, d4, d5


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _powers(distances, scale):
    d0, d1, d2, d3, d4, d5 = distances
    p0, p1, p2 = powers(scale * d0), powers(scale * d1), powers(scale * d2)
    return p0, p1, p2, powers(scale * d3), powers(scale * d4), powers(scale * d5)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def add_powers_of_blocks(X, c, Z, centre, is_direct, scale, out):
    """Add sum_b c[b] 2^(scale |X[b] - Z[p]|^2) to out[p]; `is_direct` sums distances from differences, not from products."""
    d, m, one = X.shape[1], len(c), X.dtype.type(1)
    lanes = lanes_for(X)
    columns = 2 * lanes
    points, norms = np.empty((_POINTS, d), X.dtype), np.empty(_POINTS, X.dtype)
    factor, zero = everywhere(scale), everywhere(X.dtype.type(0))
    for left in range(0, m, _MOST_COLUMNS):
        right = min(left + _MOST_COLUMNS, m)
        others, squared = np.empty((d, right - left), X.dtype), np.zeros(right - left, X.dtype)
        for k in range(d):
            for b in range(right - left):
                others[k, b] = X[left + b, k] - centre[k]
                squared[b] += others[k, b] * others[k, b]
        panels = _panels(others, 0, right - left)
        sizes = _filled_up(c, left, right, columns, one)
        squares = _filled_up(squared, 0, right - left, columns, one)
        for top in range(0, len(Z), _POINTS):
            _centre_six(Z, top, centre, points, norms)
            sums = (zero, zero, zero, zero, zero, zero)
            for p in range(len(panels)):
                if is_direct:
                    a, b = _differences(points, panels[p], 0), _differences(points, panels[p], lanes)
                else:
                    a, b = _products(points, panels[p], zero, zero)
                    a, b = _distances(a, norms, load(squares[p], 0)), _distances(b, norms, load(squares[p], lanes))
                sums = _plus(sums, load(sizes[p], 0), _powers(a, factor))
                sums = _plus(sums, load(sizes[p], lanes), _powers(b, factor))
            _add_to(out, top, sums)


@compiled(forceinline=True)
def _keep_group(a, b, row, minima, group, ascending):
    """Write a group of values, in two vectors, to a row, and its smallest one to minima; return the ascending ones with it."""
    lanes = lanes_for(row)
    store(a, row, 2 * group * lanes)
    store(b, row, (2 * group + 1) * lanes)
    least = least_everywhere(lesser(a, b))
    minima[group] = number_at(least, 0)
    return with_number(ascending, least)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def _set_products(X, panels, starts, rows, minima):
    """Set rows (6, m) to starts + X @ the panels' columns for points (6, d), and minima (6, panels) to each panel's smallest.

    Return the smallest minima of each point in six vectors, ascending.
    """
    lanes = lanes_for(X)
    s0 = s1 = s2 = s3 = s4 = s5 = everywhere(X.dtype.type(np.inf))
    for p in range(len(panels)):
        a, b = _products(X, panels[p], load(starts[p], 0), load(starts[p], lanes))
        s0 = _keep_group(a[0], b[0], rows[0], minima[0], p, s0)
        s1 = _keep_group(a[1], b[1], rows[1], minima[1], p, s1)
        s2 = _keep_group(a[2], b[2], rows[2], minima[2], p, s2)
        s3 = _keep_group(a[3], b[3], rows[3], minima[3], p, s3)
        s4 = _keep_group(a[4], b[4], rows[4], minima[4], p, s4)
        s5 = _keep_group(a[5], b[5], rows[5], minima[5], p, s5)
    return s0, s1, s2, s3, s4, s5


@compiled(forceinline=True)
def _set_numbers_at(place, vectors, out):
    """Set out (6,) to the six vectors' numbers at a place."""
    v0, v1, v2, v3, v4, v5 = vectors
    out[0], out[1], out[2] = number_at(v0, place), number_at(v1, place), number_at(v2, place)
    out[3], out[4], out[5] = number_at(v3, place), number_at(v4, place), number_at(v5, place)


@compiled()
def set_nearest_of_blocks(points, columns, errors, X, Z, squares, numbers):
    """Set squares and numbers as `_loops_nearest.set_nearest` does, from halves (points[i], 1) @ columns of six points at a time.

    `points` (n, d) and `columns` (d + 1, m) are in single precision, X (m, d) and Z (n, d) in that of the distances.
    """
    n, d, m, k = len(points), points.shape[1], len(X), numbers.shape[1]
    lanes, last_points = lanes_for(points), _last_six(points)
    panels, starts = _panels(columns[:d], 0, m), _filled_up(columns[d], 0, m, 2 * lanes, points.dtype.type(1))
    for j in range(m - starts.size, 0):
        starts[-1, j] = np.inf
    halves, minima = np.empty((_POINTS, starts.size), points.dtype), np.empty((_POINTS, len(panels)), points.dtype)
    bounds, scratch = np.empty(_POINTS, points.dtype), np.empty(k, points.dtype)
    for top in range(0, n, _POINTS):
        six, end = points[top : top + _POINTS] if top + _POINTS <= n else last_points, min(top + _POINTS, n)
        least = _set_products(six, panels, starts, halves, minima)
        if k <= lanes:
            _set_numbers_at(k - 1, least, bounds)
        for i in range(end - top):
            at = top + i
            kth = bounds[i] if k <= lanes else kth_smallest(minima[i], scratch, numbers[at])
            set_nearest_within(kth + 2.0 * errors[at], halves[i], minima[i], X, Z[at], squares[at], numbers[at])
