"""What limits a run, its stability limit, a random part of many points, and the verdict on a run and its twin."""

import csv
import json
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each
from naive_problems import quadratic
from opened_pages import bench_of, checked, open_auc
from own_tables import own_spec, sniff
from small_specs import finished, small

from dsgcore.__main__ import main
from dsgcore.diagnostics import convergence, four_runs, judgement, limits
from dsgcore.diagnostics.references import MAX_POINTS, on_some_points, paths_of_four_runs, references, settled_task
from dsgcore.experiments import Run, Spec
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.engine import ENGINES
from dsgcore.experiments.run import step_limit
from dsgcore.kernels import Gaussian
from dsgcore.problems import SemiSupervisedAUC
from dsgcore.solver import measures
from dsgcore.solver.loop import AllPoints, Carried, solve
from dsgcore.solver.measures import DiagnosticsError, ExactTwin, GradientNorm, SquaredNorm, slope
from dsgcore.studies import Study, StudyRuns, carry_out
from dsgcore.studies.runs import make_run
from pages.studies import study_charts as charts
from pages.studies.trajectory_showing import table_of_ways
from pages.workbench.steering import take
from pages.workbench.tabs import _begin

# --- slopes, the exact optimum and the gradient's norm


def test_the_slope_is_that_of_least_squares_over_the_points_that_have_logarithms():
    x, y = np.log([1.0, 2.0, 5.0, 9.0]), np.log([3.0, 1.0, 2.0, 0.1])
    assert slope(np.exp(x), np.exp(y)) == pytest.approx(np.cov(x, y)[0, 1] / np.var(x, ddof=1), rel=1e-12)
    some = [1, 2, 4, 8, 0, -1, 3, 3, 3, np.inf, np.nan, 3], [1, 4, 16, 64, 1, 1, 0, -1, np.nan, 1, 1, np.inf]
    assert slope(*some) == pytest.approx(2.0, rel=1e-12)
    for too_few in (([], []), ([1.0], [2.0]), ([1.0, 2.0], [1.0, np.nan]), ([1, 2], [0, 0])):
        assert np.isnan(slope(*too_few))


def test_too_many_points_for_the_exact_optimum_are_refused():
    n = measures.MAX_EXACT_POINTS + 1
    nothing = np.broadcast_to(0.0, (n, n))  # of no memory
    with pytest.raises(DiagnosticsError, match=r"^the gradient's norm needs .* at most 6000 points, got 6001$"):
        GradientNorm(SemiSupervisedAUC(), {}, nothing)


# --- the error of the random features: measured, bounded, predicted


def errors_of_a_run(task):
    """The errors at every iteration of a run on twenty points, which it does not learn from alone."""
    model, errors = task.new_model(), []
    carried, twin = Carried(task.X[-20:], model, with_variance=True), ExactTwin(task.kernel, task.X[-20:])
    for iterate in solve(task, model, training=AllPoints(task, model), carried=[carried]):
        twin.advance(iterate.points, iterate.weights, iterate.step.size, iterate.step.decay)
        errors.append(twin.compare(carried.values, carried.variance))
    return [(error["error_mean"], error["bound"], error["band"]) for error in errors]


@pytest.mark.parametrize("n_seeds", [60, pytest.param(300, marks=pytest.mark.weekly)])
def test_in_the_mean_the_papers_bound_lies_above_the_squared_error_and_the_band_predicts_it(n_seeds, make_task):
    tasks = (make_task(seed=seed, n_features=8, n_iter=10) for seed in range(n_seeds))
    mean, bound, band = np.mean([errors_of_a_run(task) for task in tasks], axis=0).T
    assert (mean > 0).all()
    assert (mean <= bound).all()
    # E V = E |f - h|^2 exactly. 300 runs leave 3.5 % of noise at one iteration and 2 % in the mean (bootstrap);
    # 12 000 agree within 0.5 %. Without the sample variance's m / (m - 1) the ratio would be 1.14.
    noise = np.sqrt(300 / n_seeds)
    assert (mean / band)[[0, 4, 9]] == pytest.approx(np.ones(3), abs=0.1 * noise)
    assert np.mean(mean / band) == pytest.approx(1.0, abs=0.06 * noise)


def exact_twin_of(task, n_points, each=lambda iterate, twin: None):
    """The twin of a task's run on its first points; each iteration is looked at."""
    twin = ExactTwin(task.kernel, task.X[:n_points])
    for iterate in solve(task, task.new_model()):
        twin.advance(iterate.points, iterate.weights, iterate.step.size, iterate.step.decay)
        each(iterate, twin)
    return twin


