"""Means that equal NumPy's bit for bit, and variances."""

import numpy as np
import pytest
from cases import each

from dsgcore.core.moments import mean, means_and_variances

# Sums of more than 8,192 values are made in pieces where their precision is another one.
SIZES = [1, 2, 7, 8, 9, 100, 1000, 8191, 8192, 8193, 20_000]


@each("n", SIZES)
@each("dtype", ["float32", "float64"])
@each("seed", range(3))
def test_a_mean_is_numpys_to_the_last_bit(n, dtype, seed):
    rng = np.random.default_rng([n, seed])
    values = (rng.normal(size=n) * rng.choice([1e-3, 1.0, 1e4], size=n) + seed).astype(dtype)
    for own in (values, np.repeat(values, 2)[::2]):
        assert (mean(own), mean(own).dtype) == (np.mean(own), own.dtype)


@each("dtype", ["float32", "float64"])
def test_samples_of_any_size_have_their_means_and_variances(dtype):
    rng = np.random.default_rng(0)
    samples = [(rng.normal(size=n) + 100.0).astype(dtype) for n in SIZES]
    means, variances = means_and_variances(samples)
    np.testing.assert_allclose(means, [np.mean(own, dtype=float) for own in samples], rtol=1e-14)
    np.testing.assert_allclose(variances, [np.var(own, dtype=float) for own in samples], rtol=1e-12, atol=0)


def test_what_is_not_finite_is_not_hidden():
    for bad in (np.nan, np.inf):
        with np.errstate(invalid="ignore"):
            means, variances = means_and_variances([np.ones(3), np.array([1.0, bad])])
        assert (means[0], variances[0]) == (1.0, 0.0)
        assert not np.isfinite([means[1], variances[1]]).any()
    with pytest.warns(RuntimeWarning):
        assert np.isnan(mean(np.zeros(0)))
