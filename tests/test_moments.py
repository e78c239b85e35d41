"""Means and variances that equal NumPy's bit for bit."""

import numpy as np
import pytest
from cases import each

from dsgcore.core.moments import mean, mean_and_variance

# Sums of more than 8,192 values are made in pieces where their precision is another one.
SIZES = [1, 2, 7, 8, 9, 100, 1000, 8191, 8192, 8193, 20_000]


@each("n", SIZES)
@each("dtype", ["float32", "float64"])
@each("seed", range(3))
def test_moments_are_numpys_to_the_last_bit(n, dtype, seed):
    rng = np.random.default_rng([n, seed])
    values = (rng.normal(size=n) * rng.choice([1e-3, 1.0, 1e4], size=n) + seed).astype(dtype)
    for own in (values, np.repeat(values, 2)[::2]):
        assert (mean(own), mean(own).dtype) == (np.mean(own), own.dtype)
        assert mean_and_variance(own) == (np.mean(own), np.var(own))
        assert mean_and_variance(own, float) == (np.mean(own, dtype=float), np.var(own, dtype=float))


def test_what_is_not_finite_is_not_hidden():
    for bad in (np.nan, np.inf):
        with np.errstate(invalid="ignore"):
            assert not np.isfinite(mean_and_variance(np.array([1.0, bad]))).any()
    with pytest.warns(RuntimeWarning):
        assert np.isnan(mean(np.zeros(0)))