def test_the_bound_is_the_papers_formula_and_the_twin_in_single_precision_is_that_in_double(make_task):
    """Lemma 1: M^2 (kappa + phi)^2 sum_i |a_t^i|^2 with a_t^i = -eta_i prod_{j > i} (1 - eta_j lam)."""
    weights, steps = [], []

    def compare(iterate, twin):
        weights.append(np.abs(iterate.weights).sum())
        steps.append(iterate.step.size)
        a = [-eta * np.prod([1 - later * 0.2 for later in steps[i + 1 :]]) for i, eta in enumerate(steps)]
        assert twin.bound() == pytest.approx(max(weights) ** 2 * (1 + 1) ** 2 * np.square(a).sum(), rel=1e-12)

    exact_twin_of(make_task(schedule="theta/t", step_size=1.5, n_iter=12), 3, compare)
    single, double = (exact_twin_of(make_task(dtype=dtype, n_iter=20), 5).h for dtype in ("float32", "float64"))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, rtol=0, atol=1e-5)


def test_errors_are_measured_as_they_are_named_and_one_feature_has_no_spread_to_predict_from(make_task):
    twin = ExactTwin(Gaussian(1.0), np.zeros((3, 2), dtype=np.float32))
    twin.h[:] = [1.0, 2.0, -3.0]
    error = twin.compare(np.array([1.0, 4.0, -4.0], dtype=np.float32), np.array([0.5, 1.0, 3.0]))
    assert error == {"error_mean": 5 / 3, "error_max": 4.0, "h_squared": 14 / 3, "bound": 0.0, "band": 1.5}
    task = make_task(n_features=1)
    model = task.new_model()
    carried = Carried(task.X[:3], model, with_variance=True)
    list(solve(task, model, carried=[carried]))
    assert np.isnan(twin.compare(carried.values, carried.variance)["band"])


def test_the_running_norm_never_becomes_negative():
    norm = SquaredNorm()
    block = np.array([[0.1, 0.1], [0.0, 0.0]])
    norm.advance(np.array([50.0]), np.array([1.0]), block, step=1.0, decay=1.0)
    assert norm.value == 0.0
    norm.advance(np.array([0.0]), np.array([1.0]), block, step=1.0, decay=1.0)
    assert norm.value == pytest.approx(2 * (0.1**2 + 0.1**2))


# --- four runs


# Of each setting with an exact optimum: a run that does well.
GOOD = {
    "auc": {"data": {"name": "two_moons"}, "solver": {"step_size": 0.5, "lam": 0.01}},
    "ordinal": {"data": {"name": "ordinal_rings"}, "solver": {"step_size": 0.5, "lam": 0.01}},
    "similar_unlabeled": {
        "problem": {"correction": "identity", "prior": 0.7},
        "data": {"name": "two_moons", "imbalance": 0.7},
        "solver": {"step_size": 2.0, "schedule": "constant", "lam": 0.1},
    },
}
for name, good in GOOD.items():
    good |= {"setting": name, "kernel": {"name": "gaussian", "sigma": 10.0}}
    good["data"]["n_labeled"], good["solver"]["n_iter"] = 60, 300


def spec_of(name, n=250, **solver):
    given = GOOD[name]
    return Spec.from_dict(given | {"data": given["data"] | {"n": n}, "solver": given["solver"] | solver})


@pytest.mark.weekly
@each("name", GOOD)
def test_the_remedy_brings_about_what_is_said(name):
    bad = spec_of(name, 400, batch_size=2, n_features=1024)
    found = limits(bad, seeds=2)
    better = limits(judgement(finished(bad), limits=found).changed(bad), seeds=2)
    assert better.parts["together"] < found.parts["together"]
    assert found.expected / 1.5 < better.parts["together"] < found.expected * 1.5


def test_parts_and_remainder_make_the_whole_also_without_an_exact_optimum_and_many_features_leave_none():
    found = limits(spec_of("auc", n_iter=30), seeds=(3, 4))
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert found.seeds == (3, 4)
    found = limits(small("s3vm"), seeds=2)
    assert not found.runs[0].is_exact
    assert np.isfinite(found.parts["together"])
    few, many = (four_runs(spec_of("auc", n_iter=30, n_features=m))[0] for m in (4, 4096))
    assert many.features[-1] < few.features[-1] / 100


def test_four_runs_of_many_seeds_need_the_memory_of_a_few():
    spec = spec_of("auc", n_iter=60, n_features=4, batch_size=2)  # drawn batches are kept in any case
    n, peaks = len(load_split(spec).X_train), []
    for seeds in (13, 3, 13):  # what the first call keeps does not count
        tracemalloc.start()
        four_runs(spec, seeds)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    of_a_seed = 5 * 30 * n * 8  # values at about thirty recorded iterations
    assert peaks[2] - peaks[1] < of_a_seed, "ten more seeds would need ten times as much"


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


