"""The data sets known by name: what each promises of itself, and the options of all."""

import numpy as np
import pytest
from cases import each
from data_makers import assert_well_formed, few_examples, seeds
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from dsgcore import Run, Spec
from dsgcore import data as sets
from dsgcore.data import DATASETS, OPTION_NAMES, DataError, load
from dsgcore.data.datasets import KINDS, LABELS

FLAT = ["two_moons", "circles", "xor", "gaussian_mixture"]
DRAWN_BINARY = [*FLAT, "two_gaussians", "high_dimensional", "misleading_gap"]
SHAPES = [*FLAT, "misleading_gap", "spirals", "blobs"]
ORDERED = ["ordinal_ramp", "ordinal_rings", "friedman"]
BUNDLED = ["digits", "breast_cancer", "ten_digits", "wine", "iris"]


@pytest.mark.parametrize("name", list(DATASETS))
def test_an_entry_describes_what_it_loads(name):
    entry, data = DATASETS[name], load(name)
    assert_well_formed(data)
    assert data.X.shape == (entry.n, entry.d)
    assert data.name == entry.name == name
    assert (data.licence, data.source, data.class_names) == (entry.licence, entry.source, entry.class_names)
    assert entry.target in KINDS
    options = [option.name for option in entry.options]
    assert options == [option for option in OPTION_NAMES if option in options]
    assert ("imbalance" in options) == (entry.target == "binary")
    assert ("n_classes" in options) == (entry.target in ("ordinal", "regression"))


@each("name", list(DATASETS))
def test_the_ends_of_each_range_are_accepted_and_what_is_beyond_is_refused_by_name(name):
    for option in DATASETS[name].options:
        for end in (option.low, min(option.high, 2000)):
            assert_well_formed(load(name, **{option.name: end}))
        for wrong in (option.low - 1, option.high + 1, float("nan"), "some"):
            with pytest.raises(DataError, match=f"^{option.name} must be"):
                load(name, **{option.name: wrong})
    with pytest.raises(DataError, match=r"^seed must be"):
        load(name, seed=-1)


def test_load_refuses_with_one_sentence():
    for name, options, said in (
        ("breast_cancer", {"n": 570}, "n must be a whole number between 20 and 569 or null, got 570"),
        ("breast_cancer", {"n": 500, "imbalance": 0.2}, r"n must be .* between 20 and 446 \(the rows left\), got 500"),
        ("spiral", {}, "the data set must be one of two_moons, .*, got 'spiral'"),
        ("xor", {"gamma": 1}, "the options of xor are n, noise, imbalance, seed, got 'gamma'"),
        ("xor", {"noise": None}, "noise must be a number between 0 and 2, got None"),
    ):
        with pytest.raises(DataError, match=f"^{said}$"):
            load(name, **options)


# --- which sets suit which labels


def made_for(labels):
    return [entry.name for entry in DATASETS.values() if entry.is_made_for(labels)]


def test_every_kind_of_labels_has_data_sets_that_are_made_for_it():
    assert made_for("binary") == made_for("pairs") == [*DRAWN_BINARY, "digits", "breast_cancer"]
    assert made_for("ordinal") == [*ORDERED, "diabetes"]
    assert made_for("classes") == ["spirals", "blobs", "ten_digits", "wine", "iris"]


def test_a_set_suits_a_setting_or_says_in_one_sentence_why_not():
    unsuited = set()
    for entry in DATASETS.values():
        for labels in LABELS:
            reason = entry.why_not(labels)
            assert entry.suits(labels) == (reason == "")
            assert reason.count(".") == (not entry.suits(labels))
            if reason:
                assert entry.title in reason
                unsuited.add((entry.name, labels))
    assert unsuited == {(name, "ordinal") for name in (*made_for("binary"), "spirals", "blobs", "wine", "iris")}
    assert "two classes" in DATASETS["two_moons"].why_not("ordinal")
    assert "no order" in DATASETS["iris"].why_not("ordinal")


def test_pairs_get_unequal_shares_where_the_set_lets_them_be_chosen():
    for entry in DATASETS.values():
        assert entry.usual_options("binary") == {}
        share = np.mean(load(entry.name, **entry.usual_options("pairs")).y == 1)
        assert entry.target != "binary" or abs(share - 0.5) > 0.1


# --- drawn sets


