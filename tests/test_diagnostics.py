"""What limits a run, its stability limit, a random part of many points, and the verdict on a run and its twin."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from live_page import head
from numpy.testing import assert_allclose
from opened_pages import bench_of, open_auc, open_page
from test_studies import Here

from dsgcore.core.metrics import Difference, Effect, Z, accuracy_half_width, auc_half_width
from dsgcore.diagnostics import Cause, convergence, four_runs, judgement, limits
from dsgcore.diagnostics.references import on_some_points, settled_task
from dsgcore.experiments import SETTINGS, LiveRun, Run, Spec, default_spec, outcome_of
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.engine import engine_for
from dsgcore.experiments.run import step_limit
from dsgcore.experiments.verdict import gain_over_twin
from dsgcore.kernels import Gaussian
from dsgcore.problems import SemiSupervisedAUC, objective
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import LOSSES, SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import CORRECTIONS, SimilarUnlabeled
from dsgcore.problems.thresholds import mean_auc
from dsgcore.solver.carried import AllPoints, Carried
from dsgcore.solver.exact import (
    MAX_EXACT_POINTS,
    DiagnosticsError,
    ExactTwin,
    GradientNorm,
    exact_optimum,
    slope,
)
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import Plan
from dsgcore.solver.task import Task
from dsgcore.studies import Pool, Store, Study, StudyRuns, carry_out
from dsgcore.studies.processes import make_run
from pages.workbench import page

# Slopes.


@given(st.floats(-3, 3), st.floats(1e-3, 1e3))
def test_the_slope_of_a_power_law_is_its_exponent(exponent, factor):
    t = np.arange(1, 50)
    assert slope(t, factor * t**exponent) == pytest.approx(exponent, abs=1e-9)


@pytest.mark.parametrize(("x", "y"), [([], []), ([1.0], [2.0]), ([1.0, 2.0], [1.0, np.nan]), ([1, 2], [0, 0])])
def test_fewer_than_two_points_have_no_slope(x, y):
    assert np.isnan(slope(x, y))


# The exact optimum.


def value(task, K, a):
    """The objective with its ridge at f = K a, from the problem's own risk."""
    f = K @ a
    risk = objective(task.problem.risk_terms({source: f[rows] for source, rows in task.rows.items()}))
    return risk + 0.5 * task.plan.lam * float(a @ K @ a)


def numerical_gradient(function, x, step=1e-4):
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in step * np.eye(len(x))])


def test_too_many_points_for_the_exact_optimum_are_refused():
    n = MAX_EXACT_POINTS + 1
    nothing = np.broadcast_to(0.0, (n, n))  # of no memory
    with pytest.raises(DiagnosticsError) as caught:
        exact_optimum(nothing, nothing, np.zeros(n), 1.0)
    assert str(caught.value) == "the exact optimum needs 6001 x 6001 matrices, 0.8 GB; at most 6000 points"
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


# --- four runs


# Kernel matrices at every step: without the compiler they take long, and nothing here depends on it.

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


def spec_of(name, n=250, **solver):
    given = GOOD[name]
    return Spec.from_dict(given | {"data": given["data"] | {"n": n}, "solver": given["solver"] | solver})


def test_parts_and_remainder_make_the_whole():
    found = limits(spec_of("auc", n_iter=30), seeds=(3, 4))
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert found.seeds == (3, 4)
    run = found.runs[0]
    assert run.remainder + run.optimisation + run.batches + run.features == pytest.approx(run.together)


def test_the_method_is_the_run_itself_and_its_error_the_pages():
    spec = spec_of("auc", n_iter=20)
    (found,) = four_runs(spec)
    run = Run(spec)
    run.advance()
    split = load_split(spec)
    task = engine_for(spec, split).task
    K = task.kernel.matrix(split.X_train.astype(float), split.X_train.astype(float))
    h = K @ run.engine.dual.values
    assert found.error[-1] == pytest.approx(np.mean((run.training_values - h) ** 2), rel=1e-3)
    assert found.t[-1] == 20


