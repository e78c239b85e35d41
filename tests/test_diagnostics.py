from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgcore.diagnostics import (
    MAX_EXACT_POINTS,
    DiagnosticsError,
    DualCoefficients,
    ExactTwin,
    FeatureError,
    SquaredNorm,
    exact_optimum,
    slope,
)
from dsgcore.kernels import Gaussian
from dsgcore.problems import SemiSupervisedAUC, objective
from dsgcore.solver import AllPoints, Carried, solve

# Slopes.


@given(st.floats(-3, 3), st.floats(1e-3, 1e3))
def test_the_slope_of_a_power_law_is_its_exponent(exponent, factor):
    t = np.arange(1, 50)
    assert slope(t, factor * t**exponent) == pytest.approx(exponent, abs=1e-9)


def test_the_slope_is_that_of_least_squares():
    x, y = np.array([1.0, 2.0, 5.0, 9.0]), np.array([3.0, 1.0, 2.0, 0.1])
    u, v = np.log(x) - np.log(x).mean(), np.log(y) - np.log(y).mean()
    assert slope(x, y) == pytest.approx((u @ v) / (u @ u), rel=1e-12)


def test_points_without_a_logarithm_are_left_out():
    x = [1, 2, 4, 8, 0, -1, 3, 3, 3, np.inf, np.nan]
    y = [1, 4, 16, 64, 1, 1, 0, -1, np.nan, 1, 1]
    assert slope(x, y) == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize(("x", "y"), [([], []), ([1.0], [2.0]), ([1.0, 2.0], [1.0, np.nan]), ([1, 2], [0, 0])])
def test_fewer_than_two_points_have_no_slope(x, y):
    assert np.isnan(slope(x, y))


# The exact optimum.


@pytest.fixture
def quadratic_task(make_task, labeled_points):
    task = make_task(lam=0.3)
    X, _ = labeled_points
    Q, l = task.problem.quadratic(task.rows, len(X))
    return task, task.kernel.matrix(X, X), Q, l


def value(task, K, a):
    """The objective with its ridge at f = K a, from the problem's own risk."""
    f = K @ a
    risk = objective(task.problem.risk_terms({source: f[rows] for source, rows in task.rows.items()}))
    return risk + 0.5 * task.plan.lam * float(a @ K @ a)


def test_the_gradient_vanishes_at_the_exact_optimum(quadratic_task):
    task, K, Q, l = quadratic_task
    a = exact_optimum(K, Q, l, task.plan.lam)
    # In the kernel's space the gradient is sum_i (Q f + l + lam a)_i k(x_i, .).
    np.testing.assert_allclose(Q @ K @ a + l + task.plan.lam * a, 0, atol=1e-14)
    np.testing.assert_allclose(_numerical_gradient(lambda b: value(task, K, b), a), 0, atol=1e-8)
    assert np.abs(a).max() > 1e-2, "the optimum is not just 0"


def _numerical_gradient(function, x, step=1e-4):
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in step * np.eye(len(x))])


def test_every_step_away_from_the_exact_optimum_costs(quadratic_task):
    task, K, Q, l = quadratic_task
    a = exact_optimum(K, Q, l, task.plan.lam)
    lowest = value(task, K, a)
    rng = np.random.default_rng(0)
    for size in (1e-2, 1.0):
        for _ in range(20):
            assert value(task, K, a + size * rng.normal(size=len(a))) > lowest
    assert value(task, K, np.zeros_like(a)) > lowest


def test_a_stronger_ridge_gives_a_smaller_function(quadratic_task):
    _, K, Q, l = quadratic_task
    norms = [a @ K @ a for a in (exact_optimum(K, Q, l, lam) for lam in (0.01, 0.1, 1.0, 10.0))]
    assert norms == sorted(norms, reverse=True)
    # With an overwhelming ridge, a = -l / lam.
    np.testing.assert_allclose(exact_optimum(K, Q, l, 1e8), -l / 1e8, rtol=1e-6, atol=1e-16)


def test_too_many_points_for_the_exact_optimum_are_refused():
    n = MAX_EXACT_POINTS + 1
    nothing = np.broadcast_to(0.0, (n, n))  # of no memory
    with pytest.raises(DiagnosticsError) as caught:
        exact_optimum(nothing, nothing, np.zeros(n), 1.0)
    message = "the exact optimum needs 6001 x 6001 matrices, 0.8 GB; at most 6000 points"
    assert str(caught.value) == message


# The error of the random features: measured, bounded, predicted.

N_SEEDS, N_ITER = 400, 25


@pytest.fixture(scope="module")
def feature_errors():
    """FeatureErrors of many runs that differ by their seed, of shape (seeds, iterations)."""
    rng = np.random.default_rng(5)
    y = np.repeat([1, 0, -1], [8, 10, 22])
    X = rng.normal(size=(40, 3))
    return np.array([_run_with_twin(X, y, seed) for seed in range(N_SEEDS)])


def _run_with_twin(X, y, seed):
    from conftest import make_task_of  # noqa: F401
