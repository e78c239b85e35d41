"""A race beside its run: the run that it belongs to, and the charts of both."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small_specs import small

from dsgcore.experiments.race import Race
from pages.charts.figures import Curve, Surface
from pages.charts.run_map import region_heat
from pages.race.race_charts import Finish, finish_line, score_by_iteration, score_by_time
from pages.race.state import Started, same_data, whose


def test_a_race_stays_with_the_run_that_it_was_started_for():
    spec = small("auc")
    live, other = SimpleNamespace(run=SimpleNamespace(spec=spec)), SimpleNamespace(run=SimpleNamespace(spec=spec))
    started = Started(Race(spec, "SAMULT"), "SAMULT", live, job=None)
    assert whose(started, live) == "On the data of this run: Two moons, seed 0."
    assert whose(started, other) == "Started for an earlier run on the same data: Two moons, seed 0."
    other.run.spec = replace(spec, seed=3)
    said = "Started for an earlier run on other data, and compared with that one: Two moons, seed 0."
    assert whose(started, other) == said


def test_scores_are_compared_on_the_same_points_only():
    spec = small("auc")
    assert same_data(spec, replace(spec, solver=replace(spec.solver, lam=1.0)))
    assert not same_data(spec, replace(spec, seed=1))
    assert not same_data(spec, replace(spec, data=replace(spec.data, n_labeled=30)))
    assert not same_data(spec, replace(small("s3vm"), data=spec.data))


def test_a_competitor_without_a_result_has_no_line():
    job = SimpleNamespace(result=None)
    assert Started(Race(small("auc"), "SAMULT"), "SAMULT", None, job).finish is None
    job.result = SimpleNamespace(score=0.9, seconds=2.0)
    finish = Started(Race(small("auc"), "SAMULT"), "SAMULT", None, job).finish
    assert finish == Finish("SAMULT", 0.9, 2.0)


# --- its figures


def test_the_line_is_horizontal_over_the_iterations_and_begins_with_the_result_in_time():
    t, clock = np.arange(1, 6), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    finish = Finish("SAMULT", 0.9, 2.0)
    run = Curve("the run", t, np.linspace(0.5, 0.95, 5), "#000000")
    ours, line = score_by_iteration(run, finish, title="Test AUC", n_iter=300)["data"]
    assert (ours["name"], line["x"], line["y"]) == ("the run", [0.0, 300.0], [0.9, 0.9])
    assert line["line"]["color"] == finish_line(finish, 300)["line"]["color"] == "#E69F00"
    figure = score_by_time(replace(run, x=clock), finish, title="Test AUC")
    _, line, mark = figure["data"]
    assert line["x"] == [2.0, 2.1]
    assert (mark["x"], mark["y"]) == ([2.0], [0.9])
    assert figure["layout"]["xaxis"]["range"] == [0, 2.1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_regions_have_a_pale_shade_of_each_classs_colour(theme):
    surface = Surface(np.array([[0, 1], [2, np.nan]]), 0.0, 1.0, 0.0, 1.0)
    heat = region_heat(surface, ["#000000", "rgb(255, 0, 0)", "#FFFFFF"], theme)
    assert heat["z"] == [[0, 1], [2, None]]
    assert (heat["zmin"], heat["zmax"]) == (-0.5, 2.5)
    shades = [shade for _, shade in heat["colorscale"]]
    assert len(shades) == 6
    assert len(set(shades)) == 3
