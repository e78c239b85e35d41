"""What limits a run, its stability limit, a random part of many points, and the verdict on a run and its twin."""

import csv
import itertools
import json
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from live_page import head
from naive_problems import exact_optimum, quadratic
from numpy.testing import assert_allclose
from opened_pages import bench_of, open_auc, open_page
from own_tables import own_spec, sniff

from dsgcore.__main__ import main
from dsgcore.core.metrics import Difference, Effect, Z, accuracy_half_width, auc_half_width, contributions
from dsgcore.diagnostics import Cause, convergence, four_runs, judgement, limits
from dsgcore.diagnostics.references import MAX_POINTS, on_some_points, settled_task
from dsgcore.experiments import SETTINGS, LiveRun, Run, Spec, StopReason, default_spec, outcome_of
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.engine import ENGINES
from dsgcore.experiments.run import step_limit
from dsgcore.experiments.verdict import gain_over_twin
from dsgcore.kernels import Gaussian
from dsgcore.problems import SemiSupervisedAUC, objective
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import LOSSES, SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import CORRECTIONS, SimilarUnlabeled
from dsgcore.problems.thresholds import mean_auc
from dsgcore.solver.exact import (
    MAX_EXACT_POINTS,
    DiagnosticsError,
    DualCoefficients,
    ExactTwin,
    FeatureError,
    GradientNorm,
    SquaredNorm,
    slope,
)
from dsgcore.solver.loop import AllPoints, Carried, solve
from dsgcore.solver.start import shares
from dsgcore.solver.task import Plan, Task
from dsgcore.studies import Store, Study, StudyRuns, carry_out
from dsgcore.studies.runs import make_run
from pages.studies import study_charts as charts
from pages.studies.study_charts import LIMIT, axis_of, parallel
from pages.studies.trajectory_showing import table_of_ways
from pages.workbench import page
from pages.workbench.steering import take
from pages.workbench.tabs import _begin

# Slopes.


@given(st.floats(-3, 3), st.floats(1e-3, 1e3))
def test_the_slope_of_a_power_law_is_its_exponent(exponent, factor):
    t = np.arange(1, 50)
    assert slope(t, factor * t**exponent) == pytest.approx(exponent, abs=1e-9)


def test_the_slope_is_that_of_least_squares():
    x, y = np.array([1.0, 2.0, 5.0, 9.0]), np.array([3.0, 1.0, 2.0, 0.1])
    u, v = np.log(x) - np.log(x).mean(), np.log(y) - np.log(y).mean()
    assert slope(x, y) == pytest.approx((u @ v) / (u @ u), rel=1e-12)


LOGARITHMS_OF_SOME = ([1, 2, 4, 8, 0, -1, 3, 3, 3, np.inf, np.nan], [1, 4, 16, 64, 1, 1, 0, -1, np.nan, 1, 1])


@each(
    "points, expected",
    [
        (LOGARITHMS_OF_SOME, 2.0),
        *((few, np.nan) for few in (([], []), ([1.0], [2.0]), ([1.0, 2.0], [1.0, np.nan]), ([1, 2], [0, 0]))),
    ],
)
def test_points_without_a_logarithm_are_left_out_and_fewer_than_two_have_no_slope(points, expected):
    assert slope(*points) == pytest.approx(expected, rel=1e-12, nan_ok=True)


# The exact optimum.


@pytest.fixture
def quadratic_task(make_task, labeled_points):
    task = make_task(lam=0.3)
    X, _ = labeled_points
    Q, linear = quadratic(task.problem, task.rows, len(X))
    return task, task.kernel.matrix(X, X), Q, linear


def value(task, K, a):
    """The objective with its ridge at f = K a, from the problem's own risk."""
    f = K @ a
    risk = objective(task.problem.risk_terms({source: f[rows] for source, rows in task.rows.items()}))
    return risk + 0.5 * task.plan.lam * float(a @ K @ a)


def numerical_gradient(function, x, step=1e-4):
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in step * np.eye(len(x))])


def test_the_gradient_vanishes_at_the_exact_optimum(quadratic_task):
    task, K, Q, linear = quadratic_task
    a = task.problem.near_risk().solution(shares(task.rows.values(), len(K)), K, task.plan.lam)
    np.testing.assert_allclose(a, exact_optimum(K, Q, linear, task.plan.lam), rtol=1e-10)
    # In the kernel's space the gradient is sum_i (Q f + linear + lam a)_i k(x_i, .).
    np.testing.assert_allclose(Q @ K @ a + linear + task.plan.lam * a, 0, atol=1e-14)
    np.testing.assert_allclose(numerical_gradient(lambda b: value(task, K, b), a), 0, atol=1e-8)
    assert np.abs(a).max() > 1e-2, "the optimum is not just 0"


def test_too_many_points_for_the_exact_optimum_are_refused():
    n = MAX_EXACT_POINTS + 1
    nothing = np.broadcast_to(0.0, (n, n))  # of no memory
    with pytest.raises(
        DiagnosticsError, match=r"^the gradient's norm needs .* of all points; at most 6000 points, got 6001$"
    ):
        GradientNorm(SemiSupervisedAUC(), {}, nothing)


# The gradient's norm.

