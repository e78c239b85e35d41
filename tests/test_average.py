"""The mean of the second half's iterates: against the naive twins, and wherever it is carried, recorded or made again."""

from dataclasses import replace

import naive
import naive_problems
import numpy as np
import pytest
from test_solver import draws

from dsgcore.experiments import Run, Spec, default_spec
from dsgcore.experiments.stochastic_engine import StochasticEngine
from dsgcore.problems import PROBLEMS, SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.carried import AllPoints, Carried, VisitedPoints
from dsgcore.solver.diagnostics import AverageNorm, SquaredNorm
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import Change

N_ITER = 9
CHANGES = (Change(4, "step_size", 0.1), Change(6, "lam", 0.9), Change(7, "step_size", 0.5))
every_setting = pytest.mark.parametrize("name", PROBLEMS)


def labels_for(name):
    y = np.full(40, -1)
    y[:18] = {
        "auc": [1] * 8 + [0] * 10,
        "s3vm": [1] * 8 + [0] * 10,
        "ordinal": [0] * 6 + [1] * 5 + [2] * 7,
        "similar_unlabeled": np.arange(18) // 2,
    }[name]
    return y


def alphas_of(name, task, *drawn):
    """The naive twin's coefficients after these iterations."""
    if name == "auc":
        return naive.qsg_s2auc(task.X, *drawn, 0.4)
    if name == "similar_unlabeled":
        return naive_problems.tsgsu(task.X, *drawn, 0.7, "squared", "absolute value", 0.5)
    if name == "s3vm":
        return naive_problems.tsgs3vm(task.X, *drawn, 2.0, 1.0, 8 / 18, "ramp", -0.3)
    return naive_problems.qs3orao(task.X, *drawn, [0.3, 0.3], [6, 5, 7])


PROBLEM_OF = {
    "auc": SemiSupervisedAUC(0.4),
    "similar_unlabeled": SimilarUnlabeled(0.7),
    "s3vm": SemiSupervisedSVM(C=2.0, C_star=1.0, loss="ramp"),
    "ordinal": SemiSupervisedOrdinal(0.3),
}


