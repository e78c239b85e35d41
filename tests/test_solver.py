"""The solver: its loop, its draws, the automatic step, the mean of the second half, and runs that diverge."""

import zlib
from dataclasses import replace
from functools import partial

import naive
import naive_problems
import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from small_specs import finished

from dsgcore import Spec, load_model
from dsgcore.core.sampling import (
    FREQUENCIES,
    MAX_SEED,
    MOST_PLACES,
    MOST_SHUFFLED,
    TOGETHER,
    batch_rows,
    batches,
    generator,
    places_around,
)
from dsgcore.experiments import SETTINGS, Run, StopReason, default_spec, summary
from dsgcore.experiments.stochastic import StochasticEngine
from dsgcore.experiments.theory import kept_to, theory_of
from dsgcore.kernels import DotProduct, Gaussian
from dsgcore.problems import PROBLEMS, SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.problems.supervised import Supervised
from dsgcore.solver import automatic_step
from dsgcore.solver.automatic_step import settle_step, step_sizes
from dsgcore.solver.exact import AverageNorm, DualCoefficients, ExactTwin, SquaredNorm, alpha
from dsgcore.solver.loop import AllPoints, Carried, VisitedPoints, solve, training_points
from dsgcore.solver.task import SCHEDULES, Change, Plan, Task


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
@each("schedule", ["constant", "theta/t", "theta/sqrt(T)", "theta/T^(3/4)", "steered"])
def test_equals_the_papers_algorithm_1_and_2(make_task, pairing, schedule):
    is_steered = schedule == "steered"
    given = {"schedule": "constant" if is_steered else schedule, "batch_size": 3}
    task = make_task(problem=SemiSupervisedAUC(0.4, pairing), **given)
    if is_steered:
        task.plan.changes += [Change(3, "step_size", 0.1), Change(4, "n_features", 11), Change(5, "lam", 0.9)]
    model, _ = run(task)
    batches, frequencies, steps, lams = draws(task, model)
    if is_steered:
        assert (steps[1], steps[2], lams[4], frequencies[3].shape[1]) == (0.3, 0.1, 0.9, 11)
    alphas = naive.qsg_s2auc(task.X, batches, frequencies, steps, lams, 0.4, all_pairs=pairing == "all")
    assert_equals(model, task.X, alphas, frequencies)


@pytest.mark.parametrize("carry", [AllPoints, VisitedPoints])
def test_values_and_averages_at_batch_points_are_those_of_the_model_before_the_step(make_task, carry):
    task = make_task(n_iter=12, average_after=5)
    model = task.new_model()
    for iterate in solve(task, model, training=carry(task, model)):
        before = model.prefix(iterate.t - 1)
        n_last = iterate.t - 1 - 5
        mean = before.tail_average(n_last) if n_last > 0 else before
        for source, rows in iterate.batch.items():
            for values, own in ((iterate.f, before), (iterate.average, mean)):
                np.testing.assert_allclose(values[source], own.evaluate(task.X[rows]), rtol=1e-10, atol=1e-13)


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


def test_going_on_with_a_model_equals_one_run_carried_values_and_variance_included(make_task):
    task = make_task(n_iter=8)
    model, _ = run(replace(task, plan=replace(task.plan, n_iter=5)))
    late, whole = Carried(task.X, model, with_variance=True), task.new_model()
    early = Carried(task.X, whole, with_variance=True)
    list(solve(task, model, carried=[late]))
    list(solve(task, whole, carried=[early]))
    for values in (model.evaluate(task.X), late.values):
        np.testing.assert_allclose(values, whole.evaluate(task.X), rtol=1e-10, atol=1e-13)
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


# --- draws


shuffled_rows = partial(batch_rows, is_shuffled=True)
KEYS = st.tuples(st.integers(0, MAX_SEED), st.text(max_size=12), st.integers(0, 100_000))


def words(seed, stream, t, size=4):
    return generator(seed, stream, t).integers(2**63, size=size).tolist()


@given(KEYS, KEYS)
def test_other_key_other_draws(one, other):
    # Four 63-bit numbers agree by chance once in 2**252; names whose CRC-32 agree are one stream, see below.
    same_key = (one[0], zlib.crc32(one[1].encode()), one[2]) == (other[0], zlib.crc32(other[1].encode()), other[2])
    assert (words(*one) == words(*other)) == same_key