RUN = {
    "data.name": "two_moons",
    "data.n": "200",
    "data.n_labeled": "40",
    "kernel.sigma": "10",
    "solver.n_iter": "64",
    "at": "60",
}
PAIRS = np.where(np.arange(40) < 16, np.arange(40) // 2, -1)
CLASSES = np.where(np.arange(40) < 18, np.arange(40) % 3, -1)
TWO_CLASSES = np.where(np.arange(40) < 18, np.arange(40) % 2, -1)
MEASURED = [
    *((SimilarUnlabeled(0.8, correction=correction), PAIRS) for correction in CORRECTIONS),
    *((SimilarUnlabeled(0.3, loss, "ReLU"), PAIRS) for loss in ("double hinge", "logistic")),
    *((SemiSupervisedSVM(2.0, 1.5, loss), TWO_CLASSES) for loss in LOSSES),
    (SemiSupervisedSVM(2.0, is_balanced=True), TWO_CLASSES),
    # All points labeled: each of them is in two sources.
    (SemiSupervisedSVM(2.0, 1.5), np.arange(40) % 2),
    (SemiSupervisedAUC(0.4), np.arange(40) % 2),
    (SemiSupervisedAUC(0.4), TWO_CLASSES),
    (SemiSupervisedOrdinal(0.6), CLASSES),
]


@each("problem, y", MEASURED)
def test_the_gradients_norm_is_that_of_the_numerical_gradient(make_task, problem, y):
    task = make_task(problem=problem, y=y, kernel=Gaussian(2.0), lam=0.3)
    K = task.kernel.matrix(task.X, task.X)
    norm = GradientNorm(task.problem, task.rows, K)
    for seed, scale in enumerate((0.0, 0.3, 3.0)):
        a = scale * np.random.default_rng(seed).normal(size=40)
        if scale == 0.0 and isinstance(problem, SemiSupervisedSVM):
            continue  # at 0 its loss of unlabeled points has a kink
        # J(a) = risk(K a) + lam / 2 a'Ka has the gradient K g, where ||grad J||^2 = g'Kg.
        gradient = numerical_gradient(lambda b: value(task, K, b), a, step=1e-5)
        assert norm.at(a, 0.3) == pytest.approx(gradient @ np.linalg.solve(K, gradient), rel=1e-6)
        assert norm.at(a, 0.3) > 1e-3


# The error of the random features: measured, bounded, predicted.

N_SEEDS, N_ITER = 300, 10


def make_sample(n_positive, n_negative, n_unlabeled, d):
    rng = np.random.default_rng(5)
    y = np.repeat([1, 0, -1], [n_positive, n_negative, n_unlabeled])
    return rng.normal(size=(len(y), d)), y


def task_of(X, y, seed, plan, *, gamma=0.4, sigma=0.7):
    problem = SemiSupervisedAUC(gamma)
    return Task(problem, Gaussian(sigma), X, problem.rows(y), plan, batch_size=4, seed=seed, dtype=X.dtype)


@pytest.fixture(scope="module")
def feature_errors():
    """The FeatureError of every iteration of many runs, which differ by their seed alone."""
    X, y = make_sample(8, 10, 22, 3)
    plan = Plan("constant", step_size=0.3, lam=0.2, n_features=8, n_iter=N_ITER)
    return [_run_with_twin(task_of(X, y, seed, plan), X[-20:]) for seed in range(N_SEEDS)]


def _run_with_twin(task, probes):
    model, errors = task.new_model(), []
    carried, twin = Carried(probes, model, with_variance=True), ExactTwin(task.kernel, probes)
    for iterate in solve(task, model, training=AllPoints(task, model), carried=[carried]):
        twin.advance(iterate.points, iterate.weights, iterate.step.size, iterate.step.decay)
        errors.append(twin.compare(carried.values, carried.variance))
    return errors


def averaged(feature_errors, name):
    """The mean over the seeds at every iteration."""
    return np.array([[getattr(error, name) for error in run] for run in feature_errors]).mean(axis=0)


@pytest.mark.weekly
def test_the_band_predicts_the_squared_error(feature_errors):
    ratio = averaged(feature_errors, "mean") / averaged(feature_errors, "band")
    # E V = E |f - h|^2 exactly. 300 runs leave 3.5 % of noise at one iteration and 2 % in the mean (bootstrap);
    # 12 000 agree within 0.5 %. Without the sample variance's m / (m - 1) the ratio would be 1.14.
    assert ratio[[0, 4, 9]] == pytest.approx(np.ones(3), abs=0.1)
    assert ratio.mean() == pytest.approx(1.0, abs=0.06)


def test_the_papers_bound_lies_above_the_error(feature_errors):
    mean, bound = averaged(feature_errors, "mean"), averaged(feature_errors, "bound")
    assert (mean > 0).all()
    assert (mean <= bound).all()


def test_the_bound_is_the_papers_formula(make_task):
    """Lemma 1: M^2 (kappa + phi)^2 sum_i |a_t^i|^2 with a_t^i = -eta_i prod_{j > i} (1 - eta_j lam)."""
    task = make_task(schedule="theta/t", step_size=1.5, n_iter=12)
    twin, weights, steps = ExactTwin(task.kernel, task.X[:3]), [], []
    for iterate in solve(task, task.new_model()):
        twin.advance(iterate.points, iterate.weights, iterate.step.size, iterate.step.decay)
        weights.append(np.abs(iterate.weights).sum())
        steps.append(iterate.step.size)
        a = [-eta * np.prod([1 - later * 0.2 for later in steps[i + 1 :]]) for i, eta in enumerate(steps)]
        assert twin.bound() == pytest.approx(max(weights) ** 2 * (1 + 1) ** 2 * np.square(a).sum(), rel=1e-12)


def test_errors_are_measured_as_they_are_named():
    twin = ExactTwin(Gaussian(1.0), np.zeros((3, 2), dtype=np.float32))
    twin.h[:] = [1.0, 2.0, -3.0]
    error = twin.compare(np.array([1.0, 4.0, -4.0], dtype=np.float32), np.array([0.5, 1.0, 3.0]))
    assert error == FeatureError(mean=5 / 3, largest=4.0, scale=14 / 3, bound=0.0, band=1.5)


def test_one_feature_has_no_spread_to_predict_from(make_task):
    task = make_task(n_features=1)
    model = task.new_model()
    carried = Carried(task.X[:3], model, with_variance=True)
    twin = ExactTwin(task.kernel, carried.X)
    for _ in solve(task, model, carried=[carried]):
        pass
    assert np.isnan(twin.compare(carried.values, carried.variance).band)


def test_the_twin_in_single_precision_is_that_in_double(make_task):
    single, double = (make_task(dtype=dtype, n_iter=20) for dtype in ("float32", "float64"))
    h = []
    for task in (single, double):
        twin = ExactTwin(task.kernel, task.X[:5])
        for iterate in solve(task, task.new_model()):
            twin.advance(iterate.points, iterate.weights, iterate.step.size, iterate.step.decay)
        h.append(twin.h)
    assert h[0].dtype == np.float32
    np.testing.assert_allclose(h[0], h[1], rtol=0, atol=1e-5)


def test_the_running_norm_never_becomes_negative():
    norm = SquaredNorm()
    block = np.array([[0.1, 0.1], [0.0, 0.0]])
    norm.advance(np.array([50.0]), np.array([1.0]), block, step=1.0, decay=1.0)
    assert norm.value == 0.0
    norm.advance(np.array([0.0]), np.array([1.0]), block, step=1.0, decay=1.0)
    assert norm.value == pytest.approx(2 * (0.1**2 + 0.1**2))


def test_dual_coefficients_add_up_where_a_row_is_drawn_twice():
    dual = DualCoefficients(4)
    dual.advance(np.array([1, 1, 3]), np.array([1.0, 2.0, 4.0], dtype=np.float32), step=0.5, decay=0.0)
    dual.advance(np.array([3]), np.array([1.0]), step=1.0, decay=0.5)
    assert dual.values.tolist() == [0.0, -0.75, 0.0, -2.0]


# --- four runs


# Of each setting with an exact optimum: a run that does well.
GOOD = {
    "auc": {
        "setting": "auc",
        "data": {"name": "two_moons", "n_labeled": 60},
        "kernel": {"name": "gaussian", "sigma": 10.0},
        "solver": {"step_size": 0.5, "lam": 0.01, "n_iter": 300},
    },
    "ordinal": {
        "setting": "ordinal",
        "data": {"name": "ordinal_rings", "n_labeled": 60},
        "kernel": {"name": "gaussian", "sigma": 10.0},
        "solver": {"step_size": 0.5, "lam": 0.01, "n_iter": 300},
    },
    "similar_unlabeled": {
        "setting": "similar_unlabeled",
        "problem": {"correction": "identity", "prior": 0.7},
        "data": {"name": "two_moons", "n_labeled": 60, "imbalance": 0.7},
        "kernel": {"name": "gaussian", "sigma": 10.0},
        "solver": {"step_size": 2.0, "schedule": "constant", "lam": 0.1, "n_iter": 300},
    },
}
# The change of the run, and its limit then.
FAULTS = {
    "too small a step": (lambda solver: {"step_size": solver["step_size"] / 50, "n_iter": 150}, "optimisation"),
    "too big a step": (lambda solver: {"step_size": solver["step_size"] * 20}, "optimisation"),
    "few features": (lambda solver: {"n_features": 2, "batch_size": 1024}, "features"),
    "small batches": (lambda solver: {"batch_size": 2, "n_features": 1024}, "batches"),
}


def spec_of(name, n=250, **solver):
    given = GOOD[name]
    return Spec.from_dict(given | {"data": given["data"] | {"n": n}, "solver": given["solver"] | solver})


@pytest.mark.weekly
@each("fault", FAULTS)
@each("name", GOOD)
def test_what_limits_a_run_is_found(name, fault):
    change, cause = FAULTS[fault]
    found = limits(spec_of(name, **change(GOOD[name]["solver"])), seeds=1)
    assert found.leading == cause
    assert not found.converged or cause != "optimisation"


@pytest.mark.weekly
@pytest.mark.parametrize("name", GOOD)
def test_the_remedy_brings_about_what_is_said(name):
    change, _ = FAULTS["small batches"]
    bad = spec_of(name, 400, **change(GOOD[name]["solver"]))
    found = limits(bad, seeds=2)
    plain = bad.to_dict()
    better = limits(Spec.from_dict(plain | {"solver": plain["solver"] | found.changes}), seeds=2)
    assert better.parts["together"] < found.parts["together"]
    assert found.expected / 1.5 < better.parts["together"] < found.expected * 1.5


def test_parts_and_remainder_make_the_whole():
    found = limits(spec_of("auc", n_iter=30), seeds=(3, 4))
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert found.seeds == (3, 4)
    run = found.runs[0]
    assert run.remainder + run.optimisation + run.batches + run.features == pytest.approx(run.together)


def test_four_runs_of_many_seeds_need_the_memory_of_a_few():
    spec = spec_of("auc", n_iter=60, n_features=4, batch_size=2)  # drawn batches are kept in any case
    n, peaks = len(load_split(spec).X_train), []
    for seeds in (3, 3, 13):  # what the first call keeps does not count
        tracemalloc.start()
        four_runs(spec, seeds)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    of_a_seed = 5 * 30 * n * 8  # values at about thirty recorded iterations
    assert peaks[2] - peaks[1] < 2 * of_a_seed


def test_the_noiseless_path_and_the_batches_path_are_plain_recursions():
    spec = spec_of("auc", n_iter=8, dtype="float64")
    (found,), split = four_runs(spec), load_split(spec)
    task = ENGINES["stochastic"](spec, split).task
    X = split.X_train.astype(float)
    K = np.array([[np.exp(-10.0 * np.sum((x - z) ** 2)) for z in X] for x in X])
    Q, linear = quadratic(task.problem, task.rows, len(X))
    g, b = np.zeros(len(X)), np.zeros(len(X))
    for t in range(1, 9):
        step, batch = task.plan.at(t), task.batch(t)
        slopes = Q @ g + linear
        g = (1 - step.size * step.lam) * g - step.size * K @ slopes
        c = task.problem.coefficients({source: b[rows] for source, rows in batch.items()})
        b = (1 - step.size * step.lam) * b
        for source, rows in batch.items():
            for row, weight in zip(rows, c[source], strict=True):
                b = b - step.size * weight * K[:, row]
    optimum = K @ np.linalg.solve(Q @ K + 0.01 * np.eye(len(X)), -linear)
    assert found.optimisation[-1] == pytest.approx(np.mean((g - optimum) ** 2))
    assert found.batches[-1] == pytest.approx(np.mean((b - g) ** 2))
    assert found.scale == pytest.approx(np.mean(optimum**2))


def test_many_features_make_the_whole_samples_run_the_noiseless_one():
    few, many = (four_runs(spec_of("auc", n_iter=30, n_features=m))[0] for m in (4, 4096))
    assert many.features[-1] < few.features[-1] / 100


def test_where_there_is_no_exact_optimum_the_way_goes_on_without_noise():
    spec = {"setting": "s3vm", "data": {"name": "two_moons", "n": 200, "n_labeled": 20}, "solver": {"n_iter": 60}}
    found = limits(Spec.from_dict(spec), seeds=2)
    assert not found.runs[0].is_exact
    assert np.isfinite(found.parts["together"])


def check(tmp_path, spec, *options):
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    return main(["check", str(tmp_path / "spec.json"), "--seeds", "1", *map(str, options)])


@pytest.mark.weekly
def test_the_command_says_the_verdict_by_its_exit_code_too(tmp_path, capsys):
    slow = spec_of("auc", step_size=0.01, n_iter=20).to_dict()
    assert check(tmp_path, slow, "--json", tmp_path / "v.json") == 1
    assert "has not converged" in capsys.readouterr().out
    verdict = json.loads((tmp_path / "v.json").read_text())
    assert verdict["converged"] is False
    assert verdict["leading"] == "optimisation"
    assert set(verdict["shares"]) == {"optimisation", "batches", "features", "remainder"}
    assert verdict["remedy"].startswith("Larger step: 0.01 → ")
    assert verdict["cause"] == "step"
    assert set(verdict["slopes"]) == {"error", "distance"}
    good = spec_of("ordinal", n_features=1024, batch_size=1024).to_dict()
    assert check(tmp_path, good) == 0
    assert check(tmp_path, {"setting": "auc", "solver": {"step_size": 1e5}}, "--json", tmp_path / "v.json") == 1
    assert "diverges" in capsys.readouterr().out
    assert json.loads((tmp_path / "v.json").read_text())["converged"] is False


# --- four runs on a page


SMALL = RUN | {"solver.batch_size": "2", "at": "64"}
SECONDS = 120


def said(app):
    assert not app.exception
    return " ".join(words.value for kind in (app.markdown, app.success, app.info, app.caption) for words in kind)


def when_done(app):
    """Draw the page again once its job is over."""
    job = bench_of(app).jobs.diagnosis.job
    assert job.wait(SECONDS)
    return app.run()


@pytest.mark.weekly
def test_the_judgement_uses_what_was_measured_and_another_measurement_says_what_its_remedy_brings():
    app = open_auc(**SMALL)
    app = when_done(app.button(key="find-limits").click().run())
    bench = bench_of(app)
    found = bench.jobs.diagnosis.job.result
    assert found.to_dict() == limits(bench.live.run.spec).to_dict()
    judged = judgement(bench.live.run, baseline=bench.live.supervised, limits=found)
    assert judged.cause is Cause.BATCHES
    assert judged != judgement(bench.live.run, baseline=bench.live.supervised)
    assert head(app)["judgement"]["said"] == judged.sentence
    page._apply(bench)
    app.run()
    assert app.session_state["batch_size"] == 8
    while not bench_of(app).live.is_finished:
        app.run()
    app = when_done(app.button(key="find-limits").click().run())
    after = bench_of(app).jobs.diagnosis.job.result
    assert "Effect of the change" in said(app)
    assert f"expected {found.expected:.3g}, it is now {after.parts['together']:.3g}" in said(app)
    assert after.parts["together"] < found.parts["together"]


@pytest.mark.ci
def test_a_job_that_is_cancelled_says_so_and_leaves_the_page_as_it_was():
    app = open_auc(**SMALL | {"solver.n_iter": "2048"})
    app = app.button(key="find-limits").click().run()
    app = app.button(key="limits-cancel").click().run()
    app = when_done(app)
    assert "Cancelled after" in said(app)
    assert not app.button(key="find-limits").disabled


def test_where_it_cannot_be_found_out_the_page_says_why():
    with pytest.raises(DiagnosticsError, match="draws new random features"):
        limits(Spec.from_dict({"setting": "multiclass"}))
    app = open_page("multiclass")
    assert "Not available: DSG Lab finds limits only if each iteration draws new random features" in said(app)
    assert "find-limits" not in [button.key for button in app.button]


def test_clicks_that_come_in_while_other_data_are_made_ready_do_nothing():
    bench = SimpleNamespace(live=None, diagnosis=None, given={}, wants_restart=False)
    _begin(bench)
    take(bench, {"step_size": 0.1})
    assert vars(bench) == {"live": None, "diagnosis": None, "given": {}, "wants_restart": False}


# --- the stability limit in studies


SPEC = {
    "setting": "auc",
    "data": {"name": "two_moons", "n": 200, "n_labeled": 20},
    "solver": {"n_iter": 60, "n_features": 8, "batch_size": 16},
}
STEPS = {"name": "solver.step_size", "values": [0.1, 1.0, 10.0, 100.0]}
WIDTHS = {"name": "kernel.sigma", "values": [0.5, 5.0]}


def made(tmp_path, *axes, **solver):
    study = Study.from_dict({"spec": {**SPEC, "solver": SPEC["solver"] | solver}, "axes": list(axes), "seeds": [0, 1]})
    store, runs = Store(tmp_path / "runs.sqlite"), StudyRuns(study)
    carry_out(study, store)
    runs.refresh(store)
    return runs.results("objective")


def views(results):
    return [axis_of(axis.name, axis.values, is_log=True) for axis in results.study.axes]


def line_of(figure):
    return [trace for trace in figure["data"] if trace.get("name") == LIMIT]


def test_above_the_limit_runs_grow_and_below_they_do_not():
    for seed in range(3):
        spec = Spec.from_dict({**SPEC, "seed": seed})
        limit = step_limit(Run(spec))
        ends = []
        for share in (0.5, 2.0):
            run = Run(Spec.from_dict({**SPEC, "seed": seed, "solver": SPEC["solver"] | {"step_size": share * limit}}))
            run.advance()
            ends.append(run.history.last()["objective"] / run.start_objective())
        assert ends[0] < 1.0 < ends[1]


def test_the_limit_does_not_depend_on_the_step_and_is_kept_with_the_run(tmp_path):
    results = made(tmp_path, STEPS)
    assert np.ptp(results.step_limit) == 0.0
    of_seeds = [step_limit(Run(Spec.from_dict({**SPEC, "seed": seed}))) for seed in (0, 1)]
    assert results.step_limit[0] == pytest.approx(np.mean(of_seeds))
    assert make_run(Spec.from_dict(SPEC).to_json())[1]["step_limit"] == of_seeds[0]


def test_steps_that_become_smaller_have_none(tmp_path):
    results = made(tmp_path, STEPS, schedule="theta/t")
    assert np.isnan(results.step_limit).all()
    assert line_of(charts.lines(results, views(results)[0], name="objective", chosen=None)) == []


@pytest.mark.ci
def test_it_is_an_upright_line_where_the_step_is_the_only_axis(tmp_path):
    results = made(tmp_path, STEPS)
    (line,) = line_of(charts.lines(results, views(results)[0], name="objective", chosen=None))
    assert line["x"] == [results.step_limit[0]] * 2
    assert line["yaxis"] == "y2"
    low = made(tmp_path, {**STEPS, "values": [0.01, 0.1]})
    assert line_of(charts.lines(low, views(low)[0], name="objective", chosen=None)) == []  # it would stretch the axis


@pytest.mark.weekly
@pytest.mark.parametrize("is_across", [True, False])
def test_it_goes_through_the_cells_of_a_map(tmp_path, is_across):
    results = made(tmp_path, *((STEPS, WIDTHS) if is_across else (WIDTHS, STEPS)))
    (line,) = line_of(charts.heat_map(results, views(results), name="objective", chosen=None))
    along, beside = (line["x"], line["y"]) if is_across else (line["y"], line["x"])
    assert beside == [-0.5, 0.5, 0.5, 1.5]
    limits = [results.step_limit[[p[is_across] == width for p in results.points]].mean() for width in WIDTHS["values"]]
    expected = 1.0 + np.log10(limits)  # the steps are powers of ten from 0.1 on
    np.testing.assert_allclose([along[0], along[2]], expected)
    others = made(tmp_path, WIDTHS, {"name": "solver.lam", "values": [0.01, 0.1]})
    assert line_of(charts.heat_map(others, views(others), name="objective", chosen=None)) == []


def test_parallel_lines_that_are_not_selected_are_grey_and_the_selected_one_has_a_colour(tmp_path):
    results = made(tmp_path, STEPS | {"values": [0.01, 0.05, 0.1, 0.5]})
    best, n_drawn = results.ranking()[0], int(np.isfinite(results.mean).sum())
    traces = parallel(
        results, views(results), name="objective", is_kept=results.mean == results.mean[best], chosen=None
    )["data"]
    drawn = {
        trace["line"]["color"]: sum(x == 0 for x in trace["x"]) for trace in traces if trace["line"]["dash"] == "solid"
    }
    grey = drawn.pop(charts.DIVERGED_COLOR)
    assert (list(drawn.values()), grey) == ([1], n_drawn - 1)


# --- a random part of many points


SETS = {
    "auc": {"name": "two_moons", "n_labeled": 20},
    "s3vm": {"name": "two_moons", "n_labeled": 20},
    "ordinal": {"name": "ordinal_rings", "n_labeled": 20},
    "similar_unlabeled": {"name": "two_moons", "n_labeled": 20, "imbalance": 0.7},
}


def large_spec(setting, n=300, **data):
    solver = {"n_iter": 12, "n_features": 8, "batch_size": 8}
    return Spec.from_dict({"setting": setting, "data": SETS[setting] | {"n": n} | data, "solver": solver})


@pytest.fixture
def few(monkeypatch):
    """Let a diagnosis use 100 points at most."""
    monkeypatch.setattr("dsgcore.diagnostics.references.MAX_POINTS", 100)


def large_task(spec):
    return settled_task(spec, load_split(spec))


@pytest.mark.parametrize("setting", SETS)
def test_the_part_is_random_by_the_seed_and_keeps_every_labeled_point(setting, few):
    task = large_task(large_spec(setting))
    own, again, other = (on_some_points(replace(task, seed=seed)) for seed in (3, 3, 4))
    assert len(own.X) == 100
    assert np.array_equal(own.X, again.X)
    assert not np.array_equal(own.X, other.X)
    labeled = [source for source in task.rows if source != "unlabeled"]
    for source in labeled:
        assert np.array_equal(own.X[own.rows[source]], task.X[task.rows[source]])
    assert sum(map(len, own.rows.values())) == 100
    assert own.problem == task.problem  # weights that depend on how many points there are stay those of the run
    assert own.plan.automatic_step == task.plan.automatic_step


def test_where_no_point_is_unlabeled_the_whole_part_is_the_third_source(few):
    task = large_task(large_spec("auc", n_labeled=210))
    own = on_some_points(task)
    assert len(own.X) == len(own.rows["unlabeled"]) == 100
    assert len(own.rows["positive"]) + len(own.rows["negative"]) == 100


def test_few_enough_points_are_all_used():
    task, found = large_task(large_spec("auc")), limits(large_spec("auc"), seeds=1)
    assert on_some_points(task) is task
    assert found.subsample is found.to_dict()["subsample"] is convergence(large_spec("auc"), 1).subsample is None


@pytest.mark.parametrize("setting", SETS)
def test_what_limits_a_run_on_many_points_is_found_and_says_on_which(setting, few):
    told = []
    found = limits(large_spec(setting), seeds=2, callback=told.append)
    n = len(load_split(large_spec(setting)).X_train)
    assert found.to_dict()["subsample"] == {"points": 100, "of": n, "seeds": [0, 1]}
    assert "Measured on 100 of the" in found.subsample.sentence()
    assert "Each seed (0, 1) draws its own points." in found.subsample.sentence()
    assert np.isfinite(found.parts["together"])
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)


