"""The component that shows one screen: dragging its slider changes the picture in the browser, without a request.

dsgcore computes the frames of all stops of a slider once in each process, and the screen gets all of them at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import streamlit as st

from dsgcore.core.parameters import Choice, Integer
from pages.charts.live_chart import CONFIG, LIBRARY_ADDRESS, STYLE, encoded, mounted, theme_now
from pages.controls.control import Control, read_controls
from pages.controls.link import unknown_names
from pages.explained.screens import SCREENS

KEY = "how-it-works"
_STYLE = (Path(__file__).parent / "browser" / "explained.css").read_text(encoding="utf-8")
# The place of the reader: a screen, a stop of its slider (0: the usual one), and the noise that is switched off.
SCREEN = Control("how_screen", "", Integer("screen", 1, low=1, high=len(SCREENS)))
AT = Control("how_at", "", Integer("at", 0, low=0, high=99))
OFF = Control(
    "how_off", "", Choice("off", "none", options=("both", "waves", "points", "none"))
)  # by the switches that are on


def read_place(given: Mapping[str, str]) -> list[str]:
    """Go to the place that a link names; return a sentence for each value and name that is not valid."""
    known = (SCREEN, AT, OFF)
    return read_controls(known, given) + unknown_names(given, {control.name: control.name for control in known})


def screen_now() -> int:
    """Return the number of the screen, from 1."""
    return int(st.session_state.get(SCREEN.key, 1))


def turn_to(screen: int) -> None:
    """Go to another screen, at its usual stop."""
    st.session_state[SCREEN.key] = screen
    for control in (AT, OFF):
        st.session_state[control.key] = control.usual


def draw_screen(*, page: str, on_turned: Callable[[], None]) -> None:
    """Draw the screen of the reader's place. `screen_asked` returns the screen for which "Next" or "Back" was pressed.

    The number after the last screen's stands for "Try a lesson".
    """
    off = st.session_state.get(OFF.key, OFF.usual)
    place = {"screen": screen_now(), "at": st.session_state.get(AT.key, 0), "on": OFF.options.index(off)}
    around = {"page": page, "n": len(SCREENS), "place": place, "config": dict(CONFIG), "library": LIBRARY_ADDRESS}
    data = f"{json.dumps(around)}\n{frames_of(screen_now(), theme_now())}".encode()
    mounted("how_it_works", "explained/browser/screen.js", STYLE + _STYLE)(
        key=KEY, data=data, width="stretch", height="content", on_turned_change=on_turned
    )


def screen_asked() -> Any:
    """Return the number of the screen that the reader has just asked for, as the browser sent it."""
    return (st.session_state.get(KEY) or {}).get("turned")


@st.cache_data(show_spinner="Computing the picture, once on this server")
def frames_of(number: int, theme: str) -> str:
    """Return a screen (from 1) with all of its frames, as JSON."""
    return encoded(asdict(SCREENS[number - 1](theme)))
