"""Scores that are safe by default: the mean of a method, a linear model and neighbours, weighted by held-out labels."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from four_estimators import SMALL
from scipy.optimize import minimize
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.core.metrics import accuracy_error, accuracy_half_width, auc_error, auc_half_width
from dsgcore.estimators.neighbours import Graph
from dsgcore.estimators.safe import EQUAL, HeldOut, Parts, held_out
from dsgcore.estimators.safe import linear as own_linear
from dsgcore.multiclass.exact import exact_values
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.task import make_task

pytestmark = pytest.mark.compiled
BOTH = (QSGS2AUC, TSGS3VM)
LINEAR = Parts(0.0, 1.0, 0.0)


def linear(n=400, d=30, seed=0):
    """Points of two classes that only a linear model can tell apart with few labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y, np.where(np.arange(n) < 60, y, -1)


def rings(n=400, seed=0):
    """Points of two classes that no linear model can tell apart."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    y = (np.linalg.norm(X, axis=1) > 1.2).astype(int)
    return X, y, np.where(np.arange(n) < 100, y, -1)


def exact_logistic(X, y):
    """scikit-learn's default logistic regression, with its most exact solver."""
    solver = "newton-cholesky" if len(np.unique(y)) == 2 else "lbfgs"
    return make_pipeline(StandardScaler(), LogisticRegression(solver=solver, tol=1e-12, max_iter=10_000)).fit(X, y)


@each("cls", BOTH)
def test_the_score_is_the_mean_of_three_in_the_methods_units(cls, monkeypatch):
    monkeypatch.setattr(HeldOut, "preferred", EQUAL)
    X, _, few = linear()
    model = cls(**SMALL, sigma=0.1, dtype="float64").fit(X, few)
    labeled = few != -1
    g = exact_logistic(X[labeled], few[labeled]).decision_function(X)
    f, near = model.model_.evaluate(X), model.companion_.neighbours.at(X)
    expected = (f + g * np.std(f) / np.std(g) + near * np.std(f) / np.std(near)) / 3
    moved = model.decision_function(X) - expected
    assert np.ptp(moved) < 1e-3 * np.std(f)  # apart from the threshold
    np.testing.assert_allclose(
        model.companion_.parts[:3], np.std(f) / np.array([np.std(f), np.std(g), np.std(near)]) / 3, rtol=1e-3
    )


@each("cls", BOTH)
def test_a_method_alone_is_as_it_was(cls):
    X, _, few = linear()
    plain, safe = (cls(**SMALL, safe=is_safe).fit(X, few) for is_safe in (False, True))
    assert plain.companion_ is None
    assert (plain.model_.evaluate(X) == safe.model_.evaluate(X)).all()
    cut = plain.shift_ if cls is TSGS3VM else -plain.threshold_
    assert plain.decision_function(X) == pytest.approx(plain.model_.evaluate(X) + cut, abs=1e-6)


@each("cls", BOTH)
def test_no_linear_model_where_labels_clearly_say_that_it_does_not_suit(cls):
    X, y, few = rings()
    model = cls(**SMALL | {"n_iter": 100}).fit(X, few)
    assert model.companion_.parts.own > 0.0 == model.companion_.parts.linear
    assert model.score(X[100:], y[100:]) > 0.85


@each("cls", BOTH)
def test_a_linear_model_alone_has_its_own_ranking_and_classes(cls, monkeypatch):
    monkeypatch.setattr(HeldOut, "preferred", LINEAR)
    X, _, few = linear()
    model, labeled = cls(**SMALL).fit(X, few), few != -1
    g = exact_logistic(X[labeled], few[labeled])
    assert np.corrcoef(model.decision_function(X), g.decision_function(X))[0, 1] > 1 - 1e-9
    if cls is TSGS3VM:
        assert model.shift_ == 0.0
        assert (model.predict(X) == g.predict(X)).all()


