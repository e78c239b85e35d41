import naive_problems
import numpy as np
import pytest
from cases import each
from scipy.optimize import minimize
from test_solver import assert_equals, draws, run

from dsgcore.problems.s3vm import LOSSES, SemiSupervisedSVM
from dsgcore.solver.loop import solve
from dsgcore.solver.problem import ProblemError, objective

BALANCE = (False, True)


def draw(seed=0, sizes=(3, 4, 6), scale=1.5):
    rng = np.random.default_rng(seed)
    names = ("positive", "negative", "unlabeled")
    return {name: scale * rng.normal(size=size) for name, size in zip(names, sizes, strict=True)}


def bound(**parameters):
    return SemiSupervisedSVM(**{"C": 2.0, "C_star": 0.7, "positive_share": 0.3, **parameters})


@each("is_balanced", BALANCE)
@each("loss", LOSSES)
def test_equals_the_papers_algorithm(make_task, labeled_points, loss, is_balanced):
    X, y = labeled_points
    problem = SemiSupervisedSVM(C=3.0, loss=loss, is_balanced=is_balanced).bind(y)
    task = make_task(problem=problem, batch_size=4, lam=1.0, step_size=2.0, schedule="theta/T^(3/4)")
    model, _ = run(task)
    batches, frequencies, *_ = draws(task, model)
    alphas = naive_problems.tsgs3vm(
        X,
        batches,
        frequencies,
        [2.0 / 6**0.75] * 6,
        [1.0] * 6,
        C=3.0,
        C_star=3.0 * 18 / 22,
        share=8 / 18,
        loss=loss,
        s=-0.3,
        balanced=is_balanced,
    )
    assert_equals(model, X, alphas, frequencies)


def test_other_ridges_are_the_papers_problem_with_other_weights(make_task, labeled_points):
    """(C, C*, step, lam) here are the paper's (C / lam, C* / lam, step lam, 1)."""
    X, y = labeled_points
    lam, step = 0.05, 0.4
    models = []
    for scale, plan in ((1.0, {"lam": lam, "step_size": step}), (1 / lam, {"lam": 1.0, "step_size": step * lam})):
        task = make_task(problem=SemiSupervisedSVM(C=2.0 * scale).bind(y), schedule="constant", **plan)
        models.append(task.new_model())
        for _ in solve(task, models[-1]):
            pass
    np.testing.assert_allclose(models[0].evaluate(X), models[1].evaluate(X), rtol=1e-10, atol=1e-12)


@each("s", [-0.999, -0.3, 0.0])
@each("loss", LOSSES)
def test_losses_are_the_papers(loss, s):
    r = np.linspace(-2.3, 2.3, 47)  # no kink among them
    expected = np.array([naive_problems.u(loss, x, s) for x in r])
    np.testing.assert_allclose(LOSSES[loss].value(r, s), expected[:, 0], atol=1e-14)
    np.testing.assert_allclose(LOSSES[loss].slope(r, s), expected[:, 1], atol=1e-14)


def test_the_balances_bias_shrinks_with_the_batch():
    f = {"positive": np.array([0.5]), "negative": np.array([0.2]), "unlabeled": np.array([1.6, -0.9])}
    problem = bound(is_balanced=True, loss="exponential")
    full = np.concatenate(list(problem.coefficients(f).values()))
    bias = [np.linalg.norm(naive_problems.mean_gradient(problem, f, size) - full) for size in (1, 3, 9)]
    assert bias[0] > 0.1
    assert bias[2] < bias[1] < bias[0]
    assert bias[2] < 0.5 * bias[0]


def test_a_balanced_problem_looks_at_differences_only():
    problem, f = bound(is_balanced=True), draw()
    higher = {source: values + 3.0 for source, values in f.items()}
    assert objective(problem.terms(higher)) == pytest.approx(objective(problem.terms(f)))
    assert sum(c.sum() for c in problem.coefficients(f).values()) == pytest.approx(0.0, abs=1e-13)
    shifted = f["unlabeled"] + problem.shift(f["unlabeled"])
    assert shifted.mean() == pytest.approx(2 * 0.3 - 1)


