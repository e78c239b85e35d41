"""The methods as moving pictures: the whole card leads to the method's page."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import Profile, profile_of
from pages.pictures.kept import kept_picture, still
from pages.shell.router import page_of


def method_cards(*, has_acronyms: bool) -> None:
    """Draw a card for each method, with the name of its paper's method if `has_acronyms` is true."""
    with st.container(key="methods"):
        for setting in SETTINGS.values():
            with st.container(key=f"method-{setting.name}"):
                _card(setting, profile_of(setting), has_acronyms=has_acronyms)


def _card(setting: type[Setting], profile: Profile, *, has_acronyms: bool) -> None:
    # The picture says nothing that the caption does not. The style sheet shows the still one to readers who want less motion.
    if picture := kept_picture(setting.name):
        with st.container(key=f"method-picture-{setting.name}"):
            for one in (picture, still(picture)):
                st.image(one.svg, width="stretch", alt=f"{profile.headline}: the map changes while the method learns.")
    name = profile.full_name if has_acronyms else profile.short
    # The style sheet makes the link as large as the card.
    st.page_link(page_of(setting), label=f"**{name}** {profile.card}")
