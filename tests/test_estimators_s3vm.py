import numpy as np
import pytest
from cases import each
from four_estimators import moons_with_few_labels
from sklearn.datasets import make_moons

from dsgcore import TSGS3VM
from dsgcore.core.metrics import paired_difference

SMALL = {"n_iter": 10, "n_features": 16, "batch_size": 16, "dtype": "float64", "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return moons_with_few_labels(400, noise=0.1, n_labeled=20)


@pytest.mark.parametrize("loss", ["symmetric hinge", "squared symmetric hinge", "ramp", "exponential"])
def test_learns_from_twenty_labels(moons, loss):
    X, y, few = moons
    model = TSGS3VM(sigma=5.0, loss=loss, random_state=0).fit(X, few)
    # Chance is one half.
    assert model.score(X[20:], y[20:]) > 0.85


@pytest.mark.weekly
def test_unlabeled_points_help():
    alone, helped = [], []
    for seed in range(32):
        X, y = make_moons(400, noise=0.1, random_state=seed)
        few = np.full(400, -1)
        for label in (0, 1):
            few[np.flatnonzero(y == label)[:5]] = label
        short = {"n_iter": 60, "n_features": 64, "batch_size": 64, "tol": None, "random_state": seed}
        for C_star, scores in ((0.0, alone), (None, helped)):
            model = TSGS3VM(sigma=5.0, C_star=C_star, **short).fit(X, few)
            scores.append(model.score(X[few == -1], y[few == -1]))
    assert paired_difference(helped, alone).low > 0.0


def test_the_balance_shift_comes_from_the_unlabeled_points(moons):
    X, y, _ = moons
    rows = np.flatnonzero((y == 1) | (np.arange(400) % 4 == 0))
    X, few = X[rows], np.where(np.arange(len(rows)) < 40, y[rows], -1)
    plain, balanced = (TSGS3VM(sigma=5.0, is_balanced=b, **SMALL).fit(X, few) for b in (False, True))
    assert plain.shift_ == 0.0
    share = np.mean(few[:40])
    np.testing.assert_allclose(balanced.decision_function(X[40:]).mean(), 2 * share - 1, rtol=1e-9)
    np.testing.assert_allclose(balanced.decision_function(X), balanced.model_.evaluate(X) + balanced.shift_, rtol=1e-12)


def test_the_ridge_is_a_change_of_the_other_numbers(moons):
    X, _, few = moons
    # The docstring's mapping: C / lam, C_star / lam, step_size * lam.
    f, same = (
        TSGS3VM(C=10.0 * lam, C_star=3.0 * lam, step_size=0.2 / lam, lam=lam, schedule="constant", **SMALL)
        .fit(X, few)
        .decision_function(X)
        for lam in (1.0, 0.25)
    )
    np.testing.assert_allclose(same, f, rtol=1e-9, atol=1e-9)


@each("n_labeled", [20, 120])
def test_c_per_point_is_the_papers_c_over_the_labels(moons, n_labeled):
    X, y, _ = moons
    few = np.where(np.arange(400) < n_labeled, y, -1)
    small = {"n_iter": 20, "n_features": 16, "random_state": 0}
    each = TSGS3VM(C=2.0, C_star=0.01, **small).fit(X, few)
    printed = TSGS3VM(C=2.0 * n_labeled, C_star=0.01 * (400 - n_labeled), C_per="mean", **small).fit(X, few)
    np.testing.assert_array_equal(each.decision_function(X), printed.decision_function(X))
    by_default = TSGS3VM(C=2.0, **small).fit(X, few)
    tenth = TSGS3VM(C=2.0 * n_labeled, C_star=0.2 * n_labeled, C_per="mean", **small).fit(X, few)
    np.testing.assert_array_equal(by_default.decision_function(X), tenth.decision_function(X))
