"""Sixty phones with addresses of their own join, vote and see the reveal, after the server was killed and under attack."""

from __future__ import annotations

import time

import pytest
from classroom import PICK, PORT, SERVER, asking, classroom, overheard, p95, why_not

from dsgcore.studies.room_questions import result_of

N_PHONES = 60
N_HOSTILE = 2_200  # the benchmark sends 10,000
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there can be a classroom")]


def test_sixty_phones_vote_and_see_the_reveal_and_a_killed_server_loses_nothing(tmp_path):
    store = tmp_path / "runs.sqlite"
    with classroom(store, N_PHONES) as room:
        _printed, address = room.start()
        assert address == f"http://{SERVER}:{PORT}/r"
        rooms, key = asking(store)
        phones = room.phones_at(address)
        try:
            assert len(phones.do("join", key.code)) == N_PHONES
            begun = time.monotonic()
            phones.do("vote", key.code, 3.0)
            assert time.monotonic() - begun < 10  # 5 on a machine without other tests
            room.kill()
            phones.begin("wait", key.code, "isRevealed", True)
            room.start()
            rooms.tell(key, result_of(PICK, {"verdict": 1.0}))
            rooms.reveal(key)
            assert len(phones.done()) == N_PHONES
            assert [len(guesses) for guesses in rooms.rounds(key, PICK)] == [N_PHONES]
            rooms.again(key)
            phones.do("wait", key.code, "round", 2)
            phones.do("vote", key.code, 1.0)
            phones.begin("wait", key.code, "isRevealed", True)
            at = time.time()
            rooms.reveal(key)
            assert p95([seen - at for seen in phones.done()]) < 5  # 1 on a machine without other tests
            assert [len(guesses) for guesses in rooms.rounds(key, PICK)] == [N_PHONES, N_PHONES]
        finally:
            phones.end()


def test_hostile_requests_enter_no_room_learn_no_key_and_keep_nobody_from_voting(tmp_path):
    with classroom(tmp_path / "runs.sqlite", N_PHONES + 4) as room:
        _printed, address = room.start()
        rooms, key = asking(tmp_path / "runs.sqlite")
        phones = room.phones_at(address, room.phones[:N_PHONES])
        attackers = room.phones_at(address, room.phones[N_PHONES:], "class_attacker.py")
        try:
            phones.do("join", key.code)
            attackers.begin(key.code, N_HOSTILE, overheard(rooms, key))
            assert len(phones.do("vote", key.code, 2.0)) == N_PHONES
            got = attackers.done()
            assert sum(got.values()) >= N_HOSTILE
            # Only the copy of an answer that the server has taken is taken again, and counted once.
            assert {kind for kind in got if "LET IN" in kind or " 2" in kind} == {"replay 200"}
            assert len(rooms.rounds(key, PICK)[0]) == N_PHONES + 1
            assert key.secret not in room.output()
        finally:
            phones.end()
            attackers.end()
