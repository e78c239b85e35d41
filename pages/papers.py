"""The Papers page: for each figure or table of the five papers its result, and a study that asks the same question."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import profile_of
from pages.shell.warm_up import is_ready
from pages.studies.study_links import link_to_figure


def page() -> None:
    """Draw a card for each figure."""
    st.title("Figures of the papers")
    st.markdown(
        "Each figure opens as a study of the paper's method, small enough for a laptop. Press Start "
        "there. The text says what the paper found, and what is different here."
    )
    for setting in SETTINGS.values():
        profile = profile_of(setting)
        if profile.figures:
            st.header(f"{profile.short}: {profile.paper}")
            with st.container(key=f"papers-{setting.name}"):
                _cards(setting, len(profile.figures))


def _cards(setting: type[Setting], n: int) -> None:
    for start in range(0, n, 3):
        for column, number in zip(st.columns(3), range(start, min(start + 3, n)), strict=False):
            with column, st.container(border=True, height="stretch"):
                _card(setting, number)


def _card(setting: type[Setting], number: int) -> None:
    figure = profile_of(setting).figures[number]
    n_runs, link = link_to_figure(setting.name, number)
    st.markdown(f"### {figure.title}\n**{figure.asks}**\n\nThe paper: {figure.says}\n\nHere: {figure.differs}")
    st.page_link(
        "pages/explore.py",
        label=f"Open {figure.title} ({n_runs:,} runs)",
        icon=":material/grid_on:",
        query_params=link,
        width="content",
    )


page()
is_ready()
