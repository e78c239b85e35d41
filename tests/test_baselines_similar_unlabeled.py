import re
from functools import partial

import numpy as np
import oracle_files
import pytest
from cases import each
from data_makers import similar_pairs
from scipy.optimize import minimize

from dsgcore.baselines.cuu import CUU, MARGIN_LOSSES, SLOPES_BELOW_ZERO, UURisk, similar_unlabeled_risk
from dsgcore.baselines.sudh import SUDH
from dsgcore.baselines.susl import SUSL
from dsgcore.kernels import Gaussian
from dsgcore.problems.similar_unlabeled import CORRECTIONS, LOSSES, SimilarUnlabeled
from dsgcore.solver.diagnostics import exact_optimum

THREE = (SUSL, SUDH, CUU)


sample = partial(similar_pairs, n_pairs=60, n_unlabeled=150)


def relative(got, wanted):
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


def fit_oracle(cls, d, **parameters):
    is_linear = np.isnan(d["gamma"])
    kernel = {"kernel": "lm"} if is_linear else {"kernel": "gaussian", "sigma": d["gamma"]}
    model = cls(prior=d["prior"], lam=d["lam"], **kernel, **parameters)
    return model.fit(d["x_u"], pairs=d["x_pairs"].reshape(-1, 2, d["x_u"].shape[1]))


@pytest.mark.parametrize("path", oracle_files.files("su_sl_"))
def test_su_sl_equals_its_authors_program(path, record_property):
    d = oracle_files.load(path)
    model = fit_oracle(SUSL, d)
    f = {name: model.decision_function(d[f"x_{name}"]) for name in ("test", "u")}
    f["s"] = model.decision_function(d["x_pairs"].reshape(-1, d["x_u"].shape[1]))
    residuals = {f"f_{name}": relative(values, d[f"f_{name}"]) for name, values in f.items()}
    residuals["objective"] = abs(model.objective_ - d["objective"]) / abs(d["objective"])
    oracle_files.report(record_property, path, **residuals, condition=model.condition_)
    # The worst conditioned of them is su_sl_gauss_b.
    assert max(residuals.values()) < (1e-6 if path.stem == "su_sl_gauss_b" else 1e-8)
    np.testing.assert_allclose(model.model_.coef, d["coef"], rtol=0, atol=1e-6 * np.abs(d["coef"]).max())
    np.testing.assert_array_equal(np.where(model.predict(d["x_test"]) == 1, 1, -1), d["pred_test"])
    # The program's score is 1 minus twice the zero-one risk, 0 where that is below 0.
    risk = similar_unlabeled_risk(d["prior"], "zero-one", "identity").value(f["s"], f["u"])
    assert max(0.0, 1.0 - 2.0 * risk) == pytest.approx(d["cv_score_on_train"], abs=1e-12)


@pytest.mark.parametrize("path", oracle_files.files("su_dh_"))
def test_su_dh_solves_the_papers_quadratic_program(path, record_property):
    d = oracle_files.load(path)
    model = fit_oracle(SUDH, d, tol=1e-8)
    residuals = {
        "f_test": relative(model.decision_function(d["x_test"]), d["exact_f_test"]),
        "f_u": relative(model.decision_function(d["x_u"]), d["exact_f_u"]),
        "objective": abs(model.objective_ - d["exact_objective"]) / abs(d["exact_objective"]),
    }
    oracle_files.report(record_property, path, **residuals, gap=model.gap_)
    assert max(residuals["f_test"], residuals["f_u"]) < 1e-3
    assert residuals["objective"] < 1e-6
    assert model.objective_ < d["released_objective"]  # which is of no minimum


