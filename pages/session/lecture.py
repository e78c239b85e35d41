"""A lecture on the pages: it is in the link, by its name or as its parts, one a line."""

from __future__ import annotations

from dsgcore.core.parameters import read
from dsgcore.experiments import SETTINGS
from dsgcore.lessons import Lecture, lesson_named, library
from dsgcore.rooms.questions import check_parts
from dsgcore.settings import GuidedLesson
from pages.session.link import link_to_guided

LECTURE = "lecture"  # its name in a link


def lecture_in(text: str) -> Lecture:
    """Return the lecture that a link names, or whose parts it holds.

    Raises
    ------
    DSGError
        If there is no such lesson, or a question that a class cannot answer.
    """
    lecture = library().lectures.get(text)
    if lecture is None:
        parts = [line.strip() for line in text.splitlines() if line.strip()]
        lecture = read(Lecture, {"title": "Lecture", "parts": parts}, "The lecture")
    check_parts(lecture)
    return lecture


def number_of(lecture: Lecture, lesson: GuidedLesson) -> int | None:
    """Return the number of a lesson's part, from 0 on, or None if the lecture has not this lesson."""
    names = (lesson.name, f"{lesson.setting}/{lesson.name}")
    return next((number for number, part in enumerate(lecture.parts) if part in names), None)


def link_to_part(part: str, text: str) -> tuple[str, dict[str, str]]:
    """Return the setting of a lecture's lesson, and the query of the link that shows it to a class; `text` is the lecture's."""
    lesson = lesson_named(part)
    return lesson.setting, link_to_guided(SETTINGS[lesson.setting], lesson.name) | {"present": "1", LECTURE: text}
