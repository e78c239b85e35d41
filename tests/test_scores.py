"""Scores: against plain loops, of labels that are hidden, of models and of runs."""

from __future__ import annotations

import naive
import numpy as np
import pandas as pd
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_specs import small
from strangers_labels import ESTIMATORS, SMALL

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import auc, auc_of_samples
from dsgcore.experiments import SETTINGS, Run, load_split, summary
from dsgcore.experiments.verdict import predicted_classes, right_test_points
from dsgcore.model_selection import Calibrated, LabeledFolds, accuracy, auc_score
from dsgcore.studies import Store, Study, StudyRuns, curves_of
from dsgcore.studies.runs import make_run

# --- metrics


# Few different scores, so that ties are the rule.
SAMPLES = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40).filter(
    lambda sample: len({label for label, _ in sample}) == 2
)


def arrays(sample):
    return np.array([label for label, _ in sample]), np.array([score for _, score in sample], dtype=float)


@given(SAMPLES)
def test_auc_equals_the_count_of_pairs_and_scikit_learns(sample):
    y, scores = arrays(sample)
    assert auc(y, scores) == pytest.approx(naive.auc(y, scores), rel=1e-12)
    assert auc(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12)


@each("dtype", ["float32", "float64"])
def test_auc_equals_scikit_learns_on_many_continuous_scores(dtype):
    rng = np.random.default_rng(0)
    y = (rng.random(5000) < 0.2).astype(int)
    scores = (rng.normal(size=5000) + 0.7 * y).astype(dtype)
    assert auc(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12)


@each("y, scores", [
    *((y, np.zeros(len(y))) for y in ([0, 0, 0], [1, 1, 1], [])),
    *(([0, 0, 1, 1], scores) for scores in ([np.nan, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, np.nan])),
])  # fmt: skip
def test_auc_is_nan_where_a_class_is_missing_or_a_score_is_nan(y, scores):
    assert np.isnan(auc(np.array(y), np.array(scores)))


def test_infinite_scores_have_their_place_in_the_order():
    assert auc(np.array([0, 1, 0, 1]), np.array([-np.inf, 0.0, 1.0, np.inf])) == 0.75


def test_samples_are_not_changed():
    positive, negative = np.array([2.0, 1.0]), np.array([1.0, 0.0])
    assert auc_of_samples(positive, negative) == 0.875
    assert positive.tolist() == [2.0, 1.0]
    assert negative.tolist() == [1.0, 0.0]


# --- labels


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


@pytest.mark.ci
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


# --- models


@pytest.mark.parametrize("stop", [{}, {"patience": 1, "tolerance": 0.5}], ids=["to the end", "stopped early"])
@pytest.mark.parametrize("average", ["tail", None])
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_study_scores_the_model_the_average_or_the_last_iterate(tmp_path, setting, average, stop):
    spec = small(setting, solver={"average": average, "n_iter": 45}, stop=stop)
    run = Run(spec, load_split(spec))
    run.advance()
    store = Store(tmp_path / "runs.sqlite")
    stored = store.put(*make_run(spec.to_json()))
    row = run.history.last()
    assert stored.score == run.problem.score(run.split.y_test, np.asarray(run.result_test_values))
    assert stored.score == summary(run)["score"]
    if not (average and stop):  # of an average a row has the score of up to fifteen iterations before
        assert stored.score == row["score_average" if average else "score_test"]
    assert stored.objective == row["objective_average" if average else "objective"]
    if average and not stop:
        curves = curves_of(store, [spec.sha256])
        assert curves.values[0, -1] == stored.score
        study = Study(spec)
        made = StudyRuns(study)
        made.refresh(store)
        assert made.results("score").mean[0] == stored.score


# --- a run's predictions


# Runs to the end of every setting: without the compiler that takes minutes.


