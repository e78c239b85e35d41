"""Scores of labels: unlabeled points are left out, and what is wrong is said."""

import numpy as np
import pandas as pd
import pytest
from cases import each
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from strangers_labels import ESTIMATORS, SMALL

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.core.errors import DSGError
from dsgcore.model_selection import LabeledFolds, accuracy, auc_score


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(240, noise=0.2, random_state=0)
    return X, y, np.where(np.arange(240) < 80, y, -1)


@each("model", ESTIMATORS)
def test_score_leaves_unlabeled_points_out(moons, model):
    X, y, few = moons
    model.fit(X, few)
    labeled = few != -1
    weights = np.random.default_rng(0).random(240)
    assert model.score(X, few) == pytest.approx(model.score(X[labeled], y[labeled]))
    weighted = model.score(X, few, sample_weight=weights)
    assert weighted == pytest.approx(model.score(X[labeled], y[labeled], sample_weight=weights[labeled]))
    missing = pd.Series(few).where(labeled)
    assert model.score(X, missing) == model.score(X, few)
    if not isinstance(model, QSGS2AUC | QS3ORAO):
        assert model.score(X, few) == pytest.approx(np.mean(model.predict(X[labeled]) == y[labeled]))
    with pytest.raises(DSGError, match="a score needs labeled points, got none"):
        model.score(X[~labeled], few[~labeled])


@each("model", ESTIMATORS)
def test_a_score_says_what_is_wrong_with_it(moons, model):
    X, y, few = moons
    with pytest.raises(NotFittedError):
        clone(model).score(X, y)
    model.fit(X, few)
    for weights, said in (
        ([1.0, 2.0], "a number for each of 240 points, got 2"),
        (1.0, "a number for each of 240 points, got 1"),
        (-np.ones(240), "finite numbers of at least 0, got -1"),
        (np.full(240, np.nan), "finite numbers of at least 0, got nan"),
    ):
        with pytest.raises(DSGError, match=f"sample_weight must h.* {said}"):
            model.score(X, few, sample_weight=weights)
    assert model.score(X, few, sample_weight=pd.Series(1.0, range(9, 249))) == pytest.approx(model.score(X, few))


def test_a_fit_of_classes_that_lie_apart_warns_of_nothing():
    X = np.random.default_rng(0).normal(size=(120, 3))
    assert PS3VT(n_iter=20, tol=None, random_state=0).fit(X, (X[:, 0] > 0).astype(int)).score(X, X[:, 0] > 0) > 0.9


def test_score_is_what_the_method_is_for(moons):
    X, y, few = moons
    model = QSGS2AUC(**SMALL).fit(X, few)
    assert model.score(X, y) == pytest.approx(roc_auc_score(y, model.decision_function(X)))
    assert model.score(X, few) == auc_score(model, X, few)
    ordinal = QS3ORAO(**SMALL).fit(X, np.where(few == 1, 1 + (X[:, 0] > 1), few))
    rings = np.where(y == 1, 1 + (X[:, 0] > 1), y)
    assert ordinal.score(X, rings) == ordinal.mean_auc(X, rings)
    weights = np.ones(240)
    assert ordinal.score(X, rings, sample_weight=weights) == pytest.approx(ordinal.mean_auc(X, rings))


def test_a_search_over_labels_with_minus_one_scores_labeled_points_alone(moons):
    X, _, few = moons
    folds = LabeledFolds(3, unlabeled="train", random_state=0)
    model = TSGS3VM(n_iter=100, tol=None, random_state=0)
    for scoring in (None, accuracy):
        assert cross_val_score(model, X, few, cv=folds, scoring=scoring).min() > 0.8
    search = GridSearchCV(model, {"sigma": [0.01, 5.0]}, cv=folds).fit(X, few)
    assert search.best_params_ == {"sigma": 5.0}
    assert search.score(X, few) > 0.8
    assert cross_val_score(model, X, few, cv=3).min() > 0.8  # scikit-learn's own folds
