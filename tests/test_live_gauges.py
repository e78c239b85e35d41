from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each, some
from small_specs import finished
from test_diagnostics import GOOD

from dsgcore.core.metrics import Effect
from dsgcore.diagnostics import Gauge, Light, LiveGauges, live_gauges
from dsgcore.experiments import SETTINGS, LiveRun, Run, Spec, StopReason, default_spec
from dsgcore.experiments.step_limit import step_limit
from dsgcore.experiments.verdict import at_chance, fallen_from, gain_over_twin
from dsgcore.kernels import KERNELS
from dsgcore.solver.gauges import BatchSpread, Gauges

# Runs to their ends: without the compiler they take long, and nothing here depends on it.

DATA = {name: given | {"data": given["data"] | {"n": 400}} for name, given in GOOD.items()}
DATA["s3vm"] = {"solver": {"step_size": 0.1}}
# The change of a run, and the gauge that must lead then.
FAULTS = {
    "too small a step": (lambda step: {"step_size": step / 50, "n_iter": 150}, "Iterations"),
    "twenty times the step": (lambda step: {"step_size": step * 20}, "Step"),
    "four features": (lambda step: {"n_features": 4, "batch_size": 2048}, "Features"),
    "batches of two": (lambda step: {"batch_size": 2, "n_features": 1024}, "Batches"),
}


def spec_of(name, seed=0, **solver):
    given = DATA[name]
    return Spec.from_dict(given | {"setting": name, "seed": seed, "solver": given["solver"] | solver})


def faulty(name, fault, seed):
    return spec_of(name, seed, **FAULTS[fault][0](DATA[name]["solver"]["step_size"]))


@each("name, fault", some(product(DATA, FAULTS), 5))
def test_the_strip_names_what_limits_a_run(name, fault):
    found, cause = live_gauges(finished(faulty(name, fault, 0))), FAULTS[fault][1]
    assert found.leading is not None
    assert found.leading.name == cause
    assert found.leading.changes


def test_of_two_noises_the_larger_one_is_named():
    """Batches of two also make the features' noise large, for their coefficients are."""
    found = {gauge.name: gauge for gauge in live_gauges(finished(spec_of("auc", batch_size=2))).gauges}
    assert found["Batches"].light is Light.LIMITS
    assert found["Features"].light is Light.GOOD


@pytest.mark.parametrize("name", SETTINGS)
def test_a_first_page_has_no_warning(name):
    assert live_gauges(finished(default_spec(name))).leading is None


def effect(name, seed):
    """Return the batches' gauge after its remedy, relative to the predicted value."""
    bad = finished(faulty(name, "batches of two", seed))
    gauge = live_gauges(bad).leading
    plain = bad.spec.to_dict()
    better = finished(Spec.from_dict(plain | {"solver": plain["solver"] | gauge.changes}))
    after = next(g for g in live_gauges(better).gauges if g.name == gauge.name)
    read, expected = (float(text.rstrip("%")) for text in (after.value, gauge.expected))
    return read / expected


@pytest.mark.weekly
def test_larger_batches_bring_what_is_said():
    assert 1 / 1.5 <= np.median([effect(name, 1) for name in DATA]) <= 1.5


WORSE = {
    "setting": "s3vm",
    "problem": {"C_star": 10.0},
    "data": {"name": "diabetes", "n_labeled": 200},
    "solver": {"n_iter": 400},
}


def test_a_run_that_scores_worse_than_labels_only_is_never_said_to_be_limited_by_nothing():
    live = LiveRun(Spec.from_dict(WORSE))
    live.advance()
    assert gain_over_twin(live.run, live.supervised).effect is Effect.HURTS
    found = live_gauges(live.run, baseline=live.supervised)
    assert found.summary() == "Score: no better than chance."
    fine = tuple(gauge for gauge in found.gauges if gauge.name != "Score")
    said = LiveGauges(fine, live.run.problem.baseline_name).summary()
    assert said.startswith("No gauge limits this run, but it scores worse than “labels only”.")
    assert LiveGauges(fine).summary() == "Nothing limits this run."


