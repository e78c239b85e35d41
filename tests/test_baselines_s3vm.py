"""The semi-supervised support vector machines that TSGS3VM is compared with."""

import numpy as np
import oracle_files
import pytest
from cases import each
from four_estimators import moons_with_few_labels
from scipy.optimize import check_grad
from scipy.spatial.distance import cdist
from sklearn.svm import SVC, LinearSVC

from dsgcore.baselines.centred_s3vm import BLS3VM, QNS3VM, Objective, centred_matrix
from dsgcore.baselines.gradient_s3vm import BGS3VM, FRS3VM
from dsgcore.baselines.s3vm import OrderedPoints, S3VMLight
from dsgcore.core.sampling import batch_rows, generator
from dsgcore.kernels import Gaussian

KERNEL = {0: "linear", 1: "gaussian"}


def make(cls, **parameters):
    """Make an estimator; what is not given is small."""
    return cls(**{"sigma": 2.0, **({"random_state": 0} if cls in (BGS3VM, FRS3VM) else {}), **parameters})


@pytest.fixture(scope="module")
def moons():
    return moons_with_few_labels(160, noise=0.2, n_labeled=30)


# The original programs' numbers.


def oracle_fit(model, o):
    """Fit on an oracle's points, labels 0 and 1."""
    y = np.concatenate([o["y_l"] > 0, np.full(len(o["x_u"]), -1)]).astype(int)
    return model.fit(np.concatenate([o["x_l"], o["x_u"]]), y)


@pytest.mark.parametrize("path", oracle_files.files("svmlight_"))
def test_s3vm_light_equals_the_original_program(path, record_property):
    o = oracle_files.load(path)
    given = {"sigma": o["gamma"] or "scale", "C_star": None if len(o["x_u"]) else 0.0}
    model = S3VMLight(KERNEL[o["kernel"]], C=o["C"], positive_share=o["pos_fraction"], **given)
    oracle_fit(model, o)
    residual = np.abs(model.decision_function(o["x_test"]) - o["f_test"]).max()
    same = np.mean((model.decision_function(o["x_u"]) > 0) == (o["f_u"] > 0)) if len(o["x_u"]) else 1.0
    objective = abs(model.objectives_[-1] / o["objective"] - 1)
    oracle_files.report(record_property, path, f=residual, labels=same, objective=objective)
    assert same >= 0.95
    assert residual < 5e-3  # the program stops at 1e-4 in its own units
    assert objective < 1e-3


def single(X):
    """Round to single precision, as the original CCCP program does with its inputs."""
    return np.asarray(X, dtype=np.float32).astype(float)


@pytest.mark.parametrize("path", oracle_files.files("cccp_tsvm_"))
def test_bls3vm_equals_the_original_program(path, record_property):
    o = oracle_files.load(path)
    o.update({name: single(o[name]) for name in ("x_l", "x_u", "x_test")})
    given = {name: o[name] for name in ("C", "C_star", "s", "balance_target")}
    model = oracle_fit(BLS3VM(KERNEL[o["kernel"]], sigma=o["gamma"] or "scale", **given), o)
    residual = np.abs(model.decision_function(o["x_test"]) - o["f_test"]).max()
    objective = abs(model.objectives_[-1] / o["objective"] - 1)
    oracle_files.report(record_property, path, f=residual, objective=objective, steps=model.n_iter_)
    assert residual < 1e-4  # the program prints six digits
    assert objective < 1e-5
    assert model.n_iter_ == o["cccp_loops"]


@pytest.mark.parametrize("path", oracle_files.files("cccp_tsvm_rbf_defaultz"))
def test_bls3vm_has_the_original_programs_default_weight(path):
    o = oracle_files.load(path)
    assert o["C_star"] == pytest.approx(o["C"] * len(o["x_l"]) / len(o["x_u"]))
    model, same = (oracle_fit(make(BLS3VM, C=o["C"], C_star=c), o) for c in (None, o["C_star"]))
    np.testing.assert_array_equal(model.dual_coef_, same.dual_coef_)


