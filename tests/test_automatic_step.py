"""The step "auto": deterministic, of the data's scale, and where the iterate does not grow."""

import numpy as np
import pytest
from cases import each

from dsgcore import Spec
from dsgcore.experiments import Run, default_spec, summary
from dsgcore.experiments.theory import kept_to, theory_of
from dsgcore.kernels import DotProduct, Gaussian
from dsgcore.problems import PROBLEMS, SemiSupervisedAUC
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver import automatic_step
from dsgcore.solver.automatic_step import settle_step, step_sizes
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import SCHEDULES, Plan
from dsgcore.solver.task import Task

every_setting = pytest.mark.parametrize("name", PROBLEMS)


def short(setting, **solver):
    plain = default_spec(setting).to_dict()
    plain["solver"] |= {"n_iter": 10, "n_features": 16, "batch_size": 16, "step_size": "auto", **solver}
    plain["data"] |= {"n": 120, "n_labeled": 20}
    plain["diagnostics"]["n_probes"] = 10
    return Spec.from_dict(plain)


def test_a_quarter_of_the_largest_is_the_inverse_curvature_of_many_features(make_task):
    task = make_task(problem=SemiSupervisedAUC(0.4, "all"), n_features=8000, batch_size=500, step_size=None)
    Q, _ = task.problem.quadratic(task.rows, 40)
    mu = np.linalg.eigvals(Q @ task.kernel.matrix(task.X, task.X)).real.max()
    sizes = step_sizes(task)
    assert sizes.largest == pytest.approx(2.0 / (0.2 + mu), rel=0.1)  # batches of 128: some per cent more curvature
    assert sizes.automatic == sizes.largest / 4


@each("dtype, rel", [("float64", 1e-9), ("float32", 1e-4)])
def test_kept_features_give_the_same_step_as_blocks(make_task, dtype, rel, monkeypatch):
    given = {"problem": SemiSupervisedAUC(0.4, "all"), "n_features": 64, "batch_size": 32, "step_size": None}
    kept = step_sizes(make_task(dtype=dtype, **given)).automatic
    monkeypatch.setattr(automatic_step, "MOST_NUMBERS", 0)
    assert kept == pytest.approx(step_sizes(make_task(dtype=dtype, **given)).automatic, rel=rel)


@each("kernel", [Gaussian(0.7), Gaussian(0.02), DotProduct(0.2, "3")])
@each("m, B", [(256, 64), (2, 64), (256, 2)])
@each("scale", [0.3, 1.0])
def test_steps_up_to_the_automatic_one_do_not_grow(make_task, labeled_points, kernel, m, B, scale):
    X, _ = labeled_points
    task = make_task(X=scale * X, kernel=kernel, n_features=m, batch_size=B, step_size=None, n_iter=120, lam=1e-3)
    settle_step(task)
    model = task.new_model()
    list(solve(task, model))
    assert len(model) == 120
    assert np.abs(model.evaluate(task.X)).max() < 20.0


@pytest.mark.parametrize(("of_largest", "grows"), [(0.7, False), (2.0, True)])
def test_the_iterate_grows_above_the_largest_step(make_task, of_largest, grows):
    task = make_task(n_features=256, batch_size=64, n_iter=100, lam=1e-2)
    task.plan.step_size = of_largest * step_sizes(task).largest
    model = task.new_model()
    list(solve(task, model))
    assert (np.abs(model.evaluate(task.X)).max() > 1e3) == grows


def test_few_features_and_small_batches_get_smaller_steps(make_task):
    of = [
        step_sizes(make_task(n_features=m, batch_size=B, step_size=None)).automatic
        for m, B in ((512, 128), (2, 128), (512, 1))
    ]
    assert of[1] < of[0] / 1.5
    assert of[2] < of[0] / 1.5


def test_a_hinge_loss_goes_by_its_slope(make_task):
    for C, C_star in ((10.0, 0.0), (1000.0, 100.0)):
        task = make_task(problem=SemiSupervisedSVM(C=C, C_star=C_star), lam=1.0, step_size=None)
        sizes = step_sizes(task)
        assert sizes.largest is None
        assert sizes.automatic == pytest.approx(2.0 / (C + C_star))