def test_without_an_exact_optimum_the_ends_are_where_a_noiseless_step_moves_nothing():
    spec = small("similar_unlabeled", solver={"lam": 1.0, "step_size": 0.5, "n_iter": 10})
    ((_, reference),), (found,) = references([task_of(spec)]), paths_of_four_runs(spec, 1, None)
    assert not found.is_exact
    for end in (found.of_f, found.end):
        assert np.linalg.norm(end + reference.K @ reference.whole.slopes(end)) < 1e-5 * np.linalg.norm(end)


def test_a_diagnosed_run_begins_at_0_though_the_spec_has_an_exact_start():
    (found,), (of_started,) = (four_runs(spec_of("auc", n_iter=8, start=start)) for start in (None, "exact"))
    np.testing.assert_array_equal(of_started.together, found.together)


def check(tmp_path, spec, *options):
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    return main(["check", str(tmp_path / "spec.json"), "--seeds", "1", *map(str, options)])


@pytest.mark.weekly
def test_the_command_says_the_verdict_by_its_exit_code_too(tmp_path, capsys):
    file = tmp_path / "v.json"
    assert check(tmp_path, spec_of("auc", step_size=0.01, n_iter=20).to_dict(), "--json", file) == 1
    assert "has not converged" in capsys.readouterr().out
    verdict = json.loads(file.read_text())
    assert [verdict[name] for name in ("converged", "leading", "cause")] == [False, "optimisation", "step"]
    assert set(verdict["shares"]) == {"optimisation", "batches", "features", "remainder"}
    assert verdict["remedy"].startswith("Larger step: 0.01 → ")
    assert set(verdict["slopes"]) == {"error", "distance"}
    assert check(tmp_path, spec_of("ordinal", n_features=1024, batch_size=1024).to_dict()) == 0
    assert check(tmp_path, {"setting": "auc", "solver": {"step_size": 1e5}}, "--json", file) == 1
    assert "diverges" in capsys.readouterr().out
    assert json.loads(file.read_text())["converged"] is False


# --- four runs on a page


@pytest.mark.ci
def test_a_job_that_is_cancelled_says_so_and_leaves_the_page_as_it_was():
    link = {"data.name": "two_moons", "data.n": "200", "solver.n_iter": "2048", "at": "64"}
    app = open_auc(**link).button(key="find-limits").click().run()
    app = app.button(key="limits-cancel").click().run()
    assert bench_of(app).jobs.diagnosis.job.wait(120)
    app = checked(app.run())
    assert any("Cancelled after" in caption.value for kind in (app.caption, app.info, app.markdown) for caption in kind)
    assert not app.button(key="find-limits").disabled


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


def test_above_the_limit_runs_grow_and_below_they_do_not():
    for seed in range(3):
        limit = step_limit(Run(Spec.from_dict({**SPEC, "seed": seed})))
        ends = []
        for share in (0.5, 2.0):
            solver = SPEC["solver"] | {"step_size": share * limit}
            run = finished(Spec.from_dict({**SPEC, "seed": seed, "solver": solver}))
            ends.append(run.history.last()["objective"] / run.start_objective)
        assert ends[0] < 1.0 < ends[1]


def test_the_limit_does_not_depend_on_the_step_is_kept_with_the_run_and_is_none_of_a_step_that_shrinks(store):
    of_seeds = [step_limit(Run(Spec.from_dict({**SPEC, "seed": seed}))) for seed in (0, 1)]
    assert make_run(Spec.from_dict(SPEC).to_json())[1]["step_limit"] == of_seeds[0]
    steps = {"name": "solver.step_size", "values": [0.1, 1.0, 10.0, 100.0]}
    for solver, limit in (({}, np.mean(of_seeds)), ({"schedule": "theta/t"}, np.nan)):
        spec = {**SPEC, "solver": SPEC["solver"] | solver}
        runs = StudyRuns(Study.from_dict({"spec": spec, "axes": [steps], "seeds": [0, 1]}))
        carry_out(runs.study, store)
        runs.refresh(store)
        results = runs.results("objective")
        assert results.step_limit == pytest.approx([limit] * 4, nan_ok=True)
        drawn = charts.lines(results, charts.axes_of(runs.study)[0], name="objective", chosen=None)["data"]
        lines = [trace["x"] for trace in drawn if trace.get("name") == charts.LIMIT]
        assert lines == ([] if solver else [[results.step_limit[0]] * 2])


# --- a random part of many points


SETS = {name: {"name": "two_moons", "n_labeled": 20} for name in ("auc", "s3vm", "similar_unlabeled")}
SETS["similar_unlabeled"]["imbalance"] = 0.7
SETS["ordinal"] = {"name": "ordinal_rings", "n_labeled": 20}


