"""A run's page: looking back, a run that diverges, what limits a run, and clicks while the page is at work."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from cases import each, some
from clocks import until
from opened_pages import APP, bench_of, checked, errors, left_in_browser, open_auc, open_page, run_of
from small_specs import small
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

from dsgcore.diagnostics import judgement
from dsgcore.experiments import SETTINGS, LiveRun, Run, Spec, StopReason, default_spec
from pages.live.judgement import watch_again
from pages.race import views as race_views
from pages.session import bench as benches
from pages.workbench import head as head_of_page
from pages.workbench import page, sidebar, steering
from pages.workbench.sidebar import toggle

RUN = {"data.name": "two_moons", "data.n": "200", "data.n_labeled": "40", "kernel.sigma": "10", "solver.n_iter": "64"}
OF_BOTH_ENGINES = dict.fromkeys(["multiclass", *some(SETTINGS, 2, 6)])
TOO_LARGE = {"auc": 50.0, "s3vm": 100.0, "ordinal": 100.0, "similar_unlabeled": 1000.0}  # step sizes


@pytest.fixture(autouse=True)
def _drawings_that_reach_the_links_step(monkeypatch):
    """On a busy machine a second is not enough."""
    monkeypatch.setattr(benches, "LONGEST_GO", 60.0)


def short(name, **solver):
    plain = default_spec(name).to_dict()
    return Spec.from_dict(plain | {"solver": plain["solver"] | {"n_iter": 60, "average": "tail"} | solver})


@each("name, solver", [
    *((name, {}) for name in OF_BOTH_ENGINES), *((name, {"step_size": size}) for name, size in TOO_LARGE.items())
])  # fmt: skip
def test_an_earlier_iteration_is_a_run_that_was_stopped_there_also_of_one_that_diverged(name, solver):
    run, stopped, whole = (Run(short(name, **solver)) for _ in range(3))
    run.advance(None if solver else 55)
    assert (run.stop_reason is StopReason.DIVERGED, run.model_t < run.t) == (bool(solver), bool(solver))
    before, last = run.test_values.copy(), run.t if solver else 50  # also after averaging has begun
    for t in (1, max(1, last // 2), last):
        stopped.advance(t - stopped.t)
        seen, Z = run.at(t), run.split.X_test[:9]
        assert seen.t == seen.model_t == t
        for values in ("training_values", "test_values", "labeled_values"):
            np.testing.assert_array_equal(getattr(seen, values), getattr(stopped, values))
        np.testing.assert_array_equal(seen.engine.test_average, stopped.engine.test_average)
        np.testing.assert_array_equal(seen.model.evaluate(Z), stopped.model.evaluate(Z))
        if solver:
            np.testing.assert_array_equal(seen.exact_values(Z), stopped.exact_values(Z))
        assert seen.history.last() == stopped.history.last()
        assert judgement(seen) == judgement(stopped)
    with pytest.raises(ValueError, match="t must be between 1 and"):
        run.at(run.t + 1)
    # The run itself continues as if it had not been viewed.
    np.testing.assert_array_equal(run.test_values, before)
    for one in (whole, run):
        one.advance()
    np.testing.assert_array_equal(run.test_values, whole.test_values)


# --- the slider


def test_a_run_is_watched_again_from_its_start():
    app = open_auc(**RUN, at="9")  # one drawing of the page a step
    watch_again(bench_of(checked(app)))
    app.run()
    steps = [bench_of(checked(app)).back.t]
    while bench_of(checked(app)).back.is_moving:
        steps.append(bench_of(checked(app.run())).back.t)
    assert steps == [*range(1, 9), 0]


def test_the_pale_curve_of_a_diverged_run_ends_where_it_grew():
    first = LiveRun(small("auc", solver={"step_size": 1000.0, "n_iter": 300, "dtype": "float64"}))
    first.advance()
    assert first.run.stop_reason is StopReason.DIVERGED
    second = LiveRun(small("auc"), first)
    limit = 10 * first.run.start_objective
    assert first.run.history.column("objective").max() > 1e6 * limit
    assert second.ghost is None or second.ghost.column("objective").max() <= limit
    assert second.previous is first.run.history  # the table of both still says what became of it


# --- a click or a moved slider while a page is at work ends the drawing, in the same thread, and nothing is lost


def move_a_slider_while(monkeypatch, place, name, *, before=False, widgets=None):
    """Request the page again before a function of a place begins, or after its end, as a slider does that moves meanwhile.

    `widgets` are the values that the browser has then. Return the list of what the function has returned.
    """
    answer, returned = getattr(place, name), []

    def request():
        context = get_script_run_ctx()
        known = {"widget_states": widgets, "page_script_hash": context.page_script_hash}
        context.script_requests.request_rerun(RerunData(**known))

    def answer_while_a_slider_moves(*arguments, **options):
        if before:
            request()
        returned.append(answer(*arguments, **options))
        if not before and len(returned) == 1:
            request()
        return returned[-1]

    monkeypatch.setattr(place, name, answer_while_a_slider_moves)
    return returned


def test_play_begins_a_run_again_that_is_over():
    app = open_auc(**RUN | {"solver.n_iter": "4"}, at="4")
    run = run_of(app)
    assert run.is_finished
    toggle(bench_of(app), was_going=False)
    checked(app.run())
    assert run_of(app) is not run
    assert run_of(app).spec == run.spec


def test_a_session_has_one_thread_at_a_time():
    config = tomllib.loads((Path(APP).parent / ".streamlit" / "config.toml").read_text())
    assert config["runner"]["fastReruns"] is False


def test_a_slider_moved_while_a_race_starts_does_not_lose_it(monkeypatch):
    begun = move_a_slider_while(monkeypatch, race_views, "begin_race")
    app = open_page("s3vm", **{"data.n": "100"})
    checked(app.button(key="race-start").click().run())
    (job,) = begun
    try:
        assert app.session_state["_races"]["s3vm"].job is job
    finally:
        job.cancel()
        job.wait(10)


@pytest.mark.parametrize(
    ("place", "name", "button"), [(sidebar, "_reset", "reset"), (head_of_page, "_apply", "preset-1")]
)
def test_a_click_is_not_lost_where_a_slider_moves_while_it_is_answered(monkeypatch, place, name, button):
    move_a_slider_while(monkeypatch, place, name, before=True)
    app = open_auc(at="7")
    number, link = bench_of(app).begun.number, left_in_browser(app)
    checked(app.button(key=button).click().run())
    assert bench_of(app).begun.number > number
    assert bench_of(app).given == {}
    assert left_in_browser(app) != link


def test_values_that_a_click_sets_outlive_a_request_with_those_that_the_browser_had_before(monkeypatch):
    app = open_auc()
    followed = move_a_slider_while(monkeypatch, page, "follow", widgets=app._tree.get_widget_states())
    checked(app.button(key="preset-1").click().run())
    assert len(followed) > 1
    assert run_of(app).spec.solver.step_size == 20
    app.run()
    assert run_of(app).spec.solver.step_size == 20
    app.select_slider(key="step_size").set_value(0.1).run()  # the values are set once, and not for ever
    assert run_of(app).spec.values_at(run_of(app).t)["step_size"] == 0.1


def test_a_link_is_shown_where_it_was_paused_though_a_slider_moves_meanwhile(monkeypatch):
    move_a_slider_while(monkeypatch, steering, "begin")
    bench = bench_of(open_auc(at="7"))
    assert (bench.live.run.t, bench.is_playing) == (7, False)


# --- a race from its page, with its real process: test_race.py has its numbers and its sentences


def start_race(app):
    checked(app.button(key="race-start").click().run())
    return app.session_state["_races"]["s3vm"].job


@pytest.mark.ci
def test_a_race_is_refused_for_memory_and_another_one_with_its_own_numbers_is_cancelled():
    app = open_page("s3vm", **{"data.n": "10000", "solver.n_iter": "20"})  # 7,000 training points
    app = app.select_slider(key="race-limit-s3vm").set_value(0.1).run()
    assert any("Its memory limit is 0.1 GB." in one.value for one in app.caption)
    job = start_race(app)
    assert job.wait(60)
    assert errors(app.run()) == ["S3VM-light needs more memory than the limit of 0.1 GB, and was stopped."]
    app.select_slider(key="race-limit-s3vm").set_value(4.0).run()
    app = app.selectbox(key="race-s3vm").select("BGS3VM").run()
    next(box for box in app.number_input if "BGS3VM-n_passes" in box.key).set_value(1000).run()
    assert app.button(key="race-start").label == "Race against BGS3VM"
    job = start_race(app)
    until(lambda: job.is_over or job.progress)
    assert any("of 10,000 at most" in one.proto.text for one in app.run().get("progress"))
    assert app.button(key="race-start").disabled
    app = checked(app.button(key="race-cancel").click().run())
    (said,) = (info.value for info in app.info if "cancelled" in info.value)
    assert re.fullmatch(r"BGS3VM was cancelled after \d+\.\d s\.", said)
    assert (errors(app), app.button(key="race-start").disabled) == ([], False)
