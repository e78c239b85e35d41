"""Links to runs that need too much, or that take long."""

import time

import pytest
from live_page import status
from opened_pages import bench_of, open_page, said

from pages.session import bench as benches

# A page runs at once and draws surfaces: without the compiler that takes minutes.
pytestmark = pytest.mark.compiled


def test_a_link_that_asks_for_too_much_gets_a_sentence_at_once():  # test_cost.py tries all kinds of it
    start = time.process_time()
    app = open_page("multiclass", mc_data="Blobs", mc_n="40000", mc_n_features="16384", mc_features="fourier")
    assert not app.exception
    assert len(app.error) == 1
    assert "it would fit" in app.error[0].value
    assert bench_of(app, "multiclass").live is None
    assert time.process_time() - start < 10.0  # memory that is touched takes time


def test_a_slider_that_asks_for_too_much_leaves_the_run_as_it_is():
    app = open_page("auc", n_iter="100000", at="3", data="Two moons")
    before = bench_of(app, "auc").live
    app.select_slider(key="n_features").set_value(4096).run()
    assert "it would fit" in app.error[0].value
    assert bench_of(app, "auc").live is before


def test_a_link_to_a_late_iteration_is_gone_to_piece_by_piece(monkeypatch):
    monkeypatch.setattr(benches, "LONGEST_GO", 0.0)
    app = open_page("auc", n_iter="40", at="8-playing")
    bench = bench_of(app, "auc")
    assert 0 < bench.live.run.t < 8
    assert "going to step 8" in status(app)
    for _ in range(100):
        if bench.link.going_to:
            app.run()
    assert bench.live.run.t >= 8
    assert bench.is_playing
    assert said(app) == []


def test_pause_ends_the_way_to_a_late_iteration(monkeypatch):
    monkeypatch.setattr(benches, "LONGEST_GO", 0.0)
    app = open_page("auc", n_iter="40", at="20")
    app.button(key="play").click().run()
    bench = bench_of(app, "auc")
    assert not bench.link.going_to
    assert not bench.is_playing
    reached = bench.live.run.t
    app.run()
    assert bench.live.run.t == reached < 20
