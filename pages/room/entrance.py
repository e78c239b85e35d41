"""The addresses of the class: a small page for phones, the news of a room, and answers, whose size is limited.

They are no pages of streamlit, so a phone costs one request that waits, and no session.
"""

from __future__ import annotations

import json
import sqlite3
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import Any

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from dsgcore.rooms.questions import plain_question
from dsgcore.rooms.rooms import NoRoomError, RoomError, Rooms, State
from dsgcore.studies import Store, StoreError, default_store
from pages.charts.live_chart import address_of
from pages.room.drawings import answers
from pages.room.pace import Pace
from pages.room.waiting import Watches
from pages.shell.addresses import own_route
from pages.shell.callers import caller_of

ADDRESS = "r"
LONGEST_ANSWER = 400  # bytes
AT_ONCE = 4  # answers that are stored at the same time
_PAGE, STYLE = Path(__file__).with_name("phone.html"), Path(__file__).with_name("room.css")
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
TOO_FAST = "Too many requests from your network. This page tries again."
TOO_MANY_CODES = "Too many wrong codes from your network. Wait a minute."
TOO_MANY_PHONES = "Too many new phones in your network. This page tries again."
NO_ANSWER = "This is not an answer to the question."

# A whole class may share one address. All of it answers at once, and asks again after each change.
_pace = Pace(600, 60)
# Wrong codes, of each address and of all together. A class mistypes some. An attacker who tries ten codes a second for a day
# finds one of ten rooms with a chance below 1 %.
_wrong, _wrong_of_all = Pace(40, 0.2), Pace(1000, 10)
# A whole class may share one address here too. Beyond that, one computer that answers as many phones is slow enough to be seen.
_newcomers = Pace(200, 0.5)
# Callers who are refused and say that they have entered before: each of them costs a look into the store.
_returns = Pace(100, 30)


@cache
def rooms() -> Rooms:
    """Return the rooms of the server's store."""
    return Rooms(Store(default_store()))


@cache
def limiter() -> CapacityLimiter:
    """Return the limit on threads for answers."""
    return CapacityLimiter(AT_ONCE)


@cache
def watches() -> Watches:
    """Return the rooms for whose news phones wait."""
    return Watches(lambda code: rooms().state(code), CapacityLimiter(AT_ONCE))


def entrance_routes() -> list[Route]:
    """Return the routes of the phones' page, of a room's news, and of answers. Codes have no slash."""
    return [
        own_route(ADDRESS, _to_the_folder),
        own_route(f"{ADDRESS}/", _page),
        own_route(f"{ADDRESS}/room/asked", _asked),
        own_route(f"{ADDRESS}/room/answer", _answer, methods=["POST"]),
        own_route(f"{ADDRESS}/{{code}}", _page),
        own_route(f"{ADDRESS}/{{code}}/", _to_the_code),
    ]


async def _to_the_folder(_request: Request) -> Response:
    # Relative, because a proxy may have removed a prefix. Scripts of all pages are then at the same relative address.
    return RedirectResponse(f"{ADDRESS}/")


async def _to_the_code(request: Request) -> Response:
    return RedirectResponse(f"../{request.path_params['code'][:64]}")


async def _page(_request: Request) -> Response:
    return HTMLResponse(page_html(), headers=HEADERS)


@cache
def page_html() -> str:
    """Return the phones' page. It is the same for every code, so it tells nothing of rooms."""
    script = escape(f"../{address_of('room/browser/phone.js')}")
    page = _PAGE.read_text(encoding="utf-8").replace("{css}", STYLE.read_text(encoding="utf-8"))
    return page.replace("{script}", script)


def is_too_fast(request: Request) -> bool:
    """Return True if the caller asks too often, and count the request."""
    return not _pace.allows(caller_of(request))


