"""Home page: a first lesson, the five settings, and the data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import Profile, profile_of
from pages.pictures.making import file_of
from pages.session.link import link_to_guided
from pages.shell.router import page_of
from pages.shell.warm_up import is_ready

START = "auc"  # its first lesson shows in two minutes how unlabeled points help


def home() -> None:
    """Draw the home page."""
    st.title("DSG Lab")
    st.markdown(
        "Watch methods learn from data with few labels. Move a slider, and see the result change while the run goes on."
    )
    _start_here(SETTINGS[START])
    cards: list[Callable[[], None]] = [*(partial(_setting_card, setting) for setting in SETTINGS.values()), _data_card]
    with st.container(key="home-cards"):
        for start in range(0, len(cards), 3):
            for column, draw in zip(st.columns(3), cards[start : start + 3], strict=False):
                with column, st.container(border=True, height="stretch"):
                    draw()
    st.caption(
        "Each method samples everything: points, pairs, and random features of the kernel. The same seed gives the same "
        "numbers, and a link holds the whole experiment."
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
        st.markdown(
            f"**{lesson.title}** A lesson of {lesson.minutes} minutes: guess, watch the run, and read the reason."
        )
        st.page_link("pages/lessons.py", label="All lessons", icon=":material/school:", width="content")


def _setting_card(setting: type[Setting]) -> None:
    profile = profile_of(setting)
    _picture(setting, profile)
    st.markdown(f"## {profile.headline or profile.short}\n{profile.card}")
    name = f"{profile.short} ({profile.paper})" if profile.paper != profile.short else profile.short
    st.page_link(page_of(setting), label=name, icon=":material/arrow_forward:")


def _picture(setting: type[Setting], profile: Profile) -> None:
    """Show the picture of the setting's first lesson, if there is one."""
    path = file_of(setting.name)
    if path.is_file():
        alt = f"{profile.short}: labeled and unlabeled points on a map of the learned score."
        st.image(path.read_text(encoding="utf-8"), width="stretch", alt=alt)


def _data_card() -> None:
    st.markdown(
        "## Look at the data\nExplore generated and real data sets before you run anything, or bring your own file."
    )
    st.page_link("pages/data.py", label="Data", icon=":material/arrow_forward:")


home()
is_ready()