def test_each_seed_has_its_own_part_so_that_the_spread_includes_the_choice(few):
    spec = large_spec("auc")
    scales = [run.scale for run in limits(spec, seeds=3).runs]
    assert len(set(scales)) == 3
    found = convergence(spec, 3)
    assert found.columns["scale"][:, -1] == pytest.approx(scales)
    assert found.columns["distance"][:, -1] == pytest.approx([four.together[-1] for four in four_runs(spec, 3)])
    assert found.subsample.seeds == (0, 1, 2)
    assert (found.subsample.points, found.subsample.of) == (100, 210)


def test_a_part_tells_about_what_all_points_tell(monkeypatch):
    spec = large_spec("auc", n=1200)
    whole = limits(spec, seeds=3)
    monkeypatch.setattr("dsgcore.diagnostics.references.MAX_POINTS", 420)
    part = limits(spec, seeds=3)
    assert part.leading == whole.leading
    assert part.parts["together"] == pytest.approx(whole.parts["together"], rel=0.25)


def big_file():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 2))
    rows = (
        f"{a:.4f},{b:.4f},{'yes' if a * b + 0.3 * c > 0 else 'no'}"
        for (a, b), c in zip(X, rng.normal(size=10_000), strict=True)
    )
    return "\n".join(["a,b,label", *rows]).encode()


