"""Support vector ordinal regression, which QS3ORAO is compared with."""

import numpy as np
import oracle_files
import pytest
from cases import each
from scipy.optimize import lsq_linear, minimize
from scipy.spatial.distance import cdist

from dsgcore.baselines.svorex import SVOREX, _middle

KERNEL = {0: "gaussian", 1: "linear"}


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 2))
    y = np.digitize(np.linalg.norm(X, axis=1) + 0.05 * rng.normal(size=150), [0.5, 0.8, 1.0])
    return X, y


def objective(K, y, coef, b, C):
    """The paper's, with thresholds b between neighbouring classes 0 .. k - 1."""
    f = K @ coef
    errors = sum(
        np.maximum(0, 1 + f[y == j] - b[j]).sum() + np.maximum(0, 1 - f[y == j + 1] + b[j]).sum() for j in range(len(b))
    )
    return 0.5 * coef @ f + C * errors


@pytest.mark.parametrize("path", oracle_files.files("svorex_"))
def test_svorex_equals_the_original_program(path, record_property):
    o = oracle_files.load(path)
    model = SVOREX(KERNEL[o["linear"]], sigma=o["kappa"], C=o["C"], jitter=o["ridge"]).fit(o["X"], o["y"])
    residual = np.abs(model.ranking_function(o["X_test"]) - o["f_test"]).max()
    X, codes = o["X"], o["y"].astype(int) - 1
    K = X @ X.T / X.shape[1] if o["linear"] else np.exp(-o["kappa"] * cdist(X, X, "sqeuclidean"))
    K += o["ridge"] * np.eye(len(X))
    theirs = objective(K, codes, o["alpha"], o["thresholds"], o["C"])
    ours = objective(K, codes, model.dual_coef_, model.thresholds_, o["C"])
    cuts = np.abs(model.thresholds_ - o["thresholds"]).max()
    same = np.mean(model.predict(o["X_test"]) == o["pred_test"])
    oracle_files.report(record_property, path, f=residual, objective=ours / theirs - 1, thresholds=cuts, predicted=same)
    assert residual < 3e-3  # the program stops at 1e-3
    assert abs(ours / theirs - 1) < 1e-3
    assert cuts < 0.01  # in the middle of flat stretches, as the program's
    assert same == 1.0


@each("kernel, C", [("gaussian", 0.1), ("gaussian", 5.0), ("linear", 0.1)])
def test_the_dual_says_that_the_objective_is_the_lowest(rings, kernel, C):
    X, y = rings
    model = SVOREX(kernel, sigma=2.0, C=C, tol=1e-6).fit(X, y)
    K = X @ X.T / 2 if kernel == "linear" else np.exp(-2.0 * cdist(X, X, "sqeuclidean"))
    K += 1e-3 * np.eye(len(X))
    primal = objective(K, y, model.dual_coef_, model.thresholds_, C)
    assert model.objectives_[-1] == pytest.approx(primal, rel=1e-5)
    # The dual bounds it from below: max sum(alpha) - gamma'K gamma / 2 with a balance at each threshold.
    assert primal - dual_bound(K, y, model, C) < 2e-4 * primal
    assert (np.diff(model.thresholds_) >= 0).all()
    assert model.converged_


def dual_bound(K, y, model, C):
    """The dual's value at multipliers that have the model's coefficients, made feasible, and are best otherwise."""
    f, b, n_cuts = K @ model.dual_coef_, model.thresholds_, len(model.thresholds_)
    pairs = [(i, j, sign) for j in range(n_cuts) for sign, c in ((-1, j), (1, j + 1)) for i in np.flatnonzero(y == c)]
    rows, cuts, signs = (np.array(part) for part in zip(*pairs, strict=True))
    margin = signs * (f[rows] - b[cuts])
    low, high = np.where(margin < 1 - 1e-3, C, 0.0), np.where(margin > 1 + 1e-3, 0.0, C)
    is_free = low < high
    to_rows = np.zeros((len(y), len(rows)))
    to_rows[rows, np.arange(len(rows))] = signs
    to_cuts = np.zeros((n_cuts, len(rows)))
    to_cuts[cuts, np.arange(len(rows))] = signs

    # Free multipliers by bounded least squares: the coefficients, and a balance at every threshold.
    alpha = np.where(is_free, 0.0, low)
    A, wanted = np.vstack([to_rows, 10.0 * to_cuts]), np.concatenate([model.dual_coef_, np.zeros(n_cuts)])
    alpha[is_free] = lsq_linear(A[:, is_free], wanted - A @ alpha, bounds=(0.0, C), method="bvls").x
    unbalanced = np.abs(to_cuts @ alpha)
    assert unbalanced.max() < 1e-3 * C
    gamma = to_rows @ alpha
    # The remaining imbalance lets thresholds of at most this size lower the objective by as much.
    return alpha.sum() - 0.5 * gamma @ K @ gamma - unbalanced @ np.abs(b)


@each("C", [0.1, 1.0])
def test_thresholds_out_of_order_are_held_together(C):
    # Of the middle class there are two points, and they lie where the order says they should not.
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(1, 2, 20), [2.5, -0.5]])[:, None]
    y = np.concatenate([np.zeros(20), np.full(20, 2), [1, 1]]).astype(int)
    model = SVOREX("linear", C=C, jitter=0.0, tol=1e-6).fit(X, y)
    f = model.ranking_function(X)
    assert _middle(f[y == 0], f[y == 1]) > _middle(f[y == 1], f[y == 2])  # where they would stand without each other
    assert model.thresholds_[0] == pytest.approx(model.thresholds_[1], abs=1e-3)
    assert model.thresholds_[0] <= model.thresholds_[1]

    def of_three_numbers(z):  # the linear function's slope, a threshold, and how far the other is above it
        return objective(X @ X.T, y, z[0] * X[:, 0] / (X[:, 0] @ X[:, 0]), z[1] + np.array([0.0, abs(z[2])]), C)

    starts = [(w, w, gap) for w in (0.5, 2.0) for gap in (0.0, 0.5)]
    best = min(minimize(of_three_numbers, start, method="Nelder-Mead", options={"xatol": 1e-7}).fun for start in starts)
    ours = objective(X @ X.T, y, model.dual_coef_, model.thresholds_, C)
    assert ours == pytest.approx(best, rel=1e-4)


def test_unlabeled_points_are_left_out(rings):
    X, y = rings
    few = np.where(np.arange(150) < 60, y, -1)
    model, same = SVOREX(sigma=2.0).fit(X, few), SVOREX(sigma=2.0).fit(X[:60], y[:60])
    np.testing.assert_array_equal(model.ranking_function(X), same.ranking_function(X))
    assert model.dual_coef_.shape == (60,)


def test_ranks_rings(rings):
    X, y = rings
    model = SVOREX(sigma=2.0, C=10.0).fit(X[:100], y[:100])
    assert model.mean_auc(X[100:], y[100:]) > 0.95
    assert model.score(X[100:], y[100:]) > 0.7
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


def test_points_of_a_huge_scale_get_one_sentence():
    X = np.array([-1e9, -1e8, -1e-3, 1e-3, 1e8, 1e9])[:, None]
    with pytest.raises(ValueError, match=r"^SVOREX needs points of a smaller scale: f reaches "):
        SVOREX("linear", C=1e6).fit(X, [0, 0, 0, 1, 1, 1])