@pytest.mark.ci
@pytest.mark.parametrize("path", oracle_files.files("qns3vm_"))
def test_qns3vm_equals_the_original_program(path, record_property):
    o = oracle_files.load(path)
    given = {"lam": o["lam"], "lam_u": o["lamU"], "balance_target": o["estimate_r"]}
    model = oracle_fit(QNS3VM(KERNEL[o["kernel"]], sigma=1.0 / (2.0 * o["sigma"] ** 2), **given), o)
    residual = np.abs(model.decision_function(o["x_test"]) - o["f_test"]).max()
    objective = abs(model.objectives_[-1] / o["objective"] - 1)
    oracle_files.report(record_property, path, f=residual, objective=objective)
    assert objective < 1e-3
    assert residual < 1e-2  # a local search: both stop near the same minimum


# S3VM-light.


@each("share", [None, 0.3])
def test_s3vm_light_ends_in_a_machine_on_labels_that_no_switch_improves(moons, share):
    X, _, few = moons
    model = make(S3VMLight, C=2.0, C_star=0.5, positive_share=share).fit(X, few)
    labeled = few != -1
    labels = np.where(labeled, 2 * few - 1, 0)
    labels[~labeled] = model.labels_
    wanted = np.mean(few[labeled]) if share is None else share
    assert np.sum(model.labels_ > 0) == int(130 * wanted + 0.5)
    # By another route: libsvm's own Gaussian kernel, and a finer tolerance.
    svm = SVC(C=1.0, gamma=2.0, tol=1e-6).fit(X, labels, sample_weight=np.where(labeled, 2.0, 0.5))
    f = model.decision_function(X)
    np.testing.assert_allclose(f, svm.decision_function(X), atol=5e-3)
    slack = np.maximum(0.0, 1.0 - labels * f)[~labeled]
    pairs = slack[model.labels_ > 0][:, None] + slack[model.labels_ < 0]
    both = np.minimum.outer(slack[model.labels_ > 0], slack[model.labels_ < 0]) > 0
    assert (pairs[both] <= 2.0 + 1e-3).all()


def test_s3vm_lights_objective_falls_while_the_weight_stays(moons):
    X, _, few = moons
    model = make(S3VMLight, positive_share=0.7).fit(X, few)  # far from the truth: labels must be switched
    fall = np.diff(model.objectives_)[(np.diff(model.weights_, axis=0) == 0).all(axis=1)]
    assert len(fall) > 3
    assert (fall < 1e-3).all()
    assert model.converged_
    negative, positive = model.weights_.T
    assert negative[-1] == positive[-1] == 1.0
    assert len(np.unique(negative)) == 19  # the labels alone, 1e-5 2^0 .. 1e-5 2^16, and 1
    both = (negative > 0) & (positive < 1)
    np.testing.assert_allclose(positive[both] / negative[both], 91 / 39)


def test_s3vm_light_without_weight_on_the_unlabeled_points_is_the_machine_on_the_labels(moons):
    X, _, few = moons
    model = make(S3VMLight, C=3.0, C_star=0.0).fit(X, few)
    svm = SVC(C=3.0, gamma=2.0, tol=1e-6).fit(X[few != -1], few[few != -1])
    np.testing.assert_allclose(model.decision_function(X), svm.decision_function(X), atol=1e-3)
    assert model.n_iter_ == 1


@each("n", [1, 2])
def test_s3vm_light_labels_one_or_two_unlabeled_points(moons, n):
    X, y, _ = moons
    few = np.where(np.arange(160) < n, -1, y)
    model = make(S3VMLight).fit(X, few)
    assert sorted(model.labels_) == ([-1.0, 1.0] if n == 2 else [float(2 * round(np.mean(y[1:])) - 1)])


# BLS3VM.


