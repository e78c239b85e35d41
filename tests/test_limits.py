import json

import numpy as np
import pytest
from cases import each

from dsgcore.__main__ import main
from dsgcore.diagnostics import four_runs, limits
from dsgcore.experiments import Run, Spec
from dsgcore.experiments.engine import engine_for
from dsgcore.experiments.loading import load_split
from dsgcore.solver.diagnostics import DiagnosticsError

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


def test_the_method_is_the_run_itself_and_its_error_the_pages():
    spec = spec_of("auc", n_iter=20)
    found = four_runs(spec)
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
    found, split = four_runs(spec), load_split(spec)
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


def test_many_features_make_the_whole_samples_run_the_noiseless_one():
    few, many = (four_runs(spec_of("auc", n_iter=30, n_features=m)) for m in (4, 4096))
    assert many.features[-1] < few.features[-1] / 100


def test_where_there_is_no_exact_optimum_the_way_goes_on_without_noise():
    spec = {"setting": "s3vm", "data": {"name": "two_moons", "n": 200, "n_labeled": 20}, "solver": {"n_iter": 60}}
    found = limits(Spec.from_dict(spec), seeds=2)
    assert not found.runs[0].is_exact
    assert np.isfinite(found.parts["together"])


def test_another_kind_of_method_gets_one_sentence():
    with pytest.raises(DiagnosticsError, match="draws new random features"):
        limits(Spec.from_dict({"setting": "multiclass"}))


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
    assert verdict["remedy"]
    assert set(verdict["slopes"]) == {"error", "distance"}
    good = spec_of("ordinal", n_features=1024, batch_size=1024).to_dict()
    assert check(tmp_path, good) == 0
    assert check(tmp_path, {"setting": "auc", "solver": {"step_size": 1e5}}, "--json", tmp_path / "v.json") == 1
    assert "diverges" in capsys.readouterr().out
    assert json.loads((tmp_path / "v.json").read_text())["converged"] is False
