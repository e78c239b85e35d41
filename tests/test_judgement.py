"""What is said of a run: its judgement and remedy, the interval against its twin, and the outcome."""

from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each, some, tiers
from numpy.testing import assert_allclose
from small_specs import finished, small
from test_diagnostics import GOOD

from dsgcore.comparing.reproductions import chance_of
from dsgcore.core.metrics import (
    Difference,
    Effect,
    Z,
    accuracy_half_width,
    auc_half_width,
    contributions,
    scores_of_chance,
)
from dsgcore.diagnostics import Cause, four_runs, judgement
from dsgcore.diagnostics.judgement import _State
from dsgcore.experiments import SETTINGS, LiveRun, Run, Spec, StopReason, default_spec, outcome_of
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.run import step_limit
from dsgcore.experiments.verdict import at_chance, gain_over_twin
from dsgcore.kernels import KERNELS
from dsgcore.problems import UNLABELED
from dsgcore.problems.thresholds import mean_auc
from dsgcore.solver.measures import BatchSpread, Gauges

DATA = {name: given | {"data": given["data"] | {"n": 400}} for name, given in GOOD.items()}
DATA["s3vm"] = {"solver": {"step_size": 0.1}}


def spec_of(name, seed=0, changes=None):
    given = DATA[name] | {"setting": name, "seed": seed}
    for section, values in (changes or {}).items():
        given = given | {section: given.get(section, {}) | values}
    return Spec.from_dict(given)


def test_a_useless_run_on_points_with_too_little_spread_for_a_usual_width_is_judged_too():
    spec = small("auc", solver={"lam": 0.0})
    split = load_split(spec)
    run = Run(spec, replace(split, X_train=1e-9 * split.X_train, X_test=1e-9 * split.X_test))
    run.advance()
    assert judgement(run).cause is Cause.EQUAL


@cache
def first_page(name):
    live = LiveRun(default_spec(name))
    live.advance()
    return live


@pytest.mark.parametrize("name", tiers(SETTINGS, 3, 3))
def test_a_first_page_is_limited_by_nothing_that_spoils_it(name):
    live = first_page(name)
    found = judgement(live.run, baseline=live.supervised)
    assert found.cause in (Cause.NOTHING, Cause.LABELS, Cause.ITERATIONS, Cause.REGULARISATION), found
    assert found.reason
    if found.cause is Cause.LABELS:  # the chart shows the last iteration's score
        assert "in the mean of the last quarter of the iterations" in found.sentence


# Runs whose score is no better than chance, by each kind of score and for each reason; and one with equal predictions.
USELESS = {
    "auc, large ridge": ({"setting": "auc", "solver": {"lam": 1.0}}, Cause.REGULARISATION),
    "auc, too wide a kernel": ({"setting": "auc", "kernel": {"sigma": 1e-3}}, Cause.CHANCE),
    "ordinal, large ridge": ({"setting": "ordinal", "solver": {"lam": 1.0}}, Cause.REGULARISATION),
    "classes, large ridge": ({"setting": "multiclass", "solver": {"lam": 1.0}}, Cause.REGULARISATION),
    "one class": ({"setting": "similar_unlabeled", "kernel": {"sigma": 1e-4}, "problem": {"prior": 0.95}}, Cause.EQUAL),
    "margins": ({"setting": "s3vm", "kernel": {"sigma": 1e5}}, Cause.CHANCE),
    "share": ({"setting": "similar_unlabeled", "problem": {"prior": 0.05}}, Cause.CHANCE),
    "its points": (
        {"setting": "similar_unlabeled", "data": {"name": "gaussian_mixture", "imbalance": 0.1}},
        Cause.CHANCE,
    ),
}


@each("name", some(USELESS, 4))
def test_of_a_useless_run_the_reason_is_named_and_its_remedy_helps(name):
    plain, cause = USELESS[name]
    run = finished(Spec.from_dict(plain))
    assert at_chance(run)
    if "the most frequent class" in at_chance(run):  # the same as in a comparison, and in a paper's figure
        labels = run.split.y_train[: 0 if plain["setting"] == "similar_unlabeled" else None]
        chance = scores_of_chance(run.split.y_test, labels[labels != UNLABELED])["accuracy"]
        assert f"({chance:.3f})" in at_chance(run)
        assert chance_of(plain["setting"], run.split) == chance
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


