"""The semi-supervised support vector machines that go down stochastic gradients: BGS3VM and FRS3VM, against naive twins."""

import numpy as np
import pytest
from cases import each
from four_estimators import moons_with_few_labels
from scipy.spatial.distance import cdist
from sklearn.svm import LinearSVC

from dsgcore.baselines.bgs3vm import BGS3VM
from dsgcore.baselines.frs3vm import FRS3VM
from dsgcore.core.sampling import batch_rows, generator
from dsgcore.kernels import Gaussian


def make(cls, **parameters):
    """Make an estimator; what is not given is small."""
    return cls(**{"sigma": 2.0, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def moons():
    return moons_with_few_labels(160, noise=0.2, n_labeled=30)


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
    model = make(BGS3VM, C=3.0, budget_labeled=budgets[0], budget_unlabeled=budgets[1], n_passes=2, random_state=5)
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
    model = make(BGS3VM, C=3.0, loss="ramp", s=-0.4).fit(X, few)
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
    model = make(FRS3VM, C=10.0, C_star=0.0, n_features=32, n_passes=2000).fit(X, few)
    phi, y = model.model_.features(X[few != -1]), few[few != -1]
    assert phi.shape == (30, 64)
    np.testing.assert_allclose(np.sum(phi**2, axis=1), 1.0)
    # The sum of 30 hinge losses weighs C / 30 each.
    svm = LinearSVC(loss="hinge", dual=True, C=10.0 / 30, fit_intercept=False, tol=1e-8, max_iter=10**6).fit(phi, y)
    w = svm.coef_[0]
    best = 0.5 * w @ w + 10.0 * np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * (phi @ w)).mean()
    assert best - 1e-6 <= model.objectives_[-1] < 1.001 * best
    assert model.objectives_[0] > 1.01 * best
    assert np.linalg.norm(model.model_.w - w) < 0.05 * np.linalg.norm(w)


def test_frs3vm_equals_its_naive_twin(moons):
    X, _, few = moons
    model = make(FRS3VM, C=4.0, n_features=9, batch_size=16, n_passes=2, step_size=0.5, random_state=3).fit(X, few)
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
    np.testing.assert_allclose(model.model_.w, w, rtol=1e-9, atol=1e-12)


def test_frs3vm_with_a_linear_kernel_is_linear(moons):
    X, _, few = moons
    model = make(FRS3VM, kernel="linear").fit(X, few)
    np.testing.assert_allclose(model.decision_function(X), X @ model.model_.w)
