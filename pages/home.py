"""Home: what this is, the five settings, and the data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import profile_of
from pages._router import ensure_routed, page_of
from pages._warm_up import is_ready


def home() -> None:
    """Draw the home page."""
    st.title("DSG Lab")
    st.markdown(
        "Kernel methods for data with few labels, **scaled by sampling everything**: points, pairs and the features of the "
        "kernel itself. Move a slider and watch the objective, the accuracy and the error of the random features answer."
    )
    cards: list[Callable[[], None]] = [*(partial(_setting_card, setting) for setting in SETTINGS.values()), _data_card]
    for start in range(0, len(cards), 3):
        for column, draw in zip(st.columns(3), cards[start : start + 3], strict=False):
            with column, st.container(border=True, height=215):
                draw()
    st.caption(
        "One recursion drives four of the five: f ← (1 − ηλ) f − η Σ c(x) φ(x)′φ(·), with fresh random features φ at every "
        "iteration. The same seed gives the same numbers: a link holds the whole experiment."
    )


def _setting_card(setting: type[Setting]) -> None:
    profile = profile_of(setting)
    st.markdown(f"## {profile.short}")
    st.markdown(profile.card)
    st.page_link(page_of(setting), label=f"Open {profile.paper}", icon=":material/arrow_forward:")


def _data_card() -> None:
    st.markdown("## Data")
    st.markdown(
        "Generated and measured sets, each in every setting that it suits: look at one closely before a run does."
    )
    st.page_link("pages/data.py", label="Open the gallery", icon=":material/arrow_forward:")


ensure_routed()
home()
is_ready()
