"""Runs that start from the exact solution for some of their points."""

from itertools import islice

import numpy as np
import pytest
from cases import each
from four_estimators import make, moons_with_few_labels
from sklearn.datasets import make_moons

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, load_model
from dsgcore.core.parameters import ParameterError
from dsgcore.kernels import Gaussian, features
from dsgcore.problems import PROBLEMS, SemiSupervisedAUC, SemiSupervisedOrdinal
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.loop import solve
from dsgcore.solver.start import SourceHinge, plan_start
from dsgcore.solver.task import Plan, Task

STARTED = (QSGS2AUC, TSGS3VM)


def task_of(name, n=40, **parameters):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.resize([0, 1, -1, -1], n)
    if name == "similar_unlabeled":
        y = np.concatenate([np.arange(n // 2) // 2, np.full(n // 2, -1)])
    problem = PROBLEMS[name](**parameters).bind(y)
    plan = Plan("constant", 0.5, 0.1, 8, 30)
    return Task(problem, Gaussian(0.5), X, problem.rows(y), plan, 64, 0, np.dtype(float))


def risk_of_start(task, f):
    """Return the risk; that of an S3VM's labeled points alone."""
    terms = task.problem.risk_terms(f)
    return sum(value for source, value in terms.items() if task.problem.name != "s3vm" or source != "unlabeled")


@each("n", [40, 136])
@each("name", ["auc", "s3vm", "similar_unlabeled", "ordinal"])
def test_the_first_iteration_minimises_the_objective_on_its_features(name, n):
    task = task_of(name, n, **({"correction": "identity", "prior": 0.7} if name == "similar_unlabeled" else {}))
    model = task.new_model()
    assert plan_start(task, "exact")
    (begun,) = islice(solve(task, model), 1)
    assert [block.shape[1] for block in model.blocks] == [128]
    assert task.plan.at(2).n_features == 8
    phi = features.explicit(task.X, model.frequencies(1, 128))
    best = features.coefficients(model.blocks[0])
    np.testing.assert_allclose(phi @ best, model.evaluate(task.X), atol=1e-9)
    np.testing.assert_allclose(phi[begun.rows].T @ -begun.weights, best, atol=1e-6)  # a sum over points, as h is

    def objective(alpha):
        f = {source: phi[rows] @ alpha for source, rows in task.rows.items()}
        return risk_of_start(task, f) + 0.5 * task.plan.lam * alpha @ alpha

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


@each("given", [{"cls": TSGSU, "loss": "logistic"}, {"kernel": "dot_product"}])
def test_a_run_without_an_exact_solution_starts_at_0(given):
    X, _, few = moons_with_few_labels(100)
    values = [make(**given, start=start).fit(X, few).decision_function(X) for start in (None, "exact")]
    np.testing.assert_array_equal(*values)


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
    number = {source: np.count_nonzero(y == sign) for source, sign in enumerate((1.0, -1.0, 0.0))}
    M = np.stack([(y == sign) / number[source] for source, sign in enumerate((1.0, -1.0, 0.0))], axis=1)
    risk = SourceHinge(np.array([3.0, 2.0, 0.0]), np.array([1.0, -1.0, 0.0]))
    lam, cost = 0.1, M @ np.array([3.0, 2.0, 0.0])
    a = risk.solution(M, K, lam)
    assert (y * a >= 0).all()
    assert (np.abs(a) <= cost / lam + 1e-12).all()
    assert not a[y == 0].any()
    if kind == "indefinite":  # no minimum, but an end
        return
    objective = cost @ np.maximum(0.0, 1.0 - y * (K @ a)) + lam * a @ K @ a / 2
    dual = lam * (np.abs(a).sum() - a @ K @ a / 2)
    assert objective - dual == pytest.approx(0.0, abs=2e-3 * cost.sum())
    np.testing.assert_array_equal(risk.is_counted, [True, True, False])


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


def test_two_parts_equal_one_fit():
    X, _, few = moons_with_few_labels(100)
    whole = make(start="exact", n_iter=20, dtype="float64").fit(X, few)
    parts = make(start="exact", n_iter=10, dtype="float64").partial_fit(X, few, classes=[0, 1]).partial_fit(X, few)
    np.testing.assert_allclose(parts.model_.evaluate(X), whole.model_.evaluate(X), rtol=1e-9, atol=1e-11)


def test_a_started_run_continues_from_its_checkpoint_and_its_model_from_a_file(tmp_path):
    X, _, few = moons_with_few_labels(100)

    def stop(iterate):
        if iterate.t == 15:
            raise KeyboardInterrupt

    how = {"checkpoint": tmp_path / "run.npz", "every": 10}
    whole = make(start="exact", n_iter=20).fit(X, few)
    with pytest.raises(KeyboardInterrupt):
        make(start="exact", n_iter=20).fit(X, few, callback=stop, **how)
    again = make(start="exact", n_iter=20).fit(X, few, **how)
    again.model_.save(tmp_path / "model.npz")
    for model in (again.model_, load_model(tmp_path / "model.npz")):
        np.testing.assert_array_equal(model.evaluate(X), whole.model_.evaluate(X))
    for other in ({"start": None}, {"start": "exact", "sampling": "independent"}):
        with pytest.raises(ValueError, match="belongs to another run"):
            make(n_iter=20, **other).fit(X, few, **how)


def test_another_start_is_refused():
    X, _, few = moons_with_few_labels(100)
    with pytest.raises(ParameterError, match="start must be one of auto, exact or null, got 'warm'"):
        make(start="warm").fit(X, few)


# --- the ridge "auto": from the number of points, and for pairs from the share of positives


ROWS = {"similar": np.arange(200), "unlabeled": np.arange(500)}


def test_it_is_half_of_one_over_the_smallest_source():
    assert SemiSupervisedOrdinal().usual_ridge({"a": np.arange(20), "b": np.arange(50)}) == 0.025


@each(
    "positive, negative, ridge",
    [
        (20, 50, 0.075),
        (150, 5000, 0.01),
        (400, 5000, 6.302e-3),
        (50, 100_000, 0.03),
        (2048, 2048, 1.768e-3),
        (102_400, 102_400, 1.3296e-5),
    ],
)
def test_of_the_auc_it_is_more_and_shrinks_only_with_many_labels(positive, negative, ridge):
    rows = {"positive": np.arange(positive), "negative": np.arange(negative)}
    assert SemiSupervisedAUC().usual_ridge(rows) == pytest.approx(ridge, rel=1e-3)
    if positive >= 150:
        assert SemiSupervisedAUC(is_pooled=True).usual_ridge(rows) == pytest.approx(ridge, rel=1e-3)


def test_of_the_auc_with_pooled_spreads_all_labels_count():
    few, many = (
        {"positive": np.arange(5), "unlabeled": np.arange(900)},
        {"positive": np.arange(50), "unlabeled": np.arange(900)},
    )
    pooled = SemiSupervisedAUC(is_pooled=True)
    assert pooled.usual_ridge(few | {"negative": np.arange(95)}) == pytest.approx(0.03)
    assert pooled.usual_ridge(many | {"negative": np.arange(50)}) == pytest.approx(0.03)
    assert SemiSupervisedAUC().usual_ridge(many | {"negative": np.arange(50)}) == pytest.approx(0.03)


def test_pairs_divide_by_the_square_by_which_their_noise_is_magnified():
    assert SimilarUnlabeled(0.99).usual_ridge(ROWS) == pytest.approx(1 / 700 / 0.98**2)
    assert SimilarUnlabeled(0.3).usual_ridge(ROWS) == pytest.approx(SimilarUnlabeled(0.7).usual_ridge(ROWS))
    assert SimilarUnlabeled(0.502).usual_ridge(ROWS) == 1.0  # nothing can be learned: no more than this


@pytest.mark.parametrize("cls", [QSGS2AUC, TSGSU])
def test_an_estimator_says_which_it_used_and_keeps_it(cls):
    X, y = make_moons(200, noise=0.15, random_state=0)
    few = np.where(np.arange(200) < 40, y, -1)
    of_classes = {"y_holds": "classes", "prior": 0.7} if cls is TSGSU else {}
    small = {"n_iter": 8, "n_features": 8, "start": None, "random_state": 0, **of_classes}
    model = cls(**small).fit(X, few)
    said = cls(**small, lam=model.lam_).fit(X, few)
    np.testing.assert_array_equal(said.decision_function(X), model.decision_function(X))
    before = model.lam_
    assert model.partial_fit(X[10:], few[10:]).lam_ == before
