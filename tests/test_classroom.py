"""Sixty phones with addresses of their own vote, draw curves and see the reveal, after the server was killed and under attack.

The server is one that `app --class` opens. On Linux each phone has an address of this machine for itself, and no proxy is trusted.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from secrets import token_hex
from threading import Barrier
from urllib.parse import urlencode, urljoin, urlsplit

import numpy as np
import pytest
from room_phones import PICK, guesses_in
from servers import Server

from dsgcore.rooms.rooms import SIGNS, Asked, Rooms
from dsgcore.studies import Store
from pages.shell.addresses import PROXIES
from pages.shell.room_key import cookie_name

CURVE = Asked("s3vm", "batches", 1)
MEASURED = (0.71, 0.93, 0.97, 0.98, 0.985, 0.99)  # by a run for this question
MARKUP = "<img src=x onerror=alert(1)>"
N_PHONES, N_ATTACKERS, N_HOSTILE = 60, 4, 2_200
AGAIN = 0.3  # seconds until a phone asks again after a lost connection
LONG = 120.0  # seconds after which a phone gives up, so that no test waits for ever
pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has many addresses of one machine"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    options = {"options": ("--class", "--address", "127.0.0.1"), PROXIES: "", "DSGLAB_ADDRESS": ""}
    server = Server(tmp_path_factory.mktemp("class"), **options)
    yield server
    server.kill()


def log_of(server):
    return (server.own / "log").read_text(encoding="utf-8", errors="replace")


@pytest.fixture
def asked(server):
    """Give the server's rooms, the key of one that is asked a question, and the phones in it."""
    rooms, (entrance, *_) = (
        Rooms(Store(server.own / "runs.sqlite")),
        re.findall(r"Students open (\S+) ", log_of(server)),
    )
    assert entrance == f"{server.address}/r"
    key = rooms.open()
    rooms.ask(key, PICK)
    return rooms, key, Class(entrance, key.code)


def ask(own, method, address, body=None, headers=None):
    """Return what the server answers to a request from an address: status, headers and text."""
    there = urlsplit(address)
    with closing(http.client.HTTPConnection(there.hostname, there.port, timeout=40, source_address=(own, 0))) as line:
        line.request(method, f"{there.path}?{there.query}".rstrip("?"), body, headers or {})
        reply = line.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()


class Phone:
    """One phone: its address, the room that it is in, and what the room has told it."""

    def __init__(self, own, entrance, code):
        self.own, self.code, self.client, self.state = own, code, token_hex(16), {}
        _status, headers, _text = self.until("GET", entrance)
        self.folder = urljoin(entrance, headers["location"])
        page = self.until("GET", self.folder + code)[2].decode()
        script = re.search(r'type="module" src="([^"]*)"', page)[1]
        assert self.until("GET", urljoin(self.folder, script))[0] == 200
        self.look()

    def until(self, *request):
        """Ask until the server answers, as a phone does that has lost its network."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            try:
                reply = ask(self.own, *request)
                if reply[0] != 429 and reply[0] < 500:
                    return reply
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(AGAIN * (0.5 + random.random()))
        raise TimeoutError(f"no answer to {request}")

    def look(self):
        """Wait for news of the room."""
        given = urlencode({"code": self.code, "since": self.state.get("version", "")})
        status, _headers, text = self.until("GET", f"{self.folder}room/asked?{given}")
        assert status in (200, 204), text
        self.state = json.loads(text) if status == 200 else self.state

    def wait(self, field, value):
        """Look until the room's state has this value."""
        end = time.monotonic() + LONG
        while self.state.get(field) != value:
            assert time.monotonic() < end, f"{field} is {self.state.get(field)}, and does not become {value}"
            self.look()

    def vote(self):
        """Answer at some time within a second: with a choice, or a curve that no other phone draws."""
        question = self.state["question"]
        places = question.get("shares", ())
        drawn = "~".join(f"{random.uniform(question['low'], question['high']):.3g}" for _ in places)
        guess = drawn or str(random.randrange(len(question["options"])))
        time.sleep(random.random())
        body = {"code": self.code, "client": self.client, "name": self.state["name"], "guess": guess, "age": 0}
        self.sent = json.dumps(body | {"round": self.state["round"]})
        status, _headers, text = self.until("POST", f"{self.folder}room/answer", self.sent)
        assert status == 200, text
        self.guess = json.loads(text)["guess"]  # as the server has read it


class Class:
    """Sixty phones that do the same at once."""

    def __init__(self, entrance, code):
        self.together, self.barrier = ThreadPoolExecutor(N_PHONES), Barrier(N_PHONES)
        own = [f"127.0.1.{k}" for k in range(1, N_PHONES + 1)]
        self.phones = list(self.together.map(lambda one: Phone(one, entrance, code), own))

    def begin(self, name, *given):
        """Begin something; return a function that waits for its end."""

        def act(phone):
            self.barrier.wait()
            getattr(phone, name)(*given)

        begun = [self.together.submit(act, phone) for phone in self.phones]
        return lambda: [one.result() for one in begun]

    def do(self, name, *given):
        self.begin(name, *given)()


