"""Look inside on the Details tab, and the parts of the objective in the tab Theory."""

import numpy as np
import pytest
from live_page import figure
from opened_pages import bench_of, open_page, run_of, said

from dsgcore.diagnostics import amplitudes, feature_trajectory, feature_wave, point_pull, point_trajectory
from pages.charts.risk_chart import risk_chart


def keys(app):
    return [c.proto.id for c in app.get("bidi_component")]


def heat_of(app):
    return np.array(figure(app, "chart-inside-map")["data"][0]["z"], dtype=float)


def grid_of(app, name):
    return bench_of(app, name).surface.plane.grid(60)


def close(values):
    values = np.asarray(values, dtype=float)
    return pytest.approx(values, rel=1e-3, abs=1e-3 * float(np.abs(values).max()))


def test_one_random_feature_is_drawn_over_the_data_and_through_time():
    app = open_page("s3vm", svm_at="12")
    assert said(app) == []
    run = run_of(app, "s3vm")
    number = next(n for n in app.number_input if n.key.startswith("inside-t-"))
    app = number.set_value(7).run()
    feature = next(n for n in app.number_input if n.key.startswith("inside-feature-"))
    app = feature.set_value(5).run()
    Z = grid_of(app, "s3vm")
    assert heat_of(app).ravel() == close(feature_wave(run.model, 7, 5, Z))
    way = figure(app, "chart-inside-way")
    assert way["data"][0]["y"] == close(feature_trajectory(run.model, 7, 5))
    assert way["data"][0]["y"][:7] == [0.0] * 7
    left = f"{np.prod(run.model.decays[7:]):.0%}"
    assert way["layout"]["meta"]["note"] == f"drawn at iteration 7; {left} of it remains"
    app = next(n for n in app.number_input if n.key.startswith("inside-t-")).set_value(200).run()
    assert any("features of iteration 200 do not exist yet" in caption.value for caption in app.caption)
    assert not any("chart-inside" in key for key in keys(app))


def test_one_training_point_is_drawn_with_its_pull_and_its_way():
    app = open_page("auc", at="20")
    app.session_state["inside"] = "one point"
    app = app.run()
    run = run_of(app, "auc")
    row = int(run.labeled_rows[0])
    assert heat_of(app).ravel() == close(point_pull(run, row, grid_of(app, "auc")))
    star = figure(app, "chart-inside-map")["data"][-1]
    assert [star["x"][0], star["y"][0]] == pytest.approx(run.split.X_train[row], rel=1e-3)
    way, (t, coefficients) = figure(app, "chart-inside-way")["data"][0], point_trajectory(run, row)
    assert way["x"] == t.tolist()
    assert way["y"] == close(coefficients)
    kind = run.split.class_names[run.split.y_train[row]]
    assert any(f"Point {row + 1} ({kind}) pulls h" in caption.value for caption in app.caption)
    app.session_state["inside"] = "all coefficients"
    app = app.run()
    lines = figure(app, "chart-inside-all")["data"]
    found = amplitudes(run.model)
    assert [line["name"] for line in lines] == list(found.sizes)
    assert lines[2]["y"] == close(found.sizes["median"])


def test_several_classes_have_no_inside_of_that_kind():
    app = open_page("multiclass", mc_at="5")
    assert said(app) == []
    assert not any("chart-inside" in key for key in keys(app))


@pytest.mark.parametrize(("name", "prefix"), [("similar_unlabeled", "su_"), ("multiclass", "mc_")])
def test_the_parts_of_the_objective_are_in_the_tab_of_the_theory(name, prefix):
    app = open_page(name, **{f"{prefix}at": "20"})
    assert said(app) == []
    drawn, history = figure(app, "chart-terms"), run_of(app, name).history
    areas = [trace for trace in drawn["data"] if "stackgroup" in trace]
    parts = [column.removeprefix("term: ") for column in history.names if column.startswith("term: ")]
    assert list(dict.fromkeys(trace["name"] for trace in areas)) == parts
    for part in parts:
        both = np.sum([trace["y"] for trace in areas if trace["name"] == part], axis=0)
        assert both == close(history.column(f"term: {part}"))
    objective = next(trace for trace in drawn["data"] if trace["name"] == "objective")
    assert objective["y"] == close(history.column("objective"))


def test_a_risk_that_is_estimated_below_zero_is_drawn_and_said():
    app = open_page("similar_unlabeled", su_at="60", su_n_labeled="20")
    run = run_of(app, "similar_unlabeled")
    drawn = figure(app, "chart-terms")
    names = [f"risk of {name}" for name in run.split.class_names[::-1]]
    lines = [next(trace for trace in drawn["data"] if trace["name"] == name) for name in names]
    below = np.minimum([line["y"] for line in lines], 0.0).sum(axis=0)
    assert below[-1] < -0.01
    # The ReLU adds what is missing to zero: what it is there for.
    assert -below == close(run.history.column("term: correction"))
    assert drawn["layout"]["meta"]["note"].startswith("below zero: risk of")


def test_a_part_that_changes_its_sign_is_drawn_on_its_side_of_zero():
    t, y = np.arange(1.0, 5.0), np.array([2.0, 1.0, -1.0, -3.0])
    areas = [a for a in risk_chart(t, {"one": y, "two": y + 4}, theme="light")["data"] if "stackgroup" in a]
    assert [(a["name"], a["stackgroup"], a["y"], a["showlegend"]) for a in areas] == [
        ("one", "positive", [2.0, 1.0, 0.0, 0.0], True),
        ("one", "negative", [0.0, 0.0, -1.0, -3.0], False),
        ("two", "positive", [6.0, 5.0, 3.0, 1.0], True),
    ]


def test_areas_on_top_of_each_other_have_the_same_iterations_however_long_the_run():
    t = np.arange(5000.0)
    rng = np.random.default_rng(0)
    data = risk_chart(t, {"one": rng.random(5000), "two": rng.random(5000)}, theme="dark")["data"]
    first, second = (a["x"] for a in data if "stackgroup" in a)
    assert first == second
    assert (len(first), first[-1]) == (400, 4999.0)
