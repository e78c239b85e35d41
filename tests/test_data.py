"""Data sets known by name: what each promises, conversions, hidden labels, and assumptions that are broken on purpose."""

import re

import numpy as np
import pandas as pd
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_files import FOLDER
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine, make_friedman1
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from dsgcore import Run, Spec
from dsgcore.data import (
    DATASETS,
    DataError,
    Dataset,
    broken,
    draw_pairs,
    equal_frequency_bins,
    hide_labels,
    load,
    sets,
)
from dsgcore.data.datasets import CountError
from dsgcore.data.inspection import coverage, leaks
from dsgcore.data.splits import fit_scaling
from dsgcore.experiments import load_dataset
from dsgcore.experiments.data_of import load_split

BINARY = ["two_moons", "circles", "xor", "gaussian_mixture", "two_gaussians", "high_dimensional", "misleading_gap"]
DRAWN = [*BINARY, "spirals", "blobs", "ordinal_ramp", "ordinal_rings", "friedman"]
ARRAYS = ("X_train", "y_train", "y_hidden", "X_test", "y_test", "labeled", "train_rows", "test_rows")
seeds = st.integers(0, 2**32 - 1)
few_examples = settings(max_examples=25)


def assert_well_formed(data):
    assert (data.X.dtype, data.y.dtype, data.X.flags.c_contiguous) == (np.float32, np.int64, True)
    assert data.X.shape == (len(data.y), len(data.feature_names))
    assert set(np.unique(data.y)) == set(range(len(data.class_names)))
    assert np.isfinite(data.X).all()


def dataset_of(X, y, k=None):
    X, names = np.asarray(X, dtype=np.float32), tuple("abcdefgh"[: k or int(np.max(y)) + 1])
    return Dataset("made", X, np.asarray(y), tuple(f"x{j}" for j in range(X.shape[1])), names, "test", "none")


def labeled_data(counts, d=3):
    """Return random points with given class counts, sorted by class."""
    y = np.repeat(np.arange(len(counts)), counts)
    return dataset_of(np.random.default_rng(0).standard_normal((len(y), d)) * 50 + 7, y, len(counts))


def assert_same(first, second):
    for name in ARRAYS:
        a, b = getattr(first, name), getattr(second, name)
        assert a.dtype == b.dtype == (np.float32 if name.startswith("X") else np.int64)
        assert a.flags.c_contiguous
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", list(DATASETS))
def test_an_entry_describes_what_it_loads(name):
    entry, data = DATASETS[name], load(name)
    assert_well_formed(data)
    assert data.X.shape == (entry.n, entry.d)
    assert (data.name, data.licence, data.source) == (name, entry.licence, entry.source)
    assert data.class_names == entry.class_names
    options = {option.name for option in entry.options}
    assert ("imbalance" in options) == (entry.target == "binary")
    assert ("n_classes" in options) == (entry.target in ("ordinal", "regression"))
    for option in entry.options:  # the ends of its range are accepted, and what is beyond is refused by its name
        for end in (option.low, min(option.high, 2000)):
            assert_well_formed(load(name, **{option.name: end}))
        for wrong in (option.low - 1, option.high + 1, float("nan"), "some"):
            with pytest.raises(DataError, match=f"^{option.name} must be"):
                load(name, **{option.name: wrong})


def hidden(*counts, **options):
    return hide_labels(labeled_data(counts), **({"n_labeled": 10, "test_share": 0.3, "seed": 0} | options))


def pairs(n_pairs, seed=0, **options):
    return draw_pairs(load("two_moons", **{"n": 1000, "imbalance": 0.7, "seed": seed, **options}), n_pairs, 0.3, seed)


def blobs(n_labeled=60, **damage):
    return broken(hide_labels(load("blobs", n=600), n_labeled, 0.3, 0), **{"label_noise": 0, "prior_shift": 0} | damage)


