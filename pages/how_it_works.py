"""The page "How it works": the idea behind the app in five screens, each with one thing to drag."""

from __future__ import annotations

import streamlit as st

from pages.charts.live_chart import theme_now
from pages.explained.component import draw_screen, frames_of, read_place, screen_asked, screen_now, turn_to
from pages.explained.screens import SCREENS
from pages.session.link import first_lesson
from pages.shell.page_link import read_once
from pages.shell.router import page_of
from pages.shell.warm_up import is_ready
from pages.workbench.head import enlarge_for_a_class

PAGE = "how_it_works"
PARENT = (
    "Random points and fresh random waves in each step are the doubly stochastic gradients of "
    "[Dai et al., NIPS 2014](https://arxiv.org/abs/1407.5599). "
    "The method Labels is this algorithm, and four other methods extend it."
)


def how_it_works() -> None:
    """Draw the page."""
    st.title("How it works", help=PARENT)
    enlarge_for_a_class()
    read_once(read_place)
    if not is_ready():
        return
    draw_screen(page=PAGE, on_turned=_turn)
    if screen_asked() == len(SCREENS) + 1:  # "Try a lesson"
        setting, given = first_lesson()
        st.switch_page(page_of(setting), query_params=given)
    if screen_now() < len(SCREENS):
        frames_of(screen_now() + 1, theme_now())  # the next screen, while the reader looks at this one


def _turn() -> None:
    """Go to the screen that the reader asked for."""
    asked = screen_asked()
    if isinstance(asked, int) and 1 <= asked <= len(SCREENS):
        turn_to(asked)


how_it_works()
