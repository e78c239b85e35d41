"""The marks of lessons that a reader has finished. The browser keeps them; the server stores nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from dsgcore.experiments import Setting
from dsgcore.settings import GuidedLesson
from pages.charts.live_chart import loader
from pages.session.lesson_place import Place


def keep_mark(problem: type[Setting], place: Place, room: str) -> None:
    """Make the browser keep how many steps of the lesson are done, and for the notes the step and the code of the room."""
    done = place.number + (place.outcome is not None)
    with st.container(key="part-state-mark"):
        here = f"{problem.name}/{place.lesson.name}/{place.number} {room}"
        _component()(key="lesson-mark", data={"lesson": _named(problem, place.lesson), "done": done, "here": here})


def kept_marks() -> dict[str, int]:
    """Return the number of steps done by lesson, as the browser says. It says so in a second drawing of the page."""
    with st.container(key="part-state-mark"):
        said = _component()(key="lesson-marks", data={}, default={"marks": None}, on_marks_change=_heard)
    return _checked(said.get("marks"))


def n_done(marks: dict[str, int], problem: type[Setting], lesson: GuidedLesson) -> int:
    """Return how many steps of a lesson are done, from its first one on."""
    return max(0, marks.get(_named(problem, lesson), 0))


def _named(problem: type[Setting], lesson: GuidedLesson) -> str:
    return f"{problem.name}:{lesson.name}"


def _checked(said: Any) -> dict[str, int]:
    """Return the browser's marks without anything that is no mark, because a browser can send anything."""
    if not isinstance(said, dict):
        return {}
    return {str(name): done for name, done in said.items() if isinstance(done, int)}


def _heard() -> None:
    """Do nothing: streamlit draws the page again, and the page then reads the marks."""


@cache
def _component() -> Callable[..., Any]:
    return component("lesson_marks", js=loader("stage/browser/marks.js"), isolate_styles=False)