SHARE = "test_share must be a number between 0.001 and 0.9, got"
REFUSED = [
    (lambda: load("xor", seed=-1), "seed must be .*"),
    (lambda: load("breast_cancer", n=570), "n must be a whole number between 20 and 569 or None, got 570"),
    (lambda: load("breast_cancer", n=500, imbalance=0.2), r"n must be .* 20 and 446 \(the rows left\), got 500"),
    (lambda: load("spiral"), "the data set must be one of two_moons, .*, got 'spiral'"),
    (lambda: load("xor", gamma=1), "the options of xor are n, noise, imbalance, seed, got 'gamma'"),
    (lambda: load("xor", noise=None), "noise must be a number between 0 and 2, got None"),
    (lambda: hidden(50, 50, n_labeled=71), r".*between 2 and 70 \(the number of training rows\), got 71"),
    (lambda: hidden(50, 50, n_labeled=1), "n_labeled must be a whole number between 2 and 70.*"),
    (lambda: hidden(50, 50, n_labeled=2.5), "n_labeled must be a whole number.*"),
    (lambda: hidden(50, 50, test_share=0), f"{SHARE} 0"),
    (lambda: hidden(50, 50, test_share=0.91), f"{SHARE} 0.91"),
    (lambda: hidden(50, 50, test_share=float("nan")), f"{SHARE} nan"),
    (lambda: hidden(50, 50, seed=-1), "seed must be a whole number.*"),
    (lambda: hidden(50, 50, scaling="log"), "scaling must be one of unit, standard, none, got 'log'"),
    (lambda: hidden(50, 1), "each class must have at least 2 labeled rows, one of them for testing: got 1 of 'b'"),
    (lambda: hidden(1, 1), "each class must have at least 2 labeled rows, one of them for testing: got 1 of 'a'"),
    (lambda: hidden(50, 0, 50), "each class must have at least 2 labeled rows, .* got 0 of 'b'"),
    (lambda: hidden(50, 50, 50, n_labeled=2), "n_labeled must be at least 3, one for each class, got 2"),
    (lambda: hidden(10, 10, test_share=0.05), "the number of test rows must be at least 2.*"),
    (lambda: hidden(6, 7, 7, test_share=0.9, n_labeled=2), ".*must be at least 3.*"),
    (lambda: hidden(2, 2, test_share=0.9, n_labeled=2), "at least 2 training rows must be left, got 0 of 4.*"),
    *((lambda n=n: pairs(n), ".*similar pairs.*") for n in (0, -1, 1.5, 400, 10**6)),
    (lambda: blobs(label_noise=-0.1, seed=0), "label_noise must be a number between 0 and 1, got -0.1"),
    (lambda: blobs(label_noise=float("nan"), seed=0), "label_noise must be a number between 0 and 1, got nan"),
    (lambda: blobs(prior_shift=1.0, seed=0), "prior_shift must be a number between -0.95 and 0.95, got 1.0"),
    (lambda: blobs(label_noise=0.5, seed=-1), "seed must be a whole number.*"),
]


@each("make, said", REFUSED)
def test_what_cannot_be_made_is_refused_in_one_sentence(make, said):
    with pytest.raises(DataError, match=rf"^{said}\Z"):
        make()


def test_only_a_wrong_number_of_labels_or_pairs_names_the_nearest_one_that_the_data_have():
    for make, _ in REFUSED:  # a page sets the number of labels to that one
        with pytest.raises(DataError) as refused:
            make()
        assert not isinstance(refused.value, CountError) or re.search("n_labeled|similar pairs", str(refused.value))
    for n_labeled, nearest in ((1, 2), (71, 70)):
        with pytest.raises(CountError) as refused:
            hidden(50, 50, n_labeled=n_labeled)
        assert refused.value.nearest == nearest


# --- drawn sets


