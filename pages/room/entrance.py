"""The addresses of a class's room: a page, news and answers for phones; for the lecturer the answers so far and all results.

They are no pages of streamlit, so a phone costs one request that waits, and no session. What is the lecturer's only gets the
browser whose cookie holds the room's key.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import cache, lru_cache, partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from dsgcore.core.parameters import counted
from dsgcore.rooms.questions import plain_question, plain_text
from dsgcore.rooms.rooms import MOST_CLIENTS, Key, RoomError, Rooms, State, results_csv, spaced
from dsgcore.studies import Store, StoreError, default_store
from pages.charts.live_chart import address_of
from pages.room.drawings import answers, standing
from pages.shell.addresses import caller_of, own_route, redirect
from pages.shell.room_key import cookie_name

ADDRESS = "r"
LONGEST_ANSWER = 400  # bytes
AT_ONCE = 4  # looks into the store, and answers that are stored, at the same time
SECONDS_BETWEEN_LOOKS = 0.15
# A proxy ends a request that takes a minute.
LONGEST_WAIT = 20.0
MOST_WAITING = 2 * MOST_CLIENTS  # in one room: a phone whose connection was lost may wait twice
STYLE = Path(__file__).with_name("room.css")  # of drawings, also on the stage
_PAGE = """<!DOCTYPE html>
<html lang="en" class="{kind}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - DSG Lab</title><style>{css}</style></head><body>{body}{script}</body></html>
"""
_CSS = "".join(path.read_text(encoding="utf-8") for path in (STYLE.with_name("page.css"), STYLE))
_PHONE = """<p id="room"><span id="code"></span><span id="time"></span></p>
<main><h1 id="title">Answer</h1><p id="verdict" role="status"></p><div id="asked" class="room-figure"></div>
<p id="said" role="status"></p><div id="all"></div><form id="enter" hidden><label>The room's code
<input name="code" maxlength="9" autocomplete="off" autocapitalize="characters" spellcheck="false" required></label>
<button class="main">Enter</button></form></main><noscript>This page needs JavaScript.</noscript>"""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
NO_ANSWER = "This is not an answer to the question."


class Pace:
    """The limit on how often each address may ask: a number at once, and a number a second."""

    MOST_KNOWN = 4096  # addresses

    def __init__(self, most: float, a_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._a_second, self._now = most, a_second, now
        self._known: dict[str, tuple[float, float]] = {}

    def left(self, address: str) -> float:
        """Return how often the address may ask at once."""
        now = self._now()
        left, then = self._known.get(address, (self._most, now))
        return min(self._most, left + (now - then) * self._a_second)

    def allows(self, address: str) -> bool:
        """Return True if the address may ask once more now, and count it."""
        left = self.left(address)
        if address not in self._known and len(self._known) >= self.MOST_KNOWN:
            del self._known[max(self._known, key=self.left)]  # it is most like a new one
        self._known[address] = (left - (left >= 1), self._now())
        return left >= 1


# A whole class may share one address. All of it answers at once, and asks again after each change.
_pace = Pace(600, 60)
# A whole class may share one address here too. Beyond that, one computer that answers as many phones is slow enough to be seen.
_newcomers = Pace(200, 0.5)


@cache
def rooms() -> Rooms:
    """Return the rooms of the server's store."""
    return Rooms(Store(default_store()))


@cache
def limiter() -> CapacityLimiter:
    """Return the limit on threads."""
    return CapacityLimiter(AT_ONCE)


