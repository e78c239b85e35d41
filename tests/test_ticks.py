"""Ticks: a run goes on, and its page is brought up to date, without the page's script."""

import gc
import gzip
import json
import math
import threading
import time
import weakref
from types import SimpleNamespace

import pytest
from room_phones import ask
from small_specs import small

from dsgcore.experiments import SETTINGS, FileStore, LiveRun
from pages.live import map_view
from pages.live import tick as live_tick
from pages.live.curves import objective_figure
from pages.live.tick import BUSY, tick
from pages.session.bench import Bench, View
from pages.session.lesson_place import place_in
from pages.shell import sharing, ticks
from pages.shell.sharing import turns
from pages.shell.ticks import GONE, LOST, TickDoor, Ticker

LONG = 20.0  # seconds after which a test gives up


@pytest.fixture
def bench(monkeypatch):
    """A page's run that goes on by ticks."""
    monkeypatch.setattr(live_tick, "are_served", lambda: True)
    live = LiveRun(small("auc", solver={"n_iter": 12}))
    made = Bench(FileStore(), live=live, view=View(speed="slow"))
    made.link.page.texts = {"solver.n_iter": "12"}  # as the script has written it
    return made


def news_of(content):
    first, *figures = content.decode().split("\n")
    news = json.loads(first)
    return news, {chart["key"]: json.loads(text) for chart, text in zip(news["figures"], figures, strict=True)}


def answered(token, method="POST", path="/tick", length=None, headers=None, **more):
    """Ask the door for a tick; return the answer's code and content, or None if the request was sent on to the app."""

    async def app(*_request):
        """Answer nothing."""

    named = {"content-length": str(len(token) if length is None else length), **(headers or {})}
    reply = ask(TickDoor(app), method, path, body=token.encode(), headers=named, **more)
    if reply is None:
        return None
    is_packed = reply.headers.get("content-encoding") == "gzip"
    return reply.status_code, gzip.decompress(reply.content) if is_packed else reply.content


def test_a_tick_gives_way_to_the_script_which_waits_for_it(bench):
    hold, has, done = bench.feed.hold, threading.Event(), threading.Event()

    def script():
        with hold.taken(), hold.taken():
            has.set()
            done.wait(LONG)

    thread = threading.Thread(target=script, daemon=True)
    with hold.tried() as is_ours:
        assert is_ours
        thread.start()
        while not hold.is_wanted:
            assert thread.is_alive()
        assert not has.is_set()
    has.wait(LONG)
    assert not hold.is_wanted
    assert tick(bench) == BUSY
    assert bench.live.run.t == 0
    done.set()
    thread.join(LONG)
    assert tick(bench) != BUSY


def test_a_tick_advances_the_run_and_brings_what_the_page_would_show(bench):
    news, figures = news_of(tick(bench))
    assert bench.live.run.t == 1
    assert news["status"]["text"] == "step 1 of 12 · running"
    said = figures["chart-objective"]["layout"]["meta"]["values"]["training data"]
    assert said == f"{bench.live.run.history.last()['objective']:.3g}"
    assert set(figures) == {"chart-objective", "chart-score", "chart-map", "chart-error"}
    assert figures["chart-objective"]["layout"]["uirevision"] == "0"
    drawn = objective_figure(bench.live, bench.view, "0")
    assert figures["chart-objective"]["data"] == json.loads(json.dumps(drawn["data"]))
    assert not news["isOver"]
    assert news["kept"]["at"] == "1-playing"


def test_a_tick_after_a_click_to_another_step_leaves_the_lessons_place_with_the_controls_that_the_link_has(bench):
    bench.lesson.place = place_in(SETTINGS["auc"], "unlabeled:1:answer")
    bench.link.page.texts |= {"lesson": "unlabeled:2:answer", "data.n_labeled": "200"}  # not yet drawn anew
    kept = {name: text for name, text in news_of(tick(bench))[0]["kept"].items() if text}
    assert kept == bench.link.page.texts | {"at": "1-playing"}


