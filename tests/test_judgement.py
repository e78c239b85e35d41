from importlib import import_module
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each, some, tiers
from small_specs import finished, small
from test_diagnostics import GOOD

from dsgcore.core.metrics import Difference
from dsgcore.diagnostics import Cause, judgement, limits
from dsgcore.experiments import SETTINGS, LiveRun, Run, Spec, StopReason, default_spec
from dsgcore.experiments.run import step_limit
from dsgcore.experiments.verdict import at_chance, fallen_from
from dsgcore.kernels import KERNELS
from dsgcore.solver.gauges import BatchSpread, Gauges

# Runs to their ends: without the compiler they take long, and nothing here depends on it.
pytestmark = pytest.mark.compiled

DATA = {name: given | {"data": given["data"] | {"n": 400}} for name, given in GOOD.items()}
DATA["s3vm"] = {"solver": {"step_size": 0.1}}
STEPS = {name: given["solver"]["step_size"] for name, given in DATA.items()}
# Of runs that do well: what spoils one, from its step, and the causes that may be named then.
SPOILT = {
    "too small a step": (lambda step: {"solver": {"step_size": step / 50, "n_iter": 150}}, {Cause.STEP}),
    "too few iterations": (
        lambda step: {"solver": {"step_size": step / 5, "n_iter": 30}},
        {Cause.STEP, Cause.ITERATIONS},
    ),
    "twenty times the step": (lambda step: {"solver": {"step_size": step * 20}}, {Cause.STEP, Cause.DIVERGED}),
    "four features": (lambda step: {"solver": {"n_features": 4, "batch_size": 2048}}, {Cause.FEATURES}),
    "batches of two": (lambda step: {"solver": {"batch_size": 2, "n_features": 1024}}, {Cause.BATCHES}),
    "too narrow a kernel": (lambda step: {"kernel": {"name": "gaussian", "sigma": 1e6}}, {Cause.CHANCE, Cause.EQUAL}),
    "too large a ridge": (lambda step: {"solver": {"lam": 5.0, "step_size": min(step, 0.2)}}, {Cause.REGULARISATION}),
    "few labels": (lambda step: {"data": {"n_labeled": 6}}, {Cause.LABELS, Cause.ITERATIONS}),
}
# Of hinges a ridge only scales f. Six labels, or pairs, are enough where the classes are far apart.
FINE = {("s3vm", "too large a ridge"), ("s3vm", "few labels"), ("similar_unlabeled", "few labels")}
CASES = [(name, fault) for fault in SPOILT for name in DATA if (name, fault) not in FINE]


def spec_of(name, seed=0, changes=None):
    given = DATA[name] | {"setting": name, "seed": seed}
    for section, values in (changes or {}).items():
        given = given | {section: given.get(section, {}) | values}
    return Spec.from_dict(given)


def spoilt(name, fault, seed=0):
    return spec_of(name, seed, SPOILT[fault][0](STEPS[name]))


@pytest.mark.ci
@each("name, fault", some(CASES, 14))
def test_what_spoils_a_run_is_named_with_a_remedy_that_is_a_spec(name, fault):
    run = finished(spoilt(name, fault))
    found = judgement(run)
    assert found.cause in SPOILT[fault][1], found
    assert found.sentence.endswith(".")
    assert found.remedy
    assert found.changed(run.spec) != run.spec


@pytest.mark.parametrize("name", tiers(SETTINGS, 3, 3))
def test_a_first_page_is_limited_by_nothing_that_spoils_it(name):
    live = LiveRun(default_spec(name))
    live.advance()
    found = judgement(live.run, baseline=live.supervised)
    assert found.cause in (Cause.NOTHING, Cause.LABELS, Cause.ITERATIONS, Cause.REGULARISATION), found
    assert found.reason
    if found.cause is Cause.LABELS:  # the chart shows the last iteration's score
        assert "in the mean of the last quarter of the iterations" in found.sentence


def test_nothing_is_said_before_anything_can_be_told_and_of_an_earlier_iteration_what_was_said_there():
    run, stopped = finished(spec_of("ordinal")), Run(spec_of("ordinal"))
    stopped.advance(20)
    assert judgement(stopped).cause is Cause.EARLY
    stopped.advance(180)
    assert judgement(run.at(200)) == judgement(stopped)


# Runs whose score is no better than chance, by each kind of score and for each reason; and one with equal predictions.
USELESS = {
    "auc, large ridge": ({"setting": "auc", "solver": {"lam": 1.0}}, Cause.REGULARISATION),
    "auc, too wide a kernel": ({"setting": "auc", "kernel": {"sigma": 1e-3}}, Cause.CHANCE),
    "ordinal, large ridge": ({"setting": "ordinal", "solver": {"lam": 1.0}}, Cause.REGULARISATION),
    "classes, large ridge": ({"setting": "multiclass", "solver": {"lam": 1.0}}, Cause.REGULARISATION),
    "one class": (
        {"setting": "similar_unlabeled", "kernel": {"sigma": 1e-4}, "problem": {"prior": 0.95}},
        Cause.EQUAL,
    ),
    "margins": ({"setting": "s3vm", "kernel": {"sigma": 1e5}}, Cause.CHANCE),
}


