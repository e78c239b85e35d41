"""Requests to the server's addresses without a network, and phones of a class that make them."""

from __future__ import annotations

import json
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import anyio
from starlette.applications import Starlette

from dsgcore.rooms.questions import LABELS
from dsgcore.rooms.rooms import Asked
from pages.handouts.notes import notes_route
from pages.room import entrance
from pages.room.entrance import Pace, room_routes

# A question of each kind, and an answer to it.
PICK, NUMBER = Asked("auc", "unlabeled", 0), Asked("auc", "random-features", 0)
CURVE, MAP = Asked("s3vm", "batches", 1), Asked("auc", "unlabeled", 0, LABELS)
GUESSES = {PICK: "1", NUMBER: "0.25", CURVE: "0.5~0.6~0.7~0.8~0.9~1", MAP: "~".join(["0.500"] * 10)}


@dataclass
class Reply:
    """Answer of the server."""

    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self):
        return self.content.decode()

    def json(self):
        return json.loads(self.content)


def ask(app, method, path, query="", body=b"", headers=None, **more):
    """Ask an app; return its answer, or None if it gives none."""
    sent, named = [], [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": named}

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    anyio.run(app, scope | {"client": ("10.0.0.1", 1), "server": ("h", 80)} | more, receive, send)
    if not sent:
        return None
    said = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Reply(sent[0]["status"], said, b"".join(message.get("body", b"") for message in sent))


def forget_loops():
    """Forget what belongs to one loop of events; each request here has its own."""
    entrance.limiter.cache_clear()
    entrance._looks.clear()


class Phones:
    """Phones with one address, or behind a proxy of that address that says which is theirs."""

    def __init__(self, address="10.0.0.1", forwarded=""):
        self.app = Starlette(routes=[*room_routes(), notes_route()])
        self.address, self.proxy_says = address, {"x-forwarded-for": forwarded} if forwarded else {}

    def get(self, path, *, cookie="", **params):
        return self._ask("GET", path, urlencode(params), headers={"cookie": cookie} if cookie else {})

    def post(self, path, body, length=None):
        length = str(len(body)) if length is None else length
        return self._ask("POST", path, body=body, headers={"content-length": length} if length else {})

    def _ask(self, *request, headers, **more):
        forget_loops()
        return ask(self.app, *request, **more, headers=headers | self.proxy_says, client=(self.address, 1))

    def asked(self, code, **more):
        return self.get("/r/room/asked", code=code, **more)

    def send(self, code, guess="1", client=None, **other):
        body = {"code": code, "client": client or secrets.token_hex(16), "name": PICK.name}
        body |= {"round": 1, "guess": guess, "age": 0} | other
        return self.post("/r/room/answer", json.dumps(body).encode())


def guesses_in(rooms, key, asked=PICK):
    """Return the guesses of each round of a question that a room was asked."""
    return next(state.rounds for state in rooms.questions(key) if state.asked == asked)


@contextmanager
def open_rooms(store, monkeypatch):
    """Give the rooms of a server with this store, which answers at any pace."""
    monkeypatch.setenv("DSGLAB_STORE", str(store))
    monkeypatch.setattr(entrance, "_pace", Pace(10_000, 10_000))
    entrance.rooms.cache_clear()
    yield entrance.rooms()
    entrance.rooms.cache_clear()
    forget_loops()