@each("average", [None, "tail"])
@each("is_balanced", [False, True])
def test_the_runs_classes_are_those_that_its_estimator_predicts(is_balanced, average):
    names = ("kernel", "sigma", "lam", "n_iter", "n_features", "batch_size", "step_size", "schedule", "dtype")
    for setting, kind, own in [
        ("auc", QSGS2AUC, ("gamma", "pairing", "is_pooled")),
        ("s3vm", TSGS3VM, ("labeled_weight", "unlabeled_weight", "loss", "s", "is_balanced")),
        ("similar_unlabeled", TSGSU, ("prior", "loss", "correction", "leak")),
        ("ordinal", QS3ORAO, ("gamma", "pairing")),
    ]:
        if is_balanced and setting != "s3vm":
            continue
        shifted = {"data": {"prior_shift": 0.8}, "problem": {"is_balanced": is_balanced}} if setting == "s3vm" else {}
        spec = small(setting, solver={"average": average}, **shifted)
        run = Run(spec)
        run.advance()
        given = {name: getattr(spec.solver, name) for name in names if hasattr(spec.solver, name)}
        given |= {"sigma": spec.kernel.sigma, "random_state": spec.seed, "average": average, "tol": None}
        given |= {"sampling": "independent"}
        given |= {"thresholds": "hinge"} if setting == "ordinal" else {}
        given |= {name: getattr(spec.problem, name) for name in own}
        model = kind(**given).fit(run.split.X_train, run.split.y_train)
        values, X, y = run.result.evaluate(run.split.X_test), run.split.X_test, run.split.y_test
        np.testing.assert_array_equal(predicted_classes(run, values), model.predict(X))
        assert np.mean(right_test_points(run)) == np.mean(model.predict(X) == y)
        if setting in ("auc", "s3vm"):
            assert run.result_score == pytest.approx(model.score(X, y), abs=1e-6)
        np.testing.assert_allclose(run.result_test_values, values, rtol=1e-3, atol=1e-5)
        assert (run.result_shift != 0.0) == is_balanced


def test_the_highest_of_several_scores_is_the_predicted_class():
    run = Run(small("multiclass"))
    run.advance()
    values = run.model.evaluate(run.split.X_test)
    predicted = predicted_classes(run, values)
    np.testing.assert_array_equal(predicted, values.argmax(axis=1))
    assert run.problem.score(run.split.y_test, values) == np.mean(predicted == run.split.y_test)


def test_a_balanced_run_is_shifted_before_its_sign_is_taken():
    run = Run(small("s3vm", problem={"is_balanced": True}))
    run.advance()
    unlabeled = run.training_values[run.split.y_train == -1]
    shift = run.problem.shift(unlabeled)
    values = np.array([-shift - 1e-3, -shift + 1e-3])
    assert predicted_classes(run, values).tolist() == [0, 1]


@pytest.mark.parametrize("is_large", [False, True])
def test_a_balanced_run_is_scored_as_its_estimator_is(is_large, monkeypatch):
    # Test points of other shares than the unlabeled ones: shifted by them, the score would be another.
    if is_large:
        monkeypatch.setattr("dsgcore.experiments.stochastic.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    run = Run(small("s3vm", problem={"is_balanced": True}, data={"prior_shift": 0.8}, solver={"batch_size": 16}))
    run.advance()
    solver, problem = run.spec.solver, run.spec.problem
    names = ("lam", "n_iter", "n_features", "batch_size", "step_size", "schedule", "dtype")
    given = {name: getattr(solver, name) for name in names}
    given |= {name: getattr(problem, name) for name in ("labeled_weight", "unlabeled_weight")}
    given |= {"average": None, "tol": None, "sampling": "independent"}
    model = TSGS3VM(sigma=run.spec.kernel.sigma, is_balanced=True, random_state=run.spec.seed, **given)
    model.fit(run.split.X_train, run.split.y_train)
    X, y = run.split.X_test, run.split.y_test
    assert (run.training_values is None) == is_large
    if not is_large:
        assert run.shift == pytest.approx(model.shift_, rel=1e-5)
        assert run.history.last()["score_test"] == np.mean(model.predict(X) == y)
    unlabeled = run.model.evaluate(run.split.X_train[run.split.y_train == -1])
    spread = unlabeled.std() / np.sqrt(10) if is_large else 1e-5
    assert run.shift == pytest.approx(run.problem.shift(unlabeled), abs=4 * spread)
    assert run.history.last()["score_test"] == run.problem.score(y, run.test_values + run.shift)


# --- calibrated probabilities


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
    held, f = [], []  # labels that each fold's model has not seen, and its values there
    for train, test in LabeledFolds(5, unlabeled="train", random_state=0).split(MOONS[0], SEEN):
        rows = test[SEEN[test] >= 0]
        f.append(kind(**QUICK).fit(MOONS[0][train], SEEN[train]).decision_function(MOONS[0][rows]))
        held.append(SEEN[rows])
    f = np.concatenate(f)[:, None]
    platt = LogisticRegression(max_iter=1000).fit(f / f.std(), np.concatenate(held))
    np.testing.assert_allclose(model.platt_.coef_, platt.coef_, rtol=1e-6)


def test_several_classes_have_a_column_each():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"], dtype=object)[y]
    seen = np.where(np.arange(150) % 3 == 0, names, -1)
    for kind in (PS3VT, QS3ORAO):
        given = {"n_iter": 60, "random_state": 0}
        model = Calibrated(kind(**given), random_state=0).fit(X, seen)
        assert list(model.classes_) == ["a", "b", "c"]
        assert np.mean(model.predict(X) == names) > 0.8


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
