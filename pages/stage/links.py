"""Links to a step of a lesson: with its answer, or with the answer hidden."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from dsgcore.experiments import Setting
from dsgcore.settings import GuidedLesson, profile_of
from pages.room.door import address_for_students
from pages.session import lesson_place
from pages.session.link import link_to_guided
from pages.workbench.head import ANSWER

# Everything except the map would give the answer away. For a goal, the reader needs the numbers.
OF_A_QUESTION = ("sidebar", "view", "limits", "curves", "error", "tabs", ANSWER)
OF_A_GOAL = (ANSWER,)
PAGE = "pages/take_away.py"
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
    return place_in_link(setting, lesson, number, lesson_place.SHOWN)


def address_of(setting: type[Setting], given: dict[str, str] | None = None) -> str:
    """Return the full address of a setting's page on this server, as students reach it."""
    return address_for_students(setting.name)._replace(query=urlencode(given or {})).geturl()


def named(setting: type[Setting], lesson: GuidedLesson) -> str:
    """Return the name of a lesson on the page of handouts, and in its link."""
    return f"{profile_of(setting).short}: {lesson.title}"


def to_take_away(setting: type[Setting], lesson: GuidedLesson, label: str) -> None:
    """Draw the link to the handout of a lesson."""
    given = {NAMED: named(setting, lesson)}
    st.page_link(PAGE, label=label, icon=":material/download:", query_params=given, width="content")
