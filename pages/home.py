"""Home page: a first lesson, the five settings at work, and below them everything else."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import profile_of
from pages.pictures.kept import kept_picture, still
from pages.session.link import link_to_guided
from pages.shell.router import page_of
from pages.shell.warm_up import is_ready

START = "auc"  # its first lesson shows in two minutes how unlabeled points help
ELSEWHERE = {
    "pages/how_it_works.py": "**How it works.** The idea in five screens, with one thing to drag on each.",
    "pages/lessons.py": "**All lessons.** Each asks a question: guess, watch the run, and read the reason.",
    "pages/data.py": "**Look at the data.** Explore generated and real data sets, or bring your own file.",
    "pages/compare.py": "**Compare on your data.** Find out which method suits them, and whether unlabeled points help.",
}


def home() -> None:
    """Draw the home page: what a newcomer needs fills the window, and the rest is below."""
    with st.container(key="home-first"):
        st.title("DSG Lab")
        st.markdown("Each picture shows a method that learns from a few coloured labels and many grey points.")
        lesson = profile_of(SETTINGS[START]).guided[0]
        with st.container(key="start-here"):
            st.page_link(
                page_of(SETTINGS[START]),
                label="Start here",
                icon=":material/play_arrow:",
                query_params=link_to_guided(SETTINGS[START], lesson.name),
                width="content",
            )
        with st.container(key="home-pictures"):
            for setting in SETTINGS.values():
                _setting(setting)
    with st.container(key="home-more"):
        for page, said in ELSEWHERE.items():
            st.page_link(page, label=said, icon=":material/arrow_forward:")


def _setting(setting: type[Setting]) -> None:
    """Draw the picture of a setting at work, if there is one, and its name, with the paper's second."""
    profile = profile_of(setting)
    with st.container():
        if picture := kept_picture(setting.name):
            alt = (
                f"{profile.headline}: the learned score changes from step to step behind labeled and unlabeled points."
            )
            # The style sheet shows the still one to readers who want less motion.
            with st.container(key=f"home-picture-{setting.name}"):
                for one in (picture, still(picture)):
                    st.image(one.svg, width="stretch", alt=alt)
        st.page_link(page_of(setting), label=profile.full_name)


home()
is_ready()
