"""The slider that looks back: tiles, map, lights and link are those of an earlier step."""

from __future__ import annotations

import pytest

pytest.importorskip("streamlit")
from test_app import figure, open_auc

from dsgcore.diagnostics import live_gauges

pytestmark = pytest.mark.compiled

RUN = {"data": "Two moons", "n": "200", "n_labeled": "40", "sigma": "10", "n_iter": "64", "at": "60"}


def bench(app):
    assert not app.exception
    return app.session_state["_bench_auc"]


def test_everything_is_as_it_was_at_the_step_that_is_looked_at():
    app, stopped = open_auc(**RUN), open_auc(**RUN | {"at": "24"})
    (slider,) = app.slider
    app = slider.set_value(24).run()
    assert bench(app).look == 24
    assert [m.value for m in app.metric[:3]] == [m.value for m in stopped.metric[:3]]
    assert figure(app, "chart-map")["data"][0]["z"] == figure(stopped, "chart-map")["data"][0]["z"]
    lines = [shape["x0"] for shape in figure(app, "chart-error")["layout"]["shapes"]]
    assert lines == [24]
    seen = bench(app).view[1].run
    assert live_gauges(seen) == live_gauges(bench(stopped).live.run)
    assert bench(app).link["look"] == "24"
    assert bench(app).live.run.t == 60
    app = app.slider[0].set_value(60).run()
    assert bench(app).look == 0


def test_a_link_opens_where_it_was_looked_at():
    app = open_auc(**RUN | {"look": "24"})
    assert bench(app).look == 24
    assert app.slider[0].value == 24


def test_a_run_is_watched_again_from_its_start():
    app = open_auc(**RUN | {"at": "20"})  # one drawing of the page a step
    app = app.button(key="watch-again").click().run()
    steps = [bench(app).look]
    while bench(app).is_showing:
        steps.append(bench(app.run()).look)
    assert steps[0] == 1
    *shown, last = steps
    assert shown == list(range(1, 20))
    assert last == 0
