"""Scores that are safe by default: the mean with a linear model, or the one that held-out labels clearly prefer."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from four_estimators import SMALL
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dsgcore import QSGS2AUC, TSGS3VM
from dsgcore.core.metrics import accuracy_error, accuracy_half_width, auc_error, auc_half_width
from dsgcore.core.parameters import ParameterError
from dsgcore.estimators.safe import LINEAR, MEAN

pytestmark = pytest.mark.compiled
BOTH = (QSGS2AUC, TSGS3VM)


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


@each("cls", BOTH)
def test_the_score_is_the_mean_of_both_in_the_methods_units(cls, monkeypatch):
    monkeypatch.setattr("dsgcore.estimators.safe.choose", lambda *given, **more: MEAN)
    X, _, few = linear()
    model = cls(**SMALL, sigma=0.1, dtype="float64").fit(X, few)
    own, part = model.companion_.parts
    assert own == 0.5
    labeled = few != -1
    g = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[labeled], few[labeled]).decision_function(X)
    f = model.model_.evaluate(X)
    expected = f / 2 + g * np.std(f) / np.std(g) / 2
    moved = model.decision_function(X) - expected
    assert np.ptp(moved) < 1e-3 * np.std(f)  # apart from the threshold
    assert part == pytest.approx(np.std(f) / np.std(g) / 2, rel=1e-3)


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
    assert model.companion_.parts == (1.0, 0.0)
    plain = cls(**SMALL | {"n_iter": 100}, safe=False).fit(X, few)
    assert (plain.decision_function(X) == model.decision_function(X)).all()
    assert model.score(X[100:], y[100:]) > 0.85


@each("cls", BOTH)
def test_a_linear_model_alone_has_its_own_ranking_and_classes(cls, monkeypatch):
    monkeypatch.setattr("dsgcore.estimators.safe.choose", lambda *given, **more: LINEAR)
    X, _, few = linear()
    model, labeled = cls(**SMALL).fit(X, few), few != -1
    g = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[labeled], few[labeled])
    assert np.corrcoef(model.decision_function(X), g.decision_function(X))[0, 1] > 1 - 1e-9
    if cls is TSGS3VM:
        assert model.shift_ == 0.0
        assert (model.predict(X) == g.predict(X)).all()


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
            given = SMALL | {"n_iter": 100, "random_state": seed}
            safe, plain = (cls(**given, safe=is_safe).fit(X, few) for is_safe in (True, False))
            logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[known], y[known])
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
    assert model.companion_.parts.own == 0.5
    assert np.isfinite(model.decision_function(X)).all()


@each("value", ("yes", 1, None))
@each("cls", BOTH)
def test_safe_is_true_or_false(cls, value):
    X, _, few = linear()
    with pytest.raises(ParameterError, match="safe must be true or false"):
        cls(**SMALL, safe=value).fit(X, few)


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
