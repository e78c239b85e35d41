"""Structured orthogonal features against their explicit matrix, and against the Gaussian kernel."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from dsgcore.core._threads import n_workers, set_workers
from dsgcore.kernels import Gaussian, OrthogonalGaussian, block_frequencies, features, features_orthogonal
from dsgcore.solver.loop import solve

# (d, m): fewer coordinates than are padded to, a whole rotation, a part of one, several, a power of two and one more.
SHAPES = [(3, 5), (128, 128), (128, 100), (129, 300), (200, 513), pytest.param(784, 40, marks=pytest.mark.compiled)]


def explicit(W, d):
    """The frequencies that `W` stands for, as a matrix (d, m)."""
    signs, lengths = features_orthogonal.split(W, d)
    H = hadamard(signs.shape[2])
    rotations = [H @ np.diag(s[2]) @ H @ np.diag(s[1]) @ H @ np.diag(s[0]) for s in signs]
    rows = np.concatenate(rotations)[: len(lengths)]
    return (rows * lengths[:, None])[:, :d].T.copy()


def draw(d, m, t=1, kernel=None, dtype="float64"):
    return block_frequencies(kernel or OrthogonalGaussian(0.7 / d), 5, t, d, m, np.dtype(dtype))


def points(n, d, dtype="float64"):
    rng = np.random.default_rng([n, d])
    return rng.normal(size=(n, d)).astype(dtype), rng.normal(size=n).astype(dtype)


@pytest.mark.parametrize(("d", "m"), SHAPES)
@pytest.mark.parametrize("n", [0, 1, 63, 64, pytest.param(300, marks=pytest.mark.compiled)])
def test_the_transform_equals_the_explicit_matrix(d, m, n):
    W, (X, c) = draw(d, m), points(n, d)
    dense = explicit(W, d)
    block = features_orthogonal.accumulate(X, c, W, 0.3)
    assert block.shape == (2, m)
    expected = features.coefficients(features.accumulate(X, c, dense, 0.3))
    np.testing.assert_allclose(features_orthogonal.coefficients(block), expected, rtol=1e-9, atol=1e-11)
    out, dense_out = c.copy(), c.copy()
    features_orthogonal.evaluate(X, W, block, 0.9, out)
    features.evaluate(X, dense, block, 0.9, dense_out)
    np.testing.assert_allclose(out, dense_out, rtol=1e-9, atol=1e-11)
    for found, wanted in zip(
        features_orthogonal.evaluate_with_squares(X, W, block),
        features.evaluate_with_squares(X, dense, block),
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.compiled
def test_single_precision_is_close_to_double():
    (X, c), (d, m) = points(200, 784), (784, 500)
    X *= 784**-0.5
    kernel = OrthogonalGaussian(20.0)
    narrow = draw(d, m, kernel=kernel, dtype="float32")
    W = draw(d, m, kernel=kernel)
    block = features_orthogonal.accumulate(X, c, W, 1.0)
    out, single = np.zeros(200), np.zeros(200, dtype="float32")
    features_orthogonal.evaluate(X, W, block, 1.0, out)
    features_orthogonal.evaluate(X.astype("float32"), narrow, block.astype("float32"), 1.0, single)
    # Products of a few turns: thirty additions in float32 leave some 1e-6 of a radian.
    np.testing.assert_allclose(single, out, rtol=0, atol=1e-5 * block[0].sum())


def test_frequencies_of_a_rotation_are_orthogonal_and_as_long_as_normal_ones():
    dense = explicit(draw(128, 256), 128)
    for rotation in (dense[:, :128], dense[:, 128:]):
        G = rotation.T @ rotation
        np.testing.assert_allclose(G - np.diag(np.diag(G)), 0, atol=1e-6 * G.max())
    squares = np.concatenate([(draw(128, 256, t)[-256:] * 128**1.5) ** 2 for t in range(1, 201)])
    squares *= (2 * np.pi) ** 2 / (2 * 0.7 / 128)  # now chi-square of 128 degrees: mean 128, variance 256
    # 51200 of them: standard errors 0.07 of the mean and 1.6 of the variance.
    assert squares.mean() == pytest.approx(128, abs=0.3)
    assert squares.var() == pytest.approx(256, abs=8)


def errors(kernel, x, m, n_draws):
    """Estimates of k(x_i, 0) less the kernel itself, at points x (n, d), from each of many draws."""
    d = x.shape[1]
    origin, one = np.zeros((1, d)), np.ones(1)
    drawn = np.empty((n_draws, len(x)))
    for t in range(1, n_draws + 1):
        W = block_frequencies(kernel, 1, t, d, m, np.dtype(float))
        block = kernel.feature_map.accumulate(origin, one, W, -1.0)
        drawn[t - 1], _ = kernel.feature_map.evaluate_with_squares(x, W, block)
    return drawn - kernel.matrix(x, origin)[:, 0]


@pytest.fixture(scope="module")
def offsets():
    """Differences of points: dense, along one axis and along a few, the directions that a Hadamard matrix mixes least."""
    d, rng = 128, np.random.default_rng(4)
    directions = np.stack([rng.normal(size=d), np.eye(d)[0], np.eye(d)[7] + np.eye(d)[100], np.ones(d)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.concatenate([r * directions for r in (0.3, 0.7, 1.2, 2.0)])


@pytest.mark.compiled
def test_the_kernel_estimate_is_unbiased(offsets):
    drawn = errors(OrthogonalGaussian(0.8), offsets, m=256, n_draws=4000)
    standard_error = drawn.std(axis=0, ddof=1) / 4000**0.5
    # Of the bias of order 1 / p^2 nothing can be seen; with rows of one length (bias 1 / p = 0.008) the test fails.
    assert (np.abs(drawn.mean(axis=0)) <= 4 * standard_error).all()
    assert standard_error.max() < 1e-3


@pytest.mark.compiled
def test_near_points_err_less_than_with_independent_features_and_far_ones_no_more(offsets):
    orthogonal = errors(OrthogonalGaussian(0.8), offsets, m=128, n_draws=2000).var(axis=0)
    independent = errors(Gaussian(0.8), offsets, m=128, n_draws=2000).var(axis=0)
    ratio = (orthogonal / independent).reshape(4, 4).mean(axis=1)
    # Ratios of two variances of 2000 draws have a standard error of 4.5 %, 2.2 % in the mean over directions.
    assert ratio[0] < 0.6
    assert (ratio < 1.1).all()


def test_a_run_with_orthogonal_features_carries_what_the_model_gives(make_task):
    task = make_task(kernel=OrthogonalGaussian(0.7))
    model = task.new_model()
    iterates = list(solve(task, model))
    np.testing.assert_allclose(
        iterates[-1].f["positive"],
        model.prefix(len(model) - 1).evaluate(task.X[iterates[-1].batch["positive"]]),
        rtol=1e-10,
        atol=1e-13,
    )


@pytest.mark.compiled
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_bits_whatever_the_number_of_workers(dtype, monkeypatch):
    monkeypatch.setattr("dsgcore.core._threads.MIN_EVALUATIONS_PER_WORKER", 100)
    (X, c), W = points(700, 130, dtype), draw(130, 50, dtype=dtype)
    before, results = n_workers(), set()
    try:
        for count in (1, 2, 8):
            set_workers(count)
            block, out = features_orthogonal.accumulate(X, c, W, 0.3), np.ones(700, dtype=dtype)
            features_orthogonal.evaluate(X, W, block, 0.9, out)
            sums, squares = features_orthogonal.evaluate_with_squares(X, W, block)
            results.add((block.tobytes(), out.tobytes(), sums.tobytes(), squares.tobytes()))
    finally:
        set_workers(before)
    assert len(results) == 1