@each("cls", (*BOTH, PS3VT))
def test_a_fit_that_nothing_uses_ends_at_its_first_check_and_is_not_evaluated(cls, monkeypatch):
    monkeypatch.setattr(HeldOut, "preferred", LINEAR)
    X, _, few = linear()
    model = cls(random_state=0).fit(X, few)
    assert model.n_iter_ == 50
    assert cls(random_state=0, tol=None, n_iter=400).fit(X, few).n_iter_ == 400
    expected = model.decision_function(X)
    with monkeypatch.context() as without:
        if cls is not PS3VT:
            without.setattr(type(model.model_), "evaluate", None)
        np.testing.assert_array_equal(model.decision_function(X), expected)


def test_the_linear_model_is_preferred_where_a_kernel_does_not_suit():
    X, y, _ = linear(n=600)
    few = np.where(np.arange(600) < 200, y, -1)
    safe, plain = (QSGS2AUC(**SMALL, sigma=5.0, safe=is_safe).fit(X, few) for is_safe in (True, False))
    assert safe.companion_.parts.own == 0.0
    auc = [roc_auc_score(y[200:], model.decision_function(X[200:])) for model in (safe, plain)]
    assert auc[0] > 0.9 > auc[1]


@each("cls", BOTH)
def test_it_loses_neither_to_the_method_nor_to_the_linear_model(cls):
    for make in (linear, rings, lambda seed: (*(m := make_moons(400, noise=0.2, random_state=seed)), few_of(m[1]))):
        gaps = []
        for seed in range(4):
            X, y, few = make(seed=seed)
            held, known = few == -1, few != -1
            given = SMALL | {"n_iter": 100, "n_features": 64, "random_state": seed}
            safe, plain = (cls(**given, safe=is_safe).fit(X, few) for is_safe in (True, False))
            logistic = exact_logistic(X[known], y[known])
            scores = [roc_auc_score(y[held], m.decision_function(X[held])) for m in (safe, plain, logistic)]
            gaps.append(scores[0] - np.array(scores[1:]))
        assert (np.mean(gaps, axis=0) > -0.02).all()


def few_of(y):
    """Forty labels."""
    return np.where(np.arange(len(y)) < 40, y, -1)


@each("cls", BOTH)
def test_predictions_follow_from_the_labels_and_the_seed_alone(cls):
    X, _, few = linear()
    first, again = (cls(**SMALL).fit(X, few).decision_function(X) for _ in range(2))
    assert (first == again).all()
    scaled = cls(**SMALL).fit(100.0 * X, few).decision_function(100.0 * X)
    assert np.corrcoef(first, scaled)[0, 1] > 0.999


@each("cls", BOTH)
def test_a_partial_fit_gives_the_method_alone(cls):
    X, _, few = linear()
    model = cls(**SMALL).fit(X, few)
    assert model.companion_ is not None
    model.partial_fit(X, few)
    assert model.companion_ is None


@each("cls", BOTH)
def test_one_label_of_a_class_is_enough(cls):
    X, y, _ = linear()
    few = np.full(400, -1)
    few[np.flatnonzero(y == 0)[:5]], few[np.flatnonzero(y == 1)[0]] = 0, 1
    model = cls(**SMALL).fit(X, few)
    assert model.companion_.parts.own == pytest.approx(1 / 3)
    assert np.isfinite(model.decision_function(X)).all()


def test_the_share_of_positives_holds_for_the_safe_score():
    X, _, few = linear()
    model = QSGS2AUC(**SMALL, positive_share=0.3).fit(X, few)
    assert np.mean(model.predict(X)) == pytest.approx(0.3, abs=0.01)


def test_errors_are_those_of_the_intervals():
    rng = np.random.default_rng(0)
    y, f, g = rng.integers(0, 2, 60), rng.normal(size=60), rng.normal(size=60)
    assert auc_half_width(y, f, g) == pytest.approx(1.959964 * auc_error(y, f, g))
    assert accuracy_half_width(f > 0, g > 0) == pytest.approx(1.959964 * accuracy_error(f > 0, g > 0))
    assert np.isnan(accuracy_half_width(f[:20] > 0, g[:20] > 0))
    assert accuracy_error(f[:20] > 0, g[:20] > 0) > 0.0