def test_draws_do_not_depend_on_their_order():
    forward = {t: words(7, "unlabeled", t) for t in range(1, 30)}
    backward = {t: words(7, "unlabeled", t) for t in range(29, 0, -1)}
    assert forward == backward
    first, second = generator(7, "a", 1), generator(7, "a", 2)
    taken_in_turn = [(first.random(), second.random()) for _ in range(5)]
    assert [pair[0] for pair in taken_in_turn] == generator(7, "a", 1).random(5).tolist()
    assert [pair[1] for pair in taken_in_turn] == generator(7, "a", 2).random(5).tolist()


def test_iterations_do_not_overlap():
    # A long draw that ran into the next iteration's counter would repeat its numbers.
    long, following = words(0, FREQUENCIES, 1, size=50_000), words(0, FREQUENCIES, 2, size=50_000)
    assert not set(long) & set(following)


def test_the_global_generator_is_left_alone():
    np.random.seed(3)
    expected = np.random.random()
    np.random.seed(3)
    words(1, "positive", 1)
    assert np.random.random() == expected


def test_no_two_streams_have_one_number():
    # Some problems know their sources only from the data: ordinal classes.
    of_problems = {s for p in PROBLEMS.values() if isinstance(p.sources, tuple) for s in p.sources}
    names = {FREQUENCIES, "similar", *of_problems, *(f"class {j}" for j in range(1, 1001))}
    assert len({zlib.crc32(name.encode()) for name in names}) == len(names)


@given(st.integers(1, 40), st.integers(1, 60))
def test_a_pass_visits_each_row_once_wherever_batches_end(n, size):
    rows, n_iter = np.arange(n) + 3, 2 * n // size + 2
    visited = np.concatenate([shuffled_rows(9, "positive", t, rows, size) for t in range(1, n_iter + 1)])
    for start in range(0, len(visited) - n + 1, n):
        assert sorted(visited[start : start + n]) == rows.tolist()


def test_a_source_has_a_batch_of_its_size_and_keeps_its_draws_when_others_come_or_go():
    rows = {name: np.arange(100) for name in ("positive", "negative", "unlabeled")}
    together = batches(1, 5, rows, 30)
    assert {source: len(batch) for source, batch in together.items()} == dict.fromkeys(rows, 30)
    assert list(together) == list(rows)
    assert (together["positive"] != together["unlabeled"]).any()
    alone = batches(1, 5, {"negative": rows["negative"]}, 30)
    assert (together["negative"] == alone["negative"]).all()


