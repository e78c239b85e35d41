"""The compiled kernels against NumPy in float64."""

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numba
import numpy as np
import pytest
from cases import each

from dsgcore.kernels import _compiling, _loops
from dsgcore.kernels._compiling import compiled

COMPILED = not numba.config.DISABLE_JIT
DTYPES = (np.float32, np.float64)
# (n, d, m): no point, one of everything, a short last tile, many columns, several panels of features.
SHAPES = ((0, 3, 5), (1, 1, 1), (200, 1, 30), (97, 784, 3), (100, 100, 110))
GAUSSIAN_SHAPES = ((0, 2, 3), (3, 2, 0), (1, 1, 1), (70, 2, 100), (70, 5, 100), (110, 100, 20), (9, 784, 3))
LARGE_SHAPES = ((300, 22, 1000), (150, 300, 600)) if COMPILED else ()


def draw(dtype, *shape, scale=1.0, seed=0):
    return (scale * np.random.default_rng((seed, *shape)).standard_normal(shape)).astype(dtype)


def case(dtype, n, d, m):
    """Return X, W, amplitude and phase with products of about one turn."""
    return draw(dtype, n, d), draw(dtype, d, m, scale=d**-0.5), draw(dtype, m, seed=1), draw(dtype, m, seed=2)


def wide(*arrays):
    return [a.astype(np.float64) for a in arrays]


def naive_waves(X, W, amplitude, phase):
    X, W, amplitude, phase = wide(X, W, amplitude, phase)
    return amplitude * np.cos(2 * np.pi * (X @ W - phase))


def tolerance(X, W, weights, phase=0.0):
    """Bound the error of a weighted sum of waves.

    A cosine is off by its polynomial and by the rounding of its argument, eps times the terms summed in it. The
    rounding of the outer sum is covered by the same terms.
    """
    eps = np.finfo(X.dtype).eps
    largest = np.max(np.abs(X) @ np.abs(W), initial=0) + np.max(np.abs(phase))
    polynomial = 1e-6 if X.dtype == np.float32 else 1e-15
    return np.sum(np.abs(weights), dtype=np.float64) * (polynomial + 2 * eps * 2 * np.pi * largest)


