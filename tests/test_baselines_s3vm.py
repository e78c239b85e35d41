"""The semi-supervised support vector machines that TSGS3VM is compared with, each by a second route."""

import numpy as np
import pytest
from cases import each
from four_estimators import moons_with_few_labels
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from dsgcore.baselines.centred_s3vm import BLS3VM, QNS3VM, Objective, centred_matrix
from dsgcore.baselines.gradient_s3vm import BGS3VM, FRS3VM
from dsgcore.baselines.s3vm import S3VMLight
from dsgcore.core.sampling import batch_rows, generator
from dsgcore.kernels import Gaussian

X, Y, FEW = moons_with_few_labels(160, noise=0.2, n_labeled=30)
IS_LABELED = FEW != -1
SIGNS = 2.0 * FEW[IS_LABELED] - 1.0
ORDERED = np.concatenate([X[IS_LABELED], X[~IS_LABELED]])


def fitted(cls, labels=FEW, **parameters):
    """Fit to the moons; what is not given is small."""
    given = {"sigma": 2.0, **({"random_state": 0} if cls in (BGS3VM, FRS3VM) else {}), **parameters}
    return cls(**given).fit(X, labels)


# --- S3VM-light


@each("share", [None, 0.3])
def test_s3vm_light_ends_in_a_machine_on_labels_that_no_switch_improves(share):
    model = fitted(S3VMLight, C=2.0, C_star=0.5, positive_share=share)
    labels = np.where(IS_LABELED, 2 * FEW - 1, 0)
    labels[~IS_LABELED] = model.labels_
    wanted = np.mean(SIGNS > 0) if share is None else share
    assert np.sum(model.labels_ > 0) == int(130 * wanted + 0.5)
    # By another route: libsvm's own Gaussian kernel, and a finer tolerance.
    svm = SVC(C=1.0, gamma=2.0, tol=1e-6).fit(X, labels, sample_weight=np.where(IS_LABELED, 2.0, 0.5))
    f = model.decision_function(X)
    assert_allclose(f, svm.decision_function(X), atol=5e-3)
    slack = np.maximum(0.0, 1.0 - labels * f)[~IS_LABELED]
    positive, negative = slack[model.labels_ > 0], slack[model.labels_ < 0]
    assert (np.add.outer(positive, negative)[np.minimum.outer(positive, negative) > 0] <= 2.0 + 1e-3).all()


def test_s3vm_lights_objective_falls_while_the_weight_stays():
    model = fitted(S3VMLight, positive_share=0.7)  # far from the truth: labels must be switched
    fall = np.diff(model.objectives_)[(np.diff(model.weights_, axis=0) == 0).all(axis=1)]
    assert len(fall) > 3
    assert (fall < 1e-3).all()
    assert model.converged_
    negative, positive = model.weights_.T
    assert negative[-1] == positive[-1] == 1.0
    assert len(np.unique(negative)) == 19  # the labels alone, 1e-5 2^0 .. 1e-5 2^16, and 1
    both = (negative > 0) & (positive < 1)
    assert_allclose(positive[both] / negative[both], 91 / 39)


def test_s3vm_light_labels_one_or_two_unlabeled_points():
    one, two = (fitted(S3VMLight, np.where(np.arange(160) < n, -1, Y)) for n in (1, 2))
    assert one.labels_.tolist() == [2 * round(np.mean(Y[1:])) - 1]
    assert sorted(two.labels_) == [-1.0, 1.0]


# --- BLS3VM


def check_optimality(model, X, few, *, C, C_star, s, atol):
    """The KKT conditions of the last convex step, from the coefficients and the values alone; return the values."""
    is_labeled = few != -1
    y, n = 2.0 * few[is_labeled] - 1.0, is_labeled.sum()
    f_l, f_u = model.decision_function(X[is_labeled]), model.decision_function(X[~is_labeled])
    pull = y * model.dual_coef_[:n]
    assert (pull > -atol).all()
    assert (pull < C + atol).all()
    assert_allclose(pull[y * f_l < 1 - atol], C, atol=atol)
    assert_allclose(pull[y * f_l > 1 + atol], 0.0, atol=atol)
    tangents = C_star * ((f_u < s) * 1.0 - (-f_u < s))
    pull = -(model.dual_coef_[n:] + tangents)  # in C* times the subdifferential of max(0, |f| - 1)
    assert (np.abs(pull) < C_star + atol).all()
    assert_allclose(pull[np.abs(f_u) < 1 - atol], 0.0, atol=atol)
    outside = np.abs(f_u) > 1 + atol
    assert_allclose(pull[outside], C_star * np.sign(f_u[outside]), atol=atol)
    return f_l, f_u