@pytest.mark.parametrize("path", oracle_files.files("uu_risk_"))
def test_the_uu_risk_equals_its_authors_program(path, record_property):
    d = oracle_files.load(path)
    errors = {"risk": 0.0, "gradient": 0.0, "zero_one": 0.0}
    for i, mode in enumerate(d["mode"]):
        f, one = d["f"][i], d["y_set"][i] == 1
        loss = ("sigmoid", "logistic")[int(d["loss"][i])]
        theta1, theta2, prior = (d[name][i] for name in ("theta1", "theta2", "prior"))
        if mode == 2:  # labels are the case of two pure sets
            theta1, theta2 = 1.0, 0.0
        risk = UURisk(theta1, theta2, prior, loss)
        got = risk.value(f[one], f[~one]), risk.gradient(f[one], f[~one])
        if mode == 1 and loss == "logistic":  # not equal to the risk: the form is for l(z) + l(-z) = 1
            got = simplified(loss, theta1, theta2, prior, f[one], f[~one])
        errors["risk"] = max(errors["risk"], abs(got[0] - d["risk"][i]))
        gradient = np.empty_like(f)
        gradient[one], gradient[~one] = got[1]
        errors["gradient"] = max(errors["gradient"], np.abs(gradient - d["grad"][i]).max())
        zero_one = UURisk(theta1, theta2, prior, "zero-one").value(f[one], f[~one])
        errors["zero_one"] = max(errors["zero_one"], abs(zero_one - d["zero_one_risk"][i]))
    oracle_files.report(record_property, path, **errors)
    # The program rounds the risk to single precision; its largest is some 5.
    assert max(errors.values()) < 1e-6


def simplified(loss, theta1, theta2, p, f1, f2):
    """The risk in its form for losses with l(z) + l(-z) = 1, and its gradient."""
    value, slope = MARGIN_LOSSES[loss]
    D = theta1 - theta2
    a, b = (p + (1 - 2 * p) * theta2) / D, (p + (1 - 2 * p) * theta1) / D
    constant = (theta2 * (1 - p) + (1 - theta1) * p) / D
    risk = a * value(f1).mean() + b * value(-f2).mean() - constant
    return risk, (a * slope(f1) / len(f1), -b * slope(-f2) / len(f2))


# --- Each by a second route.


def features(model, X):
    return model.model_.basis.features(X)


def risk_of(model, X, pairs, w, loss):
    """J by the definition of the risk, without the ridge."""
    p = model.prior_
    f_s, f_u = (features(model, points) @ w for points in (pairs.reshape(-1, X.shape[1]), X))
    value = LOSSES[loss].value
    similar_share = p**2 + (1 - p) ** 2
    of_similar = similar_share * np.mean(value(f_s) - value(-f_s))
    return (of_similar + np.mean(p * value(-f_u) - (1 - p) * value(f_u))) / (2 * p - 1)


