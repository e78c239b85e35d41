"""The lecturer's own pages of a room: notes for a second screen, and the results as a table and as one page.

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

from dsgcore.rooms.questions import plain_text
from dsgcore.rooms.results import Answered, all_answered, results_csv
from dsgcore.rooms.rooms import Key, RoomError
from dsgcore.studies import StoreError
from pages.charts.live_chart import address_of
from pages.room.drawings import answers
from pages.room.entrance import ADDRESS, HEADERS, TOO_FAST, is_too_fast, limiter, refused, rooms
from pages.room.pace import Pace
from pages.shell.addresses import own_route
from pages.shell.callers import caller_of
from pages.shell.room_key import cookie_name

_NOTES = Path(__file__).with_name("notes.html")
_RESULTS = Path(__file__).with_name("results.html")
_STYLE = Path(__file__).with_name("room.css")
NOT_YOURS = "Only the browser that opened this room can see this page."


# A wrong key costs a look into the store. The lecturer's browser goes on while others in its network try keys.
_wrong_keys = Pace(20, 0.2)
_right_keys: dict[Key, None] = {}
_MOST_RIGHT_KEYS = 100


def _remember(key: Key) -> None:
    if len(_right_keys) >= _MOST_RIGHT_KEYS:
        _right_keys.clear()
    _right_keys[key] = None


def lecturer_routes() -> list[Route]:
    """Return the routes of the pages."""
    folder = f"{ADDRESS}/{{code}}"
    return [
        own_route(f"{folder}/notes", _notes_page),
        own_route(f"{folder}/notes/now", _for_key(_now)),
        own_route(f"{folder}/results.csv", _for_key(_csv)),
        own_route(f"{folder}/results.html", _for_key(_page)),
    ]


def _for_key(made: Callable[[Key], Response]) -> Callable[[Request], Any]:
    """Return an endpoint that makes its answer for the key in the browser's cookie."""

    async def answer(request: Request) -> Response:
        code = request.path_params["code"][:16]
        key = Key(code, request.cookies.get(cookie_name(code), ""))
        if is_too_fast(request) or not (
            key.secret and (key in _right_keys or _wrong_keys.left(caller_of(request)) >= 1)
        ):
            return refused(TOO_FAST if key.secret else NOT_YOURS, 429 if key.secret else 403)
        try:
            reply = await anyio.to_thread.run_sync(made, key, limiter=limiter())
            _remember(key)
            return reply
        except RoomError:
            _wrong_keys.allows(caller_of(request))
            return refused(NOT_YOURS, 403)
        except (StoreError, sqlite3.Error):
            return refused("The server cannot read the room now. Try again.", 503)

    return answer


async def _notes_page(_request: Request) -> Response:
    script = escape(f"../../{address_of('room/browser/notes.js')}")
    return HTMLResponse(_template(_NOTES).replace("{script}", script), headers=HEADERS)


def _template(file: Path) -> str:
    """Return a page with the style of the drawings in it."""
    return file.read_text(encoding="utf-8").replace("{css}", _STYLE.read_text(encoding="utf-8"))


def _now(key: Key) -> Response:
    """Return the notes of the present step and the answers so far, which the class does not see yet."""
    number, state = rooms().count(key), rooms().state(key.code)
    said: dict[str, Any] = {"code": key.code, "number": number, "isOpen": state.is_open, "round": state.round}
    said |= {"isRevealed": state.is_revealed, "left": state.left}
    step, lesson = (None, None) if state.asked is None else (state.asked.of_step, state.asked.of_lesson)
    if state.asked is None or step is None or lesson is None:
        return JSONResponse(said, headers=HEADERS)
    said |= {"lesson": f"{lesson.title} Step {state.asked.step + 1} of {len(lesson.steps)}."}
    said |= {"notes": plain_text(step.notes) or "This step has no notes.", "why": plain_text(step.explanation)}
    asks = state.asked.question
    if asks is not None:
        drawing = answers(asks, rooms().rounds(key, state.asked), state.result, state.picture)
        said |= {
            "question": plain_text(asks.text),
            "options": [plain_text(o.words) for o in getattr(asks, "options", ())],
        }
        said["drawing"] = drawing  # made of numbers and of the project's own words
    return JSONResponse(said, headers=HEADERS)


def _csv(key: Key) -> Response:
    text = results_csv(all_answered(rooms(), key))
    said = {"Content-Disposition": f'attachment; filename="room-{_file_name(key)}.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=HEADERS | said)


def _file_name(key: Key) -> str:
    return "".join(sign for sign in key.code if sign.isalnum())


def _page(key: Key) -> Response:
    answered = all_answered(rooms(), key)
    body = "".join(_section(number, one) for number, one in enumerate(answered, start=1))
    page = _template(_RESULTS).replace("{code}", escape(key.code))
    return HTMLResponse(page.replace("{body}", body or "<p>Nothing was asked.</p>"), headers=HEADERS)


def _ended(answer: str) -> str:
    return escape(answer if answer.endswith((".", "?", "!")) else f"{answer}.")


def _section(number: int, one: Answered) -> str:
    asks, lesson = one.asked.question, one.asked.of_lesson
    if asks is None or lesson is None:
        return ""
    options = "".join(f"<li>{escape(plain_text(option.words))}</li>" for option in getattr(asks, "options", ()))
    votes = " and ".join(f"{len(guesses)} answer{'s' if len(guesses) != 1 else ''}" for guesses in one.rounds)
    said = (
        f"<p><b>Answer: {_ended(str(one.result['answer']))}</b> {escape(str(one.result['why']))}</p>"
        if one.result
        else ""
    )
    return (
        f"<section><h2>{number}. {escape(plain_text(asks.text))}</h2><p>{escape(lesson.title)} Step {one.asked.step + 1}. "
        f"{votes}.</p>{f'<ol>{options}</ol>' if options else ''}{answers(asks, one.rounds, one.result, one.picture)}{said}"
        "</section>"
    )
