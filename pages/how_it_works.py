"""The page "How it works": the idea behind the app in five screens, each with one thing to drag."""

from __future__ import annotations

import streamlit as st

from pages.explained.component import Place, draw_screen, frames_of, read_place, screen_asked
from pages.explained.screens import SCREENS
from pages.session.link import first_lesson
from pages.shell.plain_text import say_of_link
from pages.shell.router import page_of
from pages.shell.warm_up import is_ready
from pages.workbench.layout import enlarge_for_a_class

PAGE = "how_it_works"
PARENT = (
    "Random points and fresh random waves in each step are the doubly stochastic gradients of "
    "[Dai et al., NIPS 2014](https://arxiv.org/abs/1407.5599). "
    "The method Labels is this algorithm, and four other methods extend it."
)
_PLACE = "_how_it_works"  # key of the place in the session's state


def how_it_works() -> None:
    """Draw the page."""
    st.title("How it works", help=PARENT)
    enlarge_for_a_class()
    place = _place()
    if not is_ready():
        return
    draw_screen(place, page=PAGE, on_turned=_turn)
    if screen_asked() == len(SCREENS) + 1:  # "Try a lesson"
        setting, given = first_lesson()
        st.switch_page(page_of(setting), query_params=given)
    if place.screen < len(SCREENS):
        frames_of(place.screen + 1)  # the next screen, while the reader looks at this one


def _place() -> Place:
    """Return the reader's place; it is that of the link until the reader turns to another screen."""
    place, said = read_place(st.query_params.to_dict(), len(SCREENS))
    for sentence in said:
        say_of_link(sentence)
    return st.session_state.setdefault(_PLACE, place)


def _turn() -> None:
    """Go to the screen that the reader asked for."""
    asked = screen_asked()
    if isinstance(asked, int) and 1 <= asked <= len(SCREENS):
        st.session_state[_PLACE] = Place(asked)


how_it_works()
