"""Lessons on paper and on the lecturer's own screen: notes that follow the lesson, and questions with room for answers.

What a run gives is not on paper: to print a step with its pictures and its answer, print the stage itself.
"""

from __future__ import annotations

import re
from functools import partial
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from dsgcore.core.errors import DSGError
from dsgcore.experiments import SETTINGS
from dsgcore.lessons import lesson_named
from dsgcore.rooms.questions import Places, Question, question_in
from dsgcore.settings import Curve, Estimate, GuidedLesson, LessonStep, Pick
from pages.charts.live_chart import address_of
from pages.room.drawings import axes
from pages.room.entrance import HEADERS, STYLE
from pages.session.lecture import lecture_in
from pages.shell.addresses import own_route

_PAGE = Path(__file__).with_name("paper.html")
_STRONG, _EMPHASIS = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"(?<!\w)\*(?=\S)(.+?)(?<=\S)\*(?!\w)")
LONGEST_LECTURE = 6000  # characters
_LINES = 3 * '<div class="line"></div>'  # borders, because browsers do not print backgrounds by default
_WHO = '<p class="who">Name: <span></span> Date: <span></span></p>'


def paper_routes() -> list[Route]:
    """Return the routes of both pages; `of` in their query is a lesson, or a lecture by its name or its parts."""
    return [own_route("notes", partial(_paper, True)), own_route("questions", partial(_paper, False))]


async def _paper(has_notes: bool, request: Request) -> Response:
    try:
        lecture = lecture_in(request.query_params.get("of", "")[:LONGEST_LECTURE])
        body, status = _WHO * (not has_notes) + "".join(_part(part, has_notes) for part in lecture.parts), 200
    except DSGError as error:
        body, status = f"<p>{escape(str(error))}</p>", 404
    page = _PAGE.read_text(encoding="utf-8").replace("{css}", STYLE.read_text(encoding="utf-8"))
    page = page.replace("{script}", escape(address_of("handouts/browser/notes.js")))
    page = page.replace("{title}", "Notes" if has_notes else "Questions")
    return HTMLResponse(page.replace("{body}", body), status, HEADERS)


def _part(part: str, has_notes: bool) -> str:
    if "|" not in part:
        return _lesson(lesson_named(part), has_notes)
    asks = question_in(part)
    return f"<h2>{marked(asks.text)}</h2>{_room_for(asks)}"


def _lesson(lesson: GuidedLesson, has_notes: bool) -> str:
    steps = "".join(
        f'<section id="{escape(lesson.setting)}/{escape(lesson.name)}/{number}"><h3>{number + 1}. {marked(_asked(step))}</h3>'
        f"{_notes(step) if has_notes else _question(step)}</section>"
        for number, step in enumerate(lesson.steps)
    )
    return f"<h2>{escape(lesson.title)}</h2><p>{escape(SETTINGS[lesson.setting].title)}</p>{steps}"


def _asked(step: LessonStep) -> str:
    return step.asks.text if step.asks is not None else step.goal.text if step.goal is not None else ""


def _notes(step: LessonStep) -> str:
    notes = marked(step.notes or "This step has no notes.")
    options = _room_for(step.asks) if isinstance(step.asks, Pick) else ""
    return f'{options}<p class="notes">{notes}</p><p>Why: {marked(step.explanation)}</p>'


def _question(step: LessonStep) -> str:
    room = '<p class="who">Reached with: <span></span></p>' if step.asks is None else _room_for(step.asks)
    return f"<p>{marked(step.text)}</p>{room}<p>Reason:</p>{_LINES}"


def _room_for(asks: Question) -> str:
    """Return the room for an answer: boxes, a number line, axes to draw on, or an empty map."""
    if isinstance(asks, Pick):
        return f"<ul>{''.join(f'<li>{marked(option.words)}</li>' for option in asks.options)}</ul>"
    if isinstance(asks, Estimate):
        return f'<div class="range"><span>{asks.low:g}</span><span>{asks.high:g}</span></div>'
    if isinstance(asks, Curve):
        return axes(asks)
    assert isinstance(asks, Places)
    return '<div class="map"></div>'


def marked(text: str) -> str:
    """Return a lesson's Markdown as HTML. It knows bold and emphasis only, and escapes any HTML in the text."""
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<b>\1</b>", escape(text).replace(" %", "&nbsp;%")))
