"""Data sets that are generated, and those shipped with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from data_makers import assert_well_formed, few_examples, seeds
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits

from dsgcore.data import (
    DataError,
    breast_cancer,
    circles,
    digits_even_odd,
    gaussian_mixture,
    misleading_gap,
    two_moons,
    xor,
)

GENERATED = [two_moons, circles, xor, gaussian_mixture, misleading_gap]
BUNDLED = [digits_even_odd, breast_cancer]


@few_examples
@given(
    make=st.sampled_from(GENERATED),
    n=st.integers(20, 400),
    noise=st.floats(0, 2),
    imbalance=st.floats(0.001, 0.999),
    seed=seeds,
)
def test_generated_data_have_the_asked_size_and_share_and_repeat_bit_by_bit(make, n, noise, imbalance, seed):
    data = make(n=n, noise=noise, imbalance=imbalance, seed=seed)
    assert_well_formed(data)
    assert data.y.sum() == min(max(round(n * imbalance), 1), n - 1)
    again = make(n=n, noise=noise, imbalance=imbalance, seed=seed)
    assert data.X.tobytes() == again.X.tobytes()
    assert data.y.tobytes() == again.y.tobytes()


@pytest.mark.parametrize("make", GENERATED)
def test_noise_is_the_standard_deviation_of_what_is_added(make):
    clean, noisy = (make(n=20_000, noise=noise, seed=3) for noise in (0.0, 0.7))
    np.testing.assert_array_equal(clean.y, noisy.y)
    added = noisy.X.astype(np.float64) - clean.X
    # The standard deviation of 20,000 draws has a relative standard error of 1/sqrt(40,000) = 0.5 %; allow 4.
    np.testing.assert_allclose(added.std(axis=0), 0.7, rtol=0.02)


@pytest.mark.parametrize("make", GENERATED)
def test_seeds_and_generators_differ_and_rows_are_shuffled(make):
    assert not np.array_equal(make(seed=1).X, make(seed=2).X)
    y = make(n=1000, seed=1).y
    assert 400 < np.abs(np.diff(y)).sum() < 600  # 499.5 changes are expected, standard deviation 16


def test_clean_shapes_are_what_they_say():
    radius = np.linalg.norm(circles(noise=0).X, axis=1)
    np.testing.assert_allclose(radius, np.where(circles(noise=0).y == 1, 0.5, 1.0), rtol=1e-6)
    square = xor(noise=0, imbalance=0.2)
    np.testing.assert_array_equal(square.X.prod(axis=1) > 0, square.y == 1)
    mixture = gaussian_mixture(noise=0)
    assert len(np.unique(mixture.X, axis=0)) == 6
    assert len(np.unique(mixture.X[mixture.y == 1], axis=0)) == 3


@each("make", GENERATED)
@each(
    "options",
    [
        {"n": 19},
        {"n": 1_000_001},
        {"n": 30.5},
        {"n": True},
        {"noise": -0.1},
        {"noise": float("nan")},
        {"noise": float("inf")},
        {"noise": 10**400},
        {"noise": "0.1"},
        {"imbalance": 0.0},
        {"imbalance": 1.0},
        {"imbalance": float("nan")},
        {"seed": -1},
        {"seed": 2**32},
        {"seed": "one"},
    ],
)
def test_generators_refuse_bad_options_naming_them(make, options):
    (name,) = options
    with pytest.raises(DataError, match=f"^{name} must be"):
        make(**options)


def test_bundled_data_are_whole_by_default():
    digits, cancer = digits_even_odd(), breast_cancer()
    assert_well_formed(digits)
    assert_well_formed(cancer)
    np.testing.assert_array_equal(digits.X, load_digits().data)
    np.testing.assert_array_equal(digits.y, load_digits().target % 2 == 0)
    # Malignant is positive here and 0 in scikit-learn.
    np.testing.assert_array_equal(cancer.y, load_breast_cancer().target == 0)
    assert cancer.class_names == ("benign", "malignant")


@few_examples
@given(make=st.sampled_from(BUNDLED), n=st.integers(20, 500), seed=seeds)
def test_bundled_subsamples_keep_the_class_shares(make, n, seed):
    data, everything = make(n=n, seed=seed), make()
    assert_well_formed(data)
    assert len(data.y) == n
    assert abs(data.y.sum() - n * everything.y.mean()) <= 0.5
    assert data.X.tobytes() == make(n=n, seed=seed).X.tobytes()


@few_examples
@given(make=st.sampled_from(BUNDLED), imbalance=st.floats(0.02, 0.98), seed=seeds)
def test_bundled_imbalance_drops_rows_of_one_class_only(make, imbalance, seed):
    before, after = (np.bincount(make(imbalance=i, seed=seed).y) for i in (None, imbalance))
    assert (before == after).any()
    assert (after <= before).all()
    # Rounding the dropped class by half a row moves the share by less than half a row's weight.
    assert abs(after[1] / after.sum() - imbalance) <= 0.5 / after.sum()


def test_bundled_noise_is_in_units_of_each_feature_and_of_the_row():
    clean, noisy = breast_cancer(), breast_cancer(noise=0.5, seed=4)
    ratio = (noisy.X - clean.X).std(axis=0) / clean.X.std(axis=0)
    # 569 draws: relative standard error 1/sqrt(1138) = 3 %; allow five over 30 features.
    np.testing.assert_allclose(ratio, 0.5, rtol=0.15)
    constant = np.ptp(digits_even_odd().X, axis=0) == 0
    assert constant.any()
    assert (np.ptp(digits_even_odd(noise=2.0).X, axis=0)[constant] == 0).all()
    few = breast_cancer(n=50, noise=0.5, seed=4)
    assert set(map(bytes, few.X)) <= set(map(bytes, noisy.X))


@each("make", BUNDLED)
@each("options", [{"n": 19}, {"n": 2000}, {"noise": -1}, {"imbalance": 0}, {"imbalance": 1.5}, {"seed": -1}])
def test_bundled_data_refuse_bad_options_naming_them(make, options):
    (name,) = options
    with pytest.raises(DataError, match=f"^{name} must be"):
        make(**options)


def test_a_subsample_larger_than_what_the_imbalance_leaves_says_how_many_are_left():
    with pytest.raises(DataError, match=r"between 20 and 446 \(the rows left\), got 500"):
        breast_cancer(n=500, imbalance=0.2)