@each("s, target", [(0.0, None), (-0.3, 0.2), (-0.9, -0.5)])
def test_bls3vm_ends_where_its_last_convex_step_is_optimal(s, target):
    model = fitted(BLS3VM, C=5.0, C_star=0.7, s=s, balance_target=target, tol=1e-8)
    _, f_u = check_optimality(model, X, FEW, C=5.0, C_star=0.7, s=s, atol=1e-4)
    assert f_u.mean() == pytest.approx(np.mean(SIGNS) if target is None else target, abs=1e-9)
    assert model.converged_
    assert (np.diff(model.objectives_) < 1e-6).all()


def test_bls3vms_coefficients_are_those_of_its_function():
    model = fitted(BLS3VM, C=5.0)
    f = centred_matrix(Gaussian(2.0), ORDERED, len(SIGNS)) @ model.dual_coef_ + SIGNS.mean()
    assert_allclose(model.decision_function(ORDERED), f, atol=1e-9)
    ramps = sum(np.clip(1.0 - z, 0.0, 1.3).sum() for z in (f[30:], -f[30:]))
    hinges = np.maximum(0.0, 1.0 - SIGNS * f[:30]).sum()
    objective = 0.5 * model.dual_coef_ @ (f - SIGNS.mean()) + 5.0 * hinges + 5.0 * 30 / 130 * ramps
    assert model.objectives_[-1] == pytest.approx(objective, rel=1e-9)


def test_bls3vm_reaches_labeled_values_beyond_the_regressions_second_kink():
    x = np.concatenate([np.linspace(0.01, 0.1, 10), [30.0], -np.linspace(0.01, 0.1, 10), [-30.0], [0.5], [-0.5]])
    few = np.where(np.abs(x) == 0.5, -1, np.where(x > 0, 1, 0))
    model = BLS3VM("linear", C=1e4, C_star=1.0, tol=1e-9).fit(x[:, None], few)
    f_l, _ = check_optimality(model, x[:, None], few, C=1e4, C_star=1.0, s=-0.3, atol=1e-2)
    assert np.abs(f_l).max() > 1000


# --- QNS3VM


def test_qns3vms_objective_is_the_papers_and_its_gradient_is_right():
    points, signs = np.random.default_rng(3).normal(size=(20, 2)), np.where(np.arange(8) % 2, 1.0, -1.0)
    objective = Objective(centred_matrix(Gaussian(0.5), points, 8), signs, 0.1, 0.7, 0.2)
    coef = np.random.default_rng(4).normal(size=20)
    f = objective.K @ coef + 0.2
    hinge = np.log1p(np.exp(20 * (1 - objective.y * f[:8]))).mean() / 20
    wanted = hinge + 0.7 * np.exp(-3 * f[8:] ** 2).mean() + 0.1 * coef @ objective.K @ coef
    assert objective(coef)[0] == pytest.approx(wanted, rel=1e-12)
    assert f[8:].mean() == pytest.approx(0.2, abs=1e-12)
    for share in (0.0, 1.0):
        assert check_grad(lambda c: objective(c, share)[0], lambda c: objective(c, share)[1], coef) < 1e-5  # noqa: B023


def test_qns3vm_ends_where_the_gradient_vanishes():
    model = fitted(QNS3VM, lam=0.05, lam_u=0.5)
    objective = Objective(centred_matrix(Gaussian(2.0), ORDERED, len(SIGNS)), SIGNS, 0.05, 0.5, float(SIGNS.mean()))
    value, gradient = objective(model.dual_coef_)
    assert np.abs(gradient).max() < 1e-4
    assert model.objectives_[-1] == pytest.approx(value, rel=1e-9)
    assert (np.diff(model.objectives_)[np.diff(model.weights_) == 0] <= 1e-12).all()
    # If the last result is also good enough for the next weight, no iteration is made with that weight.
    assert set(model.weights_) <= {0.5 * share for share in (0, 1e-6, 1e-4, 0.01, 0.1, 0.5, 1)}
    assert {0.0, 0.005, 0.05, 0.25, 0.5} <= set(model.weights_)
    assert model.decision_function(X[~IS_LABELED]).mean() == pytest.approx(SIGNS.mean(), abs=1e-9)


# --- BGS3VM


