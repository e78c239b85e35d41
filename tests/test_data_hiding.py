"""The split that hides labels: by class, as pairs, scaled on training rows only."""

import numpy as np
import pytest
from cases import each
from data_makers import few_examples, labeled_data, seeds
from hypothesis import given
from hypothesis import strategies as st

from dsgcore.data import DataError, draw_pairs, hide_labels, load


@st.composite
def askable(draw):
    """Class counts, and a split that they allow."""
    counts = draw(st.lists(st.integers(2, 60), min_size=2, max_size=5))
    n, k = sum(counts), len(counts)
    n_test = draw(st.integers(k, min(n - k, int(0.9 * n)))) if min(n - k, int(0.9 * n)) >= k else None
    if n_test is None or n - n_test < 2:
        counts, n, n_test = [20] * k, 20 * k, 5 * k
    return counts, n_test, draw(st.integers(k, n - n_test))


@few_examples
@given(asked=askable(), seed=seeds, stratified=st.booleans())
def test_a_split_is_a_partition_with_the_asked_numbers(asked, seed, stratified):
    counts, n_test, n_labeled = asked
    data = labeled_data(counts)
    n = len(data.y)
    split = hide_labels(data, n_labeled, n_test / n, seed, stratified)
    np.testing.assert_array_equal(np.sort(np.r_[split.train_rows, split.test_rows]), np.arange(n))
    assert len(split.y_test) == len(split.X_test) == n_test
    np.testing.assert_array_equal(split.y_hidden, data.y[split.train_rows])
    np.testing.assert_array_equal(split.y_test, data.y[split.test_rows])
    np.testing.assert_array_equal(split.labeled, np.flatnonzero(split.y_train != -1))
    np.testing.assert_array_equal(split.y_train[split.labeled], split.y_hidden[split.labeled])
    assert len(split.labeled) == n_labeled
    if stratified:
        every_class = set(range(len(counts)))
        assert set(split.y_test) == set(split.y_hidden) == set(split.y_train) - {-1} == every_class


@few_examples
@given(asked=askable(), seed=seeds, scaling=st.sampled_from(["unit", "standard", "none"]))
def test_the_same_seed_gives_the_same_bits(asked, seed, scaling):
    counts, n_test, n_labeled = asked
    data = labeled_data(counts)
    first, second = (hide_labels(data, n_labeled, n_test / len(data.y), seed, scaling=scaling) for _ in "ab")
    for name in ("X_train", "y_train", "y_hidden", "X_test", "y_test", "labeled", "train_rows", "test_rows"):
        a, b = getattr(first, name), getattr(second, name)
        assert a.dtype == b.dtype == (np.float32 if name.startswith("X") else np.int64)
        assert a.flags.c_contiguous
        assert a.tobytes() == b.tobytes()


@few_examples
@given(seed=seeds, size=st.floats(1e-20, 1e20))
def test_training_rows_fill_the_unit_interval_exactly_and_test_rows_are_not_clipped(seed, size):
    data = labeled_data([400, 600], d=5)
    data.X[:] *= np.float32(size)
    split = hide_labels(data, 10, 0.5, seed)
    np.testing.assert_array_equal(split.X_train.min(axis=0), 0)
    np.testing.assert_array_equal(split.X_train.max(axis=0), 1)
    raw = data.X[split.test_rows].astype(np.float64)
    expected = (raw - split.scaling.offset) / split.scaling.width
    # float32: half a unit in the last place for the difference and for the quotient; values are of order 1.
    np.testing.assert_allclose(split.X_test, expected, rtol=3e-7, atol=3e-7)
    np.testing.assert_array_equal(split.scaling.apply(data.X[split.test_rows]), split.X_test)
    assert split.X_test.min() < 0 or split.X_test.max() > 1


def test_standard_scaling_gives_mean_zero_and_deviation_one_on_training_rows():
    split = hide_labels(labeled_data([400, 600], d=70), 10, 0.3, 1, scaling="standard")
    # float32 means of 700 values of order 1: rounding errors below 1e-6.
    np.testing.assert_allclose(split.X_train.mean(axis=0, dtype=np.float64), 0, atol=1e-6)
    np.testing.assert_allclose(split.X_train.std(axis=0, dtype=np.float64), 1, atol=1e-6)


def test_no_scaling_leaves_the_points_alone():
    data = labeled_data([40, 60])
    split = hide_labels(data, 10, 0.3, 1, scaling="none")
    assert split.X_train.tobytes() == data.X[split.train_rows].tobytes()
    assert split.X_test.tobytes() == data.X[split.test_rows].tobytes()


@each("scaling", ["unit", "standard"])
def test_features_that_are_constant_on_the_training_rows_become_zero(scaling):
    data = labeled_data([40, 60])
    rows = hide_labels(data, 10, 0.3, 1).test_rows
    data.X[:, 0] = 0.1
    data.X[rows[0], 0] = 9.0
    split = hide_labels(data, 10, 0.3, 1, scaling=scaling)
    assert (split.X_train[:, 0] == 0).all()
    assert (split.X_test[:, 0] == 0).all()
    assert split.scaling.width[0] == 0


