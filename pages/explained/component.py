"""The component that shows one screen: dragging its slider changes the picture in the browser, without a request.

dsgcore computes the frames of all stops of a slider once in each process, and the screen gets all of them at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from pages.charts.live_chart import loader
from pages.controls.control import refused
from pages.explained.screens import SCREENS

SCREEN, AT, OFF = "screen", "at", "off"
MOST_STOPS = 99
SWITCHED_OFF = {"": 3, "points": 2, "waves": 1, "both": 0}


@dataclass(frozen=True)
class Place:
    """A screen (from 1), a stop (from 1; 0: the usual one), and the switches that are on: 1 the first, 2 the second."""

    screen: int = 1
    at: int = 0
    on: int = 3


def read_place(given: Mapping[str, str], n_screens: int) -> tuple[Place, list[str]]:
    """Return the place that a link names, and a sentence for each invalid value."""
    said: list[str] = []
    screen = _number(SCREEN, given.get(SCREEN, "1"), 1, n_screens, said)
    at = _number(AT, given[AT], 0, MOST_STOPS, said) if AT in given else 0
    off = given.get(OFF, "")
    if off not in SWITCHED_OFF:
        allowed = ", ".join(name for name in SWITCHED_OFF if name)
        said.append(f"In the link, {OFF} must be one of {allowed}, got {refused(off)}; nothing is switched off.")
    return Place(screen, at, SWITCHED_OFF.get(off, 3)), said


def _number(name: str, text: str, low: int, high: int, said: list[str]) -> int:
    if text.isascii() and text.isdigit() and len(text) < 4 and low <= int(text) <= high:
        return int(text)
    said.append(f"In the link, {name} must be a whole number from {low} to {high}, got {refused(text)}; {low} is used.")
    return low


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
