"""The button "Suggest values": looked for in the background, said with its interval, set at a click and set back."""

from __future__ import annotations

import pytest
from cases import each

pytest.importorskip("streamlit")
from opened_pages import bench_of, click_like_a_browser, open_auc

from dsgcore.core.metrics import Difference
from dsgcore.experiments import SETTINGS, default_spec
from dsgcore.model_selection import Suggestion
from dsgcore.settings import profile_of
from pages.workbench import suggest_view

# A kernel so sharp that nothing can be learned: easily made better.
POOR = {"data": "Two moons", "n": "400", "n_labeled": "150", "sigma": "5000", "n_iter": "64", "n_features": "16"}
SECONDS = 120


def panel(app):
    assert not app.exception
    return " ".join(words.value for words in (*app.markdown, *app.caption))


def when_done(app, name="auc"):
    assert bench_of(app, name).suggested.job.wait(SECONDS)
    return app.run()


@pytest.mark.ci
def test_values_are_found_for_a_poor_kernel_set_at_a_click_set_back_or_searched_further(monkeypatch):
    app = open_auc(**POOR)
    before = bench_of(app).asked
    app.selectbox(key="suggest-seconds").select(10)
    app = when_done(app.button(key="suggest-values").click().run())
    found = bench_of(app).suggested.job.result
    assert found.gain.low > 0
    assert "Inverse bandwidth 5000 →" in panel(app)
    assert f"{found.gain.mean:+.3f} ({found.gain.low:+.3f} to {found.gain.high:+.3f}, 95 % over 5 folds)" in panel(app)
    table = app.dataframe[0].value
    assert len(table) == len(found.tried)
    assert "current" in set(table[""])
    app = app.button(key="suggest-set").click().run()
    assert app.session_state["sigma"] == found.parameters["sigma"]
    asked = bench_of(app).asked
    assert asked.kernel.sigma == found.parameters["sigma"]
    assert asked.data == before.data
    assert app.query_params["sigma"] == f"{found.parameters['sigma']:g}"
    app = app.button(key="suggest-set").click().run()
    assert bench_of(app).asked == before
    last = len(found.tried)
    app.selectbox(key=f"suggest-row-{last}").select(last).run()
    app = app.button(key="suggest-use").click().run()
    assert bench_of(app).asked.kernel.sigma == found.tried[-1].parameters.get("sigma", 5000)
    app = app.button(key="suggest-set").click().run()
    assert bench_of(app).asked == before
    monkeypatch.setattr(suggest_view, "MORE", 1)
    app = when_done(app.button(key="suggest-more").click().run())
    more = bench_of(app).suggested.job.result
    assert len(more.tried) > last
    known = {(tuple(one.parameters.items()), one.n_iter): one.scores for one in more.tried}
    assert [one for one in found.tried if known.get((tuple(one.parameters.items()), one.n_iter)) == one.scores]
    app = app.button(key="suggest-close").click().run()
    assert bench_of(app).suggested is None
    assert "suggest-set" not in [button.key for button in app.button]


def test_on_a_finished_run_every_button_of_a_suggestion_does_what_it_says(monkeypatch):
    app = open_auc(**POOR, speed="instant")
    before = bench_of(app).asked
    while not bench_of(app).live.is_finished:
        app = app.run()
    app.selectbox(key="suggest-seconds").select(10)
    app = when_done(app.button(key="suggest-values").click().run())
    found = bench_of(app).suggested.job.result
    app = click_like_a_browser(app, "suggest-set")
    assert bench_of(app).asked.kernel.sigma == found.parameters["sigma"]
    assert bench_of(app).live.run.spec.kernel.sigma == found.parameters["sigma"]
    assert app.button(key="suggest-set").label == "Undo"
    app = click_like_a_browser(app, "suggest-set")
    assert bench_of(app).asked == before
    app.selectbox(key=f"suggest-row-{len(found.tried)}").select(len(found.tried)).run()
    app = click_like_a_browser(app, "suggest-use")
    assert bench_of(app).asked.kernel.sigma == found.tried[-1].parameters.get("sigma", 5000)
    monkeypatch.setattr(suggest_view, "MORE", 1)
    app = when_done(click_like_a_browser(app, "suggest-more"))
    assert len(bench_of(app).suggested.job.result.tried) > len(found.tried)
    app = click_like_a_browser(app, "suggest-close")
    assert bench_of(app).suggested is None
    assert "suggest-set" not in [button.key for button in app.button]
    assert app.selectbox(key="data"), "the whole page"


@each(
    "gain, said",
    [
        (0.0123, "The largest gain is +0.012"),
        (0.0004, "The best one gains nothing"),
        (-0.0004, "The best one gains nothing"),
        (-0.0123, "The best one loses 0.012"),
    ],
)
def test_a_gain_that_rounds_to_zero_is_said_to_be_none(gain, said):
    found = Suggestion({}, Difference.around(gain, 0.02, 20, "folds"), 0.9, (), 1.0)
    words = suggest_view.said_of(default_spec("auc"), found, {}, {})
    assert f"clearly better on held-out folds. {said} (" in words


def test_a_difference_that_rounds_to_zero_has_no_sign():
    assert [suggest_view.signed(value, 3) for value in (0.0004, -0.0004, -0.0006, 0.0)] == [
        "0.000",
        "0.000",
        "-0.001",
        "0.000",
    ]


def test_it_can_be_cancelled_and_goes_with_its_data():
    app = open_auc(**POOR | {"n_iter": "2000"})
    app.selectbox(key="suggest-seconds").select(180)
    app = app.button(key="suggest-values").click().run()
    job = bench_of(app).suggested.job
    assert app.button(key="suggest-values").disabled
    app = app.button(key="suggest-cancel").click().run()
    app = when_done(app)
    assert "Cancelled after" in panel(app)
    app = app.button(key="suggest-values").click().run()
    job = bench_of(app).suggested.job
    app.number_input(key="seed").set_value(7)
    app = app.run()
    assert job.wait(SECONDS)
    assert bench_of(app).suggested is None


def test_where_labels_are_too_few_a_sentence_says_so():
    app = open_auc(**POOR | {"n_labeled": "4"})
    app = app.button(key="suggest-values").click().run()
    assert "No suggestion is possible here: the number of labeled points must be at least 5" in panel(app)


@each("name", SETTINGS)
def test_every_setting_has_controls_for_all_that_is_suggested(name):
    spec = default_spec(name)
    offered = suggest_view.controls_for(SETTINGS[name], spec.data.name, spec.kernel.name)
    own = spec.to_dict()
    names = {
        n
        for n in profile_of(SETTINGS[name]).suggested
        if any(n in own[part] for part in ("solver", "problem", "kernel"))
    }
    assert names <= set(offered)