def check_optimality(model, X, few, *, C, C_star, s, atol):
    """The KKT conditions of the last convex step, from the coefficients and the values alone."""
    labeled = few != -1
    f = np.concatenate([model.decision_function(X[labeled]), model.decision_function(X[~labeled])])
    n = labeled.sum()
    y, f_l, f_u = 2.0 * few[labeled] - 1.0, f[:n], f[n:]
    pull = y * model.dual_coef_[:n]
    assert (pull > -atol).all()
    assert (pull < C + atol).all()
    np.testing.assert_allclose(pull[y * f_l < 1 - atol], C, atol=atol)
    np.testing.assert_allclose(pull[y * f_l > 1 + atol], 0.0, atol=atol)
    tangents = C_star * ((f_u < s) * 1.0 - (-f_u < s))
    pull = -(model.dual_coef_[n:] + tangents)  # in C* times the subdifferential of max(0, |f| - 1)
    assert (np.abs(pull) < C_star + atol).all()
    np.testing.assert_allclose(pull[np.abs(f_u) < 1 - atol], 0.0, atol=atol)
    outside = np.abs(f_u) > 1 + atol
    np.testing.assert_allclose(pull[outside], C_star * np.sign(f_u[outside]), atol=atol)
    return f_l, f_u


@each("s, target", [(0.0, None), (-0.3, 0.2), (-0.9, -0.5)])
def test_bls3vm_ends_where_its_last_convex_step_is_optimal(moons, s, target):
    X, _, few = moons
    model = make(BLS3VM, C=5.0, C_star=0.7, s=s, balance_target=target, tol=1e-8).fit(X, few)
    _, f_u = check_optimality(model, X, few, C=5.0, C_star=0.7, s=s, atol=1e-4)
    wanted = np.mean(2.0 * few[few != -1] - 1.0) if target is None else target
    assert f_u.mean() == pytest.approx(wanted, abs=1e-9)
    assert model.converged_
    assert (np.diff(model.objectives_) < 1e-6).all()


def test_bls3vms_coefficients_are_those_of_its_function(moons):
    X, _, few = moons
    model = make(BLS3VM, C=5.0).fit(X, few)
    order = np.concatenate([X[few != -1], X[few == -1]])
    points = OrderedPoints(order, 2.0 * few[few != -1] - 1.0)
    f = centred_matrix(Gaussian(2.0), points) @ model.dual_coef_ + points.y.mean()
    np.testing.assert_allclose(model.decision_function(order), f, atol=1e-9)
    C_star = 5.0 * 30 / 130
    ramps = sum(np.clip(1.0 - z, 0.0, 1.3).sum() for z in (f[30:], -f[30:]))
    hinges = np.maximum(0.0, 1.0 - points.y * f[:30]).sum()
    objective = 0.5 * model.dual_coef_ @ (f - points.y.mean()) + 5.0 * hinges + C_star * ramps
    assert model.objectives_[-1] == pytest.approx(objective, rel=1e-9)


def test_bls3vm_reaches_labeled_values_beyond_the_regressions_second_kink():
    x = np.concatenate([np.linspace(0.01, 0.1, 10), [30.0], -np.linspace(0.01, 0.1, 10), [-30.0]])
    X, few = x[:, None], np.where(x > 0, 1, 0)
    X, few = np.concatenate([X, [[0.5], [-0.5]]]), np.concatenate([few, [-1, -1]])
    model = BLS3VM("linear", C=1e4, C_star=1.0, tol=1e-9).fit(X, few)
    f_l, _ = check_optimality(model, X, few, C=1e4, C_star=1.0, s=-0.3, atol=1e-2)
    assert np.abs(f_l).max() > 1000


# QNS3VM.


@pytest.fixture(scope="module")
def smooth():
    rng = np.random.default_rng(3)
    points = OrderedPoints(rng.normal(size=(20, 2)), np.where(np.arange(8) % 2, 1.0, -1.0))
    return Objective(centred_matrix(Gaussian(0.5), points), points, 0.1, 0.7, 0.2)


def test_qns3vms_gradient_is_that_of_its_objective(smooth):
    coef = np.random.default_rng(4).normal(size=20)
    for share in (0.0, 1.0):
        assert check_grad(lambda c: smooth(c, share)[0], lambda c: smooth(c, share)[1], coef) < 1e-5  # noqa: B023


