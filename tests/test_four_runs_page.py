"""The Limits tab: four runs in the background, their verdict, and the effect of the suggested change."""

from types import SimpleNamespace

from opened_pages import bench_of, click_like_a_browser, open_auc, open_page
from test_looking_back import RUN

from dsgcore.diagnostics import limits
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


def test_four_runs_say_what_limits_the_run_and_one_click_what_the_remedy_brings():
    app = open_auc(**SMALL)
    app = when_done(app.button(key="find-limits").click().run())
    bench = bench_of(app)
    found = bench.diagnosis.job.result
    assert found.to_dict() == limits(bench.live.run.spec).to_dict()
    assert found.leading == "batches"
    assert "The noise of the mini-batches limits it." in said(app)
    assert "8 instead of 2" in said(app)
    app = click_like_a_browser(app, "do-it")
    assert app.session_state["batch_size"] == 8
    app = when_done(app.run())
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