@pytest.mark.parametrize("is_shuffled", [False, True])
@pytest.mark.parametrize("size", [1, 5, MOST_PLACES // TOGETHER + 1, MOST_PLACES + 1])
@pytest.mark.parametrize("n", [1, 9, 3000])
def test_batches_drawn_together_are_those_of_each_iteration_in_any_order(n, size, is_shuffled):
    rows = np.arange(n, dtype=np.int32) + 3
    for t in (1, 2, TOGETHER, TOGETHER + 1):
        first, places = places_around(3, "unlabeled", t, n, size, is_shuffled=is_shuffled)
        assert first <= t < first + len(places)
        for number in list(range(first, first + len(places)))[::-7]:
            batch = batch_rows(3, "unlabeled", number, rows, size, is_shuffled=is_shuffled)
            np.testing.assert_array_equal(batch, rows[places[number - first]])
            assert batch.dtype == rows.dtype


def test_draws_and_passes_are_numpys():
    drawn = generator(7, "class 3", TOGETHER + 4).integers(0, 50, size=20)
    np.testing.assert_array_equal(batch_rows(7, "class 3", TOGETHER + 4, np.arange(50), 20), drawn)
    n_iter = TOGETHER + 5  # the iterations that are drawn together end within a pass
    orders = [generator(7, "class 3", number).permutation(47) for number in range(20 * n_iter // 47 + 1)]
    visited = np.concatenate([shuffled_rows(7, "class 3", t, np.arange(47), 20) for t in range(1, n_iter + 1)])
    np.testing.assert_array_equal(visited, np.concatenate(orders)[: len(visited)])


def test_a_batch_is_the_callers_own():
    before = batch_rows(1, "positive", 1, np.arange(9), 4).copy()
    batch_rows(1, "positive", 1, np.arange(9), 4)[:] = -1
    np.testing.assert_array_equal(batch_rows(1, "positive", 1, np.arange(9), 4), before)


def test_more_rows_are_drawn_independently():
    rows = np.arange(MOST_SHUFFLED + 1)
    np.testing.assert_array_equal(shuffled_rows(3, "unlabeled", 2, rows, 50), batch_rows(3, "unlabeled", 2, rows, 50))


# --- the automatic step


every_setting = pytest.mark.parametrize("name", PROBLEMS)


def short(setting, **solver):
    plain = default_spec(setting).to_dict()
    plain["solver"] |= {"n_iter": 10, "n_features": 16, "batch_size": 16, "step_size": "auto", **solver}
    plain["data"] |= {"n": 120, "n_labeled": 20}
    plain["diagnostics"]["n_probes"] = 10
    return Spec.from_dict(plain)


def test_a_quarter_of_the_largest_is_the_inverse_curvature_of_many_features(make_task):
    task = make_task(problem=SemiSupervisedAUC(0.4, "all"), n_features=8000, batch_size=500, step_size=None)
    Q, _ = naive_problems.quadratic(task.problem, task.rows, 40)
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


@pytest.mark.ci
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
        task = make_task(problem=SemiSupervisedSVM(labeled_weight=C, unlabeled_weight=C_star), lam=1.0, step_size=None)
        sizes = step_sizes(task)
        assert sizes.largest is None
        assert sizes.automatic == pytest.approx(2.0 / (C + C_star))


@each(
    "problem, n, batch_size, step",
    [
        *((SemiSupervisedSVM(unlabeled_weight=0.0), n, 128, step) for n, step in ((100, 2), (2048, 4), (51_200, 20))),
        (SemiSupervisedSVM(unlabeled_weight=0.0), 2048, 256, 4.0 * 2**0.4),
        (SemiSupervisedSVM(unlabeled_weight=0.0), 51_200, 1024, 24.0),
        *((SemiSupervisedAUC(), n, 128, 1.0) for n in (100, 51_200)),
        (SemiSupervisedAUC(), 100, 1024, 1.0),
        (SemiSupervisedAUC(), 2048, 256, 2**0.25),
        (SemiSupervisedAUC(), 51_200, 1024, 2.0),
    ],
)
def test_steps_are_longer_with_many_labels_and_larger_mini_batches(problem, n, batch_size, step):
    X, y, plan = np.zeros((n, 2)), np.arange(n) % 2, Plan("constant", None, 0.0, 8, 10)
    rows = problem.rows(y) | {"unlabeled": np.arange(5)}
    task = Task(problem.bind(y), Gaussian(1.0), X, rows, plan, batch_size, 0, np.dtype(float))
    sizes = step_sizes(task)  # a hinge loss goes by its slope, others by a quarter of the largest step
    assert sizes.automatic / (1.0 if sizes.largest is None else sizes.largest / 4) == pytest.approx(step)


@each(
    "problem",
    [
        *(
            SemiSupervisedSVM(3.0, 2.0, loss, is_balanced=is_balanced, positive_share=0.4)
            for loss in ("symmetric hinge", "squared symmetric hinge", "ramp", "exponential")
            for is_balanced in (False, True)
        ),
        SimilarUnlabeled(0.3, "double hinge"),
    ],
)
def test_the_largest_slope_bounds_the_coefficients(problem):
    rng = np.random.default_rng(0)
    for size in (0.1, 0.5, 1.0, 3.0, 5.0):
        f = {source: size * rng.normal(size=6) for source in problem.sources}
        total = sum(np.abs(c).sum() for c in problem.coefficients(f).values())
        assert total <= problem.largest_slope * (1 + 1e-9)


def test_where_positives_alone_pull_the_balance_nearly_doubles_the_slope_of_an_s3vm():
    problem = SemiSupervisedSVM(labeled_weight=3.0, unlabeled_weight=0.01, is_balanced=True).bind(
        np.repeat([1, 0, -1], [9, 1, 2])
    )
    f = {"positive": np.full(9, -3.0), "negative": np.full(1, -3.0), "unlabeled": np.array([-5.0, 5.0])}
    total = sum(np.abs(c).sum() for c in problem.coefficients(f).values())
    assert total == pytest.approx(2 * 0.9 * 3.0)
    assert 3.0 < total <= problem.largest_slope


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
    again = finished(Spec.from_json(run.spec.to_json()))
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


# --- the mean of the second half


N_ITER = 9
CHANGES = (Change(4, "step_size", 0.1), Change(6, "lam", 0.9), Change(7, "step_size", 0.5))


def labels_for(name):
    y = np.full(40, -1)
    y[:18] = {
        "auc": [1] * 8 + [0] * 10,
        "s3vm": [1] * 8 + [0] * 10,
        "ordinal": [0] * 6 + [1] * 5 + [2] * 7,
        "supervised": [1] * 8 + [0] * 10,
        "similar_unlabeled": np.arange(18) // 2,
    }[name]
    return y


def alphas_of(name, task, *drawn):
    """The naive twin's coefficients after these iterations."""
    if name == "auc":
        return naive.qsg_s2auc(task.X, *drawn, 0.4)
    if name == "supervised":
        return naive_problems.dsg(task.X, *drawn, 8 / 18)
    if name == "similar_unlabeled":
        return naive_problems.tsgsu(task.X, *drawn, 0.7, "squared", "absolute value", 0.5)
    if name == "s3vm":
        return naive_problems.tsgs3vm(task.X, *drawn, 2.0, 1.0, 8 / 18, "ramp", -0.3)
    return naive_problems.qs3orao(task.X, *drawn, [0.3, 0.3], [6, 5, 7])


PROBLEM_OF = {
    "auc": SemiSupervisedAUC(0.4),
    "supervised": Supervised("logistic"),
    "similar_unlabeled": SimilarUnlabeled(0.7),
    "s3vm": SemiSupervisedSVM(labeled_weight=2.0, unlabeled_weight=1.0, loss="ramp"),
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


@pytest.mark.parametrize("with_variance", [False, True])
def test_points_that_join_late_have_the_same_average(make_task, with_variance):
    task = make_task(n_iter=9, average_after=4)
    model = task.new_model()
    early = Carried(task.X, model, with_variance=with_variance, average_after=4)
    training = VisitedPoints(task, model)
    steps = solve(task, model, carried=[early], training=training)
    for _ in range(7):
        next(steps)
    late = Carried(task.X, model, with_variance=with_variance, average_after=4)
    np.testing.assert_allclose(late.average, early.average, rtol=1e-10, atol=1e-13)
    visited = VisitedPoints(task, model)
    places = [points.batch(8)[1] for points in (visited, training)]
    for at in ("values", "average"):
        own, same = (getattr(p, at)[where] for p, where in zip((visited, training), places, strict=True))
        np.testing.assert_allclose(own, same, rtol=1e-10, atol=1e-13)
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
    again = finished(run.spec)
    for column in run.history.names:
        np.testing.assert_array_equal(again.history.column(column), run.history.column(column))


def test_a_run_that_diverges_goes_back_with_its_average():
    run = Run(averaged_spec("auc", n_iter=400, step_size=60.0, dtype="float32"))
    run.advance()
    assert run.model_t < run.t
    engine = run.engine
    assert isinstance(engine, StochasticEngine)
    expected = run.result.evaluate(run.split.X_test)
    np.testing.assert_allclose(engine.test_average, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


# --- runs that diverge


# PS3VT's weights stay in a ball.
STOCHASTIC = [name for name in SETTINGS if name != "multiclass"]


def diverging(setting, *, dtype="float64", step_size=1000.0, lam=1.0, n_iter=200, **solver):
    """A quick spec whose step is much too big."""
    plain = default_spec(setting).to_dict()
    plain["data"] |= {"n": 150, "n_labeled": 20}
    if plain["data"]["name"] == "digits":
        plain["data"] |= {"name": "two_moons", "noise": 0.2, "imbalance": 0.5}
    plain["solver"] |= {"n_features": 16, "batch_size": 8, "dtype": dtype} | solver
    plain["solver"] |= {"step_size": step_size, "lam": lam, "n_iter": n_iter}
    plain["diagnostics"]["n_probes"] = 20
    return Spec.from_dict(plain)


@each("setting", STOCHASTIC)
@each("step_size, lam", [(1000.0, 1.0), (1e6, 1000.0), (3.0, 1.0)])
def test_in_double_precision_no_number_overflows_but_the_run_ends_as_diverged(setting, step_size, lam):
    run = Run(diverging(setting, step_size=step_size, lam=lam, n_iter=2000))
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED


def test_the_bound_of_weights_whose_square_is_too_large_is_infinite():
    twin = ExactTwin(Gaussian(), np.zeros((1, 2)))
    with np.errstate(over="ignore"):
        twin.advance(np.zeros((1, 2)), np.array([1e200]), 1.0, 1.0)
        assert twin.bound() == np.inf


def steered_too_far(setting):
    """A run that goes well for 21 iterations and diverges after its step is made too big, and its data."""
    run = Run(diverging(setting, **GOOD[setting]))
    run.advance(21)
    run.change(*TOO_FAR[setting])
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED
    return run


GOOD = {name: {"step_size": 0.1, "lam": 0.1} for name in STOCHASTIC}
TOO_FAR = {name: ("step_size", 1000.0) for name in STOCHASTIC}


def state(run):
    """All that a run holds at its present iteration, by name."""
    held = {name: getattr(run, f"{name}_values") for name in ("training", "test", "labeled")}
    held["model"], engine = run.model.evaluate(run.split.X_test), run.engine
    if held["training"] is None:
        del held["training"]
    if engine.twin is not None:
        held["exact"] = run.exact_values(run.split.X_test[:5].astype(float))
    held |= {"twin": engine.twin.h, "bound": engine.twin.bound(), "band": engine.probes.variance}
    return held | {"dual": engine.dual.values, "norm": engine.norm.value}


@pytest.mark.parametrize("is_large", [False, True], ids=["whole sample", "batches"])
@pytest.mark.parametrize("setting", STOCHASTIC)
def test_a_run_that_diverged_stands_as_a_whole_where_growth_set_in(setting, is_large, monkeypatch):
    if is_large:
        monkeypatch.setattr("dsgcore.experiments.stochastic.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    run = steered_too_far(setting)
    objective, start = run.history.column("objective"), run.start_objective()
    assert 19 <= run.model_t < run.t == len(objective)
    measured = run.model_t + (run.training_values is None)
    assert objective[measured - 1] <= start < objective[measured:].min()
    again = Run(run.spec, run.split)
    again.advance(run.model_t)
    assert again.stop_reason is None
    for name, values in state(again).items():
        np.testing.assert_array_equal(state(run)[name], values, err_msg=name)
        assert np.isfinite(values).all(), name


def test_a_mini_batch_tells_of_the_function_before_its_step(monkeypatch):
    # Without a ridge, the objective that the first step too far is recorded with is still low.
    monkeypatch.setattr("dsgcore.experiments.stochastic.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    run = Run(diverging("auc", step_size=0.1, lam=0.0))
    run.advance(21)
    run.change("step_size", 1000.0)
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED
    assert run.history.column("objective")[21] < run.start_objective()
    assert run.model_t == 21


@pytest.mark.parametrize("setting", STOCHASTIC)
def test_a_run_that_only_grew_stands_at_its_start(setting):
    run = Run(diverging(setting, step_size=1e6, lam=1000.0))
    run.advance()
    assert (run.model_t, len(run.model)) == (0, 0)
    for name, values in state(run).items():
        assert not np.any(values), name


@pytest.mark.parametrize("setting", STOCHASTIC)
def test_what_was_recorded_of_a_run_that_diverged_can_still_be_looked_at(setting, tmp_path):
    run = steered_too_far(setting)
    whole = Run(run.spec, run.split)
    whole.advance(run.t)
    X = run.split.X_test
    for t in (1, run.model_t, run.t):
        np.testing.assert_array_equal(run.at(t).model.evaluate(X), whole.at(t).model.evaluate(X))
    run.model.save(tmp_path / "model.npz")
    saved = load_model(tmp_path / "model.npz").evaluate(X)
    np.testing.assert_array_equal(saved, run.at(run.model_t).model.evaluate(X))
    again = Run(run.spec)
    again.advance(run.tried)
    np.testing.assert_array_equal(saved, again.model.evaluate(X))
    assert summary(run)["model_iterations"] == run.model_t
