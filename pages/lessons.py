"""All guided lessons, by setting: what each asks, how long it takes, and what one knows afterwards."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import GuidedLesson, profile_of
from pages.shell.router import page_of
from pages.shell.warm_up import is_ready
from pages.workbench.link import link_to_guided

FIRST = "unlabeled"


def lessons() -> None:
    """Draw the page."""
    st.title("Lessons")
    st.markdown(
        "Each begins with a question: commit to a guess, watch the run, and read why it came as it did. What is right is read "
        "off the run that you see, on any seed."
    )
    all_of_them = [(setting, lesson) for setting in SETTINGS.values() for lesson in profile_of(setting).guided]
    # The one that needs no word of theory first.
    all_of_them.sort(key=lambda one: one[1].name != FIRST)
    with st.container(key="lessons"):
        for start in range(0, len(all_of_them), 3):
            for column, (setting, lesson) in zip(st.columns(3), all_of_them[start : start + 3], strict=False):
                with column, st.container(border=True, height="stretch"):
                    _card(setting, lesson)


def _card(setting: type[Setting], lesson: GuidedLesson) -> None:
    st.caption(profile_of(setting).headline or profile_of(setting).short)
    st.markdown(f"## {lesson.title}\n{lesson.learned}")
    st.page_link(
        page_of(setting),
        label=f"Begin ({lesson.minutes} min, {len(lesson.steps)} steps)",
        icon=":material/play_arrow:",
        query_params=link_to_guided(setting, lesson.name),
        width="content",
    )


lessons()
is_ready()
