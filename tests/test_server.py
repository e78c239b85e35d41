"""Care of the server: its places, its line in the log, and the release of closed sessions."""

import asyncio
import platform
import weakref
from types import SimpleNamespace
from weakref import WeakSet

import pytest
from opened_pages import APP
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.testing.v1 import AppTest

from dsgcore.jobs.memory import give_back, resident
from pages.server import sessions, streamlit_gaps
from pages.shell import admission, watch
from pages.shell.admission import Door
from pages.shell.watch import Pulse, said


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


class Held:
    """An object that an ended session holds."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_memory_between_what_is_held_is_given_back():
    held = [bytearray(4000) for _ in range(50_000)]  # 200 MB, in pieces that the C library keeps
    kept = held[::500]
    before = resident()
    del held
    give_back()
    assert resident() < before - 150e6
    assert len(kept) == 100


def test_ended_sessions_are_dropped_although_nobody_comes(caplog, monkeypatch):
    given_back = []
    monkeypatch.setattr(watch, "give_back", lambda: given_back.append(True))
    monkeypatch.setattr(watch, "n_connected", lambda: 1)
    storage, held = MemorySessionStorage(ttl_seconds=0), Held()
    storage.save(SimpleNamespace(session=SimpleNamespace(id="a", held=held)))
    seen = weakref.ref(held)
    del held
    assert seen() is not None
    runtime = SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=storage))
    monkeypatch.setattr(streamlit_gaps, "get_instance", lambda: runtime)
    watch.look()
    assert seen() is None
    assert given_back
    assert "1 sessions" in caplog.text


def test_a_failed_look_is_not_the_last_one(caplog, monkeypatch):
    looks = iter([RuntimeError("broken"), None, asyncio.CancelledError()])

    def look():
        if failure := next(looks):
            raise failure

    monkeypatch.setattr(watch, "look", look)
    monkeypatch.setattr(watch, "SECONDS_BETWEEN_LOOKS", 0)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(watch.watch())
    assert "a look at the server failed" in caplog.text


def test_connected_sessions_are_counted(monkeypatch):
    connected = {"one", "two"}
    monkeypatch.setattr(sessions, "exists", lambda: True)
    monkeypatch.setattr(sessions, "get_instance", lambda: SimpleNamespace(is_active_session=connected.__contains__))
    known = [sessions.Session(name) for name in ("one", "two", "three")]
    monkeypatch.setattr(sessions, "_sessions", WeakSet(known))
    assert sessions.n_connected() == 2
