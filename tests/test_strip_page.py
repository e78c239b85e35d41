"""What limits the run, on a setting's page: one sentence, and a remedy that one click sets on the controls."""

from live_page import head
from opened_pages import bench_of, open_auc, open_page, run_of
from test_judgement import WORSE

from dsgcore.experiments import Spec
from pages.live.judgement import said_of
from pages.studies.links import link_to_run
from pages.workbench import page

FEW = {"data": "Digits", "n_labeled": "200", "sigma": "0.5", "lam": "0.01", "n_features": "4"}


def pressed(app):
    """Press the remedy, as the browser's trigger does."""
    page._apply(bench_of(app))
    return app.run()


def test_one_click_on_a_remedy_sets_the_control_and_begins_again_with_the_run_before_as_its_ghost():
    app = open_auc(**FEW, n_iter="128", at="100", speed="fast")
    assert not app.exception
    assert head(app)["judgement"]["remedy"] == "More features: 4 → 16"
    app = pressed(app)
    assert not app.exception
    bench = bench_of(app)
    assert app.session_state["n_features"] == 16
    assert bench.live.run.spec.solver.n_features == 16
    assert bench.live.ghost is not None
    while not bench.live.run.is_finished:
        app.run()
        bench = bench_of(app)
    said = head(app)["judgement"]["said"]
    assert f"Features: {bench.tried.before} → " in said
    assert f"(expected {bench.tried.expected})" in said


def test_what_a_remedy_has_brought_is_not_said_of_a_run_that_was_changed_since():
    bench = bench_of(pressed(open_auc(**FEW, n_iter="600", at="500", speed="slow")))
    bench.live.run.change("step_size", 0.1)
    bench.live.advance()
    said = said_of(bench)["said"]
    assert said
    assert "expected" not in said


def test_the_step_slider_says_what_auto_is_and_where_runs_diverge():
    app = open_auc(at="3")
    run = run_of(app)
    said = next(caption.value for caption in app.caption if "diverges above" in caption.value)
    assert f"{run.engine.largest_step:.2g}" in said
    assert f"{run.engine.automatic_step:.2g}" in said


def test_the_page_does_not_say_that_nothing_limits_a_run_beside_worse_than_labels_only():
    app = open_page("s3vm", **link_to_run(Spec.from_dict(WORSE)), svm_at="400")
    while not bench_of(app, "s3vm").live.is_finished:
        app.run()
    app.run()
    assert not app.exception
    judgement = head(app)["judgement"]
    assert "Nothing limits this run" not in judgement["said"]
    assert judgement["tone"] != "green"
