"""Links to a step of a lesson, and the marks of the steps that are done, which the browser alone keeps."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from dsgcore.experiments import Setting
from dsgcore.settings import GuidedLesson, profile_of
from pages.room.door import address_for_students
from pages.session.lesson_place import SHOWN, Place
from pages.session.link import link_to_guided
from pages.shell.page_link import mount
from pages.workbench.head import ANSWER

# Everything except the map would give the answer away. For a goal, the reader needs the numbers.
OF_A_QUESTION = ("sidebar", "view", "limits", "curves", "error", "tabs", ANSWER)
OF_A_GOAL = (ANSWER,)
NAMED = "of"  # name of the lesson, in that page's link


def place_in_link(setting: type[Setting], lesson: GuidedLesson, number: int, guess: str = "") -> dict[str, str]:
    """Return the query of a link to a step, counted from 0."""
    return link_to_guided(setting, ":".join([lesson.name, str(number + 1), *([guess] if guess else [])]))


def exercise(setting: type[Setting], lesson: GuidedLesson, number: int) -> dict[str, str]:
    """Return the query of a link that asks a step's question, or sets its goal, and hides the answer."""
    hidden = OF_A_GOAL if lesson.steps[number].goal is not None else OF_A_QUESTION
    return place_in_link(setting, lesson, number) | {"hide": ",".join(hidden)}


def answer(setting: type[Setting], lesson: GuidedLesson, number: int) -> dict[str, str]:
    """Return the query of a link that shows a step with its answer."""
    return place_in_link(setting, lesson, number, SHOWN)


def address_of(setting: type[Setting], given: dict[str, str] | None = None) -> str:
    """Return the full address of a setting's page on this server, as students reach it."""
    return address_for_students(setting.name)._replace(query=urlencode(given or {})).geturl()


def named(setting: type[Setting], lesson: GuidedLesson) -> str:
    """Return the name of a lesson on the page of handouts, and in its link."""
    return f"{profile_of(setting).short}: {lesson.title}"


def to_take_away(setting: type[Setting], lesson: GuidedLesson, label: str) -> None:
    """Draw the link to the handout of a lesson."""
    given = {NAMED: named(setting, lesson)}
    st.page_link("pages/take_away.py", label=label, icon=":material/download:", query_params=given)


def keep_mark(problem: type[Setting], place: Place, room: str) -> None:
    """Make the browser keep how many steps of the lesson are done, and for the notes the step and the code of the room."""
    done = place.number + (place.outcome is not None)
    here = f"{problem.name}/{place.lesson.name}/{place.number} {room}"
    mount("part-state-mark", {"mark": {"lesson": f"{problem.name}:{place.lesson.name}", "done": done, "here": here}})


def kept_marks() -> dict[str, int]:
    """Return the number of steps done by "setting:lesson", as the browser says. It says so in a second drawing of the page."""
    more = {"default": {"marks": None}, "on_marks_change": lambda: None}
    said = mount("part-state-marks", {"asksMarks": True}, **more).get("marks")
    marks = said.items() if isinstance(said, dict) else ()  # a browser can send anything
    return {str(name): max(0, done) for name, done in marks if isinstance(done, int)}