@few_examples
@given(name=st.sampled_from(DRAWN), n=st.integers(20, 400), seed=seeds, data=st.data())
def test_drawn_sets_have_the_asked_size_and_shares_and_repeat_bit_by_bit(name, n, seed, data):
    options = {
        option.name: data.draw(
            st.integers(option.low, min(option.high, 20))
            if option.name.startswith("n_")
            else st.floats(option.low, option.high)
        )
        for option in DATASETS[name].options
        if option.name != "n"
    }
    made, again = (load(name, n=n, seed=seed, **options) for _ in "ab")
    assert (made.X.tobytes(), made.y.tobytes()) == (again.X.tobytes(), again.y.tobytes())
    if "imbalance" in options:
        assert_well_formed(made)
        assert made.y.sum() == min(max(round(n * options["imbalance"]), 1), n - 1)
    else:
        counts = np.bincount(made.y, minlength=len(made.class_names))
        assert len(counts) == options.get("n_classes", len(made.class_names))
        assert (counts.sum(), np.ptp(counts) <= 1) == (n, True)
    if "n_classes" in options:  # the points do not depend on how many classes are cut
        assert made.X.tobytes() == load(name, n=n, seed=seed, **options | {"n_classes": 5}).X.tobytes()


def test_clean_shapes_are_what_they_say():
    rings, square, mixture = sets.circles(noise=0), sets.xor(noise=0, imbalance=0.2), sets.gaussian_mixture(noise=0)
    np.testing.assert_allclose(np.linalg.norm(rings.X, axis=1), np.where(rings.y == 1, 0.5, 1.0), rtol=1e-6)
    np.testing.assert_array_equal(square.X.prod(axis=1) > 0, square.y == 1)
    assert [len(np.unique(mixture.X[own], axis=0)) for own in (slice(None), mixture.y == 1)] == [6, 3]
    arms, other, corners = sets.spirals(noise=0.0), sets.spirals(noise=0.0, seed=1), sets.blobs(noise=0.0)
    assert np.linalg.norm(arms.X, axis=1).max() <= 1 + 1e-6
    assert KNeighborsClassifier(1).fit(arms.X, arms.y).score(other.X, other.y) == 1.0
    assert LogisticRegression().fit(arms.X, arms.y).score(arms.X, arms.y) < 0.8  # no straight lines
    np.testing.assert_allclose(np.linalg.norm(corners.X, axis=1), 1.5, rtol=1e-6)
    assert len(np.unique(corners.X.round(4), axis=0)) == 6


def test_ordered_classes_follow_the_height_that_is_cut():
    rings, ramp = sets.ordinal_rings(noise=0.0, n_classes=7), sets.ordinal_ramp(noise=0.0, n_classes=7)
    friedman = sets.friedman(noise=0.0)
    X = friedman.X.astype(np.float64)
    target = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    assert X.shape[1] == make_friedman1(20)[0].shape[1] == 10
    for data, height in (
        (rings, np.linalg.norm(rings.X, axis=1)),
        (ramp, ramp.X[:, 0] + 0.5 * np.sin(3 * ramp.X[:, 1])),
        (friedman, target),
    ):
        for j in range(len(data.class_names) - 1):
            # float32 points: Friedman's target is right to about 1e-5.
            assert height[data.y == j].max() <= height[data.y == j + 1].min() + 1e-4 * (data is friedman)


# --- sets that come with scikit-learn, and the files of sample_data


COPIES = {
    "digits": load_digits,
    "breast_cancer": load_breast_cancer,
    "wine": load_wine,
    "iris": load_iris,
    "diabetes": lambda: load_diabetes(scaled=False),
}


@each("name", COPIES)
def test_a_file_equals_scikit_learns_copy_and_is_what_the_app_loads(name):
    # As text first: pandas' own reading of numbers is not exact in every release.
    table, bunch = pd.read_csv(FOLDER / f"{name}.csv", dtype=str), COPIES[name]()
    data, points = load("ten_digits" if name == "digits" else name), table.iloc[:, :-1].to_numpy()
    # scikit-learn 1.6 holds some numbers as 4.803999999999999, later releases as 4.804.
    np.testing.assert_array_max_ulp(points.astype(float), bunch.data, maxulp=1)
    np.testing.assert_array_equal(points.astype(np.float32), bunch.data.astype(np.float32))
    np.testing.assert_array_equal(points.astype(np.float32), data.X)
    assert list(table.columns) == [*map(str, bunch.feature_names), "class"]
    shown = [f"bin {label}" if name == "diabetes" else label for label in table["class"]]
    assert shown == [data.class_names[code] for code in data.y]
    if name in ("digits", "diabetes"):
        codes = bunch.target if name == "digits" else equal_frequency_bins(bunch.target, 5) + 1
        np.testing.assert_array_equal(table["class"].astype(int), codes)
    else:
        np.testing.assert_array_equal(table["class"], bunch.target_names[bunch.target])
    if name == "digits":
        np.testing.assert_array_equal(load("digits").X, bunch.data)
        np.testing.assert_array_equal(load("digits").y, bunch.target % 2 == 0)
    if name == "breast_cancer":  # malignant is positive here and 0 in scikit-learn
        assert data.class_names == ("benign", "malignant")