@pytest.mark.ci
def test_a_file_of_10000_rows_is_checked_and_no_advice_is_given_that_a_file_cannot_follow(tmp_path, capsys):
    content = big_file()
    (tmp_path / "table.csv").write_bytes(content)
    spec, _ = own_spec(content, sniff(content, "table.csv", labels="binary"), setting="s3vm")
    spec = replace(spec, solver=replace(spec.solver, n_iter=2))
    (tmp_path / "spec.json").write_text(spec.to_json())
    code = main(["check", str(tmp_path / "spec.json"), "--seeds", "1", "--json", str(tmp_path / "out.json")])
    said = capsys.readouterr()
    assert code in (0, 1), said.err
    assert f"Measured on {MAX_POINTS:,} of the 7,500 training points, drawn at random with seed 0." in said.out
    assert json.loads((tmp_path / "out.json").read_text())["subsample"] == {"points": 4000, "of": 7500, "seeds": [0]}


def test_the_table_of_ways_says_how_many_points_were_used(few):
    spec = large_spec("auc")
    one = SimpleNamespace(name="the run", found=convergence(spec, 1), case=SimpleNamespace(spec=spec))
    first = next(csv.DictReader(table_of_ways([one]).splitlines()))
    assert (float(first["points"]), float(first["of_points"])) == (100, 210)


