"""The page "To take away": a lesson on paper, as exercises with hidden answers, and in a frame."""

from __future__ import annotations

import streamlit as st

from dsgcore.core.parameters import Choice
from dsgcore.experiments import SETTINGS, Setting
from dsgcore.lessons import lessons_of
from dsgcore.settings import GuidedLesson
from pages.controls.control import Control, draw, refused
from pages.room.door import warn_of_no_address
from pages.shell.addresses import beside_this_page
from pages.shell.page_link import given
from pages.shell.plain_text import say_of_link
from pages.shell.warm_up import is_ready
from pages.stage.links import NAMED, address_of, answer, exercise, named, place_in_link
from pages.workbench.tabs import draw_frame

Lesson = tuple[type[Setting], GuidedLesson]


def take_away() -> None:
    st.title("To take away")
    st.markdown("Take a lesson home: on paper, as an exercise, or inside your own page.")
    known = {
        named(setting, lesson): (setting, lesson) for setting in SETTINGS.values() for lesson in lessons_of(setting)
    }
    setting, lesson = known[_chosen(known)]
    if not is_ready():
        return
    warn_of_no_address()
    with st.container(key="take-away"):
        st.header("On paper")
        st.markdown(
            "To print a step, open it and print that page: before the run a question to answer, afterwards with the reason. "
            "Your notes are a page of their own."
        )
        notes = beside_this_page("notes", {"of": f"{lesson.setting}/{lesson.name}"}).geturl()
        st.link_button("Notes to print", notes, icon=":material/notes:")
        _links(setting, lesson)
        st.header("In your own page")
        st.markdown("The lesson in a frame, without navigation and tabs.")
        hidden = place_in_link(setting, lesson, 0) | {"hide": "tabs,limits"}
        draw_frame(address_of(setting), hidden, key="take-away-theme")


def _chosen(known: dict[str, Lesson]) -> str:
    """Draw the choice of a lesson; show a warning if the link names an unknown one."""
    asked, usual = given(NAMED), next(iter(known))
    if asked and asked not in known:
        say_of_link(f"In the link, {NAMED} must name a lesson, got {refused(asked)}; the first lesson is shown.")
    if asked in known and NAMED not in st.session_state:
        st.session_state[NAMED] = asked
    choice = Choice(NAMED, usual, label="Lesson", options=tuple(known))
    return str(draw(Control(NAMED, "", choice), is_plain=True))


def _links(setting: type[Setting], lesson: GuidedLesson) -> None:
    st.header("Links")
    st.markdown(
        "An *exercise* hides the answer. The guess goes into the address, which students hand in. (It is "
        "not an exam: anyone can change the address.) The other link shows the answer."
    )
    for number, step in enumerate(lesson.steps):
        asked = step.task
        st.subheader(f"{number + 1}. {asked}")
        for said, made in (("Exercise", exercise), ("Answer", answer)):
            st.caption(said)
            st.code(address_of(setting, made(setting, lesson, number)), language=None, wrap_lines=True)


take_away()