@each("prior", [0.7, 0.3])
@each("kernel", ["gaussian", "lm", "linear"])
def test_su_sl_has_no_gradient_at_its_solution(prior, kernel):
    X, _, pairs = sample(prior)
    model = SUSL(kernel, prior=prior, sigma=0.5, lam=0.05, centers=40, random_state=0).fit(X, pairs=pairs)
    w = model.model_.coef

    def J(w):
        return risk_of(model, X, pairs, w, "squared") + 0.025 * w @ w

    assert model.objective_ == pytest.approx(J(w), rel=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction = rng.normal(size=len(w)) * 1e-2
        # J is quadratic: central differences are exact, except for rounding.
        assert abs(J(w + direction) - J(w - direction)) < 1e-9
        assert J(w + direction) > J(w)


def test_su_sl_in_the_kernels_norm_is_the_exact_optimum_of_the_problem():
    X, _, pairs = sample(0.7)
    members = pairs.reshape(-1, 2)
    points, ids = np.concatenate([members, X]), np.concatenate([np.arange(120) // 2, np.full(150, -1)])
    problem = SimilarUnlabeled(0.7, "squared", "identity")
    Q, l = problem.quadratic(problem.rows(ids), len(points))
    K = Gaussian(0.5).matrix(points, points) + 1.0  # a bias that is punished is a constant in the kernel
    f = K @ exact_optimum(K, Q, l, 0.01)
    model = SUSL(prior=0.7, sigma=0.5, lam=0.01, penalty="half rkhs").fit(points, ids)
    # The kernel matrix is factored up to a share of 1e-14, whose root shows in f.
    np.testing.assert_allclose(model.decision_function(points), f, rtol=0, atol=1e-6 * np.abs(f).max())


@each("penalty", ["half euclidean", "half rkhs"])
@each("prior", [0.7, 0.35])
def test_su_dh_is_certified_by_its_dual_and_no_step_leads_down(prior, penalty):
    X, _, pairs = sample(prior, n_pairs=20, n_unlabeled=50)
    model = SUDH(prior=prior, sigma=0.5, lam=0.1, penalty=penalty, tol=1e-9).fit(X, pairs=pairs)
    w = model.model_.coef
    penalties = np.eye(len(w))
    if penalty == "half rkhs":
        centers = model.model_.basis.centers
        penalties[:-1, :-1] = Gaussian(0.5).matrix(centers, centers)

    def J(w):
        return risk_of(model, X, pairs, w, "double hinge") + 0.05 * w @ penalties @ w

    assert model.objective_ == pytest.approx(J(w), rel=1e-6)
    assert 0.0 <= model.gap_ + 1e-12 < 1e-8
    assert model.converged_
    assert model.objectives_[-1] == pytest.approx(model.objective_)
    assert ((model.dual_coef_ >= 0.0) & (model.dual_coef_ <= 1.0)).all()
    rng = np.random.default_rng(1)
    assert all(J(w + step) >= J(w) - 1e-8 for size in (1e-1, 1e-3) for step in size * rng.normal(size=(20, len(w))))
    # The slopes equal those of the loss at all points with a single slope.
    f = model.decision_function(X)
    slope = np.where(f < -1.0, 0.0, np.where(f < 1.0, 0.5, 1.0))
    is_smooth = np.minimum(np.abs(f - 1.0), np.abs(f + 1.0)) > 1e-2
    np.testing.assert_allclose(model.dual_coef_[is_smooth], slope[is_smooth], atol=1e-4)


def test_su_dh_equals_a_general_solver_on_a_small_problem():
    X, _, pairs = sample(0.7, n_pairs=10, n_unlabeled=20)
    model = SUDH("lm", prior=0.7, lam=0.1, tol=1e-9).fit(X, pairs=pairs)
    n, phi = len(X), features(model, X)
    mean_s = features(model, pairs.reshape(-1, 2)).mean(axis=0)
    q = (-0.58 * mean_s + 0.3 * phi.mean(axis=0)) / 0.4
    # Slack variables xi >= 0, 1/2 + f/2, f at a cost of 1/n each.
    lines = [np.hstack([-slope * phi, np.eye(n)]) for slope in (0.0, 0.5, 1.0)]
    bounds = np.concatenate([np.zeros(n), np.full(n, 0.5), np.zeros(n)])
    found = minimize(
        lambda z: q @ z[:3] + z[3:].mean() + 0.05 * z[:3] @ z[:3],
        np.concatenate([np.zeros(3), np.ones(n)]),
        jac=lambda z: np.concatenate([q + 0.1 * z[:3], np.full(n, 1.0 / n)]),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda z: np.vstack(lines) @ z - bounds, "jac": lambda z: np.vstack(lines)},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    np.testing.assert_allclose(model.model_.coef, found.x[:3], atol=1e-5)
    assert model.objective_ == pytest.approx(found.fun, abs=1e-8)


@each("loss", LOSSES)
@each("correction", SLOPES_BELOW_ZERO)
@each("prior", [0.8, 0.4])
def test_the_uu_risk_of_pairs_and_unlabeled_points_is_tsgsus(loss, correction, prior):
    assert correction in CORRECTIONS
    rng = np.random.default_rng(0)
    f = {"similar": rng.normal(size=6), "unlabeled": rng.normal(size=9) + 1.0}
    problem = SimilarUnlabeled(prior, loss, correction)
    risk = similar_unlabeled_risk(prior, loss, correction)
    assert risk.value(*f.values()) == pytest.approx(sum(problem.risk_terms(f).values()), rel=1e-12)
    for own, wanted in zip(risk.gradient(*f.values()), problem.coefficients(f).values(), strict=True):
        np.testing.assert_allclose(own, wanted)


@each("loss", MARGIN_LOSSES)
@each("correction", SLOPES_BELOW_ZERO)
def test_the_uu_risks_gradient_is_its_derivative(loss, correction):
    rng = np.random.default_rng(0)
    is_below = set()
    for shift in (0.0, 2.0):  # of which one makes a class's risk negative
        f1, f2 = rng.normal(size=4) - 2.0 * shift, rng.normal(size=5) + shift
        risk = UURisk(0.6, 0.9, 0.7, loss, correction)
        is_below.add(min(risk.class_risks(f1, f2)) < 0.0)
        gradient = risk.gradient(f1, f2)
        for i in range(4):
            step = 1e-6 * np.eye(4)[i]
            slope = (risk.value(f1 + step, f2) - risk.value(f1 - step, f2)) / 2e-6
            assert gradient[0][i] == pytest.approx(slope, abs=1e-7)
    assert True in is_below


def test_cuu_without_correction_goes_where_su_sl_is():
    X, _, pairs = sample(0.7)
    settings = {"prior": 0.7, "sigma": 0.2, "lam": 0.3, "centers": 30, "random_state": 0}
    exact = SUSL(**settings).fit(X, pairs=pairs)
    model = CUU(correction="identity", batch_size=4000, n_iter=250, **settings).fit(X, pairs=pairs)
    w = model.model_.coef

    def J(w):
        return risk_of(model, X, pairs, w, "squared") + 0.15 * w @ w

    assert J(exact.model_.coef) == pytest.approx(exact.objective_)
    at_zero = J(0.0 * w)
    # Mini-batches leave some noise; without them it would be a thousandth.
    assert exact.objective_ <= J(w) < exact.objective_ + 0.02 * (at_zero - exact.objective_)
    assert len(model.objectives_) == 250
    assert model.objectives_[0] == pytest.approx(0.25)


@each("prior", [0.7, 0.3])
@each("cls", THREE)
def test_each_learns_from_pairs_with_either_class_the_larger(cls, prior):
    X, y, pairs = sample(prior, n_pairs=150, n_unlabeled=400)
    model = cls(prior=prior, sigma=0.1, lam=0.1, centers=100, random_state=0).fit(X, pairs=pairs)
    # Always to say the larger class is right for 70 %; the classes' means are 4.2 standard deviations apart.
    assert model.score(X, y) > 0.9


@each("cls", THREE)
def test_pair_ids_and_pairs_are_the_same_and_labels_draw_pairs(cls):
    X, y, pairs = sample(0.7)
    members = pairs.reshape(-1, 2)
    ids = np.concatenate([np.full(150, -1), np.arange(120) // 2])  # members last: the order does not matter
    settings = {"prior": 0.7, "sigma": 0.3, "lam": 0.1, "random_state": 0, "centers": 50}
    f = cls(**settings).fit(X, pairs=pairs).decision_function(X)
    np.testing.assert_array_equal(cls(**settings).fit(np.concatenate([X, members]), ids).decision_function(X), f)
    names = np.where(y == 1, "b", "a")
    model = cls(y_holds="classes", sigma=0.1, lam=0.3, centers=50, random_state=0).fit(X, names)
    assert model.prior_ == np.mean(y)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.score(X, names) > 0.85


def test_what_only_one_has_is_checked_too():
    X, _, pairs = sample(0.7)
    with pytest.raises(ValueError, match=r"^CUU diverged at iteration \d+: step_size 10000 is too big for this .*$"):
        CUU(prior=0.7, step_size=1e4).fit(X, pairs=pairs)
    with pytest.raises(ValueError, match=r"^give either y or pairs, got both; .*$"):
        SUSL(prior=0.7).fit(X, np.full(150, -1), pairs=pairs)
    with pytest.raises(ValueError, match=f"^{re.escape('pair id 1 must occur exactly twice, but occurs 1 times')}$"):
        SUSL(prior=0.7).fit(X[:4], [0, 0, 1, -1])


def test_the_prior_is_estimated_where_none_is_given():
    X, y, pairs = sample(0.9, n_pairs=100, n_unlabeled=200)
    model = SUSL(sigma=0.1, lam=0.1, random_state=0).fit(X, pairs=pairs)
    assert 0.7 < model.prior_ < 1.0
    assert model.score(X, y) > 0.9