def test_sixty_phones_vote_draw_and_see_the_reveal_and_a_killed_server_loses_nothing(server, asked):
    rooms, key, phones = asked
    phones.do("vote")
    revealed = phones.begin("wait", "isRevealed", True)
    rooms.reveal(key)
    revealed()
    rooms.again(key)
    phones.do("wait", "round", 2)
    phones.do("vote")
    rooms.ask(key, CURVE)
    phones.do("wait", "name", CURVE.name)
    phones.do("vote")
    server.kill()
    revealed = phones.begin("wait", "isRevealed", True)
    server.start()
    rooms.tell(key, dict(zip(CURVE.question.measures, MEASURED, strict=True)))
    rooms.reveal(key)
    revealed()
    assert [len(guesses) for guesses in guesses_in(rooms, key)] == [N_PHONES, N_PHONES]
    curves = [phone.guess for phone in phones.phones]
    assert len(set(curves)) == N_PHONES  # each phone has drawn its own
    assert sorted(map(CURVE.question.say, guesses_in(rooms, key, CURVE)[0])) == sorted(curves)
    cookie = {"Cookie": f"{cookie_name(key.code)}={key.secret}"}
    notes = ask("127.0.2.1", "GET", f"{phones.phones[0].folder}{key.code}/notes/now", None, cookie)
    drawing = json.loads(notes[2])["drawing"]
    for phone in phones.phones:
        assert phone.state["drawing"] == drawing  # as the lecturer sees it
        assert phone.state["result"]["value"] == list(MEASURED)
    assert f"{N_PHONES} curves" in drawing
    drawn = np.array([[float(value) for value in curve.split("~")] for curve in curves])
    low, middle, high = np.quantile(drawn, [0.1, 0.5, 0.9], axis=0)  # a band holds eight of ten curves
    for kind, values in {"middle": middle, "band": [*high, *low[::-1]], "outcome": MEASURED}.items():
        assert drawn_values(drawing, kind) == pytest.approx(list(values), abs=0.0005), kind  # a pixel


def drawn_values(drawing, kind):
    """Return the values of a line or a band in the drawing of `CURVE`."""
    top, bottom = map(float, re.search(r'class="frame" d="M\S+ (\S+)V(\S+)H', drawing).groups())
    points = re.search(f'class="{kind}" points="([^"]+)"', drawing)[1].split()
    low, high = CURVE.question.low, CURVE.question.high
    return [high - (float(point.split(",")[1]) - top) / (bottom - top) * (high - low) for point in points]


def attacks(code, overheard):
    """Return one request of each kind, by someone who knows the room's code and has overheard a phone's answer."""
    guess = "".join(random.choices(SIGNS, k=8))
    body = json.loads(overheard) | {"code": guess, "client": "a" * 32}
    another = json.loads(overheard) | {"client": token_hex(16)}
    forged = {"Cookie": f"{cookie_name(code)}={token_hex(24)}"}
    proxied = {"X-Forwarded-For": f"10.1.{random.randrange(256)}.{random.randrange(256)}"}
    asked, answer, results = "/r/room/asked", "/r/room/answer", "results.html"
    return [
        ("guess", "GET", f"{asked}?code={guess}", None, proxied),
        ("guess", "GET", f"{asked}?code={guess}&since=0", None, {}),
        ("guess", "POST", answer, json.dumps(body), proxied),
        ("markup", "POST", answer, json.dumps(body | {"guess": MARKUP, "code": MARKUP}), {}),
        ("megabyte", "POST", answer, "x" * 1_000_000, {}),
        ("nonsense", "POST", answer, "[" * 390, {}),
        ("replay", "POST", answer, overheard, {}),
        ("new phone", "POST", answer, json.dumps(another), {}),
        ("results", "GET", f"/r/{guess}/{results}", None, forged),
        ("notes", "GET", f"/r/{code}/notes/now", None, forged),
        ("results", "GET", f"/r/{code}/{results}", None, {"Cookie": f"{cookie_name(code)}="}),
        ("ticket", "POST", "/tick", token_hex(16), forged),
    ]


def attack(own, entrance, code, overheard):
    """Attack from one address; return how often each kind got each status."""
    got = Counter()
    while got.total() < N_HOSTILE / N_ATTACKERS:
        for kind, method, path, body, headers in attacks(code, overheard):
            try:
                status, said, text = ask(own, method, urljoin(entrance, path), body, headers)
            except (OSError, http.client.HTTPException):  # the server ends the connection of a megabyte
                got[f"{kind} cut off"] += 1
                continue
            is_let_in = "set-cookie" in {header.lower() for header in said} or MARKUP in text.decode(errors="replace")
            got[f"{kind} {status}{' LET IN' * is_let_in}"] += 1
    return got


@pytest.mark.weekly
def test_hostile_requests_enter_no_room_learn_no_key_and_keep_nobody_from_voting(server, asked):
    rooms, key, phones = asked
    phones.do("vote")
    rooms.shut(key)
    overheard, earlier = phones.phones[0].sent, phones.phones[0].guess
    own, entrance = [f"127.0.3.{k}" for k in range(1, N_ATTACKERS + 1)], phones.phones[0].folder
    with ThreadPoolExecutor(N_ATTACKERS) as attackers:
        attacked = attackers.map(lambda one: attack(one, entrance, key.code, overheard), own)
        phones.do("vote")
        got = sum(attacked, Counter())
    assert got.total() >= N_HOSTILE
    # Who has overheard an answer can send it again for the same phone, and nothing else. No ticket is no cookie.
    assert {kind for kind in got if "LET IN" in kind or " 2" in kind} == {"replay 200", "ticket 200"}
    assert {kind for kind in got if kind.startswith("new phone")} <= {"new phone 409", "new phone 429"}
    assert got["new phone 409"] > 0
    latest, *others = (phone.guess for phone in phones.phones)
    counted = Counter(map(str, guesses_in(rooms, key)[0]))
    counted.subtract(others)
    assert +counted in (Counter([earlier]), Counter([latest]))
    assert counted.total() == 1
    assert key.secret not in log_of(server)
