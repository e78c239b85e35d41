"""Sixty phones with addresses of their own vote, draw curves and see the reveal, after the server was killed and under attack.

The classroom is in network namespaces of its own: a server that `app --class` opens, and phones with other addresses.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import pytest
from room_phones import PICK, guesses_in

from dsgcore.rooms.rooms import Asked, Key, Rooms
from dsgcore.studies import Store
from pages.shell.room_key import cookie_name

ROOT = Path(__file__).parents[1]
SERVER, NETWORK = "10.213.0.1", "10.213.0"
PORT = 8501
CURVE = Asked("s3vm", "batches", 1)
ENVIRONMENT = os.environ | {"PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}


def why_not() -> str:
    """Return the reason why there can be no classroom here, or an empty text."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "network namespaces need root"
    ip = shutil.which("ip", path=ENVIRONMENT["PATH"])
    if ip is None:
        return "the program ip is not installed"
    name = f"dsg-try-{token_hex(3)}"
    if subprocess.run([ip, "netns", "add", name], capture_output=True, check=False).returncode:
        return "network namespaces are not allowed here"
    subprocess.run([ip, "netns", "del", name], check=True)
    return ""


class Classroom:
    """The namespaces of a server and of phones, joined by one cable."""

    def __init__(self, store: Path, n_phones: int) -> None:
        self.store, self.tag = store, token_hex(3)
        self.here, self.there = f"dsg-s-{self.tag}", f"dsg-p-{self.tag}"
        self.phones = [f"{NETWORK}.{10 + k}" for k in range(n_phones)]
        self.server: subprocess.Popen[str] | None = None

    def ip(self, words: str) -> None:
        """Run `ip`."""
        subprocess.run(["ip", *words.split()], check=True, env=ENVIRONMENT, capture_output=True)

    def build(self) -> None:
        """Make the namespaces, the cable and the addresses."""
        for name in (self.here, self.there):
            self.ip(f"netns add {name}")
            self.ip(f"-n {name} link set lo up")
        cable = (f"s{self.tag}", f"p{self.tag}")
        self.ip(f"link add {cable[0]} netns {self.here} type veth peer name {cable[1]} netns {self.there}")
        for place, end, addresses in ((self.here, cable[0], [SERVER]), (self.there, cable[1], self.phones)):
            for address in addresses:
                self.ip(f"-n {place} addr add {address}/24 dev {end}")
            self.ip(f"-n {place} link set {end} up")

    def start(self) -> str:
        """Start the server; return the address at which phones find it, as it has printed it."""
        command = ["ip", "netns", "exec", self.here, sys.executable, "-m", "dsgcore", "app", "--class", "--no-browser"]
        own = {"DSGLAB_STORE": str(self.store), "DSGLAB_ADDRESS": "", "PYTHONPATH": str(ROOT)}
        own |= {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "encoding": "utf-8"}
        self.server = subprocess.Popen([*command, "--port", str(PORT)], cwd=ROOT, env=ENVIRONMENT | own, **streams)
        printed = ""
        for line in self.server.stdout:
            printed += line
            if "URL:" in line:
                break
        return printed.split("Students open ")[1].split(" ")[0]

    def kill(self) -> str:
        """Kill the server as a power failure would; return what it has printed since its start."""
        self.server.send_signal(signal.SIGKILL)
        return self.server.communicate()[0]

    def phones_at(self, address: str, own: list[str]) -> Class:
        """Return phones that will join at this address."""
        words = ["ip", "netns", "exec", self.there, sys.executable, str(ROOT / "tests" / "class_phone.py"), address]
        return Class([*words, json.dumps(own)])

    def end(self) -> None:
        """End the server, and remove the namespaces."""
        if self.server is not None and self.server.poll() is None:
            self.kill()
        for name in (self.here, self.there):
            subprocess.run(["ip", "netns", "del", name], check=False, env=ENVIRONMENT)


class Class:
    """Phones in another process, which follow orders."""

    def __init__(self, words: list[str]) -> None:
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
        )

    def begin(self, name: str, *given: object) -> None:
        """Give an order."""
        self.process.stdin.write(json.dumps([name, *given]) + "\n")
        self.process.stdin.flush()

    def done(self) -> list[Any]:
        """Wait until all phones have carried it out; return what each has answered."""
        return json.loads(self.process.stdout.readline() or "[]")

    def do(self, name: str, *given: object) -> list[Any]:
        """Do both."""
        self.begin(name, *given)
        return self.done()

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


def asking(store: Path) -> tuple[Rooms, Key]:
    """Return the rooms of a store, and the key of one that is asked a question."""
    rooms = Rooms(Store(store))
    key = rooms.open()
    rooms.ask(key, PICK)
    return rooms, key


def run_of_curve() -> dict[str, float]:
    """Return the measures of a run for the question `CURVE`."""
    return dict(zip(CURVE.question.measures, (0.71, 0.93, 0.97, 0.98, 0.985, 0.99), strict=True))


def band(guesses: list[str]) -> dict[str, list[float]]:
    """Return the band and the median of drawn curves, in which eight of ten curves lie at each place."""
    places = list(zip(*(map(float, guess.split("~")) for guess in guesses), strict=True))
    shares = {"low": 0.1, "middle": 0.5, "high": 0.9}
    return {name: np.quantile(places, share, axis=1).tolist() for name, share in shares.items()}


def drawn_values(drawing: str, kind: str) -> list[float]:
    """Return the values of a line or a band in the lecturer's drawing of `CURVE`."""
    top, bottom = map(float, re.search(r'class="frame" d="M\S+ (\S+)V(\S+)H', drawing).groups())
    points = re.search(f'class="{kind}" points="([^"]+)"', drawing).group(1).split()
    low, high = CURVE.question.low, CURVE.question.high
    return [high - (float(point.split(",")[1]) - top) / (bottom - top) * (high - low) for point in points]


N_PHONES = 60
N_HOSTILE = 2_200
pytestmark = [pytest.mark.ci, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there can be a classroom")]


ENTRANCE = f"http://{SERVER}:{PORT}/r"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    built = Classroom(tmp_path_factory.mktemp("room") / "runs.sqlite", N_PHONES + 4)
    try:
        built.build()
        yield built
    finally:
        built.end()


@pytest.fixture
def room(built):
    """A classroom whose server runs."""
    if built.server is None or built.server.poll() is not None:
        assert built.start() == ENTRANCE
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
        # Who has overheard an answer can send it again for the same phone, and nothing else. No ticket is no cookie.
        assert {kind for kind in got if "LET IN" in kind or " 2" in kind} == {"replay 200", "ticket 200"}
        assert {kind for kind in got if kind.startswith("new phone")} <= {"new phone 409", "new phone 429"}
        assert got["new phone 409"] > 0
        (_body, latest), *others = phones.do("answered")
        counted = Counter(map(str, guesses_in(rooms, key)[0]))
        counted.subtract(guess for _body, guess in others)
        assert +counted in (Counter([earlier]), Counter([latest]))
        assert sum(counted.values()) == 1
        assert key.secret not in room.kill()
    finally:
        phones.end()
        attackers.end()
