"""The compiled loops against NumPy in float64."""

import runpy
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from cases import each

from dsgcore.kernels import loops

COMPILED = not numba.config.DISABLE_JIT
compiled_only = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
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
def test_evaluate_and_accumulate_equal_numpy(dtype, shape):
    X, W, amplitude, phase = case(dtype, *shape)
    before = draw(dtype, len(X), seed=3)
    X64, W64, amplitude64, phase64, before64 = wide(X, W, amplitude, phase, before)
    turns = X64 @ W64
    waves = amplitude64 * np.cos(2 * np.pi * (turns - phase64))
    atol, tile = tolerance(X, W, amplitude, phase), loops.scratch(dtype)
    for squares in (None, np.full_like(before, np.nan)):
        out = before.copy()
        loops.evaluate(X, W, amplitude, phase, dtype(0.5), out, squares, tile)
        assert_close(out, 0.5 * before64 + waves.sum(1), atol)
    assert_close(squares, (waves**2).sum(1), 2 * np.max(np.abs(amplitude)) * atol)
    for rows in (max(1, len(X)), len(X) // 3 + 1):
        parts = [slice(start, start + rows) for start in range(0, len(X), rows)]
        sums = np.full((len(parts), 2, shape[2]), np.nan, dtype)
        loops.accumulate(X, before, W, rows, sums, tile)
        for (cosines, sines), part in zip(sums, parts, strict=True):
            assert_close(cosines, before64[part] @ np.cos(2 * np.pi * turns[part]), tolerance(X, W, before))
            assert_close(sines, before64[part] @ np.sin(2 * np.pi * turns[part]), tolerance(X, W, before))


@each("dtype", DTYPES)
@each("shape", GAUSSIAN_SHAPES)
@each("offset", [0, 100])
def test_gaussian_sums_equal_numpy(dtype, shape, offset):
    n_batch, d, n_points = shape
    X, Z = draw(dtype, n_batch, d) + dtype(offset), draw(dtype, n_points, d, seed=1) + dtype(offset)
    c, before = draw(dtype, n_batch, seed=2), draw(dtype, n_points, seed=3)
    out = before.copy()
    loops.gaussian_sums(X, c, Z, dtype(1 / d), dtype(0.5), out, loops.scratch(dtype))
    X64, Z64, c64, before64 = wide(X, Z, c, before)
    # A distance is off by eps times the norms about one point, and so is sigma times it, here at most about 20.
    atol = (1 + np.sum(np.abs(c64))) * (40 * np.finfo(dtype).eps)
    assert_close(out, 0.5 * before64 + np.exp(-((Z64[:, None] - X64) ** 2).sum(2) / d) @ c64, atol)


@each("dtype", DTYPES)
@each("radians", [50, 500, 5000])
def test_cosine_is_accurate_where_it_is_used(dtype, radians):
    # One column, so that the argument is rounded twice: in the product and in taking off the phase.
    X = np.linspace(-1, 1, 301).astype(dtype)[:, None]
    W = np.array([[radians / (2 * np.pi)]], dtype)
    phase, out = np.array([0.25], dtype), np.zeros(len(X), dtype)
    loops.evaluate(X, W, np.ones(1, dtype), phase, dtype(0), out, None, loops.scratch(dtype))
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
        loops.gaussian_sums(0 * one[:, None], one, Z, dtype(1), dtype(0), out, loops.scratch(dtype))
        expected = np.exp(-(Z[:, 0].astype(np.float64) ** 2))
    # The relative error of exp(-x) is that of the polynomial and the rounding of x, scaled to base 2.
    eps = np.finfo(dtype).eps
    assert np.all(np.abs(out - expected)[:200] <= expected[:200] * (4 * eps + 2 * eps * exponents))
    assert np.all(out[200:] <= np.finfo(dtype).tiny)


@each("dtype", DTYPES)
@each("bad", [np.nan, np.inf])
@each("d", [2, 7])
def test_bad_numbers_come_out_as_nan(dtype, bad, d):
    X, *others = case(dtype, 100, d, 20)
    X[97, 0] = bad

    def values(W, amplitude, phase, squares=None):
        out = np.zeros(len(X), dtype)
        loops.evaluate(X, W, amplitude, phase, dtype(0), out, squares, loops.scratch(dtype))
        return out

    W, sums, (squares, near) = others[0], np.zeros((1, 2, 20), dtype), np.zeros((2, len(X)), dtype)
    with np.errstate(all="ignore"):
        rows = [values(*others), values(*others, squares), squares]
        loops.accumulate(X, X[:, 1].copy(), W, len(X), sums, loops.scratch(dtype))
        batch = np.ascontiguousarray(W.T)
        loops.gaussian_sums(batch, others[1], X, dtype(1 / d), dtype(0), near, loops.scratch(dtype))
    assert np.isnan(np.array(rows)[:, 97]).all()
    assert np.isnan(sums).all()
    # A Gaussian of an infinite distance is 0, of inf - inf is a NaN; either is right.
    assert np.isnan(near[97]) or (bad == np.inf and near[97] == 0)
    assert np.isfinite(np.delete([*rows, near], 97, axis=1)).all()
    for i in range(3):
        damaged = [array.copy() for array in others]
        damaged[i][..., 3] = bad
        with np.errstate(all="ignore"):
            assert not np.isfinite(values(*damaged)).any()


@compiled_only
def test_a_kept_loop_that_is_cut_off_is_compiled_again_and_removed(tmp_path, caplog):
    program = tmp_path / "cut.py"
    program.write_text("from dsgcore.kernels.loops import compiled\n@compiled\ndef double(x):\n    return 2 * x\n")
    first, again = (runpy.run_path(str(program), run_name="cut")["double"] for _ in range(2))
    assert (first(2.0), loops.is_kept(first)) == (4.0, True)
    for index in Path(first.kept.stats.cache_path).glob("cut.double-*.nbi"):
        index.write_bytes(index.read_bytes()[:40])
    assert (again(2.0), loops.is_kept(again)) == (4.0, False)
    assert "the loop double is compiled for this process alone" in caplog.text
    assert not list(
        Path(first.kept.stats.cache_path).glob("cut.double-*")
    )  # so that the next process keeps a sound one


@pytest.mark.ci
@compiled_only
@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of files' sizes")
def test_a_loop_that_cannot_be_kept_works(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import resource
from dsgcore.kernels.loops import compiled
@compiled
def double(x):
    return 2 * x
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(double(2.5), double(2.0), double(3))
""")
    done = subprocess.run([sys.executable, program], check=True, capture_output=True, text=True)
    assert done.stdout == "5.0 4.0 6\n"
    assert done.stderr.count("the loop double is compiled for this process alone") == 1


@pytest.mark.ci
@compiled_only
def test_an_error_of_the_loop_itself_is_not_hidden():
    with pytest.raises(ValueError, match="incompatible"):
        loops.compiled(lambda a, b: np.dot(a, b))(np.ones((2, 3)), np.ones((2, 3)))