def test_qns3vms_objective_is_the_papers(smooth):
    coef = np.random.default_rng(4).normal(size=20)
    f = smooth.K @ coef + 0.2
    hinge = np.log1p(np.exp(20 * (1 - smooth.y * f[:8]))).mean() / 20
    wanted = hinge + 0.7 * np.exp(-3 * f[8:] ** 2).mean() + 0.1 * coef @ smooth.K @ coef
    assert smooth(coef)[0] == pytest.approx(wanted, rel=1e-12)
    assert f[8:].mean() == pytest.approx(0.2, abs=1e-12)


def test_qns3vm_ends_where_the_gradient_vanishes(moons):
    X, _, few = moons
    model = make(QNS3VM, lam=0.05, lam_u=0.5).fit(X, few)
    points = OrderedPoints(np.concatenate([X[few != -1], X[few == -1]]), 2.0 * few[few != -1] - 1.0)
    objective = Objective(centred_matrix(Gaussian(2.0), points), points, 0.05, 0.5, float(points.y.mean()))
    value, gradient = objective(model.dual_coef_)
    assert np.abs(gradient).max() < 1e-4
    assert model.objectives_[-1] == pytest.approx(value, rel=1e-9)
    assert (np.diff(model.objectives_)[np.diff(model.weights_) == 0] <= 1e-12).all()
    # If the last result is also good enough for the next weight, no iteration is made with that weight.
    assert set(model.weights_) <= {0.5 * share for share in (0, 1e-6, 1e-4, 0.01, 0.1, 0.5, 1)}
    assert {0.0, 0.005, 0.05, 0.25, 0.5} <= set(model.weights_)
    assert model.decision_function(X[few == -1]).mean() == pytest.approx(points.y.mean(), abs=1e-9)


# BGS3VM.


def naive_bgs3vm(X, few, *, budgets, sigma, C, n_iter, seed):
    """The same descent over dictionaries from rows to coefficients."""
    labeled, unlabeled = np.flatnonzero(few != -1), np.flatnonzero(few == -1)
    C_star = C * len(labeled) / len(unlabeled)
    first = generator(seed, "labeled").integers(len(labeled), size=n_iter)
    second = generator(seed, "unlabeled").integers(len(unlabeled), size=n_iter)
    coef = [{}, {}]

    def f(x):
        return sum(c * np.exp(-sigma * np.sum((x - X[row]) ** 2)) for part in coef for row, c in part.items())

    for t in range(1, n_iter + 1):
        i, j = labeled[first[t - 1]], unlabeled[second[t - 1]]
        y, r = 2 * few[i] - 1, f(X[j])
        slopes = [-C * y * (y * f(X[i]) < 1), -C_star * np.sign(r) * (abs(r) < 1)]
        coef = [{row: (1 - 1 / t) * c for row, c in part.items()} for part in coef]
        for part, row, slope, budget in zip(coef, (i, j), slopes, budgets, strict=True):
            if slope != 0:
                part[row] = part.get(row, 0.0) - slope / t
            if len(part) > budget:
                least = min(abs(c) for c in part.values())
                del part[next(row for row, c in part.items() if abs(c) <= (1 + 1e-9) * least)]
    return np.array([f(x) for x in X]), [len(part) for part in coef]


@each("budgets", [(100, 130), (7, 11), (1, 1)])
def test_bgs3vm_equals_its_naive_twin(moons, budgets):
    X, _, few = moons
    model = make(
        BGS3VM, labeled_weight=3.0, budget_labeled=budgets[0], budget_unlabeled=budgets[1], n_passes=2, random_state=5
    )
    f, sizes = naive_bgs3vm(X, few, budgets=budgets, sigma=2.0, C=3.0, n_iter=260, seed=5)
    np.testing.assert_allclose(model.fit(X, few).decision_function(X), f, rtol=1e-9, atol=1e-12)
    assert len(model.model_.basis.centers) == sum(sizes)
    assert sizes[0] <= budgets[0]
    assert sizes[1] <= budgets[1]


