"""The pages without a browser: what they say, and that bad input never shows a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = str(Path(__file__).parents[1] / "app.py")
SLIDERS = (
    "step_size",
    "n_features",
    "lam",
    "gamma",
    "sigma",
    "batch_size",
    "n_iter",
    "patience",
    "tolerance",
    "n_labeled",
    "test_share",
)
CHOICES = ("schedule", "pairing", "scaling")


def open_auc(**link):
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page("pages/auc.py").run()


def said(app):
    assert not app.exception
    return [warning.value for warning in app.warning]


def figure(app, key):
    chart = next(c for c in app.get("bidi_component") if key in c.proto.id)
    return json.loads(json.loads(chart.proto.json)["figure"])


def test_home_says_what_is_there():
    app = AppTest.from_file(APP, default_timeout=60).run()
    assert not app.exception
    assert app.title[0].value == "DSG Lab"


def test_the_page_runs_at_once_and_draws():
    app = open_auc()
    assert said(app) == []
    assert any("step" in caption.value for caption in app.caption)
    traces = {trace.get("name"): trace for trace in figure(app, "chart-error")["data"]}
    assert {"measured", "paper's bound (Lemma 1)", "calibrated band (×/÷ 2)"} <= set(traces)
    assert figure(app, "chart-error")["layout"]["xaxis"]["type"] == "log"
    assert len(app.metric) == 3


@pytest.mark.parametrize("value", ["abc", "NaN", "inf", "-1e9", "1e400", "", "[1]", "true"])
@pytest.mark.parametrize("name", SLIDERS)
def test_a_number_in_the_link_that_is_not_allowed_gets_one_sentence(name, value):
    notices = said(open_auc(**{name: value}))
    assert len(notices) == 1
    assert f"In the link, {name} must be" in notices[0]


@pytest.mark.parametrize("value", ["abc", "", "1"])
@pytest.mark.parametrize("name", CHOICES)
def test_a_word_in_the_link_that_is_not_allowed_gets_one_sentence(name, value):
    notices = said(open_auc(**{name: value}))
    assert len(notices) == 1
    assert f"In the link, {name} must be" in notices[0]


@pytest.mark.parametrize("value", ["abc", "-1", "1.5", "NaN", "99999999999"])
def test_a_seed_in_the_link_that_is_not_allowed_gets_one_sentence(value):
    notices = said(open_auc(seed=value))
    assert len(notices) == 1
    assert "In the link, seed must be" in notices[0]


@pytest.mark.parametrize("name", ["speed", "slider", "map"])
def test_a_view_in_the_link_that_does_not_exist_gets_one_sentence(name):
    notices = said(open_auc(**{name: "bogus"}))
    assert len(notices) == 1
    assert f"In the link, {name} must be one of" in notices[0]


@pytest.mark.parametrize("value", ["0", "-3", "301", "abc", "1.5", "NaN", "٣"])
def test_an_iteration_in_the_link_that_is_not_allowed_gets_one_sentence(value):
    notices = said(open_auc(at=value))
    assert len(notices) == 1
    assert "In the link, at must be" in notices[0]


@pytest.mark.parametrize(
    "value",
    ["abc", "3:lam", "x:lam=1", "3:lam=abc", "3:lam=NaN", "3:sigma=1", "3:lam=0.5", "9999:lam=0.01", "," * 5000],
)
def test_a_record_of_changes_in_the_link_that_does_not_fit_gets_one_sentence(value):
    notices = said(open_auc(changes=value))
    assert len(notices) == 1
    assert notices[0]


def test_a_link_sets_a_value_between_the_sliders_stops():
    app = open_auc(sigma="0.37", at="5")
    assert said(app) == []
    assert '"sigma": 0.37' in "".join(code.value for code in app.code)


def test_a_link_with_changes_and_an_iteration_shows_the_run_as_it_was():
    app = open_auc(step_size="0.2", changes="0:step_size=0.5,4:step_size=0.2", at="7")
    assert said(app) == []
    assert any(caption.value == ":green[●] step 7 of 300 · paused · 1 change recorded" for caption in app.caption)
    assert [shape["x0"] for shape in figure(app, "chart-objective")["layout"]["shapes"]] == [4]


def test_more_labels_than_points_get_one_sentence():
    app = open_auc(n_labeled="2000", data="Breast cancer")
    assert not app.exception
    assert len(app.error) == 1
    assert "n_labeled" in app.error[0].value