def assert_close(actual, expected, atol):
    """Also require in float64 an error below 1e-10 of the largest value: sums of waves may be near 0."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)
    if actual.dtype == np.float64:
        assert np.max(np.abs(actual - expected), initial=0) <= 1e-10 * np.max(np.abs(expected), initial=0)


@each("dtype", DTYPES)
@each("shape", SHAPES + LARGE_SHAPES)
def test_evaluate_equals_numpy(dtype, shape):
    X, W, amplitude, phase = case(dtype, *shape)
    waves = naive_waves(X, W, amplitude, phase)
    before = draw(dtype, len(X), seed=3)
    expected = 0.5 * before.astype(np.float64) + waves.sum(1)
    atol = tolerance(X, W, amplitude, phase)
    tile = _loops.scratch(dtype)

    out = before.copy()
    _loops.evaluate(X, W, amplitude, phase, dtype(0.5), out, tile)
    assert_close(out, expected, atol)

    out, squares = before.copy(), np.full_like(before, np.nan)
    _loops.evaluate_with_squares(X, W, amplitude, phase, dtype(0.5), out, squares, tile)
    assert_close(out, expected, atol)
    assert_close(squares, (waves**2).sum(1), 2 * np.max(np.abs(amplitude)) * atol)


@each("dtype", DTYPES)
@each("shape", SHAPES + LARGE_SHAPES)
def test_accumulate_equals_numpy(dtype, shape):
    X, W, _, _ = case(dtype, *shape)
    c = draw(dtype, len(X), seed=3)
    X64, W64, c64 = wide(X, W, c)
    turns = 2 * np.pi * (X64 @ W64)
    for rows in (max(1, len(X)), len(X) // 3 + 1):
        parts = [slice(start, start + rows) for start in range(0, len(X), rows)]
        sums = np.full((len(parts), 2, shape[2]), np.nan, dtype)
        _loops.accumulate(X, c, W, rows, sums, _loops.scratch(dtype))
        for (cosines, sines), part in zip(sums, parts, strict=True):
            assert_close(cosines, c64[part] @ np.cos(turns[part]), tolerance(X, W, c))
            assert_close(sines, c64[part] @ np.sin(turns[part]), tolerance(X, W, c))


@each("dtype", DTYPES)
def test_a_block_has_the_lengths_and_angles_of_the_sums(dtype):
    sums, block = draw(dtype, 3, 2, 40, seed=4), np.empty((2, 40), dtype)
    sums[:, :, 0] = 0.0
    _loops.set_block(sums, dtype(-0.25), dtype(0.5 / np.pi), block)
    C, S = -0.25 * sums.astype(float).sum(axis=0)
    atol = 100 * np.finfo(dtype).eps
    assert_close(block[0], np.hypot(C, S), atol)
    assert_close(block[0] * np.cos(2 * np.pi * block[1]), C, atol)
    assert_close(block[0] * np.sin(2 * np.pi * block[1]), S, atol)


@each("dtype", DTYPES)
def test_waves_equal_numpys(dtype):
    turns, phi = 30 * draw(dtype, 50, 33, seed=5), np.empty((50, 66), dtype)
    _loops.set_waves(turns, dtype(0.5), phi)
    angles, atol = 2 * np.pi * turns.astype(float), 1e-6 if dtype == np.float32 else 1e-13
    assert_close(phi, 0.5 * np.hstack([np.cos(angles), np.sin(angles)]), atol)


# The other tests have the way that this processor takes. To compile one more loop takes seconds.
@pytest.mark.ci
@pytest.mark.compiled
@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@each("dtype", DTYPES)
@each("shape", SHAPES + LARGE_SHAPES)
def test_the_way_of_other_processors_to_sum_cosines_equals_numpy(dtype, shape):
    X, W, amplitude, phase = case(dtype, *shape)
    c, tile = draw(dtype, len(X), seed=3), _loops.scratch(dtype)
    (sums, squares), (cosines, sines) = np.zeros((2, len(X)), dtype), np.full((2, shape[2]), np.nan, dtype)
    if _loops.IN_BLOCKS:
        _loops.add_cosines_and_squares_of_tiles(X, W, amplitude, phase, sums, squares, tile)
        _loops.sum_waves_of_tiles(X, c, W, cosines, sines, tile)
    else:
        _loops.add_cosines_of_blocks(X, W, amplitude, phase, sums, squares)
        _loops.sum_waves_of_blocks(X, c, W, cosines, sines)
    waves, turns = naive_waves(X, W, amplitude, phase), 2 * np.pi * np.matmul(*wide(X, W))
    atol = tolerance(X, W, amplitude, phase)
    assert_close(sums, waves.sum(1), atol)
    assert_close(squares, (waves**2).sum(1), 2 * np.max(np.abs(amplitude)) * atol)
    assert_close(cosines, c.astype(float) @ np.cos(turns), tolerance(X, W, c))
    assert_close(sines, c.astype(float) @ np.sin(turns), tolerance(X, W, c))


@pytest.mark.ci
@pytest.mark.compiled
@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@each("shape", SHAPES + LARGE_SHAPES)
def test_the_way_of_other_processors_to_sum_cosines_alone_equals_numpy(shape):
    X, W, amplitude, phase = case(np.float32, *shape)
    sums = np.zeros(len(X), np.float32)
    if _loops.IN_BLOCKS:
        _loops.add_cosines_of_tiles(X, W, amplitude, phase, sums, _loops.scratch(np.float32))
    else:
        _loops.add_cosines_of_blocks(X, W, amplitude, phase, sums, None)
    assert_close(sums, naive_waves(X, W, amplitude, phase).sum(1), tolerance(X, W, amplitude, phase))


@pytest.mark.ci
@pytest.mark.compiled
@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@each("dtype", DTYPES)
@each("d", [1, 4, 5, 54])
def test_the_way_of_other_processors_to_sum_gaussians_equals_numpy(dtype, d):
    X, Z, c = draw(dtype, 70, d), draw(dtype, 100, d, seed=1), draw(dtype, 70, seed=2)
    centre, scale, tile = X[0].copy(), dtype(-1 / d), _loops.scratch(dtype)
    X64, Z64, c64 = wide(X, Z, c)
    expected = np.exp2(-((Z64[:, None] - X64) ** 2).sum(2) / d) @ c64
    for is_direct in (True, False):
        sums = np.zeros(100, dtype)
        if _loops.IN_BLOCKS:
            _loops.add_powers_of_tiles(X, c, Z, centre, is_direct, scale, sums, tile)
        else:
            _loops.add_powers_of_blocks(X, c, Z, centre, is_direct, scale, sums)
        assert_close(sums, expected, (1 + np.sum(np.abs(c64))) * (40 * np.finfo(dtype).eps))


@pytest.mark.skipif(not _loops.IN_BLOCKS, reason="this processor takes tiles of points")
@each("dtype", DTYPES)
@each("d", [1, 18, 784])
def test_in_blocks_a_point_has_the_same_bits_in_any_place(dtype, d):
    X, W, amplitude, phase = case(dtype, 101, d, 200)
    whole, places = (
        rows_of_all_kernels(X, W, amplitude, phase, [0, 101]),
        np.random.default_rng(0).permutation(101)[:40],
    )
    assert np.array_equal(rows_of_all_kernels(X[places], W, amplitude, phase, [0, 40]), whole[:, places])


@each("dtype", DTYPES)
@each("shape", GAUSSIAN_SHAPES)
@each("offset", [0, 100])
def test_gaussian_sums_equal_numpy(dtype, shape, offset):
    n_batch, d, n_points = shape
    X, Z = draw(dtype, n_batch, d) + dtype(offset), draw(dtype, n_points, d, seed=1) + dtype(offset)
    c, before = draw(dtype, n_batch, seed=2), draw(dtype, n_points, seed=3)
    out = before.copy()
    _loops.gaussian_sums(X, c, Z, dtype(1 / d), dtype(0.5), out, _loops.scratch(dtype))
    X64, Z64, c64, before64 = wide(X, Z, c, before)
    squared = ((Z64[:, None] - X64) ** 2).sum(2)
    # A distance is off by eps times the norms about one point, and so is sigma times it, here at most about 20.
    atol = (1 + np.sum(np.abs(c64))) * (40 * np.finfo(dtype).eps)
    assert_close(out, 0.5 * before64 + np.exp(-squared / d) @ c64, atol)


@each("dtype", DTYPES)
@each("radians", [50, 500, 5000])
def test_cosine_is_accurate_where_it_is_used(dtype, radians):
    # One column, so that the argument is rounded twice: in the product and in taking off the phase.
    X = np.linspace(-1, 1, 301).astype(dtype)[:, None]
    W = np.array([[radians / (2 * np.pi)]], dtype)
    phase, out = np.array([0.25], dtype), np.zeros(len(X), dtype)
    _loops.evaluate(X, W, np.ones(1, dtype), phase, dtype(0), out, _loops.scratch(dtype))
    turns = X[:, 0].astype(np.longdouble) * W[0, 0] - phase[0]
    expected = np.cos((2 * np.pi * (turns - np.rint(turns))).astype(np.float64))
    polynomial = 1e-6 if dtype is np.float32 else 1e-15
    bound = polynomial + 2 * np.pi * (np.abs(turns) + 0.25) * np.finfo(dtype).eps
    assert np.all(np.abs(out - expected) <= bound)


@each("dtype", DTYPES)
def test_exponential_is_accurate_and_vanishes(dtype):
    exponents = np.linspace(0, 60, 200).astype(dtype)
    Z = np.append(np.sqrt(exponents), dtype([100, 1e4, 1e30, np.inf]))[:, None]
    out = np.zeros(len(Z), dtype)
    one = np.ones(1, dtype)
    with np.errstate(all="ignore"):
        _loops.gaussian_sums(0 * one[:, None], one, Z, dtype(1), dtype(0), out, _loops.scratch(dtype))
        expected = np.exp(-(Z[:, 0].astype(np.float64) ** 2))
    # The relative error of exp(-x) is that of the polynomial and the rounding of x, scaled to base 2.
    eps = np.finfo(dtype).eps
    assert np.all(np.abs(out - expected)[:200] <= expected[:200] * (4 * eps + 2 * eps * exponents))
    assert np.all(out[200:] <= np.finfo(dtype).tiny)


def rows_of_all_kernels(X, W, amplitude, phase, cuts):
    """Return every row-wise result, computed piece by piece."""
    zero = X.dtype.type(0)
    sums = np.zeros((4, len(X)), X.dtype)
    for a, b in pairwise(cuts):
        tile = _loops.scratch(X.dtype)
        _loops.evaluate(X[a:b], W, amplitude, phase, zero, sums[0, a:b], tile)
        _loops.evaluate_with_squares(X[a:b], W, amplitude, phase, zero, sums[1, a:b], sums[2, a:b], tile)
        batch = np.ascontiguousarray(W[:, :40].T)
        sigma = X.dtype.type(1 / len(W))
        _loops.gaussian_sums(batch, amplitude[: len(batch)], X[a:b], sigma, zero, sums[3, a:b], tile)
    return sums


@each("dtype", DTYPES)
@each("d", [1, 3, 54, 300])
def test_splits_at_tiles_leave_every_bit(dtype, d):
    rows = _loops.TILE_ROWS
    n, m = (7 * rows + 5, 700) if COMPILED else (2 * rows + 1, 3)
    arrays = case(dtype, n, d, m)
    whole = rows_of_all_kernels(*arrays, [0, n])
    for cuts in ([0, rows, n], [0, 2 * rows, n], [*range(0, n, rows), n]):
        assert np.array_equal(rows_of_all_kernels(*arrays, cuts), whole)


@each("dtype", DTYPES)
@each("bad", [np.nan, np.inf])
@each("d", [2, 7])
def test_bad_numbers_come_out_as_nan(dtype, bad, d):
    X, W, amplitude, phase = case(dtype, 100, d, 20)
    X[97, 0] = bad
    with np.errstate(all="ignore"):
        rows = rows_of_all_kernels(X, W, amplitude, phase, [0, 100])
        sums = np.zeros((1, 2, 20), dtype)
        _loops.accumulate(X, X[:, 1].copy(), W, len(X), sums, _loops.scratch(dtype))
    assert np.isnan(rows[:3, 97]).all()
    # A Gaussian of an infinite distance is 0, of inf - inf is a NaN; either is right.
    assert np.isnan(rows[3, 97]) or (bad == np.inf and rows[3, 97] == 0)
    assert np.isfinite(np.delete(rows, 97, axis=1)).all()
    assert np.isnan(sums).all()
    for i in range(3):
        damaged = [W.copy(), amplitude.copy(), phase.copy()]
        damaged[i][..., 3] = bad
        with np.errstate(all="ignore"):
            rows = rows_of_all_kernels(X, *damaged, [0, 100])
        assert not np.isfinite(rows[0]).any()


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_one_specialisation_per_kernel_and_dtype():
    """Use a separate process: tests of the loops call them with arrays that the package would never pass."""
    program = """