@pytest.mark.parametrize("changes", [(), CHANGES])
@every_setting
def test_the_averaged_model_is_the_mean_of_the_naive_twins_iterates(make_task, name, changes):
    task = make_task(problem=PROBLEM_OF[name], y=labels_for(name), n_iter=N_ITER, average_after=N_ITER // 2)
    task.plan.changes += changes
    model = task.new_model()
    points = AllPoints(task, model)
    for _ in solve(task, model, training=points):
        pass
    drawn = draws(task, model)
    iterates = []
    for t in range(N_ITER // 2 + 1, N_ITER + 1):
        first = [part[:t] for part in drawn]
        alphas = alphas_of(name, task, *first)
        iterates.append([naive.predict(x, alphas, first[1]) for x in task.X])
    expected = np.mean(iterates, axis=0)
    np.testing.assert_allclose(model.tail_average(len(iterates)).evaluate(task.X), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(points.average, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("carry", [AllPoints, VisitedPoints])
def test_the_average_at_the_batch_points_is_that_of_the_iterates_before_the_step(make_task, carry):
    task = make_task(n_iter=12, average_after=5)
    model = task.new_model()
    for iterate in solve(task, model, training=carry(task, model)):
        before = model.prefix(iterate.t - 1)
        n_last = iterate.t - 1 - 5
        mean = before.tail_average(n_last) if n_last > 0 else before
        for source, rows in iterate.batch.items():
            expected = mean.evaluate(task.X[rows])
            np.testing.assert_allclose(iterate.average[source], expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("with_variance", [False, True])
def test_points_that_join_late_have_the_same_average(make_task, with_variance):
    task = make_task(n_iter=9, average_after=4)
    model = task.new_model()
    early = Carried(task.X, model, with_variance=with_variance, average_after=4)
    steps = solve(task, model, carried=[early])
    for _ in range(7):
        next(steps)
    late = Carried(task.X, model, with_variance=with_variance, average_after=4)
    np.testing.assert_allclose(late.average, early.average, rtol=1e-10, atol=1e-13)
    list(steps)
    expected = model.tail_average(5).evaluate(task.X)
    np.testing.assert_allclose(early.average, expected, rtol=1e-10, atol=1e-13)


def test_a_run_without_an_average_has_the_same_bits_as_one_with(make_task):
    plain, averaged = make_task(n_iter=9, dtype="float32"), make_task(n_iter=9, dtype="float32", average_after=4)
    models = [task.new_model() for task in (plain, averaged)]
    for task, model in zip((plain, averaged), models, strict=True):
        list(solve(task, model))
    np.testing.assert_array_equal(np.stack(models[0].blocks), np.stack(models[1].blocks))


def test_the_norm_of_the_average_is_that_of_the_twins_mean(make_task):
    task = make_task(n_iter=40, n_features=4000, average_after=20)
    model = task.new_model()
    K = task.kernel.matrix(task.X, task.X)
    dual, total, norm, of_average = np.zeros(40), np.zeros(40), SquaredNorm(), AverageNorm(20)
    for it in solve(task, model):
        rows = np.concatenate(list(it.batch.values()))
        dual *= it.step.decay
        np.subtract.at(dual, rows, it.step.size * it.weights)
        total += dual * (it.t > 20)
        norm.advance(np.concatenate(list(it.f.values())), it.weights, it.block, it.step.size, it.step.decay)
        average = np.concatenate(list(it.average.values()))
        of_average.advance(average, it.weights, it.step.size, it.step.decay, norm.value)
    mean = total / 20
    assert of_average.value == pytest.approx(
        mean @ K @ mean, rel=0.02
    )  # 4000 features: an error of some per cent of |f|
    assert of_average.value != pytest.approx(norm.value, rel=1e-3)


def averaged_spec(setting, **solver):
    plain = default_spec(setting).to_dict()
    plain["solver"] |= {
        "n_iter": 12,
        "n_features": 16,
        "batch_size": 16,
        "average": "tail",
        "dtype": "float64",
        **solver,
    }
    plain["data"] |= {"n": 120, "n_labeled": 20} if plain["data"]["name"] != "ten_digits" else {}
    plain["diagnostics"]["n_probes"] = 10
    return Spec.from_dict(plain)


def agree(run):
    """Assert that the recorded average equals that of the run's final model."""
    expected = run.result.evaluate(run.split.X_test)
    np.testing.assert_allclose(run.engine.test_average, expected, atol=1e-10)
    scored = run.engine.test_average + run.engine.average_shift  # a balanced S3VM shifts all values alike
    assert run.problem.score(run.split.y_test, scored) == run.history.last()["score_average"]


@every_setting
def test_a_run_records_the_average_only_where_its_spec_asks_for_it(name):
    spec = averaged_spec(name)
    run, plain = Run(spec), Run(replace(spec, solver=replace(spec.solver, average=None)))
    run.advance()
    plain.advance()
    assert set(run.history.names) - set(plain.history.names) == {"objective_average", "score_average"}
    for column in plain.history.names:
        np.testing.assert_array_equal(run.history.column(column), plain.history.column(column))
    row = run.history.column
    at = [1, 12]  # measured at the first, at every sixteenth (of longer runs, below) and at the last
    assert row("objective_average")[0] == pytest.approx(row("objective")[0])
    assert np.flatnonzero(np.diff(row("objective_average"))).tolist() == [t - 2 for t in at[1:]]
    agree(run)
    assert plain.result is plain.model


def test_the_average_is_measured_at_every_sixteenth_iteration():
    spec = averaged_spec("auc")
    run = Run(replace(spec, solver=replace(spec.solver, n_iter=40)))
    run.advance()
    column = run.history.column("objective_average")
    assert np.isfinite(column).all()  # rows in between hold what was measured last
    assert (np.flatnonzero(np.diff(column)) + 2).tolist() == [16, 32, 40]


@every_setting
def test_a_steered_run_is_replayed_with_its_average(name):
    run = Run(averaged_spec(name))
    run.advance(4)
    run.change("step_size", 0.02)
    run.advance(5)
    run.change("lam", 0.5)
    run.advance()
    agree(run)
    again = Run.replay(run.spec, 12)
    for column in run.history.names:
        np.testing.assert_array_equal(again.history.column(column), run.history.column(column))


@pytest.mark.parametrize("n_iter", [15, 30])
@pytest.mark.parametrize("n_whole", [10, 20_000])
def test_an_extended_run_has_the_average_of_the_longer_one(monkeypatch, n_iter, n_whole):
    monkeypatch.setattr("dsgcore.experiments.running_state.MAX_POINTS_FOR_WHOLE_SAMPLE", n_whole)
    spec = averaged_spec("s3vm")
    run, longer = Run(spec), Run(replace(spec, solver=replace(spec.solver, n_iter=n_iter)))
    run.advance()
    run.extend(n_iter)
    run.advance()
    longer.advance()
    t = run.history.column("t")
    is_measured = (t > 12) & ((t % 8 == 0) | (t == n_iter))
    for column, at in (("objective", t > 12), ("objective_average", is_measured), ("score_average", is_measured)):
        np.testing.assert_allclose(run.history.column(column)[at], longer.history.column(column)[at], rtol=1e-9)
    agree(run)


def test_a_run_that_diverges_goes_back_with_its_average():
    run = Run(averaged_spec("auc", n_iter=400, step_size=60.0, dtype="float32"))
    run.advance()
    assert run.model_t < run.t
    engine = run.engine
    assert isinstance(engine, StochasticEngine)
    expected = run.result.evaluate(run.split.X_test)
    np.testing.assert_allclose(engine.test_average, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