def test_a_tick_names_each_number_where_its_curve_is_named(bench):
    bench.live = LiveRun(small("auc", solver={"n_iter": 12, "average": "tail"}))
    for t in range(1, 9):
        figures, live = news_of(tick(bench))[1], bench.live
        row, twin = live.run.history.last(), live.supervised.history.last()
        said = {"test": row["score_test"], "labels only": twin["score_test"]}
        said |= {"average": row["score_average"]} if t > 6 else {}
        drawn = figures["chart-score"]["layout"]["meta"]["values"]
        assert drawn == {name: f"{value:.3f}" for name, value in said.items()}
        assert set(drawn) <= {trace["name"] for trace in figures["chart-score"]["data"]}


def test_a_map_that_stays_as_it_is_travels_once_and_again_after_a_drawing_by_the_script(bench):
    assert "chart-map" in news_of(tick(bench))[1]
    bench.surface.computed_at = math.inf  # no other is due
    assert set(news_of(tick(bench))[1]) == {"chart-objective", "chart-score", "chart-error"}
    live_tick.head_data(bench)  # Streamlit may have dropped it
    assert "chart-map" in news_of(tick(bench))[1]


def test_the_map_follows_each_step_while_the_core_is_free_and_waits_on_a_crowded_server(bench, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(map_view, "time", SimpleNamespace(monotonic=lambda: now[0]))
    tick(bench)
    for waited, cost, seconds, is_new in [(0.0, 0.01, 0.25, True), (0.0, 0.03, 0.25, False), (1.0, 0.0, 0.25, False),
                                          (1.0, 0.0, 1.0, True)]:  # fmt: skip
        bench.feed.waited, bench.surface.cost = waited, cost
        now[0] += seconds
        tick(bench)
        assert (bench.surface.computed_t == bench.live.run.t) == is_new


def test_what_limits_the_run_is_found_with_each_tick_and_once_a_second_while_others_wait(bench, monkeypatch):
    now, found = [100.0], []
    monkeypatch.setattr(live_tick, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(live_tick, "said_of", lambda bench: found.append(bench.live.run.t) or {"said": len(found)})
    for n_waiting, seconds, n_found in ((0, 0.0, 1), (0, 0.1, 2), (3, 0.1, 2), (3, 0.8, 2), (3, 0.2, 3), (0, 0.1, 4)):
        monkeypatch.setattr(live_tick, "turns", SimpleNamespace(n_waiting=n_waiting, turn=turns.turn))
        now[0] += seconds
        assert news_of(tick(bench))[0]["judgement"] == {"said": n_found}
    assert found == [1, 2, 5, 6]


def test_the_last_tick_has_the_page_drawn_and_then_there_are_none(bench):
    bench.is_playing = False
    assert tick(bench) == GONE
    assert bench.live.run.t == 0, "a run that stands still is not advanced"
    bench.is_playing, bench.view = True, View(speed="fast")
    while not (news := news_of(tick(bench))[0])["isOver"]:
        pass
    assert bench.live.is_finished
    assert news["redraw"]
    assert tick(bench) == GONE


def test_the_browser_looks_back_and_watches_again_without_the_script(bench):
    bench.live.advance(12)
    bench.is_playing = False
    news, figures = news_of(tick(bench, "look 5"))
    assert bench.back.t == news["scrubber"]["shown"] == 5
    assert (news["isOver"], news["redraw"], news["kept"]["look"]) == (True, False, "5")
    assert [shape["x0"] for shape in figures["chart-objective"]["layout"]["shapes"]] == [5]
    for asked, step in (("look 12", 0), ("look 3", 3), ("look 99", 0), ("look x", 0), ("nonsense", 0)):
        tick(bench, asked)
        assert bench.back.t == step, asked
    tick(bench, "look 12")
    assert not news_of(tick(bench, "watch"))[0]["isOver"]
    shown = []
    while bench.back.is_moving:
        news = news_of(tick(bench))[0]
        shown.append(news["scrubber"]["shown"])
    assert shown == [*range(1, 12), 12]
    assert news["isOver"]
    tick(bench, "watch")
    tick(bench, "watch")
    assert not bench.back.is_moving


def test_an_address_answers_who_knows_a_token_for_as_long_as_its_page_is_there():
    ticker = Ticker(lambda asked: f"news {asked}".encode())
    assert answered(ticker.token) == (200, b"news ")
    assert answered(f"{ticker.token} look 12") == (200, b"news look 12")
    assert answered("0" * 32) == (200, LOST)
    assert answered(ticker.token, path="/proxy/tick", root_path="/proxy") == (200, b"news ")
    assert answered(ticker.token, path="/proxy/tick") is answered(ticker.token, method="GET") is None
    token = ticker.token
    del ticker
    gc.collect()
    assert answered(token) == (200, LOST)
    assert answered("x", length=10**9)[0] == answered("x", length="no")[0] == 400


def test_a_long_answer_is_packed_for_who_can_unpack_it(monkeypatch):
    packed = []
    monkeypatch.setattr(
        ticks, "gzip", SimpleNamespace(compress=lambda *given: packed.append(gzip.compress(*given)) or packed[0])
    )
    content = b"a long answer " * 99
    ticker = Ticker(lambda _: content)
    assert answered(ticker.token) == (200, content)
    assert not packed
    assert answered(ticker.token, headers={"accept-encoding": "gzip, br"}) == (200, content)
    assert len(packed[0]) < len(content) / 9


def test_a_token_of_a_session_that_the_server_has_dropped_is_lost(monkeypatch):
    connected, clock = {"one"}, [100.0]
    monkeypatch.setattr(sharing, "exists", lambda: True)
    monkeypatch.setattr(sharing, "get_instance", lambda: SimpleNamespace(is_active_session=connected.__contains__))
    monkeypatch.setattr(sharing, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    session = sharing.Session("one")
    monkeypatch.setattr(ticks, "arrive", lambda: session)
    ticker = Ticker(lambda _: b"there")
    assert answered(ticker.token) == (200, b"there")
    for seconds, answer in (
        (100, b"there"),
        (121, LOST),
    ):  # after the first of them the browser returns, and no script runs
        connected.clear()
        session.leave()
        clock[0] += seconds
        assert answered(ticker.token) == (200, answer)
        if answer != LOST:
            connected.add("one")
            clock[0] += 100
            assert answered(ticker.token) == (200, b"there")


def test_a_closed_page_is_not_kept_by_its_ticks(monkeypatch):
    monkeypatch.setattr(live_tick, "are_served", lambda: True)
    bench = Bench(FileStore(), live=LiveRun(small("auc", solver={"n_iter": 12})))
    live_tick.head_data(bench)
    ticker, page = bench.feed.ticker, weakref.ref(bench)
    del bench
    gc.collect()
    assert page() is None
    assert ticker.answer("") == GONE


def test_a_clock_that_steps_back_makes_no_news_old(bench, monkeypatch):
    now = [1e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    first, _ = news_of(live_tick.tick(bench))
    now[0] -= 3600
    second, _ = news_of(live_tick.tick(bench))
    assert second["order"] > first["order"]
    assert second["owner"] == first["owner"] == bench.feed.name


def test_a_room_that_is_closed_during_a_tick_breaks_nothing(bench, monkeypatch):
    class Closing(type(bench.lesson)):
        """A lesson whose room is there at the first look alone."""

        @property
        def room(self):
            room, self._room = self._room, None
            return room

        @room.setter
        def room(self, room):
            self._room = room

    bench.lesson = Closing()
    bench.group.room = SimpleNamespace(code="ABC234")
    news, _ = news_of(live_tick.tick(bench))
    assert news["kept"]["room"] == "ABC234"