@each("name", some(USELESS, 3))
def test_of_a_useless_run_the_reason_is_named_and_its_remedy_helps(name):
    plain, cause = USELESS[name]
    run = finished(Spec.from_dict(plain))
    assert at_chance(run)
    found = judgement(run)
    assert found.cause is cause, found
    assert at_chance(run)[4:-1] in found.sentence
    better = finished(found.changed(run.spec))
    assert name == "one class" or better.result_score > run.result_score + 0.2


# Runs that diverge: far above the limit, at few features, at small batches, by the ridge alone, and with other schedules.
DIVERGING = {
    "far above": {"step_size": 1000.0},
    "few features": {"step_size": 20.0, "n_features": 4},
    "small batches": {"step_size": 20.0, "batch_size": 2},
    "a large ridge": {"step_size": 20.0, "lam": 10.0},
    "theta/sqrt(T)": {"step_size": 1000.0, "schedule": "theta/sqrt(T)"},
    "theta/t": {"step_size": 1e6, "schedule": "theta/t"},
}


@each("name, fault", some(product(["auc", "ordinal", "similar_unlabeled", "s3vm"], DIVERGING), 11))
def test_the_remedy_of_a_run_that_diverges_is_a_step_that_does_not(name, fault):
    run = finished(Spec.from_dict({"setting": name, "data": {"n": 200}, "solver": {"n_iter": 60} | DIVERGING[fault]}))
    found = judgement(run)
    if run.stop_reason is StopReason.DIVERGED:
        assert found.cause is Cause.DIVERGED
        assert found.is_useless
        assert finished(found.changed(run.spec)).stop_reason is not StopReason.DIVERGED
    else:  # without curvature, only the ridge makes a run diverge
        assert name == "s3vm" or "a large ridge" not in fault


# Spoilt runs, and the cause that the four runs and runs with another ridge and fewer labels name.
MEASURED = {
    "too small a step": {Cause.STEP},
    "four features": {Cause.FEATURES},
    "batches of two": {Cause.BATCHES},
    "too large a ridge": {Cause.REGULARISATION},
    "few labels": {Cause.LABELS, Cause.REGULARISATION},
}


@pytest.mark.ci
@each("fault", some(MEASURED, 1))
def test_the_measured_limits_name_the_cause_too(fault):
    spec = spoilt("auc", fault)
    found = judgement(finished(spec), limits=limits(spec, seeds=3))
    assert found.cause in MEASURED[fault], found
    assert found.remedy
    assert [figure.cause for figure in found.reason][:3] == [Cause.ITERATIONS, Cause.BATCHES, Cause.FEATURES]


@each("name", SETTINGS)
def test_a_result_that_is_worse_than_its_twin_is_said_to_be_and_the_twin_is_the_remedy(name, monkeypatch):
    worse = Difference.around(-0.05, 0.01, 100, "test points")
    rules = import_module("dsgcore.diagnostics.judgement")
    monkeypatch.setattr(rules, "gain_over_twin", lambda run, twin: worse)
    monkeypatch.setattr(rules, "at_chance", lambda run: "")
    run = finished(small(name))
    found = judgement(run, baseline=run)
    twin = run.spec.baseline()
    if twin.problem == run.spec.problem:
        assert found.cause is not Cause.UNLABELED
    else:
        assert found.cause is Cause.UNLABELED
        assert found.changed(run.spec).problem == twin.problem


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
    run = finished(spec_of("auc", changes={"solver": {"step_size": 200.0}}))
    times = [reading.t for reading in run.engine.gauges.readings]
    assert times == sorted(set(times))


def test_of_two_noises_the_larger_one_is_named():
    """Batches of two also make the features' noise large, for their coefficients are."""
    assert judgement(finished(spec_of("auc", changes={"solver": {"batch_size": 2}}))).cause is Cause.BATCHES


@each("first, then", [(1, None), (256, 1), (256, 4), (1, 4)])
def test_of_few_features_from_any_iteration_on_the_features_are_named(first, then):
    run = Run(spec_of("s3vm", changes={"solver": {"n_features": first}}))
    run.advance(run.n_iter // 4)
    if then is not None:
        run.change("n_features", then)
    while not run.is_finished:
        run.advance()
    found = judgement(run)
    assert found.cause is Cause.FEATURES
    assert not any("nan" in figure.value for figure in found.reason)


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
    found = judgement(run)
    assert found.changes["solver"]["step_size"] < limit
    assert finished(found.changed(run.spec)).stop_reason is not StopReason.DIVERGED


def test_a_score_that_has_fallen_is_said_with_the_iteration_where_it_was_best():
    live = LiveRun(default_spec("similar_unlabeled"))
    live.advance()
    best = fallen_from(live.run)
    assert best > live.run.history.last()["score_test"] + 0.05
    found = judgement(live.run, baseline=live.supervised)
    assert f"the score has fallen from {best:.3f} to" in found.sentence
    assert found.changes["solver"]["n_iter"] < live.run.n_iter / 2
    assert fallen_from(finished(default_spec("auc"))) is None
