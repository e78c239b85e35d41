"""Orthogonal frequencies, and their features against the Gaussian kernel."""

import numpy as np
import pytest
from cases import each
from scipy import stats

from dsgcore.core.threads import n_workers, set_workers
from dsgcore.kernels import Gaussian, OrthogonalGaussian, block_frequencies
from dsgcore.kernels.kernels import MOST_ORTHOGONAL
from dsgcore.multiclass.features import FixedFeatures, _frequencies


def draw(d, m, t=1, dtype="float64"):
    return block_frequencies(OrthogonalGaussian(0.7 / d), 5, t, d, m, np.dtype(dtype))


@each("d, m", [(1, 5), (2, 7), (5, 5), (30, 64), (128, 300), (300, 700)])
def test_frequencies_are_orthogonal_in_groups_and_the_same_at_every_call(d, m):
    W, size = draw(d, m), min(d, MOST_ORTHOGONAL)
    assert W.shape == (d, m)
    assert np.array_equal(W, draw(d, m))
    assert np.array_equal(W, draw(d, m, dtype="float32"))
    for start in range(0, m, size):
        group = W[:, start : start + size] / np.linalg.norm(W[:, start : start + size], axis=0)
        np.testing.assert_allclose(group.T @ group, np.eye(group.shape[1]), atol=1e-5)


@pytest.mark.parametrize("d", [1, 2, 6])
def test_each_frequency_is_a_normal_one(d):
    drawn = np.concatenate([draw(d, 40, t) for t in range(1, 101)], axis=1) * 2 * np.pi / (2 * 0.7 / d) ** 0.5
    for one in drawn:  # the frequencies of a group depend on each other, but each is normal
        assert stats.kstest(one[:: min(d, 40)], "norm").pvalue > 1e-3
    assert stats.kstest((drawn**2).sum(axis=0), stats.chi2(d).cdf).pvalue > 1e-3


def errors(kernel, x, m, n_draws):
    """Estimates of k(x_i, 0) less the kernel itself, at points x (n, d), from each of many draws."""
    d = x.shape[1]
    drawn = np.empty((n_draws, len(x)))
    for t in range(1, n_draws + 1):
        W = block_frequencies(kernel, 1, t, d, m, np.dtype(float))
        drawn[t - 1] = np.cos(2 * np.pi * x @ W).mean(axis=1)
    return drawn - kernel.matrix(x, np.zeros((1, d)))[:, 0]


def test_the_kernel_estimate_is_unbiased_and_errs_less_than_with_independent_features():
    d, rng = 32, np.random.default_rng(4)
    directions = np.stack([rng.normal(size=d), np.eye(d)[0], np.eye(d)[7] + np.eye(d)[20], np.ones(d)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    offsets = np.concatenate([r * directions for r in (0.3, 0.7, 1.2, 2.0)])
    orthogonal, independent = (errors(kernel(0.8), offsets, 32, 1500) for kernel in (OrthogonalGaussian, Gaussian))
    standard_error = orthogonal.std(axis=0, ddof=1) / 1500**0.5
    assert (np.abs(orthogonal.mean(axis=0)) <= 4 * standard_error).all()
    ratio = (orthogonal.var(axis=0) / independent.var(axis=0)).reshape(4, 4).mean(axis=1)
    # Ratios of two variances of 1500 draws have a standard error of 5 %, 2.6 % in the mean over directions.
    assert ratio[0] < 0.6
    assert (ratio < 1.1).all()


def test_fixed_features_of_many_classes_have_the_same_frequencies():
    features = FixedFeatures("fourier", 0.7 / 6, 40, 5, is_orthogonal=True)
    assert np.array_equal(_frequencies(features, 6), draw(6, 40, t=0))


def test_same_bits_whatever_the_number_of_workers():
    before, results = n_workers(), set()
    try:
        for count in (1, 2, 8):
            set_workers(count)
            results.add(draw(130, 300).tobytes())
    finally:
        set_workers(before)
    assert len(results) == 1