def test_the_step_of_a_hinge_loss_grows_with_the_root_of_many_labels():
    steps = []
    for n in (100, 512, 2048, 51_200):
        X, y = np.zeros((n, 2)), np.arange(n) % 2
        problem = SemiSupervisedSVM(C_star=0.0).bind(y)
        plan = Plan("constant", None, 0.0, 8, 10)
        task = Task(
            problem, Gaussian(1.0), X, problem.rows(y) | {"unlabeled": np.arange(5)}, plan, 4, 0, np.dtype(float)
        )
        steps.append(step_sizes(task).automatic)
    assert steps == pytest.approx([2.0, 2.0, 4.0, 20.0])


@each("loss", ["symmetric hinge", "squared symmetric hinge", "ramp", "exponential"])
@each("is_balanced", [False, True])
def test_the_largest_slope_of_an_s3vm_bounds_its_coefficients(make_task, loss, is_balanced):
    task = make_task(problem=SemiSupervisedSVM(C=3.0, C_star=2.0, loss=loss, is_balanced=is_balanced))
    rng = np.random.default_rng(0)
    for size in (0.1, 0.5, 3.0):
        f = {source: size * rng.normal(size=5) for source in task.rows}
        total = sum(np.abs(c).sum() for c in task.problem.coefficients(f).values())
        assert total <= task.problem.largest_slope * (1 + 1e-9)


def test_the_largest_slope_of_pairs_bounds_their_coefficients():
    problem = SimilarUnlabeled(0.3, "double hinge")
    rng = np.random.default_rng(0)
    for size in (0.1, 1.0, 5.0):
        f = {source: size * rng.normal(size=6) for source in problem.sources}
        total = sum(np.abs(c).sum() for c in problem.coefficients(f).values())
        assert total <= problem.largest_slope * (1 + 1e-9)


@each("schedule", SCHEDULES)
def test_every_schedule_begins_with_the_same_step(make_task, schedule):
    task = make_task(schedule=schedule, step_size=None, n_iter=50)
    settle_step(task)
    constant = step_sizes(make_task(step_size=None)).automatic
    assert task.plan.at(1).size == pytest.approx(constant)


@every_setting
def test_the_same_spec_gives_the_same_numbers_and_says_the_step(name):
    spec = short(name)
    assert spec.solver.step_size is None
    assert Spec.from_json(spec.to_json()) == spec
    first, again = Run(spec), Run(spec)
    first.advance()
    again.advance(3)
    again.advance()
    for column in first.history.names:
        np.testing.assert_array_equal(first.history.column(column), again.history.column(column))
    step = summary(first)["automatic_step"]
    assert step == first.engine.automatic_step
    assert first.history.column("step_size")[0] == first.engine.task.plan.at(1).size
    said = Run(short(name, step_size=step))
    said.advance()
    np.testing.assert_array_equal(said.history.column("objective"), first.history.column("objective"))
    assert summary(said)["automatic_step"] is None


def test_a_run_can_be_steered_to_the_automatic_step_and_away_from_it():
    run = Run(short("auc", step_size=0.2))
    run.advance(3)
    run.change("step_size", None)
    run.advance(3)
    run.change("step_size", 0.1)
    run.advance()
    automatic = run.engine.automatic_step
    assert run.history.column("step_size").tolist() == [0.2] * 3 + [automatic] * 3 + [0.1] * 4
    again = Run.replay(Spec.from_json(run.spec.to_json()), 10)
    np.testing.assert_array_equal(again.history.column("objective"), run.history.column("objective"))


@every_setting
def test_theory_has_words_for_a_step_that_is_not_known_yet(name):
    spec = short(name)
    assert all(assumption.sentence for assumption in theory_of(spec).assumptions)
    assert all(assumption.holds for assumption in theory_of(kept_to(spec)).assumptions[:2])


def test_of_very_many_features_a_part_is_looked_at(monkeypatch):
    monkeypatch.setattr(automatic_step, "MOST_FEATURES", 64)
    few, many = (Run(short("auc", n_features=m)).engine.automatic_step for m in (64, 256))
    assert few == many
