"""The outcome of a run, compared with other measurements of the same run."""

from dataclasses import replace

import pytest

from dsgcore.diagnostics.four_runs import four_runs
from dsgcore.experiments import LiveRun, default_spec, outcome_of

pytestmark = pytest.mark.compiled


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
