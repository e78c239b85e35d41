"""The lecturer's own pages of a room: the answers so far, for the notes, and all results on one page.

Only the browser whose cookie holds the room's key gets them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from dsgcore.rooms.questions import plain_text
from dsgcore.rooms.rooms import Key, RoomError, State, results_csv
from dsgcore.studies import StoreError
from pages.room.drawings import answers, counted
from pages.room.entrance import ADDRESS, HEADERS, STYLE, TOO_FAST, is_too_fast, limiter, refused, rooms
from pages.shell.addresses import own_route
from pages.shell.room_key import cookie_name

_PAGE = Path(__file__).with_name("lecturer.html")
NOT_YOURS = "Only the browser that opened this room can see this page."


def lecturer_routes() -> list[Route]:
    """Return the routes of the pages."""
    folder = f"{ADDRESS}/{{code}}"
    return [own_route(f"{folder}/notes/now", _for_key(_now)), own_route(f"{folder}/results.html", _for_key(_results))]


def lecturer_page(title: str, body: str, status: int = 200) -> HTMLResponse:
    """Return a page for the lecturer's own screen, or for paper; `body` is HTML."""
    page = _PAGE.read_text(encoding="utf-8").replace("{css}", STYLE.read_text(encoding="utf-8"))
    return HTMLResponse(page.replace("{title}", escape(title)).replace("{body}", body), status, HEADERS)


def _for_key(made: Callable[[Key], Response]) -> Callable[[Request], Any]:
    """Return an endpoint that makes its answer for the key in the browser's cookie."""

    async def answer(request: Request) -> Response:
        code = request.path_params["code"][:16]
        key = Key(code, request.cookies.get(cookie_name(code), ""))
        if not key.secret:
            return refused(NOT_YOURS, 403)
        if is_too_fast(request):
            return refused(TOO_FAST, 429)
        try:
            return await anyio.to_thread.run_sync(made, key, limiter=limiter())
        except RoomError:
            return refused(NOT_YOURS, 403)
        except (StoreError, sqlite3.Error):
            return refused("The server cannot read the room now. Try again.", 503)

    return answer


def _now(key: Key) -> Response:
    """Return the present question and the answers so far, which the class does not see yet."""
    state = rooms().look(key)
    said: dict[str, Any] = {"code": key.code, "number": state.count, "isOpen": state.is_open, "round": state.round}
    said |= {"isRevealed": state.is_revealed, "left": state.left, "question": "", "drawing": ""}
    asks = None if state.asked is None else state.asked.question
    if asks is not None:
        # Made of numbers, of the project's own words, and of those of the lecturer.
        said["drawing"] = answers(asks, state.rounds, state.result, state.picture)
        said["question"] = plain_text(asks.text)
    return JSONResponse(said, headers=HEADERS)


def _results(key: Key) -> Response:
    """Return all questions with their answers, and the same as a table to save."""
    asked = rooms().questions(key)
    table = f"data:text/csv;charset=utf-8,{quote(results_csv(asked))}"
    body = "".join(_section(number, one) for number, one in enumerate(asked, start=1)) or "<p>Nothing was asked.</p>"
    title, file = f"Results of room {key.code}", f"room-{key.code}.csv"
    return lecturer_page(
        title, f'<h1>{escape(title)}</h1><p><a href="{table}" download="{escape(file)}">Save as a table</a></p>{body}'
    )


def _section(number: int, one: State) -> str:
    asks, lesson = (None, None) if one.asked is None else (one.asked.question, one.asked.of_lesson)
    if one.asked is None or asks is None or lesson is None:
        return ""
    votes, result = " and ".join(counted(len(guesses), "answer") for guesses in one.rounds), one.result
    said = f"<p><b>Answer: {escape(result['answer'])}</b> {escape(result['why'])}</p>" if result else ""
    return (
        f"<section><h2>{number}. {escape(plain_text(asks.text))}</h2><p>{escape(lesson.title)} Step {one.asked.step + 1}. "
        f"{votes}.</p>{answers(asks, one.rounds, result, one.picture)}{said}</section>"
    )
