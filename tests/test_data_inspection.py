"""Facts about a data set before anything is learned."""

from dataclasses import replace

import numpy as np
import pytest

from dsgcore.data import Dataset, broken, draw_pairs, hide_labels, load
from dsgcore.data.inspection import class_balance, column_summary, coverage, leaks, pair_consistency


def line(n=40):
    """Points on a line, one class left and one right."""
    X = np.stack([np.arange(n), np.zeros(n)], axis=1).astype(np.float32)
    return Dataset("line", X, (np.arange(n) >= n // 2).astype(np.int64), ("x", "zero"), ("a", "b"), "test", "none")


def test_columns_are_summed_up():
    table = column_summary(line(40)).set_index("feature")
    assert table.loc["x", ["minimum", "mean", "maximum", "distinct"]].tolist() == [0, 19.5, 39, 40]
    assert table.loc["x", "deviation"] == pytest.approx(np.arange(40).std())
    assert table.loc["x", "histogram"] == [2] * 20
    assert table.loc["zero", ["minimum", "mean", "maximum", "deviation", "distinct"]].tolist() == [0, 0, 0, 0, 1]
    assert sum(table.loc["zero", "histogram"]) == 40


def test_class_balance_counts_true_classes_in_each_sample():
    split = hide_labels(load("iris"), 30, 0.3, 0)
    table = class_balance(split)
    assert table.to_dict("list") == {"labeled": [10] * 3, "unlabeled": [25] * 3, "test": [15] * 3}
    assert table.index.tolist() == ["setosa", "versicolor", "virginica"]
    noisy = broken(split, label_noise=0.5, prior_shift=0.0, seed=0)
    assert class_balance(noisy).equals(table)


def test_coverage_is_the_distance_to_the_nearest_labeled_point():
    split = hide_labels(line(40), 4, 0.5, 3, scaling="none")
    found = coverage(split)
    labeled, rows = split.X_train[split.labeled, 0], np.flatnonzero(split.y_train == -1)
    expected = np.abs(split.X_train[rows, 0][:, None] - labeled).min(axis=1)
    np.testing.assert_allclose(found.to_labeled, expected)
    others = np.abs(split.X_train[rows, 0][:, None] - split.X_train[:, 0])
    np.testing.assert_allclose(found.to_any, np.sort(others, axis=1)[:, 1])
    assert (found.to_any <= found.to_labeled).all()
    assert 0.5 < found.n_right / found.n_known <= 1
    nothing = coverage(hide_labels(line(40), 20, 0.5, 3))
    assert len(nothing.to_labeled) == 0
    assert (nothing.n_right, nothing.n_known) == (0, 0)


def test_pairs_that_mix_classes_are_counted():
    split = draw_pairs(load("two_moons", imbalance=0.7), 100, 0.3, 0)
    found = pair_consistency(split)
    assert (found.mixed, found.unknown, found.total) == (0, 0, 100)
    assert found.expected_positive == pytest.approx(0.49 / 0.58, abs=0.01)
    # Binomial of 100 with share 0.845: standard deviation 3.6; allow three.
    assert found.both_positive == pytest.approx(84.5, abs=11)
    noisy = broken(split, label_noise=0.25, prior_shift=0.0, seed=0, is_pairs=True)
    assert pair_consistency(noisy).mixed == 25
    y_hidden = split.y_hidden.copy()
    y_hidden[split.labeled[0]] = -1
    assert pair_consistency(replace(split, y_hidden=y_hidden)).unknown == 1


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


def test_zero_is_zero_whatever_its_sign():
    data = line(40)
    data.X[:, 1] = np.where(np.arange(40) % 2, np.float32(-0.0), np.float32(0.0))
    data.X[:, 0] = np.arange(40) // 2
    split = hide_labels(data, 10, 0.5, 0, scaling="none")
    assert len(leaks(split).test_rows) + leaks(split).within_training > 0