@few_examples
@given(name=st.sampled_from([*SHAPES, *DRAWN_BINARY, *ORDERED]), n=st.integers(20, 400), seed=seeds, data=st.data())
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
    assert made.X.tobytes() == again.X.tobytes()
    assert made.y.tobytes() == again.y.tobytes()
    if "imbalance" in options:
        assert_well_formed(made)
        assert made.y.sum() == min(max(round(n * options["imbalance"]), 1), n - 1)
    else:
        counts = np.bincount(made.y, minlength=len(made.class_names))
        assert len(counts) == options.get("n_classes", len(made.class_names))
        assert (counts.sum(), np.ptp(counts) <= 1) == (n, True)
    if "n_classes" in options:  # the points do not depend on how many classes are cut
        assert made.X.tobytes() == load(name, n=n, seed=seed, **options | {"n_classes": 5}).X.tobytes()


@each("name", SHAPES)
def test_noise_is_the_standard_deviation_of_what_is_added(name):
    clean, noisy = (load(name, n=20_000, noise=noise, seed=3) for noise in (0.0, 0.7))
    np.testing.assert_array_equal(clean.y, noisy.y)
    added = noisy.X.astype(np.float64) - clean.X
    # The standard deviation of 20,000 draws has a relative standard error of 1/sqrt(40,000) = 0.5 %; allow 4.
    np.testing.assert_allclose(added.std(axis=0), 0.7, rtol=0.02)


@each("name", SHAPES[:5])
def test_seeds_differ_and_rows_are_shuffled(name):
    assert not np.array_equal(load(name, seed=1).X, load(name, seed=2).X)
    y = load(name, n=1000, seed=1).y
    assert 400 < np.abs(np.diff(y)).sum() < 600  # 499.5 changes are expected, standard deviation 16


def test_clean_shapes_are_what_they_say():
    rings, square, mixture = sets.circles(noise=0), sets.xor(noise=0, imbalance=0.2), sets.gaussian_mixture(noise=0)
    np.testing.assert_allclose(np.linalg.norm(rings.X, axis=1), np.where(rings.y == 1, 0.5, 1.0), rtol=1e-6)
    np.testing.assert_array_equal(square.X.prod(axis=1) > 0, square.y == 1)
    assert [len(np.unique(mixture.X[own], axis=0)) for own in (slice(None), mixture.y == 1)] == [6, 3]
    arms, corners = sets.spirals(noise=0.0), sets.blobs(noise=0.0)
    assert np.linalg.norm(arms.X, axis=1).max() <= 1 + 1e-6
    other = sets.spirals(noise=0.0, seed=1)
    assert KNeighborsClassifier(1).fit(arms.X, arms.y).score(other.X, other.y) == 1.0
    assert LogisticRegression().fit(arms.X, arms.y).score(arms.X, arms.y) < 0.8  # no straight lines
    np.testing.assert_allclose(np.linalg.norm(corners.X, axis=1), 1.5, rtol=1e-6)
    assert len(np.unique(corners.X.round(4), axis=0)) == 6


@each("separation", [0.0, 1.0, 3.0])
def test_the_best_line_errs_as_often_as_the_separation_says(separation):
    for data in (sets.two_gaussians(40_000, separation), sets.high_dimensional(40_000, separation, 3)):
        errors = np.mean((data.X[:, 0] + data.X[:, 1] > 0) != (data.y == 1))
        # A share of 40,000 draws has a standard error of at most 0.0025; allow four.
        assert errors == pytest.approx(norm.cdf(-separation / 2), abs=0.01)


def test_irrelevant_features_are_standard_normal_in_both_classes():
    data = sets.high_dimensional(20_000, n_irrelevant=5)
    assert data.X.shape == (20_000, 7)
    for label in (0, 1):
        own = data.X[data.y == label]
        # Means of 10,000 draws: standard error 0.01; allow five.
        assert np.abs(own[:, 2:].mean(axis=0)).max() < 0.05
        assert np.abs(own.std(axis=0) - 1).max() < 0.05
        np.testing.assert_allclose(own[:, :2].mean(axis=0), (label - 0.5) * 4 / np.sqrt(2), atol=0.05)
    assert sets.high_dimensional(n=50, n_irrelevant=0).X.shape == (50, 2)


def test_ordered_classes_follow_the_height_that_is_cut():
    rings, ramp = sets.ordinal_rings(noise=0.0, n_classes=7), sets.ordinal_ramp(noise=0.0, n_classes=7)
    friedman = sets.friedman(noise=0.0)
    X = friedman.X.astype(np.float64)
    target = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    for data, height in (
        (rings, np.linalg.norm(rings.X, axis=1)),
        (ramp, ramp.X[:, 0] + 0.5 * np.sin(3 * ramp.X[:, 1])),
        (friedman, target),
    ):
        for j in range(len(data.class_names) - 1):
            # float32 points: Friedman's target is right to about 1e-5.
            assert height[data.y == j].max() <= height[data.y == j + 1].min() + 1e-4 * (data is friedman)
    assert X.shape[1] == make_friedman1(20)[0].shape[1] == 10


