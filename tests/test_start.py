"""Runs that start from the exact solution for some of their points."""

from itertools import islice

import numpy as np
import pytest
from cases import each
from four_estimators import make, moons_with_few_labels

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, load_model
from dsgcore.core.parameters import ParameterError
from dsgcore.kernels import Gaussian, features
from dsgcore.problems import PROBLEMS
from dsgcore.solver.loop import solve
from dsgcore.solver.start import SourceHinge, plan_start
from dsgcore.solver.task import Plan, Task

STARTED = (QSGS2AUC, TSGS3VM)


def task_of(name, n):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.resize([0, 1, -1, -1], n)
    given = {"correction": "identity", "prior": 0.7} if name == "similar_unlabeled" else {}
    if given:
        y = np.concatenate([np.arange(n // 2) // 2, np.full(n // 2, -1)])
    problem = PROBLEMS[name](**given).bind(y)
    return Task(problem, Gaussian(0.5), X, problem.rows(y), Plan("constant", 0.5, 0.1, 8, 30), 64, 0, np.dtype(float))


@each("n", [40, 136])
@each("name", ["auc", "s3vm", "similar_unlabeled", "ordinal"])
def test_the_first_iteration_minimises_the_objective_on_its_features(name, n):
    task = task_of(name, n)
    model = task.new_model()
    assert plan_start(task, "exact")
    (begun,) = islice(solve(task, model), 1)
    assert [block.shape[1] for block in model.blocks] == [128]
    assert task.plan.at(2).n_features == 8
    phi = features.explicit(task.X, model.frequencies(1, 128))
    best = model.kernel.feature_map.coefficients(model.blocks[0])
    np.testing.assert_allclose(phi @ best, model.evaluate(task.X), atol=1e-9)
    np.testing.assert_allclose(phi[begun.rows].T @ -begun.weights, best, atol=1e-6)  # a sum over points, as h is

    def objective(alpha):
        terms = task.problem.risk_terms({source: phi[rows] @ alpha for source, rows in task.rows.items()})
        if name == "s3vm":  # of its labeled points alone
            del terms["unlabeled"]
        return sum(terms.values()) + 0.5 * task.plan.lam * alpha @ alpha

    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-1):
        others = [objective(best + size * rng.normal(size=best.shape)) for _ in range(20)]
        assert min(others) > objective(best)


@each("cls", STARTED)
def test_a_started_fit_is_nearer_to_a_long_one_after_a_few_iterations(cls):
    X, _, few = moons_with_few_labels(200)
    sizes = {"sigma": 5.0, "n_features": 64, "batch_size": 64}
    long = make(cls, n_iter=400, **sizes).fit(X, few).model_.evaluate(X)
    short = [make(cls, start=start, n_iter=20, **sizes).fit(X, few).model_.evaluate(X) for start in (None, "exact")]
    from_zero, started = (np.linalg.norm(f - long) for f in short)
    assert started < 0.8 * from_zero


def test_a_run_without_an_exact_solution_starts_at_0_and_another_start_is_refused():
    X, _, few = moons_with_few_labels(100)
    for given in ({"cls": TSGSU, "loss": "logistic"}, {"kernel": "dot_product"}):
        values = [make(**given, start=start).fit(X, few).decision_function(X) for start in (None, "exact")]
        np.testing.assert_array_equal(*values)
    with pytest.raises(ParameterError, match="start must be one of auto, exact or None, got 'warm'"):
        make(start="warm").fit(X, few)


@each("bad", [np.nan, np.inf])
def test_a_support_vector_machine_of_numbers_that_are_not_finite_is_refused(bad):
    K, risk = np.eye(4), SourceHinge(np.array([1.0, 1.0, 0.0]), np.array([1.0, -1.0, 0.0]))
    K[1, 2] = bad
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        risk.solution(np.eye(4)[:, :3], K, 1.0)


@each("kind", ["separable", "overlapping", "nothing in common", "indefinite"])
def test_a_support_vector_machine_has_no_gap_to_its_dual(kind):
    rng, y = np.random.default_rng(5), np.array([1.0, 1.0, 0.0, -1.0, -1.0, 1.0, 0.0, -1.0] * 8)
    X = rng.normal(size=(64, 3)) + {"separable": 4.0, "overlapping": 0.3}.get(kind, 0.0) * y[:, None]
    K = {"nothing in common": np.zeros((64, 64)), "indefinite": X @ np.diag([1.0, 0.5, -1.0]) @ X.T}.get(kind, X @ X.T)
    M = np.stack([(y == sign) / np.count_nonzero(y == sign) for sign in (1.0, -1.0, 0.0)], axis=1)
    risk = SourceHinge(np.array([3.0, 2.0, 0.0]), np.array([1.0, -1.0, 0.0]))
    lam, cost = 0.1, M @ np.array([3.0, 2.0, 0.0])
    a = risk.solution(M, K, lam)
    assert (y * a >= 0).all()
    assert (np.abs(a) <= cost / lam + 1e-12).all()
    assert not a[y == 0].any()
    np.testing.assert_array_equal(risk.is_counted, [True, True, False])
    if kind == "indefinite":  # no minimum, but an end
        return
    objective = cost @ np.maximum(0.0, 1.0 - y * (K @ a)) + lam * a @ K @ a / 2
    dual = lam * (np.abs(a).sum() - a @ K @ a / 2)
    assert objective - dual == pytest.approx(0.0, abs=2e-3 * cost.sum())


def test_a_support_vector_machine_without_a_ridge_has_finite_weights():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    risk = SourceHinge(np.array([1.0, 1.0]), np.array([1.0, -1.0]))
    a = risk.solution(np.stack([y / 2, (1 - y) / 2], axis=1), X @ X.T, 0.0)
    np.testing.assert_allclose(X @ X.T @ a, X[:, 0], atol=2e-3)  # the hard margin's


@each("cls", (*STARTED, QS3ORAO))
def test_auto_is_the_exact_start_for_few_labels_where_kernel_and_ridge_are_the_defaults(cls):
    for n_labeled, given, start, tol in (
        (40, {}, "exact", {TSGS3VM: 0.02, QS3ORAO: 0.03}.get(cls, 0.05)),
        (513, {}, None, 0.02),
        (40, {"sigma": 3.0}, None, 0.02),
        (40, {"lam": 0.5}, None, 0.02),
    ):
        X, _, few = moons_with_few_labels(600, n_labeled=n_labeled)
        automatic, named = (
            cls(random_state=0, n_features=16, **given, **more).fit(X, few)
            for more in ({}, {"start": start, "tol": tol})
        )
        assert automatic.n_iter_ == named.n_iter_
        np.testing.assert_array_equal(automatic.decision_function(X), named.decision_function(X))


def test_a_started_run_goes_on_in_parts_from_its_checkpoint_and_its_model_from_a_file(tmp_path):
    X, _, few = moons_with_few_labels(100)
    given = {"start": "exact", "dtype": "float64"}
    whole = make(n_iter=20, **given).fit(X, few).model_.evaluate(X)
    parts = make(n_iter=10, **given).partial_fit(X, few, classes=[0, 1]).partial_fit(X, few)
    np.testing.assert_allclose(parts.model_.evaluate(X), whole, rtol=1e-9, atol=1e-11)

    def stop(iterate):
        if iterate.t == 15:
            raise KeyboardInterrupt

    how = {"checkpoint": tmp_path / "run.npz", "every": 10}
    with pytest.raises(KeyboardInterrupt):
        make(n_iter=20, **given).fit(X, few, callback=stop, **how)
    again = make(n_iter=20, **given).fit(X, few, **how)
    again.model_.save(tmp_path / "model.npz")
    for model in (again.model_, load_model(tmp_path / "model.npz")):
        np.testing.assert_array_equal(model.evaluate(X), whole)
    for other in ({"start": None}, {"sampling": "independent"}):
        with pytest.raises(ValueError, match="belongs to another run"):
            make(n_iter=20, **given | other).fit(X, few, **how)
