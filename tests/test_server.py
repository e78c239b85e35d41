"""What keeps the server well: its places, its line in the log, and closed sessions that are let go of."""

from __future__ import annotations

import asyncio
import platform
import weakref
from types import SimpleNamespace

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.testing.v1 import AppTest
from test_app import APP

from dsgcore._memory import give_back, resident
from pages.shell import admission, watch
from pages.shell.admission import Door
from pages.shell.watch import Pulse, free_closed_sessions, said


def door_of(places, there):
    return Door(places, there.__contains__)


def test_who_comes_late_waits_in_the_order_of_coming():
    there = {"a", "b", "c", "d"}
    door = door_of(2, there)
    assert [door.ask(name) for name in "abcd"] == [0, 0, 1, 2]
    assert door.ask("d") == 2
    there.discard("a")
    assert door.ask("d") == 2  # it is c's turn
    assert door.ask("c") == 0
    assert door.ask("d") == 1
    there.discard("b")
    assert door.ask("d") == 0


def test_who_gives_up_waiting_leaves_the_queue():
    there = {"a", "b", "c"}
    door = door_of(1, there)
    assert [door.ask(name) for name in "abc"] == [0, 1, 2]
    there.discard("b")
    assert door.ask("c") == 1


def test_who_is_inside_stays_inside():
    there = {"a", "b"}
    door = door_of(1, there)
    assert door.ask("a") == 0
    assert door.ask("b") == 1
    assert door.ask("a") == 0


@pytest.mark.parametrize(
    ("text", "places"), [("3", 3), ("", admission.PLACES), ("0", admission.PLACES), ("x", admission.PLACES)]
)
def test_the_number_of_places_can_be_named(monkeypatch, text, places):
    monkeypatch.setenv(admission.VARIABLE, text)
    assert admission._door().places == places


@pytest.mark.compiled
def test_who_waits_is_told_so_and_gets_in(monkeypatch):
    answers = iter([2, 2, 1, 0, 0, 0, 0, 0])
    monkeypatch.setattr(admission, "exists", lambda: True)
    monkeypatch.setattr(admission, "door", SimpleNamespace(places=5, ask=lambda session: next(answers, 0)))
    app = AppTest.from_file(APP, default_timeout=60).run()
    assert "All 5 places on this server are taken. You are number 2 in the queue" in app.info[0].value
    app.run()
    app.run()
    assert not app.info
    assert not app.exception


def test_the_pulse_counts_drawings_and_whose_they_are():
    pulse = Pulse()
    for session in "aab":
        pulse.note(session)
    playing, updates = pulse.take()
    assert playing == 2
    assert updates > 0
    assert pulse.take()[0] == 0


def test_the_line_in_the_log():
    assert said(3, 2, 7.25, 123_456_789, 1) == "3 sessions, 2 playing, 7.2 updates/s, 123 MB, 1 waiting for a core"


class Session:
    """What a closed session holds on to."""


def runtime_with(storage, loop):
    manager = SimpleNamespace(_session_storage=storage, num_active_sessions=lambda: 1)
    return SimpleNamespace(_session_mgr=manager, _get_async_objs=lambda: SimpleNamespace(eventloop=loop))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_memory_between_what_is_held_is_given_back():
    held = [bytearray(4000) for _ in range(50_000)]  # 200 MB, in pieces that the C library keeps
    kept = held[::500]
    before = resident()
    del held
    give_back()
    assert resident() < before - 150e6
    assert len(kept) == 100


def test_closed_sessions_are_freed_though_nobody_comes(caplog, monkeypatch):
    given_back = []
    monkeypatch.setattr(watch, "give_back", lambda: given_back.append(True))
    storage, session = MemorySessionStorage(ttl_seconds=0), Session()
    storage.save(SimpleNamespace(session=SimpleNamespace(id="a", held=session)))
    held = weakref.ref(session)
    del session
    assert held() is not None
    loop = asyncio.new_event_loop()
    watch.look(runtime_with(storage, loop))
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    assert held() is None
    assert given_back
    assert "1 sessions" in caplog.text


def test_another_inner_side_of_streamlit_is_no_error():
    free_closed_sessions(SimpleNamespace())
