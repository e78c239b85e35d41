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
from small_specs import changed, finished

from dsgcore import Spec
from dsgcore.core import sampling
from dsgcore.core.sampling import FREQUENCIES, MAX_SEED, TOGETHER, batch_rows, batches, generator, places_around
from dsgcore.experiments import SETTINGS, Run, StopReason, default_spec, summary
from dsgcore.kernels import DotProduct, Gaussian
from dsgcore.problems import PROBLEMS, SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.problems.supervised import Supervised
from dsgcore.solver import automatic_step
from dsgcore.solver.automatic_step import settle_step, step_sizes
from dsgcore.solver.loop import AllPoints, Carried, DrawnPoints, VisitedPoints, solve, training_points
from dsgcore.solver.measures import AverageNorm, DualCoefficients, ExactTwin, SquaredNorm
from dsgcore.solver.task import FIXED, SCHEDULES, Change, Plan, Task


def solved(task, **tracked):
    """Return the model of a task after all its iterations."""
    model = task.new_model()
    list(solve(task, model, **tracked))
    return model


def draws(task, model):
    """The draws of a finished run in the papers' terms: batches, frequencies in radians, steps, ridges."""
    ts = range(1, len(model) + 1)
    batches = [tuple(rows.tolist() for rows in task.batch(t).values()) for t in ts]
    frequencies = [2 * np.pi * model.frequencies(t, task.plan.at(t).n_features) for t in ts]
    return batches, frequencies, [task.plan.at(t).size for t in ts], [task.plan.at(t).lam for t in ts]


def assert_equals(model, X, alphas, frequencies):
    """Assert that a model's coefficients, and its values at X, are those of a naive twin."""
    for t, expected in enumerate(alphas, start=1):
        # as the papers write it: shrunk by every step after t
        alpha = model.kernel.feature_map.coefficients(model.blocks[t - 1]) * np.prod(model.decays[t:])
        np.testing.assert_allclose(alpha, expected, rtol=1e-10, atol=1e-13)
    expected = [naive.predict(x, alphas, frequencies) for x in X]
    np.testing.assert_allclose(model.evaluate(X), expected, rtol=1e-10, atol=1e-12)


@each("schedule", [*SCHEDULES, "steered"])
def test_equals_the_papers_algorithm_1_and_2(make_task, schedule):
    is_steered = schedule == "steered"
    task = make_task(batch_size=3, schedule="constant" if is_steered else schedule)
    if is_steered:
        task.plan.changes += [Change(3, "step_size", 0.1), Change(4, "n_features", 11), Change(5, "lam", 0.9)]
    model = solved(task)
    drawn = draws(task, model)
    _, frequencies, steps, lams = drawn
    if is_steered:
        assert (steps[1], steps[2], lams[4], frequencies[3].shape[1]) == (0.3, 0.1, 0.9, 11)
    assert_equals(model, task.X, naive.qsg_s2auc(task.X, *drawn, 0.4), frequencies)


@each("carry", [AllPoints, VisitedPoints, DrawnPoints])
@each("first", [0, 11])  # from the beginning, and on from a model
def test_values_and_averages_at_batch_points_are_those_of_the_model_before_the_step(make_task, carry, first):
    task = make_task(n_iter=20, average_after=6)
    if carry is DrawnPoints:
        task = replace(task, features=FIXED)
    model = solved(task).prefix(first)
    for iterate in solve(task, model, training=carry(task, model)):
        before = model.prefix(iterate.t - 1)
        n_last = iterate.t - 1 - 6
        mean = before.tail_average(n_last) if n_last > 0 else before
        for source, rows in iterate.batch.items():
            for values, own in ((iterate.f, before), (iterate.average, mean)):
                np.testing.assert_allclose(values[source], own.evaluate(task.X[rows]), rtol=1e-10, atol=1e-13)


@each("start, stop", [(0, 0), (0, 1), (3, 70), (64, 130)])
def test_joined_batches_are_those_of_the_iterations(make_task, start, stop):
    task = make_task(n_iter=130, batch_size=3)
    expected = [np.concatenate(list(task.batch(t).values())) for t in range(start + 1, stop + 1)]
    expected = np.reshape(expected, (stop - start, 3 * len(task.rows)))
    np.testing.assert_array_equal(task.joined_batches(start, stop), expected)


