"""How fast is a class's room, also while somebody attacks it? Needs root and `ip`: `python tests/benchmarks/classroom_speed.py`."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from classroom import CURVE, PICK, asking, classroom, p95, run_of_curve, why_not  # noqa: E402

from dsgcore.rooms.questions import result_of  # noqa: E402
from dsgcore.rooms.rooms import Asked, Key, Rooms  # noqa: E402

N_HOSTILE = 10_000


def main() -> None:
    """Measure a class of sixty and one of two hundred at once, which choose or draw curves, and an attack."""
    if why_not():
        sys.exit(f"There can be no classroom: {why_not()}.")
    with tempfile.TemporaryDirectory() as folder:
        for n_phones, within in ((60, 4.0), (200, 1.5)):
            for asked, result in ((PICK, result_of(PICK, {"verdict": 1.0})), (CURVE, run_of_curve())):
                store = Path(folder) / f"{n_phones}-{asked.setting}.sqlite"
                _class(store, n_phones, within, asked, result)
        _attack(Path(folder) / "attack.sqlite")


def _class(store: Path, n_phones: int, within: float, asked: Asked, result: Mapping[str, Any]) -> None:
    name = f"{n_phones} phones, {'curves' if asked is CURVE else 'choices'}"
    with classroom(store, n_phones) as room:
        _printed, address = room.start()
        rooms, key = asking(store, asked)
        phones = room.phones_at(address)
        _say(f"{name}, join", phones.do("join", key.code))
        begun = time.monotonic()
        answers = phones.do("vote", key.code, within)
        _say(f"{name}, an answer is confirmed", answers)
        print(f"{name}, all have voted after {time.monotonic() - begun:.2f} s")
        _reveal(rooms, key, phones, f"{name}, the reveal")
        room.kill()
        rooms.again(key)
        phones.begin("wait", key.code, "round", 2)
        room.start()
        phones.done()
        phones.do("vote", key.code, within)
        rooms.tell(key, result)
        _reveal(rooms, key, phones, f"{name}, the reveal after a killed server")
        print("answers kept, by round:", [len(guesses) for guesses in rooms.rounds(key, asked)])
        phones.end()


def _attack(store: Path) -> None:
    """Attack with four addresses while sixty phones vote and wait."""
    with classroom(store, 64) as room:
        _printed, address = room.start()
        rooms, key = asking(store)
        phones = room.phones_at(address, room.phones[:60])
        phones.do("join", key.code)
        attackers = room.phones_at(address, room.phones[60:], "class_attacker.py")
        phones.do("vote", key.code, 1.0)
        rooms.shut(key)
        attackers.begin(key.code, N_HOSTILE, phones.do("answered")[0][0])
        waits, news = [], []
        for turn in range(1, 7):
            waits += phones.do("vote", key.code, 1.0)
            asked = Asked("auc", "unlabeled", turn % 3)
            phones.begin("wait", key.code, "name", asked.name)
            at = time.time()
            rooms.ask(key, asked)
            news += [seen - at for seen in phones.done()]
        _say("60 phones under attack, an answer is confirmed", waits)
        _say("60 phones under attack, the next question", news)
        print("attack:", attackers.done())
        print("answers by question:", [len(rooms.rounds(key, Asked("auc", "unlabeled", k))[0]) for k in range(3)])
        for one in (phones, attackers):
            one.end()
        print("key in the server's output:", key.secret in room.output())


def _reveal(rooms: Rooms, key: Key, phones: object, name: str) -> None:
    phones.begin("wait", key.code, "isRevealed", True)  # type: ignore[attr-defined]
    at = time.time()
    rooms.reveal(key)
    _say(name, [seen - at for seen in phones.done()])  # type: ignore[attr-defined]


def _say(name: str, seconds: list[float]) -> None:
    print(f"{name}: median {statistics.median(seconds):.2f} s, p95 {p95(seconds):.2f} s, slowest {max(seconds):.2f} s")


if __name__ == "__main__":
    main()