def naive_bgs3vm(*, budgets, sigma, C, n_iter, seed):
    """The same descent over dictionaries from rows to coefficients."""
    labeled, unlabeled = np.flatnonzero(IS_LABELED), np.flatnonzero(~IS_LABELED)
    C_star = C * len(labeled) / len(unlabeled)
    first = generator(seed, "labeled").integers(len(labeled), size=n_iter)
    second = generator(seed, "unlabeled").integers(len(unlabeled), size=n_iter)
    coef = [{}, {}]

    def f(x):
        return sum(c * np.exp(-sigma * np.sum((x - X[row]) ** 2)) for part in coef for row, c in part.items())

    for t in range(1, n_iter + 1):
        i, j = labeled[first[t - 1]], unlabeled[second[t - 1]]
        y, r = 2 * FEW[i] - 1, f(X[j])
        slopes = [-C * y * (y * f(X[i]) < 1), -C_star * np.sign(r) * (abs(r) < 1)]
        coef = [{row: (1 - 1 / t) * c for row, c in part.items()} for part in coef]
        for part, row, slope, budget in zip(coef, (i, j), slopes, budgets, strict=True):
            if slope != 0:
                part[row] = part.get(row, 0.0) - slope / t
            if len(part) > budget:
                least = min(abs(c) for c in part.values())
                del part[next(row for row, c in part.items() if abs(c) <= (1 + 1e-9) * least)]
    return np.array([f(x) for x in X]), [len(part) for part in coef]


# By default it keeps a fifth of the 130 unlabeled points.
@each("budgets, given", [((100, 130), 130), ((7, 11), 11), ((1, 1), 1), ((7, 26), None)])
def test_bgs3vm_equals_its_naive_twin(budgets, given):
    sizes = {"budget_labeled": budgets[0], "budget_unlabeled": given}
    model = fitted(BGS3VM, labeled_weight=3.0, n_passes=2, random_state=5, **sizes)
    f, sizes = naive_bgs3vm(budgets=budgets, sigma=2.0, C=3.0, n_iter=260, seed=5)
    assert_allclose(model.decision_function(X), f, rtol=1e-9, atol=1e-12)
    assert len(model.model_.basis.centers) == sum(sizes)
    assert sizes[0] <= budgets[0]
    assert sizes[1] <= budgets[1]


def test_bgs3vms_objective_is_that_of_its_function():
    model = fitted(BGS3VM, labeled_weight=3.0, loss="ramp", s=-0.4)
    f = model.decision_function(X)
    centers, coef = model.model_.basis.centers, model.model_.coef[:-1]
    ridge = 0.5 * coef @ np.exp(-2.0 * cdist(centers, centers, "sqeuclidean")) @ coef
    hinge = np.maximum(0.0, 1.0 - SIGNS * f[IS_LABELED]).mean()
    ramp = np.minimum(0.6, np.maximum(0.0, 1.0 - np.abs(f)))[~IS_LABELED].mean()
    # The objective uses all points, because there are less than 500.
    assert model.objectives_[-1] == pytest.approx(ridge + 3.0 * hinge + 3.0 * 30 / 130 * ramp, rel=1e-9)
    assert len(model.objectives_) == model.n_iter_ == 10


# --- FRS3VM


def test_frs3vm_equals_its_naive_twin():
    sizes = {"n_features": 9, "batch_size": 16, "n_passes": 2}
    model = fitted(FRS3VM, labeled_weight=4.0, step_size=0.5, random_state=3, **sizes)
    omega = 2 * np.pi * Gaussian(2.0).frequencies(generator(3, "frequencies"), 2, 9).astype(float)
    phi = [np.concatenate([np.cos(x @ omega), np.sin(x @ omega)]) / 3.0 for x in ORDERED]
    rows = {
        "positive": np.flatnonzero(SIGNS > 0),
        "negative": np.flatnonzero(SIGNS < 0),
        "unlabeled": np.arange(30, 160),
    }
    w, C_star = np.zeros(18), 4.0 * 30 / 130
    for t in range(1, 2 * 9 + 1):  # nine batches of 16 are a pass over 130 points
        gradient = w.copy()
        for source, index in rows.items():
            for i in batch_rows(3, source, t, index, 16):
                f = phi[i] @ w
                if source == "unlabeled":
                    slope = -C_star * np.sign(f) * (abs(f) < 1)
                else:
                    slope = -4.0 * len(index) / 30 * SIGNS[i] * (SIGNS[i] * f < 1)
                gradient += slope * phi[i] / 16
        w -= 0.5 / t * gradient
    assert_allclose(model.model_.weights.W[:, 0], w, rtol=1e-9, atol=1e-12)
    f = np.array(phi) @ w
    hinge, both = np.maximum(0.0, 1.0 - SIGNS * f[:30]).mean(), np.maximum(0.0, 1.0 - np.abs(f[30:])).mean()
    assert model.objectives_[-1] == pytest.approx(0.5 * w @ w + 4.0 * hinge + C_star * both, rel=1e-9)


def test_frs3vm_with_a_linear_kernel_is_linear():
    model = fitted(FRS3VM, kernel="linear")
    assert_allclose(model.decision_function(X), X @ model.model_.weights.W[:, 0])