def test_the_misleading_gap_lies_across_the_boundary():
    data = sets.misleading_gap(n=4000, noise=0.0)
    np.testing.assert_array_equal(data.X[:, 0] > 0, data.y == 1)
    assert set(np.round(data.X[:, 1], 4)) == {np.float32(-0.7), np.float32(0.7)}
    for label in (0, 1):
        assert np.mean(data.X[data.y == label, 1] > 0) == pytest.approx(0.5, abs=0.05)
    # Dense at the boundary, thin at the ends.
    assert np.sum(np.abs(data.X[:, 0]) < 0.25) > 5 * np.sum(np.abs(data.X[:, 0]) > 1.25)


def test_unlabeled_data_hurt_where_the_cluster_assumption_is_false():
    gains = []
    plain = {"kernel": {"sigma": 5.0}, "solver": {"n_iter": 150}, "diagnostics": {"n_probes": 0}}
    plain["data"] = {"name": "misleading_gap", "n": 600, "n_labeled": 10}
    for seed in range(6):
        spec = Spec.from_dict({"setting": "s3vm", "seed": seed, **plain})
        scores = []
        for run in (Run(spec), Run(spec.baseline())):
            run.advance()
            scores.append(run.history.last()["score_test"])
        gains.append(scores[0] - scores[1])
    assert np.mean(gains) < -0.03
    assert np.mean(np.array(gains) < 0) > 0.5


# --- sets that come with scikit-learn


def test_bundled_data_are_whole_by_default():
    digits, ten_digits, cancer, bunch = (*map(load, ("digits", "ten_digits", "breast_cancer")), load_digits())
    np.testing.assert_array_equal(digits.X, bunch.data)
    np.testing.assert_array_equal(digits.y, bunch.target % 2 == 0)
    np.testing.assert_array_equal(ten_digits.X, bunch.data)
    np.testing.assert_array_equal(ten_digits.y, bunch.target)
    # Malignant is positive here and 0 in scikit-learn.
    np.testing.assert_array_equal(cancer.y, load_breast_cancer().target == 0)
    assert (cancer.class_names, ten_digits.class_names) == (("benign", "malignant"), tuple("0123456789"))
    assert (load("wine").X.shape, load("iris").class_names) == ((178, 13), ("setosa", "versicolor", "virginica"))


@few_examples
@given(name=st.sampled_from(BUNDLED), n=st.integers(20, 150), seed=seeds)
def test_bundled_subsamples_keep_the_class_shares(name, n, seed):
    data, everything = load(name, n=n, seed=seed), load(name)
    assert_well_formed(data)
    counts, expected = np.bincount(data.y), n * np.bincount(everything.y) / len(everything.y)
    assert counts.sum() == n
    assert (np.abs(counts - expected) <= (0.5 if len(counts) == 2 else 1)).all()
    assert data.X.tobytes() == load(name, n=n, seed=seed).X.tobytes()


@few_examples
@given(name=st.sampled_from(BUNDLED[:2]), imbalance=st.floats(0.02, 0.98), seed=seeds)
def test_bundled_imbalance_drops_rows_of_one_class_only(name, imbalance, seed):
    before, after = (np.bincount(load(name, seed=seed, **more).y) for more in ({}, {"imbalance": imbalance}))
    assert (before == after).any()
    assert (after <= before).all()
    # Rounding the dropped class by half a row moves the share by less than half a row's weight.
    assert abs(after[1] / after.sum() - imbalance) <= 0.5 / after.sum()


def test_bundled_noise_is_in_units_of_each_feature_and_of_the_row():
    clean, noisy = load("breast_cancer"), load("breast_cancer", noise=0.5, seed=4)
    ratio = (noisy.X - clean.X).std(axis=0) / clean.X.std(axis=0)
    # 569 draws: relative standard error 1/sqrt(1138) = 3 %; allow five over 30 features.
    np.testing.assert_allclose(ratio, 0.5, rtol=0.15)
    constant = np.ptp(load("digits").X, axis=0) == 0
    assert constant.any()
    assert (np.ptp(load("digits", noise=2.0).X, axis=0)[constant] == 0).all()
    for name in ("breast_cancer", "wine"):  # a row's noise does not depend on which others are chosen
        few, whole = load(name, n=50, noise=0.5, seed=4), load(name, noise=0.5, seed=4)
        assert set(map(bytes, few.X)) <= set(map(bytes, whole.X))
