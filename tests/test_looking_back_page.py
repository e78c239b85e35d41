"""The slider that looks back: tiles, map, lights and link show an earlier step."""

from live_page import figure, head, tiles
from opened_pages import open_auc

from dsgcore.diagnostics import live_gauges
from pages.live.looking_back import look_at, watch_again

RUN = {"data": "Two moons", "n": "200", "n_labeled": "40", "sigma": "10", "n_iter": "64", "at": "60"}


def bench(app):
    assert not app.exception
    return app.session_state["_bench_auc"]


def test_everything_is_as_it_was_at_the_step_that_is_looked_at():
    app, stopped = open_auc(**RUN), open_auc(**RUN | {"at": "24"})
    look_at(bench(app), 24)
    app = app.run()
    assert bench(app).look == 24
    assert tiles(app) == tiles(stopped)
    assert figure(app, "chart-map")["data"][0]["z"] == figure(stopped, "chart-map")["data"][0]["z"]
    lines = [shape["x0"] for shape in figure(app, "chart-error")["layout"]["shapes"]]
    assert lines == [24]
    seen = bench(app).earlier[1].run
    assert live_gauges(seen) == live_gauges(bench(stopped).live.run)
    assert bench(app).link.texts["look"] == "24"
    assert bench(app).live.run.t == 60
    look_at(bench(app), 60)
    assert bench(app.run()).look == 0


def test_a_link_opens_where_it_was_looked_at():
    app = open_auc(**RUN | {"look": "24"})
    assert bench(app).look == 24
    assert head(app)["scrubber"]["shown"] == 24


def test_a_run_is_watched_again_from_its_start():
    app = open_auc(**RUN | {"at": "9"})  # one drawing of the page a step
    watch_again(bench(app))
    app.run()
    steps = [bench(app).look]
    while bench(app).is_showing:
        steps.append(bench(app.run()).look)
    assert steps[0] == 1
    *shown, last = steps
    assert shown == list(range(1, 9))
    assert last == 0