# --- conversions


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=200), k=st.integers(2, 20))
def test_bins_are_as_equal_as_equal_values_let_them_be_and_keep_the_order(values, k):
    bins = equal_frequency_bins(np.array(values), k)
    assert sorted(set(bins)) == list(range(bins.max() + 1))
    most = np.unique(values, return_counts=True)[1].max()
    assert bins.max() + 1 == k if most == 1 else bins.max() < k
    assert np.bincount(bins).max() <= len(values) / k + 1 + 2 * (most - 1)
    highest = -np.inf
    for j in range(bins.max() + 1):
        own = np.array(values)[bins == j]
        assert highest < own.min()  # equal values are in one bin
        highest = own.max()


def spec(setting, **data):
    return Spec.from_dict({"setting": setting, "data": {"n_labeled": 20, **data}})


# --- hidden labels


@st.composite
def askable(draw):
    """Class counts, and a split that they allow."""
    counts = draw(st.lists(st.integers(2, 60), min_size=2, max_size=5))
    n, k = sum(counts), len(counts)
    n_test = draw(st.integers(k, min(n - k, int(0.9 * n)))) if min(n - k, int(0.9 * n)) >= k else None
    if n_test is None or n - n_test < 2:
        counts, n, n_test = [20] * k, 20 * k, 5 * k
    return counts, n_test, draw(st.integers(k, n - n_test))


@settings(max_examples=40)
@given(asked=askable(), seed=seeds, stratified=st.booleans(), scaling=st.sampled_from(["unit", "standard", "none"]))
def test_a_split_is_a_partition_with_the_asked_numbers_and_repeats_to_the_bit(asked, seed, stratified, scaling):
    counts, n_test, n_labeled = asked
    data = labeled_data(counts)
    n = len(data.y)
    split, again = (hide_labels(data, n_labeled, n_test / n, seed, stratified, scaling=scaling) for _ in "ab")
    assert_same(split, again)
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


@each("scaling", ["unit", "standard"])
def test_standard_scaling_has_mean_zero_and_deviation_one_and_constant_features_become_zero(scaling):
    data = labeled_data([400, 600], d=70)
    rows = hide_labels(data, 10, 0.3, 1).test_rows
    data.X[:, 0] = 0.1
    data.X[rows[0], 0] = 9.0
    split = hide_labels(data, 10, 0.3, 1, scaling=scaling)
    assert not split.X_train[:, 0].any()
    assert not split.X_test[:, 0].any()
    assert split.scaling.width[0] == 0
    if scaling == "standard":  # float32 means of 700 values of order 1: rounding errors below 1e-6
        np.testing.assert_allclose(split.X_train.mean(axis=0, dtype=np.float64), 0, atol=1e-6)
        np.testing.assert_allclose(split.X_train.std(axis=0, dtype=np.float64)[1:], 1, atol=1e-6)


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
    small = hide_labels(labeled_data([2, 40]), 2, 0.9, seed)  # a class of two rows: one for testing and one label
    assert sorted(small.y_train[small.labeled]) == [0, 1]
    assert np.bincount(small.y_test).tolist() == [1, 37]
    # The labels that rare classes get beyond their share are taken from the large classes alike.
    many = hide_labels(labeled_data([4] * 20 + [300, 300]), 40, 0.5, seed)
    assert np.bincount(many.y_train[many.labeled]).tolist() == [1] * 20 + [10, 10]


