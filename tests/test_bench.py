from __future__ import annotations

import threading
import time

from dsgcore.experiments import LiveRun, Run, Spec
from pages._bench import Bench, once


def test_a_click_that_arrives_twice_acts_once():
    bench, done = Bench(), []
    for drawn in (1, 1, 2):  # the second arrival belongs to the same drawing of the page
        once(bench, drawn, done.append, drawn)
    assert done == [1, 2]


def test_one_thread_at_a_time_has_the_bench_and_learns_that_another_waits():
    bench, order = Bench(), []

    def second():
        with bench.alone():
            order.append("second")

    with bench.alone(), bench.alone():  # a fragment inside its page
        assert not bench.is_wanted()
        thread = threading.Thread(target=second)
        thread.start()
        while not bench.is_wanted():
            time.sleep(0.001)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
    assert not bench.is_wanted()


def test_a_slider_moved_in_the_middle_of_an_iteration_counts_from_the_next():
    spec = Spec.from_dict({"setting": "multiclass", "solver": {"n_iter": 6}, "data": {"name": "wine", "n_labeled": 20}})
    bench = Bench(live=LiveRun(spec))
    live = bench.live
    live.advance(2)
    is_inside, may_go_on = threading.Event(), threading.Event()
    usual = live.run.engine.advance

    def slow_advance():
        row = usual()
        is_inside.set()
        may_go_on.wait(10)
        return row

    live.run.engine.advance = slow_advance

    def tick():
        with bench.alone():
            live.advance(1)

    def move():
        with bench.alone():
            live.steer({"lam": 0.5})

    ticking, moving = threading.Thread(target=tick), threading.Thread(target=move)
    ticking.start()
    assert is_inside.wait(10)
    moving.start()
    while not bench.is_wanted():
        time.sleep(0.001)
    may_go_on.set()
    ticking.join(10)
    moving.join(10)
    live.advance()
    assert [change.t for change in live.run.spec.changes] == [4]
    again = Run.replay(live.run.spec, 6)
    assert again.history.column("objective").tolist() == live.run.history.column("objective").tolist()


def test_a_rush_ends_when_it_is_asked_to():
    live = LiveRun(Spec.from_dict({"setting": "auc", "solver": {"n_iter": 200}}))
    live.rush(60.0, until=lambda: live.run.t >= 3)
    assert live.run.t == 3
