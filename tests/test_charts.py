"""Numbers as the charts send them, the words and marks on them, and the maps' planes and colours."""

import itertools
from dataclasses import replace

import numpy as np
from cases import each
from hypothesis import example, given
from hypothesis import strategies as st
from small_specs import small

from dsgcore.experiments import Plane, Run
from dsgcore.settings import panels
from dsgcore.settings.panels import Mark
from pages.charts import figures as charts
from pages.charts.run_map import decision_heats, point_sets
from pages.live import map_view


def bits(numbers):
    """Return the numbers so that -0.0 and 0.0 differ."""
    return [None if v is None else v.hex() for v in numbers]


def test_four_digits_are_those_of_the_text_rounded_and_read_again():
    rng = np.random.default_rng(0)
    middles = (rng.integers(1000, 10_000, 5_000) + 0.5) * 10.0 ** rng.integers(-25, 25, 5_000)
    powers = 10.0 ** np.arange(-30, 31)
    edges = np.concatenate(
        [powers, middles, 9999.5 * powers]
    )  # in the middle between two of four digits, or next to it
    values = np.concatenate(
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
    assert len(values) > 100_000
    by_text = [float(f"{v:.4g}") if np.isfinite(v) else None for v in values]
    assert bits(charts.four_digits(values)) == bits(by_text)


@each("n", [101, 150, 997, 1000, 3000])
def test_a_thinned_curve_has_the_lowest_and_highest_number_of_each_stretch_also_beside_gaps(n):
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


MARKS = st.lists(
    st.tuples(st.integers(1, 100), st.integers(5, 25)), min_size=1, max_size=9, unique_by=lambda one: one[0]
)


@given(drawn=MARKS, is_log=st.booleans())
@example(drawn=[(45, 25), (80, 25)], is_log=False)  # on both sides of the middle
def test_names_of_changes_do_not_overlap_and_the_ones_left_out_are_counted(drawn, is_log):
    marks = [Mark(x, "m" * length) for x, length in sorted(drawn)]
    names = charts.names_of(marks, (1, 100), is_log=is_log)
    end, n_named = -1.0, 0
    for name in names:
        text, _, more = name["text"].partition(" +")
        share, width = (name["x"] / 2 if is_log else (name["x"] - 1) / 99), charts.CHARACTER * len(text)
        start = share if name["xanchor"] == "left" else share - width
        assert (start >= end, 0 <= share <= 1) == (True, True)
        assert name["xanchor"] == ("left" if share < 0.5 else "right"), "inside the plot"
        end, n_named = start + width, n_named + 1 + int(more or 0)
    assert n_named == len(marks)


# --- the plane that a map shows of data with many coordinates


def test_no_unit_outweighs_the_others_and_points_of_the_grid_have_its_coordinates():
    rng = np.random.default_rng(0)
    category = np.eye(3)[rng.integers(0, 3, 300)]  # of three as three columns, beside numbers in other units
    X = np.hstack([category, rng.normal(size=(300, 1)), 1000 * rng.uniform(size=(300, 1))])
    in_metres = X * (1, 1, 1, 1, 1e-6)
    planes = [np.abs(Plane.through(one).project(one)) for one in (in_metres, X)]
    np.testing.assert_allclose(*planes, atol=1e-9)
    for features in ((None, None), (3, 4), (None, 4), (1, None)):
        plane = Plane.through(X, features, tuple("abcde"))
        across, up = np.meshgrid(*(np.linspace(plane.low[i], plane.high[i], 7) for i in range(2)))
        grid = np.stack([across.ravel(), up.ravel()], axis=1)
        np.testing.assert_allclose(plane.project(plane.grid(7)), grid, atol=1e-9)
        xy = plane.project(X)
        assert ((xy > plane.low) & (xy < plane.high)).all()


# --- colours of the maps: the map has the colours of its points


def heat(name, shown, theme="light", t=12):
    """Return the run after `t` iterations, the map's trace below the points, and the classes' points."""
    run = Run(small(name))
    run.advance(t)
    state = map_view._new_map(run, (None, None))
    state.values = map_view._values(run, state, shown)
    trace = decision_heats(run, state.plane, [state.values], shown=map_view.KINDS[shown], theme=theme)[0]
    return run, trace, point_sets(run, Plane.through(run.split.X_train))[1:]


def test_of_two_classes_the_positive_one_has_the_colour_of_the_maps_upper_end_also_among_the_scores():
    run, trace, points = heat("auc", "f")
    names = run.split.class_names
    assert {one.name: one.color for one in points} == dict(zip(names, (charts.NEGATIVE, charts.POSITIVE), strict=True))
    ends = [trace["colorscale"][i][1] for i in (0, -1)]
    assert [int(end[1:3], 16) > int(end[5:7], 16) for end in ends] == [True, False]  # red, and blue
    of_class = [run.result_test_values[run.split.y_test == code].tolist() for code in (0, 1)]
    found = [(values.name, values.role, values.values.tolist()) for values in panels.by_class(run)]
    assert found == list(zip(names, (panels.NEGATIVE, panels.POSITIVE), of_class, strict=True))


def test_points_are_drawn_where_the_edited_ones_are():
    run, _, _ = heat("auc", "f", t=1)
    plane, edited = Plane.through(run.split.X_train), replace(run.split, X_train=run.split.X_train + 1.0)
    (grey, *_), y = point_sets(run, plane, edited), run.split.y_train
    np.testing.assert_allclose(grey.xy, plane.project(edited.X_train)[y < 0])
