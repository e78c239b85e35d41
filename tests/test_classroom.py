"""Sixty phones with addresses of their own join, vote and see the reveal, also after the server was killed."""

from __future__ import annotations

import time

import pytest
from classroom import PORT, SERVER, classroom, p95, why_not

from dsgcore.studies import Store
from dsgcore.studies.room_questions import result_of
from dsgcore.studies.rooms import Asked, Rooms

N_PHONES = 60
PICK = Asked("auc", "unlabeled", 0)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there can be a classroom")]


def test_sixty_phones_vote_and_see_the_reveal_and_a_killed_server_loses_nothing(tmp_path):
    store = tmp_path / "runs.sqlite"
    with classroom(store, N_PHONES) as room:
        _printed, address = room.start()
        assert address == f"http://{SERVER}:{PORT}/r"
        rooms = Rooms(Store(store))
        key = rooms.open()
        rooms.ask(key, PICK)
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