# --- the verdict


def naive_delong(y, f, g):
    """DeLong's interval as the paper writes it, for two classes: placements by two loops, two 2 x 2 covariances."""
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)

    def psi(v, p, n):
        return 1.0 if v[p] > v[n] else 0.5 if v[p] == v[n] else 0.0

    V10 = [[np.mean([psi(v, p, n) for n in negative]) for p in positive] for v in (f, g)]
    V01 = [[np.mean([psi(v, p, n) for p in positive]) for n in negative] for v in (f, g)]
    S = np.cov(V10) / len(positive) + np.cov(V01) / len(negative)
    return Z * np.sqrt(S[0, 0] + S[1, 1] - 2 * S[0, 1])


def draw(rng, n, k):
    """Classes, and two scores that follow them with noise which is partly the same: rounded, so that there are ties."""
    y = np.concatenate([np.arange(k).repeat(2), rng.integers(0, k, n - 2 * k)])
    shared = rng.normal(size=n)
    f, g = (np.round(y * slope + shared + rng.normal(size=n), 1) for slope in (1.0, 0.6))
    return y, f, g


def test_for_two_classes_the_interval_is_delongs():
    for seed in range(5):
        y, f, g = draw(np.random.default_rng(seed), 60, 2)
        assert_allclose(auc_half_width(y, f, g), naive_delong(y, f, g), rtol=1e-10)