def task_of(spec):
    return settled_task(spec, load_split(spec))


def large_spec(setting, n=300, **data):
    solver = {"n_iter": 12, "n_features": 8, "batch_size": 8}
    return Spec.from_dict({"setting": setting, "data": SETS[setting] | {"n": n} | data, "solver": solver})


@pytest.fixture
def few(monkeypatch):
    """Let a diagnosis use 100 points at most."""
    monkeypatch.setattr("dsgcore.diagnostics.references.MAX_POINTS", 100)


@pytest.mark.parametrize("setting", SETS)
def test_the_part_is_random_by_the_seed_and_keeps_every_labeled_point(setting, few):
    task = task_of(large_spec(setting))
    own, again, other = (on_some_points(replace(task, seed=seed)) for seed in (3, 3, 4))
    assert len(own.X) == sum(map(len, own.rows.values())) == 100
    assert np.array_equal(own.X, again.X)
    assert not np.array_equal(own.X, other.X)
    for source in set(task.rows) - {"unlabeled"}:
        assert np.array_equal(own.X[own.rows[source]], task.X[task.rows[source]])
    assert own.problem == task.problem  # weights that depend on how many points there are stay those of the run
    assert own.plan.automatic_step == task.plan.automatic_step


def test_without_unlabeled_points_the_whole_part_is_the_third_source_and_few_enough_points_are_all_used(monkeypatch):
    spec = large_spec("auc")
    task = task_of(spec)
    assert on_some_points(task) is task
    assert limits(spec, seeds=1).to_dict()["subsample"] is convergence(spec, 1).subsample is None
    monkeypatch.setattr("dsgcore.diagnostics.references.MAX_POINTS", 100)
    own = on_some_points(task_of(large_spec("auc", n_labeled=210)))
    assert len(own.X) == len(own.rows["unlabeled"]) == 100
    assert len(own.rows["positive"]) + len(own.rows["negative"]) == 100


@pytest.mark.parametrize("setting", SETS)
def test_what_limits_a_run_on_many_points_is_found_on_a_part_of_its_own_for_each_seed(setting, few):
    told, spec = [], large_spec(setting)
    found = limits(spec, seeds=2, callback=told.append)
    assert found.to_dict()["subsample"] == {"points": 100, "of": len(load_split(spec).X_train), "seeds": [0, 1]}
    assert "Measured on 100 of the" in found.subsample.sentence()
    assert "Each seed (0, 1) draws its own points." in found.subsample.sentence()
    assert np.isfinite(found.parts["together"])
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert found.runs[0].scale != found.runs[1].scale, "the spread includes the choice"
    if setting == "auc":
        way = convergence(spec, 2)
        assert way.columns["scale"][:, -1] == pytest.approx([run.scale for run in found.runs])
        assert way.columns["distance"][:, -1] == pytest.approx([four.together[-1] for four in four_runs(spec, 2)])
        one = SimpleNamespace(name="the run", found=way, case=SimpleNamespace(spec=spec))
        first = next(csv.DictReader(table_of_ways([one]).splitlines()))
        assert (float(first["points"]), float(first["of_points"])) == (100, 210)


def test_a_part_tells_about_what_all_points_tell(monkeypatch):
    spec = large_spec("auc", n=1200)
    whole = limits(spec, seeds=3)
    monkeypatch.setattr("dsgcore.diagnostics.references.MAX_POINTS", 420)
    part = limits(spec, seeds=3)
    assert part.leading == whole.leading
    assert part.parts["together"] == pytest.approx(whole.parts["together"], rel=0.25)


@pytest.mark.ci
def test_a_file_of_10000_rows_is_checked(tmp_path, capsys):
    points = np.random.default_rng(0).normal(size=(10_000, 3))
    rows = (f"{a:.4f},{b:.4f},{'yes' if a * b + 0.3 * c > 0 else 'no'}" for a, b, c in points)
    content = "\n".join(["a,b,label", *rows]).encode()
    (tmp_path / "table.csv").write_bytes(content)
    spec, _ = own_spec(content, sniff(content, "table.csv", labels="binary"), setting="s3vm")
    spec = replace(spec, solver=replace(spec.solver, n_iter=2))
    assert check(tmp_path, spec.to_dict(), "--json", tmp_path / "out.json") in (0, 1)
    said = f"Measured on {MAX_POINTS:,} of the 7,500 training points, drawn at random with seed 0."
    assert said in capsys.readouterr().out
    assert json.loads((tmp_path / "out.json").read_text())["subsample"] == {"points": 4000, "of": 7500, "seeds": [0]}
