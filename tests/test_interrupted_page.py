"""A click or a moved slider while a page is at work: it ends the drawing, in the same thread, and nothing is lost."""

import tomllib
from pathlib import Path

import pytest
from opened_pages import APP, bench_of, left_in_browser, open_page
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

from pages.race import views as race_views
from pages.workbench import head, page, sidebar, steering


def move_a_slider(widgets=None):
    """Request the page again, as a slider does that moves while the page is drawn; `widgets` are the browser's values."""
    context = get_script_run_ctx()
    context.script_requests.request_rerun(RerunData(widget_states=widgets, page_script_hash=context.page_script_hash))


def test_a_session_has_one_thread_at_a_time():
    config = tomllib.loads((Path(APP).parent / ".streamlit" / "config.toml").read_text())
    assert config["runner"]["fastReruns"] is False


def test_a_slider_moved_while_a_race_starts_does_not_lose_it(monkeypatch):
    begin, begun = race_views.begin_race, []

    def begin_while_a_slider_moves(*arguments, **options):
        begun.append(begin(*arguments, **options))
        move_a_slider()
        return begun[-1]

    monkeypatch.setattr(race_views, "begin_race", begin_while_a_slider_moves)
    app = open_page("s3vm", **{"data.n": "100"})
    app.button(key="race-start").click().run()
    try:
        assert not app.exception
        assert len(begun) == 1
        assert app.session_state["_races"]["s3vm"].job is begun[0]
    finally:
        begun[0].cancel()
        begun[0].wait(10)


@pytest.mark.parametrize(
    ("place", "name", "button"),
    [(sidebar, "_reset", "reset"), (head, "_apply", "preset-1")],
)
def test_a_click_is_not_lost_where_a_slider_moves_while_it_is_answered(monkeypatch, place, name, button):
    answer = getattr(place, name)

    def answer_while_a_slider_moves(*arguments):
        move_a_slider()
        answer(*arguments)

    monkeypatch.setattr(place, name, answer_while_a_slider_moves)
    app = open_page("auc", at="7")
    number, link = bench_of(app).number, left_in_browser(app)
    app.button(key=button).click().run()
    assert not app.exception
    assert bench_of(app).number > number
    assert bench_of(app).given == {}
    assert left_in_browser(app) != link


def test_values_that_a_click_sets_outlive_a_request_with_those_that_the_browser_had_before(monkeypatch):
    app = open_page("auc")
    before, follow, asked = app._tree.get_widget_states(), page.follow, []

    def follow_while_the_browser_asks(*arguments):
        follow(*arguments)
        if not asked:
            asked.append(move_a_slider(before))

    monkeypatch.setattr(page, "follow", follow_while_the_browser_asks)
    app.button(key="preset-1").click().run()
    assert not app.exception
    assert asked
    assert bench_of(app).live.run.spec.solver.step_size == 20
    app.run()
    assert bench_of(app).live.run.spec.solver.step_size == 20
    app.select_slider(key="step_size").set_value(0.1).run()  # the values are set once, and not for ever
    assert bench_of(app).live.run.spec.values_at(bench_of(app).live.run.t)["step_size"] == 0.1


def test_a_link_is_shown_where_it_was_paused_though_a_slider_moves_meanwhile(monkeypatch):
    begin = steering.begin

    def begin_while_a_slider_moves(*arguments):
        begin(*arguments)
        move_a_slider()

    monkeypatch.setattr(steering, "begin", begin_while_a_slider_moves)
    app = open_page("auc", at="7")
    live = bench_of(app)
    assert (live.live.run.t, live.is_playing) == (7, False)