def test_a_cause_without_a_remedy_is_not_nothing():
    limiting = Gauge("Batches", Light.LIMITS, "120%", "The largest batches are used already.")
    assert LiveGauges((limiting,)).summary() == "Batches: limits this run."
    too_early = Gauge("Features", Light.UNKNOWN, "…", "A single feature has no spread.")
    assert "Nothing" not in LiveGauges((Gauge("Step", Light.GOOD, "1%", ""), too_early)).summary()


def test_nothing_is_said_before_anything_can_be_told():
    run = Run(spec_of("auc"))
    run.advance(20)
    assert {gauge.light for gauge in live_gauges(run).gauges} == {Light.UNKNOWN}


def test_an_earlier_iteration_says_what_was_said_there():
    run, stopped = finished(spec_of("ordinal", n_features=4)), Run(spec_of("ordinal", n_features=4))
    stopped.advance(200)
    assert live_gauges(run, 200) == live_gauges(stopped)


def test_what_has_no_meaning_for_a_method_is_not_made_up():
    run = finished(default_spec("multiclass"))
    assert [gauge.name for gauge in live_gauges(run).gauges] == ["Step", "Batches", "Wander"]


def test_the_batches_variance_is_that_of_repeated_draws():
    """V_b / (the variance over 200 seeds of h, its gradients taken at one fixed f) is near 1: within four standard errors."""
    rng, n, size, step, decay = np.random.default_rng(0), 60, 8, 0.3, 0.97
    X, Z, c = rng.normal(size=(n, 2)), rng.normal(size=(5, 2)), rng.normal(size=n)
    kernel = KERNELS["gaussian"](0.5)
    K = kernel.matrix(X, Z)
    ends, said = [], []
    for seed in range(200):
        draws, h, gauges = np.random.default_rng(seed), np.zeros(5), Gauges(5)
        for t in range(1, 33):
            rows = draws.integers(0, n, size)
            h = decay * h - step * (c[rows] / size) @ K[rows]
            one = SimpleNamespace(sources=("all",), weights=c[rows] / size, points=X[rows])
            each = lambda one=one: BatchSpread(kernel, Z).each(one)  # noqa: E731
            gauges.advance(t, step, decay, size, lambda h=h, each=each: (h, 0.0, each))
        ends.append(h)
        said.append(gauges.readings[-1].batches)
    ratio = np.var(ends, axis=0, ddof=1).mean() / np.mean(said)
    assert ratio == pytest.approx(1.0, abs=4 * np.sqrt(2 / 200 / 2))


def test_of_batches_of_one_the_variance_is_that_between_iterations():
    gauges, draws = Gauges(1), np.random.default_rng(1)
    for t in range(1, 801):
        each = draws.normal(size=(1, 1))
        gauges.advance(t, 0.1, 1.0, 1, lambda each=each: (np.zeros(1), 0.0, lambda: each))
    assert gauges.readings[-1].batches == pytest.approx(800 * 0.01, rel=0.5)


def test_an_iteration_that_is_made_again_counts_once():
    run = Run(spec_of("auc", step_size=200.0))
    run.advance()
    times = [reading.t for reading in run.engine.gauges.readings]
    assert times == sorted(set(times))
    assert live_gauges(run).leading.name == "Step"


def test_of_a_single_feature_an_iteration_nothing_is_said_that_is_no_number():
    gauges = {gauge.name: gauge for gauge in live_gauges(finished(spec_of("ordinal", n_features=1))).gauges}
    assert gauges["Features"].light is Light.UNKNOWN
    assert not any("nan" in gauge.value for gauge in gauges.values())


def after_the_remedy(run):
    """Return the run that begins with the values of a diverged run's controls and its remedy."""
    assert run.stop_reason is StopReason.DIVERGED
    plain = run.spec.to_dict()
    plain["solver"] |= {
        name: value for name, value in run.spec.values_at(run.n_iter).items() if name in plain["solver"]
    }
    plain["changes"] = []
    return finished(Spec.from_dict(plain | {"solver": plain["solver"] | live_gauges(run).leading.changes}))


# Runs that diverge: far above the limit, at few features, at small batches, by the ridge alone, and with other schedules.
DIVERGING = {
    "far above": {"step_size": 1000.0},
    "above": {"step_size": 20.0},
    "few features": {"step_size": 20.0, "n_features": 4},
    "small batches": {"step_size": 20.0, "batch_size": 2},
    "a large ridge": {"step_size": 20.0, "lam": 10.0},
    "theta/sqrt(T)": {"step_size": 1000.0, "schedule": "theta/sqrt(T)"},
    "theta/t": {"step_size": 1e6, "schedule": "theta/t"},
}


