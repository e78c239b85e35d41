"""A lecturer's notes on a lesson or a lecture: on the lecturer's own screen, where they follow the lesson, or on paper.

For a handout to a class, print the stage itself: before the run a step has room for an answer, and after it the reason.
"""

from __future__ import annotations

import re
from html import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dsgcore.core.errors import DSGError
from dsgcore.experiments import SETTINGS
from dsgcore.lessons import lesson_named
from dsgcore.rooms.questions import Question, question_in
from dsgcore.settings import GuidedLesson, LessonStep, profile_of
from pages.charts.live_chart import address_of
from pages.room.entrance import page
from pages.session.link import lecture_in
from pages.shell.addresses import own_route

_STRONG, _EMPHASIS = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"(?<![\w\\])\*(?=\S)(.+?)(?<=\S)\*(?!\w)")
LONGEST_LECTURE = 6000  # characters
# The answers so far of a room stand above the notes; notes.js fills them in.
_LIVE = """<div id="live" hidden><p id="count" role="status"></p><p id="question"></p><div id="drawing"></div></div>"""


def notes_route() -> Route:
    """Return the route of the page; `of` in its query is a lesson, or a lecture by its name or its parts."""
    return own_route("notes", _notes)


async def _notes(request: Request) -> Response:
    try:
        lecture = lecture_in(request.query_params.get("of", "")[:LONGEST_LECTURE])
        body, status = "".join(map(_part, lecture.parts)), 200
    except DSGError as error:
        body, status = f"<p>{escape(str(error))}</p>", 404
    return page("lecturer", "Notes", f"{_LIVE}<main>{body}</main>", address_of("handouts/browser/notes.js"), status)


def _part(part: str) -> str:
    if "|" in part:
        asks = question_in(part)
        return f"<h2>{marked(asks.text)}</h2>{_answers(asks)}"
    lesson = lesson_named(part)
    steps = "".join(_step(lesson, number, step) for number, step in enumerate(lesson.steps))
    return f"<h2>{escape(lesson.title)}</h2><p>{escape(profile_of(SETTINGS[lesson.setting]).full_name)}</p>{steps}"


def _step(lesson: GuidedLesson, number: int, step: LessonStep) -> str:
    return (
        f'<section id="{escape(lesson.setting)}/{escape(lesson.name)}/{number}"><h3>{number + 1}. {marked(step.task)}</h3>'
        f'{_answers(step.asks)}<p class="notes">{marked(step.notes or "This step has no notes.")}</p>'
        f"<p>Why: {marked(step.explanation)}</p></section>"
    )


def _answers(asks: Question | None) -> str:
    words = "".join(f"<li>{marked(option.words)}</li>" for option in getattr(asks, "options", ()))
    return f"<ul>{words}</ul>" * bool(words)


def marked(text: str) -> str:
    """Return a lesson's Markdown as HTML. It knows bold and emphasis only, and escapes any HTML in the text."""
    said = _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<b>\1</b>", escape(text).replace(" %", "&nbsp;%")))
    return said.replace(r"\*", "*")