import numpy as np
from dsgcore import QSGS2AUC
from dsgcore.kernels import _compiling, _loops
from dsgcore.kernels._compiling import compiled
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), np.where(np.arange(60) < 20, np.arange(60) % 2, -1)
for points in (X, np.asfortranarray(X), X.astype(np.float32), X[::2].repeat(2, axis=0)):
    points.flags.writeable = False
    for dtype in ("float32", "float64"):
        model = QSGS2AUC(n_iter=2, n_features=4, dtype=dtype, random_state=0).fit(points, y)
        model.decision_function(points[:1])
from dsgcore.experiments import Run, Spec
for dtype in ("float32", "float64"):
    run = Run(Spec.from_dict({"setting": "auc", "solver": {"n_iter": 2, "dtype": dtype}}))
    run.advance()
    run.exact_values(run.split.X_test)
kernels = (_loops.evaluate, _loops.evaluate_with_squares, _loops.accumulate, _loops.gaussian_sums)
print([len(kernel.signatures) for kernel in kernels])
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[2, 2, 2, 2]"


@pytest.mark.compiled
@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_compiled_anew_and_read_from_the_cache_the_loops_give_the_same_bits(tmp_path):
    program = """
import numpy as np
from dsgcore.kernels import _loops
X, one = np.linspace(0, 3, 12, dtype=np.float32).reshape(4, 3), np.float32(1)
sums, out, tile = np.zeros((1, 2, 4), np.float32), np.zeros(4, np.float32), _loops.scratch(X.dtype)
_loops.gaussian_sums(X, X[:, 0].copy(), X, one, one, out, tile)
_loops.accumulate(X, X[:, 0].copy(), np.ones((3, 4), np.float32), 4, sums, tile)
print(out.tobytes().hex(), sums.tobytes().hex())
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    anew, cached = (
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
        ).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbc"))
    assert anew == cached
    # Of one loop the index is cut off, of another one the code that it names.
    (index,) = tmp_path.rglob("_loops.gaussian_sums-*.nbi")
    (code,) = tmp_path.rglob("_loops.accumulate-*.nbc")
    for file, size in ((index, 40), (code, 200)):
        file.write_bytes(file.read_bytes()[:size])
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout == anew
    for loop in ("gaussian_sums", "accumulate"):
        assert f"the cached loop {loop} cannot be read" in done.stderr
    assert "compiled again" in done.stderr


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_change_in_one_file_of_loops_has_those_of_all_compiled_anew(monkeypatch, tmp_path):
    folder = Path(_compiling.__file__).parent
    for file in folder.glob("_loops*.py"):
        shutil.copy2(file, tmp_path)
    monkeypatch.setattr(_compiling, "__file__", str(tmp_path / "_compiling.py"))
    assert compiled()(_double)._cache._cache_file._source_stamp == _loops.evaluate._cache._cache_file._source_stamp
    with (tmp_path / "_loops_polynomials.py").open("a") as changed:
        changed.write("# other")
    assert compiled()(_double)._cache._cache_file._source_stamp != _loops.evaluate._cache._cache_file._source_stamp


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_loop_that_cannot_be_kept_works(monkeypatch, caplog):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    doubled = compiled()(_double)
    monkeypatch.setattr(type(doubled._cache), "_save_overload", full)
    assert doubled(2.5) == 5.0
    assert "cannot be cached" in caplog.text


def _double(x):
    return 2 * x