def guarded(answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that puts off who asks too often, and says why there is no answer."""

    async def endpoint(request: Request) -> Response:
        is_page = request.url.path.endswith(
            ".html"
        )  # which a person reads; scripts ask for the others, again and again
        try:
            if not _pace.allows(caller_of(request)):
                again = "Try again soon." if is_page else "This page tries again."
                raise RoomError(f"Too many requests from your network. {again}", 429)
            return await answer(request)
        except RoomError as error:
            why, status = str(error), error.status
        except (StoreError, sqlite3.Error):  # whose details concern the server only
            why, status = "The server cannot open its rooms now. Try again.", 503
        if is_page:
            return page("lecturer", "A class's room", f"<h1>{escape(why)}</h1>", status=status)
        return JSONResponse({"why": why}, status, HEADERS)

    return endpoint


def room_routes() -> list[Route]:
    """Return the routes of all these addresses. Codes have no slash."""
    folder = f"{ADDRESS}/{{code}}"
    return [
        # Relative, because a proxy may have removed a prefix. Scripts of all pages are then at the same relative address.
        own_route(ADDRESS, partial(redirect, f"{ADDRESS}/")),
        own_route(f"{ADDRESS}/", _phones),
        own_route(f"{ADDRESS}/room/asked", guarded(_asked)),
        own_route(f"{ADDRESS}/room/answer", guarded(_answer), methods=["POST"]),
        own_route(folder, _phones),
        own_route(f"{folder}/", _to_the_code),
        own_route(f"{folder}/notes/now", _for_key(_now)),
        own_route(f"{folder}/results.html", _for_key(_results)),
    ]


def page(kind: str, title: str, body: str, script: str = "", status: int = 200) -> HTMLResponse:
    """Return a page for a phone, or for the lecturer's own screen or paper; `body` is HTML."""
    loaded = f'<script type="module" src="{escape(script)}"></script>' * bool(script)
    html = _PAGE.format(kind=kind, title=escape(title), css=_CSS, body=body, script=loaded)
    return HTMLResponse(html, status, HEADERS)


async def _to_the_code(request: Request) -> Response:
    return RedirectResponse(f"../{request.path_params['code'][:64]}")


async def _phones(_request: Request) -> Response:
    """Answer with the phones' page. It is the same for every code, so it tells nothing of rooms."""
    return page("phone", "Answer", _PHONE, f"../{address_of('room/browser/phone.js')}")


async def _asked(request: Request) -> Response:
    """Answer with a room's state as soon as it is newer than the phone's; 204 if there is nothing new."""
    given = request.query_params
    code, since = given.get("code", "")[:16], given.get("since", "")
    known = int(since) if since.isascii() and since.isdigit() and len(since) < 12 else -1
    state = await news(code, known)
    if state.version <= known:
        return Response(status_code=204, headers=HEADERS)
    return JSONResponse(_for_phones(state), headers=HEADERS)


_looks: dict[str, tuple[float, asyncio.Task[State]]] = {}  # by room: the last one, and when it began
_n_waiting: Counter[str] = Counter()


async def news(code: str, since: int) -> State:
    """Return the state of a room that is newer than `since`, or the present one after `LONGEST_WAIT` seconds.

    Raises `RoomError` when the room is closed, and if too many wait.
    """
    if _n_waiting[code] >= MOST_WAITING:
        raise RoomError("Too many phones wait for this room.")
    _n_waiting[code] += 1
    try:
        end = time.monotonic() + LONGEST_WAIT
        while (state := await _look(code)).version <= since and time.monotonic() < end:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        return state
    finally:
        _n_waiting[code] -= 1
        if not _n_waiting[code]:
            del _n_waiting[code]  # strangers ask for any code


async def _look(code: str) -> State:
    """Return the state of a room as the last look into the store has found it: one look serves all who wait."""
    now = time.monotonic()
    for name in [name for name, (then, look) in _looks.items() if look.done() and now - then >= SECONDS_BETWEEN_LOOKS]:
        del _looks[name]
    if code not in _looks:
        look = anyio.to_thread.run_sync(rooms().state, code, limiter=limiter())
        _looks[code] = (now, asyncio.create_task(look))
    return await asyncio.shield(_looks[code][1])  # others wait for it, too


@lru_cache(maxsize=64)
def _for_phones(state: State) -> dict[str, Any]:
    """Return a room's state as phones draw it, once for all who wait. Nothing of the answers is in it before the reveal."""
    said: dict[str, Any] = {"version": state.version, "isOpen": state.is_open}
    if state.left is not None:
        said["left"] = round(state.left, 1)
    asks = state.asks
    if state.asked is None or asks is None:
        return said
    said |= {"name": state.asked.name, "round": state.round, "question": plain_question(asks)}
    said |= {"picture": state.picture, "isRevealed": state.is_revealed}
    if state.is_revealed:
        said |= {"drawing": answers(asks, state.rounds, state.result, state.picture), "result": state.result}
    return said


async def _answer(request: Request) -> Response:
    """Store an answer, whose size is known before it is read."""
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > LONGEST_ANSWER:
        raise RoomError(NO_ANSWER, 413)
    try:
        said = json.loads(await request.body())
        code, name = (str(said[field])[:64] for field in ("code", "name"))
        answer = (said["client"], name, int(said["round"]), said["guess"], float(said["age"]))
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        raise RoomError(NO_ANSWER) from None
    let_in = partial(_newcomers.allows, f"{code} {caller_of(request)}")
    store = partial(rooms().answer, code, *answer, let_in)
    return JSONResponse({"guess": await anyio.to_thread.run_sync(store, limiter=limiter())}, headers=HEADERS)


def _for_key(made: Callable[[Key], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that makes its answer for the key in the browser's cookie."""

    async def answer(request: Request) -> Response:
        code = request.path_params["code"][:16]
        key = Key(code, request.cookies.get(cookie_name(code), ""))
        return await anyio.to_thread.run_sync(made, key, limiter=limiter())

    return guarded(answer)


def _now(key: Key) -> Response:
    """Return the present question and the answers so far, which the class does not see yet."""
    state = rooms().look(key)
    said, asks = {"said": f"Room {spaced(key.code)}", "question": "", "drawing": ""}, state.asks
    if asks is not None:
        # Made of numbers, of the project's own words, and of those of the lecturer.
        said["drawing"] = answers(asks, state.rounds, state.result, state.picture)
        said |= {"said": f"Room {spaced(key.code)}. {standing(state)}", "question": plain_text(asks.text)}
    return JSONResponse(said, headers=HEADERS)


def _results(key: Key) -> Response:
    """Return all questions with their answers, and the same as a table to save."""
    asked = rooms().questions(key)
    table = f"data:text/csv;charset=utf-8,{quote(results_csv(asked))}"
    body = "".join(_section(number, one) for number, one in enumerate(asked, start=1)) or "<p>Nothing was asked.</p>"
    title, file = f"Results of room {spaced(key.code)}", f"room-{key.code}.csv"
    save = f'<p><a href="{table}" download="{escape(file)}">Save as a table</a></p>'
    return page("lecturer", title, f"<h1>{escape(title)}</h1>{save}{body}")


def _section(number: int, one: State) -> str:
    asks, lesson = one.asks, None if one.asked is None else one.asked.of_lesson
    if one.asked is None or asks is None or lesson is None:
        return ""
    votes, result = ", then ".join(counted(len(guesses), "answer") for guesses in one.rounds), one.result
    said = f"<p><b>Answer: {escape(result['answer'])}</b> {escape(result['why'])}</p>" if result else ""
    where = "Your own question." if one.asked.own else f"{escape(lesson.title)} Step {one.asked.step + 1}."
    return (
        f"<section><h2>{number}. {escape(plain_text(asks.text))}</h2><p>{where} {votes}.</p>"
        f"{answers(asks, one.rounds, result, one.picture)}{said}</section>"
    )
