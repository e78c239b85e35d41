"""Numbers as the charts send them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from cases import each
from live_page import figure
from opened_pages import checked, open_page
from small_specs import small

from dsgcore.core.parameters import Real
from dsgcore.experiments import LiveRun, Plane, Run, Spec
from dsgcore.settings.panels import Mark
from dsgcore.solver.plan import SCHEDULE_WORDS, SCHEDULES
from pages.charts import figures as charts
from pages.charts.figures import MAX_STEPS, Surface
from pages.charts.run_map import _blended, class_symbol, colors_of, decision_heats, point_sets, rank_heat
from pages.controls.control import refusal
from pages.gallery import data_charts, data_views
from pages.live import map_view
from pages.live.curves import error_figure, score_figure
from pages.session.bench import View


def by_text(values):
    """Return what four digits are meant to be: rounded as text, and read again."""
    return [float(f"{v:.4g}") if np.isfinite(v) else None for v in values]


def bits(numbers):
    """Return the numbers so that -0.0 and 0.0 differ."""
    return [None if v is None else v.hex() for v in numbers]


def hard_numbers():
    """Return numbers of all sizes, many of them in the middle between two of four digits, or next to it."""
    rng = np.random.default_rng(0)
    powers = 10.0 ** np.arange(-30, 31)
    middles = (rng.integers(1000, 10_000, 5_000) + 0.5) * 10.0 ** rng.integers(-25, 25, 5_000)
    edges = np.concatenate([powers, middles, 9999.5 * powers])
    return np.concatenate(
        [
            rng.normal(size=40_000) * 10.0 ** rng.uniform(-30, 30, 40_000),
            rng.integers(0, 2**63 - 1, 10_000).view(np.float64),  # all exponents there are, and some that are no number
            np.arange(-20_000, 20_000),
            edges,
            np.nextafter(edges, 0),
            -np.nextafter(edges, np.inf),
            [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, np.finfo(float).max, np.finfo(float).tiny],
        ]
    )


def test_four_digits_are_those_of_the_text():
    values = hard_numbers()
    assert len(values) > 100_000
    assert bits(charts.four_digits(values)) == bits(by_text(values))


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_four_digits_of_other_types(dtype):
    values = np.array([0, 1, -12_345, 123_456_789, 7], dtype=dtype)
    assert charts.four_digits(values) == by_text(values) == [0.0, 1.0, -12_340.0, 123_500_000.0, 7.0]


def test_four_digits_keep_the_shape_and_leave_gaps():
    assert charts.four_digits(np.array([])) == []
    assert charts.four_digits(np.array([[1.23456, np.nan], [np.inf, -2e-30]])) == [[1.235, None], [None, -2e-30]]


def test_four_digits_of_a_surface_are_those_of_its_rows():
    z = np.random.default_rng(0).normal(size=(6, 5))
    z[2, 3] = np.nan
    heat = charts.heat(charts.Surface(z, 0.0, 1.0, 0.0, 1.0), 0.0, "light")
    assert heat["z"] == [by_text(row) for row in z]


def test_a_thinned_curve_keeps_the_lowest_number_beside_gaps():
    # Every second stretch of a curve above 5 has gaps, as a logarithm of numbers below 0 has.
    y = 5.0 + np.random.default_rng(0).random(1000)
    y[np.arange(1000) % 7 == 0] = np.nan
    x, thin = charts.thinned(np.arange(1000), y, 100)
    np.testing.assert_array_equal(thin, y[x])
    for stretch, kept in zip(y.reshape(50, 20)[:-1], thin.reshape(50, 2)[:-1], strict=True):
        assert {*kept} == {np.nanmin(stretch), np.nanmax(stretch)}


@pytest.mark.parametrize("n", [101, 150, 997, 3000])
def test_a_thinned_curve_is_that_of_stretch_after_stretch(n):
    rng = np.random.default_rng(n)
    x, y = np.arange(n) + 5.0, np.round(rng.normal(size=n), 1)  # with ties
    y[rng.random(n) < 0.2] = np.nan
    kept = []
    edges = np.linspace(0, n, 51).astype(int)
    for a, b in itertools.pairwise(edges):
        low = min(range(a, b), key=lambda i: y[i] if np.isfinite(y[i]) else np.inf)
        high = max(range(a, b), key=lambda i: y[i] if np.isfinite(y[i]) else -np.inf)
        kept += sorted({low, high})
    kept[-1] = n - 1
    np.testing.assert_array_equal(charts.thinned(x, y, 100), (x[kept], y[kept]))


def test_a_thinned_curve_of_gaps_is_one():
    _, thin = charts.thinned(np.arange(1000), np.full(1000, np.nan), 100)
    assert 0 < len(thin) <= 100
    assert np.isnan(thin).all()


def curve(y, name="test"):
    return charts.Curve(name, np.arange(1, len(y) + 1), np.asarray(y, dtype=float), "#000000")


def sizes_of_text(figure):
    """Return the sizes that fonts are given anywhere in a figure, but for its title's."""
    if isinstance(figure, dict):
        own = [v["size"] for k, v in figure.items() if k.endswith("font") and "size" in v]
        return own + [size for k, v in figure.items() if k != "title" for size in sizes_of_text(v)]
    return [size for item in figure for size in sizes_of_text(item)] if isinstance(figure, list) else []


