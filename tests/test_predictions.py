"""Predicted classes and score of a run: those of its estimator."""

import numpy as np
import pytest
from cases import each
from small_specs import small

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, Run
from dsgcore.experiments.predictions import predicted_classes, right_test_points

# Runs to the end of every setting: without the compiler that takes minutes.


@each("average", [None, "tail"])
@each("is_balanced", [False, True])
def test_the_runs_classes_are_those_that_its_estimator_predicts(is_balanced, average):
    names = ("kernel", "sigma", "lam", "n_iter", "n_features", "batch_size", "step_size", "schedule", "dtype")
    for setting, kind, own in [
        ("auc", QSGS2AUC, ("gamma", "pairing", "is_pooled")),
        ("s3vm", TSGS3VM, ("C", "C_star", "loss", "s", "is_balanced")),
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
        given |= {"C_per": "mean"} if setting == "s3vm" else {}
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
        monkeypatch.setattr("dsgcore.experiments.running_state.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    run = Run(small("s3vm", problem={"is_balanced": True}, data={"prior_shift": 0.8}, solver={"batch_size": 16}))
    run.advance()
    solver, problem = run.spec.solver, run.spec.problem
    names = ("lam", "n_iter", "n_features", "batch_size", "step_size", "schedule", "dtype")
    given = {name: getattr(solver, name) for name in names} | {"C": problem.C, "C_star": problem.C_star}
    given |= {"C_per": "mean", "average": None, "tol": None, "sampling": "independent"}
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