@each("name", SETTINGS)
def test_a_result_that_is_worse_than_its_twin_is_said_to_be_and_the_twin_is_the_remedy(name, monkeypatch):
    rules = import_module("dsgcore.diagnostics.judgement")
    worse = Difference.around(-0.05, 0.01, 100, "test points")
    monkeypatch.setattr(rules, "gain_over_twin", lambda run, twin: worse)
    monkeypatch.setattr(rules, "at_chance", lambda run: "")
    run = finished(small(name))
    found, twin = judgement(run, baseline=run), run.spec.baseline()
    assert (found.cause is Cause.UNLABELED) == (twin.problem != run.spec.problem)
    if found.cause is Cause.UNLABELED:
        assert found.changed(run.spec).problem == twin.problem


def test_nothing_limits_a_run_only_if_its_twin_has_come_as_far():
    live = first_page("s3vm")
    behind = LiveRun(live.run.spec, live)
    behind.supervised.advance(60)
    found = judgement(live.run, baseline=behind.supervised)
    assert (found.cause, "“labels only” is behind at iteration 60" in found.sentence) == (Cause.EARLY, True)
    assert judgement(live.run, baseline=live.supervised).cause is Cause.NOTHING


def test_the_batches_variance_is_that_of_repeated_draws_and_of_batches_of_one_that_between_iterations():
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
    gauges, draws = Gauges(1), np.random.default_rng(1)
    for t in range(1, 801):
        each = draws.normal(size=(1, 1))
        gauges.advance(t, 0.1, 1.0, 1, lambda each=each: (np.zeros(1), 0.0, lambda: each))
    assert gauges.readings[-1].batches == pytest.approx(800 * 0.01, rel=0.5)


def test_nothing_is_said_before_anything_can_be_told_and_an_iteration_that_is_made_again_counts_once():
    run = Run(spec_of("ordinal"))
    run.advance(20)
    assert judgement(run).cause is Cause.EARLY
    run = finished(spec_of("auc", changes={"solver": {"step_size": 200.0}}))
    times = [reading.t for reading in run.engine.gauges.readings]
    assert times == sorted(set(times))


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


# --- the verdict


def psi(v, p, n):
    return 1.0 if v[p] > v[n] else 0.5 if v[p] == v[n] else 0.0


def naive_delong(y, f, g):
    """DeLong's interval as the paper writes it, for two classes: placements by two loops, two 2 x 2 covariances."""
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
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


def test_for_two_classes_the_interval_is_delongs_and_contributions_are_those_of_two_loops():
    for seed in range(5):
        y, f, g = draw(np.random.default_rng(seed), 60, 2)
        assert_allclose(auc_half_width(y, f, g), naive_delong(y, f, g), rtol=1e-10)
    y, f, _ = draw(np.random.default_rng(1), 50, 4)
    wins = np.zeros(len(y))
    for j in (1, 2, 3):
        above, below = np.flatnonzero(y >= j), np.flatnonzero(y < j)
        for p, n in product(above, below):
            wins[[p, n]] += psi(f, p, n) / (len(above) * len(below) * 3)
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


def test_intervals_of_accuracies_are_bonetts_and_prices_and_inside_them_or_of_too_few_points_there_is_no_verdict():
    kinds = np.repeat([0, 1, 2, 3], [80, 9, 4, 7])
    won, lost = 10 / 102, 5 / 102  # one more of each kind, and two more points
    expected = Z * np.sqrt((won + lost - (won - lost) ** 2) / 102)
    assert accuracy_half_width(kinds < 2, kinds % 2 == 0) == pytest.approx(expected, rel=1e-12)
    effects = {(0.02, 0.01): Effect.HELPS, (-0.02, 0.01): Effect.HURTS, (0.01, 0.015): Effect.TIE}
    for (mean, half_width), effect in (effects | {(-0.01, 0.01): Effect.TIE, (0.0, 0.0): Effect.TIE}).items():
        assert Difference.around(mean, half_width, 60, "test points").effect is effect
    hits = np.ones(29, dtype=bool)
    assert np.isnan(accuracy_half_width(hits, hits))
    y, f, g = draw(np.random.default_rng(5), 60, 2)
    assert auc_half_width(y, f, f) == 0
    few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:9]])
    assert np.isnan(auc_half_width(y[few], f[few], g[few]))
    assert np.isnan(auc_half_width(np.ones(40, dtype=int), np.arange(40.0), np.arange(40.0)))


