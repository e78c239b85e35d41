"""A click or a moved slider while a page is at work: it ends the drawing, in the same thread, and nothing is lost."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

pytest.importorskip("streamlit")
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.testing.v1 import AppTest
from test_app import APP

from dsgcore.experiments import Run
from pages import _race_views, _warm_up, _workbench


def open_page(setting, **link):
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    _warm_up.warm_up().thread.join()
    return app.switch_page(f"pages/{setting}.py").run()


def move_a_slider():
    """Ask for the page anew, as a slider does that is moved while the page is being drawn."""
    context = get_script_run_ctx()
    context.script_requests.request_rerun(RerunData(page_script_hash=context.page_script_hash))


def test_a_session_has_one_thread_at_a_time():
    config = tomllib.loads((Path(APP).parent / ".streamlit" / "config.toml").read_text())
    assert config["runner"]["fastReruns"] is False


@pytest.mark.compiled
def test_a_moved_slider_ends_a_long_slice_of_training(monkeypatch):
    advance, follow, seen = Run._advance_once, _workbench.follow, []

    def advance_while_a_slider_moves(run):
        made = advance(run)
        if run.t == 5 and not seen:
            seen.append("moved")
            move_a_slider()
        return made

    def noting(problem, bench, asked):
        if bench.live is not None:
            seen.append(bench.live.run.t)
        follow(problem, bench, asked)

    monkeypatch.setattr(Run, "_advance_once", advance_while_a_slider_moves)
    monkeypatch.setattr(_workbench, "follow", noting)
    app = open_page("auc", speed="instant", n_iter="100")
    assert not app.exception
    assert seen[:2] == ["moved", 5]


@pytest.mark.compiled
def test_a_slider_moved_while_a_race_starts_does_not_lose_it(monkeypatch):
    begin, begun = _race_views.begin_race, []

    def begin_while_a_slider_moves(*arguments, **options):
        begun.append(begin(*arguments, **options))
        move_a_slider()
        return begun[-1]

    monkeypatch.setattr(_race_views, "begin_race", begin_while_a_slider_moves)
    app = open_page("s3vm", svm_n="100")
    app.button(key="race-start").click().run()
    try:
        assert not app.exception
        assert len(begun) == 1
        assert app.session_state["_races"]["s3vm"].job is begun[0]
    finally:
        begun[0].cancel()
        begun[0].wait(10)
