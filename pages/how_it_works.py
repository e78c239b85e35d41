"""The page "How it works": the idea behind the app in five screens, each with one thing to drag.

Dragging a slider changes the picture in the browser, without a request: dsgcore computes the frames of all stops of a slider
once in each process, and the screen gets all of them at once.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import streamlit as st

from dsgcore.core.parameters import Choice, Integer
from pages.charts.live_chart import LIBRARY_ADDRESS, STYLE, encoded, mounted, sent, theme_now
from pages.controls.control import Control, read_controls
from pages.controls.link import unknown_names
from pages.explained.screens import SCREENS
from pages.session.link import first_lesson
from pages.shell.page_link import read_once
from pages.shell.router import page_of
from pages.shell.warm_up import is_ready
from pages.workbench.head import enlarge_for_a_class

PARENT = (
    "Random points and fresh random waves in each step are the doubly stochastic gradients of "
    "[Dai et al., NIPS 2014](https://arxiv.org/abs/1407.5599). "
    "The method Labels is this algorithm, and four other methods extend it."
)
PAGE, KEY = "how_it_works", "how-it-works"
_STYLE = Path(__file__).parent / "explained" / "browser" / "explained.css"
# The place of the reader: a screen, a stop of its slider (0: the usual one), and the noise that is switched off, by the
# switches that are on.
PLACE = SCREEN, AT, OFF = (
    Control("how_screen", "", Integer("screen", 1, low=1, high=len(SCREENS))),
    Control("how_at", "", Integer("at", 0, low=0, high=99)),
    Control("how_off", "", Choice("off", "none", options=("both", "waves", "points", "none"))),
)


def how_it_works() -> None:
    """Draw the screen of the reader's place."""
    st.title("How it works", help=PARENT)
    enlarge_for_a_class()
    read_once(lambda given: read_controls(PLACE, given) + unknown_names(given, {one.name: one.name for one in PLACE}))
    if not is_ready():
        return
    screen, at, off = (st.session_state.get(control.key, control.usual) for control in PLACE)
    place = {"screen": screen, "at": at, "on": OFF.options.index(off)}
    around = {"page": PAGE, "n": len(SCREENS), "place": place, "library": LIBRARY_ADDRESS}
    data = f"{json.dumps(around)}\n{_frames_of(screen, theme_now())}".encode()
    style = STYLE + _STYLE.read_text(encoding="utf-8")
    mounted("how_it_works", "explained/browser/screen.js", style)(
        key=KEY, data=data, width="stretch", height="content", on_turned_change=_turn
    )
    if sent(KEY, "turned") == len(SCREENS) + 1:  # "Try a lesson"
        setting, given = first_lesson()
        st.switch_page(page_of(setting), query_params=given)
    if screen < len(SCREENS):
        _frames_of(screen + 1, theme_now())  # the next screen, while the reader looks at this one


def _turn() -> None:
    asked = sent(KEY, "turned")
    if isinstance(asked, int) and 1 <= asked <= len(SCREENS):
        st.session_state.update({SCREEN.key: asked, AT.key: AT.usual, OFF.key: OFF.usual})


@st.cache_data(show_spinner="Computing the picture, once on this server")
def _frames_of(number: int, theme: str) -> str:
    """Return a screen (from 1) with all of its frames, as JSON."""
    return encoded(asdict(SCREENS[number - 1](theme)))


how_it_works()
