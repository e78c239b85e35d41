"""Assumptions broken on purpose: wrong labels, mixed pairs, and other class shares among the unlabeled points."""

from pathlib import Path

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st

from dsgcore import Run, Spec
from dsgcore.data import DataError, broken, draw_pairs, hide_labels, load
from dsgcore.data.splits import fit_scaling
from dsgcore.experiments import load_dataset, load_split

SAMPLES = Path(__file__).parents[1] / "sample_data"
few_examples = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def split_of(name="blobs", n_labeled=60, seed=0):
    return hide_labels(load(name, n=600, seed=seed), n_labeled, 0.3, seed)


def pairs_of(n_pairs=40, seed=0):
    return draw_pairs(load("two_moons", n=600, imbalance=0.7, seed=seed), n_pairs, 0.3, seed)


def assert_same(first, second):
    for name in ("X_train", "y_train", "y_hidden", "X_test", "y_test", "labeled", "train_rows", "test_rows"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()


def test_nothing_asked_changes_nothing():
    for split, is_pairs in ((split_of(), False), (pairs_of(), True)):
        assert broken(split, label_noise=0.0, prior_shift=0.0, seed=3, is_pairs=is_pairs) is split


@few_examples
@given(share=st.floats(0, 1), seed=seeds)
def test_so_many_labels_are_wrong_and_no_others_change(share, seed):
    split = split_of()
    noisy = broken(split, label_noise=share, prior_shift=0.0, seed=seed)
    is_wrong = noisy.y_train[split.labeled] != split.y_hidden[split.labeled]
    assert is_wrong.sum() == round(share * 60)
    assert set(noisy.y_train[split.labeled]) <= set(range(6))
    np.testing.assert_array_equal(noisy.y_hidden, split.y_hidden)
    np.testing.assert_array_equal(noisy.labeled, split.labeled)
    assert (np.delete(noisy.y_train, split.labeled) == -1).all()
    assert_same(noisy, broken(split, label_noise=share, prior_shift=0.0, seed=seed))


def test_a_wrong_label_is_any_other_class_alike():
    split, wrong = split_of(n_labeled=400), np.zeros(6)
    for seed in range(20):
        noisy = broken(split, label_noise=1.0, prior_shift=0.0, seed=seed)
        wrong += np.bincount((noisy.y_train - split.y_hidden)[split.labeled] % 6, minlength=6)
    assert wrong[0] == 0
    # 8000 draws of five: 1600 each, standard deviation 36; allow five.
    assert np.abs(wrong[1:] - 1600).max() < 180


@few_examples
@given(share=st.floats(0, 0.6), seed=seeds)
def test_so_many_pairs_mix_two_classes(share, seed):
    split = pairs_of()
    noisy = broken(split, label_noise=share, prior_shift=0.0, seed=seed, is_pairs=True)
    assert np.bincount(noisy.y_train[noisy.labeled]).tolist() == [2] * 40
    is_mixed = [len(set(noisy.y_hidden[noisy.y_train == pair])) == 2 for pair in range(40)]
    assert sum(is_mixed) == round(share * 40)
    assert np.sum(noisy.y_train == -1) == np.sum(split.y_train == -1)
    np.testing.assert_array_equal(noisy.labeled, np.flatnonzero(noisy.y_train != -1))


@few_examples
@given(shift=st.floats(-0.95, 0.95), seed=seeds)
def test_unlabeled_points_of_one_half_of_the_classes_are_left_out(shift, seed):
    split = split_of()
    shifted = broken(split, label_noise=0.0, prior_shift=shift, seed=seed)
    before, after = (np.bincount(s.y_hidden[s.y_train == -1] >= 3, minlength=2) for s in (split, shifted))
    thinned = int(shift < 0)
    assert after[thinned] == before[thinned] - round(abs(shift) * before[thinned])
    assert after[1 - thinned] == before[1 - thinned]
    assert sorted(shifted.y_train[shifted.labeled]) == sorted(split.y_train[split.labeled])
    np.testing.assert_array_equal(shifted.X_test, split.X_test)
    kept = np.isin(split.train_rows, shifted.train_rows)
    np.testing.assert_array_equal(split.X_train[kept], shifted.X_train)
    np.testing.assert_array_equal(split.y_hidden[kept], shifted.y_hidden)


def test_of_two_classes_a_positive_shift_leaves_out_negatives_and_of_three_the_middle_stays():
    split = hide_labels(load("two_moons"), 40, 0.3, 0)
    shifted = broken(split, label_noise=0.0, prior_shift=0.5, seed=0)
    assert np.mean(shifted.y_hidden[shifted.y_train == -1]) == pytest.approx(2 / 3, abs=0.01)
    iris = hide_labels(load("iris"), 9, 0.3, 0)
    for shift, thinned in ((0.5, 0), (-0.5, 2)):
        counts = np.bincount(broken(iris, label_noise=0.0, prior_shift=shift, seed=0).y_hidden)
        assert (counts < np.bincount(iris.y_hidden)).tolist() == [j == thinned for j in range(3)]


@each(
    "options, message",
    [
        ({"label_noise": -0.1}, "label_noise must be a number between 0 and 1, got -0.1"),
        ({"label_noise": float("nan")}, "label_noise must be a number between 0 and 1, got nan"),
        ({"prior_shift": 1.0}, "prior_shift must be a number between -0.95 and 0.95, got 1.0"),
        ({"seed": -1, "label_noise": 0.5}, "seed must be a whole number"),
    ],
)
def test_what_is_out_of_range_gets_one_sentence(options, message):
    with pytest.raises(DataError, match=message):
        broken(split_of(), **({"label_noise": 0.0, "prior_shift": 0.0, "seed": 0} | options))


def test_more_mixed_pairs_than_the_unlabeled_points_allow_get_one_sentence():
    data = load("two_moons", n=60, imbalance=0.8)
    with pytest.raises(DataError, match="label_noise must leave unlabeled points of both classes"):
        broken(draw_pairs(data, 15, 0.3, 0), label_noise=1.0, prior_shift=0.0, seed=0, is_pairs=True)


# In a spec


def run_of(setting="auc", **data):
    plain = {"name": "two_moons", "n": 300, "imbalance": 0.7, "n_labeled": 30, **data}
    spec = Spec.from_dict({"setting": setting, "data": plain, "solver": {"n_iter": 3, "n_features": 8}})
    run = Run(spec)
    run.advance()
    return run


@each("setting", ["auc", "s3vm", "similar_unlabeled", "multiclass"])
def test_a_run_with_broken_assumptions_is_its_specs(setting):
    run = run_of(setting, label_noise=0.2, prior_shift=-0.5)
    again = Run(Spec.from_json(run.spec.to_json()))
    again.advance()
    assert_same(run.split, again.split)
    assert run.history.last() == again.history.last()
    plain = run_of(setting)
    assert len(run.split.X_train) < len(plain.split.X_train)
    assert run.split.X_test.tobytes() == plain.split.X_test.tobytes()


@pytest.mark.parametrize("name", ["wine", "file"])
def test_the_data_of_a_spec_are_those_that_its_split_holds(name, tmp_path):
    plain = {"name": name, "n_labeled": 20}
    if name == "file":
        rows = (SAMPLES / "wine.csv").read_text(encoding="utf-8").splitlines()
        rows[5] = "," + rows[5].split(",", 1)[1]  # a missing number: the training rows' mean takes its place
        (tmp_path / "mine.csv").write_text("\n".join(rows), encoding="utf-8")
        plain["path"] = str(tmp_path / "mine.csv")
    spec = Spec.from_dict({"setting": "multiclass", "data": plain})
    split = load_split(spec)
    data = load_dataset(spec, fitted_rows=split.train_rows)
    scaled = fit_scaling(data.X, split.train_rows, spec.data.scaling).apply(data.X[split.train_rows])
    np.testing.assert_allclose(scaled, split.X_train, rtol=0, atol=1e-6)  # a file's points are scaled in float64
    np.testing.assert_array_equal(data.y[split.test_rows], split.y_test)


def test_unstratified_labels_are_drawn_from_all_rows_alike():
    counts = [np.bincount(hide_labels(load("iris"), 9, 0.3, seed, False).y_train + 1)[1:] for seed in range(30)]
    assert any(len(set(c.tolist())) > 1 for c in counts)
