import threading
import time
from functools import partial

import clocks
import pytest

from dsgcore.core.threads import MAX_EVALUATIONS_PER_PIECE, for_each_piece, pausing, pieces
from pages.shell.turns import LONGEST_TURN, Turns

LONG = 20.0  # seconds after which a test gives up
until = partial(clocks.until, seconds=LONG, every=0.001)


def in_thread(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_who_has_waited_longest_goes_first():
    turns, order = Turns(1), []

    def wait_for_turn(name):
        with turns.turn():
            order.append(name)

    names = ["first", "second", "third"]
    with turns.turn():
        threads = []
        for n, name in enumerate(names, 1):
            threads.append(in_thread(lambda name=name: wait_for_turn(name)))
            until(lambda n=n: turns.n_waiting == n)
    for thread in threads:
        thread.join(LONG)
    assert order == names


def test_while_a_click_is_answered_others_begin_no_turn_for_a_moment_at_most(monkeypatch):
    turns, order = Turns(1), []

    def take():
        with turns.turn():
            order.append("other")

    with turns.preference():
        thread = in_thread(take)
        until(lambda: turns.n_waiting == 1)
        with turns.turn():
            order.append("own")
    thread.join(LONG)
    assert order == ["own", "other"]
    monkeypatch.setattr("pages.shell.turns.LONGEST_PREFERENCE", 0.0)
    with turns.preference():
        in_thread(take).join(LONG)
        assert order == ["own", "other", "other"]


def test_long_work_lets_others_in_between():
    turns = Turns(1)
    begun, done, order = threading.Event(), threading.Event(), []

    def short():
        begun.set()
        with turns.turn():
            order.append("short")
        done.set()

    def long_piece(part):
        begun.wait(LONG)
        until(lambda: turns.n_waiting or done.is_set())
        time.sleep(2 * LONGEST_TURN)

    with turns.turn():
        thread = in_thread(short)
        for_each_piece(long_piece, [slice(0, 1)])
        order.append("long")
    thread.join(LONG)
    assert order == ["short", "long"]


def test_so_many_compute_at_once():
    turns = Turns(2)
    with turns.turn(), turns.turn():
        third = threading.Event()

        def wait_for_turn():
            with turns.turn():
                third.set()

        thread = in_thread(wait_for_turn)
        until(lambda: turns.n_waiting == 1)
        assert not third.wait(0.1)
    thread.join(LONG)
    assert third.is_set()


def test_an_error_gives_the_turn_back():
    turns = Turns(1)
    with pytest.raises(KeyError), turns.turn():
        raise KeyError
    with turns.turn():
        pass


def test_no_piece_of_work_is_long():
    parts = pieces(96 * 4096, 96, 4096 * MAX_EVALUATIONS_PER_PIECE)
    assert len(parts) >= 4096
    assert parts[0].start == 0
    assert parts[-1].stop == 96 * 4096


def test_work_pauses_between_pieces_in_the_callers_thread():
    seen = []
    with pausing(lambda: seen.append(threading.get_ident())):
        for_each_piece(lambda part: None, [slice(i, i + 1) for i in range(4)])
        for_each_piece(lambda part: for_each_piece(lambda inner: None, [part]), [slice(0, 1)])
    assert seen
    assert set(seen) == {threading.get_ident()}
    before = len(seen)
    for_each_piece(lambda part: None, [slice(0, 1)])
    assert len(seen) == before


def test_who_has_clicked_goes_before_those_who_only_watch():
    turns, order = Turns(1), []

    def wait_for_turn(name, is_urgent):
        with turns.turn(is_urgent=is_urgent):
            order.append(name)

    with turns.turn():
        threads = []
        for n, (name, is_urgent) in enumerate([("watching", False), ("also watching", False), ("clicking", True)], 1):
            threads.append(in_thread(lambda name=name, is_urgent=is_urgent: wait_for_turn(name, is_urgent)))
            until(lambda n=n: turns.n_waiting == n)
    for thread in threads:
        thread.join(LONG)
    assert order == ["clicking", "watching", "also watching"]


def test_who_gives_up_waiting_is_no_longer_waited_for():
    turns = Turns(1)

    def give_up():
        raise KeyError("a click")

    with turns.turn():
        with pytest.raises(KeyError, match="a click"), turns.turn(look=give_up):
            pass
        assert turns.n_waiting == 0
    with turns.turn():
        assert turns.n_waiting == 0