def three_classes(n=400, d=12, seed=0):
    """Points of three classes in a row along one coordinate, in noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d))
    X[:, 0] += 2.0 * y
    return X, y, np.where(np.arange(n) < 60, y, -1)


@each("features", ["linear", "fourier"])
@each("n_classes", [2, 3])
def test_ps3vts_scores_are_the_mean_of_three_in_its_units(features, n_classes, monkeypatch):
    monkeypatch.setattr(HeldOut, "preferred", EQUAL)
    X, _, few = three_classes()
    few = np.minimum(few, n_classes - 1)
    safe, plain = (
        PS3VT(features=features, n_iter=50, n_features=64, tol=None, random_state=0, safe=is_safe).fit(X, few)
        for is_safe in (True, False)
    )
    assert (safe.coef_ == plain.coef_).all()
    assert plain.companion_ is None
    f, near = plain.decision_function(X), safe.companion_.neighbours.at(X)
    g = safe.companion_.machine.decision_function(X)
    expected = exact_logistic(X[:60], few[:60]).decision_function(X)
    np.testing.assert_allclose(g, expected, atol=1e-6 * np.std(expected))
    own, *others = (np.std(v - v.mean(axis=1, keepdims=True)) if v.ndim > 1 else np.std(v) for v in (f, g, near))
    expected = (f + g * own / others[0] + near * own / others[1]) / 3
    np.testing.assert_allclose(safe.decision_function(X), expected, rtol=1e-6, atol=1e-9 * own)


def test_the_ordinal_score_is_the_mean_with_a_ridge_regression_and_neighbours(monkeypatch):
    monkeypatch.setattr(HeldOut, "preferred", EQUAL)
    X, _, few = three_classes()
    safe, plain = (QS3ORAO(**SMALL, dtype="float64", safe=is_safe).fit(X, few) for is_safe in (True, False))
    f = plain.ranking_function(X)
    g = make_pipeline(StandardScaler(), Ridge()).fit(X[:60], few[:60]).predict(X)
    near = safe.companion_.neighbours.at(X)
    expected = (f + g * np.std(f) / np.std(g) + near * np.std(f) / np.std(near)) / 3
    np.testing.assert_allclose(safe.ranking_function(X), expected, rtol=1e-3)
    assert safe.thresholds_[0] < np.mean(safe.ranking_function(X)) < safe.thresholds_[1]


@each("n, d", [(60, 5), (40, 90), (30, 8_000)])
def test_the_ridge_regression_is_that_of_scikit_learn(n, d):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)) + 3.0, rng.integers(0, 4, size=n)
    own, peer = own_linear(X, y, is_ordered=True), make_pipeline(StandardScaler(), Ridge()).fit(X, y)
    np.testing.assert_allclose(own[-1].coef_, peer[-1].coef_, rtol=1e-10, atol=1e-12)
    assert own[-1].intercept_ == pytest.approx(peer[-1].intercept_, rel=1e-12)
    np.testing.assert_allclose(own.predict(X), peer.predict(X), rtol=1e-10)


@each("cls", (PS3VT, QS3ORAO))
def test_a_method_that_does_not_suit_does_not_lose_to_the_linear_model(cls):
    gains = []
    for seed in range(4):
        X, y, few = three_classes(seed=seed)
        # A kernel so narrow, or a graph so strong, leaves little of the labels.
        given = {"sigma": 0.5} if cls is QS3ORAO else {"tau_I": 1.0}
        model, plain = (cls(**given, n_iter=200, tol=None, random_state=0, safe=s).fit(X, few) for s in (True, False))
        linear = Ridge() if cls is QS3ORAO else LogisticRegression()
        linear = make_pipeline(StandardScaler(), linear).fit(X[:60], y[:60])
        wrong = [np.mean(np.abs(np.rint(m.predict(X[60:])) - y[60:])) for m in (model, plain, linear)]
        gains.append(np.array(wrong[1:]) - wrong[0])
    over_plain, over_linear = np.mean(gains, axis=0)
    assert over_plain > 0.05
    assert over_linear > -0.03


def test_ps3vt_has_no_linear_model_where_that_clearly_fails():
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = np.digitize(np.linalg.norm(X, axis=1), [0.8, 1.5])
    model = PS3VT(features="fourier", random_state=0).fit(X, np.where(np.arange(400) < 150, y, -1))
    assert model.companion_.parts.own > 0.0 == model.companion_.parts.linear
    assert model.score(X[150:], y[150:]) > 0.8


def test_labels_of_several_classes_that_no_model_can_learn_leave_their_shares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(800, 5)), rng.choice(4, 800, p=[0.7, 0.1, 0.1, 0.1])
    few = np.where(np.arange(800) < 100, y, -1)
    plain, safe = (PS3VT(features="fourier", random_state=0, safe=is_safe).fit(X, few) for is_safe in (False, True))
    assert safe.companion_.parts.shares > 0.0
    assert safe.score(X[100:], y[100:]) > max(0.65, plain.score(X[100:], y[100:]))


@each("cls", (PS3VT, QS3ORAO))
def test_a_class_with_one_label_is_learned_beside_a_linear_model(cls):
    X, _, few = three_classes()
    few[(few == 2) & (np.cumsum(few == 2) > 1)] = -1
    model = cls(random_state=0, n_iter=40, tol=None).fit(X, few)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.decision_function(X).shape == (400, 3)


def test_what_stands_for_ps3vt_minimises_its_objective_without_the_pull():
    X, _, few = three_classes(n=200, d=4)
    given = {"lam": 0.02, "tau_I": 1e-4, "tau_S": 0.0, "fit_intercept": True, "loss": "logistic"}
    task = make_task(MultiClass(**given), X, few, 0)

    def objective(w):
        return sum(task.terms(w.reshape(5, 3)).values())

    W = minimize(objective, np.zeros(15)).x.reshape(5, 3)
    rows = np.arange(60)
    (found,), exact = exact_values(task, rows, few[:60])([(rows, rows)]), task.X @ W
    centred = exact - exact.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found - found.mean(axis=1, keepdims=True), centred, atol=0.05 * np.abs(centred).max())


def test_each_label_is_held_out_once_from_fits_that_have_all_classes():
    y = np.array([0] * 20 + [1] * 9 + [2] * 2)
    seen = []

    def own(folds):
        for train, held in folds:
            assert set(y[train]) == {0, 1, 2}
            assert not set(train) & set(held)
            seen.extend(held)
        return [held.astype(float) for _, held in folds]

    def minus(folds):
        return [-held.astype(float) for _, held in folds]

    graph = Graph(np.arange(31.0)[:, None], is_ordered=False)
    found = held_out(y, (own, minus, minus), graph, is_ranking=True)
    assert sorted(seen) == list(range(31))
    assert found.values[0].tolist() == list(range(31))
    assert not len(held_out(np.array([0, 0, 1]), (own, own, own), graph, is_ranking=True).y)


def test_a_weight_falls_with_each_standard_error_behind_the_best():
    y = np.repeat([0, 1], 50)
    good, fair, poor = (np.where(np.arange(100) % 50 < wrong, 1 - y, y) - 0.5 for wrong in (5, 6, 30))
    error = np.sqrt(0.9 * 0.1 / 100)
    parts = HeldOut(y, (fair, good, poor), None, is_ranking=False).preferred
    assert parts.own / parts.linear == pytest.approx(np.exp(-0.02 / error))
    assert parts.neighbours == 0.0
    assert sum(parts) == pytest.approx(1.0)
    assert HeldOut(y[:0], (), None, is_ranking=False).preferred == EQUAL


@each("cls", (*BOTH, PS3VT))
def test_a_class_with_one_of_many_labels_is_learned(cls):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5600, 2)), np.where(np.arange(5600) < 5500, 0, -1)
    X[7], y[7] = 6.0, 1
    model = cls(random_state=0).fit(X, y)
    assert model.decision_function(X)[7] > np.median(model.decision_function(X))


def test_a_kernel_so_narrow_that_labels_say_nothing_of_others_gets_no_weight():
    X, _, few = linear()
    narrow, usual = (TSGS3VM(sigma=sigma, n_iter=50, random_state=0).fit(X, few) for sigma in (100.0, "scale"))
    assert narrow.companion_.parts.own == 0.0
    assert usual.companion_.parts.own > 0.0