@each("n, both, won, lost", [(100, 0.8, 0.1, 0.05), (300, 0.9, 0.03, 0.03), (300, 0.98, 0, 0.01)])
def test_the_interval_of_an_accuracy_covers_in_nineteen_of_twenty_samples(n, both, won, lost):
    rng = np.random.default_rng(3)
    kinds = rng.choice(4, size=(2000, n), p=[both, won, lost, 1 - both - won - lost])
    covered = []
    for kind in kinds:
        hits, others = np.isin(kind, (0, 1)), np.isin(kind, (0, 2))
        covered.append(abs(hits.mean() - others.mean() - (won - lost)) <= accuracy_half_width(hits, others))
    # If few points separate the two, the interval is too wide rather than too narrow.
    assert 0.94 <= np.mean(covered) <= 0.995


def live_run(setting, solver=(), problem=(), **data):
    """A live run at its start; most of its sets have 200 points."""
    sections = {"data": {"name": "two_moons", "n": 200, "n_labeled": 20, **data}, "problem": dict(problem)}
    solver = {"n_iter": 30, "n_features": 32, **dict(solver)}
    return LiveRun(Spec.from_dict({"setting": setting, "solver": solver, "diagnostics": {"n_probes": 0}, **sections}))


def ended(live):
    live.advance()
    return live


SET_OF = {"similar_unlabeled": "gaussian_mixture", "ordinal": "ordinal_rings", "multiclass": "spirals"}


@pytest.mark.parametrize("average", [None, "tail"])
@pytest.mark.parametrize("setting", [setting for setting in SETTINGS if setting != "supervised"])  # it has no twin
def test_every_setting_has_its_interval(setting, average):
    live = live_run(setting, {"average": average}, name=SET_OF.get(setting, "two_moons"))
    assert gain_over_twin(live.run, live.supervised) is None
    gain = gain_over_twin(ended(live).run, live.supervised)
    column = "score_test" if average is None else "score_average"
    assert gain.mean == live.run.history.last()[column] - live.supervised.history.last()[column]
    if "no better than chance" in gain.reason:
        assert setting == "ordinal", "of the others the test would ask nothing"
        return
    assert 0 < gain.half_width < 0.2
    assert gain.effect is not None


def test_a_balanced_run_is_judged_by_the_same_points_as_its_score():
    live = ended(live_run("s3vm", problem={"is_balanced": True}))
    right = live.run.problem.hits(live.run.split.y_test, live.run.test_values + live.run.shift)
    assert live.run.shift != 0
    assert right.mean() == live.run.history.last()["score_test"]
    others = live.supervised.problem.hits(live.run.split.y_test, live.supervised.test_values)
    assert gain_over_twin(live.run, live.supervised).half_width == pytest.approx(accuracy_half_width(right, others))


def test_there_is_no_verdict_on_a_run_that_has_diverged_or_whose_twin_is_behind_or_on_few_test_points():
    live = live_run("auc", {"step_size": 20.0, "n_iter": 300})
    live.run.advance(5)
    live.supervised.advance(3)
    assert gain_over_twin(live.run, live.supervised) is None, "a twin that is behind is not compared"
    live.advance(7)
    growing = gain_over_twin(live.run, live.supervised)
    assert growing.effect is None
    assert "above that of f = 0" in growing.reason
    assert ended(live).run.stop_reason is StopReason.DIVERGED
    gain = gain_over_twin(live.run, live.supervised)
    assert gain is None or (gain.effect is None and "diverged" in gain.reason)
    few = ended(live_run("s3vm", n=80))
    gain = gain_over_twin(few.run, few.supervised)
    assert gain.effect is None
    assert "too few test points" in gain.reason


# --- the outcome, compared with other measurements of the same run


@pytest.mark.parametrize("setting", ["auc", "ordinal", "s3vm", "multiclass"])
def test_distances_to_the_minimiser_are_those_of_the_four_runs_where_the_risk_is_quadratic(setting):
    live = ended(LiveRun(small(setting)))
    measured = outcome_of(live, {"distance"})
    assert "distance" not in outcome_of(live)
    assert ("distance" in measured) == (setting in ("auc", "ordinal"))
    if "distance" in measured:
        (four,) = four_runs(live.run.spec, split=live.run.split)
        assert measured["distance"] == pytest.approx(four.together[-1] / four.scale, rel=1e-3)
        assert measured["overstated"] == pytest.approx(four.error[-1] / four.together[-1], rel=1e-2)


def test_how_far_a_run_can_come_is_the_sum_of_its_steps_to_the_planned_end_not_to_where_it_is():
    run = Run(small("auc", solver={"n_iter": 60, "schedule": "constant"}))
    run.advance(40)
    state = _State(run, None, None)
    assert state.reach == pytest.approx(60 * state.step * 2.0 / state.largest)