@each("name, fault", some(product(["auc", "ordinal", "similar_unlabeled", "s3vm"], DIVERGING), 9))
def test_the_remedy_of_a_run_that_diverges_is_a_step_that_does_not(name, fault):
    given = {"n_iter": 60} | DIVERGING[fault]
    run = finished(Spec.from_dict({"setting": name, "data": {"n": 200}, "solver": given}))
    if run.stop_reason is StopReason.DIVERGED:
        assert after_the_remedy(run).stop_reason is not StopReason.DIVERGED
    else:  # without curvature, only the ridge makes a run diverge
        assert name == "s3vm" or "a large ridge" not in fault


@each("changed", [{"lam": 10.0}, {"n_features": 2}, {"lam": 10.0, "n_features": 2}])
def test_the_limit_of_the_step_and_the_remedy_follow_what_is_changed_during_a_run(changed):
    spec = Spec.from_dict({"setting": "auc", "data": {"n": 200}, "solver": {"n_iter": 100, "step_size": 0.5}})
    run = Run(spec)
    run.advance(10)
    before = step_limit(run)
    for name, value in changed.items():
        run.change(name, value)
    fresh = spec.to_dict()
    limit = step_limit(Run(Spec.from_dict(fresh | {"solver": fresh["solver"] | changed})))
    assert step_limit(run) == pytest.approx(limit)
    assert limit < 0.8 * before
    run.change("step_size", 3.0 * limit)
    assert step_limit(run) == pytest.approx(limit)  # it stays there when the step moves
    while not run.is_finished:
        run.advance()
    assert live_gauges(run).leading.changes["step_size"] < limit
    assert after_the_remedy(run).stop_reason is not StopReason.DIVERGED


# Runs whose score is no better than chance, by each kind of score and for each reason; and one with equal predictions.
USELESS = {
    "auc, large ridge": {"setting": "auc", "solver": {"lam": 1.0}},
    "auc, ridge": {"setting": "auc", "solver": {"lam": 0.1}},
    "auc, too wide a kernel": {"setting": "auc", "kernel": {"sigma": 1e-3}},
    "ordinal, large ridge": {"setting": "ordinal", "solver": {"lam": 1.0}},
    "classes, large ridge": {"setting": "multiclass", "solver": {"lam": 1.0}},
    "one class": {"setting": "similar_unlabeled", "kernel": {"sigma": 1e-4}, "problem": {"prior": 0.95}},
    "margins": {"setting": "s3vm", "kernel": {"sigma": 1e5}},
}


@each("name", some(USELESS, 4))
def test_nothing_good_is_said_of_a_run_that_is_no_better_than_chance(name):
    live = LiveRun(Spec.from_dict(USELESS[name]))
    live.advance()
    while not live.is_finished:
        live.advance()
    assert at_chance(live.run), live.run.history.last()["score_test"]
    found = live_gauges(live.run, baseline=live.supervised)
    assert found.leading is not None
    assert "Nothing limits" not in found.summary()
    assert gain_over_twin(live.run, live.supervised).effect is not Effect.HELPS


def test_of_a_strong_ridge_the_remedy_is_a_smaller_one_and_it_helps():
    spec = Spec.from_dict(USELESS["auc, large ridge"])
    found = live_gauges(finished(spec)).leading
    assert (found.name, found.changes) == ("Regularisation", {"lam": 0.1})
    plain = spec.to_dict()
    spec = Spec.from_dict(plain | {"solver": plain["solver"] | {"lam": 0.01}})
    run = finished(spec)
    assert not at_chance(run)
    assert "Regularisation" not in [gauge.name for gauge in live_gauges(run).gauges]


def test_a_score_that_has_fallen_is_neither_fine_nor_better():
    live = LiveRun(default_spec("similar_unlabeled"))
    live.advance()
    while not live.is_finished:
        live.advance()
    best = fallen_from(live.run)
    assert best > live.run.history.last()["score_test"] + 0.05
    assert f"its score has fallen from {best:.3f} to" in live_gauges(live.run, baseline=live.supervised).summary()
    assert fallen_from(finished(default_spec("auc"))) is None
