"""The data sets of several classes without an order."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from dsgcore.data import DataError, blobs, hide_labels, iris, spirals, ten_digits, wine

BUNDLED = [ten_digits, wine, iris]
few_examples = settings(max_examples=25, deadline=None)


@few_examples
@given(make=st.sampled_from([spirals, blobs]), n=st.integers(20, 400), seed=st.integers(0, 2**32 - 1))
def test_generated_classes_are_equally_large_and_repeat_bit_by_bit(make, n, seed):
    data = make(n=n, seed=seed)
    counts = np.bincount(data.y, minlength=len(data.class_names))
    assert counts.sum() == n
    assert np.ptp(counts) <= 1
    assert data.X.tobytes() == make(n=n, seed=seed).X.tobytes()


def test_noise_is_the_standard_deviation_of_what_is_added():
    for make in (spirals, blobs):
        added = make(n=4000, noise=0.2, seed=3).X - make(n=4000, noise=0.0, seed=3).X
        # 8000 draws: relative standard error 0.8 %.
        assert added.std() == pytest.approx(0.2, rel=0.04)


def test_clean_shapes_are_what_they_say():
    arms, corners = spirals(noise=0.0), blobs(noise=0.0)
    assert np.linalg.norm(arms.X, axis=1).max() <= 1 + 1e-6
    assert KNeighborsClassifier(1).fit(arms.X, arms.y).score(spirals(noise=0.0, seed=1).X, spirals(seed=1).y) == 1.0
    assert LogisticRegression().fit(arms.X, arms.y).score(arms.X, arms.y) < 0.8  # no straight lines
    np.testing.assert_allclose(np.linalg.norm(corners.X, axis=1), 1.5, rtol=1e-6)
    assert len(np.unique(corners.X.round(4), axis=0)) == 6


def test_bundled_data_are_whole_by_default():
    data = ten_digits()
    np.testing.assert_array_equal(data.X, load_digits().data)
    np.testing.assert_array_equal(data.y, load_digits().target)
    assert data.class_names == tuple("0123456789")
    assert wine().X.shape == (178, 13)
    assert iris().class_names == ("setosa", "versicolor", "virginica")


@few_examples
@given(make=st.sampled_from(BUNDLED), n=st.integers(20, 150), seed=st.integers(0, 2**32 - 1))
def test_bundled_subsamples_keep_the_class_shares(make, n, seed):
    data, everything = make(n=n, seed=seed), make()
    counts, expected = np.bincount(data.y), n * np.bincount(everything.y) / len(everything.y)
    assert counts.sum() == n
    assert (np.abs(counts - expected) <= 1).all()
    assert data.X.tobytes() == make(n=n, seed=seed).X.tobytes()


def test_a_rows_noise_does_not_depend_on_which_others_are_chosen():
    few, noisy = wine(n=50, noise=0.5, seed=4), wine(noise=0.5, seed=4)
    assert set(map(bytes, few.X)) <= set(map(bytes, noisy.X))


@each("make", [spirals, *BUNDLED])
@each("options", [{"n": 19}, {"n": 10**7}, {"noise": -1}, {"noise": float("nan")}, {"seed": -1}])
def test_bad_options_are_refused_naming_them(make, options):
    (name,) = options
    with pytest.raises(DataError, match=f"^{name} must be"):
        make(**options)


def test_a_split_keeps_the_classes_names():
    assert hide_labels(iris(), 9, 0.3, 0).class_names == iris().class_names