def test_the_noiseless_path_and_the_batches_path_are_plain_recursions():
    spec = spec_of("auc", n_iter=8, dtype="float64")
    (found,), split = four_runs(spec), load_split(spec)
    task = engine_for(spec, split).task
    X = split.X_train.astype(float)
    K = np.array([[np.exp(-10.0 * np.sum((x - z) ** 2)) for z in X] for x in X])
    Q, linear = task.problem.quadratic(task.rows, len(X))
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


def test_where_there_is_no_exact_optimum_the_way_goes_on_without_noise():
    spec = {"setting": "s3vm", "data": {"name": "two_moons", "n": 200, "n_labeled": 20}, "solver": {"n_iter": 60}}
    found = limits(Spec.from_dict(spec), seeds=2)
    assert not found.runs[0].is_exact
    assert np.isfinite(found.parts["together"])


# --- four runs on a page


SMALL = RUN | {"solver.batch_size": "2", "at": "64"}
SECONDS = 120


def said(app):
    assert not app.exception
    return " ".join(words.value for kind in (app.markdown, app.success, app.info, app.caption) for words in kind)


def when_done(app):
    """Draw the page again once its job is over."""
    job = bench_of(app).diagnosis.job
    assert job.wait(SECONDS)
    return app.run()


@pytest.mark.ci
def test_the_judgement_uses_what_was_measured_and_another_measurement_says_what_its_remedy_brings():
    app = open_auc(**SMALL)
    app = when_done(app.button(key="find-limits").click().run())
    bench = bench_of(app)
    found = bench.diagnosis.job.result
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
    after = bench_of(app).diagnosis.job.result
    assert "Effect of the change" in said(app)
    assert f"expected {found.expected:.3g}, it is now {after.parts['together']:.3g}" in said(app)
    assert after.parts["together"] < found.parts["together"]


def test_where_it_cannot_be_found_out_the_page_says_why():
    app = open_page("multiclass")
    assert "Not available: DSG Lab finds limits only if each iteration draws new random features" in said(app)
    assert "find-limits" not in [button.key for button in app.button]


# --- the stability limit in studies


SPEC = {
    "setting": "auc",
    "data": {"name": "two_moons", "n": 200, "n_labeled": 20},
    "solver": {"n_iter": 60, "n_features": 8, "batch_size": 16},
}
STEPS = {"name": "solver.step_size", "values": [0.1, 1.0, 10.0, 100.0]}


def made(tmp_path, *axes, **solver):
    study = Study.from_dict({"spec": {**SPEC, "solver": SPEC["solver"] | solver}, "axes": list(axes), "seeds": [0, 1]})
    store, runs = Store(tmp_path / "runs.sqlite"), StudyRuns(study)
    carry_out(study, store, Pool(Here()))
    runs.refresh(store)
    return runs.results("objective")


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


@pytest.mark.parametrize("setting", SETS)
def test_what_limits_a_run_on_many_points_is_found_and_says_on_which(setting, few):
    told = []
    found = limits(large_spec(setting), seeds=2, callback=told.append)
    assert found.to_dict()["subsample"] == {
        "points": 100,
        "of": len(load_split(large_spec(setting)).X_train),
        "seeds": [0, 1],
    }
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


@pytest.mark.parametrize(
    ("difference", "half_width", "verdict"),
    [
        (0.02, 0.01, Effect.HELPS),
        (-0.02, 0.01, Effect.HURTS),
        (0.01, 0.015, Effect.TIE),
        (-0.01, 0.01, Effect.TIE),
    ],
)
def test_there_is_no_verdict_inside_the_interval(difference, half_width, verdict):
    assert Difference.around(difference, half_width, 60, "test points").effect is verdict


def test_too_few_points_have_no_interval():
    hits = np.ones(29, dtype=bool)
    assert np.isnan(accuracy_half_width(hits, hits))
    y, f, g = draw(np.random.default_rng(5), 60, 2)
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


def test_a_model_is_as_large_as_its_iterations_and_features_make_it():
    measured = outcome_of(run_of_spec(short_run("auc")))
    assert measured["matrix_share"] * 140**2 == pytest.approx(2 * 30 * 8)
