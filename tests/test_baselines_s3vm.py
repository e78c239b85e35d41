"""The semi-supervised support vector machines that TSGS3VM is compared with."""

import numpy as np
import oracle_files
import pytest
from cases import each
from four_estimators import moons_with_few_labels
from scipy.optimize import check_grad
from sklearn.svm import SVC

from dsgcore.baselines.bgs3vm import BGS3VM
from dsgcore.baselines.bls3vm import BLS3VM
from dsgcore.baselines.frs3vm import FRS3VM
from dsgcore.baselines.qns3vm import QNS3VM, Objective
from dsgcore.baselines.s3vm_light import S3VMLight
from dsgcore.baselines.s3vm_parts import OrderedPoints, centred_matrix
from dsgcore.kernels import Gaussian

FIVE = (S3VMLight, BLS3VM, BGS3VM, FRS3VM, QNS3VM)
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


# All five.


@each("cls", FIVE)
def test_unlabeled_points_help_to_tell_the_moons_apart(cls, moons):
    X, y, few = moons
    assert make(cls).fit(X, few).score(X[30:], y[30:]) > 0.85