def test_contributions_are_those_of_two_loops():
    y, f, _ = draw(np.random.default_rng(1), 50, 4)
    wins = np.zeros(len(y))
    for j in (1, 2, 3):
        above, below = np.flatnonzero(y >= j), np.flatnonzero(y < j)
        for p, n in itertools.product(above, below):
            won = (float(f[p] > f[n]) + 0.5 * float(f[p] == f[n])) / (len(above) * len(below) * 3)
            wins[p] += won
            wins[n] += won
    assert_allclose(contributions(y, f), wins, rtol=1e-12)


def test_the_interval_of_a_mean_auc_is_that_of_a_bootstrap():
    rng = np.random.default_rng(2)
    y, f, g = draw(rng, 400, 4)
    y, f, g = (v[np.argsort(y, kind="stable")] for v in (y, f, g))
    counts = np.bincount(y)
    starts = counts.cumsum() - counts
    differences = []
    for _ in range(2000):  # within the classes, whose sizes the interval takes as given
        rows = np.concatenate([s + rng.integers(0, n, n) for s, n in zip(starts, counts, strict=True)])
        differences.append(mean_auc(y[rows], f[rows]) - mean_auc(y[rows], g[rows]))
    # A standard deviation from 2000 draws is off by 1.6 %.
    assert_allclose(Z * np.std(differences), auc_half_width(y, f, g), rtol=0.06)


