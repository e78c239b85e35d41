"""Strangers who attack a class's room: guessed codes, megabytes, markup, replayed answers, new phones, the lecturer's pages.

Run by `classroom.py`. An order is the real code, the number of requests, and the body of a phone's answer that they have
overheard. With it they know the room's code. The answer counts what they got: the kind of request, and the status.
"""

from __future__ import annotations

import collections
import http.client
import json
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import urlsplit

SIGNS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
MARKUP = "<img src=x onerror=alert(1)>"


Request = tuple[str, str, str, bytes, dict[str, str]]


def attacks(code: str, overheard: str) -> list[Request]:
    """Return one request of each kind."""
    guess = "".join(random.choice(SIGNS) for _ in range(8))
    body = json.loads(overheard) | {"code": guess, "client": "a" * 32}
    another = json.loads(overheard) | {"client": f"{random.getrandbits(128):032x}"}
    forged = {"Cookie": f"dsglab_room_{code}={random.getrandbits(192):048x}"}
    proxied = {"X-Forwarded-For": f"10.1.{random.randrange(256)}.{random.randrange(256)}"}
    post = "/r/room/answer"
    return [
        ("guess", "GET", f"/r/room/asked?code={guess}", b"", proxied),
        ("guess", "GET", f"/r/room/asked?code={guess}&since=0", b"", {}),
        ("guess", "POST", post, json.dumps(body).encode(), proxied),
        ("markup", "POST", post, json.dumps(body | {"guess": MARKUP, "code": MARKUP}).encode(), {}),
        ("megabyte", "POST", post, b"x" * 1_000_000, {}),
        ("nonsense", "POST", post, b"[" * 390, {}),
        ("replay", "POST", post, overheard.encode(), {}),
        ("new phone", "POST", post, json.dumps(another).encode(), {}),
        ("results", "GET", f"/r/{guess}/results.html", b"", forged),
        ("notes", "GET", f"/r/{code}/notes/now", b"", forged),
        ("results", "GET", f"/r/{code}/results.html", b"", {"Cookie": f"dsglab_room_{code}="}),
        ("ticket", "POST", "/room-key", f"{random.getrandbits(128):032x}".encode(), forged),
    ]


def attack(there: tuple[str, int], code: str, number: int, overheard: str, own: str) -> collections.Counter[str]:
    """Send these requests from one address; return how often each status came."""
    got: collections.Counter[str] = collections.Counter()
    while got.total() < number:
        for kind, *request in attacks(code, overheard):
            connection = http.client.HTTPConnection(*there, timeout=40, source_address=(own, 0))
            try:
                connection.request(request[0], request[1], request[2] or None, request[3])
                reply = connection.getresponse()
                text = reply.read().decode(errors="replace")
                is_let_in = "set-cookie" in {header.lower() for header, _ in reply.getheaders()} or MARKUP in text
                got[f"{kind} {reply.status}{' LET IN' * is_let_in}"] += 1
            except (OSError, http.client.HTTPException):  # the server ends the connection of a megabyte
                got[f"{kind} cut off"] += 1
            finally:
                connection.close()
    return got


def main() -> None:
    """Carry out the orders."""
    there, addresses = urlsplit(sys.argv[1]), json.loads(sys.argv[2])
    for line in sys.stdin:
        code, number, overheard = json.loads(line)
        one = partial(attack, (there.hostname, there.port), code, number // len(addresses), overheard)
        with ThreadPoolExecutor(len(addresses)) as executor:
            print(json.dumps(sum(executor.map(one, addresses), collections.Counter())), flush=True)


if __name__ == "__main__":
    main()
