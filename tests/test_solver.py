from dataclasses import replace

import naive
import numpy as np
import pytest
from cases import each

from dsgcore.problems import SemiSupervisedAUC
from dsgcore.solver.carried import AllPoints, Carried, VisitedPoints, training_points
from dsgcore.solver.diagnostics import DualCoefficients, ExactTwin, SquaredNorm, alpha
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import Change


def run(task, **carried_sets):
    model = task.new_model()
    return model, list(solve(task, model, **carried_sets))


def draws(task, model):
    """The draws of a finished run in the papers' terms: batches, frequencies in radians, steps, ridges."""
    ts = range(1, len(model) + 1)
    batches = [tuple(rows.tolist() for rows in task.batch(t).values()) for t in ts]
    frequencies = [2 * np.pi * model.frequencies(t, task.plan.at(t).n_features) for t in ts]
    return batches, frequencies, [task.plan.at(t).size for t in ts], [task.plan.at(t).lam for t in ts]


def assert_equals(model, X, alphas, frequencies):
    """Assert that a model's coefficients, and its values at X, are those of a naive twin."""
    for t, expected in enumerate(alphas, start=1):
        np.testing.assert_allclose(alpha(model, t), expected, rtol=1e-10, atol=1e-13)
    expected = [naive.predict(x, alphas, frequencies) for x in X]
    np.testing.assert_allclose(model.evaluate(X), expected, rtol=1e-10, atol=1e-12)


@each("pairing", ["triplets", "all"])
@each("schedule", ["constant", "theta/t", "theta/sqrt(T)", "theta/T^(3/4)"])
def test_equals_the_papers_algorithm_1_and_2(make_task, pairing, schedule):
    task = make_task(problem=SemiSupervisedAUC(0.4, pairing), schedule=schedule, batch_size=3)
    model, _ = run(task)
    batches, frequencies, steps, lams = draws(task, model)
    alphas = naive.qsg_s2auc(task.X, batches, frequencies, steps, lams, 0.4, all_pairs=pairing == "all")
    assert_equals(model, task.X, alphas, frequencies)


def test_equals_the_papers_algorithm_when_it_is_steered(make_task):
    task = make_task()
    task.plan.changes += [Change(3, "step_size", 0.1), Change(4, "n_features", 11), Change(5, "lam", 0.9)]
    model, _ = run(task)
    batches, frequencies, steps, lams = draws(task, model)
    assert (steps[1], steps[2], lams[4], frequencies[3].shape[1]) == (0.3, 0.1, 0.9, 11)
    alphas = naive.qsg_s2auc(task.X, batches, frequencies, steps, lams, 0.4)
    assert_equals(model, task.X, alphas, frequencies)


@pytest.mark.parametrize("carry", [AllPoints, VisitedPoints])
def test_carried_values_equal_the_model_evaluated_anew(make_task, carry):
    task = make_task(n_iter=9)
    model = task.new_model()
    points = carry(task, model)
    for iterate in solve(task, model, training=points):
        before = model.prefix(iterate.t - 1)
        for source, rows in iterate.batch.items():
            expected = before.evaluate(task.X[rows])
            np.testing.assert_allclose(iterate.f[source], expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (0, 1), (3, 70), (64, 130)])
def test_joined_batches_are_those_of_the_iterations(make_task, start, stop):
    task = make_task(n_iter=130, batch_size=3)
    expected = [np.concatenate(list(task.batch(t).values())) for t in range(start + 1, stop + 1)]
    np.testing.assert_array_equal(
        task.joined_batches(start, stop), np.reshape(expected, (stop - start, 3 * len(task.rows)))
    )


def test_visited_points_are_given_up_after_their_last_visit(make_task):
    task = make_task(n_iter=5, batch_size=2)
    points = VisitedPoints(task, task.new_model())
    needed = [
        set(np.concatenate([np.concatenate(list(task.batch(s).values())) for s in range(t + 1, 6)] or [[]]))
        for t in range(1, 6)
    ]
    assert points.needed_after.tolist() == [len(rows) for rows in needed]