@each("end", [1, 2, 7, 20, 120, 300, 365, 1000, 12_345])
@each("is_log", [False, True])
def test_the_last_iteration_is_a_tick_clear_of_the_one_before(end, is_log):
    axis = charts.line_chart([curve([1, 2])], title="", x_range=(is_log, end), is_log_x=is_log)["layout"]["xaxis"]
    assert axis["title"]["text"] == "iteration t"
    ticks = axis["tickvals"]
    assert ticks[-1] == end
    assert axis["ticktext"][-1] == f"{end:,}"
    assert len(ticks) <= MAX_STEPS + 1
    if is_log:
        assert all(b >= 2 * a for a, b in itertools.pairwise(ticks))
    else:
        assert all(b - a >= end / (2 * MAX_STEPS) for a, b in itertools.pairwise(ticks))


def test_the_text_of_a_chart_has_one_size():
    figure = charts.line_chart(
        [curve([1e-5, 1e3])], title="", is_log_y=True, marks=[Mark(3, "η 1 → 2")], x_range=(0, 9)
    )
    surface = charts.Surface(np.ones((3, 3)), 0, 1, 0, 1)
    chart_of_map = charts.map_figure([charts.heat(surface, 0.0, "light")], title="", axes=("", ""), revision="0")
    assert sizes_of_text(figure) + sizes_of_text(chart_of_map) == []  # the page's
    assert figure["layout"]["yaxis"]["exponentformat"] != "power"  # plotly draws it a quarter larger


@pytest.mark.parametrize(("low", "high"), [(0.3, 4.0), (1e-5, 1e3), (2.0, 2.0), (1e-30, 1e30)])
def test_a_log_axis_has_two_to_seven_ticks_on_what_it_shows(low, high):
    axis = charts.line_chart([curve([low, high])], title="", is_log_y=True)["layout"]["yaxis"]
    if "dtick" in axis:
        shown = np.log10(high / low) / axis["dtick"]
    else:
        shown = sum(low / 2.5 <= tick <= high * 2.5 for tick in axis["tickvals"])
    assert 2 <= shown <= 7


def test_the_axis_of_the_features_error_stays_readable_when_a_run_diverges_and_that_of_the_score_ends_at_one():
    live = LiveRun(Spec.from_dict({"setting": "s3vm", "solver": {"step_size": 50.0, "n_iter": 200}}))
    live.advance()
    error, score = (draw(live, View("light"), "0")["layout"]["yaxis"] for draw in (error_figure, score_figure))
    low, high = error["range"]
    assert high > 3
    assert 2 <= (high - low) / error["dtick"] <= 7
    assert 1.0 < score["autorangeoptions"]["clipmax"] < 1.1


def test_marks_of_changes_have_names_that_do_not_cover_each_other():
    marks = [Mark(t, f"η {t} → {t + 1}") for t in (10, 20, 30, 250)]
    layout = charts.line_chart([curve([1, 2])], title="", x_range=(0, 300), marks=marks)["layout"]
    assert [shape["x0"] for shape in layout["shapes"]] == [10, 20, 30, 250]
    assert [note["text"] for note in layout["annotations"]] == ["η 10 → 11 +2", "η 250 → 251"]
    assert [note["xanchor"] for note in layout["annotations"]] == ["left", "right"]  # away from the edge
    assert all(note["y"] == 1 and note["yanchor"] == "bottom" for note in layout["annotations"])  # above the curves


def test_counts_of_any_number_of_classes_are_readable():
    for k in (2, 4, 10, 20):
        names = [f"class {j}" for j in range(k)]
        counts = pd.DataFrame({"labeled": range(1, k + 1), "unlabeled": [1234] * k, "test": [0] * k}, index=names)
        figure = data_charts.balance_chart(counts, theme="light")
        assert [bar["text"] for bar in figure["data"]] == [[f"{j}" for j in range(1, k + 1)], ["1,234"] * k, ["0"] * k]
        for place, bar in enumerate(figure["data"]):
            assert bar["textposition"] == "outside"  # inside, plotly makes text smaller until it fits
            axis = figure["layout"][f"xaxis{place + 1 if place else ''}"]
            assert axis["range"][1] >= 1.4 * max(bar["x"])  # room beside the longest
        assert figure["layout"]["yaxis"]["dtick"] == 1  # every class has its name
        assert (data_views.CLASS_HEIGHT - 0.3 * data_views.CLASS_HEIGHT) >= 12