@pytest.mark.parametrize(
    ("n", "both", "won", "lost"), [(100, 0.8, 0.1, 0.05), (300, 0.9, 0.03, 0.03), (300, 0.98, 0, 0.01)]
)
def test_the_interval_of_an_accuracy_covers_in_nineteen_of_twenty_samples(n, both, won, lost):
    rng = np.random.default_rng(3)
    kinds = rng.choice(4, size=(2000, n), p=[both, won, lost, 1 - both - won - lost])
    covered = []
    for kind in kinds:
        hits, others = np.isin(kind, (0, 1)), np.isin(kind, (0, 2))
        covered.append(abs(hits.mean() - others.mean() - (won - lost)) <= accuracy_half_width(hits, others))
    # If few points separate the two, the interval is too wide rather than too narrow.
    assert 0.94 <= np.mean(covered) <= 0.995


def test_the_interval_of_an_accuracy_is_bonett_and_prices():
    hits, others = (
        np.repeat([True, True, False, False], [80, 9, 4, 7]),
        np.repeat([True, False, True, False], [80, 9, 4, 7]),
    )
    won, lost = 10 / 102, 5 / 102  # one more of each kind, and two more points
    expected = Z * np.sqrt((won + lost - (won - lost) ** 2) / 102)
    assert accuracy_half_width(hits, others) == pytest.approx(expected, rel=1e-12)


@each(
    "difference, half_width, verdict",
    [
        (0.02, 0.01, Effect.HELPS),
        (-0.02, 0.01, Effect.HURTS),
        (0.01, 0.015, Effect.TIE),
        (-0.01, 0.01, Effect.TIE),
        (0.0, 0.0, Effect.TIE),
    ],
)
def test_there_is_no_verdict_inside_the_interval(difference, half_width, verdict):
    assert Difference.around(difference, half_width, 60, "test points").effect is verdict


