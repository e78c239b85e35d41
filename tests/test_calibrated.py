"""Probabilities from held-out labels, and scikit-learn's searches with our folds and scorers."""

from __future__ import annotations

import numpy as np
from cases import each
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.model_selection import Calibrated, LabeledFolds, accuracy, auc_score

QUICK = {"n_iter": 40, "n_features": 32, "batch_size": 32, "random_state": 0, "tol": None}
MOONS = make_moons(600, noise=0.35, random_state=0)
SEEN = np.where(np.arange(600) < 120, MOONS[1], -1)


@each("kind", [QSGS2AUC, TSGS3VM])
def test_probabilities_are_calibrated_on_points_whose_labels_were_hidden(kind):
    model = Calibrated(kind(**QUICK), random_state=0).fit(MOONS[0], SEEN)
    hidden = MOONS[0][120:], MOONS[1][120:]
    p = model.predict_proba(hidden[0])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert log_loss(hidden[1], p) < 0.45  # a coin has 0.69
    is_sure = p.max(axis=1) > 0.8
    right = model.predict(hidden[0])[is_sure] == hidden[1][is_sure]
    assert abs(right.mean() - p.max(axis=1)[is_sure].mean()) < 0.08
    order = np.argsort(model.decision_function(hidden[0]))
    assert (np.diff(p[order, 1]) >= -1e-12).all()
    again = Calibrated(kind(**QUICK), random_state=0).fit(MOONS[0], SEEN)
    assert (again.predict_proba(hidden[0]) == p).all()


def test_several_classes_have_a_column_each():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"], dtype=object)[y]
    seen = np.where(np.arange(150) % 3 == 0, names, -1)
    for kind in (PS3VT, QS3ORAO):
        given = {"n_iter": 60, "random_state": 0}
        model = Calibrated(kind(**given), random_state=0).fit(X, seen)
        assert list(model.classes_) == ["a", "b", "c"]
        assert np.mean(model.predict(X) == names) > 0.8


def test_scikit_learns_calibration_suits_the_labeled_rows():
    rows = SEEN >= 0
    model = CalibratedClassifierCV(TSGS3VM(**QUICK), cv=3).fit(MOONS[0][rows], SEEN[rows])
    assert log_loss(MOONS[1][120:], model.predict_proba(MOONS[0][120:])) < 0.5


@each("search", ["grid", "halving"])
def test_scikit_learns_searches_take_our_folds_and_scorers(search):
    cv = LabeledFolds(3, unlabeled="train", random_state=0)
    model = make_pipeline(StandardScaler(), QSGS2AUC(**QUICK))
    space = {"qsgs2auc__sigma": [1e-5, 1e-4, 1.0, 2.0]}
    if search == "grid":
        found = GridSearchCV(model, space, cv=cv, scoring=accuracy, error_score="raise").fit(MOONS[0], SEEN)
        assert found.best_params_["qsgs2auc__sigma"] >= 1.0
    else:
        halving = {
            "resource": "qsgs2auc__n_iter",
            "min_resources": 10,
            "max_resources": 40,
            "n_candidates": 4,
            "factor": 2,
        }
        found = HalvingRandomSearchCV(model, space, cv=cv, scoring=auc_score, random_state=0, **halving)
        found.fit(MOONS[0], SEEN)
        assert found.n_resources_[:2] == [10, 20]
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
