"""A session's link: invalid values in sentences, the run's entries besides its controls, and a lecture."""

from __future__ import annotations

import time

from dsgcore.core.parameters import Text, read
from dsgcore.experiments import SETTINGS, Setting
from dsgcore.lessons import Lecture, lesson_named, library
from dsgcore.rooms.questions import check_parts
from dsgcore.settings import GuidedLesson
from pages.controls.control import Control, key_of, read_controls
from pages.controls.controls import read_spec
from pages.controls.hand import EDITS
from pages.controls.link import CHANGES, changes_to_text, names_of, unknown_names
from pages.controls.view import FEATURE, SPEED, axis_controls, choices_of, seed_control, view_control
from pages.session.bench import PLAYING, Bench
from pages.shell.page_link import link_now, say_in_link

# The entries without a control: the changes during the run, the edits of the data, its iteration, the earlier step that the
# page shows, the place in a guided lesson, the finished race, and the code of a class's room. No link holds the room's key.
LESSON, RACE, ROOM = "lesson", "race", "room"
START, FIRST = "auc", "unlabeled"  # a lesson that shows in two minutes how unlabeled points help
KEPT = (CHANGES, EDITS, "at", "look", LESSON, RACE, ROOM)


def read_link(problem: type[Setting], given: dict[str, str]) -> list[str]:
    """Set the controls of a page to its link's values; return a sentence for each invalid one."""
    views = [view_control(problem, choice) for choice in choices_of(problem)]
    column = Control(key_of(problem, FEATURE), "view", Text(FEATURE, ""))
    others = [seed_control(problem), *views, *axis_controls(problem), column]  # besides those of the spec
    known = names_of(problem) | {name: name for name in (*KEPT, *(control.name for control in others))}
    return read_spec(problem, given) + read_controls(others, given) + unknown_names(given, known)


def link_to_guided(problem: type[Setting], name: str) -> dict[str, str]:
    """Return the query of a link to the first step of a guided lesson."""
    return {LESSON: name, view_control(problem, SPEED).name: "fast"}  # because the reader waits for the run


def first_lesson() -> tuple[type[Setting], dict[str, str]]:
    """Return the setting of the lesson that needs no theory, and the query of the link to it."""
    setting = SETTINGS[START]
    return setting, link_to_guided(setting, FIRST)


# Seconds between updates of the iteration in the link during a run.
SECONDS_BETWEEN_PLACES = 3.0


def keep_place(bench: Bench) -> None:
    """Note the changes and the run's iteration for the link: when the run pauses, and every few seconds during it."""
    for name, text in place_of(bench).items():
        say_in_link(name, text)


def begin_place(bench: Bench) -> None:
    """Note what the link says of the run, as long as the page has none, and of parts of the page that are not drawn yet."""
    link = bench.link.page = link_now()
    link.owner, link.entry = bench.feed.name, LESSON
    for name in (*KEPT, *(name for name in link.given if name.startswith("view."))):
        say_in_link(name, link.texts.get(name) or link.given.get(name, ""))


def place_of(bench: Bench) -> dict[str, str]:
    """Return the run's entries in the link besides its controls, one for each name in `KEPT`."""
    assert bench.spec is not None
    link, now = bench.link, time.monotonic()
    if bench.jobs.preparation is not None:
        link.at = bench.jobs.preparation.at
    elif link.going_to:
        link.at = f"{link.going_to}{PLAYING * link.plays_on}"
    elif not bench.is_playing or bench.present.is_finished:
        link.at = str(bench.present.run.t or "")
    elif bench.present.run.t and now - link.at_noted >= SECONDS_BETWEEN_PLACES:
        link.at, link.at_noted = f"{bench.present.run.t}{PLAYING}", now
    room = bench.group.room  # read once: the script may close it meanwhile
    return {
        CHANGES: changes_to_text(bench.spec),
        EDITS: bench.hand.text,
        "at": link.at,
        "look": str(bench.back.t or ""),
        LESSON: bench.lesson.place.text if bench.lesson.place is not None else "",
        RACE: bench.view.race or link.race,
        ROOM: "" if room is None else room.code,
    }


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
