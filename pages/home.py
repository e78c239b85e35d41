"""Home: what this is, where to start, the settings at work, and the data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import Profile, profile_of
from pages.pictures.making import file_of
from pages.shell.router import page_of
from pages.shell.warm_up import is_ready
from pages.workbench.link import link_to_guided

START = "auc"  # its first guided lesson shows in two minutes what unlabeled points are good for


def home() -> None:
    """Draw the home page."""
    st.title("DSG Lab")
    st.markdown(
        "Move a slider and watch kernel methods learn, **scaled by sampling everything**: points, pairs, and the features of "
        "the kernel itself."
    )
    _start_here(SETTINGS[START])
    cards: list[Callable[[], None]] = [*(partial(_setting_card, setting) for setting in SETTINGS.values()), _data_card]
    with st.container(key="home-cards"):
        for start in range(0, len(cards), 3):
            for column, draw in zip(st.columns(3), cards[start : start + 3], strict=False):
                with column, st.container(border=True, height="stretch"):
                    draw()
    st.caption(
        "One recursion drives four of the five: f ← (1 − ηλ) f − η Σ c(x) φ(x)′φ(·), with fresh random features φ at every "
        "iteration. The same seed gives the same numbers: a link holds the whole experiment."
    )


def _start_here(setting: type[Setting]) -> None:
    lesson = profile_of(setting).guided[0]
    with st.container(key="start-here", horizontal=True, vertical_alignment="center", gap="medium"):
        st.page_link(
            page_of(setting),
            label="Start here",
            icon=":material/play_arrow:",
            query_params=link_to_guided(setting, lesson.name),
            width="content",
        )
        st.markdown(f"**{lesson.title}** A lesson of {lesson.minutes} minutes: guess, watch, and read why.")
        st.page_link("pages/lessons.py", label="All lessons", icon=":material/school:", width="content")


def _setting_card(setting: type[Setting]) -> None:
    profile = profile_of(setting)
    _picture(setting, profile)
    st.markdown(f"## {profile.headline or profile.short}\n{profile.card}")
    name = f"{profile.short} ({profile.paper})" if profile.paper else profile.short
    st.page_link(page_of(setting), label=name, icon=":material/arrow_forward:")


def _picture(setting: type[Setting], profile: Profile) -> None:
    """Show what the setting's first lesson learns; a setting need not have a picture."""
    path = file_of(setting.name)
    if path.is_file():
        alt = f"{profile.short}: labeled and unlabeled points over what has been learned from them."
        st.image(path.read_text(encoding="utf-8"), width="stretch", alt=alt)


def _data_card() -> None:
    st.markdown(
        "## Look at the data\nGenerated and measured sets, each in every setting that it suits: look at one closely before a "
        "run does. Or bring a file of your own."
    )
    st.page_link("pages/data.py", label="Data", icon=":material/arrow_forward:")


home()
is_ready()
