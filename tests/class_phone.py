"""Phones of a class in a process of their own, each with an address of its own: they join, answer, and wait for the reveal.
Or they are strangers who attack the room.

Standard input gives one order a line, and standard output one answer a line, as JSON. Run by `test_classroom.py`.
"""

from __future__ import annotations

import http.client
import json
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from urllib.parse import urlencode, urljoin, urlsplit

Reply = tuple[int, dict[str, str], bytes]  # status, headers and text
AGAIN = 0.3  # seconds until a phone asks again after a lost connection
SIGNS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
MARKUP = "<img src=x onerror=alert(1)>"


def ask(own: str, method: str, address: str, body: str | bytes | None = None, headers: dict | None = None) -> Reply:
    """Return what the server answers to a request from that address."""
    there = urlsplit(address)
    connection = http.client.HTTPConnection(there.hostname, there.port, timeout=40, source_address=(own, 0))
    try:
        path = there.path + (f"?{there.query}" if there.query else "")
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()
    finally:
        connection.close()


class Phone:
    """One phone: its address, the room that it is in, and what the room has told it."""

    def __init__(self, own: str, entrance: str) -> None:
        self.own, self.entrance = own, entrance
        self.client, self.state = f"{random.getrandbits(128):032x}", {}
        self.folder, self.sent, self.guess = "", "", ""  # the last answer's body, and what the server has read in it

    def until(self, method: str, address: str, body: str | None = None, headers: dict | None = None) -> Reply:
        """Ask until the server answers, as a phone does that has lost its network."""
        while True:
            try:
                reply = ask(self.own, method, address, body, headers)
                if reply[0] != 429 and reply[0] < 500:
                    return reply
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(AGAIN * (0.5 + random.random()))

    def join(self, code: str) -> None:
        """Open the printed address, the room's page and its script, and get the question."""
        _status, headers, _text = self.until("GET", self.entrance)
        self.folder = urljoin(self.entrance, headers["location"])
        status, _headers, page = self.until("GET", self.folder + code)
        script = page.decode().split('type="module" src="')[1].split('"')[0]
        loaded, _headers, _text = self.until("GET", urljoin(self.folder, script))
        assert (status, loaded) == (200, 200), (status, loaded)
        self.look(code)

    def look(self, code: str) -> None:
        """Wait for news of the room."""
        given = {"code": code, "since": self.state.get("version", "")}
        status, _headers, text = self.until("GET", f"{self.folder}room/asked?{urlencode(given)}")
        if status == 200:
            self.state = json.loads(text)
        elif status != 204:
            raise AssertionError((status, text))

    def vote(self, code: str, within: float) -> None:
        """Answer the question at some time within these seconds."""
        guess = self.guessed(self.state["question"])
        time.sleep(random.random() * within)
        body = {"code": code, "client": self.client, "name": self.state["name"]}
        self.sent = json.dumps(body | {"round": self.state["round"], "guess": guess, "age": 0})
        status, _headers, text = self.until("POST", f"{self.folder}room/answer", self.sent)
        assert status == 200, text
        self.guess = json.loads(text)["guess"]

    def guessed(self, question: dict) -> str:
        """Return an answer of this phone's own: a choice, or a curve that no other phone draws."""
        if question["kind"] == "pick":
            return str(random.randrange(len(question["options"])))
        return "~".join(f"{random.uniform(question['low'], question['high']):.3g}" for _ in question["shares"])

    def answered(self) -> tuple[str, str]:
        """Return the body of the last answer, and what the server has read in it."""
        return self.sent, self.guess

    def shown(self) -> tuple[str, dict]:
        """Return the drawing of all answers and the run's result, as the reveal has brought them."""
        return self.state["drawing"], self.state["result"]

    def notes(self, code: str, cookie: str) -> dict:
        """Return what the lecturer's second screen shows."""
        status, _headers, text = self.until("GET", f"{self.folder}{code}/notes/now", headers={"Cookie": cookie})
        assert status == 200, text
        return json.loads(text)

    def wait(self, code: str, field: str, value: object) -> None:
        """Look until the room's state has this value."""
        while self.state.get(field) != value:
            self.look(code)


def attacks(code: str, overheard: str) -> list[tuple[str, str, str, bytes, dict[str, str]]]:
    """Return one request of each kind: guessed codes, megabytes, markup, replayed answers, new phones, the lecturer's pages.

    Who attacks knows the room's code, and has overheard the body of a phone's answer.
    """
    guess = "".join(random.choice(SIGNS) for _ in range(8))
    body = json.loads(overheard) | {"code": guess, "client": "a" * 32}
    another = json.loads(overheard) | {"client": f"{random.getrandbits(128):032x}"}
    forged = {"Cookie": f"dsglab_room_{code}={random.getrandbits(192):048x}"}
    proxied = {"X-Forwarded-For": f"10.1.{random.randrange(256)}.{random.randrange(256)}"}
    asked, answer, results = "/r/room/asked", "/r/room/answer", "results.html"
    return [
        ("guess", "GET", f"{asked}?code={guess}", b"", proxied),
        ("guess", "GET", f"{asked}?code={guess}&since=0", b"", {}),
        ("guess", "POST", answer, json.dumps(body).encode(), proxied),
        ("markup", "POST", answer, json.dumps(body | {"guess": MARKUP, "code": MARKUP}).encode(), {}),
        ("megabyte", "POST", answer, b"x" * 1_000_000, {}),
        ("nonsense", "POST", answer, b"[" * 390, {}),
        ("replay", "POST", answer, overheard.encode(), {}),
        ("new phone", "POST", answer, json.dumps(another).encode(), {}),
        ("results", "GET", f"/r/{guess}/{results}", b"", forged),
        ("notes", "GET", f"/r/{code}/notes/now", b"", forged),
        ("results", "GET", f"/r/{code}/{results}", b"", {"Cookie": f"dsglab_room_{code}="}),
        ("ticket", "POST", "/tick", f"{random.getrandbits(128):032x}".encode(), forged),
    ]


def attack(entrance: str, code: str, number: int, overheard: str, own: str) -> Counter[str]:
    """Send so many requests from one address; return how often each kind got each status."""
    got: Counter[str] = Counter()
    while got.total() < number:
        for kind, method, path, body, headers in attacks(code, overheard):
            try:
                status, said, text = ask(own, method, urljoin(entrance, path), body or None, headers)
            except (OSError, http.client.HTTPException):  # the server ends the connection of a megabyte
                got[f"{kind} cut off"] += 1
                continue
            is_let_in = "set-cookie" in {header.lower() for header in said} or MARKUP in text.decode(errors="replace")
            got[f"{kind} {status}{' LET IN' * is_let_in}"] += 1
    return got


def together(barrier: Barrier, name: str, given: list, phone: Phone) -> object:
    """Carry out an order when all phones are ready."""
    barrier.wait()
    return getattr(phone, name)(*given)


def main() -> None:
    """Carry out the orders."""
    entrance, own = sys.argv[1], json.loads(sys.argv[2])
    phones = [Phone(one, entrance) for one in own]
    for line in sys.stdin:
        name, *given = json.loads(line)
        with ThreadPoolExecutor(len(phones)) as executor:
            if name == "attack":
                code, number, overheard = given
                done = sum(executor.map(partial(attack, entrance, code, number // len(own), overheard), own), Counter())
            else:
                done = list(executor.map(partial(together, Barrier(len(phones)), name, given), phones))
        print(json.dumps(done), flush=True)


if __name__ == "__main__":
    main()
