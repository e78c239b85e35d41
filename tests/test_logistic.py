"""Logistic regressions that share their points, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dsgcore.solver import logistic
from dsgcore.solver.logistic import logistic_weights


def points(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) * rng.uniform(0.1, 5.0, d) + 2.0 + np.eye(k, d)[y], y


def folds_of(n):
    fold = np.arange(n) // 2 % 4
    return [(np.flatnonzero(fold != g), np.flatnonzero(fold == g)) for g in range(4)]


def logistic_scores(X, targets, weights, ridge):
    """The scores (n, G, k) of all points."""
    coef, intercepts = logistic_weights(X, targets, weights, ridge)
    return np.einsum("nd,dgk->ngk", X, coef) + intercepts


def scores_of_folds(X, y, folds, ridge):
    """The scores at each fold's held-out points, of regressions that are solved together."""
    k, weights = y.max() + 1, np.zeros((len(X), len(folds)))
    for g, (train, _) in enumerate(folds):
        weights[train, g] = 1.0
    targets = np.repeat((np.eye(k)[y] if k > 2 else y[:, None].astype(float))[:, None], len(folds), axis=1)
    scores = logistic_scores(X, targets, weights, ridge)
    return [scores[held, g] if k > 2 else scores[held, g, 0] for g, (_, held) in enumerate(folds)]


@pytest.mark.parametrize(("n", "d", "k"), [(80, 5, 2), (120, 7, 3), (60, 90, 2), (60, 90, 4)])
@pytest.mark.parametrize("ridge", [0.05, 1.0, 30.0])
def test_each_fold_is_scikit_learns_fit_to_its_training_points(n, d, k, ridge):
    X, y = points(n, d, k)
    folds = folds_of(n)
    for (train, held), scores in zip(folds, scores_of_folds(X, y, folds, ridge), strict=True):
        peer = LogisticRegression(C=1.0 / ridge, tol=1e-9, max_iter=10_000).fit(X[train], y[train])
        expected = peer.decision_function(X[held])
        if k > 2:
            scores, expected = (v - v.mean(axis=1, keepdims=True) for v in (scores, expected))
        np.testing.assert_allclose(scores, expected, atol=0.02 * np.abs(expected).max())


def test_the_derivative_is_0_at_the_solution():
    X, y = points(90, 4, 3)
    weights, targets = np.random.default_rng(1).uniform(size=(90, 2)), np.repeat(np.eye(3)[y][:, None], 2, axis=1)
    scores = logistic_scores(X, targets, weights, 0.5)
    A = np.column_stack([X, np.ones(90)])
    for g in range(2):
        W = np.linalg.lstsq(A, scores[:, g], rcond=None)[0]
        np.testing.assert_allclose(A @ W, scores[:, g], atol=1e-9)
        chances = np.exp(scores[:, g]) / np.exp(scores[:, g]).sum(axis=1, keepdims=True)
        slope = A.T @ (weights[:, g, None] * (chances - targets[:, g])) + 0.5 * np.vstack([W[:-1], np.zeros(3)])
        assert np.abs(slope).max() < 1e-4 * 90 * np.abs(X).max()


def test_a_class_that_no_training_point_has_is_never_likely():
    X, y = points(60, 3, 3)
    train = np.flatnonzero(y < 2)
    (scores,) = scores_of_folds(X, y, [(train, np.arange(60))], 1.0)
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) < 2).all()


def test_points_that_a_plane_separates_and_equal_points_give_finite_scores():
    X = np.linspace(-1.0, 1.0, 20)[:, None]
    y = (X[:, 0] > 0.0).astype(int)
    (separated,) = scores_of_folds(1e3 * X, y, [(np.arange(20), np.arange(20))], 1e-6)
    assert ((separated > 0) == y).all()
    (equal,) = scores_of_folds(np.ones((20, 2)), y, [(np.arange(15), np.arange(15, 20))], 1.0)
    np.testing.assert_allclose(equal, np.log(5 / 10), atol=1e-3)


@pytest.mark.parametrize("k", [1, 3])
def test_a_newton_step_solves_the_equations_of_the_second_derivatives(monkeypatch, k):
    monkeypatch.setattr(logistic, "INNER", 1e-9)
    monkeypatch.setattr(logistic, "MOST_INNER", 500)
    rng = np.random.default_rng(2)
    X, ridges, weights = rng.normal(size=(40, 4)), np.array([0.5, 0.5, 2.0, 1e-3]), rng.uniform(size=(2, 40))
    chances = rng.dirichlet(np.ones(k + 1), size=(2, 40)).transpose(2, 0, 1)[:k]
    chances /= 1.0 if k == 1 else chances.sum(axis=0)
    gradient = rng.normal(size=(k, 2, 4))
    step = logistic._newton_step(X, X**2, gradient, np.ascontiguousarray(chances), weights, ridges)
    for g in range(2):
        p = chances[:, g]
        blocks = [[(p[a] * (a == b) - p[a] * p[b]) * weights[g] for b in range(k)] for a in range(k)]
        H = np.block([[X.T @ (w[:, None] * X) for w in row] for row in blocks]) + np.diag(np.tile(ridges, k))
        np.testing.assert_allclose(step[:, g].ravel(), np.linalg.solve(H, -gradient[:, g].ravel()), rtol=1e-5)


@pytest.mark.parametrize("size", [1e3, 1e8, 1e30])
def test_large_points_have_the_scores_of_small_ones_with_a_smaller_ridge(size):
    X, y = points(90, 4, 3)
    targets, weights = np.eye(3)[y][:, None], np.ones((90, 1))
    small, large = (logistic_scores(X * each, targets, weights, 0.5 * each**2) for each in (1.0, size))
    np.testing.assert_allclose(large, small, atol=0.02 * np.abs(small).max())
