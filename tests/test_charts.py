"""Numbers as the charts send them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from cases import each

from dsgcore.experiments import LiveRun, Spec
from dsgcore.settings.panels import Mark
from pages.charts import figures as charts
from pages.charts.figures import MAX_STEPS
from pages.gallery import data_charts, data_views
from pages.live.curves import error_figure, score_figure
from pages.session.view import View


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
