"""Colours of the maps: an error begins at 0, and the map of ordered classes has the colours of their points."""

import numpy as np
import pytest
from cases import each
from small_specs import small

from dsgcore.experiments import Plane, Run
from pages.charts.figures import Surface
from pages.charts.run_map import _blended, colors_of, decision_heats, point_sets, rank_heat
from pages.live import map_view


def heat(name, shown, theme="light", t=12):
    """Return the map's trace below the points, and the run, after `t` iterations."""
    run = Run(small(name))
    run.advance(t)
    state = map_view._new_map(run, (None, None))
    state.values = map_view._values(run, state, shown)
    kind = map_view.KINDS[shown]
    return decision_heats(run, state.plane, [state.values], shown=kind, theme=theme)[0], run


@each("name", ["auc", "s3vm", "ordinal", "similar_unlabeled"])
def test_the_map_of_the_error_begins_at_zero(name):
    trace, _ = heat(name, "error")
    assert trace["zmin"] == 0.0
    assert trace["zmax"] == pytest.approx(np.max(trace["z"]), rel=1e-3)


def test_the_map_of_a_lead_begins_at_zero():
    assert heat("multiclass", "margin")[0]["zmin"] == 0.0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("shown", ["f", "h"])
def test_the_map_of_ordered_classes_has_the_colours_of_their_points(shown, theme):
    trace, run = heat("ordinal", shown, theme)
    colors = colors_of(run)
    drawn = [points.color for points in point_sets(run, Plane.through(run.split.X_train))[1:]]
    assert drawn == colors
    shades = [shade for _, shade in trace["colorscale"]]
    assert list(dict.fromkeys(shades)) == [_blended(color, theme) for color in colors]
    places = [place for place, _ in trace["colorscale"]]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0.0, 1.0)


def test_each_class_has_its_colour_at_its_own_level():
    surface = Surface(np.array([[0.0, 1.0], [3.0, 4.0]]), 0.0, 1.0, 0.0, 1.0)
    colors = ["#000000", "#FF0000", "#FFFFFF"]
    trace = rank_heat(surface, np.array([1.0, 3.0, 4.0]), colors, "light")
    at = {place: shade for place, shade in trace["colorscale"]}
    assert (trace["zmin"], trace["zmax"]) == (0.0, 4.0)
    assert [at[place] for place in (0.25, 0.75, 1.0)] == [_blended(color, "light") for color in colors]


@each("levels", [[0.0, 0.0, 0.0], [np.nan, np.nan, np.nan], [np.nan, 2.0, np.nan], [3.0, 1.0, 2.0], [1e38, -1e38, 0.0]])
@each("z", [0.0, np.nan, 1e38])
def test_unusual_levels_give_a_scale_that_can_be_drawn(levels, z):
    surface = Surface(np.array([[0.0, 1.0], [z, 2.0 * z]]), 0.0, 1.0, 0.0, 1.0)
    trace = rank_heat(surface, np.array(levels), ["#000000", "#FF0000", "#FFFFFF"], "dark")
    places = [place for place, _ in trace["colorscale"]]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0.0, 1.0)
    assert trace["zmin"] < trace["zmax"]


def test_levels_out_of_order_give_every_class_its_share_of_the_scale():
    surface = Surface(np.array([[0.0, 1.0], [3.0, 4.0]]), 0.0, 1.0, 0.0, 1.0)
    colors = ["#000000", "#FF0000", "#FFFFFF"]
    trace = rank_heat(surface, np.array([3.0, 1.0, 1.5]), colors, "light")
    at = {place: shade for place, shade in trace["colorscale"]}
    assert [at[place] for place in (0.0, 0.5, 1.0)] == [_blended(color, "light") for color in colors]
