"""The lecturer's own answers of a room: those so far for the notes, and all results as a table and as one page.

Only the browser whose cookie holds the room's key gets them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from dsgcore.rooms.questions import Answered, Question, plain_text, results_csv
from dsgcore.rooms.rooms import Key, RoomError
from dsgcore.studies import StoreError
from pages.room.drawings import answers
from pages.room.entrance import ADDRESS, HEADERS, STYLE, TOO_FAST, is_too_fast, limiter, refused, rooms
from pages.shell.addresses import own_route
from pages.shell.room_key import cookie_name

_RESULTS = Path(__file__).with_name("results.html")
NOT_YOURS = "Only the browser that opened this room can see this page."


def lecturer_routes() -> list[Route]:
    """Return the routes of the pages."""
    folder = f"{ADDRESS}/{{code}}"
    return [
        own_route(f"{folder}/notes/now", _for_key(_now)),
        own_route(f"{folder}/results.csv", _for_key(_csv)),
        own_route(f"{folder}/results.html", _for_key(_page)),
    ]


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


def _options(asks: Question) -> str:
    words = [escape(plain_text(option.words)) for option in getattr(asks, "options", ())]
    return f"<ol>{''.join(f'<li>{one}</li>' for one in words)}</ol>" * bool(words)


def _now(key: Key) -> Response:
    """Return the present question and the answers so far, which the class does not see yet."""
    number, state = rooms().count(key), rooms().state(key.code)
    said: dict[str, Any] = {"code": key.code, "number": number, "isOpen": state.is_open, "round": state.round}
    said |= {"isRevealed": state.is_revealed, "left": state.left, "question": "", "drawing": ""}
    asks = None if state.asked is None else state.asked.question
    if state.asked is not None and asks is not None:
        said["question"] = plain_text(asks.text)
        # Made of numbers, of the project's own words, and of those of the lecturer.
        said["drawing"] = answers(asks, rooms().rounds(key, state.asked), state.result, state.picture)
    return JSONResponse(said, headers=HEADERS)


def _csv(key: Key) -> Response:
    text = results_csv(rooms().questions(key))
    said = {"Content-Disposition": f'attachment; filename="room-{_file_name(key)}.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=HEADERS | said)


def _file_name(key: Key) -> str:
    return "".join(sign for sign in key.code if sign.isalnum())


def _page(key: Key) -> Response:
    answered = rooms().questions(key)
    body = "".join(_section(number, one) for number, one in enumerate(answered, start=1))
    page = _RESULTS.read_text(encoding="utf-8").replace("{css}", STYLE.read_text(encoding="utf-8"))
    page = page.replace("{code}", escape(key.code))
    return HTMLResponse(page.replace("{body}", body or "<p>Nothing was asked.</p>"), headers=HEADERS)


def _ended(answer: str) -> str:
    return escape(answer if answer.endswith((".", "?", "!")) else f"{answer}.")


def _section(number: int, one: Answered) -> str:
    asks, lesson = one.asked.question, one.asked.of_lesson
    if asks is None or lesson is None:
        return ""
    votes = " and ".join(f"{len(guesses)} answer{'s' if len(guesses) != 1 else ''}" for guesses in one.rounds)
    said = (
        f"<p><b>Answer: {_ended(str(one.result['answer']))}</b> {escape(str(one.result['why']))}</p>"
        if one.result
        else ""
    )
    return (
        f"<section><h2>{number}. {escape(plain_text(asks.text))}</h2><p>{escape(lesson.title)} Step {one.asked.step + 1}. "
        f"{votes}.</p>{_options(asks)}{answers(asks, one.rounds, one.result, one.picture)}{said}"
        "</section>"
    )