def test_more_labels_with_the_same_seed_keep_the_test_rows_and_unstratified_ones_are_drawn_from_all_alike():
    few, many = (hide_labels(labeled_data([100, 100]), n_labeled, 0.3, 5) for n_labeled in (10, 50))
    np.testing.assert_array_equal(few.X_test, many.X_test)
    assert set(few.labeled) < set(many.labeled)
    counts = [np.bincount(hide_labels(load("iris"), 9, 0.3, seed, False).y_train + 1)[1:] for seed in range(30)]
    assert any(len(set(c.tolist())) > 1 for c in counts)


def test_pairs_share_a_class_and_leave_the_shares_of_the_others():
    data = load("gaussian_mixture", n=2000, imbalance=0.7)
    split = draw_pairs(data, 200, 0.3, seed=1)
    assert np.bincount(split.y_train[split.labeled]).tolist() == [2] * 200
    assert all(len(set(split.y_hidden[split.y_train == pair])) == 1 for pair in range(200))
    # pi^2 / (pi^2 + (1 - pi)^2) = 0.845 of the pairs are positive, give or take three standard errors of 0.026.
    assert np.mean(split.y_hidden[split.labeled]) == pytest.approx(0.845, abs=0.08)
    assert np.mean(split.y_hidden[split.y_train == -1]) == pytest.approx(0.7, abs=0.01)
    left = np.bincount(hide_labels(data, 2, 0.3, seed=1).y_hidden) - np.bincount(split.y_hidden)
    assert left.min() <= 1  # of one class all are there
    assert_same(split, draw_pairs(data, 200, 0.3, seed=1))


# --- facts about a set