# --- words on the pages: no names of the code, the classes' own names, and one mark for one meaning


# Marks that do not say which class a point has.
NO_CLASS = {"unlabeled", "similar pairs", "no class known", None}


def opened(setting, **link):
    return checked(open_page(setting, **link))


def traces(app, key):
    return figure(app, key)["data"]


def marks(app, key):
    """Return the mark of each class on a chart, by its name."""
    found = {t.get("name"): t["marker"] for t in traces(app, key) if t["type"] == "scatter" and "marker" in t}
    return {name: marker["symbol"] for name, marker in found.items() if name not in NO_CLASS and "symbol" in marker}


def test_a_class_has_its_own_name_and_one_mark_on_the_map_and_on_the_data_page():
    live = marks(opened("auc", **{"data.name": "Breast cancer"}, at="3"), "chart-map")
    assert live == {"malignant": "circle", "benign": "triangle-up"}
    assert marks(opened("data", **{"data.name": "Breast cancer"}), "chart-plane") == live


def test_marks_of_two_classes_are_those_of_positive_and_negative():
    assert [class_symbol(label, 2) for label in (0, 1)] == ["triangle-up", "circle"]
    assert len({class_symbol(label, 5) for label in range(5)}) == 5


@pytest.mark.parametrize("said", ["theta/T^(3/4)", "θ/T^¾"])
def test_a_schedule_is_read_as_people_write_it_and_as_pages_do(said):
    app = opened("s3vm", **{"solver.schedule": said}, at="2")
    assert not app.warning
    assert '"schedule": "theta/T^(3/4)"' in "".join(code.value for code in app.code)


def test_every_schedule_has_words():
    assert SCHEDULE_WORDS.keys() == SCHEDULES.keys()
    assert not any("theta" in words or "sqrt" in words for words in SCHEDULE_WORDS.values())


def test_pairs_are_not_called_labels():
    app = opened("similar_unlabeled", at="3")
    names = {trace.get("name") for trace in traces(app, "chart-score")}
    assert "train (in pairs)" in names
    assert "train (labeled)" not in names


def test_no_link_is_asked_for_null():
    optional = Real("radius", None, low=0, high=1, optional=True)
    assert "null" not in refusal("mc_radius", optional, "abc")


# --- the plane that a map shows of data with many coordinates


def mixed_columns(n=300, seed=0):
    """Return a category of three as three columns, beside two columns of numbers in other units."""
    rng = np.random.default_rng(seed)
    category = np.eye(3)[rng.integers(0, 3, n)]
    return np.hstack([category, rng.normal(size=(n, 1)), 1000 * rng.uniform(size=(n, 1))])


def test_a_category_does_not_make_three_dots_of_the_map():
    X = mixed_columns()
    xy = Plane.through(X).project(X)
    for coordinate in xy.T:
        assert len(np.unique(coordinate.round(6))) == len(X)
    np.testing.assert_allclose(Plane.through(X).axes[:, :3], 0)


def test_columns_of_two_values_make_the_map_where_there_are_no_others():
    X = mixed_columns()[:, :3]
    assert np.ptp(Plane.through(X).project(X), axis=0).min() > 0.5


def test_no_unit_outweighs_the_others():
    X = mixed_columns()
    in_metres = X * (1, 1, 1, 1, 1e-6)
    np.testing.assert_allclose(
        np.abs(Plane.through(in_metres).project(in_metres)), np.abs(Plane.through(X).project(X)), atol=1e-9
    )


@pytest.mark.parametrize("features", [(None, None), (3, 4), (None, 4), (1, None)])
def test_points_of_the_grid_have_its_coordinates(features):
    X = mixed_columns()
    plane = Plane.through(X, features, tuple("abcde"))
    across, up = np.meshgrid(*(np.linspace(plane.low[i], plane.high[i], 7) for i in range(2)))
    np.testing.assert_allclose(plane.project(plane.grid(7)), np.stack([across.ravel(), up.ravel()], axis=1), atol=1e-9)
    xy = plane.project(X)
    assert (xy > plane.low).all()
    assert (xy < plane.high).all()


def test_columns_that_are_chosen_are_named():
    X = mixed_columns()
    plane = Plane.through(X, (None, 4), tuple("abcde"))
    assert plane.names == ("first principal axis", "e")
    np.testing.assert_allclose(plane.project(X)[:, 1], X[:, 4] - X[:, 4].mean())


def test_the_plane_of_two_dimensional_points_is_square_and_its_units_equal():
    X = np.random.default_rng(0).uniform(size=(200, 2)) * (3, 1)
    plane = Plane.through(X)
    np.testing.assert_allclose(np.ptp([plane.low, plane.high], axis=0), plane.high[0] - plane.low[0])
    np.testing.assert_array_equal(plane.project(X), X)


# --- colours of the maps: an error begins at 0, and the map of ordered classes has the colours of their points


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