def test_splitting_leaves_the_data_set_as_it_was():
    data = labeled_data([40, 60])
    before = data.X.copy(), data.y.copy()
    split = hide_labels(data, 10, 0.3, 1, scaling="none")
    split.X_train[:] = 0
    split.y_train[:] = 0
    np.testing.assert_array_equal(data.X, before[0])
    np.testing.assert_array_equal(data.y, before[1])


@few_examples
@given(seed=seeds, n_labeled=st.integers(4, 300))
def test_labeled_counts_follow_the_prior_but_reach_every_class(seed, n_labeled):
    split = hide_labels(labeled_data([10, 90, 300, 600]), n_labeled, 0.3, seed)
    np.testing.assert_array_equal(np.bincount(split.y_hidden), [7, 63, 210, 420])
    labeled = np.bincount(split.y_train[split.labeled], minlength=4)
    ideal = n_labeled * np.array([0.01, 0.09, 0.3, 0.6])
    assert (labeled >= 1).all()
    # Rounding moves a count by one half, making the sum right by one more; the two rarest may be raised to 1.
    assert (labeled - ideal <= 1.5).all()
    assert (ideal - labeled <= 2.5).all()


def test_every_row_is_as_likely_to_be_labeled_as_another_of_its_class():
    data = labeled_data([20, 20])
    drawn = np.zeros(40)
    for seed in range(500):
        split = hide_labels(data, 8, 0.5, seed)
        drawn[split.train_rows[split.labeled]] += 1
    # Binomial with mean 500 * 8/40 = 100 and standard deviation 9; allow five.
    assert np.abs(drawn - 100).max() < 45


def test_more_labels_with_the_same_seed_keep_the_test_rows():
    data = labeled_data([100, 100])
    few, many = (hide_labels(data, n_labeled, 0.3, 5) for n_labeled in (10, 50))
    np.testing.assert_array_equal(few.X_test, many.X_test)
    assert set(few.labeled) < set(many.labeled)


@each(
    "counts, options, message",
    [
        ([50, 50], {"n_labeled": 71}, r"between 2 and 70 \(the number of training rows\), got 71"),
        ([50, 50], {"n_labeled": 1}, "^n_labeled must be a whole number between 2 and 70"),
        ([50, 50], {"n_labeled": 2.5}, "^n_labeled must be a whole number"),
        ([50, 50], {"test_share": 0}, "^test_share must be a number between 0.001 and 0.9, got 0$"),
        ([50, 50], {"test_share": 0.91}, "^test_share must be a number between 0.001 and 0.9"),
        ([50, 50], {"test_share": float("nan")}, "^test_share must be a number between 0.001 and 0.9"),
        ([50, 50], {"seed": -1}, "^seed must be a whole number"),
        ([50, 50], {"scaling": "log"}, "^scaling must be one of unit, standard, none, got 'log'$"),
        ([50, 1], {}, "^each class must have at least 2 rows, got 1 of 'b'$"),
        ([50, 0, 50], {}, "^each class must have at least 2 rows, got 0 of 'b'$"),
        ([50, 50, 50], {"n_labeled": 2}, "^n_labeled must be at least 3, one for each class, got 2$"),
        ([10, 10], {"test_share": 0.05}, "^the number of test rows must be at least 2"),
        ([6, 7, 7], {"test_share": 0.9, "n_labeled": 2}, "must be at least 3"),
        ([2, 2], {"test_share": 0.9, "n_labeled": 2}, "^at least 2 training rows must be left, got 0 of 4"),
    ],
)
def test_a_split_that_cannot_be_made_is_refused_with_one_sentence(counts, options, message):
    with pytest.raises(DataError, match=message):
        hide_labels(labeled_data(counts), **({"n_labeled": 10, "test_share": 0.3, "seed": 0} | options))


def test_pairs_share_a_class_and_leave_the_shares_of_the_others():
    data = load("gaussian_mixture", n=2000, imbalance=0.7)
    split = draw_pairs(data, 200, 0.3, seed=1)
    ids = split.y_train[split.labeled]
    assert np.bincount(ids).tolist() == [2] * 200
    for pair in range(200):
        assert len(set(split.y_hidden[split.y_train == pair])) == 1
    # pi^2 / (pi^2 + (1 - pi)^2) = 0.845 of the pairs are positive, give or take three standard errors of 0.026.
    assert np.mean(split.y_hidden[split.labeled]) == pytest.approx(0.845, abs=0.08)
    assert np.mean(split.y_hidden[split.y_train == -1]) == pytest.approx(0.7, abs=0.01)
    again = draw_pairs(data, 200, 0.3, seed=1)
    assert again.X_train.tobytes() == split.X_train.tobytes()
    assert again.y_train.tolist() == split.y_train.tolist()


@each("n_pairs", [0, -1, 1.5, 400, 10**6])
def test_more_pairs_than_the_rows_allow_get_one_sentence(n_pairs):
    with pytest.raises(DataError, match="similar pairs") as caught:
        draw_pairs(load("two_moons", n=1000, imbalance=0.7), n_pairs, 0.3, seed=0)
    assert "\n" not in str(caught.value)