def line(n=40):
    """Points on a line, one class left and one right."""
    return dataset_of(np.stack([np.arange(n), np.zeros(n)], axis=1), (np.arange(n) >= n // 2).astype(np.int64))


def test_coverage_is_the_distance_to_the_nearest_labeled_point():
    split = hide_labels(line(40), 4, 0.5, 3, scaling="none")
    found = coverage(split)
    labeled, rows = split.X_train[split.labeled, 0], np.flatnonzero(split.y_train == -1)
    np.testing.assert_allclose(found.to_labeled, np.abs(split.X_train[rows, 0][:, None] - labeled).min(axis=1))
    others = np.abs(split.X_train[rows, 0][:, None] - split.X_train[:, 0])
    np.testing.assert_allclose(found.to_any, np.sort(others, axis=1)[:, 1])
    assert 0.5 < found.n_right / found.n_known <= 1
    nothing = coverage(hide_labels(line(40), 20, 0.5, 3))
    assert (len(nothing.to_labeled), nothing.n_right, nothing.n_known) == (0, 0, 0)


def test_duplicates_across_train_and_test_are_found():
    data = line(40)
    clean = hide_labels(data, 10, 0.5, 0)
    assert len(leaks(clean).test_rows) == leaks(clean).within_training == 0
    data.X[clean.test_rows[:3]] = data.X[clean.train_rows[[4, 5, 5]]]
    data.X[clean.train_rows[7]] = data.X[clean.train_rows[5]]
    found = leaks(hide_labels(data, 10, 0.5, 0))
    assert found.test_rows.tolist() == clean.test_rows[:3].tolist()
    assert found.train_rows.tolist() == clean.train_rows[[4, 5, 5]].tolist()
    assert found.contradicting == int(np.sum(data.y[found.test_rows] != data.y[found.train_rows]))
    assert found.within_training == 1


# --- assumptions broken on purpose


@few_examples
@given(share=st.floats(0, 1), seed=seeds)
def test_so_many_labels_are_wrong_and_no_others_change(share, seed):
    split, noisy = blobs(seed=0), blobs(label_noise=share, seed=seed)
    is_wrong = noisy.y_train[split.labeled] != split.y_hidden[split.labeled]
    assert is_wrong.sum() == round(share * 60)
    assert set(noisy.y_train[split.labeled]) <= set(range(6))
    np.testing.assert_array_equal(noisy.y_hidden, split.y_hidden)
    np.testing.assert_array_equal(noisy.labeled, split.labeled)
    assert (np.delete(noisy.y_train, split.labeled) == -1).all()
    assert_same(noisy, blobs(label_noise=share, seed=seed))


def test_a_wrong_label_is_any_other_class_alike():
    wrong = np.zeros(6)
    for seed in range(20):
        noisy = blobs(400, label_noise=1.0, seed=seed)
        wrong += np.bincount((noisy.y_train - noisy.y_hidden)[noisy.labeled] % 6, minlength=6)
    assert wrong[0] == 0
    # 8000 draws of five: 1600 each, standard deviation 36; allow five.
    assert np.abs(wrong[1:] - 1600).max() < 180


@few_examples
@given(share=st.floats(0, 0.6), seed=seeds)
def test_so_many_pairs_mix_two_classes(share, seed):
    split = pairs(40, n=600)
    noisy = broken(split, label_noise=share, prior_shift=0.0, seed=seed, is_pairs=True)
    assert np.bincount(noisy.y_train[noisy.labeled]).tolist() == [2] * 40
    is_mixed = [len(set(noisy.y_hidden[noisy.y_train == pair])) == 2 for pair in range(40)]
    assert sum(is_mixed) == round(share * 40)
    assert np.sum(noisy.y_train == -1) == np.sum(split.y_train == -1)


@few_examples
@given(shift=st.floats(-0.95, 0.95), seed=seeds)
def test_unlabeled_points_of_one_half_of_the_classes_are_left_out(shift, seed):
    split, shifted = blobs(seed=0), blobs(prior_shift=shift, seed=seed)
    before, after = (np.bincount(s.y_hidden[s.y_train == -1] >= 3, minlength=2) for s in (split, shifted))
    thinned = int(shift < 0)
    assert after[thinned] == before[thinned] - round(abs(shift) * before[thinned])
    assert after[1 - thinned] == before[1 - thinned]
    assert sorted(shifted.y_train[shifted.labeled]) == sorted(split.y_train[split.labeled])
    np.testing.assert_array_equal(shifted.X_test, split.X_test)
    kept = np.isin(split.train_rows, shifted.train_rows)
    np.testing.assert_array_equal(split.X_train[kept], shifted.X_train)
    np.testing.assert_array_equal(split.y_hidden[kept], shifted.y_hidden)


def run_of(setting, **data):
    data = {"name": "two_moons", "n": 300, "imbalance": 0.7, "n_labeled": 30, **data}
    run = Run(Spec.from_dict({"setting": setting, "data": data, "solver": {"n_iter": 3, "n_features": 8}, "seed": 5}))
    run.advance()
    return run


@each("setting", ["auc", "s3vm", "similar_unlabeled", "multiclass"])
def test_a_run_with_broken_assumptions_is_its_specs(setting):
    run, plain = run_of(setting, label_noise=0.2, prior_shift=-0.5), run_of(setting)
    again = Run(Spec.from_json(run.spec.to_json()))
    again.advance()
    assert_same(run.split, again.split)
    assert run.history.last() == again.history.last()
    damage = {"label_noise": 0.2, "prior_shift": -0.5, "seed": 5}
    assert_same(run.split, broken(plain.split, **damage, is_pairs=setting == "similar_unlabeled"))
    assert len(run.split.X_train) < len(plain.split.X_train)
    assert run.split.X_test.tobytes() == plain.split.X_test.tobytes()


@each("name", ["wine", "file"])
def test_the_data_of_a_spec_are_those_that_its_split_holds(name, tmp_path):
    rows = (FOLDER / "wine.csv").read_text(encoding="utf-8").splitlines()
    rows[5] = "," + rows[5].split(",", 1)[1]  # a missing number: the training rows' mean takes its place
    (tmp_path / "mine.csv").write_text("\n".join(rows), encoding="utf-8")
    own = spec("multiclass", name=name, **{"path": str(tmp_path / "mine.csv")} if name == "file" else {})
    split = load_split(own)
    data = load_dataset(own, fitted_rows=split.train_rows)
    scaled = fit_scaling(data.X, split.train_rows, own.data.scaling).apply(data.X[split.train_rows])
    np.testing.assert_allclose(scaled, split.X_train, rtol=0, atol=1e-6)  # a file's points are scaled in float64
    np.testing.assert_array_equal(data.y[split.test_rows], split.y_test)