def test_going_on_with_a_model_equals_one_run(make_task):
    task = make_task(n_iter=10)
    whole, _ = run(task)
    part = replace(task, plan=task.plan.with_n_iter(4))
    model, _ = run(part)
    for _ in solve(task, model):
        pass
    np.testing.assert_allclose(model.evaluate(task.X), whole.evaluate(task.X), rtol=1e-10, atol=1e-13)


def test_going_on_brings_carried_values_and_variance_along(make_task):
    task = make_task(n_iter=8)
    model, _ = run(replace(task, plan=task.plan.with_n_iter(5)))
    late = Carried(task.X, model, with_variance=True)
    whole = task.new_model()
    early = Carried(task.X, whole, with_variance=True)
    list(solve(task, model, carried=[late]))
    list(solve(task, whole, carried=[early]))
    np.testing.assert_allclose(late.values, early.values, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(late.variance, early.variance, rtol=1e-9, atol=1e-13)


def test_same_seed_same_bits_other_seed_other_numbers(make_task):
    first, again, other = (run(make_task(seed=s, dtype="float32"))[0] for s in (3, 3, 4))
    assert all((a == b).all() for a, b in zip(first.blocks, again.blocks, strict=True))
    assert any((a != b).any() for a, b in zip(first.blocks, other.blocks, strict=True))


def test_a_step_that_is_too_big_ends_the_run_with_finite_coefficients(make_task):
    task = make_task(step_size=1e30, n_iter=50, dtype="float32")
    with np.errstate(over="ignore", invalid="ignore"):
        _model, iterates = run(task)
    assert 0 < len(iterates) < 50
    assert all(np.isfinite(iterate.weights).all() for iterate in iterates)


def test_the_exact_twin_and_its_dual_equal_the_recursion(make_task):
    task = make_task(n_iter=5)
    model = task.new_model()
    probes = task.X[-6:]
    twin, dual = ExactTwin(task.kernel, probes), DualCoefficients(len(task.X))
    iterates = []
    for iterate in solve(task, model):
        iterates.append(iterate)
        twin.advance(iterate.points, iterate.weights, iterate.step.size, iterate.step.decay)
        rows = iterate.rows
        dual.advance(rows, iterate.weights, iterate.step.size, iterate.step.decay)

    def kernel(x, z):
        return np.exp(-task.kernel.sigma * np.sum((x - z) ** 2))

    batches = [np.concatenate(list(i.batch.values())) for i in iterates]
    expected = [
        naive.exact_twin(z, task.X, batches, [i.weights for i in iterates], [0.3] * 5, [0.2] * 5, kernel)
        for z in probes
    ]
    np.testing.assert_allclose(twin.h, expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(dual.values @ task.kernel.matrix(task.X, probes), expected, rtol=1e-10, atol=1e-13)


def test_the_running_norm_is_close_to_that_of_the_exact_twin(make_task):
    task = make_task(n_iter=60, n_features=400, lam=0.05)
    model = task.new_model()
    norm, dual = SquaredNorm(), DualCoefficients(len(task.X))
    for iterate in solve(task, model):
        f = iterate.values
        step, decay = iterate.step.size, iterate.step.decay
        norm.advance(f, iterate.weights, iterate.block, step, decay)
        dual.advance(iterate.rows, iterate.weights, step, decay)
    exact = dual.values @ task.kernel.matrix(task.X, task.X) @ dual.values
    # An estimate with random features: 400 of them leave a few per cent.
    assert norm.value == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize(("n_iter", "expected"), [(1000, AllPoints), (3, VisitedPoints)])
def test_all_points_are_carried_where_each_is_visited_often(make_task, n_iter, expected):
    task = make_task(n_iter=n_iter)
    assert isinstance(training_points(task, task.new_model()), expected)