async def _asked(request: Request) -> Response:
    """Answer with a room's state as soon as it is newer than the phone's; 204 if there is nothing new."""
    if is_too_fast(request):
        return refused(TOO_FAST, 429)
    caller, given = caller_of(request), request.query_params
    code, since = given.get("code", "")[:16], given.get("since", "")
    try:
        await _enter(caller, code, given.get("entry", ""))
        known = int(since) if since.isascii() and since.isdigit() and len(since) < 12 else -1
        state = await watches().news(code, known)
        if state.version <= known:
            return Response(status_code=204, headers=HEADERS)
        return JSONResponse(_for_phones(state), headers=HEADERS)
    except (RoomError, StoreError, sqlite3.Error) as error:
        return _refusal(error)


async def _enter(caller: str, code: str, entry: str) -> None:
    """Return if the caller may know this room; raise `RoomError` if there is none, or after too many wrong codes.

    A phone that has entered before goes on, also while somebody in the same network tries codes.
    """
    may_try = _wrong.left(caller) >= 1 and _wrong_of_all.left("") >= 1  # a refusal tells nothing about any code
    if may_try or (entry and (watches().knows(code, entry) or _returns.allows(""))):
        try:
            state = await watches().present(code)
        except NoRoomError:
            if may_try:
                _wrong.allows(caller)
                _wrong_of_all.allows("")
                raise
        else:
            if may_try or entry == state.entry:
                return
    raise TooOftenError(TOO_MANY_CODES)


class TooOftenError(RoomError):
    """A network that has tried too many wrong codes, or has brought too many new phones."""

    status = 429


@lru_cache(maxsize=64)
def _for_phones(state: State) -> dict[str, Any]:
    """Return a room's state as phones draw it, once for all who wait. Nothing of the answers is in it before the reveal."""
    said: dict[str, Any] = {"version": state.version, "entry": state.entry, "isOpen": state.is_open}
    if state.left is not None:
        said["left"] = round(state.left, 1)
    asks = None if state.asked is None else state.asked.question
    if state.asked is None or asks is None:
        return said
    said |= {"name": state.asked.name, "round": state.round, "question": plain_question(asks)}
    said |= {"picture": state.picture, "isRevealed": state.is_revealed}
    if state.is_revealed:
        said |= {"drawing": answers(asks, state.rounds, state.result, state.picture), "result": state.result}
    return said


async def _answer(request: Request) -> Response:
    if is_too_fast(request):
        return refused(TOO_FAST, 429)
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > LONGEST_ANSWER:
        return refused(NO_ANSWER, 413)
    try:
        said = _read(await request.body())
        caller = caller_of(request)
        await _enter(caller, said["code"], said["entry"])
        return JSONResponse(await anyio.to_thread.run_sync(_take, said, caller, limiter=limiter()), headers=HEADERS)
    except (RoomError, StoreError, sqlite3.Error) as error:
        return _refusal(error)


def _read(body: bytes) -> dict[str, Any]:
    """Return the fields of an answer; raise `RoomError` if one is missing."""
    try:
        said = json.loads(body)
        texts = {name: str(said[name])[:64] for name in ("code", "entry", "name")}
        return {
            **texts,
            **{name: said[name] for name in ("client", "guess")},
            "round": int(said["round"]),
            "age": float(said["age"]),
        }
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        raise RoomError(NO_ANSWER) from None


def _take(said: dict[str, Any], caller: str) -> dict[str, str]:
    """Store an answer."""

    def let_in() -> None:
        if not _newcomers.allows(f"{said['code']} {caller}"):
            raise TooOftenError(TOO_MANY_PHONES)

    answer = (said["code"], said["client"], said["name"], said["round"], said["guess"], said["age"])
    return {"guess": rooms().answer(*answer, let_in)}


def _refusal(error: Exception) -> Response:
    if isinstance(error, RoomError):
        return refused(str(error), error.status)
    return refused("The server cannot save answers now. Try again.", 503)  # the details concern the server only


def refused(why: str, status: int) -> Response:
    """Return an answer that says why there is no other."""
    return JSONResponse({"why": why}, status_code=status, headers=HEADERS)
