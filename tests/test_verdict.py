"""The verdict on a run and its twin: the interval's coverage, its naive twin, and when there is none; and the outcome of a run."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dsgcore.core.metrics import Difference, Effect, Z, accuracy_half_width, auc_half_width, contributions
from dsgcore.diagnostics import four_runs
from dsgcore.experiments import SETTINGS, LiveRun, Spec, StopReason, default_spec, outcome_of
from dsgcore.experiments.verdict import gain_over_twin
from dsgcore.problems.thresholds import mean_auc


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


def test_the_difference_of_one_and_the_same_is_a_tie():
    y, f, _ = draw(np.random.default_rng(4), 60, 2)
    assert auc_half_width(y, f, f) == 0
    assert Difference.around(0.0, 0.0, 60, "test points").effect is Effect.TIE


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
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_has_its_interval(setting, average):
    live = live_run(setting, solver={"average": average}, name=DATA.get(setting, "two_moons"), n=200, n_labeled=20)
    assert gain_over_twin(live.run, live.supervised) is None
    live.advance()
    made = gain_over_twin(live.run, live.supervised)
    column = "score_test" if average is None else "score_average"
    assert made.mean == live.run.history.last()[column] - live.supervised.history.last()[column]
    if "no better than chance" in made.reason:
        return
    assert 0 < made.half_width < 0.2
    assert made.effect is not None


def test_a_balanced_run_is_judged_by_the_same_points_as_its_score():
    plain = live_run("s3vm", name="two_moons", n=200, n_labeled=20).run.spec.to_dict()
    live = LiveRun(Spec.from_dict(plain | {"problem": plain["problem"] | {"is_balanced": True}}))
    live.advance()
    right = live.run.problem.hits(live.run.split.y_test, live.run.test_values + live.run.shift)
    assert live.run.shift != 0
    assert right.mean() == live.run.history.last()["score_test"]
    others = live.supervised.problem.hits(live.run.split.y_test, live.supervised.test_values)
    assert gain_over_twin(live.run, live.supervised).half_width == pytest.approx(accuracy_half_width(right, others))


def test_there_is_no_verdict_on_a_run_that_has_diverged():
    live = live_run("auc", solver={"step_size": 20.0, "n_iter": 300}, name="two_moons", n=200, n_labeled=20)
    live.advance(12)
    growing = gain_over_twin(live.run, live.supervised)
    assert growing.effect is None
    assert "above its start" in growing.reason
    live.advance()
    assert live.run.stop_reason is StopReason.DIVERGED
    made = gain_over_twin(live.run, live.supervised)
    assert made is None or (made.effect is None and "diverged" in made.reason)


def test_there_is_no_verdict_on_few_test_points():
    live = live_run("s3vm", name="two_moons", n=80, n_labeled=20)
    live.advance()
    made = gain_over_twin(live.run, live.supervised)
    assert made.effect is None
    assert "too few test points" in made.reason


def test_a_twin_that_is_behind_is_not_compared():
    live = live_run("auc", name="two_moons", n=200, n_labeled=20)
    live.run.advance(5)
    assert gain_over_twin(live.run, live.supervised) is None


# --- the outcome, compared with other measurements of the same run


def short_run(setting, **solver):
    spec = default_spec(setting)
    spec = replace(spec, data=replace(spec.data, n=200, n_labeled=20))
    return replace(spec, solver=replace(spec.solver, n_iter=30, n_features=8, **solver))


def made(spec):
    live = LiveRun(spec)
    live.advance()
    return live


@pytest.mark.parametrize("setting", ["auc", "ordinal"])
def test_distances_to_the_minimiser_are_those_of_the_four_runs(setting):
    live = made(short_run(setting))
    four = four_runs(live.run.spec, split=live.run.split)
    measured = outcome_of(live, {"distance"})
    assert measured["distance"] == pytest.approx(four.together[-1] / four.scale, rel=1e-3)
    assert measured["overstated"] == pytest.approx(four.error[-1] / four.together[-1], rel=1e-2)
    assert "distance" not in outcome_of(live)


@pytest.mark.parametrize("setting", ["s3vm", "multiclass"])
def test_a_risk_that_is_not_quadratic_has_no_distance(setting):
    assert "distance" not in outcome_of(made(short_run(setting)), {"distance"})


def test_a_model_is_as_large_as_its_iterations_and_features_make_it():
    measured = outcome_of(made(short_run("auc")))
    assert measured["matrix_share"] * 140**2 == pytest.approx(2 * 30 * 8)


def test_an_averages_objective_is_taken_off_the_last_iterates():
    live = made(short_run("auc", average="tail"))
    row = live.run.history.last()
    assert outcome_of(live)["averaging"] == row["objective"] - row["objective_average"]