def test_visited_points_are_given_up_after_their_last_visit_unless_each_is_visited_often(make_task):
    task = make_task(n_iter=5, batch_size=2)
    points = VisitedPoints(task, task.new_model())
    assert points.needed_after.tolist() == [len(np.unique(task.joined_batches(t, 5))) for t in range(1, 6)]
    for n_iter, expected in ((1000, AllPoints), (3, VisitedPoints)):
        task = make_task(n_iter=n_iter)
        assert isinstance(training_points(task, task.new_model()), expected)


@each(
    "n, n_drawn, ends",
    [
        (10_000, 15, [50, 200, 800, 3200]),  # so few rows cost less than a plan for all iterations
        (10_000, 500, [50, 3200]),  # most rows are never drawn, and all others within 150 iterations
        (10_000, 700, [50, 100, 150, 200, 250, 3200]),  # from here on all rows cost less than all earlier blocks
        (10_000, 10_000, list(range(50, 3201, 50))),
    ],
)
def test_a_fit_that_may_end_early_looks_ahead_as_far_as_the_rows_that_it_draws_from_suggest(
    make_task, n, n_drawn, ends
):
    of_three = {source: np.arange(n_drawn // 3 + 1) for source in ("positive", "negative", "unlabeled")}
    task = replace(make_task(n_iter=3200, batch_size=2), X=np.zeros((n, 2)), rows=of_three)
    points = VisitedPoints(task, task.new_model(), is_staged=True)
    found = [points.stop]
    while points.stop < 3200:
        points.batch(points.stop + 1)
        found.append(points.stop)
    assert found == ends


def test_the_same_seed_gives_the_same_bits_with_and_without_an_average(make_task):
    first, again, averaged, other = (
        np.stack(solved(make_task(seed=seed, dtype="float32", n_iter=9, average_after=after)).blocks)
        for seed, after in ((3, None), (3, None), (3, 4), (4, None))
    )
    np.testing.assert_array_equal(again, first)
    np.testing.assert_array_equal(averaged, first)
    assert (other != first).any()


def test_a_step_that_is_too_big_ends_the_run_with_finite_coefficients(make_task):
    task = make_task(step_size=1e30, n_iter=50, dtype="float32")
    with np.errstate(over="ignore", invalid="ignore"):
        iterates = list(solve(task, task.new_model()))
    assert 0 < len(iterates) < 50
    assert all(np.isfinite(iterate.weights).all() for iterate in iterates)


@each("with_variance", [False, True])
def test_a_run_goes_on_and_points_join_late_as_if_from_the_start(make_task, with_variance):
    task = make_task(n_iter=9, average_after=4)
    model = task.new_model()
    early = Carried(task.X, model, with_variance=with_variance, average_after=4)
    training = VisitedPoints(task, model)
    steps = solve(task, model, carried=[early], training=training)
    for _ in range(7):
        next(steps)
    halfway, late = model.prefix(7), Carried(task.X, model, with_variance=with_variance, average_after=4)
    visited = VisitedPoints(task, model)
    places, same = visited.batch(8)[1], training.batch(8)[1]

    def assert_alike(one, other, rtol=1e-10):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-13)

    for at in ("values", "average"):
        assert_alike(getattr(late, at), getattr(early, at))
        assert_alike(getattr(visited, at)[places], getattr(training, at)[same])
    list(steps)
    list(solve(task, halfway, carried=[late]))
    assert_alike(halfway.evaluate(task.X), model.evaluate(task.X))
    assert_alike(early.average, model.tail_average(5).evaluate(task.X))
    for at in ("values", "average", "variance")[: 2 + with_variance]:
        assert_alike(getattr(late, at), getattr(early, at), rtol=1e-9)


def test_the_exact_twin_and_its_dual_equal_the_recursion(make_task):
    task = make_task(n_iter=5)
    probes = task.X[-6:]
    twin, dual, drawn = ExactTwin(task.kernel, probes), DualCoefficients(len(task.X)), []
    for iterate in solve(task, task.new_model()):
        drawn.append((np.concatenate(list(iterate.batch.values())), iterate.weights, 0.3, 0.2))
        twin.advance(iterate.points, iterate.weights, iterate.step.size, iterate.step.decay)
        dual.advance(iterate.rows, iterate.weights, iterate.step.size, iterate.step.decay)

    def kernel(x, z):
        return np.exp(-task.kernel.sigma * np.sum((x - z) ** 2))

    expected = [naive.exact_twin(z, task.X, *zip(*drawn, strict=True), kernel) for z in probes]
    np.testing.assert_allclose(twin.h, expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(dual.values @ task.kernel.matrix(task.X, probes), expected, rtol=1e-10, atol=1e-13)
    with np.errstate(over="ignore"):  # the square of such weights is too large
        twin.advance(np.zeros((1, 3)), np.array([1e200]), 1.0, 1.0)
        assert twin.bound() == np.inf


def test_the_running_norms_are_those_of_the_exact_twin_and_of_the_mean_of_its_second_half(make_task):
    task = make_task(n_iter=40, n_features=4000, average_after=20)
    K = task.kernel.matrix(task.X, task.X)
    dual, total, norm, of_average = DualCoefficients(40), np.zeros(40), SquaredNorm(), AverageNorm(20)
    for it in solve(task, task.new_model()):
        step = it.step.size, it.step.decay
        dual.advance(it.rows, it.weights, *step)
        total += dual.values * (it.t > 20)
        norm.advance(it.values, it.weights, it.block, *step)
        of_average.advance(it.averages, it.weights, *step, norm.value)
    # Estimates with random features: 4000 of them leave a few per cent of |f|.
    assert norm.value == pytest.approx(dual.values @ K @ dual.values, rel=0.05)
    assert of_average.value == pytest.approx(total @ K @ total / 20**2, rel=0.02)
    assert of_average.value != pytest.approx(norm.value, rel=1e-3)


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


def test_no_two_streams_have_one_number_and_iterations_do_not_overlap():
    # A long draw that ran into the next iteration's counter would repeat its numbers.
    assert not set(words(0, FREQUENCIES, 1, size=50_000)) & set(words(0, FREQUENCIES, 2, size=50_000))
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


def test_draws_and_passes_are_numpys_and_very_many_rows_are_drawn_independently():
    drawn = generator(7, "class 3", TOGETHER + 4).integers(0, 50, size=20)
    np.testing.assert_array_equal(batch_rows(7, "class 3", TOGETHER + 4, np.arange(50), 20), drawn)
    n_iter = TOGETHER + 5  # the iterations that are drawn together end within a pass
    orders = [generator(7, "class 3", number).permutation(47) for number in range(20 * n_iter // 47 + 1)]
    visited = np.concatenate([shuffled_rows(7, "class 3", t, np.arange(47), 20) for t in range(1, n_iter + 1)])
    np.testing.assert_array_equal(visited, np.concatenate(orders)[: len(visited)])
    rows = np.arange(sampling.MOST_SHUFFLED + 1)
    np.testing.assert_array_equal(shuffled_rows(3, "unlabeled", 2, rows, 50), batch_rows(3, "unlabeled", 2, rows, 50))


def test_a_source_has_a_batch_of_its_size_and_keeps_its_draws_when_others_come_or_go():
    rows = {name: np.arange(100) for name in ("positive", "negative", "unlabeled")}
    together = batches(1, 5, rows, 30)
    assert {source: len(batch) for source, batch in together.items()} == dict.fromkeys(rows, 30)
    assert list(together) == list(rows)
    assert (together["positive"] != together["unlabeled"]).any()
    alone = batches(1, 5, {"negative": rows["negative"]}, 30)["negative"]
    assert (together["negative"] == alone).all()
    expected = alone.copy()
    alone[:] = -1  # a batch is the caller's own
    assert (batches(1, 5, rows, 30)["negative"] == expected).all()


@each("is_shuffled", [False, True])
@each("size", [1, 5, sampling.MOST_PLACES // TOGETHER + 1, sampling.MOST_PLACES + 1])
@each("n", [1, 9, 3000])
def test_batches_drawn_together_are_those_of_each_iteration_in_any_order(n, size, is_shuffled):
    rows = np.arange(n, dtype=np.int32) + 3
    for t in (1, 2, TOGETHER, TOGETHER + 1):
        first, places = places_around(3, "unlabeled", t, n, size, is_shuffled=is_shuffled)
        assert first <= t < first + len(places)
        for number in list(range(first, first + len(places)))[::-7]:
            batch = batch_rows(3, "unlabeled", number, rows, size, is_shuffled=is_shuffled)
            np.testing.assert_array_equal(batch, rows[places[number - first]])
            assert batch.dtype == rows.dtype


# --- the automatic step


def short(setting, **solver):
    """A setting's first spec with few points and iterations, and the step 'auto'."""
    small = {"n_iter": 12, "n_features": 16, "batch_size": 16, "step_size": "auto"}
    return changed(default_spec(setting).to_dict(), n=120, n_labeled=20, n_probes=10, **small | solver)


def assert_same_history(run, other):
    for column in run.history.names:
        np.testing.assert_array_equal(other.history.column(column), run.history.column(column))


def automatic(make_task, **given):
    return step_sizes(make_task(step_size=None, **given)).automatic


def test_a_quarter_of_the_largest_is_the_inverse_curvature_of_many_features(make_task):
    task = make_task(problem=SemiSupervisedAUC(0.4, "all"), n_features=8000, batch_size=500, step_size=None)
    Q, _ = naive_problems.quadratic(task.problem, task.rows, 40)
    mu = np.linalg.eigvals(Q @ task.kernel.matrix(task.X, task.X)).real.max()
    sizes = step_sizes(task)
    assert sizes.largest == pytest.approx(2.0 / (0.2 + mu), rel=0.1)  # batches of 128: some per cent more curvature
    assert sizes.automatic == sizes.largest / 4


@pytest.mark.parametrize(("dtype", "rel"), [("float64", 1e-9), ("float32", 1e-4)])
def test_kept_features_give_the_same_step_as_blocks(make_task, dtype, rel, monkeypatch):
    given = {"problem": SemiSupervisedAUC(0.4, "all"), "n_features": 64, "batch_size": 32, "dtype": dtype}
    kept = automatic(make_task, **given)
    monkeypatch.setattr(automatic_step, "MOST_NUMBERS", 0)
    assert kept == pytest.approx(automatic(make_task, **given), rel=rel)


@pytest.mark.ci
@each("kernel", [Gaussian(0.7), Gaussian(0.02), DotProduct(0.2, "3")])
@each("m, B", [(256, 64), (2, 64), (256, 2)])
@each("scale", [0.3, 1.0])
def test_steps_up_to_the_automatic_one_do_not_grow(make_task, labeled_points, kernel, m, B, scale):
    X = scale * labeled_points[0]
    task = make_task(X=X, kernel=kernel, n_features=m, batch_size=B, step_size=None, n_iter=120, lam=1e-3)
    settle_step(task)
    model = solved(task)
    assert len(model) == 120
    assert np.abs(model.evaluate(task.X)).max() < 20.0


@each("of_largest, grows", [(0.7, False), (2.0, True)])
def test_the_iterate_grows_above_the_largest_step(make_task, of_largest, grows):
    task = make_task(n_features=256, batch_size=64, n_iter=100, lam=1e-2)
    task.plan.step_size = of_largest * step_sizes(task).largest
    assert (np.abs(solved(task).evaluate(task.X)).max() > 1e3) == grows


def test_of_very_many_features_a_part_gives_the_automatic_step(make_task, monkeypatch):
    monkeypatch.setattr(automatic_step, "MOST_FEATURES", 64)
    assert automatic(make_task, n_features=256) == automatic(make_task, n_features=64)


@each(
    "problem, n, batch_size, step",
    [
        *((SemiSupervisedSVM(unlabeled_weight=0.0), n, 128, step) for n, step in ((100, 2), (2048, 4), (51_200, 20))),
        (SemiSupervisedSVM(unlabeled_weight=0.0), 2048, 256, 4.0 * 2**0.4),
        (SemiSupervisedSVM(unlabeled_weight=0.0), 51_200, 1024, 48.0),
        *((SemiSupervisedAUC(), n, 128, 1.0) for n in (100, 51_200)),
        (SemiSupervisedAUC(), 100, 1024, 1.0),
        (SemiSupervisedAUC(), 2048, 256, 2**0.25),
        (SemiSupervisedAUC(), 51_200, 1024, 2.0),
    ],
)
def test_steps_are_longer_with_many_labels_and_larger_mini_batches(problem, n, batch_size, step):
    X, y, plan = np.zeros((n, 2)), np.arange(n) % 2, Plan("constant", None, 0.0, 8, 10)
    rows = problem.rows(y) | {"unlabeled": np.arange(5)}
    sizes = step_sizes(Task(problem.bind(y), Gaussian(1.0), X, rows, plan, batch_size, 0, np.dtype(float)))
    # A hinge loss goes by its slope, others by a quarter of the largest step.
    assert sizes.automatic / (1.0 if sizes.largest is None else sizes.largest / 4) == pytest.approx(step)


@each("name", PROBLEMS)
def test_a_run_says_its_automatic_step_and_is_the_run_with_that_step(name):
    spec = short(name)
    assert spec.solver.step_size is None
    assert Spec.from_json(spec.to_json()) == spec
    run, again = finished(spec), Run(spec)
    again.advance(3)
    again.advance()
    assert_same_history(run, again)
    step = summary(run)["automatic_step"]
    assert step == run.engine.automatic_step
    assert run.history.column("step_size")[0] == run.engine.task.plan.at(1).size
    named = finished(short(name, step_size=step))
    np.testing.assert_array_equal(named.history.column("objective"), run.history.column("objective"))
    assert summary(named)["automatic_step"] is None


def test_a_run_can_be_steered_to_the_automatic_step_and_away_from_it():
    run = Run(short("auc", step_size=0.2))
    for step in (None, 0.1):
        run.advance(3)
        run.change("step_size", step)
    run.advance()
    steps = run.history.column("step_size").tolist()
    assert steps == [0.2] * 3 + [run.engine.automatic_step] * 3 + [0.1] * 6
    assert_same_history(run, finished(Spec.from_json(run.spec.to_json())))


# --- the mean of the second half


@each("changes", [(), (Change(4, "step_size", 0.1), Change(6, "lam", 0.9), Change(7, "step_size", 0.5))])
@each(
    "problem, n_of_classes",
    [
        (SemiSupervisedAUC(0.4), (10, 8)),
        (SemiSupervisedOrdinal(0.3), (6, 5, 7)),
        (SimilarUnlabeled(0.7), 9 * (2,)),
        (SemiSupervisedSVM(labeled_weight=2.0, loss="ramp"), (10, 8)),
        (Supervised("logistic"), (10, 8)),
    ],
)
def test_the_averaged_model_is_the_mean_of_the_naive_twins_iterates(make_task, problem, n_of_classes, changes):
    y = np.append(np.repeat(np.arange(len(n_of_classes)), n_of_classes), np.full(22, -1))
    task = make_task(problem=problem, y=y, n_iter=9, average_after=4)
    task.plan.changes += changes
    model = task.new_model()
    points, iterates = AllPoints(task, model), []
    list(solve(task, model, training=points))
    drawn = draws(task, model)
    for t in range(5, 10):
        first = [part[:t] for part in drawn]
        alphas = naive_problems.twin(task.problem, task.X, *first)
        iterates.append([naive.predict(x, alphas, first[1]) for x in task.X])
    for found in (model.tail_average(5).evaluate(task.X), points.average):
        np.testing.assert_allclose(found, np.mean(iterates, axis=0), rtol=1e-10, atol=1e-12)


def averaged(setting, **solver):
    given = {"step_size": default_spec(setting).solver.step_size, "average": "tail", "dtype": "float64"}
    return short(setting, **given | solver)


def assert_average_is_the_models(run):
    np.testing.assert_allclose(run.engine.test_average, run.result.evaluate(run.split.X_test), atol=1e-10)
    scored = run.engine.test_average + run.engine.average_shift  # a balanced S3VM shifts all values alike
    assert run.problem.score(run.split.y_test, scored) == run.history.last()["score_average"]


@each("name", PROBLEMS)
def test_a_run_records_the_average_at_every_sixteenth_iteration_where_its_spec_asks_for_it(name):
    run, plain = (finished(averaged(name, n_iter=40, average=average)) for average in ("tail", None))
    assert set(run.history.names) - set(plain.history.names) == {"objective_average", "score_average"}
    assert_same_history(plain, run)
    column = run.history.column("objective_average")
    assert np.isfinite(column).all()  # rows in between hold what was measured last
    assert column[0] == pytest.approx(run.history.column("objective")[0])
    assert (np.flatnonzero(np.diff(column)) + 2).tolist() == [16, 32, 40]
    assert_average_is_the_models(run)
    assert plain.result is plain.model


@each("name", PROBLEMS)
def test_a_steered_run_is_replayed_with_its_average(name):
    run = Run(averaged(name))
    for parameter, value in (("step_size", 0.02), ("lam", 0.5)):
        run.advance(4)
        run.change(parameter, value)
    run.advance()
    assert_average_is_the_models(run)
    assert_same_history(run, finished(run.spec))


def test_a_run_that_diverges_goes_back_with_its_average():
    run = finished(averaged("auc", n_iter=400, step_size=60.0, dtype="float32"))
    assert run.model_t < run.t
    expected = run.result.evaluate(run.split.X_test)
    np.testing.assert_allclose(run.engine.test_average, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


# --- runs that diverge


# PS3VT's weights stay in a ball.
STOCHASTIC = [name for name in SETTINGS if name != "multiclass"]
# Of more points a run measures its batches in place of its whole sample.
MOST_POINTS = "dsgcore.experiments.stochastic.MAX_POINTS_FOR_WHOLE_SAMPLE"


def diverging(setting, **solver):
    """A quick spec whose step is much too big."""
    plain = default_spec(setting).to_dict()
    if plain["data"]["name"] == "digits":
        plain["data"] |= {"name": "two_moons", "noise": 0.2, "imbalance": 0.5}
    small = {"n": 150, "n_labeled": 20, "n_probes": 20, "n_features": 16, "batch_size": 8, "dtype": "float64"}
    return changed(plain, **small | {"step_size": 1000.0, "lam": 1.0, "n_iter": 200} | solver)


def steered_too_far(setting, lam=0.1):
    """A run that goes well for 21 iterations and diverges after its step is made too big."""
    run = Run(diverging(setting, step_size=0.1, lam=lam))
    run.advance(21)
    run.change("step_size", 1000.0)
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED
    return run


@each("setting", STOCHASTIC)
@each("step_size, lam", [(1000.0, 1.0), (1e6, 1000.0), (3.0, 1.0)])
def test_in_double_precision_no_number_overflows_but_the_run_ends_as_diverged(setting, step_size, lam):
    run = finished(diverging(setting, step_size=step_size, lam=lam, n_iter=2000))
    assert run.stop_reason is StopReason.DIVERGED
    if lam == 1000.0:  # it only grew, and stands at its start
        assert (run.model_t, len(run.model)) == (0, 0)
        assert not any(np.any(values) for values in state(run).values())


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
        monkeypatch.setattr(MOST_POINTS, 10)
    run = steered_too_far(setting)
    objective, start = run.history.column("objective"), run.start_objective
    assert 19 <= run.model_t < run.t == len(objective)
    measured = run.model_t + (run.training_values is None)
    assert objective[measured - 1] <= start < objective[measured:].min()
    assert summary(run)["model_iterations"] == run.model_t
    again = Run(run.spec, run.split)
    again.advance(run.model_t)
    assert again.stop_reason is None
    for name, values in state(again).items():
        np.testing.assert_array_equal(state(run)[name], values, err_msg=name)
        assert np.isfinite(values).all(), name


def test_a_mini_batch_tells_of_the_function_before_its_step(monkeypatch):
    monkeypatch.setattr(MOST_POINTS, 10)
    # Without a ridge, the objective that the first step too far is recorded with is still low.
    run = steered_too_far("auc", lam=0.0)
    assert run.history.column("objective")[21] < run.start_objective
    assert run.model_t == 21
