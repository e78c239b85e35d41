"""The page on which a class answers: small, for phones, with the room's question and the answers, whose size is limited.

It is not a page of streamlit, so a hundred phones cost a hundred small requests every few seconds, and no session.
"""

from __future__ import annotations

import json
import sqlite3
import time
from functools import cache
from pathlib import Path
from typing import Any

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from dsgcore.settings import Curve, Estimate, Pick
from dsgcore.settings.guided.questions import SHARES
from dsgcore.studies import Store, StoreError, default_store
from dsgcore.studies.rooms import Asked, RoomError, Rooms
from pages.shell.addresses import own_route, page_routes
from pages.shell.callers import caller_of

ADDRESS = "room"
LONGEST_ANSWER = 400  # bytes
AT_ONCE = 4  # answers that are stored at the same time
_PAGE = Path(__file__).with_name("answering.html")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
    "form-action 'self'",
    "Referrer-Policy": "no-referrer",
}


class Pace:
    """The limit on how often each address may ask: a number at once, and a number a second.

    Parameters
    ----------
    most, a_second : float
    now : callable
    """

    MOST_KNOWN = 4096  # addresses

    def __init__(self, most: float, a_second: float, now: Any = time.monotonic) -> None:
        self._most, self._a_second, self._now = most, a_second, now
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, address: str) -> bool:
        """Return True if the address may ask once more now, and count it."""
        if len(self._left) >= self.MOST_KNOWN:
            self._left.clear()
        now = self._now()
        left, then = self._left.get(address, (self._most, now))
        left = min(self._most, left + (now - then) * self._a_second)
        self._left[address] = (left - (left >= 1), now)
        return left >= 1


# A whole class may share one address. All of it answers at once, and asks every few seconds.
_pace = Pace(300, 100)


@cache
def rooms() -> Rooms:
    """Return the rooms of the server's store."""
    return Rooms(Store(default_store()))


@cache
def _limiter() -> CapacityLimiter:
    return CapacityLimiter(AT_ONCE)


def answering_routes() -> list[Route]:
    """Return the routes of the phones' page, of the question, and of answers."""
    return [
        *page_routes(ADDRESS, _page),
        own_route(f"{ADDRESS}/asked", _asked),
        own_route(f"{ADDRESS}/answer", _answer, methods=["POST"]),
    ]


async def _page(_request: Request) -> Response:
    return HTMLResponse(_PAGE.read_text(encoding="utf-8"), headers=_HEADERS)


def _is_too_fast(request: Request) -> bool:
    return not _pace.allows(caller_of(request))


async def _asked(request: Request) -> Response:
    if _is_too_fast(request):
        return Response(status_code=429)
    return await _replied(_what_is_asked, request.query_params.get("code", "")[:64])


async def _answer(request: Request) -> Response:
    if _is_too_fast(request):
        return Response(status_code=429)
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > LONGEST_ANSWER:
        return JSONResponse({"why": "This is not an answer to the question."}, status_code=413, headers=_HEADERS)
    return await _replied(_take, await request.body())


async def _replied(work: Any, given: Any) -> Response:
    try:
        return JSONResponse(await anyio.to_thread.run_sync(work, given, limiter=_limiter()), headers=_HEADERS)
    except RoomError as error:
        return JSONResponse({"why": str(error)}, headers=_HEADERS)
    except (StoreError, sqlite3.Error):  # the details concern the server only
        return JSONResponse(
            {"why": "The server cannot save answers now. Try again."}, status_code=503, headers=_HEADERS
        )


def _take(body: bytes) -> dict[str, str]:
    """Store an answer."""
    try:
        said = json.loads(body)
        code, client, step, guess = (said[name] for name in ("code", "client", "step", "guess"))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise RoomError("This is not an answer to the question.") from None
    return {"guess": rooms().answer(str(code), client, step, guess)}


def _what_is_asked(code: str) -> dict[str, Any]:
    asked = rooms().asked(code)
    question = asked.question
    return _place(asked) | (_plain(question) if question is not None else {})


def _place(asked: Asked) -> dict[str, Any]:
    return {"setting": asked.setting, "lesson": asked.lesson, "step": asked.step, "isOpen": asked.is_open}


def _plain(question: Pick | Estimate | Curve) -> dict[str, Any]:
    """Return a question in the form that the phones' page draws."""
    if isinstance(question, Pick):
        return {"text": question.text, "options": [option.words for option in question.options]}
    places = (
        ["your guess"]
        if isinstance(question, Estimate)
        else [f"{question.words}, after {s:.0%} of the iterations" for s in SHARES]
    )
    return {"text": question.text, "low": question.low, "high": question.high, "places": places}
