"""Page with all guided lessons, by setting."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import GuidedLesson, profile_of
from pages.session.link import START, link_to_guided
from pages.shell.router import page_of
from pages.shell.warm_up import is_ready
from pages.stage.links import to_take_away
from pages.stage.marks import kept_marks, mark_of

BEFORE_A_CLASS = {"present": "1"}


def lessons() -> None:
    """Draw the page."""
    st.title("Lessons")
    st.markdown(
        "Each lesson asks a question. Make a guess, watch the run, and read the reason. The answer comes from the run that you "
        "see, whatever its seed."
    )
    with st.container(horizontal=True):
        st.page_link("pages/how_it_works.py", label="How it works", icon=":material/lightbulb:", width="content")
        st.page_link("pages/glossary.py", label="Glossary", icon=":material/dictionary:", width="content")
    marks = kept_marks()
    for setting in sorted(SETTINGS.values(), key=lambda setting: setting.name != START):
        if profile_of(setting).guided:
            _of_setting(setting, marks)


def _of_setting(setting: type[Setting], marks: dict[str, int]) -> None:
    profile = profile_of(setting)
    st.header(profile.full_name)
    st.markdown(profile.card)
    with st.container(key=f"lessons-{setting.name}"):
        for start in range(0, len(profile.guided), 3):
            for column, lesson in zip(st.columns(3), profile.guided[start : start + 3], strict=False):
                with column, st.container(border=True, height="stretch"):
                    _card(setting, lesson, mark_of(marks, setting, lesson))


def _card(setting: type[Setting], lesson: GuidedLesson, mark: str) -> None:
    st.markdown(f"### {lesson.title}")
    st.page_link(
        page_of(setting),
        label=f"Begin ({lesson.minutes} min, {len(lesson.steps)} steps)",
        icon=":material/play_arrow:",
        query_params=link_to_guided(setting, lesson.name),
        width="content",
    )
    st.page_link(
        page_of(setting),
        label="Show it to a class",
        icon=":material/co_present:",
        query_params=link_to_guided(setting, lesson.name) | BEFORE_A_CLASS,
        width="content",
    )
    to_take_away(setting, lesson, "Handout")
    st.caption(mark or "\N{NO-BREAK SPACE}")  # the line has its room before the browser has said what is done


lessons()
is_ready()
