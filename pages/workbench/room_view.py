"""A class's room beside a lesson: the page draws it where the question is asked."""

from __future__ import annotations

from pages.room.drawings import LETTERS
from pages.room.lecturer import (
    ask_for_labels,
    is_asked,
    is_led_elsewhere,
    offer_to_lead,
    open_room,
    room_panel,
    tell_the_room,
)

__all__ = [
    "LETTERS",
    "ask_for_labels",
    "is_asked",
    "is_led_elsewhere",
    "offer_to_lead",
    "open_room",
    "room_panel",
    "tell_the_room",
]
