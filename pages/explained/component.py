"""The component that shows one screen: dragging its slider changes the picture in the browser, without a request.

dsgcore computes the frames of all stops of a slider once in each process, and the screen gets all of them at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from pages.charts.live_chart import loader
from pages.explained.place import Place
from pages.explained.screens import SCREENS

KEY = "how-it-works"
_STYLE = (Path(__file__).parent / "browser" / "explained.css").read_text(encoding="utf-8")


def draw_screen(place: Place, *, page: str, on_turned: Callable[[], None]) -> None:
    """Draw a screen. `screen_asked` returns the screen for which "Next" or "Back" was pressed.

    The number after the last screen's stands for "Try a lesson".
    """
    around = {"page": page, "n": len(SCREENS), "place": vars(place)}
    data = f"{json.dumps(around)}\n{frames_of(place.screen)}".encode()
    _component()(key=KEY, data=data, width="stretch", height="content", on_turned_change=on_turned)


def screen_asked() -> Any:
    """Return the number of the screen that the reader has just asked for, as the browser sent it."""
    return (st.session_state.get(KEY) or {}).get("turned")


@st.cache_data(show_spinner="Computing the picture, once on this server")
def frames_of(number: int) -> str:
    """Return a screen (from 1) with all of its frames, as JSON."""
    return json.dumps(SCREENS[number - 1]().plain(), separators=(",", ":"))


@cache
def _component() -> Callable[..., Any]:
    return component("how_it_works", js=loader("explained/browser/screen.js"), css=_STYLE, isolate_styles=False)