def test_bgs3vms_default_budget_is_a_fifth_of_the_unlabeled_points(moons):
    X, _, few = moons
    f, same = (make(BGS3VM, budget_unlabeled=b).fit(X, few).decision_function(X) for b in (None, 26))
    np.testing.assert_array_equal(f, same)


def test_bgs3vms_objective_is_that_of_its_function(moons):
    X, _, few = moons
    model = make(BGS3VM, labeled_weight=3.0, loss="ramp", s=-0.4).fit(X, few)
    f = model.decision_function(X)
    centers, coef = model.model_.basis.centers, model.model_.coef[:-1]
    ridge = 0.5 * coef @ np.exp(-2.0 * cdist(centers, centers, "sqeuclidean")) @ coef
    hinge = np.maximum(0.0, 1.0 - (2.0 * few - 1.0) * f)[few != -1].mean()
    ramp = np.minimum(0.6, np.maximum(0.0, 1.0 - np.abs(f)))[few == -1].mean()
    # The objective uses all points, because there are less than 500.
    assert model.objectives_[-1] == pytest.approx(ridge + 3.0 * hinge + 3.0 * 30 / 130 * ramp, rel=1e-9)
    assert len(model.objectives_) == model.n_iter_ == 10


# FRS3VM.


def test_frs3vm_without_unlabeled_points_comes_to_the_optimum_on_the_same_features(moons):
    X, _, few = moons
    model = make(FRS3VM, labeled_weight=10.0, unlabeled_weight=0.0, n_features=32, n_passes=2000).fit(X, few)
    phi, y = model.model_.weights.features(X[few != -1]), few[few != -1]
    assert phi.shape == (30, 64)
    np.testing.assert_allclose(np.sum(phi**2, axis=1), 1.0)
    # The sum of 30 hinge losses weighs C / 30 each.
    svm = LinearSVC(loss="hinge", dual=True, C=10.0 / 30, fit_intercept=False, tol=1e-8, max_iter=10**6).fit(phi, y)
    w = svm.coef_[0]
    best = 0.5 * w @ w + 10.0 * np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * (phi @ w)).mean()
    assert best - 1e-6 <= model.objectives_[-1] < 1.001 * best
    assert model.objectives_[0] > 1.01 * best
    assert np.linalg.norm(model.model_.weights.W[:, 0] - w) < 0.05 * np.linalg.norm(w)


def test_frs3vm_equals_its_naive_twin(moons):
    X, _, few = moons
    model = make(
        FRS3VM, labeled_weight=4.0, n_features=9, batch_size=16, n_passes=2, step_size=0.5, random_state=3
    ).fit(X, few)
    order = np.concatenate([X[few != -1], X[few == -1]])
    y = 2.0 * few[few != -1] - 1.0
    omega = 2 * np.pi * Gaussian(2.0).frequencies(generator(3, "frequencies"), 2, 9).astype(float)
    phi = [np.concatenate([np.cos(x @ omega), np.sin(x @ omega)]) / 3.0 for x in order]
    rows = {"positive": np.flatnonzero(y > 0), "negative": np.flatnonzero(y < 0), "unlabeled": np.arange(30, 160)}
    w, C_star = np.zeros(18), 4.0 * 30 / 130
    for t in range(1, 2 * 9 + 1):  # nine batches of 16 are a pass over 130 points
        gradient = w.copy()
        for source, index in rows.items():
            for i in batch_rows(3, source, t, index, 16):
                f = phi[i] @ w
                if source == "unlabeled":
                    slope = -C_star * np.sign(f) * (abs(f) < 1)
                else:
                    slope = -4.0 * len(index) / 30 * y[i] * (y[i] * f < 1)
                gradient += slope * phi[i] / 16
        w -= 0.5 / t * gradient
    np.testing.assert_allclose(model.model_.weights.W[:, 0], w, rtol=1e-9, atol=1e-12)


def test_frs3vm_with_a_linear_kernel_is_linear(moons):
    X, _, few = moons
    model = make(FRS3VM, kernel="linear").fit(X, few)
    np.testing.assert_allclose(model.decision_function(X), X @ model.model_.weights.W[:, 0])