def test_too_few_points_have_no_interval_and_one_and_the_same_has_an_empty_one():
    hits = np.ones(29, dtype=bool)
    assert np.isnan(accuracy_half_width(hits, hits))
    y, f, g = draw(np.random.default_rng(5), 60, 2)
    assert auc_half_width(y, f, f) == 0
    few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:9]])
    assert np.isnan(auc_half_width(y[few], f[few], g[few]))
    assert np.isnan(auc_half_width(np.ones(40, dtype=int), np.arange(40.0), np.arange(40.0)))


def live_run(setting, *, solver=None, **data):
    given = {
        "setting": setting,
        "data": data,
        "diagnostics": {"n_probes": 0},
        "solver": {"n_iter": 30, "n_features": 32, **(solver or {})},
    }
    return LiveRun(Spec.from_dict(given))


DATA = {"similar_unlabeled": "gaussian_mixture", "ordinal": "ordinal_rings", "multiclass": "spirals"}


@pytest.mark.parametrize("average", [None, "tail"])
@pytest.mark.parametrize("setting", [setting for setting in SETTINGS if setting != "supervised"])  # it has no twin
def test_every_setting_has_its_interval(setting, average):
    live = live_run(setting, solver={"average": average}, name=DATA.get(setting, "two_moons"), n=200, n_labeled=20)
    assert gain_over_twin(live.run, live.supervised) is None
    live.advance()
    run_of_spec = gain_over_twin(live.run, live.supervised)
    column = "score_test" if average is None else "score_average"
    assert run_of_spec.mean == live.run.history.last()[column] - live.supervised.history.last()[column]
    if "no better than chance" in run_of_spec.reason:
        return
    assert 0 < run_of_spec.half_width < 0.2
    assert run_of_spec.effect is not None


def test_a_balanced_run_is_judged_by_the_same_points_as_its_score():
    plain = live_run("s3vm", name="two_moons", n=200, n_labeled=20).run.spec.to_dict()
    live = LiveRun(Spec.from_dict(plain | {"problem": plain["problem"] | {"is_balanced": True}}))
    live.advance()
    right = live.run.problem.hits(live.run.split.y_test, live.run.test_values + live.run.shift)
    assert live.run.shift != 0
    assert right.mean() == live.run.history.last()["score_test"]
    others = live.supervised.problem.hits(live.run.split.y_test, live.supervised.test_values)
    assert gain_over_twin(live.run, live.supervised).half_width == pytest.approx(accuracy_half_width(right, others))


def test_there_is_no_verdict_on_a_run_that_has_diverged_or_whose_twin_is_behind():
    live = live_run("auc", solver={"step_size": 20.0, "n_iter": 300}, name="two_moons", n=200, n_labeled=20)
    live.run.advance(5)
    live.supervised.advance(3)
    assert gain_over_twin(live.run, live.supervised) is None, "a twin that is behind is not compared"
    live.advance(7)
    growing = gain_over_twin(live.run, live.supervised)
    assert growing.effect is None
    assert "above its start" in growing.reason
    live.advance()
    assert live.run.stop_reason is StopReason.DIVERGED
    run_of_spec = gain_over_twin(live.run, live.supervised)
    assert run_of_spec is None or (run_of_spec.effect is None and "diverged" in run_of_spec.reason)


def test_there_is_no_verdict_on_few_test_points():
    live = live_run("s3vm", name="two_moons", n=80, n_labeled=20)
    live.advance()
    run_of_spec = gain_over_twin(live.run, live.supervised)
    assert run_of_spec.effect is None
    assert "too few test points" in run_of_spec.reason


# --- the outcome, compared with other measurements of the same run


def short_run(setting, **solver):
    spec = default_spec(setting)
    spec = replace(spec, data=replace(spec.data, n=200, n_labeled=20))
    return replace(spec, solver=replace(spec.solver, n_iter=30, n_features=8, **solver))


def run_of_spec(spec):
    live = LiveRun(spec)
    live.advance()
    return live


@pytest.mark.parametrize("setting", ["auc", "ordinal"])
def test_distances_to_the_minimiser_are_those_of_the_four_runs(setting):
    live = run_of_spec(short_run(setting))
    (four,) = four_runs(live.run.spec, split=live.run.split)
    measured = outcome_of(live, {"distance"})
    assert measured["distance"] == pytest.approx(four.together[-1] / four.scale, rel=1e-3)
    assert measured["overstated"] == pytest.approx(four.error[-1] / four.together[-1], rel=1e-2)
    assert "distance" not in outcome_of(live)


@pytest.mark.parametrize("setting", ["s3vm", "multiclass"])
def test_a_risk_that_is_not_quadratic_has_no_distance(setting):
    assert "distance" not in outcome_of(run_of_spec(short_run(setting)), {"distance"})


def test_an_outcome_has_the_size_of_the_model_and_the_averages_gain():
    live = run_of_spec(short_run("auc", average="tail"))
    row, measured = live.run.history.last(), outcome_of(live)
    assert measured["matrix_share"] * 140**2 == pytest.approx(2 * 30 * 8)
    assert measured["averaging"] == row["objective"] - row["objective_average"]
