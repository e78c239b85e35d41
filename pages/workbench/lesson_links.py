"""Links to a step of a lesson that are given to others: with its answer, or with all hidden that would tell it."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import Setting
from dsgcore.settings import GuidedLesson, profile_of
from pages.shell.addresses import beside_this_page
from pages.workbench import lesson_place
from pages.workbench.layout import ANSWER
from pages.workbench.link import link_to_guided

# All but the map would show what a question asks for; a goal is to be reached, and its numbers have to be seen.
OF_A_QUESTION = ("sidebar", "view", "tiles", "limits", "curves", "error", "tabs", ANSWER)
OF_A_GOAL = (ANSWER,)
PAGE = "pages/take_away.py"
NAMED = "of"  # the lesson, in the link of that page


def place_in_link(setting: type[Setting], lesson: GuidedLesson, number: int, guess: str = "") -> dict[str, str]:
    """Return what a link to a step says, counted from 0."""
    return link_to_guided(setting, ":".join([lesson.name, str(number + 1), *([guess] if guess else [])]))


def exercise(setting: type[Setting], lesson: GuidedLesson, number: int) -> dict[str, str]:
    """Return what a link says that asks a step's question, or sets its goal, and keeps the answer to itself."""
    hidden = OF_A_GOAL if lesson.steps[number].goal is not None else OF_A_QUESTION
    return place_in_link(setting, lesson, number) | {"hide": ",".join(hidden)}


def answer(setting: type[Setting], lesson: GuidedLesson, number: int) -> dict[str, str]:
    """Return what a link says that shows a step with its answer."""
    return place_in_link(setting, lesson, number, lesson_place.SHOWN)


def address_of(setting: type[Setting], given: dict[str, str] | None = None) -> str:
    """Return the whole address of a setting's page on this server, as the browser has found it."""
    return beside_this_page(setting.name, given).geturl()


def named(setting: type[Setting], lesson: GuidedLesson) -> str:
    """Return what a lesson is called on the page of what can be taken away, and in its link."""
    return f"{profile_of(setting).short}: {lesson.title}"


def to_take_away(setting: type[Setting], lesson: GuidedLesson, label: str) -> None:
    """Draw the way to the page of what can be taken away of a lesson."""
    given = {NAMED: named(setting, lesson)}
    st.page_link(PAGE, label=label, icon=":material/download:", query_params=given, width="content")
