"""Sixty phones with addresses of their own vote, draw curves and see the reveal, after the server was killed and under attack."""

from __future__ import annotations

from collections import Counter

import pytest
from classroom import (
    CURVE,
    PORT,
    SERVER,
    asking,
    band,
    classroom,
    drawn_values,
    run_of_curve,
    why_not,
)
from room_phones import guesses_in

from pages.shell.room_key import cookie_name

N_PHONES = 60
N_HOSTILE = 2_200
pytestmark = [pytest.mark.ci, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there can be a classroom")]


ENTRANCE = f"http://{SERVER}:{PORT}/r"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    with classroom(tmp_path_factory.mktemp("room") / "runs.sqlite", N_PHONES + 4) as built:
        yield built


@pytest.fixture
def room(built):
    """A classroom whose server runs."""
    if built.server is None or built.server.poll() is not None:
        assert built.start()[1] == ENTRANCE
    return built


def test_sixty_phones_vote_draw_and_see_the_reveal_and_a_killed_server_loses_nothing(room):
    rooms, key = asking(room.store)
    phones = room.phones_at(ENTRANCE, room.phones[:N_PHONES])
    lecturer = room.phones_at(ENTRANCE, room.phones[-1:])
    try:
        assert len(phones.do("join", key.code)) == N_PHONES
        phones.do("vote", key.code, 1.0)
        phones.begin("wait", key.code, "isRevealed", True)
        rooms.reveal(key)
        assert len(phones.done()) == N_PHONES
        rooms.again(key)
        phones.do("wait", key.code, "round", 2)
        phones.do("vote", key.code, 1.0)
        rooms.ask(key, CURVE)
        phones.do("wait", key.code, "name", CURVE.name)
        phones.do("vote", key.code, 1.0)
        room.kill()
        phones.begin("wait", key.code, "isRevealed", True)
        room.start()
        rooms.tell(key, run_of_curve())
        rooms.reveal(key)
        assert len(phones.done()) == N_PHONES
        assert [len(guesses) for guesses in guesses_in(rooms, key)] == [N_PHONES, N_PHONES]
        curves = [guess for _body, guess in phones.do("answered")]
        assert len(set(curves)) == N_PHONES  # each phone has drawn its own
        assert sorted(map(CURVE.question.say, guesses_in(rooms, key, CURVE)[0])) == sorted(curves)
        lecturer.do("join", key.code)
        cookie = f"{cookie_name(key.code)}={key.secret}"
        are_shown(phones.do("shown"), lecturer.do("notes", key.code, cookie)[0]["drawing"], curves)
    finally:
        phones.end()
        lecturer.end()


def are_shown(on_phones, drawing, curves):
    """Assert that phones and the lecturer's drawing have the band and the median of these curves, and the run's curve."""
    expected = band(curves)
    for on_phone, result in on_phones:
        assert on_phone == drawing
        assert result["value"] == list(run_of_curve().values())
    assert f"{N_PHONES} curves" in drawing
    pixel = 0.0005
    assert drawn_values(drawing, "middle") == pytest.approx(expected["middle"], abs=pixel)
    assert drawn_values(drawing, "band") == pytest.approx([*expected["high"], *expected["low"][::-1]], abs=pixel)
    assert drawn_values(drawing, "outcome") == pytest.approx(list(run_of_curve().values()), abs=pixel)


@pytest.mark.weekly
def test_hostile_requests_enter_no_room_learn_no_key_and_keep_nobody_from_voting(room):
    rooms, key = asking(room.store)
    phones = room.phones_at(ENTRANCE, room.phones[:N_PHONES])
    attackers = room.phones_at(ENTRANCE, room.phones[N_PHONES:])
    try:
        phones.do("join", key.code)
        phones.do("vote", key.code, 1.0)
        rooms.shut(key)
        overheard, earlier = phones.do("answered")[0]
        attackers.begin("attack", key.code, N_HOSTILE, overheard)
        assert len(phones.do("vote", key.code, 2.0)) == N_PHONES
        got = attackers.done()
        assert sum(got.values()) >= N_HOSTILE
        # Who has overheard an answer can send it again for the same phone, and nothing else.
        assert {kind for kind in got if "LET IN" in kind or " 2" in kind} == {"replay 200"}
        assert {kind for kind in got if kind.startswith("new phone")} <= {"new phone 409", "new phone 429"}
        assert got["new phone 409"] > 0
        (_body, latest), *others = phones.do("answered")
        counted = Counter(map(str, guesses_in(rooms, key)[0]))
        counted.subtract(guess for _body, guess in others)
        assert +counted in (Counter([earlier]), Counter([latest]))
        assert sum(counted.values()) == 1
        assert key.secret not in room.output()
    finally:
        phones.end()
        attackers.end()
