"""The place of a reader in "How it works": the screen, the stop of its slider, and its switches, as in the link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pages.controls.control import refused

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
