"""The Limits tab: four runs in the background, what the judgement makes of them, and the effect of a change."""

from types import SimpleNamespace

from live_page import head
from opened_pages import bench_of, open_auc, open_page
from test_looking_back import RUN

from dsgcore.diagnostics import Cause, judgement, limits
from pages.workbench import page
from pages.workbench.four_runs_view import _begin
from pages.workbench.steering import take

SMALL = RUN | {"batch_size": "2", "at": "64"}
SECONDS = 120


def said(app):
    assert not app.exception
    return " ".join(words.value for kind in (app.markdown, app.success, app.info, app.caption) for words in kind)


def when_done(app):
    """Draw the page again once its job is over."""
    job = bench_of(app).diagnosis.job
    assert job.wait(SECONDS)
    return app.run()


def test_the_judgement_uses_what_was_measured_and_another_measurement_says_what_its_remedy_brings():
    app = open_auc(**SMALL)
    app = when_done(app.button(key="find-limits").click().run())
    bench = bench_of(app)
    found = bench.diagnosis.job.result
    assert found.to_dict() == limits(bench.live.run.spec).to_dict()
    judged = judgement(bench.live.run, baseline=bench.live.supervised, limits=found)
    assert judged.cause is Cause.BATCHES
    assert judged != judgement(bench.live.run, baseline=bench.live.supervised)
    assert head(app)["judgement"]["said"] == judged.sentence
    page._apply(bench)
    app.run()
    assert app.session_state["batch_size"] == 8
    while not bench_of(app).live.is_finished:
        app.run()
    app = when_done(app.button(key="find-limits").click().run())
    after = bench_of(app).diagnosis.job.result
    assert "Effect of the change" in said(app)
    assert f"expected {found.expected:.3g}, it is now {after.parts['together']:.3g}" in said(app)
    assert after.parts["together"] < found.parts["together"]


def test_a_job_that_is_cancelled_says_so_and_leaves_the_page_as_it_was():
    app = open_auc(**SMALL | {"n_iter": "2048"})
    app = app.button(key="find-limits").click().run()
    app = app.button(key="limits-cancel").click().run()
    app = when_done(app)
    assert "Cancelled after" in said(app)
    assert not app.button(key="find-limits").disabled


def test_where_it_cannot_be_found_out_the_page_says_why():
    app = open_page("multiclass")
    assert "Not available: DSG Lab finds limits only if each iteration draws new random features" in said(app)
    assert "find-limits" not in [button.key for button in app.button]


def test_clicks_that_come_in_while_other_data_are_made_ready_do_nothing():
    bench = SimpleNamespace(live=None, diagnosis=None, given={}, wants_restart=False)
    _begin(bench)
    take(bench, {"step_size": 0.1})
    assert vars(bench) == {"live": None, "diagnosis": None, "given": {}, "wants_restart": False}