def dual_svm(K, t, weight):
    """Values of the SVM without a bias, minimising |f|^2 / 2 + sum_i weight_i max(0, 1 - t_i f_i), by its dual."""
    G = K * np.outer(t, t)
    result = minimize(
        lambda a: (a @ G @ a / 2 - a.sum(), G @ a - 1.0),
        np.zeros(len(t)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, w) for w in weight],
        options={"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-10},
    )
    return K @ (result.x * t)


def test_without_unlabeled_points_the_svms_optimum_is_reached(make_task, labeled_points):
    X, y = labeled_points
    problem = SemiSupervisedSVM(C=4.0).bind(y).baseline()
    task = make_task(
        problem=problem, lam=1.0, step_size=1.5, schedule="theta/t", n_features=50, n_iter=3000, batch_size=16
    )
    model = task.new_model()
    for _ in solve(task, model):
        pass
    labeled = y != -1
    K = task.kernel.matrix(X[labeled], X[labeled])
    optimum = dual_svm(K, 2.0 * y[labeled] - 1, np.full(18, 4.0 / 18))
    error = np.sqrt(np.mean((model.evaluate(X[labeled]) - optimum) ** 2))
    assert error < 0.1 * np.sqrt(np.mean(optimum**2))


def test_bind_takes_the_share_and_the_weight_from_the_labels():
    y = np.array([1, 0, 0, -1, -1, -1])
    assert SemiSupervisedSVM(C=2.0).bind(y) == SemiSupervisedSVM(C=2.0, C_star=2.0, positive_share=1 / 3)
    assert SemiSupervisedSVM(C=2.0, C_star=0.0).bind(y).C_star == 0.0
    fully_labeled = SemiSupervisedSVM().bind(np.array([1, 0, 0]))
    assert (fully_labeled.C_star, fully_labeled.positive_share) == (1.0, 1 / 3)
    assert SemiSupervisedSVM().rows(np.array([1, 0, 0]))["unlabeled"].tolist() == [0, 1, 2]


def test_a_problem_not_bound_to_labels_says_so():
    with pytest.raises(ProblemError, match="must be bound to labels first"):
        SemiSupervisedSVM().terms(draw())
    with pytest.raises(ProblemError, match="must be bound to labels first"):
        SemiSupervisedSVM(is_balanced=True).shift(np.zeros(2))


@each(
    "y, message",
    [
        ([1, 1, -1], "an S3VM needs at least one labeled positive and one labeled negative, got no negative"),
        ([-1, -1], "an S3VM needs at least one labeled positive and one labeled negative, got no positive"),
        ([1, 0, 2], "a label must be 1, 0, or -1 for unlabeled, got 2"),
    ],
)
def test_wrong_labels_are_refused(y, message):
    with pytest.raises(ProblemError, match=f"^{message}$"):
        SemiSupervisedSVM().bind(np.array(y))


def test_accuracy_is_of_the_sign_and_the_points_themselves_shift_nothing():
    y, f = np.array([1, 1, 0, 0]), np.array([5.0, 4.0, 3.0, 2.0])
    for problem in (SemiSupervisedSVM(), bound(is_balanced=True, positive_share=0.5)):
        assert problem.score(y, f) == 0.5
        assert problem.score(y, f - 3.5) == 1.0
    assert np.isnan(SemiSupervisedSVM().score(y, np.full(4, np.nan)))


def test_there_is_no_quadratic_form_and_the_twin_has_labels_only(labeled_points):
    problem = SemiSupervisedSVM(is_balanced=True)
    assert problem.quadratic(problem.rows(labeled_points[1]), 40) is None
    assert problem.baseline() == SemiSupervisedSVM(C_star=0.0)
    assert objective(bound().baseline().terms(draw())) == pytest.approx(
        objective({k: v for k, v in bound().terms(draw()).items() if k != "unlabeled"})
    )
